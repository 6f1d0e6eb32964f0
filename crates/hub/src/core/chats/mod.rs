//! Conversations with agents that the hub hosts.
//!
//! Owns what was said, who reads it, which messages wait, and which agent belongs to which conversation. The agents
//! themselves are like any other (`agents`), their changes are reviews like any other (`reviews`), and what they may do
//! is asked like anything else (`permissions`).
//!
//! Must not know: the wire of any agent, processes, the journal's form.
//!
//! Invariants: an agent is started in a folder only after the user allowed that; there is one turn at a time; what was
//! said is kept when the agent or the hub is killed.

mod chat;
mod events;
mod follow;
mod launch;
mod record;
pub(super) mod requests;

pub(super) use follow::follow;
pub(super) use launch::{agents_found, child_ended, deadline_over};

use std::collections::{BTreeMap, BTreeSet};

use linkspan_dialect::ChatEvent;
use linkspan_editor_api::{ChatChange, ChatStart, ChatUpdate, Message, RequestId, RpcError, errors};
use linkspan_review::AgentId;

use crate::core::Core;
use crate::core::contract::{Action, ConnectionId, RememberedChat, Ticket};
use crate::core::out::Out;
use chat::Chat;

/// What `agents.toml` is being read for.
#[derive(Debug)]
enum Lookup {
    List { connection: ConnectionId, request: RequestId },
    Start { connection: ConnectionId, request: RequestId, start: ChatStart },
    Restart { chat: u64 },
}

#[derive(Debug, Default)]
pub(super) struct Chats {
    all: BTreeMap<u64, Chat>,
    /// The conversations whose agents run, or are about to.
    live: BTreeMap<AgentId, u64>,
    last: u64,
    /// Connections that asked for the list.
    list_readers: BTreeSet<ConnectionId>,
    lookups: BTreeMap<Ticket, Lookup>,
}

impl Chats {
    /// `last`: the highest number that was ever used.
    pub(super) fn new(remembered: Vec<RememberedChat>, last: u64) -> Chats {
        let all = remembered.into_iter().filter_map(|it| Some((it.chat, record::restored(it)?)));
        Chats { all: all.collect(), last, ..Chats::default() }
    }

    /// How many agents run, or are about to.
    pub(super) fn live(&self) -> usize {
        self.live.len() + self.lookups.len()
    }

    pub(super) fn connection_closed(&mut self, connection: ConnectionId) {
        self.list_readers.remove(&connection);
        for chat in self.all.values_mut() {
            chat.readers.remove(&connection);
        }
    }

    /// Records now what has changed: the hub stops.
    pub(super) fn record_all(&mut self, out: &mut Out) {
        for chat in self.all.values_mut() {
            record::record(out, chat);
        }
    }

    pub(super) fn record_due(&mut self, out: &mut Out, chat: u64) {
        if let Some(chat) = self.all.get_mut(&chat) {
            record::record(out, chat);
        }
    }

    fn named(&self, name: &str) -> Result<u64, RpcError> {
        let number = name.strip_prefix('t').and_then(|number| number.parse().ok());
        number.filter(|number| self.all.contains_key(number)).ok_or_else(|| {
            let name: String = name.chars().take(40).collect();
            let message = format!("there is no conversation `{name}`; `chat/list` has them");
            RpcError::new(errors::INVALID_PARAMS, message)
        })
    }

    /// The summary of a conversation changed.
    fn publish_summary(&self, out: &mut Out, chat: &Chat) {
        let to = chat.readers.union(&self.list_readers).copied().collect();
        publish(out, to, chat.id, ChatChange::Summary { summary: chat.summary() });
    }

    /// Changes a conversation, and tells everyone its new summary.
    fn change(&mut self, out: &mut Out, chat: u64, change: impl FnOnce(&mut Chat, &mut Out)) {
        let Some(found) = self.all.get_mut(&chat) else { return };
        change(found, out);
        found.touch(out);
        if let Some(chat) = self.all.get(&chat) {
            self.publish_summary(out, chat);
        }
    }
}

/// What other parts of the core start.
impl Core {
    /// A hosted agent says something.
    pub(super) fn chat_said(&mut self, agent: AgentId, event: ChatEvent) {
        events::said(self, agent, event);
    }
}

fn publish(out: &mut Out, to: Vec<ConnectionId>, chat: u64, change: ChatChange) {
    if !to.is_empty() {
        let update = ChatUpdate { chat: format!("t{chat}"), change };
        out.push(Action::Publish { to, body: Message::notification(&update).to_bytes() });
    }
}

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
mod files;
mod follow;
mod items;
mod launch;
mod pages;
mod record;
pub(super) mod requests;
mod symbols;
mod turns;

pub(super) use files::found as files_found;
pub(super) use follow::follow;
pub(super) use launch::{agents_found, child_ended, deadline_over};
pub(super) use pages::read as items_read;
pub(super) use symbols::known as symbols_known;

use std::collections::{BTreeMap, BTreeSet};

use linkspan_dialect::ChatEvent;
use linkspan_editor_api::{
    ChatChange, ChatStart, ChatSymbols, ChatUpdate, Message, RequestId, RpcError, errors,
};
use linkspan_review::AgentId;

use crate::core::Core;
use crate::core::contract::{Action, ConnectionId, RememberedChat, Ticket};
use crate::core::out::Out;
use chat::Chat;
use files::FileSearch;
use pages::ItemsRead;

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
    /// Searches for names of files.
    searches: BTreeMap<Ticket, FileSearch>,
    /// Whose question about symbols is open, and what they ask next.
    symbol_searches: BTreeMap<ConnectionId, Option<(RequestId, ChatSymbols)>>,
    /// Items that are being read from the journal.
    reads: BTreeMap<Ticket, ItemsRead>,
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

    /// The user has not allowed yet that its process is started.
    pub(super) fn is_not_started(&self, agent: AgentId) -> bool {
        let chat = self.live.get(&agent).and_then(|chat| self.all.get(chat));
        chat.is_some_and(|chat| {
            chat.is_starting() && chat.live.as_ref().is_some_and(|live| live.deadline.is_none())
        })
    }

    pub(super) fn connection_closed(&mut self, connection: ConnectionId) {
        self.list_readers.remove(&connection);
        self.searches.retain(|_, search| {
            let is_theirs = search.connection == connection;
            if is_theirs {
                search.cancel.cancel();
            }
            !is_theirs
        });
        self.symbol_searches.remove(&connection);
        self.drop_reads(connection);
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

    /// A change was written whose agent had heard a no and is gone: it is told with the next message.
    pub(super) fn told_later(&mut self, out: &mut Out, chat: &str, words: &str) {
        let chat = chat.strip_prefix('t').and_then(|number| number.parse::<u64>().ok());
        let Some(chat) = chat.and_then(|chat| self.all.get_mut(&chat)) else { return };
        chat.tell_later(Some(words.to_owned()));
        chat.touch(out);
        record::record(out, chat);
    }

    pub(super) fn knows(&self, chat: &str) -> bool {
        self.named(chat).is_ok()
    }

    /// Whether the next message tells this.
    pub(super) fn will_tell(&self, chat: &str, words: &str) -> bool {
        let about = words.split_once("\n\n").map_or(words, |(_, about)| about);
        let chat = chat.strip_prefix('t').and_then(|number| self.all.get(&number.parse().ok()?));
        chat.and_then(Chat::all_untold).is_some_and(|untold| untold.contains(about))
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

    /// The journal no longer has these conversations: they are old, or there are too many.
    pub(super) fn chats_removed(&mut self, chats: &[u64]) {
        for chat in chats {
            if self.chats.all.get(chat).is_some_and(|chat| chat.live.is_none() && !chat.is_starting()) {
                self.forget_chat(*chat);
            }
        }
    }

    fn forget_chat(&mut self, id: u64) {
        // Its agent is not started again, so it cannot ask again.
        self.finish_left_over(&format!("t{id}"));
        let Some(chat) = self.chats.all.remove(&id) else { return };
        if let Some(timer) = chat.record_timer {
            self.out.cancel(timer);
        }
        let to = chat.readers.union(&self.chats.list_readers).copied().collect();
        publish(&mut self.out, to, id, ChatChange::Forgotten);
        self.reviews.forget_words(&format!("t{id}"));
    }
}

fn publish(out: &mut Out, to: Vec<ConnectionId>, chat: u64, change: ChatChange) {
    if !to.is_empty() {
        let update = ChatUpdate { chat: format!("t{chat}"), change };
        out.push(Action::Publish { to, body: Message::notification(&update).to_bytes() });
    }
}

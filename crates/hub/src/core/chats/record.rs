//! A conversation as the journal keeps it: a head, and items as the protocol has them.

use std::collections::VecDeque;
use std::path::PathBuf;

use linkspan_editor_api::{ChatMode, ChatState, ChatUsage};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::chat::Chat;
use super::items::Items;
use crate::core::contract::{Action, ChatRecord, RememberedChat};
use crate::core::out::Out;

const RESTARTED: &str = "Linkspan was restarted; the next message starts the agent again";

#[derive(Serialize, Deserialize)]
struct Head {
    agent: String,
    agent_name: String,
    folder: PathBuf,
    title: String,
    mode: Option<String>,
    modes: Vec<ChatMode>,
    usage: Option<ChatUsage>,
    #[serde(default)]
    pictures: Option<bool>,
    started_ms: i64,
    changed_ms: i64,
    session: Option<String>,
    #[serde(default, deserialize_with = "command_or_none")]
    permitted: Option<Vec<String>>,
    untold: Option<String>,
    #[serde(default)]
    turns: u32,
    /// The places of messages that wait.
    #[serde(default)]
    queued: VecDeque<u32>,
    /// It was closed, or its agent ended; none while its agent runs.
    stopped: Option<Option<String>>,
}

/// Earlier hubs recorded only that some command was allowed.
fn command_or_none<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Vec<String>>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(value)?).unwrap_or_default())
}

/// Records what is not recorded. What no longer changes is then left to the journal.
pub(super) fn record(out: &mut Out, chat: &mut Chat) {
    if let Some(timer) = chat.record_timer.take() {
        out.cancel(timer);
    }
    if !chat.head_unrecorded && chat.unrecorded.is_empty() {
        return chat.shrink();
    }
    let head = Head {
        agent: chat.agent.clone(),
        agent_name: chat.agent_name.clone(),
        folder: chat.folder.clone(),
        title: chat.title.clone(),
        mode: chat.mode.clone(),
        modes: chat.modes.clone(),
        usage: chat.usage.clone(),
        pictures: chat.pictures,
        started_ms: chat.started_ms,
        changed_ms: chat.changed_ms,
        session: chat.session.clone(),
        permitted: chat.permitted.clone(),
        untold: chat.all_untold(),
        turns: chat.turns,
        queued: chat.queue.clone(),
        stopped: match &chat.state {
            ChatState::Stopped { why } => Some(why.clone()),
            _ => None,
        },
    };
    let unrecorded = std::mem::take(&mut chat.unrecorded);
    let json = |index: u32| Some((index, serde_json::to_string(chat.items.get(index)?).ok()?));
    let items = unrecorded.into_iter().filter_map(json).collect();
    chat.head_unrecorded = false;
    if let Ok(head) = serde_json::to_string(&head) {
        let is_live = chat.live.is_some();
        out.push(Action::RecordChat { record: ChatRecord { chat: chat.id, is_live, head, items } });
    }
    chat.shrink();
}

/// None if it was written by a newer hub.
pub(super) fn restored(remembered: RememberedChat) -> Option<Chat> {
    let head: Head = serde_json::from_str(&remembered.head).ok()?;
    let mut chat = Chat::new(remembered.chat, head.agent, head.agent_name, head.folder, head.started_ms);
    chat.title = head.title;
    chat.state = ChatState::Stopped { why: head.stopped.unwrap_or_else(|| Some(RESTARTED.to_owned())) };
    (chat.mode, chat.modes, chat.usage) = (head.mode, head.modes, head.usage);
    (chat.changed_ms, chat.pictures) = (head.changed_ms, head.pictures);
    (chat.session, chat.permitted, chat.untold) = (head.session, head.permitted, head.untold);
    (chat.turns, chat.queue) = (head.turns, head.queued);
    chat.queue.retain(|place| *place < remembered.items);
    chat.items = Items::stored(remembered.items, remembered.bytes);
    chat.head_unrecorded = false;
    Some(chat)
}

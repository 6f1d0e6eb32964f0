//! A conversation as the journal keeps it: a head, and items as the protocol has them.

use std::path::PathBuf;

use linkspan_editor_api::{ChatItem, ChatMode, ChatState, ChatUsage};
use serde::{Deserialize, Serialize};

use super::chat::{Chat, end_tool};
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
    started_ms: i64,
    changed_ms: i64,
    session: Option<String>,
    permitted: bool,
    untold: Option<String>,
    /// It was closed, or its agent ended; none while its agent runs.
    stopped: Option<Option<String>>,
}

/// Records what is not recorded.
pub(super) fn record(out: &mut Out, chat: &mut Chat) {
    if let Some(timer) = chat.record_timer.take() {
        out.cancel(timer);
    }
    if !chat.head_unrecorded && chat.unrecorded.is_empty() {
        return;
    }
    let head = Head {
        agent: chat.agent.clone(),
        agent_name: chat.agent_name.clone(),
        folder: chat.folder.clone(),
        title: chat.title.clone(),
        mode: chat.mode.clone(),
        modes: chat.modes.clone(),
        usage: chat.usage.clone(),
        started_ms: chat.started_ms,
        changed_ms: chat.changed_ms,
        session: chat.session.clone(),
        permitted: chat.permitted,
        untold: chat.untold.clone(),
        stopped: match &chat.state {
            ChatState::Stopped { why } => Some(why.clone()),
            _ => None,
        },
    };
    let unrecorded = std::mem::take(&mut chat.unrecorded);
    let json = |index: u32| Some((index, serde_json::to_string(chat.items.get(index as usize)?).ok()?));
    let items = unrecorded.into_iter().filter_map(json).collect();
    chat.head_unrecorded = false;
    if let Ok(head) = serde_json::to_string(&head) {
        out.push(Action::RecordChat { record: ChatRecord { chat: chat.id, head, items } });
    }
}

/// None if it was written by a newer hub.
pub(super) fn restored(remembered: RememberedChat) -> Option<Chat> {
    let head: Head = serde_json::from_str(&remembered.head).ok()?;
    let mut chat = Chat::new(remembered.chat, head.agent, head.agent_name, head.folder, head.started_ms);
    chat.title = head.title;
    chat.state = ChatState::Stopped { why: head.stopped.unwrap_or_else(|| Some(RESTARTED.to_owned())) };
    (chat.mode, chat.modes, chat.usage) = (head.mode, head.modes, head.usage);
    chat.changed_ms = head.changed_ms;
    (chat.session, chat.permitted, chat.untold) = (head.session, head.permitted, head.untold);
    let unknown =
        || ChatItem::Notice { text: "[from another version of Linkspan]".to_owned(), is_error: false };
    chat.items = remembered
        .items
        .iter()
        .map(|item| serde_json::from_str(item).unwrap_or_else(|_| unknown()))
        .collect();
    for (index, item) in (0..).zip(&mut chat.items) {
        end_tool(item);
        if matches!(item, ChatItem::User { queued: true, .. }) {
            chat.queue.push_back(index);
        }
    }
    chat.head_unrecorded = false;
    chat.recount();
    Some(chat)
}

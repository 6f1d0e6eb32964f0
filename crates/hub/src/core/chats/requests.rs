//! What readers ask: `chat/*`. An editor's own connection may ask as well as a command and the page.

use std::path::{Component, PathBuf};

use linkspan_dialect::ChatCommand;
use linkspan_editor_api as api;
use linkspan_editor_api::{
    ChatChange, ChatItem, ChatState, Message, Request as _, RequestId, RpcError, decode, errors,
};
use serde_json::value::RawValue;

use super::chat::MOST_ITEMS;
use super::{Lookup, launch, publish, record};
use crate::core::Core;
use crate::core::contract::{Action, ConnectionId};
use crate::core::timers::Due;

/// A message that is longer does not fit into any model.
const LONGEST_PROMPT: usize = 1024 * 1024;

/// Messages that wait at a time, and files of one message.
const QUEUED: usize = 32;
const ATTACHMENTS: usize = 64;

/// Conversations, those that are closed too.
const MOST_CHATS: usize = 1000;

/// Agents that run at the same time.
const MOST_LIVE: usize = 32;

/// How long an agent may take to end a turn that was cancelled.
const CANCEL_MS: u64 = 15_000;

/// Returns false if the method is none of these.
pub(in crate::core) fn handle(
    core: &mut Core,
    connection: ConnectionId,
    id: &RequestId,
    method: &str,
    params: &RawValue,
) -> Result<bool, RpcError> {
    match method {
        api::ChatAgents::METHOD => {
            let api::ChatAgents {} = decode(params)?;
            launch::look_up(core, Lookup::List { connection, request: id.clone() });
            return Ok(true);
        }
        api::ChatStart::METHOD => {
            start(core, connection, id, decode(params)?)?;
            return Ok(true);
        }
        api::ChatList::METHOD => {
            let api::ChatList {} = decode(params)?;
            core.chats.list_readers.insert(connection);
            let mut chats: Vec<_> = core.chats.all.values().map(super::chat::Chat::summary).collect();
            chats.sort_by_key(|chat| std::cmp::Reverse(chat.changed_ms));
            core.out.send(connection, &Message::response(id.clone(), &api::ChatListResult { chats }));
            return Ok(true);
        }
        api::ChatOpen::METHOD => {
            let api::ChatOpen { chat } = decode(params)?;
            let chat = core.chats.named(&chat)?;
            let Some(chat) = core.chats.all.get_mut(&chat) else { return Ok(true) };
            chat.readers.insert(connection);
            let result = api::ChatOpenResult { summary: chat.summary(), items: chat.items.clone() };
            core.out.send(connection, &Message::response(id.clone(), &result));
            return Ok(true);
        }
        api::ChatPrompt::METHOD => prompt(core, decode(params)?)?,
        api::ChatCancel::METHOD => {
            let api::ChatCancel { chat } = decode(params)?;
            let chat = core.chats.named(&chat)?;
            cancel(core, chat);
        }
        api::ChatSetMode::METHOD => {
            let api::ChatSetMode { chat, mode } = decode(params)?;
            let chat = core.chats.named(&chat)?;
            set_mode(core, chat, mode)?;
        }
        api::ChatClose::METHOD => {
            let api::ChatClose { chat, forget } = decode(params)?;
            let chat = core.chats.named(&chat)?;
            close(core, chat, forget);
        }
        _ => return Ok(false),
    }
    core.out.send(connection, &Message::response(id.clone(), &()));
    Ok(true)
}

fn invalid(message: impl Into<String>) -> RpcError {
    RpcError::new(errors::INVALID_PARAMS, message.into())
}

fn start(
    core: &mut Core,
    connection: ConnectionId,
    id: &RequestId,
    start: api::ChatStart,
) -> Result<(), RpcError> {
    let folder = PathBuf::from(&start.folder);
    let is_plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    if !folder.is_absolute() || !folder.components().all(is_plain) {
        return Err(invalid("`folder` must be an absolute path without `..`"));
    }
    launch::window_for(core, &folder).map_err(|why| RpcError::new(errors::UNKNOWN_WINDOW, why))?;
    if core.chats.all.len() >= MOST_CHATS || core.chats.live() >= MOST_LIVE {
        let message = format!(
            "there are {} conversations, and {} of their agents run; close some first",
            core.chats.all.len(),
            core.chats.live()
        );
        return Err(RpcError::new(errors::DENIED, message));
    }
    launch::look_up(core, Lookup::Start { connection, request: id.clone(), start });
    Ok(())
}

fn prompt(core: &mut Core, prompt: api::ChatPrompt) -> Result<(), RpcError> {
    let id = core.chats.named(&prompt.chat)?;
    if prompt.text.trim().is_empty() && prompt.attachments.is_empty() {
        return Err(invalid("the message is empty"));
    }
    if prompt.text.len() > LONGEST_PROMPT || prompt.attachments.len() > ATTACHMENTS {
        return Err(invalid("the message is too long: attach files instead of their text"));
    }
    if prompt.attachments.iter().any(|attachment| !attachment.path.starts_with('/')) {
        return Err(invalid("the path of an attachment must be absolute"));
    }
    let Some(chat) = core.chats.all.get(&id) else { return Ok(()) };
    if chat.queue.len() >= QUEUED {
        return Err(RpcError::new(errors::DENIED, format!("{QUEUED} messages wait already")));
    }
    if chat.is_full() {
        let message = format!("the conversation is full ({MOST_ITEMS} items): start another one");
        return Err(RpcError::new(errors::DENIED, message));
    }
    let is_stopped = matches!(chat.state, ChatState::Stopped { .. });
    let api::ChatPrompt { text, attachments, .. } = prompt;
    core.chats.change(&mut core.out, id, |chat, out| {
        chat.set_title(&text);
        let index = chat.add(out, ChatItem::User { text, attachments, queued: true, by_linkspan: false });
        chat.queue.push_back(index);
        if is_stopped {
            chat.state = ChatState::Starting;
        }
    });
    if is_stopped {
        launch::look_up(core, Lookup::Restart { chat: id });
    } else {
        launch::send_next(core, id);
    }
    Ok(())
}

fn cancel(core: &mut Core, id: u64) {
    let Some(chat) = core.chats.all.get_mut(&id) else { return };
    let Some(live) = chat.live.as_mut().filter(|_| chat.state == ChatState::Working) else { return };
    live.cancelled = true;
    if live.deadline.is_none() {
        live.deadline = Some(core.out.after(CANCEL_MS, Due::Chat(id)));
    }
    let agent = live.agent;
    launch::command(core, agent, ChatCommand::Cancel);
}

fn set_mode(core: &mut Core, id: u64, mode: String) -> Result<(), RpcError> {
    let Some(chat) = core.chats.all.get(&id) else { return Ok(()) };
    if !chat.modes.iter().any(|known| known.id == mode) {
        return Err(invalid("the agent has no such mode; the summary of the conversation lists them"));
    }
    match (&chat.live, &chat.state) {
        (Some(live), ChatState::Idle | ChatState::Working) => {
            let agent = live.agent;
            launch::command(core, agent, ChatCommand::SetMode(mode));
            Ok(())
        }
        _ => Err(RpcError::new(errors::DENIED, "the agent is not running; send a message first")),
    }
}

fn close(core: &mut Core, id: u64, forget: bool) {
    launch::end(core, id, None);
    if forget {
        let Some(chat) = core.chats.all.remove(&id) else { return };
        if let Some(timer) = chat.record_timer {
            core.out.cancel(timer);
        }
        let to = chat.readers.union(&core.chats.list_readers).copied().collect();
        publish(&mut core.out, to, id, ChatChange::Forgotten);
        core.out.push(Action::ForgetChat { chat: id });
    } else if let Some(chat) = core.chats.all.get_mut(&id) {
        record::record(&mut core.out, chat);
    }
}

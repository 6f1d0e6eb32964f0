//! What readers ask: `chat/*`. An editor's own connection may ask as well as a command and the page.

use std::path::{Component, PathBuf};

use linkspan_dialect::{ACP, ChatCommand};
use linkspan_editor_api as api;
use linkspan_editor_api::{ChatItem, ChatState, Message, Request as _, RequestId, RpcError, decode, errors};
use serde_json::value::RawValue;

use super::chat::MOST_ITEMS;
use super::{Lookup, files, launch, pages, record, symbols};
use crate::core::Core;
use crate::core::contract::{Action, ConnectionId};
use crate::core::timers::Due;

/// A message that is longer does not fit into any model.
const LONGEST_PROMPT: usize = 1024 * 1024;

/// Messages that wait at a time, and files of one message.
const QUEUED: usize = 32;
const ATTACHMENTS: usize = 64;

/// Pictures of one message.
const PICTURES: usize = 8;
const LONGEST_PICTURE: usize = 3 * 1024 * 1024;
const LONGEST_PICTURES: usize = 6 * 1024 * 1024;
const PICTURE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const LONGEST_NAME: usize = 255;

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
            let api::ChatOpen { chat, limit } = decode(params)?;
            let chat = core.chats.named(&chat)?;
            pages::open(core, connection, id, chat, limit)?;
            return Ok(true);
        }
        api::ChatItems::METHOD => {
            let api::ChatItems { chat, before, limit } = decode(params)?;
            let chat = core.chats.named(&chat)?;
            pages::older(core, connection, id, chat, before, limit)?;
            return Ok(true);
        }
        api::ChatFiles::METHOD => {
            files::search(core, connection, id, decode(params)?)?;
            return Ok(true);
        }
        api::ChatSymbols::METHOD => {
            symbols::search(core, connection, id, decode(params)?)?;
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
    launch::window_for(core, &folder, ACP).map_err(|why| RpcError::new(errors::UNKNOWN_WINDOW, why))?;
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
    if prompt.text.trim().is_empty() && prompt.attachments.is_empty() && prompt.pictures.is_empty() {
        return Err(invalid("the message is empty"));
    }
    if prompt.text.len() > LONGEST_PROMPT || prompt.attachments.len() > ATTACHMENTS {
        return Err(invalid("the message is too long: attach files instead of their text"));
    }
    if prompt.attachments.iter().any(|attachment| !attachment.path.starts_with('/')) {
        return Err(invalid("the path of an attachment must be absolute"));
    }
    check_pictures(&prompt.pictures)?;
    let Some(chat) = core.chats.all.get(&id) else { return Ok(()) };
    let is_stopped = matches!(chat.state, ChatState::Stopped { .. });
    if chat.queue.len() >= QUEUED {
        // They wait for an agent that nobody else starts.
        if is_stopped {
            core.chats.change(&mut core.out, id, |chat, _| chat.state = ChatState::Starting);
            launch::look_up(core, Lookup::Restart { chat: id });
        }
        return Err(RpcError::new(errors::DENIED, format!("{QUEUED} messages wait already")));
    }
    if chat.is_full() {
        let message = format!("the conversation is full ({MOST_ITEMS} items): start another one");
        return Err(RpcError::new(errors::DENIED, message));
    }
    let api::ChatPrompt { text, attachments, pictures, .. } = prompt;
    core.chats.change(&mut core.out, id, |chat, out| {
        chat.set_title(&text);
        let index =
            chat.add(out, ChatItem::User { text, attachments, pictures, queued: true, by_linkspan: false });
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

fn check_pictures(pictures: &[api::ChatPicture]) -> Result<(), RpcError> {
    if pictures.len() > PICTURES || pictures.iter().map(|it| it.data.len()).sum::<usize>() > LONGEST_PICTURES
    {
        let message =
            format!("a message has at most {PICTURES} pictures, of {} MiB together", LONGEST_PICTURES >> 20);
        return Err(invalid(message));
    }
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let fits = |picture: &api::ChatPicture| {
        PICTURE_TYPES.contains(&picture.mime_type.as_str())
            && picture.name.len() <= LONGEST_NAME
            && !picture.data.is_empty()
            && picture.data.len() <= LONGEST_PICTURE
            && picture.data.bytes().all(is_base64)
    };
    if pictures.iter().all(fits) {
        return Ok(());
    }
    Err(invalid(format!(
        "a picture must be one of {} in Base64, of at most {} MiB",
        PICTURE_TYPES.join(", "),
        LONGEST_PICTURE >> 20
    )))
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
        core.forget_chat(id);
        core.out.push(Action::ForgetChat { chat: id });
    } else if let Some(chat) = core.chats.all.get_mut(&id) {
        record::record(&mut core.out, chat);
    }
}

//! What readers get of a conversation, and messages that waited for a restarted agent: from memory, or with a read of the
//! journal.
//!
//! Invariant: a reader receives the changes of items exactly from the answer on that has these items.

use std::ops::Range;

use linkspan_editor_api as api;
use linkspan_editor_api::{ChatItem, Message, RequestId, RpcError, errors};

use super::items::MOST_PAGE_BYTES;
use super::{Chats, launch};
use crate::core::Core;
use crate::core::contract::{Action, ChatItemsRead, ConnectionId, Ticket};

/// Reads of the journal at the same time, in all and of one connection. Each may have [`MOST_PAGE_BYTES`].
const MOST_READS: usize = 64;
const MOST_READS_EACH: usize = 8;

/// Items that are being read from the journal.
#[derive(Debug)]
pub(super) struct ItemsRead {
    chat: u64,
    awaited: Awaited,
}

#[derive(Debug)]
enum Awaited {
    /// The newest, from this place on.
    Open {
        connection: ConnectionId,
        request: RequestId,
        from: u32,
    },
    Older {
        connection: ConnectionId,
        request: RequestId,
        places: Range<u32>,
    },
    /// The message at this place is the next to be sent.
    Queued {
        place: u32,
    },
}

impl ItemsRead {
    fn connection(&self) -> Option<ConnectionId> {
        match self.awaited {
            Awaited::Open { connection, .. } | Awaited::Older { connection, .. } => Some(connection),
            Awaited::Queued { .. } => None,
        }
    }
}

impl Chats {
    /// Nobody waits for their answers.
    pub(super) fn drop_reads(&mut self, connection: ConnectionId) {
        let dropped = self.reads.extract_if(.., |_, read| read.connection() == Some(connection));
        for (_, read) in dropped.collect::<Vec<_>>() {
            self.read_ended(read.chat);
        }
    }

    fn read_ended(&mut self, chat: u64) {
        if let Some(chat) = self.all.get_mut(&chat) {
            chat.reads = chat.reads.saturating_sub(1);
            chat.shrink();
        }
    }

    fn may_read(&self, connection: ConnectionId) -> Result<(), RpcError> {
        let theirs = self.reads.values().filter(|read| read.connection() == Some(connection)).count();
        if theirs >= MOST_READS_EACH || self.reads.len() >= MOST_READS {
            let message = "too many requests for items of conversations are pending; try again in a moment";
            return Err(RpcError::new(errors::DENIED, message));
        }
        Ok(())
    }
}

pub(super) fn open(
    core: &mut Core,
    connection: ConnectionId,
    request: &RequestId,
    chat: u64,
    limit: Option<u32>,
) -> Result<(), RpcError> {
    let Some(found) = core.chats.all.get(&chat) else { return Ok(()) };
    let places = found.items.places(u32::MAX, limit);
    let (not_held, from) = (found.items.not_held(&places), places.start);
    let Some(not_held) = not_held else {
        opened(core, connection, request.clone(), chat, from, ChatItemsRead::default());
        return Ok(());
    };
    core.chats.may_read(connection)?;
    start(core, chat, not_held, Awaited::Open { connection, request: request.clone(), from });
    Ok(())
}

pub(super) fn older(
    core: &mut Core,
    connection: ConnectionId,
    request: &RequestId,
    chat: u64,
    before: u32,
    limit: Option<u32>,
) -> Result<(), RpcError> {
    let Some(found) = core.chats.all.get(&chat) else { return Ok(()) };
    let places = found.items.places(before, limit);
    let Some(not_held) = found.items.not_held(&places) else {
        let (first, items) = found.items.page(places, ChatItemsRead::default());
        let result = api::ChatItemsResult { first, items };
        core.out.send(connection, &Message::response(request.clone(), &result));
        return Ok(());
    };
    core.chats.may_read(connection)?;
    start(core, chat, not_held, Awaited::Older { connection, request: request.clone(), places });
    Ok(())
}

/// The message that is to be sent next is in the journal.
pub(super) fn read_queued(core: &mut Core, chat: u64, place: u32) {
    let is_read = |read: &ItemsRead| read.chat == chat && matches!(read.awaited, Awaited::Queued { .. });
    if !core.chats.reads.values().any(is_read) {
        start(core, chat, place..place + 1, Awaited::Queued { place });
    }
}

fn start(core: &mut Core, chat: u64, places: Range<u32>, awaited: Awaited) {
    let ticket = core.out.ticket();
    core.chats.reads.insert(ticket, ItemsRead { chat, awaited });
    if let Some(chat) = core.chats.all.get_mut(&chat) {
        chat.reads += 1;
    }
    core.out.push(Action::ReadChat { ticket, chat, places, most_bytes: MOST_PAGE_BYTES });
}

/// The journal has answered.
pub(in crate::core) fn read(core: &mut Core, ticket: Ticket, result: Result<ChatItemsRead, String>) {
    // Its connection may be closed.
    let Some(ItemsRead { chat, awaited }) = core.chats.reads.remove(&ticket) else { return };
    match (awaited, result) {
        (Awaited::Open { connection, request, from }, Ok(read)) => {
            opened(core, connection, request, chat, from, read);
        }
        (Awaited::Older { connection, request, places }, Ok(read)) => match core.chats.all.get(&chat) {
            Some(found) => {
                let (first, items) = found.items.page(places, read);
                let result = api::ChatItemsResult { first, items };
                core.out.send(connection, &Message::response(request, &result));
            }
            None => forgotten(core, connection, request),
        },
        (
            Awaited::Open { connection, request, .. } | Awaited::Older { connection, request, .. },
            Err(why),
        ) => {
            let message = format!("the conversation cannot be read from the journal: {why}");
            core.out.refuse(connection, request, errors::INTERNAL, message);
        }
        (Awaited::Queued { place }, result) => queued(core, chat, place, result),
    }
    core.chats.read_ended(chat);
}

fn opened(
    core: &mut Core,
    connection: ConnectionId,
    request: RequestId,
    chat: u64,
    from: u32,
    read: ChatItemsRead,
) {
    let Some(found) = core.chats.all.get_mut(&chat) else { return forgotten(core, connection, request) };
    found.readers.insert(connection);
    let (first, items) = found.items.page(from..found.items.end(), read);
    let result = api::ChatOpenResult { summary: found.summary(), first, items };
    core.out.send(connection, &Message::response(request, &result));
}

fn forgotten(core: &mut Core, connection: ConnectionId, request: RequestId) {
    let message = "the conversation was removed; `chat/list` has those that are left".to_owned();
    core.out.refuse(connection, request, errors::INVALID_PARAMS, message);
}

/// Sends it, unless the agent ended meanwhile: then it waits for the next one.
fn queued(core: &mut Core, id: u64, place: u32, result: Result<ChatItemsRead, String>) {
    let Some(chat) = core.chats.all.get_mut(&id) else { return };
    if chat.queue.front() != Some(&place) || chat.live.is_none() {
        return;
    }
    let item = result.map(|mut read| read.items.remove(&place).flatten());
    match item {
        Ok(Some(item @ ChatItem::User { .. })) => chat.items.hold(place, item),
        item => {
            let why = item.err().unwrap_or_else(|| "it is not there".to_owned());
            core.chats.change(&mut core.out, id, |chat, out| {
                chat.queue.pop_front();
                let text =
                    format!("A message that waited cannot be read from the journal: {why}. Send it again.");
                chat.notice(out, text, true);
            });
        }
    }
    launch::send_next(core, id);
}

//! The list of past changes, and the texts of one of them, without what `deny` covers. A query waits until every unresolved undo and every write that
//! agents owe was looked at, so that the answer is up to date.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use linkspan_editor_api as api;
use linkspan_editor_api::{HistoryEntry, HistoryListResult, Message, RequestId, RpcError, errors};
use linkspan_review::{ReviewId, WindowId};

use crate::core::contract::{Action, ConnectionId, HistoryAnswer, HistoryFilter, HistoryQuery, Ticket};
use crate::core::history::undo::Undo;
use crate::core::history::undo_turn::UndoTurn;
use crate::core::history::{Listing, resolve, undo, undo_turn, unreadable};
use crate::core::pending::{Continuation, WindowPurpose};
use crate::core::reviews::agent_writes;
use crate::core::windows::policy::Policy;
use crate::core::{Core, convert};

const LISTED: u32 = 50;
const LISTED_MOST: u32 = 1000;
/// Connections with a query at the same time.
const QUERIES_MOST: usize = 64;

pub(super) fn history_list(
    core: &mut Core,
    connection: ConnectionId,
    request: RequestId,
    list: api::HistoryList,
) -> Result<(), RpcError> {
    let window = list.window.as_deref().map(convert::window_id).transpose()?;
    let chat = list.chat.as_deref().map(undo_turn::named).transpose()?;
    may_ask(core, connection)?;
    let filter = HistoryFilter {
        limit: list.limit.unwrap_or(LISTED).min(LISTED_MOST) as usize,
        path: list.path.map(PathBuf::from),
        window,
        undoable: list.undoable,
        chat: chat.map(|(chat, _)| chat),
        turn: chat.and_then(|(_, turn)| turn),
    };
    begin(core, Listing::new(connection, request), HistoryQuery::List(filter));
    Ok(())
}

pub(super) fn history_show(
    core: &mut Core,
    connection: ConnectionId,
    request: RequestId,
    show: &api::HistoryShow,
) -> Result<(), RpcError> {
    let name = &show.review;
    let review = name.parse().map_err(|_| {
        let name: String = name.chars().take(40).collect();
        RpcError::new(errors::INVALID_PARAMS, format!("`{name}` does not name a review, such as `r12`"))
    })?;
    may_ask(core, connection)?;
    let listing = Listing { review: Some(review), ..Listing::new(connection, request) };
    begin(core, listing, HistoryQuery::Texts(review));
    Ok(())
}

fn begin(core: &mut Core, listing: Listing, query: HistoryQuery) {
    let ticket = core.out.ticket();
    core.history.lists.insert(ticket, listing);
    ask_history(core, ticket, query);
}

impl Listing {
    fn new(connection: ConnectionId, request: RequestId) -> Listing {
        Listing { connection, request, entries: Vec::new(), review: None, texts: None, unread: 0 }
    }
}

/// One query at a time for each connection, and not too many for all.
pub(super) fn may_ask(core: &Core, connection: ConnectionId) -> Result<(), RpcError> {
    let lists = core.history.lists.values().map(|list| list.connection);
    let undos = core.history.undos.values().filter_map(Undo::connection);
    let turns = core.history.turns.values().map(UndoTurn::connection);
    let asking: Vec<ConnectionId> = lists.chain(undos).chain(turns).collect();
    if asking.contains(&connection) {
        let message = "this connection already waits for the history; send one request at a time";
        return Err(RpcError::new(errors::INVALID_REQUEST, message));
    }
    if asking.len() >= QUERIES_MOST {
        let message =
            format!("{QUERIES_MOST} other requests for the history are pending; try again in a moment");
        return Err(RpcError::new(errors::TIMEOUT, message));
    }
    Ok(())
}

/// Asks the journal, once it is up to date.
pub(super) fn ask_history(core: &mut Core, ticket: Ticket, query: HistoryQuery) {
    resolve::resolve_undos(core);
    agent_writes::read_all(core);
    if core.history.looks == 0 {
        core.out.push(Action::ReadHistory { ticket, query });
    } else {
        core.history.held.push((ticket, query));
    }
}

pub(in crate::core) fn history_read(core: &mut Core, ticket: Ticket, result: Result<HistoryAnswer, String>) {
    if core.history.turns.contains_key(&ticket) {
        return undo_turn::listed(core, ticket, result);
    }
    let Some(list) = core.history.lists.get_mut(&ticket) else {
        return undo::change_read(core, ticket, result);
    };
    match result {
        Ok(HistoryAnswer::List(entries)) => list.entries = entries,
        Ok(HistoryAnswer::Texts(texts)) => {
            list.entries = vec![texts.entry.clone()];
            list.texts = Some(texts);
        }
        Ok(answer) => {
            let error = list.review.map_or_else(
                || RpcError::new(errors::INTERNAL, "no list was read"),
                |review| not_shown(review, matches!(answer, HistoryAnswer::TextsGone { .. })),
            );
            return not_listed(core, ticket, error);
        }
        Err(error) => return not_listed(core, ticket, unreadable(&error)),
    }
    let windows: BTreeSet<WindowId> =
        list.entries.iter().filter_map(|entry| convert::window_id(&entry.window).ok()).collect();
    let unread = windows.into_iter().filter(|window| read_closed_policy(core, *window, ticket)).count();
    match core.history.lists.get_mut(&ticket) {
        Some(list) if unread > 0 => list.unread = unread,
        _ => list_ready(core, ticket),
    }
}

fn not_shown(review: ReviewId, texts_gone: bool) -> RpcError {
    let why = if texts_gone {
        "can no longer be shown: its texts were dropped because the journal was full (`journal_mib` in config.toml sets \
         the limit)"
    } else {
        "is not in the history; `linkspan history` lists past changes"
    };
    RpcError::new(errors::UNKNOWN_CHANGE, format!("{review} {why}"))
}

fn not_listed(core: &mut Core, ticket: Ticket, error: RpcError) {
    if let Some(Listing { connection, request, .. }) = core.history.lists.remove(&ticket) {
        core.out.send(connection, &Message::error(Some(request), error));
    }
}

fn list_ready(core: &mut Core, ticket: Ticket) {
    let Some(Listing { connection, request, entries, review, texts, .. }) =
        core.history.lists.remove(&ticket)
    else {
        return;
    };
    let open = |entry: &HistoryEntry| {
        convert::window_id(&entry.window)
            .is_ok_and(|window| !core.windows.is_denied(&core.out, window, Path::new(&entry.path)))
    };
    let entries: Vec<_> = entries.into_iter().filter(open).collect();
    let message = match (review, texts) {
        (None, _) => Message::response(request, &HistoryListResult { entries }),
        (Some(review), Some(texts)) if !entries.is_empty() => {
            // An editor accepts no larger message.
            if serde_json::to_vec(&texts).is_ok_and(|body| body.len() <= core.reviews.largest_show()) {
                Message::response(request, &texts)
            } else {
                let message = format!("{review} is too large to be shown; open its file");
                Message::error(Some(request), RpcError::new(errors::TOO_LARGE, message))
            }
        }
        (Some(review), _) => Message::error(Some(request), not_shown(review, false)),
    };
    core.out.send(connection, &message);
}

/// Whether the rules of a closed window have to be read first: its workspace may have its own config file.
pub(super) fn read_closed_policy(core: &mut Core, window: WindowId, asked_by: Ticket) -> bool {
    if core.windows.contains_key(&window) {
        return false;
    }
    let Some(old) = core.windows.remembered(window) else { return false };
    let folders = old.folders.clone();
    let purpose = WindowPurpose::ClosedPolicy { window, asked_by };
    let ticket = core.out.wait(Continuation::WindowPrepared(purpose));
    core.out.push(Action::PrepareWindow { ticket, folders, listen: None });
    true
}

pub(super) fn closed_policy(core: &mut Core, window: WindowId, policy: Policy, asked_by: Ticket) {
    core.windows.set_closed_policy(window, policy);
    let Some(list) = core.history.lists.get_mut(&asked_by) else {
        return undo::undo_may_begin(core, asked_by);
    };
    list.unread = list.unread.saturating_sub(1);
    if list.unread == 0 {
        list_ready(core, asked_by);
    }
}

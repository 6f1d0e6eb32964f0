//! The list of past changes, without what `deny` covers. A query waits until every unresolved undo and every write that
//! agents owe was looked at, so that the answer is up to date.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use linkspan_editor_api as api;
use linkspan_editor_api::{HistoryEntry, HistoryListResult, Message, RequestId, RpcError, errors};
use linkspan_review::WindowId;

use crate::core::contract::{Action, ConnectionId, HistoryAnswer, HistoryFilter, HistoryQuery, Ticket};
use crate::core::history::undo::Undo;
use crate::core::history::{Listing, resolve, undo, unreadable};
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
    may_ask(core, connection)?;
    let filter = HistoryFilter {
        limit: list.limit.unwrap_or(LISTED).min(LISTED_MOST) as usize,
        path: list.path.map(PathBuf::from),
        window,
        undoable: list.undoable,
    };
    let ticket = core.out.ticket();
    core.history.lists.insert(ticket, Listing { connection, request, entries: Vec::new(), unread: 0 });
    ask_history(core, ticket, HistoryQuery::List(filter));
    Ok(())
}

/// One query at a time for each connection, and not too many for all.
pub(super) fn may_ask(core: &Core, connection: ConnectionId) -> Result<(), RpcError> {
    let lists = core.history.lists.values().map(|list| list.connection);
    let asking: Vec<ConnectionId> = lists.chain(core.history.undos.values().map(Undo::asker)).collect();
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
    let Some(list) = core.history.lists.get_mut(&ticket) else {
        return undo::change_read(core, ticket, result);
    };
    match result {
        Ok(HistoryAnswer::List(entries)) => {
            let windows: BTreeSet<WindowId> =
                entries.iter().filter_map(|entry| convert::window_id(&entry.window).ok()).collect();
            list.entries = entries;
            let unread =
                windows.into_iter().filter(|window| read_closed_policy(core, *window, ticket)).count();
            match core.history.lists.get_mut(&ticket) {
                Some(list) if unread > 0 => list.unread = unread,
                _ => list_ready(core, ticket),
            }
        }
        Ok(_) => not_listed(core, ticket, RpcError::new(errors::INTERNAL, "no list was read")),
        Err(error) => not_listed(core, ticket, unreadable(&error)),
    }
}

fn not_listed(core: &mut Core, ticket: Ticket, error: RpcError) {
    if let Some(Listing { connection, request, .. }) = core.history.lists.remove(&ticket) {
        core.out.send(connection, &Message::error(Some(request), error));
    }
}

fn list_ready(core: &mut Core, ticket: Ticket) {
    let Some(Listing { connection, request, entries, .. }) = core.history.lists.remove(&ticket) else {
        return;
    };
    let open = |entry: &HistoryEntry| {
        convert::window_id(&entry.window)
            .is_ok_and(|window| !core.windows.is_denied(&core.out, window, Path::new(&entry.path)))
    };
    let entries = entries.into_iter().filter(open).collect();
    core.out.send(connection, &Message::response(request, &HistoryListResult { entries }));
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

//! Undoing every change of one turn of a conversation: one undo after another, the newest first, each with the rules of
//! `undo`. What cannot be undone is reported and keeps nothing else from it.

use std::collections::VecDeque;

use linkspan_editor_api as api;
use linkspan_editor_api::{
    HistoryEntry, HistoryUndoResult, HistoryUndoTurnResult, Message, RequestId, RpcError, TurnUndo, errors,
};

use crate::core::Core;
use crate::core::contract::{
    ChangeSelector, ConnectionId, HistoryAnswer, HistoryFilter, HistoryQuery, Ticket,
};
use crate::core::history::undo::{self, UndoRequester};
use crate::core::history::{list, unreadable};

/// A turn with more changes is undone in several requests.
const MOST: usize = 1000;

#[derive(Debug)]
pub(super) struct UndoTurn {
    connection: ConnectionId,
    request: RequestId,
    turn: String,
    left: VecDeque<HistoryEntry>,
    done: Vec<TurnUndo>,
}

impl UndoTurn {
    pub(super) fn connection(&self) -> ConnectionId {
        self.connection
    }
}

/// The numbers of a conversation and of its turn.
pub(super) fn named(name: &str) -> Result<(u64, Option<u32>), RpcError> {
    api::parse_turn(name).ok_or_else(|| {
        let name: String = name.chars().take(40).collect();
        let message =
            format!("`{name}` does not name a conversation (`t3`) or a turn (`t3/2`); `chat/list` has them");
        RpcError::new(errors::INVALID_PARAMS, message)
    })
}

pub(super) fn history_undo_turn(
    core: &mut Core,
    connection: ConnectionId,
    request: RequestId,
    undo: &api::HistoryUndoTurn,
) -> Result<(), RpcError> {
    let (chat, Some(turn)) = named(&undo.turn)? else {
        let message = format!("name one turn of {0}, such as {0}/1", undo.turn);
        return Err(RpcError::new(errors::INVALID_PARAMS, message));
    };
    list::may_ask(core, connection)?;
    let ticket = core.out.ticket();
    let undo =
        UndoTurn { connection, request, turn: undo.turn.clone(), left: VecDeque::new(), done: Vec::new() };
    core.history.turns.insert(ticket, undo);
    let filter =
        HistoryFilter { limit: MOST, chat: Some(chat), turn: Some(turn), ..HistoryFilter::default() };
    list::ask_history(core, ticket, HistoryQuery::List(filter));
    Ok(())
}

/// The changes of the turn, the newest first.
pub(super) fn listed(core: &mut Core, ticket: Ticket, result: Result<HistoryAnswer, String>) {
    let Some(undo) = core.history.turns.get_mut(&ticket) else { return };
    let error = match result {
        Ok(HistoryAnswer::List(entries)) => {
            let is_wanted = |entry: &HistoryEntry| {
                let is_accepted = matches!(entry.ended, api::ReviewEnded::Accepted { .. });
                is_accepted && entry.undoes.is_none() && !entry.undone
            };
            undo.left = entries.into_iter().filter(is_wanted).collect();
            if !undo.left.is_empty() {
                return next(core, ticket);
            }
            let message =
                format!("turn {} has no change to undo; `linkspan history` lists past changes", undo.turn);
            RpcError::new(errors::UNKNOWN_CHANGE, message)
        }
        Ok(_) => RpcError::new(errors::INTERNAL, "no list was read"),
        Err(error) => unreadable(&error),
    };
    if let Some(UndoTurn { connection, request, .. }) = core.history.turns.remove(&ticket) {
        core.out.send(connection, &Message::error(Some(request), error));
    }
}

fn next(core: &mut Core, ticket: Ticket) {
    let Some(undo) = core.history.turns.get(&ticket) else { return };
    let Some(entry) = undo.left.front() else {
        if let Some(UndoTurn { connection, request, done, .. }) = core.history.turns.remove(&ticket) {
            let result = HistoryUndoTurnResult { changes: done };
            core.out.send(connection, &Message::response(request, &result));
        }
        return;
    };
    match entry.review.parse() {
        Ok(review) => undo::begin(core, UndoRequester::Turn(ticket), ChangeSelector::Review(review)),
        Err(_) => {
            let error = RpcError::new(errors::INTERNAL, "the journal has an id that cannot be read");
            part_over(core, ticket, Err(error));
        }
    }
}

/// The undo of one change is done, or was refused.
pub(super) fn part_over(core: &mut Core, ticket: Ticket, result: Result<HistoryUndoResult, RpcError>) {
    let Some(undo) = core.history.turns.get_mut(&ticket) else { return };
    let Some(HistoryEntry { review, path, .. }) = undo.left.pop_front() else { return };
    let (undone, error) = match result {
        Ok(undone) => (Some(undone), None),
        Err(error) => (None, Some(error.message)),
    };
    undo.done.push(TurnUndo { review, path, undone, error });
    next(core, ticket);
}

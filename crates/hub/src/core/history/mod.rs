//! Past changes: listing them, undoing them, and finding out whether an undo was done.
//!
//! Owns the queries and undos that are under way, and the undos that are not resolved. The journal has the facts; the
//! files decide what can still be undone.
//!
//! Must not know: how reviews are decided, what agents ask for.
//!
//! Invariants: an undo is in the journal before its file is touched; a file is touched only if it holds exactly what the
//! change left there, in every editor; an undo counts as done or not done only if the file shows it.

mod list;
pub(super) mod resolve;
pub(super) mod undo;
mod undo_turn;

pub(super) use list::history_read;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use linkspan_editor_api as api;
use linkspan_editor_api::{HistoryEntry, HistoryShowResult, RequestId, RpcError, errors};
use linkspan_review::{ChangeId, Digest, ReviewId, Text, WindowId};

use crate::core::Core;
use crate::core::contract::{BegunUndo, ConnectionId, HistoryQuery, Ticket};
use crate::core::history::undo::Undo;
use crate::core::history::undo_turn::UndoTurn;
use crate::core::pending::{NoAnswer, UndoRead};
use crate::core::windows::Windows;
use crate::core::windows::policy::Policy;

#[derive(Debug, Default)]
pub(super) struct History {
    lists: HashMap<Ticket, Listing>,
    undos: HashMap<Ticket, Undo>,
    /// Turns of conversations that are being undone.
    turns: HashMap<Ticket, UndoTurn>,
    /// Undos that were begun, without a record of whether they were done.
    unresolved: Vec<BegunUndo>,
    /// Unresolved undos whose editor may still come back.
    waiting: Vec<BegunUndo>,
    /// Undos that are no longer waited for, and that the disk or an editor may still do.
    abandoned: BTreeMap<Ticket, AbandonedUndo>,
    /// Undos that turned out to be done while their file was being looked at.
    resolved: BTreeSet<ChangeId>,
    /// How many files are being looked at for queries.
    looks: usize,
    /// Queries that wait until no file is being looked at.
    held: Vec<(Ticket, HistoryQuery)>,
}

/// A list that is being made.
#[derive(Debug)]
struct Listing {
    connection: ConnectionId,
    request: RequestId,
    entries: Vec<HistoryEntry>,
    /// Only this review is wanted, with its texts.
    review: Option<ReviewId>,
    texts: Option<Box<HistoryShowResult>>,
    /// How many closed windows there are whose rules are still being read.
    unread: usize,
}

/// An undo that may still be done.
#[derive(Debug)]
struct AbandonedUndo {
    id: ChangeId,
    path: PathBuf,
    /// `None`: by the disk.
    editor: Option<EditRequestRef>,
}

/// A request to an editor, to restore a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EditRequestRef {
    window: WindowId,
    connection: ConnectionId,
    request: i64,
}

impl History {
    /// How many queries and undos are under way, including those that are no longer waited for.
    pub(super) fn len(&self) -> usize {
        self.lists.len()
            + self.undos.len()
            + self.turns.len()
            + self.abandoned.len()
            + self.resolved.len()
            + self.held.len()
            + self.waiting.len()
    }

    /// A file is looked at that queries wait for; [`Core::looked_at_file`] ends it.
    pub(super) fn begin_look(&mut self) {
        self.looks += 1;
    }

    /// The window whose folders tell where the file may be.
    pub(super) fn window_of(&self, windows: &Windows, read: &UndoRead) -> Option<WindowId> {
        match read {
            UndoRead::Begin(ticket) | UndoRead::Check(ticket) => self.undos.get(ticket)?.window(),
            UndoRead::Unsaved(doubt) => doubt.windows.last().copied(),
            UndoRead::Doubt(BegunUndo { window: own, path, .. }) => {
                let mut having = windows.iter().filter(|(_, window)| within(&window.folders, path));
                Some(having.next().map_or(*own, |(id, _)| *id))
            }
        }
    }
}

/// What other parts of the core start.
impl Core {
    pub(super) fn history_list(
        &mut self,
        connection: ConnectionId,
        request: RequestId,
        list: api::HistoryList,
    ) -> Result<(), RpcError> {
        list::history_list(self, connection, request, list)
    }

    pub(super) fn history_show(
        &mut self,
        connection: ConnectionId,
        request: RequestId,
        show: &api::HistoryShow,
    ) -> Result<(), RpcError> {
        list::history_show(self, connection, request, show)
    }

    pub(super) fn history_undo(
        &mut self,
        connection: ConnectionId,
        request: RequestId,
        undo: &api::HistoryUndo,
    ) -> Result<(), RpcError> {
        undo::history_undo(self, connection, request, undo)
    }

    pub(super) fn history_undo_turn(
        &mut self,
        connection: ConnectionId,
        request: RequestId,
        undo: &api::HistoryUndoTurn,
    ) -> Result<(), RpcError> {
        undo_turn::history_undo_turn(self, connection, request, undo)
    }

    /// The rules of a closed window are known.
    pub(super) fn closed_policy(&mut self, window: WindowId, policy: Policy, asked_by: Ticket) {
        list::closed_policy(self, window, policy, asked_by);
    }

    /// An editor answered to the request to restore a file.
    pub(super) fn edits_restored(&mut self, ticket: Ticket, answer: Result<api::EditsApplyResult, NoAnswer>) {
        undo::edits_restored(self, ticket, answer);
    }

    /// An editor answered after its deadline: if it was asked to restore a file, it will not do so any later.
    pub(super) fn answered_late(&mut self, connection: ConnectionId, request: i64) {
        let answers = |of: EditRequestRef| (of.connection, of.request) == (connection, request);
        self.history.abandoned.retain(|_, undo| !undo.editor.is_some_and(answers));
    }

    /// An editor that is back has done everything that it was asked before; one that will not come back does nothing.
    pub(super) fn no_longer_late(&mut self) {
        resolve::no_longer_late(self);
    }

    /// One of the files that queries wait for was looked at.
    pub(super) fn looked_at_file(&mut self) {
        resolve::looked_at_file(self);
    }
}

/// `None`: there is no file, as expected.
fn holds(now: Option<&Text>, expected: Option<Digest>) -> bool {
    now.map(Text::digest) == expected
}

fn within(folders: &[PathBuf], path: &Path) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

fn unreadable(error: &str) -> RpcError {
    RpcError::new(
        errors::INTERNAL,
        format!("the journal cannot be read: {error}; look at `linkspan hub log`"),
    )
}

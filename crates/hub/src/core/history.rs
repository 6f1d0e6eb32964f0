//! The past, and taking a change back. The journal knows what a change did; here it is decided whether it may be
//! undone: only if the file, as its editor has it, holds exactly what the change left there.

use std::collections::HashMap;
use std::path::PathBuf;

use linkspan_dialect::{Failure, FailureKind};
use linkspan_editor_api as api;
use linkspan_editor_api::{
    HistoryListResult, HistoryUndoResult, Message, RequestId, RpcError, WindowEvent, errors,
};
use linkspan_review::{ChangeId, Digest, Text, WindowId};

use super::Core;
use super::base::{Base, BaseWanted, Buffer};
use super::editor::{NoAnswer, Resume};
use super::event::{Action, LocalId, Ticket};
use super::policy::Policy;
use crate::files::{Removal, Replacement, Restoration, WriteError};
use crate::journal::{BegunUndo, Change, Filter, Found, Name, Question};

const LISTED: u32 = 50;
const LISTED_MOST: u32 = 1000;

/// Questions about the past that are under way.
#[derive(Debug, Default)]
pub(super) struct History {
    lists: HashMap<Ticket, (LocalId, RequestId)>,
    undos: HashMap<Ticket, Undo>,
}

#[derive(Debug)]
struct Undo {
    local: LocalId,
    request: RequestId,
    name: Name,
    change: Option<Change>,
    buffer: Option<Buffer>,
    /// Of the change and of the undo, once it is in the journal.
    names: Option<(ChangeId, ChangeId)>,
    /// Why the file may not hold what it should.
    doubt: String,
}

/// Why a file is read.
#[derive(Debug)]
pub(super) enum UndoRead {
    /// Is it what the change made it?
    Begin(Ticket),
    /// Is it what it was before the change, now that its editor has written it?
    Check(Ticket),
    /// Had an earlier life come as far as writing it?
    Doubt(BegunUndo),
}

impl Core {
    pub(super) fn history_list(
        &mut self,
        local: LocalId,
        request: RequestId,
        list: api::HistoryList,
    ) -> Result<(), RpcError> {
        let window = list.window.as_deref().map(window_named).transpose()?;
        let filter = Filter {
            limit: list.limit.unwrap_or(LISTED).min(LISTED_MOST) as usize,
            path: list.path.map(PathBuf::from),
            window,
            undoable: list.undoable,
        };
        let ticket = self.ticket();
        self.history.lists.insert(ticket, (local, request));
        self.act(Action::ReadHistory { ticket, question: Question::List(filter) });
        Ok(())
    }

    pub(super) fn history_undo(
        &mut self,
        local: LocalId,
        request: RequestId,
        undo: &api::HistoryUndo,
    ) -> Result<(), RpcError> {
        let name = match undo.change.as_str() {
            "last" => Some(Name::Last),
            name => name.parse().map(Name::Change).or_else(|_| name.parse().map(Name::Review)).ok(),
        };
        let name = name.ok_or_else(|| {
            let message = format!("`{}` names no change; `linkspan history` lists them", undo.change);
            RpcError::new(errors::INVALID_PARAMS, message)
        })?;
        let ticket = self.ticket();
        let (change, buffer, names, doubt) = (None, None, None, String::new());
        self.history.undos.insert(ticket, Undo { local, request, name, change, buffer, names, doubt });
        self.act(Action::ReadHistory { ticket, question: Question::Change(name) });
        Ok(())
    }

    pub(super) fn history_read(&mut self, ticket: Ticket, result: Result<Found, String>) {
        if let Some((local, request)) = self.history.lists.remove(&ticket) {
            let answer = match result {
                Ok(Found::List(entries)) => Message::response(request, &HistoryListResult { entries }),
                Ok(_) => Message::error(Some(request), RpcError::new(errors::INTERNAL, "no list was read")),
                Err(error) => Message::error(Some(request), unreadable(&error)),
            };
            return self.send(local, &answer);
        }
        let Some(undo) = self.history.undos.get(&ticket) else { return };
        match result {
            Ok(Found::Change(change)) => self.undo_found(ticket, *change),
            Ok(Found::NothingWritten { review, verdict }) => {
                let message =
                    format!("{review} was {verdict}: nothing was written, so nothing can be undone");
                self.not_undone(ticket, errors::UNKNOWN_CHANGE, message);
            }
            Ok(Found::Unknown | Found::List(_)) => {
                let message = match undo.name {
                    Name::Last => {
                        "there is nothing to undo; `linkspan history` lists what was done".to_owned()
                    }
                    Name::Change(id) => format!("there is no change {id}; `linkspan history` lists them"),
                    Name::Review(id) => {
                        format!("no change of {id} is in the journal; `linkspan history` lists them")
                    }
                };
                self.not_undone(ticket, errors::UNKNOWN_CHANGE, message);
            }
            Err(error) => {
                let RpcError { code, message } = unreadable(&error);
                self.not_undone(ticket, code, message);
            }
        }
    }

    fn undo_found(&mut self, ticket: Ticket, change: Change) {
        let name = named(&change);
        if let Some(by) = change.undone_by {
            let message = format!("{name} is undone already; `linkspan undo {by}` puts it in again");
            return self.not_undone(ticket, errors::CONFLICT, message);
        }
        let others = self.history.undos.values().filter_map(|undo| undo.change.as_ref());
        if others.into_iter().any(|other| other.path == change.path) {
            let message = format!("{} is being changed by another undo; try again", change.path.display());
            return self.not_undone(ticket, errors::CONFLICT, message);
        }
        let path = change.path.clone();
        if let Some(undo) = self.history.undos.get_mut(&ticket) {
            undo.change = Some(change);
        }
        self.read_base(BaseWanted::Undo(UndoRead::Begin(ticket)), path);
    }

    /// The window that has the file: its own, or after that is closed any other on the same folder.
    pub(super) fn window_of_undo(&self, read: &UndoRead) -> WindowId {
        let (own, path) = match read {
            UndoRead::Begin(ticket) | UndoRead::Check(ticket) => {
                match self.history.undos.get(ticket).and_then(|undo| undo.change.as_ref()) {
                    Some(change) => (change.window, &change.path),
                    None => return WindowId(0),
                }
            }
            UndoRead::Doubt(begun) => (begun.window, &begun.path),
        };
        if self.windows.contains_key(&own) {
            return own;
        }
        let there = self
            .windows
            .iter()
            .filter(|(_, window)| window.folders.iter().any(|folder| path.starts_with(folder)));
        there.max_by_key(|(_, window)| window.local.is_some()).map_or(own, |(id, _)| *id)
    }

    pub(super) fn undo_read(&mut self, read: UndoRead, base: Result<Base, Failure>) {
        match read {
            UndoRead::Begin(ticket) => self.undo_judged(ticket, base),
            UndoRead::Check(ticket) => {
                let Some(undo) = self.history.undos.get(&ticket) else { return };
                let before = undo.change.as_ref().and_then(|change| change.before.as_deref());
                if base.is_ok_and(|base| holds(base.text.as_ref(), before.map(Digest::of))) {
                    self.undone(ticket);
                } else {
                    let message = undo.doubt.clone();
                    self.not_undone(ticket, errors::CONFLICT, message);
                }
            }
            // A disk that does not answer tells nothing: the next life asks again.
            UndoRead::Doubt(_)
                if base.as_ref().is_err_and(|failure| failure.kind != FailureKind::NotText) => {}
            UndoRead::Doubt(BegunUndo { id, after, .. }) => {
                let done = base.is_ok_and(|base| holds(base.text.as_ref(), after));
                self.act(Action::EndUndo { undo: id, done });
            }
        }
    }

    /// An undo that an earlier life began is not carried on, because nobody waits for it; the file says whether it
    /// was done.
    pub(super) fn doubt_undos(&mut self, begun: Vec<BegunUndo>) {
        for undo in begun {
            let path = undo.path.clone();
            self.read_base(BaseWanted::Undo(UndoRead::Doubt(undo)), path);
        }
    }

    fn undo_judged(&mut self, ticket: Ticket, base: Result<Base, Failure>) {
        let window = self.window_of_undo(&UndoRead::Begin(ticket));
        let Some(change) = self.history.undos.get(&ticket).and_then(|undo| undo.change.as_ref()) else {
            return;
        };
        let judged = base
            .map_err(|failure| (code_of(failure.kind), failure.message))
            .and_then(|base| self.cannot_undo(change, window, &base).map_or(Ok(base.buffer), Err));
        match judged {
            Ok(buffer) => {
                let change = change.clone();
                if let Some(undo) = self.history.undos.get_mut(&ticket) {
                    undo.buffer = buffer;
                }
                self.act(Action::BeginUndo { ticket, change });
            }
            Err((code, message)) => self.not_undone(ticket, code, message),
        }
    }

    /// Why this file must stay as it is.
    fn cannot_undo(&self, change: &Change, window: WindowId, base: &Base) -> Option<(i64, String)> {
        let path = change.path.display();
        let conflict = |message: String| Some((errors::CONFLICT, message));
        let window = self.windows.get(&window);
        if base.path != change.path {
            return conflict(format!("{path} leads to another place now: {}", base.path.display()));
        }
        let editor = window.map_or("", |window| &window.editor.name);
        match window {
            // Windows that are open were asked when the file was read.
            None => {
                let (folders, _) = self.folders_of(change.window);
                if Policy::new(folders, self.config.deny_globs()).denies(&change.path) {
                    return Some((errors::DENIED, Policy::denied(&change.path)));
                }
            }
            Some(window) if window.capabilities.documents && window.local.is_none() => {
                return conflict(format!(
                    "{path} may have unsaved text in {editor}, which is away: undo again in a moment"
                ));
            }
            Some(_) => {}
        }
        if base.buffer.is_some_and(|buffer| buffer.dirty) {
            return conflict(format!(
                "{path} has unsaved text in {editor}: save or revert it there, then undo"
            ));
        }
        let name = named(change);
        if !holds(base.text.as_ref(), change.after.as_deref().map(Digest::of)) {
            let message = match (&base.text, &change.after) {
                (None, Some(_)) => {
                    format!("{path} is gone: {name} cannot be undone; `linkspan history` lists what was done")
                }
                (Some(_), None) => {
                    format!("there is a file {path} again: move it away if {name} shall be undone")
                }
                _ => format!(
                    "{path} is not what {name} made it: someone changed it since, or it was never written. \
                     Look at the file; `linkspan history {path}` lists what was done to it"
                ),
            };
            return conflict(message);
        }
        (change.before.is_none() && base.buffer.is_some()).then(|| {
            let message = format!(
                "{path} did not exist before {name} and would be removed: close it in {editor} first"
            );
            (errors::CONFLICT, message)
        })
    }

    /// It is in the journal: now the file, through the editor that has it open, else on disk.
    pub(super) fn undo_begun(&mut self, ticket: Ticket, result: Result<(ChangeId, ChangeId), String>) {
        let window = self.window_of_undo(&UndoRead::Begin(ticket));
        let Some(undo) = self.history.undos.get_mut(&ticket) else { return };
        let (names, Some(change)) = (result, undo.change.as_ref()) else { return };
        match names {
            Ok(names) => undo.names = Some(names),
            Err(error) => {
                let message = format!("the undo could not be recorded, so nothing was changed: {error}");
                return self.not_undone(ticket, errors::INTERNAL, message);
            }
        }
        let text = change.before.as_deref().and_then(|bytes| linkspan_review::decode(bytes).ok());
        let editor = self.windows.get(&window).filter(|window| window.capabilities.edits);
        let editor = editor.and_then(|window| Some((window.local?, window.as_named(&change.path))));
        if let (Some(Buffer { version, .. }), Some((local, named)), Some(text)) = (undo.buffer, editor, text)
        {
            let edits = api::Edits::Text { text: text.text };
            let apply = api::EditsApply { path: named.display().to_string(), version, edits, save: true };
            return self.ask(local, &apply, Resume::Restored(ticket));
        }
        let (path, bytes, expect) =
            (change.path.clone(), change.before.clone(), change.after.as_deref().map(Digest::of));
        let review = change.review;
        let (folders, limit_mib) = self.folders_of(window);
        let restoration = match (bytes, expect) {
            (Some(bytes), expect) => {
                Restoration::Replace(Replacement { review, folders, path, bytes, expect, limit_mib })
            }
            (None, Some(expect)) => Restoration::Remove(Removal { folders, path, expect, limit_mib }),
            // From no file to no file.
            (None, None) => return self.undone(ticket),
        };
        self.act(Action::RestoreFile { ticket, restoration });
    }

    pub(super) fn edits_restored(&mut self, ticket: Ticket, answer: Result<api::EditsApplyResult, NoAnswer>) {
        let window = self.window_of_undo(&UndoRead::Check(ticket));
        let editor = self.windows.get(&window).map_or("its editor", |window| &window.editor.name).to_owned();
        let Some(undo) = self.history.undos.get_mut(&ticket) else { return };
        let Some(path) = undo.change.as_ref().map(|change| change.path.clone()) else { return };
        let shown = path.display();
        undo.doubt = match answer {
            Ok(applied) if applied.saved => {
                format!(
                    "{editor} did not save {shown} as it was before (it may format on save): look at it there"
                )
            }
            Ok(applied) if applied.applied => {
                format!("{editor} has {shown} as it was before, but could not save it: save it there")
            }
            Ok(_) => format!(
                "{editor} does not let {shown} be changed, or it was changed meanwhile: look at it there"
            ),
            Err(no_answer) => format!("{shown}: {}; undo again", no_answer.message()),
        };
        self.read_base(BaseWanted::Undo(UndoRead::Check(ticket)), path);
    }

    pub(super) fn file_restored(&mut self, ticket: Ticket, result: Result<(), WriteError>) {
        match result {
            Ok(()) => self.undone(ticket),
            Err(WriteError::BaseMoved(_)) => {
                let message =
                    "the file was changed at this very moment: look at it, then undo again".to_owned();
                self.not_undone(ticket, errors::CONFLICT, message);
            }
            Err(WriteError::Failed(error)) => {
                let failure = super::tools::failure_of(&error);
                self.not_undone(ticket, code_of(failure.kind), failure.message);
            }
        }
    }

    fn undone(&mut self, ticket: Ticket) {
        let Some(undo) = self.history.undos.remove(&ticket) else { return };
        let (Some(change), Some((name, redo))) = (undo.change, undo.names) else { return };
        self.act(Action::EndUndo { undo: redo, done: true });
        let path = change.path.display().to_string();
        tracing::info!("{name} of {path} is undone");
        let result = HistoryUndoResult {
            change: name.to_string(),
            review: change.review.to_string(),
            path: path.clone(),
            removed_file: change.before.is_none(),
            redo: redo.to_string(),
        };
        self.send(undo.local, &Message::response(undo.request, &result));
        let what = WindowEvent::Undone { change: name.to_string(), path, redo: redo.to_string() };
        self.publish(change.window, what);
    }

    fn not_undone(&mut self, ticket: Ticket, code: i64, message: String) {
        let Some(undo) = self.history.undos.remove(&ticket) else { return };
        if let Some((_, id)) = undo.names {
            self.act(Action::EndUndo { undo: id, done: false });
        }
        self.send(undo.local, &Message::error(Some(undo.request), RpcError::new(code, message)));
    }
}

/// `None`: there is no file, and shall be none.
fn holds(now: Option<&Text>, expected: Option<Digest>) -> bool {
    now.map(Text::digest) == expected
}

fn named(change: &Change) -> String {
    change.id.map_or_else(|| change.review.to_string(), |id| id.to_string())
}

fn unreadable(error: &str) -> RpcError {
    RpcError::new(
        errors::INTERNAL,
        format!("the journal cannot be read: {error}; look at `linkspan hub log`"),
    )
}

pub(super) fn window_named(name: &str) -> Result<WindowId, RpcError> {
    let number = name.strip_prefix('w').and_then(|number| number.parse().ok());
    number.map(WindowId).ok_or_else(|| {
        let message = format!("`{name}` is no window's id; `linkspan status` lists them");
        RpcError::new(errors::INVALID_PARAMS, message)
    })
}

fn code_of(kind: FailureKind) -> i64 {
    match kind {
        FailureKind::OutsideWorkspace => errors::OUTSIDE_WORKSPACE,
        FailureKind::Denied => errors::DENIED,
        FailureKind::TooLarge => errors::TOO_LARGE,
        _ => errors::CONFLICT,
    }
}

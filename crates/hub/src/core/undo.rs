//! Taking a change back. The journal knows what a change did; here it is decided whether it may be undone: only if
//! the file, as every editor has it, holds exactly what the change left there.

use std::path::Path;

use linkspan_dialect::{Failure, FailureKind};
use linkspan_editor_api as api;
use linkspan_editor_api::{HistoryUndoResult, Message, RequestId, RpcError, WindowEvent, errors};
use linkspan_review::{ChangeId, Digest, Landed, Phase, WindowId, landed};

use super::Core;
use super::base::{Base, BaseWanted, Buffer, READ_SECONDS};
use super::editor::{NoAnswer, Resume};
use super::event::{Action, LocalId, Ticket};
use super::history::{Late, Told, holds, unreadable};
use super::policy::Policy;
use super::timers::{Due, TimerId};
use super::writing::SAVE_MS;
use crate::files::{Removal, Replacement, Restoration, WriteError};
use crate::journal::{BegunUndo, Change, Found, Name, Question};

/// Editors that lost a hub are back at the next one within this.
pub(super) const COMING_BACK_MS: u64 = 3_000;

#[derive(Debug)]
pub(super) struct Undo {
    local: LocalId,
    request: RequestId,
    name: Name,
    change: Option<Change>,
    /// Windows that have the file and were not asked yet.
    unasked: Vec<WindowId>,
    /// The one that was asked last.
    window: WindowId,
    open: Option<Open>,
    /// Of the change and of the undo, once it is in the journal.
    names: Option<(ChangeId, ChangeId)>,
    /// What is said if the file turns out not to hold what it should.
    doubt: (i64, String),
    /// Whoever was to change the file has not said what came of it, and may yet do it.
    unanswered: bool,
    /// What an editor was asked to do for it.
    told: Option<Told>,
    deadline: Option<TimerId>,
}

impl Undo {
    pub(super) fn asker(&self) -> LocalId {
        self.local
    }
}

/// An editor that has the file open, without unsaved text.
#[derive(Debug, Clone, Copy)]
struct Open {
    window: WindowId,
    local: LocalId,
    buffer: Buffer,
}

/// Why a file is read.
#[derive(Debug)]
pub(super) enum UndoRead {
    /// Is it what the change made it?
    Begin(Ticket),
    /// Is it what it was before the change, now that someone has written it?
    Check(Ticket),
    /// Was that undo done?
    Doubt(BegunUndo),
}

impl Core {
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
        self.may_ask(local)?;
        let ticket = self.ticket();
        let undo = Undo {
            local,
            request,
            name,
            change: None,
            unasked: Vec::new(),
            window: WindowId(0),
            open: None,
            names: None,
            doubt: (errors::INTERNAL, String::new()),
            unanswered: false,
            told: None,
            deadline: None,
        };
        self.history.undos.insert(ticket, undo);
        self.ask_history(ticket, Question::Change(name));
        Ok(())
    }

    pub(super) fn change_read(&mut self, ticket: Ticket, result: Result<Found, String>) {
        let Some(undo) = self.history.undos.get(&ticket) else { return };
        match result {
            Ok(Found::Change(change)) => self.undo_found(ticket, *change),
            Ok(Found::NothingWritten { review, verdict }) => {
                let message = match verdict.as_str() {
                    "accepted" => format!("nothing is known of {review} that could be put back"),
                    _ => format!("{review} was {verdict}: nothing was written, so nothing can be undone"),
                };
                self.not_undone(ticket, errors::UNKNOWN_CHANGE, message);
            }
            Ok(Found::TextsGone { review }) => {
                let message = format!(
                    "the texts of {review} are gone, because the journal was full: it can not be undone any more \
                     (`journal_mib` in config.toml says how much is kept)"
                );
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
        if let Some(message) = self.being_changed(&change.path) {
            return self.not_undone(ticket, errors::CONFLICT, message);
        }
        if self.comes_back(&change.path) {
            self.timers.add(COMING_BACK_MS, Due::Undo(ticket));
            return;
        }
        let window = change.window;
        if let Some(undo) = self.history.undos.get_mut(&ticket) {
            undo.change = Some(change);
        }
        if !self.read_closed_policy(window, ticket) {
            self.undo_may_begin(ticket);
        }
    }

    /// Two who write the same file at once are one too many.
    fn being_changed(&self, path: &Path) -> Option<String> {
        let mut others = self.history.undos.values().filter_map(|undo| undo.change.as_ref());
        // The disk may yet do what it was given up on.
        let mut late = self.history.late.values();
        if others.any(|other| other.path == path) || late.any(|late| late.path == path) {
            return Some(format!("{} is being changed by another undo; try again", path.display()));
        }
        self.being_written(path)
    }

    fn being_written(&self, path: &Path) -> Option<String> {
        let mut reviews = self.state.reviews_of_path(path);
        let writing =
            reviews.find(|review| matches!(review.phase, Phase::Deciding(_) | Phase::Writing(_)))?;
        Some(format!(
            "{} is being changed by {}, which was just decided; try again",
            path.display(),
            writing.id
        ))
    }

    /// A hub that has just begun does not know yet which editors were with the one before, and what they hold.
    pub(super) fn comes_back(&self, path: &Path) -> bool {
        let mut missing = self.remembered.iter().filter(|old| !self.windows.contains_key(&old.id));
        // Of a window that was closed, no discovery file is left.
        self.now_ms < COMING_BACK_MS
            && missing.any(|old| !old.discovery.is_empty() && within(&old.real_folders, path))
    }

    pub(super) fn undo_waited(&mut self, ticket: Ticket) {
        if let Some(name) = self.history.undos.get(&ticket).map(|undo| undo.name) {
            self.ask_history(ticket, Question::Change(name));
        }
    }

    /// Asks every window that has the file, its own first. If none has it any more, its own knows the folders.
    pub(super) fn undo_may_begin(&mut self, ticket: Ticket) {
        let Some(undo) = self.history.undos.get(&ticket) else { return };
        let Some(Change { window: own, path, .. }) = &undo.change else { return };
        if self.keeps_back(*own, path) {
            let message = Policy::denied(path);
            return self.not_undone(ticket, errors::DENIED, message);
        }
        let having = self.windows.iter().filter(|(_, window)| within(&window.folders, path));
        let mut unasked: Vec<WindowId> = having.map(|(id, _)| *id).collect();
        if unasked.is_empty() {
            unasked.push(*own);
        }
        unasked.sort_by_key(|id| id == own);
        if let Some(undo) = self.history.undos.get_mut(&ticket) {
            undo.unasked = unasked;
        }
        self.ask_next_window(ticket);
    }

    fn ask_next_window(&mut self, ticket: Ticket) {
        let Some(undo) = self.history.undos.get_mut(&ticket) else { return };
        let Some(change) = undo.change.clone() else { return };
        match undo.unasked.pop() {
            Some(window) => {
                undo.window = window;
                self.read_base(BaseWanted::Undo(UndoRead::Begin(ticket)), change.path);
            }
            None => match self.being_written(&change.path) {
                Some(message) => self.not_undone(ticket, errors::CONFLICT, message),
                None => self.act(Action::BeginUndo { ticket, change }),
            },
        }
    }

    /// The window whose folders say where the file may be.
    pub(super) fn window_of_undo(&self, read: &UndoRead) -> WindowId {
        match read {
            UndoRead::Begin(ticket) | UndoRead::Check(ticket) => {
                self.history.undos.get(ticket).map_or(WindowId(0), |undo| undo.window)
            }
            UndoRead::Doubt(BegunUndo { window: own, path, .. }) => {
                let mut having = self.windows.iter().filter(|(_, window)| within(&window.folders, path));
                having.next().map_or(*own, |(id, _)| *id)
            }
        }
    }

    pub(super) fn undo_read(&mut self, read: UndoRead, base: Result<Base, Failure>) {
        match read {
            UndoRead::Begin(ticket) => self.undo_judged(ticket, base),
            UndoRead::Check(ticket) => self.undo_checked(ticket, base),
            UndoRead::Doubt(undo) => self.doubt_read(undo, base),
        }
    }

    fn undo_judged(&mut self, ticket: Ticket, base: Result<Base, Failure>) {
        if let (Ok(base), Some(undo)) = (&base, self.history.undos.get_mut(&ticket))
            && let Some(change) = &mut undo.change
        {
            take_as_written(change, base);
        }
        let Some(undo) = self.history.undos.get(&ticket) else { return };
        let (window, Some(change)) = (undo.window, &undo.change) else { return };
        let judged = base
            .map_err(|failure| (code_of(failure.kind), failure.message))
            .and_then(|base| self.cannot_undo(change, window, &base).map_or(Ok(base.buffer), Err));
        let buffer = match judged {
            Ok(buffer) => buffer,
            Err((code, message)) => return self.not_undone(ticket, code, message),
        };
        let local = self.windows.get(&window).and_then(|window| window.local);
        let open = buffer.zip(local).map(|(buffer, local)| Open { window, local, buffer });
        if let Some(undo) = self.history.undos.get_mut(&ticket) {
            undo.open = undo.open.or(open);
        }
        self.ask_next_window(ticket);
    }

    /// Why this file must stay as it is, as far as that window is concerned.
    fn cannot_undo(&self, change: &Change, window: WindowId, base: &Base) -> Option<(i64, String)> {
        let path = change.path.display();
        let conflict = |message: String| Some((errors::CONFLICT, message));
        if base.path != change.path {
            return conflict(format!("{path} leads to another place now: {}", base.path.display()));
        }
        let editor = self.windows.get(&window).map_or("", |window| &window.editor.name);
        if self.editor_is_away(window) {
            return conflict(format!(
                "{path} may have unsaved text in {editor}, which is away: undo again in a moment"
            ));
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
        let Some(undo) = self.history.undos.get_mut(&ticket) else { return };
        let (names, Some(change)) = (result, undo.change.clone()) else { return };
        match names {
            Ok(names) => undo.names = Some(names),
            Err(error) => {
                let message = format!("the undo could not be recorded, so nothing was changed: {error}");
                return self.not_undone(ticket, errors::INTERNAL, message);
            }
        }
        if let Some(Open { window, local, buffer }) = undo.open {
            // Only the editor that was asked knows what it has.
            let editor = self.windows.get(&window).filter(|window| window.local == Some(local));
            let Some(editor) = editor else {
                let message = format!(
                    "{} was open in an editor that has just gone: undo again in a moment",
                    change.path.display()
                );
                return self.not_undone(ticket, errors::CONFLICT, message);
            };
            let text_of = |bytes: &Option<Vec<u8>>| {
                bytes.as_deref().and_then(|bytes| linkspan_review::decode(bytes).ok())
            };
            let held = text_of(&change.after).map(|held| held.text).unwrap_or_default();
            let text = text_of(&change.before).filter(|text| buffer.can_take(&text.text, &held));
            if let Some(text) = text.filter(|_| editor.capabilities.edits) {
                let path = editor.as_named(&change.path).display().to_string();
                let edits = api::Edits::Text { text: text.text.into_string() };
                let apply = api::EditsApply { path, version: buffer.version, edits, save: true };
                return self.tell_to_restore(ticket, Told { window, local, request: 0 }, &apply);
            }
        }
        self.restore(ticket, change);
    }

    fn tell_to_restore(&mut self, ticket: Ticket, told: Told, apply: &api::EditsApply) {
        let asked = self.await_answer(told.local, Resume::Restored(ticket), SAVE_MS);
        let Some(RequestId::Number(request)) = asked else { return };
        if let Some(undo) = self.history.undos.get_mut(&ticket) {
            undo.told = Some(Told { request, ..told });
        }
        let body = Message::request_bytes(&RequestId::Number(request), apply, 0);
        self.act(Action::SendLocal { local: told.local, body });
    }

    /// That editor has done what it was asked, or not, and will not do it any more.
    pub(super) fn answered_late(&mut self, local: LocalId, request: i64) {
        let answers = |told: Told| (told.local, told.request) == (local, request);
        self.history.late.retain(|_, late| !late.editor.is_some_and(answers));
    }

    /// An editor that is back has done all that it was asked before; one that will not come back does nothing.
    pub(super) fn no_longer_late(&mut self) {
        let mut late = std::mem::take(&mut self.history.late);
        late.retain(|_, late| {
            late.editor.is_none_or(|told| {
                let window = self.windows.get(&told.window);
                window.is_some_and(|window| window.local == Some(told.local))
                    || self.editor_is_away(told.window)
            })
        });
        self.history.late = late;
    }

    fn restore(&mut self, ticket: Ticket, change: Change) {
        let Some(window) = self.history.undos.get(&ticket).map(|undo| undo.window) else { return };
        let (folders, limit_mib) = self.folders_of(window);
        let Change { review, path, before, after, mode, .. } = change;
        let expect = after.as_deref().map(Digest::of);
        let restoration = match (before, expect) {
            (Some(bytes), expect) => Restoration::Replace(Replacement {
                review,
                folders,
                path,
                bytes: bytes.into(),
                expect,
                mode,
                limit_mib,
            }),
            (None, Some(expect)) => Restoration::Remove(Removal { folders, path, expect, limit_mib }),
            // From no file to no file.
            (None, None) => return self.undone(ticket, None),
        };
        let deadline = self.timers.add(self.now_ms + READ_SECONDS * 1000, Due::Restore(ticket));
        if let Some(undo) = self.history.undos.get_mut(&ticket) {
            undo.deadline = Some(deadline);
        }
        self.act(Action::RestoreFile { ticket, restoration });
    }

    pub(super) fn edits_restored(&mut self, ticket: Ticket, answer: Result<api::EditsApplyResult, NoAnswer>) {
        let Some(undo) = self.history.undos.get_mut(&ticket) else { return };
        let window = undo.open.and_then(|open| self.windows.get(&open.window));
        let editor = window.map_or("its editor", |window| &window.editor.name);
        let Some(path) = undo.change.as_ref().map(|change| change.path.clone()) else { return };
        let shown = path.display();
        undo.unanswered = answer.is_err();
        let doubt = match answer {
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
            Err(no_answer) => {
                format!("it is not known whether {shown} was changed: {}; look at it", no_answer.message())
            }
        };
        undo.doubt = (errors::CONFLICT, doubt);
        self.read_base(BaseWanted::Undo(UndoRead::Check(ticket)), path);
    }

    pub(super) fn file_restored(&mut self, ticket: Ticket, result: Result<Option<u32>, WriteError>) {
        let Some(undo) = self.history.undos.get_mut(&ticket) else {
            return self.restored_late(ticket, &result);
        };
        if let Some(deadline) = undo.deadline.take() {
            self.timers.cancel(deadline);
        }
        match result {
            Ok(mode) => self.undone(ticket, mode),
            Err(WriteError::BaseMoved(_)) => {
                let message =
                    "the file was changed at this very moment: look at it, then undo again".to_owned();
                self.not_undone(ticket, errors::CONFLICT, message);
            }
            // How far it came, the file says.
            Err(WriteError::Failed(error)) => {
                let failure = super::tools::failure_of(&error);
                undo.doubt = (code_of(failure.kind), failure.message);
                let Some(path) = undo.change.as_ref().map(|change| change.path.clone()) else { return };
                self.read_base(BaseWanted::Undo(UndoRead::Check(ticket)), path);
            }
        }
    }

    /// The disk was given up on. If it did not do it, the file will be looked at.
    fn restored_late(&mut self, ticket: Ticket, result: &Result<Option<u32>, WriteError>) {
        let Some(Late { id, .. }) = self.history.late.remove(&ticket) else { return };
        let Ok(mode) = *result else { return };
        let doubts = self.history.doubts.len();
        self.history.doubts.retain(|undo| undo.id != id);
        if self.history.doubts.len() == doubts && self.history.looking > 0 {
            self.history.done_meanwhile.insert(id);
        }
        self.act(Action::EndUndo { undo: id, done: true, mode });
    }

    pub(super) fn restore_timed_out(&mut self, ticket: Ticket) {
        let Some(undo) = self.history.undos.get(&ticket) else { return };
        let Some(change) = &undo.change else { return };
        let message = format!(
            "the disk did not answer within {READ_SECONDS} s: it is not known whether {} was changed; look at it",
            change.path.display()
        );
        let late = undo.names.map(|(_, id)| Late { id, path: change.path.clone(), editor: None });
        self.history.late.extend(late.map(|late| (ticket, late)));
        self.in_doubt(ticket, errors::TIMEOUT, message);
    }

    fn undo_checked(&mut self, ticket: Ticket, base: Result<Base, Failure>) {
        let Some(undo) = self.history.undos.get(&ticket) else { return };
        let Some(change) = &undo.change else { return };
        let holds = |bytes: &Option<Vec<u8>>| {
            let expected = bytes.as_deref().map(Digest::of);
            base.as_ref().is_ok_and(|base| holds(base.text.as_ref(), expected))
        };
        let (untouched, (code, message)) = (holds(&change.after) && !undo.unanswered, undo.doubt.clone());
        match (holds(&change.before), untouched) {
            (true, _) => self.undone(ticket, None),
            (false, true) => self.not_undone(ticket, code, message),
            (false, false) => {
                let told = undo.told.filter(|_| undo.unanswered);
                let late = told.zip(undo.names).map(|(told, (_, id))| {
                    (ticket, Late { id, path: change.path.clone(), editor: Some(told) })
                });
                self.history.late.extend(late);
                self.no_longer_late();
                self.in_doubt(ticket, code, message);
            }
        }
    }

    fn undone(&mut self, ticket: Ticket, mode: Option<u32>) {
        let Some(undo) = self.history.undos.remove(&ticket) else { return };
        let (Some(change), Some((name, redo))) = (undo.change, undo.names) else { return };
        self.act(Action::EndUndo { undo: redo, done: true, mode });
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
        if !self.keeps_back(change.window, &change.path) {
            let what = WindowEvent::Undone { change: name.to_string(), path, redo: redo.to_string() };
            self.publish(change.window, what);
        }
    }

    /// The file was not touched, as far as this undo is concerned.
    fn not_undone(&mut self, ticket: Ticket, code: i64, message: String) {
        let Some(undo) = self.history.undos.remove(&ticket) else { return };
        if let Some((_, id)) = undo.names {
            self.act(Action::EndUndo { undo: id, done: false, mode: None });
        }
        self.send(undo.local, &Message::error(Some(undo.request), RpcError::new(code, message)));
    }

    /// Whether the file was changed will be seen when someone next asks.
    fn in_doubt(&mut self, ticket: Ticket, code: i64, message: String) {
        let Some(undo) = self.history.undos.remove(&ticket) else { return };
        if let (Some(change), Some((_, id))) = (undo.change, undo.names) {
            self.history.doubts.push(BegunUndo {
                id,
                review: change.review,
                window: change.window,
                path: change.path,
                before: change.after.as_deref().map(Digest::of),
                after: change.before.as_deref().map(Digest::of),
            });
        }
        self.send(undo.local, &Message::error(Some(undo.request), RpcError::new(code, message)));
    }
}

/// An agent may have left out one newline of what was accepted: then the change made what the file holds.
fn take_as_written(change: &mut Change, base: &Base) {
    let now = base.text.as_ref().and_then(|text| text.encode().ok());
    if let (Some(accepted), Some(now)) = (&change.after, now)
        && landed(change.writer, change.before.as_deref(), accepted, Some(&now))
            .is_some_and(|landed| landed != Landed::Exactly)
    {
        change.after = Some(now.to_vec());
    }
}

fn within(folders: &[std::path::PathBuf], path: &Path) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

fn named(change: &Change) -> String {
    change.id.map_or_else(|| change.review.to_string(), |id| id.to_string())
}

fn code_of(kind: FailureKind) -> i64 {
    match kind {
        FailureKind::OutsideWorkspace => errors::OUTSIDE_WORKSPACE,
        FailureKind::Denied => errors::DENIED,
        FailureKind::TooLarge => errors::TOO_LARGE,
        _ => errors::CONFLICT,
    }
}

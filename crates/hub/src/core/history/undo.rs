//! Undoing a change. The journal knows what a change did; here it is decided whether it may be undone: only if the file,
//! as every editor has it, holds exactly what the change left there.

use std::path::Path;

use linkspan_dialect::{Failure, FailureKind};
use linkspan_editor_api as api;
use linkspan_editor_api::{HistoryUndoResult, Message, RequestId, RpcError, WindowEvent, errors};
use linkspan_review::{ChangeId, Digest, Phase, WindowId, WrittenContent, compare_written};

use crate::core::contract::{
    Action, BegunUndo, ChangeSelector, ConnectionId, HistoryAnswer, HistoryQuery, RecordedChange, Removal,
    Replacement, Restoration, Ticket, WriteError,
};
use crate::core::files::{Base, Buffer, READ_SECONDS};
use crate::core::history::resolve::COMING_BACK_MS;
use crate::core::history::{
    AbandonedUndo, EditRequestRef, holds, list, resolve, undo_turn, unreadable, within,
};
use crate::core::pending::{AfterAnswer, NoAnswer, ReadPurpose, UndoRead};
use crate::core::reviews::write::SAVE_MS;
use crate::core::timers::{Due, TimerId};
use crate::core::{Core, convert};

#[derive(Debug)]
pub(in crate::core) struct Undo {
    requester: UndoRequester,
    name: ChangeSelector,
    change: Option<RecordedChange>,
    /// Windows that contain the file and were not asked yet.
    unasked: Vec<WindowId>,
    /// The window that was asked last.
    window: Option<WindowId>,
    open: Option<OpenDocument>,
    /// The ids of the change and of the undo, once the undo is in the journal.
    names: Option<(ChangeId, ChangeId)>,
    /// The error, if the file turns out not to be restored.
    doubt: (i64, String),
    /// The disk or the editor has not answered, or the editor has not saved what it was given: it may still change the file.
    may_follow: bool,
    /// The request to an editor to restore the file.
    told: Option<EditRequestRef>,
    deadline: Option<TimerId>,
}

impl Undo {
    /// The connection that waits for it, if it was asked for by itself.
    pub(super) fn connection(&self) -> Option<ConnectionId> {
        match &self.requester {
            UndoRequester::Request { connection, .. } => Some(*connection),
            UndoRequester::Turn { .. } => None,
        }
    }

    pub(super) fn window(&self) -> Option<WindowId> {
        self.window
    }
}

/// Who is told what became of an undo.
#[derive(Debug)]
pub(super) enum UndoRequester {
    Request {
        connection: ConnectionId,
        request: RequestId,
    },
    /// It is one of several.
    Turn(Ticket),
}

/// An editor that has the file open, without unsaved text.
#[derive(Debug, Clone, Copy)]
struct OpenDocument {
    window: WindowId,
    connection: ConnectionId,
    buffer: Buffer,
}

pub(super) fn history_undo(
    core: &mut Core,
    connection: ConnectionId,
    request: RequestId,
    undo: &api::HistoryUndo,
) -> Result<(), RpcError> {
    let name = match undo.change.as_str() {
        "last" => Some(ChangeSelector::Last),
        name => name
            .parse()
            .map(ChangeSelector::Change)
            .or_else(|_| name.parse().map(ChangeSelector::Review))
            .ok(),
    };
    let name = name.ok_or_else(|| {
        let message = format!("there is no change `{}`; `linkspan history` lists them", undo.change);
        RpcError::new(errors::INVALID_PARAMS, message)
    })?;
    list::may_ask(core, connection)?;
    begin(core, UndoRequester::Request { connection, request }, name);
    Ok(())
}

pub(super) fn begin(core: &mut Core, requester: UndoRequester, name: ChangeSelector) {
    let ticket = core.out.ticket();
    let undo = Undo {
        requester,
        name,
        change: None,
        unasked: Vec::new(),
        window: None,
        open: None,
        names: None,
        doubt: (errors::INTERNAL, String::new()),
        may_follow: false,
        told: None,
        deadline: None,
    };
    core.history.undos.insert(ticket, undo);
    list::ask_history(core, ticket, HistoryQuery::Change(name));
}

fn answer(core: &mut Core, requester: UndoRequester, result: Result<HistoryUndoResult, RpcError>) {
    match (requester, result) {
        (UndoRequester::Request { connection, request }, Ok(result)) => {
            core.out.send(connection, &Message::response(request, &result));
        }
        (UndoRequester::Request { connection, request }, Err(error)) => {
            core.out.send(connection, &Message::error(Some(request), error));
        }
        (UndoRequester::Turn(turn), result) => undo_turn::part_over(core, turn, result),
    }
}

pub(super) fn change_read(core: &mut Core, ticket: Ticket, result: Result<HistoryAnswer, String>) {
    let Some(undo) = core.history.undos.get(&ticket) else { return };
    match result {
        Ok(HistoryAnswer::Change(change)) => undo_found(core, ticket, *change),
        Ok(HistoryAnswer::NothingWritten { review, verdict }) => {
            let message = match verdict.as_str() {
                "accepted" => format!("the journal has no text of {review} to restore"),
                _ => format!("{review} was {verdict}: nothing was written, so nothing can be undone"),
            };
            not_undone(core, ticket, errors::UNKNOWN_CHANGE, message);
        }
        Ok(HistoryAnswer::TextsGone { review }) => {
            let message = format!(
                "{review} can no longer be undone: its texts were dropped because the journal was full \
                 (`journal_mib` in config.toml sets the limit)"
            );
            not_undone(core, ticket, errors::UNKNOWN_CHANGE, message);
        }
        Ok(HistoryAnswer::Unknown | HistoryAnswer::List(_) | HistoryAnswer::Texts(_)) => {
            let message = match undo.name {
                ChangeSelector::Last => {
                    "there is nothing to undo; `linkspan history` lists past changes".to_owned()
                }
                ChangeSelector::Change(id) => {
                    format!("there is no change {id}; `linkspan history` lists them")
                }
                ChangeSelector::Review(id) => {
                    format!("the journal has no change of {id}; `linkspan history` lists them")
                }
            };
            not_undone(core, ticket, errors::UNKNOWN_CHANGE, message);
        }
        Err(error) => {
            let RpcError { code, message } = unreadable(&error);
            not_undone(core, ticket, code, message);
        }
    }
}

fn undo_found(core: &mut Core, ticket: Ticket, change: RecordedChange) {
    let name = named(&change);
    if let Some(by) = change.undone_by {
        let message = format!("{name} is already undone; `linkspan undo {by}` restores it");
        return not_undone(core, ticket, errors::CONFLICT, message);
    }
    if let Some(message) = being_changed(core, &change.path) {
        return not_undone(core, ticket, errors::CONFLICT, message);
    }
    if resolve::may_be_undone_yet(core, &change.path) {
        let message = format!(
            "{} may have been undone already, in an editor that is not back yet: open its window again, or undo again in \
             some minutes",
            change.path.display()
        );
        return not_undone(core, ticket, errors::CONFLICT, message);
    }
    if resolve::comes_back(core, &change.path) {
        core.out.at(COMING_BACK_MS, Due::Undo(ticket));
        return;
    }
    let window = change.window;
    if let Some(undo) = core.history.undos.get_mut(&ticket) {
        undo.change = Some(change);
    }
    if !list::read_closed_policy(core, window, ticket) {
        undo_may_begin(core, ticket);
    }
}

/// A file must not be written twice at the same time.
fn being_changed(core: &Core, path: &Path) -> Option<String> {
    let mut others = core.history.undos.values().filter_map(|undo| undo.change.as_ref());
    // It may still happen although it is no longer waited for.
    let mut late = core.history.abandoned.values();
    if others.any(|other| other.path == path) || late.any(|undo| undo.path == path) {
        return Some(format!("{} is being changed by another undo; try again", path.display()));
    }
    being_written(core, path)
}

fn being_written(core: &Core, path: &Path) -> Option<String> {
    let mut reviews = core.reviews.of_path(path);
    let writing = reviews.find(|review| matches!(review.phase, Phase::Deciding(_) | Phase::Writing(_)))?;
    Some(format!("{} is being changed by {}, which was just decided; try again", path.display(), writing.id))
}

pub(in crate::core) fn undo_waited(core: &mut Core, ticket: Ticket) {
    if let Some(name) = core.history.undos.get(&ticket).map(|undo| undo.name) {
        list::ask_history(core, ticket, HistoryQuery::Change(name));
    }
}

/// Asks every window that contains the file, its own first. If none does, its own still knows the folders.
pub(super) fn undo_may_begin(core: &mut Core, ticket: Ticket) {
    let Some(undo) = core.history.undos.get(&ticket) else { return };
    let Some(RecordedChange { window: own, path, .. }) = &undo.change else { return };
    if core.windows.is_denied(&core.out, *own, path) {
        let message = convert::path_denied(path);
        return not_undone(core, ticket, errors::DENIED, message);
    }
    let having = core.windows.iter().filter(|(_, window)| within(&window.folders, path));
    let mut unasked: Vec<WindowId> = having.map(|(id, _)| *id).collect();
    if unasked.is_empty() {
        unasked.push(*own);
    }
    unasked.sort_by_key(|id| id == own);
    if let Some(undo) = core.history.undos.get_mut(&ticket) {
        undo.unasked = unasked;
    }
    ask_next_window(core, ticket);
}

fn ask_next_window(core: &mut Core, ticket: Ticket) {
    let Some(undo) = core.history.undos.get_mut(&ticket) else { return };
    let Some(change) = undo.change.clone() else { return };
    match undo.unasked.pop() {
        Some(window) => {
            undo.window = Some(window);
            core.read_base(ReadPurpose::Undo(UndoRead::Begin(ticket)), change.path);
        }
        None => match being_written(core, &change.path) {
            Some(message) => not_undone(core, ticket, errors::CONFLICT, message),
            None => core.out.push(Action::BeginUndo { ticket, change }),
        },
    }
}

pub(in crate::core) fn undo_read(core: &mut Core, read: UndoRead, base: Result<Base, Failure>) {
    match read {
        UndoRead::Begin(ticket) => undo_judged(core, ticket, base),
        UndoRead::Check(ticket) => undo_checked(core, ticket, base),
        UndoRead::Doubt(undo) => resolve::doubt_read(core, undo, base),
        UndoRead::Unsaved(doubt) => resolve::unsaved_read(core, doubt, base),
    }
}

fn undo_judged(core: &mut Core, ticket: Ticket, base: Result<Base, Failure>) {
    if let (Ok(base), Some(undo)) = (&base, core.history.undos.get_mut(&ticket))
        && let Some(change) = &mut undo.change
    {
        take_as_written(change, base);
    }
    let Some(undo) = core.history.undos.get(&ticket) else { return };
    let (Some(window), Some(change)) = (undo.window, &undo.change) else { return };
    let judged = base
        .map_err(|failure| (code_of(failure.kind), failure.message))
        .and_then(|base| cannot_undo(core, change, window, &base).map_or(Ok(base.buffer), Err));
    let buffer = match judged {
        Ok(buffer) => buffer,
        Err((code, message)) => return not_undone(core, ticket, code, message),
    };
    let connection = core.windows.get(&window).and_then(|window| window.connection);
    let open = buffer.zip(connection).map(|(buffer, connection)| OpenDocument { window, connection, buffer });
    if let Some(undo) = core.history.undos.get_mut(&ticket) {
        undo.open = undo.open.or(open);
    }
    ask_next_window(core, ticket);
}

/// Why the file must not be changed, as far as this window is concerned.
fn cannot_undo(core: &Core, change: &RecordedChange, window: WindowId, base: &Base) -> Option<(i64, String)> {
    let path = change.path.display();
    let conflict = |message: String| Some((errors::CONFLICT, message));
    if base.path != change.path {
        return conflict(format!("{path} now leads to another file: {}", base.path.display()));
    }
    let editor = core.windows.get(&window).map_or("", |window| &window.editor.name);
    if core.windows.editor_is_away(window) {
        return conflict(format!(
            "{path} may have unsaved text in {editor}, which is away: undo again in a moment"
        ));
    }
    if base.buffer.is_some_and(|buffer| buffer.dirty) {
        return conflict(format!("{path} has unsaved text in {editor}: save or revert it there, then undo"));
    }
    let name = named(change);
    if !holds(base.text.as_ref(), change.after.as_deref().map(Digest::of)) {
        let message = match (&base.text, &change.after) {
            (None, Some(_)) => {
                format!(
                    "{path} no longer exists, so {name} cannot be undone; `linkspan history` lists past changes"
                )
            }
            (Some(_), None) => {
                format!("{path} exists again: move it away to undo {name}")
            }
            _ => format!(
                "{path} is not what {name} made it: someone changed it since, or it was never written. \
                 Look at the file; `linkspan history {path}` lists what was done to it"
            ),
        };
        return conflict(message);
    }
    (change.before.is_none() && base.buffer.is_some()).then(|| {
        let message =
            format!("{path} did not exist before {name} and would be removed: close it in {editor} first");
        (errors::CONFLICT, message)
    })
}

/// The undo is in the journal. Now the file is restored, through the editor that has it open, else on disk.
pub(in crate::core) fn undo_begun(
    core: &mut Core,
    ticket: Ticket,
    result: Result<(ChangeId, ChangeId), String>,
) {
    let Some(undo) = core.history.undos.get_mut(&ticket) else { return };
    let (names, Some(change)) = (result, undo.change.clone()) else { return };
    match names {
        Ok(names) => undo.names = Some(names),
        Err(error) => {
            let message = format!("the undo could not be recorded, so nothing was changed: {error}");
            return not_undone(core, ticket, errors::INTERNAL, message);
        }
    }
    if let Some(OpenDocument { window, connection, buffer }) = undo.open {
        // Only the editor that was asked knows its buffer.
        let editor = core.windows.get(&window).filter(|window| window.connection == Some(connection));
        let Some(editor) = editor else {
            let message = format!(
                "{} was open in an editor that has just disconnected: undo again in a moment",
                change.path.display()
            );
            return not_undone(core, ticket, errors::CONFLICT, message);
        };
        let text_of =
            |bytes: &Option<Vec<u8>>| bytes.as_deref().and_then(|bytes| linkspan_review::decode(bytes).ok());
        let held = text_of(&change.after).map(|held| held.text).unwrap_or_default();
        let text = text_of(&change.before).filter(|text| buffer.can_take(&text.text, &held));
        if let Some(text) = text.filter(|_| editor.capabilities.edits) {
            let path = editor.editor_path(&change.path).display().to_string();
            let edits = editor.document_edits(&held, &text.text);
            let apply = api::EditsApply { path, version: buffer.version, edits, save: true };
            return tell_to_restore(core, ticket, EditRequestRef { window, connection, request: 0 }, &apply);
        }
    }
    restore(core, ticket, change);
}

fn tell_to_restore(core: &mut Core, ticket: Ticket, told: EditRequestRef, apply: &api::EditsApply) {
    let asked = core.expect_answer(told.connection, AfterAnswer::EditsRestored(ticket), SAVE_MS);
    let Some(RequestId::Number(request)) = asked else { return };
    if let Some(undo) = core.history.undos.get_mut(&ticket) {
        undo.told = Some(EditRequestRef { request, ..told });
    }
    let body = Message::request_bytes(&RequestId::Number(request), apply, 0);
    core.out.push(Action::SendMessage { connection: told.connection, body });
}

fn restore(core: &mut Core, ticket: Ticket, change: RecordedChange) {
    let Some(window) = core.history.undos.get(&ticket).and_then(|undo| undo.window) else { return };
    let (folders, limit_mib) = core.windows.folders_of(&core.out, window);
    let RecordedChange { review, path, before, after, mode, .. } = change;
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
        // The file neither existed nor exists.
        (None, None) => return undone(core, ticket, None),
    };
    let deadline = core.out.after(READ_SECONDS * 1000, Due::Restore(ticket));
    if let Some(undo) = core.history.undos.get_mut(&ticket) {
        undo.deadline = Some(deadline);
    }
    core.out.push(Action::RestoreFile { ticket, restoration });
}

pub(super) fn edits_restored(
    core: &mut Core,
    ticket: Ticket,
    answer: Result<api::EditsApplyResult, NoAnswer>,
) {
    let Some(undo) = core.history.undos.get_mut(&ticket) else { return };
    let window = undo.open.and_then(|open| core.windows.get(&open.window));
    let editor = window.map_or("its editor", |window| &window.editor.name);
    let Some(path) = undo.change.as_ref().map(|change| change.path.clone()) else { return };
    let shown = path.display();
    undo.may_follow = answer.as_ref().map_or(true, |applied| applied.applied && !applied.saved);
    undo.told = undo.told.filter(|_| answer.is_err());
    let doubt = match answer {
        Ok(applied) if applied.saved => {
            format!(
                "{editor} did not save {shown} as it was before (it may format on save): look at it there"
            )
        }
        Ok(applied) if applied.applied => {
            format!("{editor} has {shown} as it was before, but could not save it: save it there")
        }
        Ok(_) => {
            format!("{editor} does not let {shown} be changed, or it was changed meanwhile: look at it there")
        }
        Err(no_answer) => {
            format!("it is not known whether {shown} was changed: {}; look at it", no_answer.message())
        }
    };
    undo.doubt = (errors::CONFLICT, doubt);
    core.read_base(ReadPurpose::Undo(UndoRead::Check(ticket)), path);
}

pub(in crate::core) fn file_restored(
    core: &mut Core,
    ticket: Ticket,
    result: Result<Option<u32>, WriteError>,
) {
    let Some(undo) = core.history.undos.get_mut(&ticket) else {
        return resolve::restored_late(core, ticket, &result);
    };
    if let Some(deadline) = undo.deadline.take() {
        core.out.cancel(deadline);
    }
    match result {
        Ok(mode) => undone(core, ticket, mode),
        Err(WriteError::BaseMoved(_)) => {
            let message = "the file was changed at the same moment: look at it, then undo again".to_owned();
            not_undone(core, ticket, errors::CONFLICT, message);
        }
        // The file shows how far it came.
        Err(WriteError::Failed(error)) => {
            let failure = convert::failure_of(&error);
            undo.doubt = (code_of(failure.kind), failure.message);
            let Some(path) = undo.change.as_ref().map(|change| change.path.clone()) else { return };
            core.read_base(ReadPurpose::Undo(UndoRead::Check(ticket)), path);
        }
    }
}

pub(in crate::core) fn restore_timed_out(core: &mut Core, ticket: Ticket) {
    let Some(undo) = core.history.undos.get(&ticket) else { return };
    let Some(change) = &undo.change else { return };
    let message = format!(
        "the disk did not answer within {READ_SECONDS} s: it is not known whether {} was changed; look at it",
        change.path.display()
    );
    let late = undo.names.map(|(_, id)| AbandonedUndo { id, path: change.path.clone(), editor: None });
    core.history.abandoned.extend(late.map(|late| (ticket, late)));
    in_doubt(core, ticket, errors::TIMEOUT, message);
}

fn undo_checked(core: &mut Core, ticket: Ticket, base: Result<Base, Failure>) {
    let Some(undo) = core.history.undos.get(&ticket) else { return };
    let Some(change) = &undo.change else { return };
    let holds = |bytes: &Option<Vec<u8>>| {
        let expected = bytes.as_deref().map(Digest::of);
        base.as_ref().is_ok_and(|base| holds(base.text.as_ref(), expected))
    };
    let (untouched, (code, message)) = (holds(&change.after) && !undo.may_follow, undo.doubt.clone());
    match (holds(&change.before), untouched) {
        (true, _) => undone(core, ticket, None),
        (false, true) => not_undone(core, ticket, code, message),
        (false, false) => {
            let late = undo.told.zip(undo.names).map(|(told, (_, id))| {
                (ticket, AbandonedUndo { id, path: change.path.clone(), editor: Some(told) })
            });
            core.history.abandoned.extend(late);
            resolve::no_longer_late(core);
            in_doubt(core, ticket, code, message);
        }
    }
}

fn undone(core: &mut Core, ticket: Ticket, mode: Option<u32>) {
    let Some(undo) = core.history.undos.remove(&ticket) else { return };
    let (Some(change), Some((name, redo))) = (undo.change, undo.names) else { return };
    core.out.push(Action::EndUndo { undo: redo, done: true, mode });
    let path = change.path.display().to_string();
    tracing::info!("{name} of {path} is undone");
    let result = HistoryUndoResult {
        change: name.to_string(),
        review: change.review.to_string(),
        path: path.clone(),
        removed_file: change.before.is_none(),
        redo: redo.to_string(),
    };
    let what = WindowEvent::Undone { change: name.to_string(), path, redo: redo.to_string() };
    let open = !core.windows.is_denied(&core.out, change.window, &change.path);
    answer(core, undo.requester, Ok(result));
    if open {
        core.connections.publish(&mut core.out, change.window, what);
    }
}

/// This undo did not touch the file.
pub(super) fn not_undone(core: &mut Core, ticket: Ticket, code: i64, message: String) {
    let Some(undo) = core.history.undos.remove(&ticket) else { return };
    if let Some((_, id)) = undo.names {
        core.out.push(Action::EndUndo { undo: id, done: false, mode: None });
    }
    answer(core, undo.requester, Err(RpcError::new(code, message)));
}

/// The next query finds out whether the file was changed.
fn in_doubt(core: &mut Core, ticket: Ticket, code: i64, message: String) {
    let Some(undo) = core.history.undos.remove(&ticket) else { return };
    if let (Some(change), Some((_, id))) = (undo.change, undo.names) {
        core.history.unresolved.push(BegunUndo {
            id,
            review: change.review,
            window: change.window,
            path: change.path,
            before: change.after.as_deref().map(Digest::of),
            after: change.before.as_deref().map(Digest::of),
        });
    }
    answer(core, undo.requester, Err(RpcError::new(code, message)));
}

/// An agent may have omitted one newline of the accepted text: then what the file holds is the change.
fn take_as_written(change: &mut RecordedChange, base: &Base) {
    let now = base.text.as_ref().and_then(|text| text.encode().ok());
    if let (Some(accepted), Some(now)) = (&change.after, now)
        && compare_written(change.writer, change.before.as_deref(), accepted, Some(&now))
            .is_some_and(|content| content != WrittenContent::Exact)
    {
        change.after = Some(now.to_vec());
    }
}

fn named(change: &RecordedChange) -> String {
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

//! Reads a file: first from disk, then, where that matters, the live text of the editor that has it open.

use std::path::PathBuf;

use linkspan_dialect::{Failure, FailureKind, Request};
use linkspan_editor_api as api;
use linkspan_review::{Format, Text, WindowId};

use crate::core::Core;
use crate::core::contract::{Action, FileError, FileState, Ticket, Want};
use crate::core::convert::{denied, failure_of, unanswered};
use crate::core::files::{Base, Buffer, READ_SECONDS, deferred};
use crate::core::pending::{AfterAnswer, Continuation, NoAnswer, ReadPurpose, ToolCall, UndoRead};

pub(super) fn read_base(core: &mut Core, purpose: ReadPurpose, path: PathBuf) {
    let Some(window) = window_of(core, &purpose) else {
        let gone = Failure::new(
            FailureKind::EditorGone,
            "the window of this review is closed; open its folder again",
        );
        return core.base_known(purpose, Err(gone));
    };
    let (folders, limit_mib) = core.windows.folders_of(&core.out, window);
    let want = match &purpose {
        ReadPurpose::Path(ToolCall {
            request: Request::RunInTerminal { .. } | Request::CreateTerminal { .. },
            ..
        }) => Want::FolderPath,
        ReadPurpose::Path(_) => Want::FilePath,
        _ => Want::Bytes { limit_mib },
    };
    let path = absolute(core, &purpose, window, path);
    let waiting = Continuation::FileRead { purpose, path: path.clone() };
    let ticket = core.out.wait_for(READ_SECONDS * 1000, waiting);
    core.out.push(Action::ReadFile { ticket, folders, path, want });
}

/// Some dialects use paths relative to the workspace; with several folders, the name of the folder comes first.
fn absolute(core: &Core, purpose: &ReadPurpose, window: WindowId, path: PathBuf) -> PathBuf {
    let asker = match purpose {
        ReadPurpose::Path(tool)
        | ReadPurpose::Text(tool)
        | ReadPurpose::CompareWith(tool)
        | ReadPurpose::Proposal { tool, .. } => Some(tool.agent),
        ReadPurpose::Edit { agent, .. } => Some(*agent),
        _ => None,
    };
    let asker = asker.and_then(|agent| core.agents.get(&agent));
    let relative = asker.is_some_and(|agent| agent.session.dialect().relative_paths) && path.is_relative();
    match core.windows.get(&window).filter(|_| relative) {
        Some(window) => window.absolute_path(&path),
        None => path,
    }
}

pub(in crate::core) fn read_timed_out(core: &mut Core, ticket: Ticket) {
    let Some(Continuation::FileRead { mut purpose, path }) = core.out.resume(ticket) else { return };
    if purpose.asks_again(core.out.now_ms) {
        return core.read_base(purpose, path);
    }
    let path = path.display().to_string();
    let error = format!("the disk did not answer within {READ_SECONDS} s");
    read_done(core, purpose, Err(FileError::Io { path, error }));
}

pub(super) fn window_of(core: &Core, purpose: &ReadPurpose) -> Option<WindowId> {
    match purpose {
        ReadPurpose::Path(tool)
        | ReadPurpose::Text(tool)
        | ReadPurpose::CompareWith(tool)
        | ReadPurpose::Proposal { tool, .. } => core.agents.get(&tool.agent).map(|agent| agent.window),
        ReadPurpose::Edit { agent, .. } => core.agents.get(agent).map(|agent| agent.window),
        ReadPurpose::Decision { review, .. }
        | ReadPurpose::Write { review, .. }
        | ReadPurpose::WriteHere { review, .. }
        | ReadPurpose::LateWrite { review, .. } => core.reviews.get(*review).map(|review| review.window),
        ReadPurpose::AgentWrite(review) => core.reviews.window_of_agent_write(*review),
        ReadPurpose::Undo(read) => core.history.window_of(&core.windows, read),
    }
}

pub(in crate::core) fn file_read(core: &mut Core, ticket: Ticket, result: Result<FileState, FileError>) {
    // Too late if it is no longer waited for.
    let Some(Continuation::FileRead { purpose, .. }) = core.out.resume(ticket) else { return };
    read_done(core, purpose, result);
}

fn read_done(core: &mut Core, purpose: ReadPurpose, result: Result<FileState, FileError>) {
    if let ReadPurpose::AgentWrite(review) = purpose {
        return core.agent_write_read(review, result.ok());
    }
    if let Ok(file) = &result {
        core.file_seen(&file.path, Some(&file.bytes).filter(|_| file.exists).map(Vec::as_slice));
    }
    let file = match result {
        Ok(file) => file,
        Err(error) => return core.base_known(purpose, Err(failure_of(&error))),
    };
    let window = window_of(core, &purpose).and_then(|id| core.windows.get(&id));
    if window.is_some_and(|window| window.policy.denies(&file.path)) {
        return core.base_known(purpose, Err(denied(&file.path)));
    }
    let editor = window
        .filter(|window| window.capabilities.documents)
        .and_then(|window| Some((window.connection?, window.editor_path(&file.path))));
    match (editor, &purpose) {
        (
            Some((connection, named)),
            ReadPurpose::Proposal { .. }
            | ReadPurpose::CompareWith(_)
            | ReadPurpose::Text(_)
            | ReadPurpose::Edit { .. }
            | ReadPurpose::Decision { .. }
            | ReadPurpose::Write { .. }
            | ReadPurpose::WriteHere { .. }
            | ReadPurpose::LateWrite { .. }
            | ReadPurpose::Undo(UndoRead::Begin(_) | UndoRead::Unsaved(_)),
        ) => {
            let path = named.display().to_string();
            core.ask(connection, &api::DocumentText { path }, AfterAnswer::LiveText { purpose, disk: file });
        }
        _ => without_editor(core, purpose, file),
    }
}

/// The disk is all there is, unless an editor that may have unsaved text comes back.
fn without_editor(core: &mut Core, purpose: ReadPurpose, disk: FileState) {
    if deferred::depends_on_editor(core, &purpose, &disk.path) {
        core.files.deferred.push((purpose, disk.path));
    } else {
        core.base_known(purpose, on_disk(disk));
    }
}

/// Unsaved text counts as the text of the file; for saved text, the bytes on disk count.
pub(super) fn live_text(
    core: &mut Core,
    mut purpose: ReadPurpose,
    disk: FileState,
    answer: Result<api::DocumentTextResult, NoAnswer>,
) {
    let live = match answer {
        Ok(live) => live,
        Err(NoAnswer::TimedOut) if purpose.asks_again(core.out.now_ms) => {
            return core.read_base(purpose, disk.path);
        }
        Err(NoAnswer::Gone) => return without_editor(core, purpose, disk),
        Err(no_answer) => return core.base_known(purpose, Err(unanswered(&no_answer))),
    };
    let base = on_disk(disk).map(|mut base| {
        let held = base.text.as_ref().map(|text| text.text.as_str());
        let as_on_disk = live.text.is_none() || live.text.as_deref() == held;
        let buffer = Buffer { version: live.version, dirty: live.dirty, as_on_disk };
        base.buffer = live.open.then_some(buffer);
        base.language = live.language.filter(|_| live.open);
        if let Some(text) = live.text.filter(|_| live.open && live.dirty) {
            // The buffer is text without an encoding: it will be saved in that of the file.
            let format = base.text.as_ref().map_or(Format::UTF8, |text| text.format);
            base.text = Some(Text { format, text: text.into() });
        }
        base
    });
    core.base_known(purpose, base);
}

fn on_disk(file: FileState) -> Result<Base, Failure> {
    let text = match file.exists {
        false => None,
        true => Some(linkspan_review::decode_owned(file.bytes).map_err(|error| {
            Failure::new(FailureKind::NotText, format!("{}: {error}", file.path.display()))
        })?),
    };
    Ok(Base { path: file.path, text, buffer: None, language: None })
}

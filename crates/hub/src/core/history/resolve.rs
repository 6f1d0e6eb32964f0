//! Finds out whether undos were done that have no result: the file shows it, once no one can change it any longer.

use std::path::Path;

use linkspan_dialect::Failure;
use linkspan_review::WindowId;

use crate::core::Core;
use crate::core::contract::{Action, BegunUndo, Ticket, WriteError};
use crate::core::files::Base;
use crate::core::history::{AbandonedUndo, holds, within};
use crate::core::pending::{ReadPurpose, UndoRead, UnsavedUndo};
use crate::core::timers::Due;

/// Editors that lose a hub connect to the next one within this time.
pub(super) const COMING_BACK_MS: u64 = 3_000;

/// Whether an editor with this file is about to come back: a hub that has just started does not know yet which editors
/// were connected to the one before.
pub(super) fn comes_back(core: &Core, path: &Path) -> bool {
    core.out.now_ms < COMING_BACK_MS && core.windows.may_come_back(path)
}

/// Whether an undo that was begun before may still change this file, once its editor is back.
pub(super) fn may_be_undone_yet(core: &Core, path: &Path) -> bool {
    core.history.unresolved.iter().any(|undo| undo.path == path) && core.windows.may_come_back(path)
}

pub(super) fn no_longer_late(core: &mut Core) {
    let mut late = std::mem::take(&mut core.history.abandoned);
    late.retain(|_, late| {
        late.editor.is_none_or(|told| {
            let window = core.windows.get(&told.window);
            window.is_some_and(|window| window.connection == Some(told.connection))
                || core.windows.editor_is_away(told.window)
        })
    });
    core.history.abandoned = late;
}

/// The disk answered after its deadline. If it failed, the file will be read.
pub(super) fn restored_late(core: &mut Core, ticket: Ticket, result: &Result<Option<u32>, WriteError>) {
    let Some(AbandonedUndo { id, .. }) = core.history.abandoned.remove(&ticket) else { return };
    let Ok(mode) = *result else { return };
    let unresolved = core.history.unresolved.len();
    core.history.unresolved.retain(|undo| undo.id != id);
    if core.history.unresolved.len() == unresolved && core.history.looks > 0 {
        core.history.resolved.insert(id);
    }
    core.out.push(Action::EndUndo { undo: id, done: true, mode });
}

/// An undo that an earlier hub began is not continued, because no one waits for it; the file shows whether it was done.
pub(in crate::core) fn doubt_undos(core: &mut Core, begun: Vec<BegunUndo>) {
    for undo in &begun {
        let (review, path) = (undo.review, undo.path.clone());
        let (folders, _) = core.windows.folders_of(&core.out, undo.window);
        core.out.push(Action::SweepTemporary { review, folders, path });
    }
    core.history.unresolved = begun;
    resolve_undos(core);
}

/// An editor of the hub before may still do what it was asked; once it is back, it has done so.
pub(super) fn resolve_undos(core: &mut Core) {
    for undo in std::mem::take(&mut core.history.unresolved) {
        core.history.looks += 1;
        let path = undo.path.clone();
        if comes_back(core, &path) {
            if core.history.waiting.is_empty() {
                core.out.at(COMING_BACK_MS, Due::Doubts);
            }
            core.history.waiting.push(undo);
        } else {
            core.read_base(ReadPurpose::Undo(UndoRead::Doubt(undo)), path);
        }
    }
}

pub(in crate::core) fn doubts_waited(core: &mut Core) {
    for undo in std::mem::take(&mut core.history.waiting) {
        let path = undo.path.clone();
        core.read_base(ReadPurpose::Undo(UndoRead::Doubt(undo)), path);
    }
}

/// Only the file counts: the bytes from before or from after. With any others, or if it cannot be read, the undo stays
/// unresolved; also while the disk or an editor may still do it.
pub(super) fn doubt_read(core: &mut Core, undo: BegunUndo, base: Result<Base, Failure>) {
    let now = base.as_ref().map(|base| base.text.as_ref());
    let late = core.history.abandoned.values().any(|abandoned| abandoned.id == undo.id);
    if core.history.resolved.remove(&undo.id) {
        // Recorded when it turned out to be done.
    } else if now.as_ref().is_ok_and(|now| holds(*now, undo.after)) {
        core.history.abandoned.retain(|_, late| late.id != undo.id);
        core.out.push(Action::EndUndo { undo: undo.id, done: true, mode: None });
    } else if !late && now.as_ref().is_ok_and(|now| holds(*now, undo.before)) {
        let having = core.windows.iter().filter(|(_, window)| within(&window.folders, &undo.path));
        let windows = having.map(|(id, _)| *id).collect();
        return look_for_unsaved(core, UnsavedUndo { undo, windows });
    } else {
        core.history.unresolved.push(undo);
    }
    looked_at_file(core);
}

/// The file is as it was before the undo. That says that the undo was not done only if no editor has unsaved text of it: the
/// editor that was asked may have undone it there, without being able to save it, and its user may save it later.
fn look_for_unsaved(core: &mut Core, doubt: UnsavedUndo) {
    let path = doubt.undo.path.clone();
    let is_away = |window: &WindowId| core.windows.editor_is_away(*window);
    if core.windows.may_come_back(&path) || doubt.windows.iter().any(is_away) {
        core.history.unresolved.push(doubt.undo);
    } else if doubt.windows.is_empty() {
        core.out.push(Action::EndUndo { undo: doubt.undo.id, done: false, mode: None });
    } else {
        return core.read_base(ReadPurpose::Undo(UndoRead::Unsaved(doubt)), path);
    }
    looked_at_file(core);
}

/// One window is asked after the other.
pub(super) fn unsaved_read(core: &mut Core, doubt: UnsavedUndo, base: Result<Base, Failure>) {
    let UnsavedUndo { undo, mut windows } = doubt;
    let asked = windows.pop();
    let saved = base.ok().filter(|base| !base.buffer.is_some_and(|buffer| buffer.dirty));
    let is_away = asked.is_some_and(|window| core.windows.editor_is_away(window));
    match saved {
        Some(base) if !is_away && holds(base.text.as_ref(), undo.before) => {
            look_for_unsaved(core, UnsavedUndo { undo, windows });
        }
        _ => {
            core.history.unresolved.push(undo);
            looked_at_file(core);
        }
    }
}

pub(super) fn looked_at_file(core: &mut Core) {
    core.history.looks = core.history.looks.saturating_sub(1);
    if core.history.looks == 0 {
        for (ticket, query) in std::mem::take(&mut core.history.held) {
            core.out.push(Action::ReadHistory { ticket, query });
        }
    }
}

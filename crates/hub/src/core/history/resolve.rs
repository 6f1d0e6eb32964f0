//! Finds out whether undos were done that have no result: the file shows it, once no one can change it any longer.

use std::path::Path;

use linkspan_dialect::Failure;

use crate::core::Core;
use crate::core::contract::{Action, BegunUndo, Ticket, WriteError};
use crate::core::files::Base;
use crate::core::history::{AbandonedUndo, holds, within};
use crate::core::pending::{ReadPurpose, UndoRead};
use crate::core::timers::Due;

/// Editors that lose a hub connect to the next one within this time.
pub(super) const COMING_BACK_MS: u64 = 3_000;

/// Whether an editor with this file may still come back: a hub that has just started does not know yet which editors were
/// connected to the one before.
pub(super) fn comes_back(core: &Core, path: &Path) -> bool {
    let mut missing = core.windows.missing();
    // A window that was closed has no discovery files.
    core.out.now_ms < COMING_BACK_MS
        && missing.any(|old| !old.discovery.is_empty() && within(&old.real_folders, path))
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
/// unresolved; also while the disk may still do it.
pub(super) fn doubt_read(core: &mut Core, undo: BegunUndo, base: Result<Base, Failure>) {
    let now = base.as_ref().map(|base| base.text.as_ref());
    let late = core.history.abandoned.values().any(|abandoned| abandoned.id == undo.id);
    if core.history.resolved.remove(&undo.id) {
        // Recorded when it turned out to be done.
    } else if now.as_ref().is_ok_and(|now| holds(*now, undo.after)) {
        core.history.abandoned.retain(|_, late| late.id != undo.id);
        core.out.push(Action::EndUndo { undo: undo.id, done: true, mode: None });
    } else if !late && now.as_ref().is_ok_and(|now| holds(*now, undo.before)) {
        core.out.push(Action::EndUndo { undo: undo.id, done: false, mode: None });
    } else {
        core.history.unresolved.push(undo);
    }
    looked_at_file(core);
}

pub(super) fn looked_at_file(core: &mut Core) {
    core.history.looks = core.history.looks.saturating_sub(1);
    if core.history.looks == 0 {
        for (ticket, query) in std::mem::take(&mut core.history.held) {
            core.out.push(Action::ReadHistory { ticket, query });
        }
    }
}

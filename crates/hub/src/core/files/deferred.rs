//! An editor that is away for a moment may hold unsaved text that nothing else knows. Reads that depend on it wait until
//! it is back, or its window is closed.

use std::path::Path;

use crate::core::Core;
use crate::core::files::read;
use crate::core::pending::ReadPurpose;

/// An accepted change may be in the editor's buffer already, or belongs there; and whether an agent repeats a decided
/// proposal depends on what the file holds. For a new proposal the disk is enough: the file is read again before a
/// decision counts.
pub(super) fn depends_on_editor(core: &Core, purpose: &ReadPurpose, path: &Path) -> bool {
    let asker = match purpose {
        ReadPurpose::Write { review, .. } | ReadPurpose::WriteHere { review, .. } => {
            return core
                .reviews
                .get(*review)
                .is_some_and(|review| core.windows.editor_is_away(review.window));
        }
        ReadPurpose::Proposal { tool, .. } => tool.agent,
        ReadPurpose::Edit { agent, .. } => *agent,
        _ => return false,
    };
    let Some(agent) = core.agents.get(&asker) else { return false };
    let (window, key) = (agent.window, agent.key());
    core.windows.editor_is_away(window)
        && core
            .reviews
            .of_path(path)
            .any(|review| review.owner.is_none() && review.window == window && review.owner_key == key)
}

pub(super) fn retry_deferred_reads(core: &mut Core) {
    core.no_longer_late();
    for (purpose, path) in std::mem::take(&mut core.files.deferred) {
        match read::window_of(core, &purpose).is_some_and(|window| core.windows.editor_is_away(window)) {
            true => core.files.deferred.push((purpose, path)),
            false => core.read_base(purpose, path),
        }
    }
}

//! Where a file may be moved: into the folders of the window, where nothing is overwritten. Only the file itself is shown,
//! so the hub does not look at the target.

use std::fs;
use std::path::{Component, Path};

use linkspan_client::Candidate;

use super::HookRun;
use crate::commands::editor::context::config_for;

/// Why a file may not be moved there.
pub(super) fn check(run: &HookRun, window: &Candidate, target: &Path) -> Result<(), String> {
    let shown = target.display();
    if !window.folders.iter().any(|folder| is_inside(folder, target)) {
        return Err(format!("{shown} is outside the folders that the user has open"));
    }
    let config = config_for(&run.cli, &run.call.cwd).map_err(|error| error.message)?;
    let deny = config.deny_globs();
    if deny.denies(&window.folders, target) {
        return Err(format!("the user keeps {shown} from agents"));
    }
    existing(target).map_or(Ok(()), Err)
}

/// The reason not to move a file onto another one.
pub(super) fn existing(target: &Path) -> Option<String> {
    let exists = fs::symlink_metadata(target).is_ok();
    exists.then(|| format!("{} exists already and would be overwritten; move it elsewhere", target.display()))
}

/// Links are followed as far as folders exist.
fn is_inside(folder: &Path, target: &Path) -> bool {
    let Some(parent) = target.ancestors().skip(1).find(|parent| parent.exists()) else { return false };
    let climbs = |rest: &Path| rest.components().any(|part| part == Component::ParentDir);
    if target.strip_prefix(parent).map_or(true, climbs) {
        return false;
    }
    match (folder.canonicalize(), parent.canonicalize()) {
        (Ok(folder), Ok(parent)) => parent.starts_with(folder),
        _ => false,
    }
}

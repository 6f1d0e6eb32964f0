//! Adds changes to the index.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::repository::{Repository, literal_list};
use super::status;
use crate::cancel::Cancel;
use crate::error::WorkspaceError;
use crate::folders::Workspace;

/// Stages files, or the changes in folders; returns what was staged. Denied files in a folder are skipped.
pub fn stage(
    workspace: &Workspace,
    folder: &Path,
    paths: &[PathBuf],
    cancel: &Cancel,
) -> Result<Vec<String>, WorkspaceError> {
    let repository = Repository::open(workspace, folder, cancel)?;
    let named = paths.iter().map(|path| repository.named(path)).collect::<Result<Vec<_>, _>>()?;
    let is_folder =
        |path: &PathBuf| repository.folder.join(path).symlink_metadata().is_ok_and(|about| about.is_dir());
    let (folders, files): (Vec<_>, Vec<_>) = named.into_iter().partition(is_folder);
    let mut chosen: BTreeSet<PathBuf> = files.into_iter().collect();
    if !folders.is_empty() {
        let changes = status::read(&repository, cancel)?;
        let changed = [changes.modified, changes.untracked, changes.conflicted].into_iter().flatten();
        let is_in = |path: &PathBuf| {
            folders.iter().any(|folder| folder == Path::new(".") || path.starts_with(folder))
        };
        chosen.extend(changed.filter(is_in));
    }
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let add = repository.writing("add").args(["--pathspec-from-file=-", "--pathspec-file-nul"]);
    add.input(literal_list(&chosen)).output(cancel)?;
    Ok(status::names(&chosen.into_iter().collect::<Vec<_>>()))
}

//! What may leave a window: its workspace folders and deny globs. Pure; symlinks were followed by the edge.

use std::path::{Path, PathBuf};

use globset::GlobSet;

#[derive(Debug, Default)]
pub(super) struct Policy {
    folders: Vec<PathBuf>,
    deny: GlobSet,
}

impl Policy {
    pub(super) fn new(folders: Vec<PathBuf>, deny: GlobSet) -> Policy {
        Policy { folders, deny }
    }

    /// Matched both as written from the workspace folder and as written from the root.
    pub(super) fn denies(&self, path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        let inside = self.folders.iter().filter_map(|folder| path.strip_prefix(folder).ok());
        let from_root = path.strip_prefix("/").unwrap_or(path);
        inside.chain([from_root]).any(|path| self.deny.is_match(path))
    }

    pub(super) fn denied(path: &Path) -> String {
        format!("{} is kept from agents by `deny` in config.toml or .linkspan.toml", path.display())
    }
}

//! The folders of a workspace, how files in them are named, and which paths are inside.

use std::path::{Component, Path, PathBuf};

use linkspan_editor_api::DenyGlobs;

use crate::error::WorkspaceError;

/// Where an agent may look.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// Real paths, the main one first.
    pub folders: Vec<PathBuf>,
    /// What is kept from agents.
    pub deny: DenyGlobs,
    /// Files and folders that are kept from them as well, whatever the globs say; real paths.
    pub kept: Vec<PathBuf>,
}

impl Workspace {
    /// What stands before the paths of files in a folder, as VS Code's `asRelativePath` has it.
    pub(crate) fn prefix(&self, folder: &Path) -> String {
        match folder.file_name() {
            Some(name) if self.folders.len() > 1 => format!("{}/", name.to_string_lossy()),
            _ => String::new(),
        }
    }

    /// The file that a path means, from `base` if it is relative: inside the workspace and not denied. Nothing is
    /// looked up on the disk, because what git speaks of may be gone from it.
    pub(crate) fn inside(&self, base: &Path, path: &Path) -> Result<PathBuf, WorkspaceError> {
        let mut plain = PathBuf::new();
        for part in base.join(path).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => return Err(WorkspaceError::outside(path)),
                part => plain.push(part),
            }
        }
        if !self.folders.iter().any(|folder| plain.starts_with(folder)) {
            return Err(WorkspaceError::outside(path));
        }
        if self.denies(&plain) {
            return Err(WorkspaceError::Denied(path.to_owned()));
        }
        Ok(plain)
    }

    /// Whether a file is kept from agents, by itself or with a folder that it is in.
    pub(crate) fn denies(&self, path: &Path) -> bool {
        self.kept.iter().any(|kept| path.starts_with(kept)) || self.deny.denies(&self.folders, path)
    }

    /// The highest folder on the way to a denied file that is denied as a whole, or the file itself.
    pub(crate) fn denied_part<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.ancestors().take_while(|path| self.denies(path)).last()
    }
}

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
        if self.deny.denies(&self.folders, &plain) {
            return Err(WorkspaceError::Denied(path.to_owned()));
        }
        Ok(plain)
    }

    /// The highest folder on the way to a denied file that is denied as a whole, or the file itself.
    pub(crate) fn denied_part<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.ancestors().take_while(|path| self.deny.denies(&self.folders, path)).last()
    }
}

//! The folders of a workspace, the names of files in them, and which paths are inside.

use std::path::{Component, Path, PathBuf};

use linkspan_editor_api::DenyGlobs;

use crate::error::WorkspaceError;

/// The files an agent may access.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// Real paths, the main one first.
    pub folders: Vec<PathBuf>,
    /// Globs of files denied to agents.
    pub deny: DenyGlobs,
    /// Files and folders that are always denied, whatever the globs say; real paths.
    pub kept: Vec<PathBuf>,
}

impl Workspace {
    /// The prefix of paths in a folder, like VS Code's `asRelativePath`.
    pub(crate) fn prefix(&self, folder: &Path) -> String {
        match folder.file_name() {
            Some(name) if self.folders.len() > 1 => format!("{}/", name.to_string_lossy()),
            _ => String::new(),
        }
    }

    /// Resolves a path, relative to `base`: it must be inside the workspace and not denied. Does not access the disk,
    /// because a file that git names may no longer exist.
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

    /// Whether a file is denied, by itself or by a folder that contains it.
    pub(crate) fn denies(&self, path: &Path) -> bool {
        self.kept.iter().any(|kept| path.starts_with(kept)) || self.deny.denies(&self.folders, path)
    }

    /// The topmost denied folder above a denied file, or the file itself.
    pub(crate) fn denied_part<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.ancestors().take_while(|path| self.denies(path)).last()
    }
}

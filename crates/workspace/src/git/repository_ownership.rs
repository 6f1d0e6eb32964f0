//! Where the repository of a folder really is, and whether it belongs to that folder. A `.git` that is a file or a link
//! can point anywhere, so a repository elsewhere is trusted only if it points back.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::program::Git;
use crate::cancel::Cancel;

/// Longer than any path.
const LONGEST_POINTER: u64 = 8 * 1024;

/// The directories of a repository, as real paths.
#[derive(Debug)]
pub(super) struct GitDirs {
    /// The directory of this checkout.
    git_dir: PathBuf,
    /// The directory it shares with other checkouts: commits and branches. Usually the same one.
    common_dir: PathBuf,
}

impl GitDirs {
    /// `None` if one of them does not exist.
    pub(super) fn of(git_dir: &Path, common_dir: &Path) -> Option<GitDirs> {
        Some(GitDirs { git_dir: git_dir.canonicalize().ok()?, common_dir: common_dir.canonicalize().ok()? })
    }

    /// Whether the checkout at `top` may expose its content.
    pub(super) fn belongs_to(&self, top: &Path, folders: &[PathBuf], cancel: &Cancel) -> bool {
        let own = top.join(".git");
        let is_here = |place: &Path| place == own || folders.iter().any(|folder| place.starts_with(folder));
        if is_here(&self.git_dir) {
            return is_here(&self.common_dir);
        }
        self.is_worktree_of(&own) || self.names(top, cancel)
    }

    /// A linked worktree's part of the repository holds the path of the worktree's `.git`.
    fn is_worktree_of(&self, own: &Path) -> bool {
        let Some(pointer) = read_pointer(&self.git_dir.join("gitdir")) else { return false };
        let pointer = self.git_dir.join(OsStr::from_bytes(pointer.trim_ascii_end()));
        let folder = pointer.parent().and_then(|folder| folder.canonicalize().ok());
        folder.as_deref() == own.parent() && pointer.file_name() == own.file_name()
    }

    /// A submodule's repository holds the path of its files.
    fn names(&self, top: &Path, cancel: &Cancel) -> bool {
        let config = self.git_dir.join("config");
        let asked = Git::reading(&self.git_dir, "config").args([OsStr::new("--file"), config.as_os_str()]);
        let Ok(named) = asked.args(["--null", "--get", "core.worktree"]).output(cancel) else { return false };
        let named = named.strip_suffix(b"\0").unwrap_or(&named);
        let named = self.git_dir.join(OsStr::from_bytes(named)).canonicalize();
        named.is_ok_and(|named| named == top)
    }
}

fn read_pointer(path: &Path) -> Option<Vec<u8>> {
    let about = path.symlink_metadata().ok()?;
    if !about.is_file() || about.len() > LONGEST_POINTER {
        return None;
    }
    std::fs::read(path).ok()
}

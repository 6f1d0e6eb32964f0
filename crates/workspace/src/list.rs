//! Lists the files of a workspace.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{AtFlags, FileType, OFlags, statat};
use serde::Serialize;

use crate::cancel::Cancel;
use crate::descriptors;
use crate::error::WorkspaceError;
use crate::folders::Workspace;
use crate::glob::Pattern;
use crate::open_nofollow::open_nofollow;
use crate::walk::{File, Selection, Stop, Worker, walk};

/// Which files to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListFiles {
    /// A glob relative to each folder; `None`: all files.
    pub pattern: Option<String>,
    /// A glob of files to skip; a matching folder is skipped with everything in it.
    pub exclude: Option<String>,
    /// Include ignored files.
    pub ignored: bool,
    /// The maximum number of files.
    pub limit: usize,
}

impl ListFiles {
    /// The default limit.
    pub const LIMIT: usize = 10_000;
    /// The highest limit.
    pub const MOST: usize = 100_000;
}

impl Default for ListFiles {
    fn default() -> ListFiles {
        ListFiles { pattern: None, exclude: None, ignored: false, limit: ListFiles::LIMIT }
    }
}

/// The result of a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileList {
    /// Relative to their folder, with `/`, sorted; with more than one folder, each has its folder's name as a prefix.
    pub paths: Vec<String>,
    /// There are more files, or the time limit was reached.
    pub truncated: bool,
}

/// Hidden files are listed, `.git` and links are not.
pub fn list_files(
    workspace: &Workspace,
    asked: &ListFiles,
    cancel: &Cancel,
) -> Result<FileList, WorkspaceError> {
    let selection = Selection {
        pattern: Pattern::read(asked.pattern.as_deref())?,
        exclude: Pattern::read(asked.exclude.as_deref())?,
        ignored: asked.ignored,
    };
    let limit = asked.limit.min(ListFiles::MOST);
    let count = AtomicUsize::new(0);
    let naming = || FileLister { count: &count, limit, held: None };
    let (mut paths, truncated) = walk(workspace, &selection, cancel, naming)?;
    paths.sort_unstable();
    Ok(FileList { paths, truncated })
}

struct FileLister<'a> {
    count: &'a AtomicUsize,
    limit: usize,
    /// The folder of the previous file: the next file is usually in it, too.
    held: Option<(PathBuf, OwnedFd)>,
}

impl FileLister<'_> {
    /// Whether the file exists without a symlink in its path. The walk read its folder by path, and a symlink put there
    /// at that moment would have made it read names from outside. An error means that it is unknown.
    fn is_there(&mut self, path: &Path) -> io::Result<bool> {
        let Some((folder, name)) = path.parent().zip(path.file_name()) else { return Ok(false) };
        if self.held.as_ref().is_none_or(|(held, _)| held != folder) {
            self.held = None;
            match open_nofollow(folder, OFlags::RDONLY | OFlags::DIRECTORY) {
                Ok(opened) => self.held = Some((folder.to_owned(), opened)),
                Err(error) if descriptors::are_none_left(&error) => return Err(error),
                Err(_) => {}
            }
        }
        let about =
            self.held.as_ref().and_then(|(_, held)| statat(held, name, AtFlags::SYMLINK_NOFOLLOW).ok());
        Ok(about.is_some_and(|about| FileType::from_raw_mode(about.st_mode) == FileType::RegularFile))
    }
}

impl Worker for FileLister<'_> {
    type Item = String;

    fn visit(&mut self, file: &File<'_>, found: &mut Vec<String>, stop: &Stop<'_>) {
        match self.is_there(file.path) {
            Ok(true) => {}
            Ok(false) => return,
            Err(_) => return stop.leave_out_the_rest(),
        }
        if self.count.fetch_add(1, Ordering::Relaxed) >= self.limit {
            stop.leave_out_the_rest();
        } else {
            found.push(file.name());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_name_that_is_only_there_through_a_symlink_is_not_told() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        fs::create_dir(home.join("folder")).unwrap();
        fs::write(home.join("folder/file"), "text").unwrap();
        symlink("folder", home.join("link")).unwrap();
        symlink("file", home.join("folder/other")).unwrap();
        let count = AtomicUsize::new(0);
        let mut naming = FileLister { count: &count, limit: 1, held: None };
        let mut is_there = |name: &str| naming.is_there(&home.join(name)).unwrap();
        assert!(is_there("folder/file"));
        for name in ["folder/gone", "folder/other", "folder", "link/file"] {
            assert!(!is_there(name), "{name}");
        }
        assert!(is_there("folder/file"), "after another folder");
    }
}

//! The files of a workspace, by name.

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
use crate::straight::open_straight;
use crate::walk::{File, Selection, Stop, Worker, walk};

/// Which files to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListFiles {
    /// A glob from each folder; missing: all files.
    pub pattern: Option<String>,
    /// A glob of what to leave out; a folder that matches is left out with all that is in it.
    pub exclude: Option<String>,
    /// Also what ignore files leave out.
    pub ignored: bool,
    /// How many at most.
    pub limit: usize,
}

impl ListFiles {
    /// Where nobody says how many.
    pub const LIMIT: usize = 10_000;
    /// Nobody gets more.
    pub const MOST: usize = 100_000;
}

impl Default for ListFiles {
    fn default() -> ListFiles {
        ListFiles { pattern: None, exclude: None, ignored: false, limit: ListFiles::LIMIT }
    }
}

/// The files that are there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Files {
    /// From their folder, with `/`, sorted; with more than one folder its name stands before each.
    pub paths: Vec<String>,
    /// There are more, or the time was up.
    pub truncated: bool,
}

/// Hidden files are listed, `.git` and links are not.
pub fn list_files(
    workspace: &Workspace,
    asked: &ListFiles,
    cancel: &Cancel,
) -> Result<Files, WorkspaceError> {
    let selection = Selection {
        pattern: Pattern::read(asked.pattern.as_deref())?,
        exclude: Pattern::read(asked.exclude.as_deref())?,
        ignored: asked.ignored,
    };
    let limit = asked.limit.min(ListFiles::MOST);
    let count = AtomicUsize::new(0);
    let naming = || Naming { count: &count, limit, held: None };
    let (mut paths, truncated) = walk(workspace, &selection, cancel, naming)?;
    paths.sort_unstable();
    Ok(Files { paths, truncated })
}

struct Naming<'a> {
    count: &'a AtomicUsize,
    limit: usize,
    /// The folder of the file before: most of the time the next is in it, too.
    held: Option<(PathBuf, OwnedFd)>,
}

impl Naming<'_> {
    /// Whether it is there without a symlink on the way. The walk has read its folder by a path, and whoever put a
    /// symlink there at that moment had it read names from outside. An error: nobody can tell.
    fn is_there(&mut self, path: &Path) -> io::Result<bool> {
        let Some((folder, name)) = path.parent().zip(path.file_name()) else { return Ok(false) };
        if self.held.as_ref().is_none_or(|(held, _)| held != folder) {
            self.held = None;
            match open_straight(folder, OFlags::RDONLY | OFlags::DIRECTORY) {
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

impl Worker for Naming<'_> {
    type Item = String;

    fn look(&mut self, file: &File<'_>, found: &mut Vec<String>, stop: &Stop<'_>) {
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
        let mut naming = Naming { count: &count, limit: 1, held: None };
        let mut is_there = |name: &str| naming.is_there(&home.join(name)).unwrap();
        assert!(is_there("folder/file"));
        for name in ["folder/gone", "folder/other", "folder", "link/file"] {
            assert!(!is_there(name), "{name}");
        }
        assert!(is_there("folder/file"), "after another folder");
    }
}

//! The differences between the last commit, the index and the files.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::repository::Repository;
use crate::cancel::Cancel;
use crate::error::WorkspaceError;
use crate::folders::Workspace;

/// The state of a repository, limited to the requested folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct GitStatus {
    /// `None` if no branch is checked out.
    pub branch: Option<String>,
    /// The last commit; `None` if there is none yet.
    pub head: Option<String>,
    /// The head is detached.
    pub detached: bool,
    /// The branch's upstream.
    pub upstream: Option<String>,
    /// Commits that the upstream lacks; `None` if the upstream is not known locally.
    pub ahead: Option<u32>,
    /// Commits that only the upstream has.
    pub behind: Option<u32>,
    /// Differs from the last commit in the index.
    pub staged: Vec<String>,
    /// Differs from the index.
    pub modified: Vec<String>,
    /// Untracked and not ignored.
    pub untracked: Vec<String>,
    /// In conflict.
    pub conflicted: Vec<String>,
    /// Renamed in the index or in the files; also in `staged` or `modified` by the new name.
    pub renamed: Vec<Renamed>,
}

/// A renamed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Renamed {
    /// Its name now.
    pub path: String,
    /// Its previous name; `None` if that is denied or outside the folder.
    pub from: Option<String>,
}

/// The state of the repository that `folder` is in.
pub fn status(workspace: &Workspace, folder: &Path, cancel: &Cancel) -> Result<GitStatus, WorkspaceError> {
    let repository = Repository::open(workspace, folder, cancel)?;
    Ok(read(&repository, cancel)?.told())
}

/// The state with real paths, which can be passed to git again.
#[derive(Debug, Default)]
pub(super) struct Changes {
    header: GitStatus,
    pub(super) staged: Vec<PathBuf>,
    pub(super) modified: Vec<PathBuf>,
    pub(super) untracked: Vec<PathBuf>,
    pub(super) conflicted: Vec<PathBuf>,
    renamed: Vec<(PathBuf, Option<PathBuf>)>,
}

impl Changes {
    pub(super) fn branch(&self) -> Option<String> {
        self.header.branch.clone()
    }

    fn told(self) -> GitStatus {
        let renamed = self
            .renamed
            .iter()
            .map(|(path, from)| Renamed { path: name(path), from: from.as_deref().map(name) });
        GitStatus {
            renamed: renamed.collect(),
            staged: names(&self.staged),
            modified: names(&self.modified),
            untracked: names(&self.untracked),
            conflicted: names(&self.conflicted),
            ..self.header
        }
    }
}

pub(super) fn names(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| name(path)).collect()
}

fn name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

pub(super) fn read(repository: &Repository<'_>, cancel: &Cancel) -> Result<Changes, WorkspaceError> {
    // The content of a submodule belongs to its own repository, and examining it would read its configuration.
    let git = repository.reading("status").args([
        "--porcelain=v2",
        "-z",
        "--branch",
        "--untracked-files=all",
        "--renames",
        "--ignore-submodules=dirty",
        "--",
        ".",
    ]);
    let output = git.output(cancel)?;
    let mut changes = Changes::default();
    let mut records = output.split(|byte| *byte == 0);
    while let Some(record) = records.next() {
        match record.split_first() {
            Some((b'#', header)) => changes.header.read(&String::from_utf8_lossy(header)),
            Some((b'1', entry)) => changes.take(repository, entry, 8, None),
            Some((b'2', entry)) => changes.take(repository, entry, 9, records.next()),
            Some((b'u', entry)) => {
                changes.conflicted.extend(path(entry, 10).and_then(|path| repository.shown(path)));
            }
            Some((b'?', entry)) => {
                changes.untracked.extend(path(entry, 1).and_then(|path| repository.shown(path)));
            }
            _ => {}
        }
    }
    Ok(changes)
}

impl Changes {
    /// An entry whose path is its last field, after as many others as `fields`.
    fn take(&mut self, repository: &Repository<'_>, entry: &[u8], fields: usize, from: Option<&[u8]>) {
        let Some(path) = path(entry, fields).and_then(|path| repository.shown(path)) else { return };
        let mut states = entry.iter().skip(1);
        let (index, files) = (states.next(), states.next());
        if let Some(from) = from {
            let is_renamed = [index, files].contains(&Some(&b'R'));
            if is_renamed {
                self.renamed.push((path.clone(), repository.shown(from)));
            }
        }
        if files.is_some_and(|state| *state != b'.') {
            self.modified.push(path.clone());
        }
        if index.is_some_and(|state| *state != b'.') {
            self.staged.push(path);
        }
    }
}

/// The last field of an entry, after `fields` others. It is a path and may contain spaces.
fn path(entry: &[u8], after: usize) -> Option<&[u8]> {
    entry.splitn(after + 1, |byte| *byte == b' ').nth(after)
}

impl GitStatus {
    fn read(&mut self, header: &str) {
        let Some((key, value)) = header.trim().split_once(' ') else { return };
        match key {
            "branch.oid" => self.head = (value != "(initial)").then(|| value.to_owned()),
            "branch.head" => {
                self.detached = value == "(detached)";
                self.branch = (!self.detached).then(|| value.to_owned());
            }
            "branch.upstream" => self.upstream = Some(value.to_owned()),
            "branch.ab" => {
                let mut counts =
                    value.split(' ').map(|count| count.trim_start_matches(['+', '-']).parse().ok());
                (self.ahead, self.behind) = (counts.next().flatten(), counts.next().flatten());
            }
            _ => {}
        }
    }
}

//! Commits like the user: with their hooks, name and settings.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::log;
use super::program::GitOutput;
use super::repository::{Repository, literal_list};
use super::status::{self, Changes};
use crate::cancel::Cancel;
use crate::error::WorkspaceError;
use crate::folders::Workspace;

/// Long, because hooks may run tests.
const TIME_LIMIT: Duration = Duration::from_secs(120);
const MOST_OUTPUT: usize = 256 * 1024;

/// A new commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Commit {
    /// Its full hash.
    pub hash: String,
    /// The first line of its message, as the hooks left it.
    pub summary: String,
    /// The branch it is on, if it is on one.
    pub branch: Option<String>,
    /// The output of git and the hooks.
    pub output: String,
}

/// Commits the staged changes; with `all` also the changes of tracked files in the folder, except denied ones.
pub fn commit(
    workspace: &Workspace,
    folder: &Path,
    message: &str,
    all: bool,
    cancel: &Cancel,
) -> Result<Commit, WorkspaceError> {
    if message.trim().is_empty() {
        return Err(WorkspaceError::EmptyMessage);
    }
    let repository = Repository::open(workspace, folder, cancel)?;
    let changes = status::read(&repository, cancel)?;
    if !changes.conflicted.is_empty() {
        return Err(WorkspaceError::Conflicts(status::names(&changes.conflicted)));
    }
    let mut git = repository.writing("commit").args(["--file=-"]);
    let list = if all && !changes.modified.is_empty() { Some(list_of(&changes)?) } else { None };
    if let Some(list) = &list {
        // Unlike a preceding `git add`, this leaves the index unchanged if the commit is refused.
        let mut from = std::ffi::OsString::from("--pathspec-from-file=");
        from.push(list.path());
        git = git.args(["--include", "--pathspec-file-nul"]).args([from]);
    }
    let ran = git.input(message).within(TIME_LIMIT).at_most(MOST_OUTPUT).run(cancel)?;
    if !ran.status.success() {
        return Err(refusal(&repository, &ran, list.is_some(), cancel)?);
    }
    let made = log::read(&repository, 1, None, cancel)?.into_iter().next();
    let (hash, summary) = made.map(|entry| (entry.hash, entry.subject)).unwrap_or_default();
    Ok(Commit { hash, summary, branch: changes.branch(), output: said(&ran) })
}

fn list_of(changes: &Changes) -> Result<tempfile::NamedTempFile, WorkspaceError> {
    let write = || -> std::io::Result<tempfile::NamedTempFile> {
        let mut list = tempfile::NamedTempFile::new()?;
        list.write_all(&literal_list(&changes.modified))?;
        Ok(list)
    };
    write().map_err(|error| WorkspaceError::system("write a temporary file", error))
}

/// Git exits with 1 if there is nothing to commit or a hook refuses, and with 128 if it fails itself.
fn refusal(
    repository: &Repository<'_>,
    ran: &GitOutput,
    adds: bool,
    cancel: &Cancel,
) -> Result<WorkspaceError, WorkspaceError> {
    if ran.status.code() == Some(1) {
        let compare = ["--cached", "--quiet", "--submodule=short", "--ignore-submodules=dirty"];
        let compare = repository.reading("diff").args(compare);
        let nothing_is_staged = compare.run(cancel)?.status.success();
        return Ok(if nothing_is_staged && !adds {
            WorkspaceError::NothingToCommit
        } else {
            WorkspaceError::HookRefused(said(ran))
        });
    }
    for identity in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
        if !repository.reading("var").args([identity]).run(cancel)?.status.success() {
            return Ok(WorkspaceError::NoIdentity);
        }
    }
    Ok(ran.failure())
}

fn said(ran: &GitOutput) -> String {
    let output = String::from_utf8_lossy(&ran.output);
    [ran.errors.as_str(), output.trim()]
        .into_iter()
        .filter(|said| !said.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

//! What an agent has done in a workspace, on a thread of its own: blocking, with limits, cancelled from outside.
//! Who may ask for it is decided before; here results only get their form.

use std::path::{Path, PathBuf};

use linkspan_dialect::Work;
use linkspan_workspace::terminal::{Output, Ran};
use linkspan_workspace::{
    Cancel, ListFiles, Match, SearchFiles, Workspace, WorkspaceError, git, list_files, search_files,
};
use serde::Serialize;

/// Where nobody says how many.
const LOG_ENTRIES: usize = 20;

/// What came of it.
#[derive(Debug)]
pub enum Done {
    /// As JSON.
    Data {
        json: String,
        truncated: bool,
    },
    Ran(Ran),
    Printed(Output),
}

/// Paths are absolute here, symlinks of the folders themselves followed.
pub fn carry_out(workspace: &Workspace, work: &Work, cancel: &Cancel) -> Result<Done, WorkspaceError> {
    let main = workspace.folders.first().ok_or(WorkspaceError::NoFolder)?;
    let folder_of = |folder: &Option<PathBuf>| folder.as_ref().unwrap_or(main).clone();
    match work {
        Work::ListFiles { pattern, exclude, ignored, limit } => {
            let asked = ListFiles {
                pattern: pattern.clone(),
                exclude: exclude.clone(),
                ignored: *ignored,
                limit: limit.map_or(ListFiles::LIMIT, count),
            };
            let files = list_files(workspace, &asked, cancel)?;
            Ok(data(&files.paths, files.truncated))
        }
        Work::SearchFiles {
            query,
            regex,
            case_sensitive,
            whole_word,
            pattern,
            exclude,
            ignored,
            limit,
            context,
        } => {
            let asked = SearchFiles {
                query: query.clone(),
                regex: *regex,
                case_sensitive: *case_sensitive,
                whole_word: *whole_word,
                pattern: pattern.clone(),
                exclude: exclude.clone(),
                ignored: *ignored,
                limit: limit.map_or(SearchFiles::LIMIT, count),
                context: count(*context),
            };
            let found = search_files(workspace, &asked, cancel)?;
            Ok(data(&found.matches.iter().map(Line::of).collect::<Vec<_>>(), found.truncated))
        }
        Work::GitStatus { folder } => Ok(data(&git::status(workspace, &folder_of(folder), cancel)?, false)),
        Work::GitDiff { folder, path, staged } => {
            let diff = git::diff(workspace, &folder_of(folder), path.as_deref(), *staged, cancel)?;
            Ok(data(&Diff { diff: &diff.text }, diff.truncated))
        }
        Work::GitLog { folder, path, limit } => {
            let limit = limit.map_or(LOG_ENTRIES, count);
            let entries = git::log(workspace, &folder_of(folder), limit, path.as_deref(), cancel)?;
            Ok(data(&entries, false))
        }
        Work::GitStage { folder, paths } => {
            let staged = git::stage(workspace, &folder_of(folder), paths, cancel)?;
            Ok(data(&Staged { staged }, false))
        }
        Work::GitCommit { folder, message, all } => {
            Ok(data(&git::commit(workspace, &folder_of(folder), message, *all, cancel)?, false))
        }
    }
}

fn count(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn data(value: &impl Serialize, truncated: bool) -> Done {
    // Our types have string keys and no serialiser of their own that fails.
    let json = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    Done::Data { json, truncated }
}

#[derive(Serialize)]
struct Line<'a> {
    path: &'a str,
    line: u32,
    column: u32,
    text: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    before: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    after: &'a [String],
}

impl<'a> Line<'a> {
    fn of(found: &'a Match) -> Line<'a> {
        let Match { path, line, column, text, before, after } = found;
        Line { path, line: *line, column: *column, text, before, after }
    }
}

#[derive(Serialize)]
struct Diff<'a> {
    diff: &'a str,
}

#[derive(Serialize)]
struct Staged {
    staged: Vec<String>,
}

/// The folder of the workspace that a path is in.
pub(crate) fn folder_around<'a>(workspace: &'a Workspace, path: &Path) -> Option<&'a Path> {
    workspace.folders.iter().map(AsRef::as_ref).find(|folder| path.starts_with(folder))
}

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

/// All the texts of one answer together; more is read by nobody, and would be cut off with its client.
const MOST_TEXT: usize = 16 * 1024 * 1024;

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
            let fit = fitting(&files.paths, String::len);
            Ok(data(&fit, files.truncated || fit.len() < files.paths.len()))
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
            let fit = fitting(&found.matches, |found| {
                let around = found.before.iter().chain(&found.after).map(String::len).sum::<usize>();
                found.path.len() + found.text.len() + around
            });
            let lines: Vec<Line<'_>> = fit.iter().map(Line::of).collect();
            Ok(data(&lines, found.truncated || fit.len() < found.matches.len()))
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

/// As many from the beginning as one answer may hold.
fn fitting<T>(items: &[T], size: impl Fn(&T) -> usize) -> &[T] {
    let mut held = 0;
    let fit = items.iter().take_while(|item| {
        held += size(item);
        held <= MOST_TEXT
    });
    items.get(..fit.count()).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_holds_so_much_and_no_more() {
        let items = [MOST_TEXT / 2, MOST_TEXT / 2, 1, 0];
        assert_eq!(fitting(&items, |size| *size).len(), 2);
        assert_eq!(fitting(&items[2..], |size| *size).len(), 2);
        assert_eq!(fitting(&[MOST_TEXT + 1], |size| *size).len(), 0);
    }
}

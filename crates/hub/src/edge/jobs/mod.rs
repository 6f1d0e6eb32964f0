//! Work that the hub does for agents in a workspace: listing and searching files, git, commands in terminals of its
//! own (`terminals`).
//!
//! Each job blocks a thread of its own, has limits, and can be cancelled. Must not know permissions: whether an agent
//! may do it was decided before; here results are only put into their form.

pub(super) mod terminals;

use std::path::PathBuf;

use linkspan_dialect::WorkspaceRequest;
use linkspan_workspace::{
    Cancel, ListFiles, Match, SearchFiles, Workspace, WorkspaceError, git, list_files, search_files,
};
use serde::Serialize;

use crate::core::contract::JobOutput;

/// If the request names no limit.
const DEFAULT_LOG_ENTRIES: usize = 20;

/// All texts of one answer together: a larger one would exceed what a client accepts.
const MAX_TEXT_BYTES: usize = 16 * 1024 * 1024;

/// Paths are absolute here, with symlinks of the folders themselves followed.
pub fn run_job(
    workspace: &Workspace,
    work: &WorkspaceRequest,
    cancel: &Cancel,
) -> Result<JobOutput, WorkspaceError> {
    let main = workspace.folders.first().ok_or(WorkspaceError::NoFolder)?;
    let folder_of = |folder: &Option<PathBuf>| folder.as_ref().unwrap_or(main).clone();
    match work {
        WorkspaceRequest::ListFiles { pattern, exclude, ignored, limit } => {
            let request = ListFiles {
                pattern: pattern.clone(),
                exclude: exclude.clone(),
                ignored: *ignored,
                limit: limit.map_or(ListFiles::LIMIT, count),
            };
            let files = list_files(workspace, &request, cancel)?;
            let fit = fitting(&files.paths, String::len);
            Ok(data(&fit, files.truncated || fit.len() < files.paths.len()))
        }
        WorkspaceRequest::SearchFiles {
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
            let request = SearchFiles {
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
            let found = search_files(workspace, &request, cancel)?;
            let fit = fitting(&found.matches, |found| {
                let around = found.before.iter().chain(&found.after).map(String::len).sum::<usize>();
                found.path.len() + found.text.len() + around
            });
            let lines: Vec<Line<'_>> = fit.iter().map(Line::of).collect();
            Ok(data(&lines, found.truncated || fit.len() < found.matches.len()))
        }
        WorkspaceRequest::GitStatus { folder } => {
            Ok(data(&git::status(workspace, &folder_of(folder), cancel)?, false))
        }
        WorkspaceRequest::GitDiff { folder, path, staged } => {
            let diff = git::diff(workspace, &folder_of(folder), path.as_deref(), *staged, cancel)?;
            Ok(data(&Diff { diff: &diff.text }, diff.truncated))
        }
        WorkspaceRequest::GitLog { folder, path, limit } => {
            let limit = limit.map_or(DEFAULT_LOG_ENTRIES, count);
            let entries = git::log(workspace, &folder_of(folder), limit, path.as_deref(), cancel)?;
            Ok(data(&entries, false))
        }
        WorkspaceRequest::GitStage { folder, paths } => {
            let staged = git::stage(workspace, &folder_of(folder), paths, cancel)?;
            Ok(data(&Staged { staged }, false))
        }
        WorkspaceRequest::GitCommit { folder, message, all } => {
            Ok(data(&git::commit(workspace, &folder_of(folder), message, *all, cancel)?, false))
        }
    }
}

/// As many items from the start as one answer may contain.
fn fitting<T>(items: &[T], size: impl Fn(&T) -> usize) -> &[T] {
    let mut held = 0;
    let fit = items.iter().take_while(|item| {
        held += size(item);
        held <= MAX_TEXT_BYTES
    });
    items.get(..fit.count()).unwrap_or_default()
}

fn count(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn data(value: &impl Serialize, truncated: bool) -> JobOutput {
    // Cannot fail: our types have string keys and no serialiser of their own.
    let json = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    JobOutput::Data { json, truncated }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_contains_items_up_to_the_size_limit() {
        let items = [MAX_TEXT_BYTES / 2, MAX_TEXT_BYTES / 2, 1, 0];
        assert_eq!(fitting(&items, |size| *size).len(), 2);
        assert_eq!(fitting(&items[2..], |size| *size).len(), 2);
        assert_eq!(fitting(&[MAX_TEXT_BYTES + 1], |size| *size).len(), 0);
    }
}

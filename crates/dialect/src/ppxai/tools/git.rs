//! Git. Reading needs no permission; staging and committing do.

use std::path::PathBuf;

use super::super::encode;
use super::super::tool::{Argument, BadArguments, Group, PpxaiTool, optional, required};
use super::path_in;
use crate::mcp::Arguments;
use crate::request::{Request, WorkspaceRequest};

const FOLDER: Argument = optional(
    "folder",
    "string",
    "A workspace folder, whose repository is used. Default: the workspace folder of the path, else the first. Paths \
     in results are relative to it.",
);

/// More paths than anyone reads before allowing it.
const MOST_PATHS: usize = 1000;

pub(super) const TOOLS: &[PpxaiTool] = &[
    PpxaiTool {
        name: "ide.git_status",
        group: Group::Git,
        about: "Shows the branch and the changed files. Files that `deny` covers are omitted.",
        arguments: &[FOLDER],
        result: "{ branch: string | null, head: string | null, detached: boolean, upstream: string | null, \
                 ahead: number | null, behind: number | null, staged: string[], modified: string[], \
                 untracked: string[], conflicted: string[], renamed: { path: string, from: string | null }[] }",
        decode: |arguments| {
            Ok(Request::Workspace(WorkspaceRequest::GitStatus { folder: path_in(arguments, "folder")? }))
        },
        encode: encode::data,
    },
    PpxaiTool {
        name: "ide.git_diff",
        group: Group::Git,
        about: "Shows the changes as a diff of git; at most 1 MiB.",
        arguments: &[
            optional("path", "string", "One file or folder. Default: everything."),
            optional("staged", "boolean", "Show staged changes. Default false: unstaged changes."),
            FOLDER,
        ],
        result: "{ diff: string }",
        decode: |arguments| {
            Ok(Request::Workspace(WorkspaceRequest::GitDiff {
                folder: path_in(arguments, "folder")?,
                path: path_in(arguments, "path")?,
                staged: arguments.flag("staged", false)?,
            }))
        },
        encode: encode::data,
    },
    PpxaiTool {
        name: "ide.git_stage",
        group: Group::Git,
        about: "Stages files, or the changes in folders. The user is asked for permission first.",
        arguments: &[
            optional("paths", "string[]", "The files and folders, at most 1,000. Or:"),
            optional("path", "string", "A single file or folder."),
            FOLDER,
        ],
        result: "{ staged: string[] }",
        decode: stage,
        encode: encode::data,
    },
    PpxaiTool {
        name: "ide.git_commit",
        group: Group::Git,
        about: "Commits the staged changes. The user is asked for permission first. The repository's hooks run.",
        arguments: &[
            required("message", "string", "The full commit message."),
            optional("all", "boolean", "Include unstaged changes of tracked files. Default false."),
            FOLDER,
        ],
        result: "{ hash: string, summary: string, branch: string | null, output: string }",
        decode: |arguments| {
            Ok(Request::Workspace(WorkspaceRequest::GitCommit {
                folder: path_in(arguments, "folder")?,
                message: arguments.text("message")?.into_owned(),
                all: arguments.flag("all", false)?,
            }))
        },
        encode: encode::data,
    },
    PpxaiTool {
        name: "ide.git_log",
        group: Group::Git,
        about: "Lists commits, newest first. `time` is in seconds since 1970.",
        arguments: &[
            optional("limit", "integer", "Maximum number of commits. Default 20, at most 1,000."),
            optional("path", "string", "Only commits that changed this file or folder."),
            FOLDER,
        ],
        result: "{ hash: string, author: string, email: string, time: number, subject: string, body: string }[]",
        decode: |arguments| {
            Ok(Request::Workspace(WorkspaceRequest::GitLog {
                folder: path_in(arguments, "folder")?,
                path: path_in(arguments, "path")?,
                limit: arguments.count("limit")?,
            }))
        },
        encode: encode::data,
    },
];

fn stage(arguments: &Arguments<'_>) -> Result<Request, BadArguments> {
    let list = |raw: &serde_json::value::RawValue| serde_json::from_str::<Vec<String>>(raw.get()).ok();
    let paths: Vec<PathBuf> = match (arguments.raw("paths"), path_in(arguments, "path")?) {
        (Some(raw), None) => {
            let paths = list(raw)
                .ok_or_else(|| BadArguments("paths is invalid: expected a list of strings".to_owned()))?;
            paths.into_iter().map(PathBuf::from).collect()
        }
        (None, Some(path)) => vec![path],
        _ => return Err(BadArguments("send either `paths` or `path`".to_owned())),
    };
    match paths.len() {
        0 => Err(BadArguments("paths is empty: send the files to stage, or `.` for all changes".to_owned())),
        1..=MOST_PATHS => Ok(Request::Workspace(WorkspaceRequest::GitStage {
            folder: path_in(arguments, "folder")?,
            paths,
        })),
        many => Err(BadArguments(format!(
            "{many} paths are more than the limit of {MOST_PATHS}; send a folder instead"
        ))),
    }
}

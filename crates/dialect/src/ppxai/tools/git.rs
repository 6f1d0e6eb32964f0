//! Git. Reading is free; staging and committing need the person's word.

use std::path::PathBuf;

use super::super::encode;
use super::super::tool::{Argument, Group, Tool, Wrong, optional, required};
use super::path_in;
use crate::mcp::Arguments;
use crate::meaning::Request;
use crate::work::Work;

const FOLDER: Argument = optional(
    "folder",
    "string",
    "A folder of the workspace, in whose repository it is done. Default: the workspace folder of the path, else the \
     first. Paths in answers are written from there.",
);

/// More names than anyone reads before she allows it.
const MOST_PATHS: usize = 1000;

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "ide.git_status",
        group: Group::Git,
        about: "The branch and what changed. Files that are kept from agents are left out.",
        arguments: &[FOLDER],
        result: "{ branch: string | null, head: string | null, detached: boolean, upstream: string | null, \
                 ahead: number | null, behind: number | null, staged: string[], modified: string[], \
                 untracked: string[], conflicted: string[], renamed: { path: string, from: string | null }[] }",
        decode: |arguments| Ok(Request::Work(Work::GitStatus { folder: path_in(arguments, "folder")? })),
        encode: encode::data,
    },
    Tool {
        name: "ide.git_diff",
        group: Group::Git,
        about: "What changed, in git's own form; at most 1 MiB.",
        arguments: &[
            optional("path", "string", "One file or folder. Default: all."),
            optional(
                "staged",
                "boolean",
                "What is staged, against the last commit. Default false: what is not.",
            ),
            FOLDER,
        ],
        result: "{ diff: string }",
        decode: |arguments| {
            Ok(Request::Work(Work::GitDiff {
                folder: path_in(arguments, "folder")?,
                path: path_in(arguments, "path")?,
                staged: arguments.flag("staged", false)?,
            }))
        },
        encode: encode::data,
    },
    Tool {
        name: "ide.git_stage",
        group: Group::Git,
        about: "Stages files, or what changed in folders, once the person allows it.",
        arguments: &[
            optional("paths", "string[]", "At most 1,000; or"),
            optional("path", "string", "only one."),
            FOLDER,
        ],
        result: "{ staged: string[] }",
        decode: stage,
        encode: encode::data,
    },
    Tool {
        name: "ide.git_commit",
        group: Group::Git,
        about: "Commits what is staged once the person allows it. The repository's hooks run.",
        arguments: &[
            required("message", "string", "The whole message."),
            optional(
                "all",
                "boolean",
                "Also what changed in tracked files and is not staged. Default false.",
            ),
            FOLDER,
        ],
        result: "{ hash: string, summary: string, branch: string | null, output: string }",
        decode: |arguments| {
            Ok(Request::Work(Work::GitCommit {
                folder: path_in(arguments, "folder")?,
                message: arguments.text("message")?.into_owned(),
                all: arguments.flag("all", false)?,
            }))
        },
        encode: encode::data,
    },
    Tool {
        name: "ide.git_log",
        group: Group::Git,
        about: "The newest commits first. `time` is in seconds since 1970.",
        arguments: &[
            optional("limit", "integer", "How many at most. Default 20, at most 1,000."),
            optional("path", "string", "Only those that touched this file or folder."),
            FOLDER,
        ],
        result: "{ hash: string, author: string, email: string, time: number, subject: string, body: string }[]",
        decode: |arguments| {
            Ok(Request::Work(Work::GitLog {
                folder: path_in(arguments, "folder")?,
                path: path_in(arguments, "path")?,
                limit: arguments.count("limit")?,
            }))
        },
        encode: encode::data,
    },
];

fn stage(arguments: &Arguments<'_>) -> Result<Request, Wrong> {
    let list = |raw: &serde_json::value::RawValue| serde_json::from_str::<Vec<String>>(raw.get()).ok();
    let paths: Vec<PathBuf> = match (arguments.raw("paths"), path_in(arguments, "path")?) {
        (Some(raw), None) => {
            let paths =
                list(raw).ok_or_else(|| Wrong("paths is wrong: expected a list of strings".to_owned()))?;
            paths.into_iter().map(PathBuf::from).collect()
        }
        (None, Some(path)) => vec![path],
        _ => return Err(Wrong("send `paths`, or `path` for only one".to_owned())),
    };
    match paths.len() {
        0 => Err(Wrong("paths is empty: name what to stage, or `.` for all that changed".to_owned())),
        1..=MOST_PATHS => Ok(Request::Work(Work::GitStage { folder: path_in(arguments, "folder")?, paths })),
        many => Err(Wrong(format!("{many} paths are more than the {MOST_PATHS} of one call; name a folder"))),
    }
}

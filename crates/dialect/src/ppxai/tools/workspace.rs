//! Files: listing, reading and searching them.

use super::super::encode;
use super::super::tool::{Argument, BadArguments, Group, PpxaiTool, optional, required};
use super::{PATH, line_in, optional_text, path};
use crate::mcp::Arguments;
use crate::request::{Request, WorkspaceRequest};

const EXCLUDE: Argument =
    optional("exclude", "string", "Glob of files to skip, such as `**/node_modules/**`.");
const IGNORED: Argument = optional(
    "ignored",
    "boolean",
    "Include files that ignore files such as `.gitignore` exclude. Default false.",
);

pub(super) const TOOLS: &[PpxaiTool] = &[
    PpxaiTool {
        name: "ide.get_workspace_info",
        group: Group::Workspace,
        about: "Lists the workspace folders. `name` is the name of the first; `null` if no folder is open.",
        arguments: &[],
        result: "{ name: string | null, folders: { name: string, path: string }[] }",
        decode: |_| Ok(Request::WorkspaceFolders),
        encode: encode::info,
    },
    PpxaiTool {
        name: "ide.list_files",
        group: Group::Workspace,
        about: "Lists the files of the workspace, sorted, relative to their folder; with several folders, paths begin \
                with the name of the folder. Respects ignore files. Includes hidden files, but not `.git` and \
                symlinks.",
        arguments: &[
            optional("pattern", "string", "Glob, such as `**/*.py`. Default: all files."),
            EXCLUDE,
            IGNORED,
            optional("limit", "integer", "Maximum number of files. Default 10,000, at most 100,000."),
        ],
        result: "string[]",
        decode: list_files,
        encode: encode::data,
    },
    PpxaiTool {
        name: "ide.read_file",
        group: Group::Workspace,
        about: "Reads a file, with the user's unsaved changes; `dirty` is true if there are any. Text after the first \
                MiB is cut.",
        arguments: &[
            PATH,
            optional("start_line", "integer", "The first line, from 1."),
            optional("end_line", "integer", "The last line, inclusive."),
        ],
        result: "{ content: string, language: string, dirty?: true }",
        decode: read_file,
        encode: encode::file,
    },
    PpxaiTool {
        name: "ide.search_files",
        group: Group::Workspace,
        about: "Finds lines that contain a text or match a regular expression, sorted by file and line. Each line is \
                listed once, with the column of its first match. Binary files are skipped.",
        arguments: &[
            required("query", "string", "A text on one line, or a regular expression."),
            optional("regex", "boolean", "The query is a regular expression. Default false."),
            optional("case_sensitive", "boolean", "Default false."),
            optional("whole_word", "boolean", "Default false."),
            optional("pattern", "string", "Glob of files to search. Default: all files."),
            EXCLUDE,
            IGNORED,
            optional("limit", "integer", "Maximum number of lines. Default 1,000, at most 10,000."),
            optional("context", "integer", "Lines of context around each match. Default 0, at most 10."),
        ],
        result: "{ path: string, line: number /* from 1 */, column: number /* from 0 */, text: string, \
                 before?: string[], after?: string[] }[]",
        decode: search_files,
        encode: encode::data,
    },
    PpxaiTool {
        name: "ide.get_open_files",
        group: Group::Workspace,
        about: "Lists the tabs of the editor, in their order. Empty without an editor.",
        arguments: &[],
        result: "{ path: string, language: string | null, active: boolean, dirty: boolean }[]",
        decode: |_| Ok(Request::OpenEditors),
        encode: encode::open_files,
    },
];

fn list_files(arguments: &Arguments<'_>) -> Result<Request, BadArguments> {
    Ok(Request::Workspace(WorkspaceRequest::ListFiles {
        pattern: optional_text(arguments, "pattern")?,
        exclude: optional_text(arguments, "exclude")?,
        ignored: arguments.flag("ignored", false)?,
        limit: arguments.count("limit")?,
    }))
}

fn read_file(arguments: &Arguments<'_>) -> Result<Request, BadArguments> {
    let first = line_in(arguments, "start_line")?.unwrap_or(0);
    let last = line_in(arguments, "end_line")?;
    match last.filter(|last| *last < first) {
        Some(_) => Err(BadArguments("end_line is invalid: it is before start_line".to_owned())),
        None => Ok(Request::ReadFile { path: path(arguments)?, lines: (first, last) }),
    }
}

fn search_files(arguments: &Arguments<'_>) -> Result<Request, BadArguments> {
    Ok(Request::Workspace(WorkspaceRequest::SearchFiles {
        query: arguments.text("query")?.into_owned(),
        regex: arguments.flag("regex", false)?,
        case_sensitive: arguments.flag("case_sensitive", false)?,
        whole_word: arguments.flag("whole_word", false)?,
        pattern: optional_text(arguments, "pattern")?,
        exclude: optional_text(arguments, "exclude")?,
        ignored: arguments.flag("ignored", false)?,
        limit: arguments.count("limit")?,
        context: arguments.count("context")?.unwrap_or(0),
    }))
}

//! Files: which there are, what is in them, which are open.

use super::super::encode;
use super::super::tool::{Argument, Group, Tool, Wrong, optional, required};
use super::{PATH, line_in, optional_text, path};
use crate::mcp::Arguments;
use crate::meaning::Request;
use crate::work::Work;

const EXCLUDE: Argument =
    optional("exclude", "string", "A glob of what to leave out, such as `**/node_modules/**`.");
const IGNORED: Argument = optional(
    "ignored",
    "boolean",
    "Also what ignore files (`.gitignore` and the like) leave out. Default false.",
);

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "ide.get_workspace_info",
        group: Group::Workspace,
        about: "The folders of the workspace. `name` is that of the first; `null` when none is open.",
        arguments: &[],
        result: "{ name: string | null, folders: { name: string, path: string }[] }",
        decode: |_| Ok(Request::WorkspaceFolders),
        encode: encode::info,
    },
    Tool {
        name: "ide.list_files",
        group: Group::Workspace,
        about: "The files of the workspace, sorted, each from its folder; with several folders the folder's name \
                stands before. Ignore files are respected; hidden files are listed, `.git` and symlinks are not.",
        arguments: &[
            optional("pattern", "string", "A glob, such as `**/*.py`. Default: all files."),
            EXCLUDE,
            IGNORED,
            optional("limit", "integer", "How many at most. Default 10,000, at most 100,000."),
        ],
        result: "string[]",
        decode: list_files,
        encode: encode::data,
    },
    Tool {
        name: "ide.read_file",
        group: Group::Workspace,
        about: "The text of a file as the person has it: where she has not saved it, what the editor holds, and \
                `dirty` says so. Of more than 1 MiB the beginning is given.",
        arguments: &[
            PATH,
            optional("start_line", "integer", "The first line, from 1."),
            optional("end_line", "integer", "The last line, included."),
        ],
        result: "{ content: string, language: string, dirty?: true }",
        decode: read_file,
        encode: encode::file,
    },
    Tool {
        name: "ide.search_files",
        group: Group::Workspace,
        about: "Lines that hold a text or match a regular expression, by file and line. Each line is told once, \
                with where its first match begins. Binary files are left out.",
        arguments: &[
            required("query", "string", "A text within one line, or a regular expression."),
            optional("regex", "boolean", "Read the query as a regular expression. Default false."),
            optional("case_sensitive", "boolean", "Default false."),
            optional("whole_word", "boolean", "Default false."),
            optional("pattern", "string", "A glob of the files to search. Default: all."),
            EXCLUDE,
            IGNORED,
            optional("limit", "integer", "How many lines at most. Default 1,000, at most 10,000."),
            optional("context", "integer", "How many lines around each to give. Default 0, at most 10."),
        ],
        result: "{ path: string, line: number /* from 1 */, column: number /* from 0 */, text: string, \
                 before?: string[], after?: string[] }[]",
        decode: search_files,
        encode: encode::data,
    },
    Tool {
        name: "ide.get_open_files",
        group: Group::Workspace,
        about: "The tabs of the editor, in their order. Empty without an editor.",
        arguments: &[],
        result: "{ path: string, language: string | null, active: boolean, dirty: boolean }[]",
        decode: |_| Ok(Request::OpenEditors),
        encode: encode::open_files,
    },
];

fn list_files(arguments: &Arguments<'_>) -> Result<Request, Wrong> {
    Ok(Request::Work(Work::ListFiles {
        pattern: optional_text(arguments, "pattern")?,
        exclude: optional_text(arguments, "exclude")?,
        ignored: arguments.flag("ignored", false)?,
        limit: arguments.count("limit")?,
    }))
}

fn read_file(arguments: &Arguments<'_>) -> Result<Request, Wrong> {
    let first = line_in(arguments, "start_line")?.unwrap_or(0);
    let last = line_in(arguments, "end_line")?;
    match last.filter(|last| *last < first) {
        Some(_) => Err(Wrong("end_line is wrong: it is before start_line".to_owned())),
        None => Ok(Request::ReadFile { path: path(arguments)?, lines: (first, last) }),
    }
}

fn search_files(arguments: &Arguments<'_>) -> Result<Request, Wrong> {
    Ok(Request::Work(Work::SearchFiles {
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

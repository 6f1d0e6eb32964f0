//! Requests to the language servers.

use linkspan_editor_api::Position;

use super::super::encode;
use super::super::tool::{BadArguments, Group, PpxaiTool, optional};
use super::{ANY_PATH, COLUMN, path_in, position};
use crate::language::LanguageQuery;
use crate::mcp::Arguments;
use crate::request::{ActiveFileRequest, Request};

const AT: super::Argument = optional(
    "line",
    "integer",
    "From 1. Required with `path`. Default without `path`: the line of the cursor.",
);

pub(super) const TOOLS: &[PpxaiTool] = &[
    PpxaiTool {
        name: "ide.get_diagnostics",
        group: Group::Diagnostics,
        about: "Lists errors and warnings of one file, or of all files; at most 10,000. `path` in the result is spelled as in the \
                request.",
        arguments: &[optional("path", "string", "The file. Default: all files that have any.")],
        result: "{ path: string, severity: \"Error\" | \"Warning\" | \"Information\" | \"Hint\", message: string, \
                 line: number /* from 1 */, column: number /* from 0 */, source?: string }[]",
        decode: |arguments| Ok(Request::Diagnostics { path: path_in(arguments, "path")?, wait_ms: None }),
        encode: encode::diagnostics,
    },
    PpxaiTool {
        name: "ide.get_hover_info",
        group: Group::Diagnostics,
        about: "Shows type and documentation of the symbol at a position, as Markdown. `null` if nothing is known.",
        arguments: &[ANY_PATH, AT, COLUMN],
        result: "{ contents: string[], start?: Place, end?: Place } | null",
        decode: |arguments| at(arguments, LanguageQuery::Hover, |at| ActiveFileRequest::Hover { at }),
        encode: encode::hover,
    },
    PpxaiTool {
        name: "ide.get_definition",
        group: Group::Diagnostics,
        about: "Finds the definition of the symbol at a position. Empty if it is not known.",
        arguments: &[ANY_PATH, AT, COLUMN],
        result: "{ path: string, line: number /* from 1 */, column: number /* from 0 */ }[]",
        decode: |arguments| {
            at(arguments, LanguageQuery::Definition, |at| ActiveFileRequest::Definition { at })
        },
        encode: encode::definition,
    },
];

fn at(
    arguments: &Arguments<'_>,
    question: fn(Position) -> LanguageQuery,
    active: fn(Option<Position>) -> ActiveFileRequest,
) -> Result<Request, BadArguments> {
    match (path_in(arguments, "path")?, position(arguments)?) {
        (Some(path), Some(position)) => Ok(Request::Language { path, question: question(position) }),
        (Some(_), None) => {
            Err(BadArguments("line is missing: send the line together with `path`".to_owned()))
        }
        (None, position) => Ok(Request::ActiveFile(active(position))),
    }
}

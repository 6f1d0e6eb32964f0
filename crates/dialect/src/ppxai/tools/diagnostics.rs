//! What the language servers know.

use linkspan_editor_api::Position;

use super::super::encode;
use super::super::tool::{Group, Tool, Wrong, optional};
use super::{ANY_PATH, COLUMN, path_in, position};
use crate::language::Question;
use crate::mcp::Arguments;
use crate::meaning::Request;
use crate::work::Active;

const AT: super::Argument =
    optional("line", "integer", "From 1. Required with `path`; without both, where the cursor is.");

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "ide.get_diagnostics",
        group: Group::Diagnostics,
        about: "Errors and warnings of one file, or of all; at most 10,000. `path` is as it was asked for, if it was.",
        arguments: &[optional("path", "string", "The file; without it, all that have any.")],
        result: "{ path: string, severity: \"Error\" | \"Warning\" | \"Information\" | \"Hint\", message: string, \
                 line: number /* from 1 */, column: number /* from 0 */, source?: string }[]",
        decode: |arguments| Ok(Request::Diagnostics { path: path_in(arguments, "path")?, wait_ms: None }),
        encode: encode::diagnostics,
    },
    Tool {
        name: "ide.get_hover_info",
        group: Group::Diagnostics,
        about: "What is known about the thing at a place, as Markdown. `null` when nothing is.",
        arguments: &[ANY_PATH, AT, COLUMN],
        result: "{ contents: string[], start?: Place, end?: Place } | null",
        decode: |arguments| at(arguments, Question::Hover, |at| Active::Hover { at }),
        encode: encode::hover,
    },
    Tool {
        name: "ide.get_definition",
        group: Group::Diagnostics,
        about: "Where the thing at a place is defined. Empty when nothing is known.",
        arguments: &[ANY_PATH, AT, COLUMN],
        result: "{ path: string, line: number /* from 1 */, column: number /* from 0 */ }[]",
        decode: |arguments| at(arguments, Question::Definition, |at| Active::Definition { at }),
        encode: encode::definition,
    },
];

fn at(
    arguments: &Arguments<'_>,
    question: fn(Position) -> Question,
    active: fn(Option<Position>) -> Active,
) -> Result<Request, Wrong> {
    match (path_in(arguments, "path")?, position(arguments)?) {
        (Some(path), Some(position)) => Ok(Request::Language { path, question: question(position) }),
        (Some(_), None) => Err(Wrong("line is missing: say which line of the file".to_owned())),
        (None, position) => Ok(Request::Active(active(position))),
    }
}

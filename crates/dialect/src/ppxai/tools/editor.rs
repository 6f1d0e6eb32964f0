//! The state of the editor, and opening files in it.

use super::super::encode;
use super::super::tool::{BadArguments, Group, PpxaiTool, required};
use super::{ANY_PATH, COLUMN, LINE, PATH, line_in, path, path_in, position};
use crate::language::LanguageQuery;
use crate::mcp::Arguments;
use crate::request::{ActiveFileRequest, OpenSelection, Request};

pub(super) const TOOLS: &[PpxaiTool] = &[
    PpxaiTool {
        name: "ide.get_active_file",
        group: Group::Editor,
        about: "Reads the active file of the editor, with its unsaved changes. `null` if there is none, or if it is \
                outside the workspace.",
        arguments: &[],
        result: "{ path: string, content: string, language: string, dirty?: true } | null",
        decode: |_| Ok(Request::ActiveFile(ActiveFileRequest::Text)),
        encode: encode::active_file,
    },
    PpxaiTool {
        name: "ide.get_selection",
        group: Group::Editor,
        about: "Reads the selection in the active editor. The text is empty if nothing is selected.",
        arguments: &[],
        result: "{ text: string, file: string, start: Place, end: Place } | null",
        decode: |_| Ok(Request::CurrentSelection),
        encode: encode::selection,
    },
    PpxaiTool {
        name: "ide.get_visible_range",
        group: Group::Editor,
        about: "Shows which part of a file is visible. `null` if it is not visible.",
        arguments: &[ANY_PATH],
        result: "{ file: string, start: Place, end: Place } | null",
        decode: visible_range,
        encode: encode::visible,
    },
    PpxaiTool {
        name: "ide.open_file",
        group: Group::Editor,
        about: "Opens a file in the editor and moves the cursor. `false` if the window has no editor that can open \
                files.",
        arguments: &[PATH, LINE, COLUMN],
        result: "boolean",
        decode: open_file,
        encode: encode::opened,
    },
    PpxaiTool {
        name: "ide.reveal_line",
        group: Group::Editor,
        about: "Scrolls to a line. `false` if the file is not visible.",
        arguments: &[required("line", "integer", "From 1."), ANY_PATH],
        result: "boolean",
        decode: reveal_line,
        encode: encode::revealed,
    },
];

fn visible_range(arguments: &Arguments<'_>) -> Result<Request, BadArguments> {
    Ok(match path_in(arguments, "path")? {
        Some(path) => Request::Language { path, question: LanguageQuery::VisibleRange },
        None => Request::ActiveFile(ActiveFileRequest::VisibleRange),
    })
}

fn open_file(arguments: &Arguments<'_>) -> Result<Request, BadArguments> {
    let target = position(arguments)?.map(|start| OpenSelection::From { start, end_line: None });
    Ok(Request::OpenFile { path: path(arguments)?, preview: false, focus: true, target })
}

fn reveal_line(arguments: &Arguments<'_>) -> Result<Request, BadArguments> {
    arguments.required_count("line")?;
    let line = line_in(arguments, "line")?.unwrap_or(0);
    Ok(match path_in(arguments, "path")? {
        Some(path) => Request::Reveal { path, line },
        None => Request::ActiveFile(ActiveFileRequest::Reveal { line }),
    })
}

//! What the person looks at, and showing her something.

use super::super::encode;
use super::super::tool::{Group, Tool, Wrong, required};
use super::{ANY_PATH, COLUMN, LINE, PATH, line_in, path, path_in, position};
use crate::language::Question;
use crate::mcp::Arguments;
use crate::meaning::{Request, Target};
use crate::work::Active;

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "ide.get_active_file",
        group: Group::Editor,
        about: "The file that is active in the editor, with its text, saved or not. `null` when none is, or when it \
                is not one of the workspace.",
        arguments: &[],
        result: "{ path: string, content: string, language: string, dirty?: true } | null",
        decode: |_| Ok(Request::Active(Active::Text)),
        encode: encode::active_file,
    },
    Tool {
        name: "ide.get_selection",
        group: Group::Editor,
        about: "What is selected in the active editor; an empty text where only the cursor is.",
        arguments: &[],
        result: "{ text: string, file: string, start: Place, end: Place } | null",
        decode: |_| Ok(Request::CurrentSelection),
        encode: encode::selection,
    },
    Tool {
        name: "ide.get_visible_range",
        group: Group::Editor,
        about: "Which part of a file is on the screen. `null` when none is.",
        arguments: &[ANY_PATH],
        result: "{ file: string, start: Place, end: Place } | null",
        decode: visible_range,
        encode: encode::visible,
    },
    Tool {
        name: "ide.open_file",
        group: Group::Editor,
        about: "Opens a file in the editor and puts the cursor there. `false` where the window has no editor that \
                opens files.",
        arguments: &[PATH, LINE, COLUMN],
        result: "boolean",
        decode: open_file,
        encode: encode::opened,
    },
    Tool {
        name: "ide.reveal_line",
        group: Group::Editor,
        about: "Scrolls to a line. `false` when the file is not on the screen.",
        arguments: &[required("line", "integer", "From 1."), ANY_PATH],
        result: "boolean",
        decode: reveal_line,
        encode: encode::revealed,
    },
];

fn visible_range(arguments: &Arguments<'_>) -> Result<Request, Wrong> {
    Ok(match path_in(arguments, "path")? {
        Some(path) => Request::Language { path, question: Question::VisibleRange },
        None => Request::Active(Active::VisibleRange),
    })
}

fn open_file(arguments: &Arguments<'_>) -> Result<Request, Wrong> {
    let target = position(arguments)?.map(|start| Target::From { start, end_line: None });
    Ok(Request::OpenFile { path: path(arguments)?, preview: false, focus: true, target })
}

fn reveal_line(arguments: &Arguments<'_>) -> Result<Request, Wrong> {
    arguments.required_count("line")?;
    let line = line_in(arguments, "line")?.unwrap_or(0);
    Ok(match path_in(arguments, "path")? {
        Some(path) => Request::Reveal { path, line },
        None => Request::Active(Active::Reveal { line }),
    })
}

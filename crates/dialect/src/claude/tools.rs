//! The twelve tools. Eleven are the standard ones, whose names and arguments come from this dialect.

use crate::mcp::standard_tools::{
    CHECK_DOCUMENT_DIRTY, CLOSE_ALL_DIFF_TABS, EXECUTE_CODE, GET_CURRENT_SELECTION, GET_DIAGNOSTICS,
    GET_LATEST_SELECTION, GET_OPEN_EDITORS, GET_WORKSPACE_FOLDERS, OPEN_DIFF, SAVE_DOCUMENT, close_tab,
    file_path, given_text,
};
use crate::mcp::{Argument, ArgumentKind, Arguments, BadArgument, McpTool, Need};
use crate::request::{OpenSelection, Request};

pub(super) static TOOLS: &[McpTool] = &[
    OPEN_DIFF,
    GET_DIAGNOSTICS,
    close_tab("close_tab", &[Argument::required("tab_name")], |arguments| {
        Ok(Request::CloseTab { label: arguments.text("tab_name")?.into_owned() })
    }),
    CLOSE_ALL_DIFF_TABS,
    McpTool {
        name: "openFile",
        description: "Open a file in the editor. Optionally select lines, counted from 1, or a text in it",
        arguments: &[
            Argument::required("filePath"),
            Argument::optional("preview", ArgumentKind::Flag { default: false }),
            Argument::optional("startLine", ArgumentKind::Count),
            Argument::optional("endLine", ArgumentKind::Count),
            Argument::optional("startText", ArgumentKind::Text),
            Argument::optional("endText", ArgumentKind::Text),
            Argument::optional("selectToEndOfLine", ArgumentKind::Flag { default: false }),
            Argument::optional("makeFrontmost", ArgumentKind::Flag { default: true }),
        ],
        needs: Need::Nothing,
        decode: open_file,
    },
    GET_OPEN_EDITORS,
    GET_WORKSPACE_FOLDERS,
    GET_CURRENT_SELECTION,
    GET_LATEST_SELECTION,
    CHECK_DOCUMENT_DIRTY.described("Check whether an open file has unsaved changes"),
    SAVE_DOCUMENT,
    EXECUTE_CODE,
];

fn open_file(arguments: &Arguments<'_>) -> Result<Request, BadArgument> {
    let from_one = |line: u32| line.saturating_sub(1);
    let start_line = arguments.count("startLine")?.map(from_one);
    let end_line = arguments.count("endLine")?.map(from_one);
    let start_text = given_text(arguments, "startText")?;
    let end_text = given_text(arguments, "endText")?;
    let to_end_of_line = arguments.flag("selectToEndOfLine", false)?;
    let target = match (start_text, start_line, end_line) {
        (Some(start), _, _) => Some(OpenSelection::Text { start, end: end_text, to_end_of_line }),
        (None, None, None) => None,
        (None, start, end) => Some(OpenSelection::Lines { start: start.unwrap_or(0), end }),
    };
    Ok(Request::OpenFile {
        path: file_path(arguments)?,
        preview: arguments.flag("preview", false)?,
        focus: arguments.flag("makeFrontmost", true)?,
        target,
    })
}

//! The eleven tools. NEXUS3 took most of them over from the claude dialect, with their arguments.

use crate::mcp::standard_tools::{
    CHECK_DOCUMENT_DIRTY, CLOSE_ALL_DIFF_TABS, GET_CURRENT_SELECTION, GET_DIAGNOSTICS, GET_LATEST_SELECTION,
    GET_OPEN_EDITORS, GET_WORKSPACE_FOLDERS, OPEN_DIFF, SAVE_DOCUMENT, close_tab, file_path,
};
use crate::mcp::{Argument, ArgumentKind, McpTool, Need};
use crate::request::Request;

pub(super) static TOOLS: &[McpTool] = &[
    OPEN_DIFF
        .described("Show a proposed change to the user, wait for the decision, write the file if accepted"),
    McpTool {
        name: "openFile",
        description: "Open a file in the editor",
        arguments: &[
            Argument::required("filePath"),
            Argument::optional("preview", ArgumentKind::Flag { default: false }),
        ],
        needs: Need::Nothing,
        decode: |arguments| {
            let path = file_path(arguments)?;
            let preview = arguments.flag("preview", false)?;
            Ok(Request::OpenFile { path, preview, focus: true, target: None })
        },
    },
    GET_DIAGNOSTICS
        .described("List the errors and warnings of one file, or of all files; lines count from 1"),
    GET_CURRENT_SELECTION
        .described("Get the selection in the active editor; lines count from 1, characters from 0"),
    GET_LATEST_SELECTION,
    GET_OPEN_EDITORS,
    GET_WORKSPACE_FOLDERS,
    CHECK_DOCUMENT_DIRTY,
    SAVE_DOCUMENT,
    close_tab("closeTab", &[Argument::required("tabName")], |arguments| {
        Ok(Request::CloseTab { label: arguments.text("tabName")?.into_owned() })
    }),
    CLOSE_ALL_DIFF_TABS,
];

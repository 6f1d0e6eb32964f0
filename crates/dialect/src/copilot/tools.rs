//! The six tools, with the arguments of Copilot's own editors.

use std::path::PathBuf;

use crate::mcp::standard_tools::{GET_DIAGNOSTICS, close_tab, plain};
use crate::mcp::{Argument, Arguments, BadArgument, McpTool, Need};
use crate::request::Request;

pub(super) static TOOLS: &[McpTool] = &[
    plain("get_vscode_info", "Get the name and version of the editor", |_| Ok(Request::EditorInfo)),
    plain("get_selection", "Get the selection in the active editor", |_| Ok(Request::CurrentSelection)),
    McpTool {
        name: "open_diff",
        description: "Show a proposed change to the user and wait for the decision",
        arguments: &[
            Argument::required("original_file_path"),
            Argument::required("new_file_contents"),
            Argument::required("tab_name"),
        ],
        needs: Need::Nothing,
        decode: open_diff,
    },
    close_tab("close_diff", &[Argument::required("tab_name")], |arguments| {
        Ok(Request::CloseTab { label: arguments.text("tab_name")?.into_owned() })
    }),
    McpTool { name: "get_diagnostics", ..GET_DIAGNOSTICS },
    McpTool {
        name: "update_session_name",
        description: "Tell the editor the name of this session",
        arguments: &[Argument::required("name")],
        needs: Need::Nothing,
        decode: |arguments| Ok(Request::NameSession { name: arguments.text("name")?.into_owned() }),
    },
];

fn open_diff(arguments: &Arguments<'_>) -> Result<Request, BadArgument> {
    Ok(Request::Propose {
        path: PathBuf::from(arguments.text("original_file_path")?.into_owned()),
        compare_with: None,
        proposed: arguments.text("new_file_contents")?.into_owned(),
        label: arguments.text("tab_name")?.into_owned(),
        set: None,
        writer: None,
    })
}

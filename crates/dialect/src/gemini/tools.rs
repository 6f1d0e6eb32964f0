//! The two tools. Gemini CLI ignores an editor that lacks either.

use std::path::PathBuf;

use crate::mcp::{Argument, ArgumentKind, Arguments, BadArgument, McpTool, Need};
use crate::request::Request;

pub(super) static TOOLS: &[McpTool] = &[
    McpTool {
        name: "openDiff",
        description: "Show a proposed change to the user. The decision follows as a notification",
        arguments: &[Argument::required("filePath"), Argument::required("newContent")],
        needs: Need::Nothing,
        decode: open_diff,
    },
    McpTool {
        name: "closeDiff",
        description: "Withdraw a proposed change. Returns the text with the edits of the user",
        arguments: &[
            Argument::required("filePath"),
            Argument::optional("suppressNotification", ArgumentKind::Switch),
        ],
        needs: Need::Nothing,
        decode: close_diff,
    },
];

fn open_diff(arguments: &Arguments<'_>) -> Result<Request, BadArgument> {
    let path = PathBuf::from(arguments.text("filePath")?.into_owned());
    let label = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let proposed = arguments.text("newContent")?.into_owned();
    Ok(Request::Propose { path, compare_with: None, proposed, label, set: None, writer: None })
}

/// Changes are withdrawn by the path that they were proposed for.
fn close_diff(arguments: &Arguments<'_>) -> Result<Request, BadArgument> {
    Ok(Request::CloseTab { label: arguments.text("filePath")?.into_owned() })
}

//! The two tools. Gemini CLI takes an editor that lacks either for none.

use std::path::PathBuf;

use crate::mcp::{Argument, Arguments, BadArgument, Kind, Need, Tool};
use crate::meaning::Request;

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "openDiff",
        description: "Show a proposed change to the user; the decision follows as a notification",
        arguments: &[Argument::required("filePath"), Argument::required("newContent")],
        needs: Need::Nothing,
        decode: open_diff,
    },
    Tool {
        name: "closeDiff",
        description: "Take back a proposed change; answers the text as the user had edited it",
        arguments: &[
            Argument::required("filePath"),
            Argument::optional("suppressNotification", Kind::Switch),
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

/// Changes are taken back by the path that they were proposed for.
fn close_diff(arguments: &Arguments<'_>) -> Result<Request, BadArgument> {
    Ok(Request::CloseTab { label: arguments.text("filePath")?.into_owned() })
}

//! The tools that several MCP dialects list in the same way. A dialect's own table names those it has, in the order in
//! which it lists them, and changes what differs: [`McpTool::described`].

use std::path::PathBuf;

use super::{Argument, Arguments, BadArgument, McpTool, Need};
use crate::file_uri;
use crate::request::Request;

type Decoded = Result<Request, BadArgument>;

const NO_ARGUMENTS: &[Argument] = &[];

/// A tool without arguments.
pub(crate) const fn plain(
    name: &'static str,
    description: &'static str,
    decode: for<'a> fn(&Arguments<'a>) -> Decoded,
) -> McpTool {
    McpTool { name, description, arguments: NO_ARGUMENTS, needs: Need::Nothing, decode }
}

pub(crate) const GET_CURRENT_SELECTION: McpTool =
    plain("getCurrentSelection", "Get the selection in the active editor", |_| Ok(Request::CurrentSelection));

pub(crate) const GET_LATEST_SELECTION: McpTool =
    plain("getLatestSelection", "Get the latest selection, even if no editor is active now", |_| {
        Ok(Request::LatestSelection)
    });

pub(crate) const GET_OPEN_EDITORS: McpTool =
    plain("getOpenEditors", "List the files that are open in the editor", |_| Ok(Request::OpenEditors));

pub(crate) const GET_WORKSPACE_FOLDERS: McpTool =
    plain("getWorkspaceFolders", "List the folders of the editor's workspace", |_| {
        Ok(Request::WorkspaceFolders)
    });

pub(crate) const CLOSE_ALL_DIFF_TABS: McpTool =
    plain("closeAllDiffTabs", "Close all diff tabs of this agent", |_| Ok(Request::CloseAllDiffs));

pub(crate) const EXECUTE_CODE: McpTool = McpTool {
    name: "executeCode",
    description: "Execute code in the kernel of the active notebook. The user is asked for permission first",
    arguments: &[Argument::required("code")],
    needs: Need::ExecuteCode,
    decode: |arguments| Ok(Request::ExecuteCode { code: arguments.text("code")?.into_owned() }),
};

/// Names its file by `filePath`, as [`SAVE_DOCUMENT`] does.
pub(crate) const CHECK_DOCUMENT_DIRTY: McpTool = McpTool {
    name: "checkDocumentDirty",
    description: "Check whether a file has unsaved changes in the editor",
    arguments: FILE_PATH,
    needs: Need::Nothing,
    decode: |arguments| Ok(Request::CheckDirty { path: file_path(arguments)? }),
};

pub(crate) const SAVE_DOCUMENT: McpTool = McpTool {
    name: "saveDocument",
    description: "Save an open file",
    arguments: FILE_PATH,
    needs: Need::Nothing,
    decode: |arguments| Ok(Request::Save { path: file_path(arguments)? }),
};

/// Waits for the decision.
pub(crate) const OPEN_DIFF: McpTool = McpTool {
    name: "openDiff",
    description: "Show a proposed change to the user and wait for the decision",
    arguments: &[
        Argument::required("old_file_path"),
        Argument::required("new_file_path"),
        Argument::required("new_file_contents"),
        Argument::required("tab_name"),
    ],
    needs: Need::Nothing,
    decode: open_diff,
};

pub(crate) const GET_DIAGNOSTICS: McpTool = McpTool {
    name: "getDiagnostics",
    description: "List the errors and warnings of one file, or of all files",
    arguments: &[Argument::optional("uri", super::ArgumentKind::Text)],
    needs: Need::Nothing,
    decode: get_diagnostics,
};

/// A tool that closes a diff tab; the argument has the name of the tab, and another name in each dialect.
pub(crate) const fn close_tab(
    name: &'static str,
    arguments: &'static [Argument],
    decode: for<'a> fn(&Arguments<'a>) -> Decoded,
) -> McpTool {
    McpTool { name, description: "Close a diff tab by its name", arguments, needs: Need::Nothing, decode }
}

const FILE_PATH: &[Argument] = &[Argument::required("filePath")];

pub(crate) fn file_path(arguments: &Arguments<'_>) -> Result<PathBuf, BadArgument> {
    Ok(PathBuf::from(arguments.text("filePath")?.into_owned()))
}

/// The file under review is the one that will be written. A different old file is what it is compared with.
fn open_diff(arguments: &Arguments<'_>) -> Decoded {
    let path = PathBuf::from(arguments.text("new_file_path")?.into_owned());
    let old = PathBuf::from(arguments.text("old_file_path")?.into_owned());
    let is_different = old != path && !old.as_os_str().is_empty();
    Ok(Request::Propose {
        path,
        compare_with: is_different.then_some(old),
        proposed: arguments.text("new_file_contents")?.into_owned(),
        label: arguments.text("tab_name")?.into_owned(),
        set: None,
        writer: None,
    })
}

fn get_diagnostics(arguments: &Arguments<'_>) -> Decoded {
    let not_a_file = BadArgument::Wrong { name: "uri", expected: "a file: URI or a path" };
    let path = match given_text(arguments, "uri")? {
        Some(uri) => Some(file_uri::to_path(&uri).ok_or(not_a_file)?),
        None => None,
    };
    Ok(Request::Diagnostics { path, wait_ms: None })
}

/// Agents that know the schema of Claude Code's own extension, where every text is required, send "" for none.
pub(crate) fn given_text(
    arguments: &Arguments<'_>,
    name: &'static str,
) -> Result<Option<String>, BadArgument> {
    let text = arguments.optional_text(name)?;
    Ok(text.filter(|text| !text.is_empty()).map(std::borrow::Cow::into_owned))
}

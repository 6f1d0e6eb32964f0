//! The twelve tools: what agents call them, and what they mean.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::file_uri;
use crate::mcp::{Argument, Arguments, BadArgument, Kind, Need, Tool};
use crate::meaning::{Request, Target};

type Decoded = Result<Request, BadArgument>;

const NO_ARGUMENTS: &[Argument] = &[];
const FILE: &[Argument] = &[Argument::required("filePath")];

pub(super) static TOOLS: &[Tool] = &[
    Tool {
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
    },
    Tool {
        name: "getDiagnostics",
        description: "Errors and warnings of one file, or of all files",
        arguments: &[Argument::optional("uri", Kind::Text)],
        needs: Need::Nothing,
        decode: get_diagnostics,
    },
    Tool {
        name: "close_tab",
        description: "Close a diff tab by its name",
        arguments: &[Argument::required("tab_name")],
        needs: Need::Nothing,
        decode: |arguments| Ok(Request::CloseTab { label: arguments.text("tab_name")?.into_owned() }),
    },
    Tool {
        name: "closeAllDiffTabs",
        description: "Close all diff tabs of this agent",
        arguments: NO_ARGUMENTS,
        needs: Need::Nothing,
        decode: |_| Ok(Request::CloseAllDiffs),
    },
    Tool {
        name: "openFile",
        description: "Open a file in the editor and, if asked, select lines (from 1) or a text in it",
        arguments: &[
            Argument::required("filePath"),
            Argument::optional("preview", Kind::Flag { default: false }),
            Argument::optional("startLine", Kind::Count),
            Argument::optional("endLine", Kind::Count),
            Argument::optional("startText", Kind::Text),
            Argument::optional("endText", Kind::Text),
            Argument::optional("selectToEndOfLine", Kind::Flag { default: false }),
            Argument::optional("makeFrontmost", Kind::Flag { default: true }),
        ],
        needs: Need::Nothing,
        decode: open_file,
    },
    Tool {
        name: "getOpenEditors",
        description: "The files that are open in the editor",
        arguments: NO_ARGUMENTS,
        needs: Need::Nothing,
        decode: |_| Ok(Request::OpenEditors),
    },
    Tool {
        name: "getWorkspaceFolders",
        description: "The folders of the editor's workspace",
        arguments: NO_ARGUMENTS,
        needs: Need::Nothing,
        decode: |_| Ok(Request::WorkspaceFolders),
    },
    Tool {
        name: "getCurrentSelection",
        description: "The selection in the active editor",
        arguments: NO_ARGUMENTS,
        needs: Need::Nothing,
        decode: |_| Ok(Request::CurrentSelection),
    },
    Tool {
        name: "getLatestSelection",
        description: "The latest selection, even if no editor is active now",
        arguments: NO_ARGUMENTS,
        needs: Need::Nothing,
        decode: |_| Ok(Request::LatestSelection),
    },
    Tool {
        name: "checkDocumentDirty",
        description: "Whether an open file has unsaved changes",
        arguments: FILE,
        needs: Need::Nothing,
        decode: |arguments| Ok(Request::CheckDirty { path: file_path(arguments)? }),
    },
    Tool {
        name: "saveDocument",
        description: "Save an open file",
        arguments: FILE,
        needs: Need::Nothing,
        decode: |arguments| Ok(Request::Save { path: file_path(arguments)? }),
    },
    Tool {
        name: "executeCode",
        description: "Execute code in the kernel of the active notebook, once the user allows it",
        arguments: &[Argument::required("code")],
        needs: Need::ExecuteCode,
        decode: |arguments| Ok(Request::ExecuteCode { code: arguments.text("code")?.into_owned() }),
    },
];

pub(crate) fn file_path(arguments: &Arguments<'_>) -> Result<PathBuf, BadArgument> {
    Ok(PathBuf::from(arguments.text("filePath")?.into_owned()))
}

/// The file under review is the one that will be written. Another old file is what it is compared with.
pub(crate) fn open_diff(arguments: &Arguments<'_>) -> Decoded {
    let path = PathBuf::from(arguments.text("new_file_path")?.into_owned());
    let old = PathBuf::from(arguments.text("old_file_path")?.into_owned());
    let is_another = old != path && !old.as_os_str().is_empty();
    Ok(Request::Propose {
        path,
        compare_with: is_another.then_some(old),
        proposed: arguments.text("new_file_contents")?.into_owned(),
        label: arguments.text("tab_name")?.into_owned(),
        set: None,
        writer: None,
    })
}

pub(crate) fn get_diagnostics(arguments: &Arguments<'_>) -> Decoded {
    let not_a_file = BadArgument::Wrong { name: "uri", expected: "a file: URI or a path" };
    let path = match given_text(arguments, "uri")? {
        Some(uri) => Some(file_uri::to_path(&uri).ok_or(not_a_file)?),
        None => None,
    };
    Ok(Request::Diagnostics { path, wait_ms: None })
}

/// Agents that know the real extension's schema, where both texts are required, send "" for none.
fn given_text(arguments: &Arguments<'_>, name: &'static str) -> Result<Option<String>, BadArgument> {
    Ok(arguments.optional_text(name)?.filter(|text| !text.is_empty()).map(Cow::into_owned))
}

fn open_file(arguments: &Arguments<'_>) -> Decoded {
    let from_one = |line: u32| line.saturating_sub(1);
    let start_line = arguments.count("startLine")?.map(from_one);
    let end_line = arguments.count("endLine")?.map(from_one);
    let start_text = given_text(arguments, "startText")?;
    let end_text = given_text(arguments, "endText")?;
    let to_end_of_line = arguments.flag("selectToEndOfLine", false)?;
    let target = match (start_text, start_line, end_line) {
        (Some(start), _, _) => Some(Target::Text { start, end: end_text, to_end_of_line }),
        (None, None, None) => None,
        (None, start, end) => Some(Target::Lines { start: start.unwrap_or(0), end }),
    };
    Ok(Request::OpenFile {
        path: file_path(arguments)?,
        preview: arguments.flag("preview", false)?,
        focus: arguments.flag("makeFrontmost", true)?,
        target,
    })
}

//! The eleven tools. NEXUS3 took most of them over from the claude dialect, with their arguments.

use crate::claude::tools::{file_path, get_diagnostics, open_diff};
use crate::mcp::{Argument, Kind, Need, Tool};
use crate::meaning::Request;

const NO_ARGUMENTS: &[Argument] = &[];
const FILE: &[Argument] = &[Argument::required("filePath")];

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "openDiff",
        description: "Show a proposed change to the user, wait for the decision, write the file if accepted",
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
        name: "openFile",
        description: "Open a file in the editor",
        arguments: &[
            Argument::required("filePath"),
            Argument::optional("preview", Kind::Flag { default: false }),
        ],
        needs: Need::Nothing,
        decode: |arguments| {
            let path = file_path(arguments)?;
            let preview = arguments.flag("preview", false)?;
            Ok(Request::OpenFile { path, preview, focus: true, target: None })
        },
    },
    Tool {
        name: "getDiagnostics",
        description: "Errors and warnings of one file, or of all files; lines count from 1",
        arguments: &[Argument::optional("uri", Kind::Text)],
        needs: Need::Nothing,
        decode: get_diagnostics,
    },
    Tool {
        name: "getCurrentSelection",
        description: "The selection in the active editor; lines count from 1, characters from 0",
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
        name: "checkDocumentDirty",
        description: "Whether a file has unsaved changes in the editor",
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
        name: "closeTab",
        description: "Close a diff tab by its name",
        arguments: &[Argument::required("tabName")],
        needs: Need::Nothing,
        decode: |arguments| Ok(Request::CloseTab { label: arguments.text("tabName")?.into_owned() }),
    },
    Tool {
        name: "closeAllDiffTabs",
        description: "Close all diff tabs of this agent",
        arguments: NO_ARGUMENTS,
        needs: Need::Nothing,
        decode: |_| Ok(Request::CloseAllDiffs),
    },
];

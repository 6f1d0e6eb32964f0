//! Notifications to the agent: the open files.

use std::borrow::Cow;

use serde::Serialize;

use crate::answer::{EditorEvent, OpenFile};
use crate::mcp::{notification, tools_changed};

/// The most files that the agents read.
const FILES: usize = 10;

/// The most bytes of a selection that they read.
const SELECTED_BYTES: usize = 16 * 1024;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    workspace_state: WorkspaceState<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkspaceState<'a> {
    open_files: Vec<FileState<'a>>,
    /// Always true: an untrusted folder has no window here.
    is_trusted: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileState<'a> {
    path: Cow<'a, str>,
    timestamp: u64,
    is_active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<Cursor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    selected_text: Option<&'a str>,
}

/// Both from 1.
#[derive(Serialize)]
struct Cursor {
    line: u32,
    character: u32,
}

impl FileState<'_> {
    fn of(file: &OpenFile) -> FileState<'_> {
        let active = file.active.as_ref();
        FileState {
            path: file.path.to_string_lossy(),
            timestamp: file.focused_unix_ms,
            is_active: active.is_some(),
            cursor: active.and_then(|active| active.cursor).map(|cursor| Cursor {
                line: cursor.line.saturating_add(1),
                character: cursor.character.saturating_add(1),
            }),
            selected_text: active
                .map(|active| beginning(&active.selected, SELECTED_BYTES))
                .filter(|text| !text.is_empty()),
        }
    }
}

/// The longest prefix of whole characters with at most this many bytes.
fn beginning(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

pub(super) fn event(event: &EditorEvent) -> Option<String> {
    match event {
        EditorEvent::ContextChanged { files } => {
            let open_files = files.iter().take(FILES).map(FileState::of).collect();
            let workspace_state = WorkspaceState { open_files, is_trusted: true };
            Some(notification("ide/contextUpdate", &Update { workspace_state }))
        }
        EditorEvent::ToolsChanged => Some(tools_changed()),
        EditorEvent::SelectionChanged(_)
        | EditorEvent::Mentioned { .. }
        | EditorEvent::DiagnosticsChanged { .. }
        | EditorEvent::Diagnostics(_) => None,
    }
}

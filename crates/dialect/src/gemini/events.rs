//! What the editor tells the agent unasked: the files the person works on.

use std::borrow::Cow;

use serde::Serialize;

use crate::mcp::{notification, tools_changed};
use crate::meaning::{EditorEvent, OpenFile};

/// As many as the agents look at.
const FILES: usize = 10;

/// As much of a selection as they read.
const SELECTED_BYTES: usize = 16 * 1024;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    workspace_state: Workspace<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Workspace<'a> {
    open_files: Vec<File<'a>>,
    /// A folder that the person does not trust has no window here.
    is_trusted: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
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

impl File<'_> {
    fn of(file: &OpenFile) -> File<'_> {
        let active = file.active.as_ref();
        File {
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

/// As many whole characters as so many bytes hold.
fn beginning(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

pub(super) fn event(event: &EditorEvent) -> Option<String> {
    match event {
        EditorEvent::ContextChanged { files } => {
            let open_files = files.iter().take(FILES).map(File::of).collect();
            let workspace_state = Workspace { open_files, is_trusted: true };
            Some(notification("ide/contextUpdate", &Update { workspace_state }))
        }
        EditorEvent::ToolsChanged => Some(tools_changed()),
        EditorEvent::SelectionChanged(_)
        | EditorEvent::Mentioned { .. }
        | EditorEvent::DiagnosticsChanged { .. } => None,
    }
}

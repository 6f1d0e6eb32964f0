//! Notifications to the agent: the selection, and the diagnostics of files where they changed.

use serde::Serialize;

use super::payload::{DiagnosticsPayload, SelectionPayload};
use crate::answer::EditorEvent;
use crate::mcp::{notification, tools_changed};

#[derive(Serialize)]
struct ChangedDiagnostics<'a> {
    uris: Vec<DiagnosticsPayload<'a>>,
}

pub(super) fn event(event: &EditorEvent) -> Option<String> {
    match event {
        EditorEvent::SelectionChanged(selection) => {
            Some(notification("selection_changed", &SelectionPayload::of(selection, None)))
        }
        EditorEvent::Diagnostics(files) => {
            let uris = files.iter().map(DiagnosticsPayload::event).collect();
            Some(notification("diagnostics_changed", &ChangedDiagnostics { uris }))
        }
        EditorEvent::ToolsChanged => Some(tools_changed()),
        EditorEvent::Mentioned { .. }
        | EditorEvent::DiagnosticsChanged { .. }
        | EditorEvent::ContextChanged { .. } => None,
    }
}

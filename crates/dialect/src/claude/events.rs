//! Notifications to the agent.

use std::borrow::Cow;

use serde::Serialize;

use super::payload::SelectionPayload;
use crate::answer::EditorEvent;
use crate::file_uri;
use crate::mcp::{notification, tools_changed};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Mention<'a> {
    file_path: Cow<'a, str>,
    /// Both left out for a whole file: the agent inserts nothing at all when they are `null`.
    #[serde(skip_serializing_if = "Option::is_none")]
    line_start: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_end: Option<u32>,
}

#[derive(Serialize)]
struct Uris {
    uris: Vec<String>,
}

pub(super) fn event(event: &EditorEvent) -> Option<String> {
    Some(match event {
        EditorEvent::SelectionChanged(selection) => {
            notification("selection_changed", &SelectionPayload::of(selection, None))
        }
        EditorEvent::Mentioned { path, lines } => {
            let file_path = path.to_string_lossy();
            let (line_start, line_end) = lines.unzip();
            notification("at_mentioned", &Mention { file_path, line_start, line_end })
        }
        EditorEvent::DiagnosticsChanged { paths } => {
            let uris = paths.iter().map(|path| file_uri::of(path)).collect();
            notification("diagnostics_changed", &Uris { uris })
        }
        EditorEvent::ToolsChanged => tools_changed(),
        EditorEvent::ContextChanged { .. } | EditorEvent::Diagnostics(_) => return None,
    })
}

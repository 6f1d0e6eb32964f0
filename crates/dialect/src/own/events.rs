//! Notifications to the agent, with the types of the editor protocol.

use std::borrow::Cow;

use linkspan_editor_api::LineRange;
use serde::Serialize;

use crate::answer::EditorEvent;
use crate::mcp::{notification, tools_changed};

#[derive(Serialize)]
struct Mention<'a> {
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<LineRange>,
}

#[derive(Serialize)]
struct Paths<'a> {
    paths: Vec<Cow<'a, str>>,
}

pub(super) fn event(event: &EditorEvent) -> Option<String> {
    Some(match event {
        EditorEvent::SelectionChanged(selection) => notification("selection_changed", selection),
        EditorEvent::Mentioned { path, lines } => {
            let lines = lines.map(|(first, last)| LineRange { first, last });
            notification("at_mentioned", &Mention { path: path.to_string_lossy(), lines })
        }
        EditorEvent::DiagnosticsChanged { paths } => {
            let paths = paths.iter().map(|path| path.to_string_lossy()).collect();
            notification("diagnostics_changed", &Paths { paths })
        }
        EditorEvent::ToolsChanged => tools_changed(),
        EditorEvent::ContextChanged { .. } | EditorEvent::Diagnostics(_) => return None,
    })
}

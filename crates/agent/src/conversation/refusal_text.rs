//! What the model reads about a call that was not run, and how long a result may be.

use crate::permissions::ToolKind;

pub(super) fn declined(reason: Option<String>) -> String {
    match reason.filter(|reason| !reason.trim().is_empty()) {
        Some(reason) => format!("The user declined this call: {reason}"),
        None => "The user declined this call. Ask what to do instead, or find another way.".to_owned(),
    }
}

pub(super) fn not_asked(why: &str) -> String {
    format!("This call needs the user's permission, and the user did not see it: {why}")
}

pub(super) fn broken(text: &str) -> String {
    let mut start = text.to_owned();
    cut(&mut start, 500);
    format!(
        "Not run: the arguments are not a JSON object. Call it again with valid arguments. Received: {start}"
    )
}

/// Keeps the first so many bytes.
pub(super) fn cut(text: &mut String, limit: usize) {
    if text.len() <= limit {
        return;
    }
    let dropped = text.len() - limit;
    let end = (0..=limit).rev().find(|index| text.is_char_boundary(*index)).unwrap_or_default();
    text.truncate(end);
    text.push_str(&format!("\n[{dropped} bytes more are left out]"));
}

pub(super) fn kind_name(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "reading",
        ToolKind::Change => "changes of files",
        ToolKind::Command => "commands",
        ToolKind::GitWrite => "writes to git",
        ToolKind::Network => "access to the network",
        ToolKind::Editor => "actions in the editor",
        ToolKind::Foreign => "tools of MCP servers",
        ToolKind::Spawn => "starting another agent",
    }
}

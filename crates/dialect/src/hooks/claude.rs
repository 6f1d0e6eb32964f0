//! Claude Code: its events and tools, and the form of answer that Codex, Copilot and Qwen have taken over.

use serde_json::{Map, Value, json};

use super::answer::ToolAnswer;
use super::change::ReplaceRule;
use super::event_kind::EventKind;
use super::tool::{HookTool, ReplaceTool};

pub(super) fn event_kind(name: &str) -> EventKind {
    match name {
        "PreToolUse" => EventKind::BeforeTool,
        "PermissionRequest" => EventKind::Permission,
        "PostToolUse" => EventKind::AfterTool,
        "UserPromptSubmit" => EventKind::Prompt,
        "SessionStart" => EventKind::SessionStart,
        "SessionEnd" => EventKind::SessionEnd,
        "Stop" => EventKind::Stop,
        "Notification" => EventKind::Notification,
        _ => EventKind::Other,
    }
}

pub(super) const EDIT: ReplaceTool = ReplaceTool {
    path: "file_path",
    old: "old_string",
    new: "new_string",
    all: "replace_all",
    rule: ReplaceRule::LineEndGoes,
};

pub(super) fn tool(name: &str) -> HookTool {
    match name {
        "Edit" => HookTool::Replace(EDIT),
        "MultiEdit" => HookTool::ReplaceMany(EDIT),
        "Write" => HookTool::Write { path: "file_path", content: "content" },
        "Bash" | "PowerShell" => HookTool::Shell { command: "command" },
        _ => HookTool::Other,
    }
}

/// The user is not asked about edits.
pub(super) fn is_automatic(mode: &str) -> bool {
    ["acceptEdits", "bypassPermissions", "auto", "dontAsk"].contains(&mode)
}

pub(super) fn encode(kind: EventKind, answer: ToolAnswer<'_>) -> Value {
    match kind {
        EventKind::Permission => permission(answer),
        _ => decision(answer),
    }
}

/// The answer to `PreToolUse`.
pub(super) fn decision(answer: ToolAnswer<'_>) -> Value {
    let mut output = Map::new();
    output.insert("hookEventName".to_owned(), "PreToolUse".into());
    match answer {
        ToolAnswer::Allow { input, context } => {
            output.insert("permissionDecision".to_owned(), "allow".into());
            if let Some(input) = input {
                output.insert("updatedInput".to_owned(), Value::Object(input));
            }
            if let Some(context) = context {
                output.insert("additionalContext".to_owned(), context.into());
            }
        }
        ToolAnswer::Deny { reason } => {
            output.insert("permissionDecision".to_owned(), "deny".into());
            output.insert("permissionDecisionReason".to_owned(), reason.into());
        }
    }
    json!({ "hookSpecificOutput": output })
}

/// The answer to `PermissionRequest`. It carries no context.
pub(super) fn permission(answer: ToolAnswer<'_>) -> Value {
    let decision = match answer {
        ToolAnswer::Allow { input: None, .. } => json!({ "behavior": "allow" }),
        ToolAnswer::Allow { input: Some(input), .. } => json!({ "behavior": "allow", "updatedInput": input }),
        ToolAnswer::Deny { reason } => json!({ "behavior": "deny", "message": reason }),
    };
    json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } })
}

/// A text for the model.
pub(super) fn context(event_name: &str, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": event_name, "additionalContext": text } })
}

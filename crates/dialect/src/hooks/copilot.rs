//! Copilot CLI: two forms. An event named `preToolUse` has camel case members and answers at top level; one named
//! `PreToolUse` is as Claude's, but the tool's input keeps Copilot's own names.

use serde_json::{Map, Value, json};

use super::answer::ToolAnswer;
use super::change::ReplaceRule;
use super::event_kind::EventKind;
use super::git_diff::LastLine;
use super::tool::{HookTool, ReplaceTool};

pub(super) fn is_own_form(input: &Map<String, Value>) -> bool {
    input.contains_key("sessionId") || input.contains_key("toolName") || input.contains_key("hookName")
}

/// The camel case form does not name its event.
pub(super) fn event_kind(input: &Map<String, Value>) -> EventKind {
    let has = |member| input.contains_key(member);
    let is_called = |member: &str, name: &str| {
        input.get(member).and_then(Value::as_str).is_some_and(|value| value.eq_ignore_ascii_case(name))
    };
    if is_called("hookName", "permissionRequest") || has("permissionSuggestions") {
        EventKind::Permission
    } else if is_called("hook_event_name", "notification") {
        EventKind::Notification
    } else if has("toolName") && (has("toolResult") || has("error")) {
        EventKind::AfterTool
    } else if has("toolName") {
        EventKind::BeforeTool
    } else if has("source") || has("initialPrompt") {
        EventKind::SessionStart
    } else if has("prompt") {
        EventKind::Prompt
    } else if has("stopReason") {
        EventKind::Stop
    } else if has("reason") {
        EventKind::SessionEnd
    } else {
        EventKind::Other
    }
}

/// `permissionRequest` shows a diff; its input has other members than the tool's.
pub(super) fn tool(name: &str, input: &Map<String, Value>) -> HookTool {
    let has = |member| input.contains_key(member);
    match name {
        "edit" | "Edit" | "create" | "Create" | "Write" if has("diff") => {
            HookTool::Diff { path: "file_path", diff: "diff", last_line: LastLine::Counted }
        }
        "edit" | "Edit" => HookTool::Replace(ReplaceTool {
            path: "path",
            old: "old_str",
            new: "new_str",
            all: "replace_all",
            rule: ReplaceRule::Exact,
        }),
        "create" | "Create" | "Write" => HookTool::Write { path: "path", content: "file_text" },
        "bash" | "Bash" | "powershell" if has("command") => HookTool::Shell { command: "command" },
        _ => HookTool::Other,
    }
}

pub(super) fn encode(kind: EventKind, answer: ToolAnswer<'_>) -> Value {
    match (kind, answer) {
        (EventKind::Permission, ToolAnswer::Allow { .. }) => json!({ "behavior": "allow" }),
        (EventKind::Permission, ToolAnswer::Deny { reason }) => {
            json!({ "behavior": "deny", "message": reason })
        }
        (_, ToolAnswer::Allow { input, context }) => {
            let mut output = Map::new();
            output.insert("permissionDecision".to_owned(), "allow".into());
            if let Some(input) = input {
                output.insert("modifiedArgs".to_owned(), Value::Object(input));
            }
            if let Some(context) = context {
                output.insert("additionalContext".to_owned(), context.into());
            }
            Value::Object(output)
        }
        (_, ToolAnswer::Deny { reason }) => {
            json!({ "permissionDecision": "deny", "permissionDecisionReason": reason })
        }
    }
}

pub(super) fn context(text: &str) -> Value {
    json!({ "additionalContext": text })
}

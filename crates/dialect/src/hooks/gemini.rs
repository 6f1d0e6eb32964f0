//! Gemini CLI: event names of its own, the decision at top level. Its model hears a context only after the tool.

use serde_json::{Map, Value, json};

use super::answer::ToolAnswer;
use super::change::ReplaceRule;
use super::event_kind::EventKind;
use super::tool::{HookTool, ReplaceTool};

pub(super) fn event_kind(name: &str) -> EventKind {
    match name {
        "BeforeTool" => EventKind::BeforeTool,
        "AfterTool" => EventKind::AfterTool,
        "BeforeAgent" => EventKind::Prompt,
        "AfterAgent" => EventKind::Stop,
        "SessionStart" => EventKind::SessionStart,
        "SessionEnd" => EventKind::SessionEnd,
        "Notification" => EventKind::Notification,
        _ => EventKind::Other,
    }
}

pub(super) fn is_own_event(name: &str) -> bool {
    matches!(name, "BeforeTool" | "AfterTool" | "BeforeAgent" | "AfterAgent" | "BeforeModel" | "AfterModel")
        || name == "BeforeToolSelection"
}

pub(super) fn tool(name: &str) -> HookTool {
    match name {
        "replace" => HookTool::Replace(ReplaceTool {
            path: "file_path",
            old: "old_string",
            new: "new_string",
            all: "allow_multiple",
            rule: ReplaceRule::FinalNewlineStays,
        }),
        "write_file" => HookTool::Write { path: "file_path", content: "content" },
        "run_shell_command" => HookTool::Shell { command: "command" },
        _ => HookTool::Other,
    }
}

pub(super) fn encode(answer: ToolAnswer<'_>) -> Value {
    match answer {
        ToolAnswer::Allow { input: None, .. } => json!({ "decision": "allow" }),
        ToolAnswer::Allow { input: Some(input), .. } => rewritten(input),
        ToolAnswer::Deny { reason } => json!({ "decision": "deny", "reason": reason }),
    }
}

fn rewritten(input: Map<String, Value>) -> Value {
    json!({
        "decision": "allow",
        "hookSpecificOutput": { "hookEventName": "BeforeTool", "tool_input": input },
    })
}

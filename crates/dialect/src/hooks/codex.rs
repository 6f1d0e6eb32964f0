//! Codex: Claude's form with rules of its own. It edits with `apply_patch`, a plain yes is silence (`allow` without a
//! rewritten input is an error), and a reason must not be empty.

use serde_json::Value;

use super::answer::ToolAnswer;
use super::claude;
use super::event_kind::EventKind;
use super::tool::HookTool;

pub(super) fn tool(name: &str) -> HookTool {
    match name {
        "apply_patch" => HookTool::Patch { patch: "command" },
        "Bash" => HookTool::Shell { command: "command" },
        _ => HookTool::Other,
    }
}

pub(super) fn encode(kind: EventKind, answer: ToolAnswer<'_>) -> Option<Value> {
    match (kind, answer) {
        (EventKind::Permission, answer) => Some(claude::permission(answer)),
        (_, ToolAnswer::Allow { input: None, context }) => {
            context.map(|context| claude::context("PreToolUse", context))
        }
        (_, answer) => Some(claude::decision(answer)),
    }
}

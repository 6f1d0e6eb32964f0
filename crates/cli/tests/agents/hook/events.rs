//! Events as the agents send them; the forms are those of the captures of real agents.

use serde_json::{Value, json};

use crate::support::World;

/// What an agent gives to its hook.
pub(super) struct HookInput {
    pub(super) event: Value,
    pub(super) variables: Vec<(&'static str, &'static str)>,
}

impl HookInput {
    /// With this member, as a pointer, set to another value.
    pub(super) fn with(mut self, member: &str, value: Value) -> HookInput {
        self.event[member] = value;
        self
    }
}

pub(super) const SESSION: &str = "3f0c5e1a-5a0b-4a55-9a1e-8a4a4f1f1d10";

pub(super) fn claude(world: &World, event: &str, more: Value) -> HookInput {
    let mut input = json!({
        "session_id": SESSION,
        "transcript_path": world.home().join(".claude/projects/-w/x.jsonl"),
        "cwd": world.workspace(),
        "prompt_id": "8c0b", "permission_mode": "default", "effort": { "level": "medium" },
        "hook_event_name": event,
    });
    merge(&mut input, more);
    HookInput { event: input, variables: vec![("CLAUDECODE", "1"), ("CLAUDE_CODE_ENTRYPOINT", "cli")] }
}

pub(super) fn claude_edit(world: &World, path: &str, old: &str, new: &str) -> HookInput {
    let input = json!({ "file_path": path, "old_string": old, "new_string": new, "replace_all": false });
    claude(world, "PreToolUse", json!({ "tool_name": "Edit", "tool_input": input, "tool_use_id": "toolu_1" }))
}

pub(super) fn claude_write(world: &World, path: &str, content: &str) -> HookInput {
    let input = json!({ "file_path": path, "content": content });
    claude(
        world,
        "PreToolUse",
        json!({ "tool_name": "Write", "tool_input": input, "tool_use_id": "toolu_1" }),
    )
}

/// `event` is `PreToolUse`, `PermissionRequest` or `PostToolUse`.
pub(super) fn codex(world: &World, event: &str, patch: &str) -> HookInput {
    let event = json!({
        "session_id": SESSION, "turn_id": "0199",
        "transcript_path": world.home().join(".codex/sessions/2026/11/16/rollout.jsonl"),
        "cwd": world.workspace(),
        "hook_event_name": event, "model": "gpt-5.5", "permission_mode": "bypassPermissions",
        "tool_name": "apply_patch", "tool_input": { "command": patch }, "tool_use_id": "call_1",
    });
    HookInput { event, variables: vec![] }
}

pub(super) fn copilot(world: &World, more: Value) -> HookInput {
    let mut event = json!({ "sessionId": SESSION, "timestamp": 0, "cwd": world.workspace() });
    merge(&mut event, more);
    HookInput { event, variables: vec![("COPILOT_CLI", "1")] }
}

pub(super) fn copilot_edit(world: &World, path: &str, old: &str, new: &str) -> HookInput {
    let args = json!({ "path": path, "old_str": old, "new_str": new });
    copilot(world, json!({ "toolName": "edit", "toolArgs": args }))
}

/// The question that follows, with the diff of the first seven lines.
pub(super) fn copilot_permission(world: &World, path: &str, diff: &str) -> HookInput {
    let name = path.trim_start_matches('/');
    let diff = format!(
        "\ndiff --git a/{name} b/{name}\nindex 0000000..0000000 100644\n--- a/{name}\n+++ b/{name}\n{diff}"
    );
    let input = json!({ "file_path": path, "diff": diff });
    copilot(
        world,
        json!({
            "hookName": "permissionRequest", "toolName": "edit", "toolInput": input,
            "permissionSuggestions": [],
        }),
    )
}

pub(super) fn gemini(world: &World, event: &str, more: Value) -> HookInput {
    let mut input = json!({
        "session_id": SESSION,
        "transcript_path": world.home().join(".gemini/tmp/proj/chats/x.jsonl"),
        "cwd": world.workspace(), "hook_event_name": event, "timestamp": "2026-11-16T12:00:00Z",
    });
    merge(&mut input, more);
    HookInput { event: input, variables: vec![("GEMINI_SESSION_ID", SESSION), ("GEMINI_PROJECT_DIR", "/w")] }
}

pub(super) fn gemini_edit(world: &World, event: &str, path: &str, old: &str, new: &str) -> HookInput {
    let input = json!({ "file_path": path, "instruction": "x", "old_string": old, "new_string": new });
    gemini(world, event, json!({ "tool_name": "replace", "tool_input": input }))
}

pub(super) fn qwen(world: &World, event: &str, mode: &str, more: Value) -> HookInput {
    let mut input = json!({
        "session_id": SESSION,
        "transcript_path": world.home().join(".qwen/projects/-w/chats/x.jsonl"),
        "cwd": world.workspace(), "hook_event_name": event, "timestamp": "2026-11-16T12:00:00Z",
        "permission_mode": mode, "prompt_id": "x########0",
    });
    merge(&mut input, more);
    let variables =
        vec![("QWEN_PROJECT_DIR", "/w"), ("GEMINI_PROJECT_DIR", "/w"), ("QWEN_CODE_SESSION_ID", SESSION)];
    HookInput { event: input, variables }
}

pub(super) fn qwen_edit(
    world: &World,
    event: &str,
    mode: &str,
    path: &str,
    old: &str,
    new: &str,
) -> HookInput {
    let input = json!({ "file_path": path, "old_string": old, "new_string": new });
    qwen(world, event, mode, json!({ "tool_name": "edit", "tool_input": input }))
}

fn merge(event: &mut Value, more: Value) {
    let (Some(event), Value::Object(more)) = (event.as_object_mut(), more) else { return };
    event.extend(more);
}

//! Qwen Code: Claude's form, asked in `PermissionRequest`. `PreToolUse` comes after the user was asked and can only
//! refuse. Its model hears a context only after the tool.

use super::claude;
use super::tool::HookTool;

pub(super) fn tool(name: &str) -> HookTool {
    match name {
        "edit" => HookTool::Replace(claude::EDIT),
        "write_file" => HookTool::Write { path: "file_path", content: "content" },
        "run_shell_command" => HookTool::Shell { command: "command" },
        _ => HookTool::Other,
    }
}

/// Qwen spells the same mode in two ways.
pub(super) fn is_automatic(mode: &str) -> bool {
    ["auto_edit", "auto-edit", "autoEdit", "auto", "yolo"].contains(&mode)
}

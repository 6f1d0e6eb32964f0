//! Whether Codex runs our hooks: it asks the user about each one, and notes the answer in its configuration by the
//! place of the hook in its file. Pure. Codex also compares a digest of the hook, which only Codex can compute.

use super::json_value::quoted;

/// The place of a hook: its event, its element in the event's list, and its place in that group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HookKey {
    pub(super) event: String,
    pub(super) element: usize,
    pub(super) position: usize,
}

/// Whether the user was never asked about one of the hooks in a file.
pub(super) fn is_unknown(config: &str, file: &str, keys: &[HookKey]) -> bool {
    let is_known = |key: &HookKey| {
        let HookKey { event, element, position } = key;
        let name = quoted(&format!("{file}:{}:{element}:{position}", snake_case(event)));
        config.lines().any(|line| line.trim() == format!("[hooks.state.{name}]"))
    };
    !keys.iter().all(is_known)
}

fn snake_case(event: &str) -> String {
    let mut name = String::new();
    for (index, character) in event.char_indices() {
        if character.is_ascii_uppercase() && index > 0 {
            name.push('_');
        }
        name.push(character.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Codex 0.166.0 wrote it.
    const CONFIG: &str = "model = \"x\"\n\n[hooks.state]\n\n\
        [hooks.state.\"/h/.codex/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:e53c\"\n\n\
        [hooks.state.\"/h/.codex/hooks.json:stop:1:0\"]\ntrusted_hash = \"sha256:0473\"\n";

    #[test]
    fn a_hook_at_another_place_is_not_known() {
        let key = |event: &str, element| HookKey { event: event.into(), element, position: 0 };
        let file = "/h/.codex/hooks.json";
        assert!(!is_unknown(CONFIG, file, &[key("PreToolUse", 0), key("Stop", 1)]));
        assert!(is_unknown(CONFIG, file, &[key("PreToolUse", 1)]));
        assert!(is_unknown(CONFIG, file, &[key("PreToolUse", 0), key("PostToolUse", 0)]));
        assert!(is_unknown(CONFIG, "/other/hooks.json", &[key("PreToolUse", 0)]));
        assert!(is_unknown("", file, &[key("PreToolUse", 0)]));
    }
}

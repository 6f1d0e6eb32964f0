//! The plugin file of opencode: rendered with our own path and options, and recognised. Pure.

use super::agent_row::HookRequest;
use super::hook_command::HookCommand;

const SOURCE: &str = include_str!("../../../../../../../editors/opencode/linkspan.js");
const COMMAND: &str = "const COMMAND = ";
const CONTEXT: &str = "const CONTEXT = ";
const COMMANDS: &str = "const COMMANDS = ";

/// The file for a request.
pub(super) fn rendered(request: &HookRequest) -> String {
    let mut text = String::new();
    for line in SOURCE.split_inclusive('\n') {
        if line.starts_with(COMMAND) {
            let words = serde_json::Value::from(request.command.words());
            text += &format!("{COMMAND}{words}\n");
        } else if line.starts_with(CONTEXT) {
            text += &format!("{CONTEXT}{}\n", request.context);
        } else if line.starts_with(COMMANDS) {
            text += &format!("{COMMANDS}{}\n", request.command.options.commands);
        } else {
            text += line;
        }
    }
    text
}

/// What a plugin file was made for, if it is one of ours, of any version.
pub(super) fn read(text: &str, own: &str) -> Option<HookRequest> {
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let words: Vec<String> = serde_json::from_str(value(COMMAND)?).ok()?;
    let line = words.iter().map(|word| super::hook_command::quote(word)).collect::<Vec<_>>().join(" ");
    let command = HookCommand::read(&line, own)?;
    Some(HookRequest { command, context: value(CONTEXT)? == "true" })
}

#[cfg(test)]
mod tests {
    use super::super::super::HookOptions;
    use super::*;

    #[test]
    fn a_plugin_is_recognised_after_it_was_written() {
        for context in [true, false] {
            let options = HookOptions { commands: true, ..HookOptions::default() };
            let command = HookCommand::new("/my folder/\"x\"/linkspan", options);
            let request = HookRequest { command, context };
            let text = rendered(&request);
            assert_eq!(read(&text, ""), Some(request));
            assert!(text.contains("const COMMANDS = true\n"), "{text}");
            assert_eq!(text.lines().count(), SOURCE.lines().count());
        }
    }

    #[test]
    fn plugins_of_others_are_not_ours() {
        assert_eq!(read("export const Other = async () => ({})\n", ""), None);
        assert_eq!(read("const COMMAND = [\"rm\"]\nconst CONTEXT = true\n", ""), None);
    }
}

//! The well-known names of agents that start `linkspan mcp`: some send a technical name that users do not know.

/// The start of such names as the agents send them, and the well-known names.
const KNOWN: [(&str, &str); 6] = [
    ("claude-code", "Claude Code"),
    ("codex-mcp-client", "Codex"),
    ("copilot-cli", "Copilot CLI"),
    // These may be followed by the name that the user gave to the server.
    ("gemini-cli-mcp-client", "Gemini CLI"),
    ("opencode", "opencode"),
    ("qwen-cli-mcp-client", "Qwen Code"),
];

/// The name to show for an agent that sends this name and title.
pub(super) fn agent_name<'a>(name: &'a str, title: Option<&'a str>) -> &'a str {
    let matches =
        |known: &str| name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    let known = KNOWN.iter().find(|(known, _)| matches(known)).map(|(_, known_as)| *known_as);
    let title = title.filter(|title| !title.trim().is_empty());
    known.or(title).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_shown_with_its_well_known_name() {
        for (name, title, called) in [
            ("gemini-cli-mcp-client", None, "Gemini CLI"),
            ("gemini-cli-mcp-client-linkspan", None, "Gemini CLI"),
            ("qwen-cli-mcp-client-linkspan", None, "Qwen Code"),
            ("codex-mcp-client", Some("Codex"), "Codex"),
            ("claude-code", Some("Claude Code"), "Claude Code"),
            ("my-agent", Some("My Agent"), "My Agent"),
            ("my-agent", Some(" "), "my-agent"),
            ("opencoder", None, "opencoder"),
            ("", None, ""),
        ] {
            assert_eq!(agent_name(name, title), called);
        }
    }
}

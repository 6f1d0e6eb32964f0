//! What people call the agents that start `linkspan mcp`: some introduce themselves by a name that nobody knows.

/// The beginnings of such names, as the agents sent them, and what people know the agents as.
const KNOWN: [(&str, &str); 6] = [
    ("claude-code", "Claude Code"),
    ("codex-mcp-client", "Codex"),
    ("copilot-cli", "Copilot CLI"),
    // Behind these may stand the name that the user gave to the server.
    ("gemini-cli-mcp-client", "Gemini CLI"),
    ("opencode", "opencode"),
    ("qwen-cli-mcp-client", "Qwen Code"),
];

/// The name for people of an agent that says this of itself; a title is made for people already.
pub(super) fn agent_name<'a>(name: &'a str, title: Option<&'a str>) -> &'a str {
    let is_it =
        |known: &str| name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    let known = KNOWN.iter().find(|(known, _)| is_it(known)).map(|(_, people_say)| *people_say);
    let title = title.filter(|title| !title.trim().is_empty());
    known.or(title).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_called_what_people_call_it() {
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

//! `agents.toml`: the agents that the hub can start, over those that are built in. Knows no processes and no paths.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::core::contract::{EngineAddress, HostedAgent};

/// One agent of the file. What it leaves out is that of the built-in agent of the same name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct AgentEntry {
    name: Option<String>,
    command: Option<String>,
    args: Option<Vec<String>>,
    /// Variables that are passed on.
    env: Option<Vec<String>>,
    mode: Option<String>,
    hint: Option<String>,
    /// The address of an engine, in place of a program.
    engine: Option<String>,
    /// The variable that has its token.
    token: Option<String>,
    /// It is not offered.
    off: bool,
}

struct BuiltIn {
    id: &'static str,
    name: &'static str,
    command: &'static [&'static str],
    env: &'static [&'static str],
    mode: Option<&'static str>,
    hint: &'static str,
}

const BUILT_IN: [BuiltIn; 7] = [
    BuiltIn {
        id: "claude",
        name: "Claude Code",
        command: &["claude-agent-acp"],
        env: &["ANTHROPIC_*", "CLAUDE_*", "AWS_*", "GOOGLE_*", "IS_SANDBOX"],
        mode: None,
        hint: "install it with `npm install -g @agentclientprotocol/claude-agent-acp`; log in with `claude`",
    },
    BuiltIn {
        id: "gemini",
        name: "Gemini CLI",
        command: &["gemini", "--acp"],
        env: &["GEMINI_*", "GOOGLE_*"],
        mode: None,
        hint: "install it with `npm install -g @google/gemini-cli`; log in by running `gemini` once",
    },
    BuiltIn {
        id: "qwen",
        name: "Qwen Code",
        command: &["qwen", "--acp", "--approval-mode", "default"],
        env: &["QWEN_*", "OPENAI_*", "DASHSCOPE_*"],
        mode: None,
        hint: "install it with `npm install -g @qwen-code/qwen-code`; log in by running `qwen` once",
    },
    BuiltIn {
        id: "codex",
        name: "Codex",
        command: &["codex-acp"],
        env: &["CODEX_*", "OPENAI_*"],
        // It would edit without asking.
        mode: Some("read-only"),
        hint: "install it with `npm install -g @agentclientprotocol/codex-acp`; log in with `codex login`",
    },
    BuiltIn {
        id: "copilot",
        name: "Copilot CLI",
        command: &["copilot", "--acp"],
        env: &["COPILOT_*", "GH_*", "GITHUB_*"],
        mode: None,
        hint: "install it with `npm install -g @github/copilot`; log in by running `copilot` once",
    },
    BuiltIn {
        id: "opencode",
        name: "opencode",
        command: &["opencode", "acp"],
        env: &["OPENCODE_*", "ANTHROPIC_*", "OPENAI_*"],
        mode: None,
        hint: "install it with `npm install -g opencode-ai`; set `permission.edit` to `ask` in its configuration",
    },
    BuiltIn {
        id: "linkspan",
        name: "Linkspan's agent",
        command: &["linkspan-agent", "acp"],
        env: &["LINKSPAN_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*"],
        mode: None,
        hint: "it comes with Linkspan as the program `linkspan-agent`",
    },
];

/// The agents of this file, and those that are built in. No program has been looked for.
///
/// # Errors
///
/// If the file is not TOML, has unknown keys, or an agent without a command.
pub fn hosted_agents(file: &str) -> Result<Vec<HostedAgent>, String> {
    let mut entries: BTreeMap<String, AgentEntry> =
        toml::from_str(file).map_err(|error| error.to_string())?;
    let mut agents = Vec::new();
    for built_in in &BUILT_IN {
        let entry = entries.remove(built_in.id).unwrap_or_default();
        let strings = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let agent = HostedAgent {
            id: built_in.id.to_owned(),
            name: built_in.name.to_owned(),
            command: strings(built_in.command),
            program: None,
            env: strings(built_in.env),
            mode: built_in.mode.map(str::to_owned),
            hint: Some(built_in.hint.to_owned()),
            engine: None,
        };
        agents.extend(changed(agent, entry)?);
    }
    for (id, entry) in entries {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if id.is_empty() || id.len() > 40 || !id.bytes().all(is_word) {
            return Err(format!("`{id}` cannot be the name of an agent: use letters, digits, `-` and `_`"));
        }
        let (name, command) = (id.clone(), Vec::new());
        let (program, env, mode, hint, engine) = (None, Vec::new(), None, None, None);
        let agent = HostedAgent { id, name, command, program, env, mode, hint, engine };
        agents.extend(changed(agent, entry)?);
    }
    Ok(agents)
}

/// None if it is off.
fn changed(mut agent: HostedAgent, entry: AgentEntry) -> Result<Option<HostedAgent>, String> {
    if entry.off {
        return Ok(None);
    }
    if let Some(command) = entry.command {
        // Arguments belong to a program.
        agent.command = vec![command];
    }
    if let Some(args) = entry.args {
        agent.command.truncate(1);
        agent.command.extend(args);
    }
    if let Some(url) = &entry.engine {
        if !agent.command.is_empty() {
            return Err(format!("agent `{}` has both `engine` and `command`; leave one out", agent.id));
        }
        let port = loopback_port(url).ok_or_else(|| {
            format!("`engine` of agent `{}` must be like http://127.0.0.1:54320, on this machine", agent.id)
        })?;
        agent.engine = Some(EngineAddress { port, token: entry.token.clone() });
        agent.command = vec![format!("engine at http://127.0.0.1:{port}")];
    } else if entry.token.is_some() {
        return Err(format!("agent `{}` has `token`, which belongs to `engine`", agent.id));
    }
    if agent.command.first().is_none_or(String::is_empty) {
        return Err(format!("agent `{}` has no `command`", agent.id));
    }
    agent.name = entry.name.filter(|name| !name.is_empty()).unwrap_or(agent.name);
    agent.env = entry.env.unwrap_or(agent.env);
    agent.mode = entry.mode.or(agent.mode).filter(|mode| !mode.is_empty());
    agent.hint = entry.hint.or(agent.hint);
    Ok(Some(agent))
}

/// Only this machine: what is said there, and the token, are readable on the way.
fn loopback_port(url: &str) -> Option<u16> {
    let address = url.strip_prefix("http://")?;
    let (host, port) = address.strip_suffix('/').unwrap_or(address).rsplit_once(':')?;
    matches!(host, "127.0.0.1" | "localhost").then(|| port.parse().ok())?.filter(|port| *port != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_adds_changes_and_removes_agents() {
        let file = "[mine]\ncommand = \"/opt/mine\"\nargs = [\"--acp\"]\n[gemini]\ncommand = \"gemini-2\"\n\
                    [codex]\nmode = \"\"\n[copilot]\noff = true\n";
        let agents = hosted_agents(file).unwrap();
        let of = |id: &str| agents.iter().find(|agent| agent.id == id);
        assert_eq!(of("mine").unwrap().command, ["/opt/mine", "--acp"]);
        assert_eq!(of("gemini").unwrap().command, ["gemini-2"]);
        assert_eq!(of("qwen").unwrap().command, ["qwen", "--acp", "--approval-mode", "default"]);
        assert_eq!(of("codex").unwrap().mode, None);
        assert!(of("copilot").is_none());
        assert_eq!(hosted_agents("").unwrap().len(), BUILT_IN.len());
        let engine = hosted_agents("[e]\nengine = \"http://localhost:54320\"\ntoken = \"T\"\n").unwrap();
        let known = EngineAddress { port: 54320, token: Some("T".to_owned()) };
        assert_eq!(engine.last().unwrap().engine, Some(known));
    }

    #[test]
    fn a_file_with_an_unknown_key_or_no_command_is_refused() {
        for (file, part) in [
            ("[mine]\ncommand = \"x\"\nshell = true\n", "shell"),
            ("[mine]\n", "command"),
            ("[mine]\nengine = \"http://example.org:54320\"\n", "on this machine"),
            ("[mine]\nengine = \"https://127.0.0.1:54320\"\n", "on this machine"),
            ("[mine]\nengine = \"http://127.0.0.1:54320/x\"\n", "on this machine"),
            ("[mine]\nengine = \"http://127.0.0.1:1\"\ncommand = \"x\"\n", "leave one out"),
            ("[mine]\ncommand = \"x\"\ntoken = \"T\"\n", "belongs to"),
            ("[\"a b\"]\ncommand = \"x\"\n", "name"),
            ("x", "TOML"),
        ] {
            assert!(hosted_agents(file).unwrap_err().contains(part), "{file}");
        }
    }
}

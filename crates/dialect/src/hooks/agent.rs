//! The agents whose hooks are known.

use std::fmt;

/// An agent that can run `linkspan hook`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HookAgent {
    Claude,
    Codex,
    Copilot,
    Gemini,
    Qwen,
    Opencode,
}

impl HookAgent {
    pub const ALL: [HookAgent; 6] = [
        HookAgent::Claude,
        HookAgent::Codex,
        HookAgent::Copilot,
        HookAgent::Gemini,
        HookAgent::Qwen,
        HookAgent::Opencode,
    ];

    /// The name in commands, files and on the hub's socket.
    pub fn id(self) -> &'static str {
        match self {
            HookAgent::Claude => "claude",
            HookAgent::Codex => "codex",
            HookAgent::Copilot => "copilot",
            HookAgent::Gemini => "gemini",
            HookAgent::Qwen => "qwen",
            HookAgent::Opencode => "opencode",
        }
    }

    /// The name that people read.
    pub fn display_name(self) -> &'static str {
        match self {
            HookAgent::Claude => "Claude Code",
            HookAgent::Codex => "Codex",
            HookAgent::Copilot => "Copilot CLI",
            HookAgent::Gemini => "Gemini CLI",
            HookAgent::Qwen => "Qwen Code",
            HookAgent::Opencode => "opencode",
        }
    }

    pub fn from_id(id: &str) -> Option<HookAgent> {
        HookAgent::ALL.into_iter().find(|agent| agent.id() == id)
    }
}

impl fmt::Display for HookAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.display_name())
    }
}

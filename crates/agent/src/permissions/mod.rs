//! Which tool call is asked about in which mode: one table, pure. docs/agents/linkspan-agent.md shows it, and a test
//! compares them.

use serde::{Deserialize, Serialize};

/// How much the agent may do without asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionMode {
    /// Everything, without asking.
    Yolo,
    /// Each change is reviewed; commands and the like are asked about.
    #[default]
    Trusted,
    /// No write outside the workspace, no network for commands; what the sandbox allows is not asked about.
    Sandboxed,
}

/// What a tool does, which decides whether it is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Reads, and changes nothing.
    Read,
    /// Changes one file, after a review.
    Change,
    /// Runs a command.
    Command,
    /// Writes to git.
    GitWrite,
    /// Reads from the network.
    Network,
    /// Acts in the editor: opens, reveals, formats, types into a terminal.
    Editor,
    /// A tool of an MCP server, which may do anything.
    Foreign,
    /// Starts another agent of the pool, with at most the same mode.
    Spawn,
}

/// What to do with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Run it.
    Run,
    /// Ask first.
    Ask,
    /// Run it; the tool itself shows the change and waits for the user's decision.
    Review,
    /// Run it in the sandbox.
    Sandbox,
    /// Do not run it.
    Refuse,
}

impl PermissionMode {
    /// All of them, from the one that asks least.
    pub const ALL: [PermissionMode; 3] =
        [PermissionMode::Yolo, PermissionMode::Trusted, PermissionMode::Sandboxed];

    /// Its name in flags, in the configuration and for `/mode`.
    pub fn name(self) -> &'static str {
        match self {
            PermissionMode::Yolo => "yolo",
            PermissionMode::Trusted => "trusted",
            PermissionMode::Sandboxed => "sandboxed",
        }
    }

    /// The mode of this name.
    pub fn from_name(name: &str) -> Option<PermissionMode> {
        PermissionMode::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// The mode of a helper that was asked for with `wanted`: never one that allows what this one does not. A sandbox
    /// is not left, and trusted does not become yolo.
    pub fn at_most(self, wanted: PermissionMode) -> PermissionMode {
        match (self, wanted) {
            (PermissionMode::Yolo, wanted) => wanted,
            // Sandboxed writes in the workspace without a review, which trusted does not allow.
            (parent, _) => parent,
        }
    }
}

impl ToolKind {
    /// All of them, in the order of the table.
    pub const ALL: [ToolKind; 8] = [
        ToolKind::Read,
        ToolKind::Editor,
        ToolKind::Change,
        ToolKind::Command,
        ToolKind::GitWrite,
        ToolKind::Network,
        ToolKind::Foreign,
        ToolKind::Spawn,
    ];
}

/// What to do with a call of a tool of this kind in this mode. The one table of permissions.
pub fn verdict(mode: PermissionMode, kind: ToolKind) -> Verdict {
    use PermissionMode::{Sandboxed, Trusted, Yolo};
    use ToolKind::{Change, Command, Editor, Foreign, GitWrite, Network, Read, Spawn};
    match (kind, mode) {
        (Read | Editor | Spawn, _) | (_, Yolo) => Verdict::Run,
        (Change, Trusted) => Verdict::Review,
        (Change | Command, Sandboxed) => Verdict::Sandbox,
        // In the sandbox, too: hooks of a repository, a server's tools and requests of our own process are outside it.
        (Command, Trusted) | (GitWrite | Network | Foreign, Trusted | Sandboxed) => Verdict::Ask,
    }
}

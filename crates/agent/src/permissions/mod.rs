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

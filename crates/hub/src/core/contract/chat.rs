//! Agents that the hub starts, and what the journal keeps of conversations with them.

use std::path::PathBuf;

/// An entry of `agents.toml`, or one that is built in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedAgent {
    pub id: String,
    /// For people.
    pub name: String,
    /// The program as it is named, with its arguments.
    pub command: Vec<String>,
    /// Where the program is; none if it is not installed.
    pub program: Option<PathBuf>,
    /// Names of the variables that it receives besides those that every program does; `*` at the end stands for more.
    pub env: Vec<String>,
    /// The mode in which it asks before it edits, if it does not start in it.
    pub mode: Option<String>,
    /// How to install it or log in to it.
    pub hint: Option<String>,
}

/// A process to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildCommand {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub env: Vec<String>,
    pub cwd: PathBuf,
}

/// What changed of a conversation, as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatRecord {
    pub chat: u64,
    pub head: String,
    /// By their place in the list.
    pub items: Vec<(u32, String)>,
}

/// A conversation that a starting hub finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedChat {
    pub chat: u64,
    pub head: String,
    pub items: Vec<String>,
}

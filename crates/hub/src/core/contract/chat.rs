//! Agents that the hub starts, and what the journal keeps of conversations with them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use linkspan_editor_api::ChatItem;

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
    /// It is not a program but a server.
    pub engine: Option<EngineAddress>,
}

impl HostedAgent {
    /// An engine may be running; a program must be installed.
    pub(crate) fn is_available(&self) -> bool {
        self.engine.is_some() || self.program.is_some()
    }
}

/// An engine on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineAddress {
    pub port: u16,
    /// The name of the variable that has its token.
    pub token: Option<String>,
}

/// What runs the agent of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatPeer {
    Process(ChildCommand),
    Engine(EngineAddress),
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
    /// Its agent runs, or is about to.
    pub is_live: bool,
    pub head: String,
    /// By their place in the list.
    pub items: Vec<(u32, String)>,
}

/// A conversation that a starting hub finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedChat {
    pub chat: u64,
    pub head: String,
    /// One more than the place of its last item.
    pub items: u32,
    /// Of all its items, roughly.
    pub bytes: usize,
}

/// Items of a conversation that were read from the journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatItemsRead {
    /// Nothing is known of those before this place.
    pub first: u32,
    /// By their place; none if another version of the hub recorded it.
    pub items: BTreeMap<u32, Option<ChatItem>>,
}

//! What an agent asks for: a new content for one file.

use std::path::PathBuf;

use crate::{AgentId, SetId, Text, WindowId};

/// Who writes the file after an accept. The dialect or the agent says which; it is never both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    Agent,
    Editor,
    /// Two given texts are compared under the file's name, whatever the file holds.
    Nobody,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub agent: AgentId,
    /// What survives a reconnect, such as `claude:claude-code`.
    pub key: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    pub owner: Owner,
    pub window: WindowId,
    pub set: Option<SetId>,
    pub path: PathBuf,
    pub label: String,
    pub writer: Writer,
    /// What the file or its live buffer holds now; `None` where there is no file. With [`Writer::Nobody`], the
    /// given text before.
    pub base: Option<Text>,
    /// The whole new text, as the agent sent it.
    pub proposed: String,
}

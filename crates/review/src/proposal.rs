//! What an agent asks for: a new content for one file.

use std::path::PathBuf;

use crate::{AgentId, SetId, Text, WindowId};

/// Who writes the file after an accept. The dialect or the agent says which; it is never both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    Agent,
    /// The agent, but only what it proposed, byte for byte: after a yes it runs its own tool, which knows nothing of
    /// what the user changed. Any other accepted text is for the hub to write (`Review::written_here`).
    AgentAsProposed,
    Editor,
    /// Two given texts are compared under the file's name, whatever the file holds.
    Nobody,
}

impl Writer {
    /// An accept is written by the agent, unless the hub has to do it in its place.
    pub fn is_agent(self) -> bool {
        matches!(self, Writer::Agent | Writer::AgentAsProposed)
    }
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

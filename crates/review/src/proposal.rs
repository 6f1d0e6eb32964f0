//! A proposal of an agent: new content for one file.

use std::path::PathBuf;

use crate::{AgentId, Digest, SetId, SharedText, Text, WindowId};

/// Who writes the file after an accept: exactly one. The dialect or the agent determines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    Agent,
    /// The agent, but only its proposal, byte for byte: after an accept it runs its own tool, which does not know the
    /// user's edits. The hub writes any other accepted text (`Review::written_here`).
    AgentAsProposed,
    Hub,
    /// No one: two given texts are compared under the file's name, whatever the file holds.
    Nobody,
    /// The agent wrote the file before it asked. An accept keeps the new content; the hub restores everything that is
    /// not accepted.
    AgentFirst,
}

impl Writer {
    /// The agent writes an accepted text, unless the hub has to do it instead.
    pub fn is_agent(self) -> bool {
        matches!(self, Writer::Agent | Writer::AgentAsProposed)
    }
}

/// The agent that proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub agent: AgentId,
    /// Identifies the agent across reconnects, such as `claude:claude-code`.
    pub key: String,
}

impl Proposal {
    /// The current content of the file.
    pub fn held(&self) -> Option<Text> {
        held(self.writer, self.base.as_ref(), || self.proposed.as_str().into())
    }
}

/// The current content of a file, given the text that was read and the proposed one.
pub(crate) fn held(
    writer: Writer,
    base: Option<&Text>,
    proposed: impl FnOnce() -> SharedText,
) -> Option<Text> {
    match (writer, base) {
        (Writer::AgentFirst, Some(base)) => Some(Text { format: base.format, text: proposed() }),
        _ => base.cloned(),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    pub owner: Owner,
    pub window: WindowId,
    pub set: Option<SetId>,
    pub path: PathBuf,
    pub label: String,
    pub writer: Writer,
    /// The content of the file or its open buffer; `None` if there is no file. With [`Writer::Nobody`], the given base
    /// text; with [`Writer::AgentFirst`], the text before the agent wrote.
    pub base: Option<Text>,
    /// Shown on the left instead of the file's content: the text of another file.
    pub left: Option<SharedText>,
    /// The complete new text, as the agent sent it, or the result of its edits.
    pub proposed: String,
    /// Identifies the request if that is not the complete new text: the edits as the agent sent them. Their result
    /// differs once the file has changed, and the request is still the same.
    pub asked: Option<Digest>,
}

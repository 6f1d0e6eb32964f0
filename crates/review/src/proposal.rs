//! What an agent asks for: a new content for one file.

use std::path::PathBuf;

use crate::{AgentId, Digest, SetId, SharedText, Text, WindowId};

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
    /// The agent wrote the file before it asked. Accepting keeps what it wrote; we put back what is not kept.
    AgentFirst,
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

impl Proposal {
    /// What the file holds now.
    pub fn held(&self) -> Option<Text> {
        held(self.writer, self.base.as_ref(), || self.proposed.as_str().into())
    }
}

/// What a file holds of which this was read and that is proposed.
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
    /// What the file or its live buffer holds now; `None` where there is no file. With [`Writer::Nobody`], the
    /// given text before; with [`Writer::AgentFirst`], the text before the agent wrote.
    pub base: Option<Text>,
    /// Shown on the left in place of what the file holds: the text of another file.
    pub left: Option<SharedText>,
    /// The whole new text, as the agent sent it, or as its edits give it.
    pub proposed: String,
    /// What identifies the question, where it is not the whole new text: the edits as the agent sent them. They
    /// give another text once the file has moved, and are the same question.
    pub asked: Option<Digest>,
}

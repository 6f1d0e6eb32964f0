//! One agent of the pool: its conversation, and what is going on for it outside.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use linkspan_client::confirm::Cancellation;
use tokio::task::AbortHandle;

use super::contract::{AgentId, AgentSummary};
use crate::conversation::AgentConversation;
use crate::models::Model;
use crate::session::Session;
use crate::tools::Toolbox;

/// One agent.
pub(super) struct Agent {
    pub(super) id: AgentId,
    pub(super) name: String,
    pub(super) cwd: PathBuf,
    pub(super) conversation: AgentConversation,
    pub(super) model: Model,
    pub(super) session: Session,
    /// What its model may call.
    pub(super) toolbox: Arc<dyn Toolbox>,
    /// The session file could not be written; the user was told.
    pub(super) unsaved: bool,
    /// The request that runs.
    pub(super) request: Option<AbortHandle>,
    /// The next tick.
    pub(super) tick: Option<AbortHandle>,
    /// What ends each running call.
    pub(super) running: HashMap<String, Arc<Cancellation>>,
    /// Prompts whose mentions are read, the first of them now.
    pub(super) prompts: VecDeque<String>,
    /// The first of them was cancelled meanwhile.
    pub(super) cancels_prompt: bool,
    /// Formatted files that the editor mentioned; they go with the next prompt.
    pub(super) mentioned: Vec<String>,
    /// Whether its model gets tools.
    pub(super) has_tools: bool,
    /// Whether the editor's state goes into its prompt.
    pub(super) inject_context: bool,
    /// What of the editor went into the last prompt.
    pub(super) injected: Option<String>,
    /// Helpers are not remembered with the pool.
    pub(super) is_helper: bool,
}

impl Agent {
    /// As lists show it, with so many changes that wait in the frontend.
    pub(super) fn status(&self, changes: usize) -> AgentSummary {
        AgentSummary {
            agent: self.id,
            name: self.name.clone(),
            cwd: self.cwd.clone(),
            mode: self.conversation.mode(),
            model: self.model.name.clone(),
            busy: self.conversation.is_busy() || !self.prompts.is_empty(),
            waiting: self.conversation.open_questions() + changes,
            messages: self.conversation.messages().len(),
            usage: self.conversation.usage(),
            context_percent: self.conversation.context_percent(),
            session: self.session.name().to_owned(),
        }
    }
}

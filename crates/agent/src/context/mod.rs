//! What the model is told before the conversation: the system prompt, and what `@file` mentions mean. The texts are made
//! by pure functions (`prompt`, `mention`); this file and `instructions` gather what they need, and may block.

mod instructions;
mod mention;
mod prompt;

use std::path::PathBuf;
use std::sync::Arc;

use linkspan_client::Bridge;
use linkspan_editor_api::DenyGlobs;

use crate::permissions::PermissionMode;

pub use mention::{expand_mentions, format_mention};
pub use prompt::{PromptParts, system_prompt};

/// Where the system prompt comes from.
#[derive(Clone)]
pub struct ContextSources {
    /// The agent's name.
    pub agent: String,
    /// The agent's folder.
    pub cwd: PathBuf,
    /// Its mode.
    pub mode: PermissionMode,
    /// The editor.
    pub bridge: Arc<Bridge>,
    /// Files that are kept from agents.
    pub deny: DenyGlobs,
    /// Folders of Linkspan, which no agent reads.
    pub own: Vec<PathBuf>,
    /// What is added at the end, such as the configuration's own text.
    pub rest: String,
}

impl std::fmt::Debug for ContextSources {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ContextSources").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

/// The system prompt as it is now. Blocks, at most for some seconds: asks git and the editor.
pub fn gather(sources: &ContextSources) -> String {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    system_prompt(&PromptParts {
        agent: &sources.agent,
        cwd: &sources.cwd,
        mode: sources.mode,
        instructions: &instructions::find(&sources.cwd, home.as_deref()),
        now: std::time::SystemTime::now(),
        git: instructions::git(sources).as_deref(),
        editor: editor(sources).as_deref(),
        rest: &sources.rest,
    })
}

/// The part about the editor alone, which frontends show when it changes. `None` without an editor.
pub fn editor(sources: &ContextSources) -> Option<String> {
    let config = sources.bridge.config();
    config.enabled.then(|| sources.bridge.context(&sources.deny)).flatten()
}

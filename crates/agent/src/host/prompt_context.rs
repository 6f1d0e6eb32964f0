//! Where the host gets the system prompt and the files that a prompt mentions.

use std::path::PathBuf;
use std::sync::Arc;

use linkspan_client::Bridge;

use crate::permissions::PermissionMode;

/// Whose prompt it is. Cheap to clone.
#[derive(Debug, Clone)]
pub struct AboutAgent {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub cwd: PathBuf,
    /// Its mode.
    pub mode: PermissionMode,
    /// The one bridge of the process.
    pub bridge: Arc<Bridge>,
    /// Whether the editor's state goes in.
    pub inject_context: bool,
}

/// A system prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemPrompt {
    /// The whole prompt.
    pub text: String,
    /// The part that describes the editor, if there is one.
    pub editor: Option<String>,
}

/// Reads files, git and the editor for prompts. Blocks, but not for long.
pub trait PromptContext: Send + Sync {
    /// The system prompt as it is now.
    fn system(&self, about: &AboutAgent) -> SystemPrompt;

    /// What `@file` mentions in a prompt add to it, formatted for the model.
    fn attachments(&self, prompt: &str, about: &AboutAgent) -> Vec<String>;
}

/// Only who the agent is and where it works.
#[derive(Debug, Clone, Copy, Default)]
pub struct BasePrompt;

impl PromptContext for BasePrompt {
    fn system(&self, about: &AboutAgent) -> SystemPrompt {
        let text = format!(
            "You are a coding agent in a terminal. Your folder is {}. The permission mode is {}.",
            about.cwd.display(),
            about.mode.name()
        );
        SystemPrompt { text, editor: None }
    }

    fn attachments(&self, _: &str, _: &AboutAgent) -> Vec<String> {
        Vec::new()
    }
}

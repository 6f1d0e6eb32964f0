//! What the model is told before the conversation: the system prompt, and what `@file` mentions mean. The texts are made
//! by pure functions (`prompt`, `mention`); this file and `instructions` gather what they need, and may block.

mod instructions;
mod mention;
mod prompt;

use std::path::{Path, PathBuf};

use linkspan_editor_api::DenyGlobs;

use crate::host::{AboutAgent, PromptContext, SystemPrompt};

pub use instructions::Instructions;
pub use mention::{expand_mentions, mention_of};
pub use prompt::{PromptParts, system_prompt};

/// What agents are told about their project and the editor.
#[derive(Debug, Clone, Default)]
pub struct ProjectContext {
    /// Files that are kept from agents.
    pub deny: DenyGlobs,
    /// Folders of Linkspan, which no agent reads.
    pub own: Vec<PathBuf>,
    /// The end of each system prompt, such as the user's own text from the configuration.
    pub rest: String,
}

impl PromptContext for ProjectContext {
    /// Asks git and the editor, which may take some seconds.
    fn system(&self, about: &AboutAgent) -> SystemPrompt {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let is_told = about.inject_context && about.bridge.config().enabled;
        let editor = is_told.then(|| about.bridge.context(&self.deny)).flatten();
        let text = system_prompt(&PromptParts {
            agent: &about.name,
            cwd: &about.cwd,
            mode: about.mode,
            instructions: &instructions::find(&about.cwd, home.as_deref()),
            now: std::time::SystemTime::now(),
            git: self.git(&about.cwd).as_deref(),
            editor: editor.as_deref(),
            rest: &self.rest,
        });
        SystemPrompt { text, editor }
    }

    fn attachments(&self, prompt: &str, about: &AboutAgent) -> Vec<String> {
        expand_mentions(prompt, &about.cwd, &self.deny, &self.own).1
    }
}

impl ProjectContext {
    fn git(&self, cwd: &Path) -> Option<String> {
        instructions::git(cwd, &self.deny, &self.own)
    }
}

#[cfg(test)]
mod tests {
    use crate::permissions::PermissionMode;
    use crate::tools::testing::ToolScene;

    use super::*;

    #[test]
    fn a_prompt_has_the_project_and_its_mentions() {
        let scene = ToolScene::new(PermissionMode::Trusted);
        scene.write("AGENTS.md", "Use tabs.");
        scene.write("a.txt", "one\n");
        let about = AboutAgent {
            name: "main".into(),
            cwd: scene.folder.path().to_owned(),
            mode: PermissionMode::Trusted,
            bridge: scene.context.bridge.clone(),
            inject_context: true,
        };
        let context = ProjectContext { rest: "Speak German.".into(), ..ProjectContext::default() };
        let SystemPrompt { text, editor } = context.system(&about);
        assert!(
            text.contains("Use tabs.") && text.ends_with("Speak German.\n") && editor.is_none(),
            "{text}"
        );
        assert_eq!(context.attachments("see @a.txt", &about), ["<file path=\"a.txt\">\none\n</file>"]);
    }
}

//! What the model is told before the conversation: the system prompt, and what `@file` mentions mean. The texts are made
//! by pure functions (`prompt`, `mention`); this file and `instructions` gather what they need, and may block.

mod instructions;
mod mention;
mod prompt;

use std::path::{Path, PathBuf};

use linkspan_editor_api::DenyGlobs;

use crate::host::{AboutAgent, PromptContext, SystemPrompt};
use crate::tools::OwnFiles;

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
        let own = OwnFiles::new(self.own.iter().cloned());
        let folders = [about.cwd.canonicalize().unwrap_or_else(|_| about.cwd.clone())];
        let may_read = |real: &Path| !own.has(real) && !self.deny.denies(&folders, real);
        let text = system_prompt(&PromptParts {
            agent: &about.name,
            cwd: &about.cwd,
            mode: about.mode,
            instructions: &instructions::find(&about.cwd, home.as_deref(), may_read),
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

    #[test]
    fn instructions_that_lead_to_a_file_that_is_kept_from_agents_are_not_read() {
        let scene = ToolScene::new(PermissionMode::Trusted);
        scene.write("work/.git/x", "");
        scene.write("own/token", "SECRET-OWN");
        scene.write(".env", "SECRET-DENIED");
        let context = ProjectContext {
            deny: DenyGlobs::new(&["**/.env".to_owned()]).unwrap(),
            own: vec![scene.path("own")],
            rest: String::new(),
        };
        let about = AboutAgent {
            name: "main".into(),
            cwd: scene.path("work"),
            mode: PermissionMode::Trusted,
            bridge: scene.context.bridge.clone(),
            inject_context: false,
        };
        let link = scene.path("work/AGENTS.md");
        for kept in ["own/token", ".env"] {
            std::os::unix::fs::symlink(scene.path(kept), &link).unwrap();
            let prompt = context.system(&about).text;
            assert!(!prompt.contains("SECRET"), "{kept}: {prompt}");
            std::fs::remove_file(&link).unwrap();
        }
        scene.write("work/RULES.md", "be kind");
        std::os::unix::fs::symlink("RULES.md", &link).unwrap();
        assert!(context.system(&about).text.contains("be kind"));
    }
}

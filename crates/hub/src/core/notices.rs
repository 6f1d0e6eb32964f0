//! Words to the person outside of a review, where her editor can show them: each once.

use std::path::Path;

use linkspan_dialect::Failure;
use linkspan_editor_api as api;
use linkspan_review::AgentId;

use super::Core;
use super::editor::Resume;

/// As many files as anyone reads of; after that it is said again.
const FILES_KNOWN: usize = 256;

/// What fits in a status bar or a notification.
const LONGEST_MESSAGE: usize = 500;

impl Core {
    /// An agent's own words.
    pub(super) fn tell_person(&mut self, agent: AgentId, text: &str, level: api::MessageLevel) {
        let Some(agent) = self.agents.get(&agent) else { return };
        let Some(window) = self.windows.get(&agent.window) else { return };
        let Some(local) = window.local.filter(|_| window.capabilities.messages) else { return };
        let text: String = text.chars().take(LONGEST_MESSAGE).collect();
        let text = format!("{}: {}", api::visible::name(&agent.name), api::visible::name(&text));
        self.ask(local, &api::StatusMessage { text, level }, Resume::Ignore);
    }

    /// Nobody reviews a file of this size, and she would wait for a change that never comes.
    pub(super) fn tell_too_large(&mut self, agent: AgentId, path: &Path, failure: &Failure) {
        let Some(agent) = self.agents.get(&agent) else { return };
        let Some(window) = self.windows.get_mut(&agent.window) else { return };
        let Some(local) = window.local.filter(|_| window.capabilities.messages) else { return };
        if window.too_large.len() >= FILES_KNOWN {
            window.too_large.clear();
        }
        if !window.too_large.insert(path.to_owned()) {
            return;
        }
        let name = api::visible::name(&agent.name);
        let text = format!("{name} could not propose a change: {}", api::visible::name(&failure.message));
        self.ask(local, &api::StatusMessage { text, level: api::MessageLevel::Warning }, Resume::Ignore);
    }
}

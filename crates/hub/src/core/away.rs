//! An editor that is away for a moment may hold unsaved text that nobody else knows. What hangs on it waits until it is
//! back, or its window is closed.

use std::path::Path;

use linkspan_review::WindowId;

use super::Core;
use super::base::BaseWanted;

impl Core {
    /// It has documents, and its time to come back is not over.
    pub(super) fn editor_is_away(&self, window: WindowId) -> bool {
        let window = self.windows.get(&window);
        window.is_some_and(|window| window.capabilities.documents && window.local.is_none())
    }

    /// An accepted change may be in its buffer already, or belongs there; and whether an agent asks again what was
    /// decided is told by what the file holds. A new question can do with the disk: it is asked again before a
    /// decision counts.
    pub(super) fn depends_on_editor(&self, wanted: &BaseWanted, path: &Path) -> bool {
        let asker = match wanted {
            BaseWanted::Write { review, .. } => {
                return self.state.review(*review).is_some_and(|review| self.editor_is_away(review.window));
            }
            BaseWanted::Proposal { tool, .. } => tool.agent,
            BaseWanted::Edit { agent, .. } => *agent,
            _ => return false,
        };
        let Some(agent) = self.agents.get(&asker) else { return false };
        let (window, key) = (agent.window, agent.key());
        self.editor_is_away(window)
            && self
                .state
                .reviews_of_path(path)
                .any(|review| review.owner.is_none() && review.window == window && review.owner_key == key)
    }

    /// What waited for an editor that is back, or will not come back, is looked at once more.
    pub(super) fn go_on_reading(&mut self) {
        self.no_longer_late();
        for (wanted, path) in std::mem::take(&mut self.until_back) {
            match self.window_of(&wanted).is_some_and(|window| self.editor_is_away(window)) {
                true => self.until_back.push((wanted, path)),
                false => self.read_base(wanted, path),
            }
        }
    }
}

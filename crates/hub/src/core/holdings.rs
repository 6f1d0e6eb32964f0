//! How much the core holds of each kind, for those who prove that nothing stays behind: what is counted here is zero
//! when everyone has left.

use super::Core;

impl Core {
    /// Each by its name, in no unit but pieces.
    pub fn holdings(&self) -> [(&'static str, usize); 17] {
        [
            ("reviews", self.state.reviews().count()),
            ("ages of reviews", self.ages.len()),
            ("agents", self.agents.keys().count()),
            ("calls of agents", self.agents.values().map(|agent| agent.session.open_calls().count()).sum()),
            ("calls of several changes", self.bundles.len() + self.editing.len()),
            ("questions to the person", self.consent.open().count()),
            ("tools", self.running.len()),
            ("connections", self.locals.len()),
            ("requests to editors", self.locals.values().map(|local| local.open_requests()).sum()),
            ("windows", self.windows.len() + self.preparing.len()),
            ("files being read", self.reading.len() + self.until_back.len()),
            ("files being written", self.writing.len() + self.unfinished_writes.len()),
            ("changes that agents were to write", self.landings.len()),
            ("watchers", self.watchers.len()),
            ("status requests", self.probes.len()),
            ("questions about the past", self.history.held_back()),
            ("timers", self.timers.len()),
        ]
    }
}

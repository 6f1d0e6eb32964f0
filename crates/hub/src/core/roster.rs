//! All agents, found by their id or by their window: what happens in one window must not take longer, the more
//! agents there are in others.

use std::collections::{BTreeMap, BTreeSet};

use linkspan_review::{AgentId, WindowId};

use super::agents::Agent;

/// The window of an agent stays what it was when it came.
#[derive(Debug, Default)]
pub(super) struct Roster {
    agents: BTreeMap<AgentId, Agent>,
    by_window: BTreeMap<WindowId, BTreeSet<AgentId>>,
}

impl Roster {
    pub(super) fn get(&self, id: &AgentId) -> Option<&Agent> {
        self.agents.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &AgentId) -> Option<&mut Agent> {
        self.agents.get_mut(id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&AgentId, &Agent)> {
        self.agents.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&AgentId, &mut Agent)> {
        self.agents.iter_mut()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &AgentId> {
        self.agents.keys()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Agent> {
        self.agents.values()
    }

    pub(super) fn of_window(&self, window: WindowId) -> impl Iterator<Item = (&AgentId, &Agent)> {
        let there = self.by_window.get(&window).into_iter().flatten();
        there.filter_map(|id| self.agents.get_key_value(id))
    }

    pub(super) fn in_window(&self, window: WindowId) -> Vec<AgentId> {
        self.by_window.get(&window).into_iter().flatten().copied().collect()
    }

    pub(super) fn insert(&mut self, id: AgentId, agent: Agent) {
        // Whoever had the number before may have been elsewhere.
        self.remove(&id);
        self.by_window.entry(agent.window).or_default().insert(id);
        self.agents.insert(id, agent);
    }

    pub(super) fn remove(&mut self, id: &AgentId) -> Option<Agent> {
        let agent = self.agents.remove(id)?;
        if let Some(there) = self.by_window.get_mut(&agent.window) {
            there.remove(id);
            if there.is_empty() {
                self.by_window.remove(&agent.window);
            }
        }
        Some(agent)
    }
}

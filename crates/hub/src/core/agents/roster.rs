//! All agents, found by their id or by their window, and the ids that are given out.

use std::collections::BTreeMap;

use linkspan_review::{AgentId, SetId, WindowId};

use crate::core::agents::expired_while_away::ExpiredWhileAway;
use crate::core::agents::{Agent, Agents, SETS_PER_AGENT};

impl Agents {
    /// `last_set`: the newest set of reviews that an earlier hub gave out.
    pub(in crate::core) fn new(last_set: u64) -> Agents {
        Agents {
            all: BTreeMap::new(),
            by_window: BTreeMap::new(),
            expired: ExpiredWhileAway::default(),
            bundles: BTreeMap::new(),
            patches: BTreeMap::new(),
            unconfirmed_writes: BTreeMap::new(),
            joined: 0,
            next_set: last_set + 1,
        }
    }

    /// An id for an agent on the hub's own socket. The edge gives odd ones to those on the port of a window.
    pub(super) fn next_joined(&mut self) -> AgentId {
        self.joined += 1;
        AgentId(2 * self.joined)
    }

    /// The set of an agent by its own name for it. Names of sets without `open` reviews are forgotten if there are
    /// many.
    pub(in crate::core) fn set_of(
        &mut self,
        id: AgentId,
        name: Option<String>,
        open: impl FnOnce() -> Vec<SetId>,
    ) -> Option<SetId> {
        let name = name?;
        let agent = self.all.get_mut(&id)?;
        if let Some(set) = agent.sets.get(&name) {
            return Some(*set);
        }
        if agent.sets.len() >= SETS_PER_AGENT {
            let open = open();
            agent.sets.retain(|_, set| open.contains(set));
        }
        let set = SetId(self.next_set);
        self.next_set += 1;
        agent.sets.insert(name, set);
        Some(set)
    }

    /// The name that its agent gave a set.
    pub(in crate::core) fn name_of_set(&self, set: SetId) -> Option<&str> {
        let mut names = self.all.values().flat_map(|agent| &agent.sets);
        names.find(|(_, known)| **known == set).map(|(name, _)| name.as_str())
    }

    pub(in crate::core) fn get(&self, id: &AgentId) -> Option<&Agent> {
        self.all.get(id)
    }

    pub(in crate::core) fn get_mut(&mut self, id: &AgentId) -> Option<&mut Agent> {
        self.all.get_mut(id)
    }

    pub(in crate::core) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(in crate::core) fn iter(&self) -> impl Iterator<Item = (&AgentId, &Agent)> {
        self.all.iter()
    }

    pub(in crate::core) fn iter_mut(&mut self) -> impl Iterator<Item = (&AgentId, &mut Agent)> {
        self.all.iter_mut()
    }

    pub(in crate::core) fn keys(&self) -> impl Iterator<Item = &AgentId> {
        self.all.keys()
    }

    pub(in crate::core) fn values(&self) -> impl Iterator<Item = &Agent> {
        self.all.values()
    }

    pub(in crate::core) fn of_window(&self, window: WindowId) -> impl Iterator<Item = (&AgentId, &Agent)> {
        let there = self.by_window.get(&window).into_iter().flatten();
        there.filter_map(|id| self.all.get_key_value(id))
    }

    pub(in crate::core) fn in_window(&self, window: WindowId) -> Vec<AgentId> {
        self.by_window.get(&window).into_iter().flatten().copied().collect()
    }

    pub(in crate::core) fn insert(&mut self, id: AgentId, agent: Agent) {
        // An earlier agent of this id may have been in another window.
        self.remove(&id);
        self.by_window.entry(agent.window).or_default().insert(id);
        self.all.insert(id, agent);
    }

    pub(in crate::core) fn remove(&mut self, id: &AgentId) -> Option<Agent> {
        let agent = self.all.remove(id)?;
        if let Some(there) = self.by_window.get_mut(&agent.window) {
            there.remove(id);
            if there.is_empty() {
                self.by_window.remove(&agent.window);
            }
        }
        Some(agent)
    }
}

//! Status requests that wait for signs of life.

use std::collections::BTreeSet;
use std::path::PathBuf;

use linkspan_editor_api::RequestId;
use linkspan_review::AgentId;

use crate::core::connections::Connections;
use crate::core::contract::{ConnectionId, Ticket};

/// A status that waits for signs of life.
#[derive(Debug)]
pub(in crate::core) struct Probe {
    pub(in crate::core) connection: ConnectionId,
    pub(in crate::core) request: RequestId,
    pub(in crate::core) due_ms: u64,
    pub(in crate::core) editors: BTreeSet<ConnectionId>,
    /// None: only windows were asked about, and no agent is told of.
    pub(in crate::core) agents: Option<BTreeSet<AgentId>>,
    /// The look for discovery files that is under way.
    pub(in crate::core) looking: Option<Ticket>,
    /// Those that are not there.
    pub(in crate::core) missing: Vec<PathBuf>,
}

impl Connections {
    pub(in crate::core) fn status_requests(&self) -> usize {
        self.probes.len()
    }

    pub(in crate::core) fn add_probe(&mut self, probe: Probe) {
        self.probes.push(probe);
    }

    pub(in crate::core) fn discovery_looked_for(&mut self, ticket: Ticket, missing: &[PathBuf]) {
        if let Some(probe) = self.probes.iter_mut().find(|probe| probe.looking == Some(ticket)) {
            probe.looking = None;
            probe.missing = missing.to_vec();
        }
    }

    /// Status requests wait for this editor as well. False if there are none.
    pub(in crate::core) fn probe_also(&mut self, editor: ConnectionId) -> bool {
        for probe in &mut self.probes {
            probe.editors.insert(editor);
        }
        !self.probes.is_empty()
    }

    /// False if no status request waits for anything.
    pub(in crate::core) fn editor_answered(&mut self, editor: ConnectionId) -> bool {
        for probe in &mut self.probes {
            probe.editors.remove(&editor);
        }
        !self.probes.is_empty()
    }

    /// False if no status request waits for anything.
    pub(in crate::core) fn agent_answered(&mut self, agent: AgentId) -> bool {
        for agents in self.probes.iter_mut().filter_map(|probe| probe.agents.as_mut()) {
            agents.remove(&agent);
        }
        !self.probes.is_empty()
    }

    /// Removes those whose every question is answered, or whose time is up.
    pub(in crate::core) fn take_finished(&mut self, is_time_up: impl Fn(&Probe) -> bool) -> Vec<Probe> {
        let is_finished = |probe: &mut Probe| {
            let all_answered = probe.editors.is_empty()
                && probe.agents.iter().flatten().next().is_none()
                && probe.looking.is_none();
            all_answered || is_time_up(probe)
        };
        self.probes.extract_if(.., is_finished).collect()
    }
}

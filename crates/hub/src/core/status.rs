//! Status requests. Everyone is asked for a sign of life first, so that a status never calls connected what does not
//! answer.

use std::collections::BTreeSet;
use std::path::PathBuf;

use linkspan_dialect::Endpoint;
use linkspan_editor_api::{
    AgentStatus, DialectStatus, HubStatusResult, HubWindowsResult, Message, Ping, RequestId, WindowStatus,
};
use linkspan_review::{AgentId, WindowId};

use crate::core::agents::Agent;
use crate::core::connections::probes::Probe;
use crate::core::contract::{Action, ConnectionId, Ticket};
use crate::core::timers::Due;
use crate::core::windows::Window;
use crate::core::windows::discovery_files::enabled_dialects;
use crate::core::{Core, convert};

/// How long a sign of life may take. An editor whose extensions are just starting counts as connected.
const PROBE_MS: u64 = 1_000;

impl Core {
    /// Asks every editor and these agents for a sign of life; no agents if only windows are asked about.
    pub(super) fn begin_status(
        &mut self,
        connection: ConnectionId,
        request: RequestId,
        agents: Option<BTreeSet<AgentId>>,
    ) {
        let editors: BTreeSet<ConnectionId> = self.windows.connections().into_iter().collect();
        for editor in &editors {
            self.connections.send_request(&mut self.out, *editor, &Ping {});
        }
        for agent in agents.iter().flatten() {
            self.agents.ping(&mut self.out, *agent);
        }
        let due_ms = self.out.now_ms + PROBE_MS;
        self.out.at(due_ms, Due::Probes);
        let paths = if agents.is_some() { self.windows.discovery_paths() } else { Vec::new() };
        let looking = (!paths.is_empty()).then(|| {
            let ticket = self.out.ticket();
            self.out.push(Action::CheckDiscovery { ticket, paths });
            ticket
        });
        let missing = Vec::new();
        self.connections.add_probe(Probe { connection, request, due_ms, editors, agents, looking, missing });
        finish(self, |_| false);
    }

    /// An editor that attaches while signs of life are waited for has to give one too: it may have attached long ago.
    pub(super) fn probe_newcomer(&mut self, editor: ConnectionId) {
        if self.connections.probe_also(editor) {
            self.connections.send_request(&mut self.out, editor, &Ping {});
        }
    }

    /// It sent something, or is gone.
    pub(super) fn editor_seen(&mut self, connection: ConnectionId) {
        if self.connections.editor_answered(connection) {
            finish(self, |_| false);
        }
    }

    /// It sent something, or is gone.
    pub(super) fn agent_seen(&mut self, agent: AgentId) {
        if self.connections.agent_answered(agent) {
            finish(self, |_| false);
        }
    }

    /// Files that are gone are written again; this status still reports that they were missing.
    pub(super) fn discovery_looked_for(&mut self, ticket: Ticket, missing: &[PathBuf]) {
        self.windows.write_discovery_again(&mut self.out, missing);
        self.connections.discovery_looked_for(ticket, missing);
        finish(self, |_| false);
    }

    pub(super) fn probes_due(&mut self) {
        let now_ms = self.out.now_ms;
        finish(self, |probe| probe.due_ms <= now_ms);
    }
}

fn finish(core: &mut Core, is_time_up: impl Fn(&Probe) -> bool) {
    for probe in core.connections.take_finished(is_time_up) {
        let windows = core.windows.iter();
        let windows = windows.map(|(id, window)| window_status(core, *id, window, &probe)).collect();
        let answer = match probe.agents {
            Some(_) => Message::response(probe.request, &hub_status(core, windows)),
            None => Message::response(probe.request, &HubWindowsResult { windows }),
        };
        core.out.send(probe.connection, &answer);
    }
}

fn hub_status(core: &Core, windows: Vec<WindowStatus>) -> HubStatusResult {
    let info = &core.out.info;
    HubStatusResult {
        version: info.version.to_owned(),
        pid: info.pid,
        uptime_ms: core.out.now_ms,
        socket: info.socket.clone(),
        resident_bytes: (info.resident_bytes)(),
        windows,
        refused: core.lifecycle.refusals(),
        problems: core.lifecycle.record_error().map(not_recorded).into_iter().collect(),
    }
}

/// What is connected right now: those still in `probe` did not answer.
fn window_status(core: &Core, id: WindowId, window: &Window, probe: &Probe) -> WindowStatus {
    let answered = |agent| {
        let is_silent = probe.agents.as_ref().is_none_or(|silent| silent.contains(agent));
        !is_silent && !core.chats.is_not_started(*agent)
    };
    let there = core.agents.of_window(id).filter(|(agent_id, _)| answered(agent_id));
    let (returned, connected): (Vec<_>, Vec<_>) = there.partition(|(_, agent)| agent.came_back);
    let status_of = |(agent_id, agent): (&AgentId, &Agent)| AgentStatus {
        agent: agent_id.to_string(),
        name: agent.name.clone(),
        version: agent.version.clone(),
        dialect: agent.session.dialect().name.to_owned(),
        pid: agent.pid,
        connected_ms: core.out.now_ms.saturating_sub(agent.since_ms),
        open_reviews: u32::try_from(agent.waiting.len()).unwrap_or(u32::MAX),
    };
    let dialects = enabled_dialects(&window.config).into_iter().map(|dialect| {
        let files = window.discovery.iter().filter(|(name, _)| *name == dialect.name);
        let (mut discovery_files, mut problems) = (Vec::new(), Vec::new());
        for path in files.map(|(_, file)| file.path()) {
            let missing = || format!("{} was missing, and is written again", path.display());
            let gone = || probe.missing.contains(&path).then(missing);
            match core.windows.discovery_problem(&path).or_else(gone) {
                Some(problem) => problems.push(problem),
                None => discovery_files.push(path.display().to_string()),
            }
        }
        if let (Endpoint::SocketStream { .. }, Some(Err(why))) = (dialect.endpoint, &window.socket) {
            problems.push(why.clone());
        }
        DialectStatus {
            name: dialect.name.to_owned(),
            port: core.windows.ppxai_port(&core.out, id, dialect.name),
            discovery_files,
            problems,
        }
    });
    WindowStatus {
        window: id.to_string(),
        editor: window.editor.clone(),
        editor_pid: window.pid,
        folders: window.identity.folders.iter().map(|folder| folder.display().to_string()).collect(),
        port: window.port,
        dialects: dialects.collect(),
        attached: window.arriving.is_none()
            && window.connection.is_some_and(|connection| !probe.editors.contains(&connection)),
        agents: connected.into_iter().map(status_of).collect(),
        returned_agents: returned.into_iter().map(status_of).collect(),
        pending_reviews: convert::pending_count(core.reviews.of_window(id)),
    }
}

fn not_recorded(error: &str) -> String {
    format!(
        "the journal cannot be written, so no change is shown and no decision counts: {error}; run `linkspan doctor`"
    )
}

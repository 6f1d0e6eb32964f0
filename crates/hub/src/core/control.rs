//! What commands ask: who is there, which reviews wait, stop. Status asks everyone first, so that it never
//! calls connected what does not answer.

use std::collections::BTreeSet;
use std::path::PathBuf;

use linkspan_editor_api as api;
use linkspan_editor_api::{
    AgentStatus, DialectStatus, HubHelloResult, HubStatusResult, HubStopResult, HubWindowsResult, Message,
    PROTOCOL, Ping, Request, RequestId, ReviewsListResult, RpcError, WindowStatus, decode, errors,
};
use linkspan_review::{AgentId, Phase, Review, WindowId};
use serde_json::value::RawValue;

use super::Core;
use super::agents::Agent;
use super::clients::Looking;
use super::editor::Resume;
use super::event::{Action, LocalId, Ticket};
use super::present::{self, Size};
use super::timers::Due;
use super::windows::Window;
use crate::guard::Refusal;

/// How long those who are asked for a sign of life may take. An editor whose extensions are just starting is there.
const PROBE_MS: u64 = 1_000;

/// A status that waits for signs of life.
#[derive(Debug)]
pub(super) struct Probe {
    local: LocalId,
    request: RequestId,
    due_ms: u64,
    editors: BTreeSet<LocalId>,
    /// None: only windows were asked about, and no agent is told of.
    agents: Option<BTreeSet<AgentId>>,
    /// The look for discovery files that is under way.
    looking: Option<Ticket>,
    /// Those that are not there.
    missing: Vec<PathBuf>,
}

impl Core {
    pub(super) fn control_request(
        &mut self,
        local: LocalId,
        id: &RequestId,
        method: &str,
        params: &RawValue,
    ) -> Result<(), RpcError> {
        let id = id.clone();
        match method {
            api::HubHello::METHOD => {
                let hello: api::HubHello = decode(params)?;
                if let Some(local) = self.locals.get_mut(&local).filter(|local| !local.is_page) {
                    local.role = hello.role;
                }
                let result = HubHelloResult {
                    version: self.identity.version.to_owned(),
                    protocol: PROTOCOL,
                    pid: self.identity.pid,
                    started_at_ms: self.identity.started_at_ms,
                };
                self.send(local, &Message::response(id, &result));
            }
            api::HubStatus::METHOD => self.probe(local, id, Some(self.agents.keys().copied().collect())),
            api::HubWindows::METHOD => self.probe(local, id, None),
            api::HubStop::METHOD => {
                let api::HubStop { force } = decode(params)?;
                let pending = pending(self.state.reviews());
                let stopped = force || pending == 0;
                let reason = (!stopped).then(|| {
                    format!(
                        "{pending} pending review{} would be interrupted",
                        if pending == 1 { "" } else { "s" }
                    )
                });
                self.send(local, &Message::response(id, &HubStopResult { stopped, reason, pending }));
                if stopped {
                    self.stop();
                }
            }
            api::ReviewsList::METHOD => {
                let api::ReviewsList { all } = decode(params)?;
                let listed = self.state.reviews().filter(|review| all || review.is_open());
                let reviews = listed.map(|review| present::summary(review, self.age_of(review))).collect();
                self.send(local, &Message::response(id, &ReviewsListResult { reviews }));
            }
            api::ReviewsGet::METHOD => {
                let get: api::ReviewsGet = decode(params)?;
                let review = self.review_named(&get.review)?;
                let Some(review) = self.state.review(review) else { return Ok(()) };
                let result = present::whole(review);
                self.send(local, &Message::response(id, &result));
            }
            api::HubWatch::METHOD => self.watch(local, id, &decode(params)?)?,
            api::HistoryList::METHOD => self.history_list(local, id, decode(params)?)?,
            api::HistoryUndo::METHOD => self.history_undo(local, id, &decode(params)?)?,
            api::AsksList::METHOD => {
                let api::AsksList {} = decode(params)?;
                let result = api::AsksListResult { asks: self.asks() };
                self.send(local, &Message::response(id, &result));
            }
            api::AsksAnswer::METHOD => {
                let api::AsksAnswer { ask, option } = decode(params)?;
                let result = self.answer_question(local, &ask, Some(option), |_| true)?;
                self.send(local, &Message::response(id, &result));
            }
            api::ClientsList::METHOD => self.look_at_clients(Looking::List { local, request: id }),
            api::ClientsAllow::METHOD => self.clients_allow(local, id, decode(params)?)?,
            api::ClientsRevoke::METHOD => self.clients_revoke(local, id, decode(params)?),
            api::PageLink::METHOD => self.link_page(local, id),
            api::PageRevoke::METHOD => self.revoke_page(local, id),
            _ => return Err(RpcError::new(errors::METHOD_NOT_FOUND, format!("unknown method `{method}`"))),
        }
        Ok(())
    }

    pub(super) fn refused(&mut self, refusal: Refusal) {
        *self.refused.entry(refusal.name()).or_default() += 1;
    }

    /// How old it is, and how large.
    pub(super) fn age_of(&self, review: &Review) -> (u64, Size) {
        match self.ages.get(&review.id) {
            Some(age) => (age.ms(self.now_ms), age.size_of(review)),
            None => (0, Size::of(review)),
        }
    }

    /// Asks every editor and these agents for a sign of life.
    fn probe(&mut self, local: LocalId, request: RequestId, agents: Option<BTreeSet<AgentId>>) {
        let editors: BTreeSet<LocalId> = self.windows.values().filter_map(|window| window.local).collect();
        for editor in &editors {
            self.ask(*editor, &Ping {}, Resume::Ignore);
        }
        for agent in agents.iter().flatten() {
            self.ping_agent(*agent);
        }
        let due_ms = self.now_ms + PROBE_MS;
        self.timers.add(due_ms, Due::Probes);
        let paths = if agents.is_some() { self.announced() } else { Vec::new() };
        let looking = (!paths.is_empty()).then(|| {
            let ticket = self.ticket();
            self.act(Action::LookForDiscovery { ticket, paths });
            ticket
        });
        let missing = Vec::new();
        self.probes.push(Probe { local, request, due_ms, editors, agents, looking, missing });
        self.finish_probes(|_| false);
    }

    /// An editor that attaches while signs of life are waited for has to give one too: its attaching may be long ago.
    pub(super) fn probe_newcomer(&mut self, editor: LocalId) {
        if !self.probes.is_empty() {
            for probe in &mut self.probes {
                probe.editors.insert(editor);
            }
            self.ask(editor, &Ping {}, Resume::Ignore);
        }
    }

    pub(super) fn local_heard(&mut self, local: LocalId) {
        if !self.probes.is_empty() {
            for probe in &mut self.probes {
                probe.editors.remove(&local);
            }
            self.finish_probes(|_| false);
        }
    }

    pub(super) fn probed_agent(&mut self, agent: AgentId) {
        if !self.probes.is_empty() {
            for probe in &mut self.probes {
                probe.agents.as_mut().map(|agents| agents.remove(&agent));
            }
            self.finish_probes(|_| false);
        }
    }

    /// Files that are gone are written again; this status still says what was found.
    pub(super) fn discovery_looked_for(&mut self, ticket: Ticket, missing: &[PathBuf]) {
        self.announce_again(missing);
        if let Some(probe) = self.probes.iter_mut().find(|probe| probe.looking == Some(ticket)) {
            probe.looking = None;
            probe.missing = missing.to_vec();
        }
        self.finish_probes(|_| false);
    }

    pub(super) fn probes_due(&mut self) {
        let now_ms = self.now_ms;
        self.finish_probes(|probe| probe.due_ms <= now_ms);
    }

    /// Answers those whose every question is answered, or whose time is up.
    fn finish_probes(&mut self, time_is_up: impl Fn(&Probe) -> bool) {
        let finished = |probe: &mut Probe| {
            let all_answered = probe.editors.is_empty()
                && probe.agents.iter().flatten().next().is_none()
                && probe.looking.is_none();
            all_answered || time_is_up(probe)
        };
        let done: Vec<Probe> = self.probes.extract_if(.., finished).collect();
        for probe in done {
            let windows =
                self.windows.iter().map(|(id, window)| self.window_status(*id, window, &probe)).collect();
            let answer = match probe.agents {
                Some(_) => Message::response(probe.request, &self.status(windows)),
                None => Message::response(probe.request, &HubWindowsResult { windows }),
            };
            self.send(probe.local, &answer);
        }
    }

    fn status(&self, windows: Vec<WindowStatus>) -> HubStatusResult {
        HubStatusResult {
            version: self.identity.version.to_owned(),
            pid: self.identity.pid,
            uptime_ms: self.now_ms,
            socket: self.identity.socket.clone(),
            resident_bytes: (self.identity.resident_bytes)(),
            windows,
            refused: self.refused.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
            problems: self.unrecorded.iter().map(|error| not_recorded(error)).collect(),
        }
    }

    /// What is connected right now: those still in `probe` did not answer.
    fn window_status(&self, id: WindowId, window: &Window, probe: &Probe) -> WindowStatus {
        let answered = |agent| probe.agents.as_ref().is_some_and(|silent| !silent.contains(agent));
        let there = self.agents.of_window(id).filter(|(agent_id, _)| answered(agent_id));
        let (returned, connected): (Vec<_>, Vec<_>) = there.partition(|(_, agent)| agent.came_back);
        let status_of = |(agent_id, agent): (&AgentId, &Agent)| AgentStatus {
            agent: agent_id.to_string(),
            name: agent.name.clone(),
            version: agent.version.clone(),
            dialect: agent.session.dialect().name.to_owned(),
            pid: agent.pid,
            connected_ms: self.now_ms.saturating_sub(agent.since_ms),
            open_reviews: u32::try_from(agent.waiting.len()).unwrap_or(u32::MAX),
        };
        let dialects = self.dialects_of(&window.config).into_iter().map(|dialect| {
            let files = window.discovery.iter().filter(|(name, _)| *name == dialect.name);
            let (mut discovery_files, mut problems) = (Vec::new(), Vec::new());
            for path in files.map(|(_, file)| file.path()) {
                let missing = || format!("{} was not there, and is written again", path.display());
                let gone = || probe.missing.contains(&path).then(missing);
                match self.why_unannounced(&path).or_else(gone) {
                    Some(problem) => problems.push(problem),
                    None => discovery_files.push(path.display().to_string()),
                }
            }
            DialectStatus {
                name: dialect.name.to_owned(),
                port: self.well_known_port(id, dialect.name),
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
                && window.local.is_some_and(|local| !probe.editors.contains(&local)),
            agents: connected.into_iter().map(status_of).collect(),
            returned_agents: returned.into_iter().map(status_of).collect(),
            pending_reviews: pending(self.state.reviews_of_window(id)),
        }
    }
}

fn not_recorded(error: &str) -> String {
    format!(
        "the journal does not take records, so no change is shown and no decision counts: {error}; run `linkspan doctor`"
    )
}

fn pending<'a>(of: impl Iterator<Item = &'a Review>) -> u32 {
    let pending = of.filter(|review| review.phase == Phase::Pending).count();
    u32::try_from(pending).unwrap_or(u32::MAX)
}

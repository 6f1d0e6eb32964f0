//! A `Core` with everything around it in memory: files in a map, a journal that keeps the newest record, a clock that
//! only moves when it is told to. Every action is carried out; what comes back, and when, can be steered by the fields.
//!
//! For the tests of `core`, the fuzz targets and the simulation. Each of them may look at the actions, or take those
//! that it answers itself, and leaves the rest to [`CoreHarness::perform`], the only place that matches all of them.

#![expect(clippy::expect_used, reason = "a core that breaks its contract ends the test")]

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::path::PathBuf;

use linkspan_dialect::IdeContext;
use linkspan_editor_api::{PageLinkResult, PageRevokeResult};
use linkspan_review::{AgentId, ChangeId, Digest, Review, ReviewId, Step, WindowId};
use linkspan_workspace::Cancel;
use serde_json::{Value, json};

use super::contract::{
    ChatItemsRead, ChatPeer, FileState, HistoryAnswer, HistoryQuery, HostedAgent, RecordedChange,
    RememberedState, RememberedWindow, Replacement, Restoration, WriteError,
};
use super::{
    Action, AgentJob, ConnectionId, Core, Event, ExchangeAnswer, HubInfo, PreparedWindow, TerminalId, Ticket,
};
use crate::config::{Clients, Config, WorkspaceConfig};
use crate::token::Token;

/// A core, its clock, and the world around it.
#[expect(missing_debug_implementations, reason = "what a test prints of it are its fields")]
pub struct CoreHarness {
    pub core: Core,
    pub now_ms: u64,
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    /// How often a file was written.
    pub writes: usize,
    /// Records go to `held_records` and stay unanswered.
    pub hold_records: bool,
    pub held_records: Vec<(ReviewId, Step)>,
    /// The results of reads go to `held_reads`.
    pub hold_reads: bool,
    pub held_reads: Vec<Event>,
    /// Prepared windows go to `held_windows`.
    pub hold_windows: bool,
    pub held_windows: Vec<Event>,
    /// The newest record of each review, as the journal would have it.
    pub journal: BTreeMap<ReviewId, Review>,
    /// Each review as it was recorded when it was decided.
    pub decided: BTreeMap<ReviewId, Review>,
    /// Where each was decided, as it was recorded.
    pub decided_by: BTreeMap<ReviewId, String>,
    /// Reviews that were recorded as seen in the file.
    pub on_disk: Vec<ReviewId>,
    /// The conversations that reviews come from.
    pub origins: BTreeMap<ReviewId, Box<linkspan_editor_api::ReviewOrigin>>,
    pub to_agents: Vec<(AgentId, Value)>,
    pub closed_agents: Vec<AgentId>,
    pub pings: Vec<(AgentId, u64)>,
    pub to_connections: Vec<(ConnectionId, Value)>,
    pub closed_connections: Vec<ConnectionId>,
    /// What the first connection answers to requests, by method. All other requests stay open.
    pub editor_answers: BTreeMap<&'static str, Value>,
    pub stopped: bool,
    pub closed_ports: usize,
    /// The answers to the next queries, and the queries. Without an answer here, a query stays open …
    pub history_answers: VecDeque<Result<HistoryAnswer, String>>,
    pub history_queries: Vec<HistoryQuery>,
    /// … or finds nothing.
    pub history_is_empty: bool,
    pub begun_undos: Vec<RecordedChange>,
    pub ended_undos: Vec<(ChangeId, bool)>,
    /// Undos go to `held_undos` before they are recorded.
    pub hold_undos: bool,
    pub held_undos: Vec<Ticket>,
    /// The newest restoration goes to `held_restore`, and its file stays as it is.
    pub hold_restores: bool,
    pub held_restore: Option<Ticket>,
    pub restore_error: Option<WriteError>,
    /// Writes are neither done nor answered.
    pub hold_writes: bool,
    /// The mode that came with the newest end of an undo.
    pub removed_mode: Option<u32>,
    /// Files next to which temporary files were looked for.
    pub swept: Vec<PathBuf>,
    pub page_link: Result<PageLinkResult, String>,
    pub page_revoked: Result<PageRevokeResult, String>,
    pub remembered_windows: Vec<RememberedWindow>,
    /// The configuration that every window finds in its folders.
    pub workspace: Vec<WorkspaceConfig>,
    /// What `clients.toml` holds, or why it cannot be read.
    pub clients: Result<Clients, String>,
    /// Jobs for agents; the test ends them.
    pub jobs: Vec<(Ticket, AgentJob, Cancel)>,
    pub closed_terminals: Vec<TerminalId>,
    /// What Codex's terminal program received.
    pub ide_answers: Vec<Option<Box<IdeContext>>>,
    /// What `agents.toml` has.
    pub hosted_agents: Result<Vec<HostedAgent>, String>,
    /// Whether reading it takes until the test answers, and what waits for that.
    pub looks_up_slowly: bool,
    pub lookups: Vec<Ticket>,
    /// The processes that were started.
    pub children: Vec<(AgentId, ChatPeer)>,
    /// What the journal has of each conversation: its head and its items.
    pub chats: BTreeMap<u64, (String, BTreeMap<u32, String>)>,
    /// What was read of conversations. The answers go to `held_chat_reads`.
    pub chat_reads: Vec<(u64, Range<u32>)>,
    pub hold_chat_reads: bool,
    pub held_chat_reads: Vec<Event>,
    /// The window behind ppxai's fixed port, and whether that port is free.
    pub ppxai_window: Option<WindowId>,
    pub ppxai_port_free: bool,
    /// The id of the newest request on the hub's own socket.
    pub next_request: i64,
    /// What attaching editors call their window.
    pub window_id: Option<&'static str>,
    /// How long no hub runs between a kill and a restart.
    pub downtime_ms: u64,
}

impl CoreHarness {
    /// The connection that answers from `editor_answers`.
    pub const EDITOR: ConnectionId = ConnectionId(1);

    /// A hub that has never run before, and one file.
    pub fn new() -> CoreHarness {
        let files = BTreeMap::from([("/ws/a.txt".into(), b"one\ntwo\n".to_vec())]);
        CoreHarness::restarted(
            RememberedState { next_review: 1, next_window: 1, ..RememberedState::default() },
            files,
        )
    }

    /// A hub that finds this in its journal.
    pub fn restarted(remembered: RememberedState, files: BTreeMap<PathBuf, Vec<u8>>) -> CoreHarness {
        let (mut harness, actions) = CoreHarness::start("1ife", 0, remembered);
        harness.files = files;
        harness.carry_out(actions, &mut |_| {});
        harness
    }

    /// A hub whose first actions are still to be carried out.
    pub fn start(
        instance_id: &str,
        started_at_ms: u64,
        remembered: RememberedState,
    ) -> (CoreHarness, Vec<Action>) {
        let info = HubInfo {
            version: "0.0.0",
            pid: 1,
            started_at_ms,
            instance_id: instance_id.to_owned(),
            socket: "/run/hub.sock".to_owned(),
            resident_bytes: || None,
            port_space: None,
            clients_file: "/home/me/.config/linkspan/clients.toml".to_owned(),
            private_dirs: vec!["/ws/own".into()],
        };
        let lookup = |name: &str| (name == "HOME").then(|| "/home/me".into());
        let (core, actions) = Core::new(info, Config::default(), Box::new(lookup), remembered);
        let harness = CoreHarness {
            core,
            now_ms: 0,
            files: BTreeMap::new(),
            writes: 0,
            hold_records: false,
            held_records: Vec::new(),
            hold_reads: false,
            held_reads: Vec::new(),
            hold_windows: false,
            held_windows: Vec::new(),
            journal: BTreeMap::new(),
            decided: BTreeMap::new(),
            decided_by: BTreeMap::new(),
            on_disk: Vec::new(),
            origins: BTreeMap::new(),
            to_agents: Vec::new(),
            closed_agents: Vec::new(),
            pings: Vec::new(),
            to_connections: Vec::new(),
            closed_connections: Vec::new(),
            editor_answers: BTreeMap::new(),
            stopped: false,
            closed_ports: 0,
            history_answers: VecDeque::new(),
            history_queries: Vec::new(),
            history_is_empty: false,
            begun_undos: Vec::new(),
            ended_undos: Vec::new(),
            hold_undos: false,
            held_undos: Vec::new(),
            hold_restores: false,
            held_restore: None,
            restore_error: None,
            hold_writes: false,
            removed_mode: None,
            swept: Vec::new(),
            page_link: Err("no port".to_owned()),
            page_revoked: Ok(PageRevokeResult { sessions: 2, links: 1 }),
            remembered_windows: Vec::new(),
            workspace: Vec::new(),
            clients: Ok(Clients::default()),
            jobs: Vec::new(),
            closed_terminals: Vec::new(),
            ide_answers: Vec::new(),
            hosted_agents: Ok(Vec::new()),
            looks_up_slowly: false,
            lookups: Vec::new(),
            children: Vec::new(),
            chats: BTreeMap::new(),
            chat_reads: Vec::new(),
            hold_chat_reads: false,
            held_chat_reads: Vec::new(),
            ppxai_window: None,
            ppxai_port_free: true,
            next_request: 0,
            window_id: None,
            downtime_ms: 0,
        };
        (harness, actions)
    }

    /// Handles the event, and everything that follows from it.
    pub fn event(&mut self, event: Event) {
        self.watched_event(event, &mut |_| {});
    }

    /// The same, and shows every action before it is carried out.
    pub fn watched_event(&mut self, event: Event, watch: &mut dyn FnMut(&Action)) {
        let actions = self.core.handle(self.now_ms, event);
        self.carry_out(actions, watch);
    }

    fn carry_out(&mut self, actions: Vec<Action>, watch: &mut dyn FnMut(&Action)) {
        let mut answers = Vec::new();
        for action in actions {
            watch(&action);
            answers.extend(self.perform(action));
        }
        for event in answers {
            self.watched_event(event, watch);
        }
    }

    /// Moves the clock to each deadline in turn, and then to the end of this time.
    pub fn wait_ms(&mut self, ms: u64) {
        let until = self.now_ms + ms;
        while let Some(due) = self.core.next_deadline().filter(|due| *due <= until) {
            self.now_ms = due;
            self.event(Event::Tick);
        }
        self.now_ms = until;
    }

    /// Carries out one action, and gives the event that it leads to.
    pub fn perform(&mut self, action: Action) -> Option<Event> {
        match action {
            Action::SendAgent { agent, text } => self.to_agents.push((agent, parse(text.as_bytes()))),
            Action::AnswerExchange { agent, answer, .. } => match answer {
                ExchangeAnswer::Text(text)
                | ExchangeAnswer::Introduced { text, .. }
                | ExchangeAnswer::Malformed(text) => self.to_agents.push((agent, parse(text.as_bytes()))),
                ExchangeAnswer::Nothing => {}
            },
            Action::PingAgent { agent, number } => self.pings.push((agent, number)),
            Action::CloseAgent { agent, .. } => self.closed_agents.push(agent),
            Action::SendMessage { connection, body } => {
                let message = parse(&body);
                let answer = self.editor_answer(connection, &message);
                self.to_connections.push((connection, message));
                return answer;
            }
            Action::Publish { to, body } => {
                self.to_connections.extend(to.into_iter().map(|connection| (connection, parse(&body))));
            }
            Action::CloseConnection { connection } => self.closed_connections.push(connection),
            Action::PrepareWindow { ticket, folders, listen } => {
                let fresh = || (4711, Token::remembered("fresh".to_owned()));
                let endpoint = listen.map(|listen| listen.before.unwrap_or_else(fresh));
                let (workspace, socket) = (self.workspace.clone(), None);
                let result = Ok(PreparedWindow { folders, workspace, endpoint, socket });
                let prepared = Event::WindowPrepared { ticket, result };
                if !self.hold_windows {
                    return Some(prepared);
                }
                self.held_windows.push(prepared);
            }
            Action::ClosePort { .. } => self.closed_ports += 1,
            Action::ServePpxaiPort { listen } => {
                let open = self.ppxai_port_free && listen.is_some();
                self.ppxai_window = listen.filter(|_| open).map(|listen| listen.window);
                return Some(Event::PpxaiPortServed { open });
            }
            // A test opens the connection itself.
            Action::FollowCodex { .. } => {}
            Action::FindAgents { ticket } if self.looks_up_slowly => self.lookups.push(ticket),
            Action::FindAgents { ticket } => {
                return Some(Event::AgentsFound { ticket, result: self.hosted_agents.clone() });
            }
            Action::StartChild { agent, peer } => self.children.push((agent, peer)),
            Action::RecordChat { record } => {
                let chat = self.chats.entry(record.chat).or_default();
                chat.0 = record.head;
                chat.1.extend(record.items);
            }
            Action::ForgetChat { chat } => drop(self.chats.remove(&chat)),
            Action::ReadChat { ticket, chat, places, .. } => {
                self.chat_reads.push((chat, places.clone()));
                let stored = self.chats.get(&chat).map(|(_, items)| items.range(places.clone()));
                let items = stored.into_iter().flatten();
                let items = items.map(|(place, item)| (*place, serde_json::from_str(item).ok())).collect();
                let read = ChatItemsRead { first: places.start, items };
                let read = Event::ChatRead { ticket, result: Ok(read) };
                if !self.hold_chat_reads {
                    return Some(read);
                }
                self.held_chat_reads.push(read);
            }
            Action::AnswerIde { context, .. } => self.ide_answers.push(context),
            Action::CheckDiscovery { ticket, .. } => {
                return Some(Event::DiscoveryChecked { ticket, missing: Vec::new() });
            }
            Action::ReadFile { ticket, path, .. } => {
                let bytes = self.files.get(&path).cloned();
                let state = FileState { path, exists: bytes.is_some(), bytes: bytes.unwrap_or_default() };
                let read = Event::FileRead { ticket, result: Ok(state) };
                if !self.hold_reads {
                    return Some(read);
                }
                self.held_reads.push(read);
            }
            Action::WriteFile { .. } if self.hold_writes => {}
            Action::WriteFile { review, replacement } => {
                return Some(Event::FileWritten { review, result: self.replace(replacement) });
            }
            Action::RestoreFile { ticket, .. } if self.hold_restores => self.held_restore = Some(ticket),
            Action::RestoreFile { ticket, restoration } => {
                let result = match (self.restore_error.clone(), restoration) {
                    (Some(error), _) => Err(error),
                    (None, Restoration::Replace(replacement)) => self.replace(replacement).map(|()| None),
                    (None, Restoration::Remove(removal)) => {
                        self.files.remove(&removal.path);
                        Ok(Some(0o750))
                    }
                };
                return Some(Event::FileRestored { ticket, result });
            }
            Action::SweepTemporary { path, .. } => self.swept.push(path),
            Action::Record { review, step, origin, by, .. } => {
                let id = review.id;
                self.origins.extend(origin.map(|origin| (id, origin)));
                if self.hold_records {
                    self.held_records.push((id, step));
                    return None;
                }
                if step == Step::Decided {
                    self.decided.insert(id, (*review).clone());
                }
                self.decided_by.extend(by.map(|by| (id, by)));
                self.journal.insert(id, *review);
                return Some(Event::Recorded { review: id, step, result: Ok(()) });
            }
            Action::RecordOnDisk { review } => self.on_disk.push(review),
            Action::RememberWindow { window } => {
                let id = window.id;
                self.remembered_windows.push(window);
                return Some(Event::WindowRemembered { window: id, result: Ok(()) });
            }
            Action::ReadHistory { ticket, query } => {
                self.history_queries.push(query);
                let nothing = || self.history_is_empty.then_some(Ok(HistoryAnswer::Unknown));
                let result = self.history_answers.pop_front().or_else(nothing)?;
                return Some(Event::HistoryRead { ticket, result });
            }
            Action::BeginUndo { ticket, .. } if self.hold_undos => self.held_undos.push(ticket),
            Action::BeginUndo { ticket, change } => {
                self.begun_undos.push(change);
                let result = match self.hold_records {
                    true => Err("disk full".to_owned()),
                    false => Ok((ChangeId(1), ChangeId(1 + self.begun_undos.len() as u64))),
                };
                return Some(Event::UndoBegun { ticket, result });
            }
            Action::EndUndo { undo, done, mode } => {
                self.ended_undos.push((undo, done));
                self.removed_mode = mode;
            }
            Action::LinkPage { connection, request } => {
                return Some(Event::PageLinked { connection, request, result: self.page_link.clone() });
            }
            Action::RevokePage { connection, request } => {
                return Some(Event::PageRevoked { connection, request, result: self.page_revoked.clone() });
            }
            Action::ReloadClients => {
                return Some(Event::ClientsReloaded { found: Some(self.clients.clone()) });
            }
            Action::ChangeClients { ticket, change } => {
                let clients = self.clients.as_mut().map_err(|error| error.clone());
                let result = clients.map(|clients| {
                    let changed = clients.change(&change);
                    (clients.clone(), changed)
                });
                return Some(Event::ClientsChanged { ticket, result });
            }
            Action::RunJob { ticket, job, cancel } => self.jobs.push((ticket, job, cancel)),
            Action::CloseTerminal { terminal } => self.closed_terminals.push(terminal),
            Action::Stop => self.stopped = true,
            Action::ConfirmAgent { .. }
            | Action::NameOutcome { .. }
            | Action::ThrottleConnection { .. }
            | Action::WriteDiscovery { .. }
            | Action::RemoveDiscovery { .. } => {}
        }
        None
    }

    fn editor_answer(&self, connection: ConnectionId, message: &Value) -> Option<Event> {
        let answer = self.editor_answers.get(message["method"].as_str()?)?;
        let response = json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer });
        let body = response.to_string().into_bytes();
        (connection == CoreHarness::EDITOR).then_some(Event::ConnectionMessage { connection, body })
    }

    fn replace(&mut self, order: Replacement) -> Result<(), WriteError> {
        let Replacement { path, bytes, expect, .. } = order;
        let now = self.files.get(&path).map(Vec::as_slice);
        if needs_replacement(now, Some(&bytes), expect)? {
            self.files.insert(path, bytes.to_vec());
            self.writes += 1;
        }
        Ok(())
    }
}

impl Default for CoreHarness {
    fn default() -> CoreHarness {
        CoreHarness::new()
    }
}

/// Whether a file that holds `now` is to be given `wanted`, as the real disk does it: only over what is expected, and
/// not at all if it holds that already. `None` is a file that does not exist.
pub fn needs_replacement(
    now: Option<&[u8]>,
    wanted: Option<&[u8]>,
    expect: Option<Digest>,
) -> Result<bool, WriteError> {
    if wanted.is_some() && now == wanted {
        return Ok(false);
    }
    match now.map(Digest::of) == expect {
        true => Ok(true),
        false => Err(WriteError::BaseMoved(now.map(<[u8]>::to_vec))),
    }
}

/// The parameters of `attach`, of an editor that can do this.
pub fn attach_params(capabilities: Value, window_id: Option<&str>) -> Value {
    json!({
        "protocol": linkspan_editor_api::PROTOCOL, "version": "0.0.0", "pid": 7,
        "editor": { "name": "Editor", "version": "1" }, "folders": ["/ws"], "capabilities": capabilities,
        "windowId": window_id,
    })
}

fn parse(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("the hub sends JSON")
}

//! The world around a `Core`, without I/O: files in a map, a journal that can be held up, an editor that answers
//! from a script, and a clock that stands still unless it is moved.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use linkspan_editor_api::{PageLinkResult, PageRevokeResult};
use linkspan_review::{AgentId, ChangeId, Digest, Review, ReviewId, Step, WindowId};
use linkspan_workspace::Cancel;
use serde_json::{Value, json};

use crate::config::{Clients, Config, WorkspaceConfig};
use crate::core::{
    Action, Core, Event, ExchangeAnswer, Identity, LocalId, Prepared, TerminalId, Ticket, Tool,
};
use crate::files::{FileState, Replacement, Restoration, WriteError};
use crate::journal::{Change, Found, Past, Question, Remembered, RememberedWindow};
use crate::token::Token;

pub(super) const EDITOR: LocalId = LocalId(1);
pub(super) const COMMAND: LocalId = LocalId(2);

pub(super) struct Desk {
    pub(super) core: Core,
    pub(super) now_ms: u64,
    pub(super) files: BTreeMap<PathBuf, Vec<u8>>,
    /// How often each file was written.
    pub(super) writes: usize,
    /// Records wait in `held` until they are let go.
    pub(super) hold_records: bool,
    pub(super) held: Vec<(ReviewId, Step)>,
    /// Reads wait until they are let go.
    pub(super) hold_reads: bool,
    reads: Vec<Event>,
    hold_places: bool,
    places: Vec<Event>,
    /// The newest record of each review, as the journal would have it.
    journal: BTreeMap<ReviewId, Review>,
    /// The same, as it was when a decision was the newest thing in it.
    decided: BTreeMap<ReviewId, Review>,
    /// Reviews that were recorded as seen in the file.
    pub(super) on_disk: Vec<ReviewId>,
    pub(super) to_agents: Vec<(AgentId, Value)>,
    pub(super) closed_agents: Vec<AgentId>,
    pub(super) closed_locals: Vec<LocalId>,
    pub(super) pings: Vec<(AgentId, u64)>,
    pub(super) to_locals: Vec<(LocalId, Value)>,
    /// What the editor answers, by method; everything else it leaves open.
    pub(super) editor_answers: BTreeMap<&'static str, Value>,
    pub(super) stopped: bool,
    pub(super) ports_closed: usize,
    /// What the journal says to the questions to come, and what it was asked and told.
    pub(super) past: VecDeque<Result<Found, String>>,
    pub(super) questions: Vec<Question>,
    pub(super) begun: Vec<Change>,
    pub(super) ended: Vec<(ChangeId, bool)>,
    /// Undos wait in `undos_held` until they are recorded.
    pub(super) hold_undos: bool,
    pub(super) undos_held: Vec<Ticket>,
    /// A disk that does not say whether it gave a file back what it held.
    pub(super) hold_restores: bool,
    pub(super) restoring: Option<Ticket>,
    /// The same of accepted changes.
    pub(super) hold_writes: bool,
    pub(super) restores_fail: Option<WriteError>,
    pub(super) removed_mode: Option<u32>,
    pub(super) swept: Vec<PathBuf>,
    /// What comes of a wish for a link to the page.
    pub(super) page_link: Result<PageLinkResult, String>,
    pub(super) page_revoked: Result<PageRevokeResult, String>,
    pub(super) remembered: Vec<RememberedWindow>,
    /// What each workspace says for itself.
    pub(super) workspace: Vec<WorkspaceConfig>,
    /// What is remembered of permissions, or why that is not known.
    pub(super) clients: Result<Clients, String>,
    /// What is to be done for agents, for the test to do.
    pub(super) running: Vec<(Ticket, Tool, Cancel)>,
    pub(super) closed_terminals: Vec<TerminalId>,
    /// Where the port that clients know by heart leads, if nobody else has it.
    pub(super) well_known: Option<WindowId>,
    pub(super) well_known_free: bool,
    next_request: i64,
    /// What editors call their window.
    pub(super) window_id: Option<&'static str>,
    /// How long no hub is there when it is restarted.
    pub(super) away_ms: u64,
}

impl Desk {
    pub(super) fn new() -> Desk {
        let files = BTreeMap::from([("/ws/a.txt".into(), b"one\ntwo\n".to_vec())]);
        Desk::after(Remembered { next_review: 1, next_window: 1, ..Remembered::default() }, files)
    }

    pub(super) fn after(remembered: Remembered, files: BTreeMap<PathBuf, Vec<u8>>) -> Desk {
        let identity = Identity {
            version: "0.0.0",
            pid: 1,
            started_at_ms: 0,
            life: "1ife".into(),
            socket: "/run/hub.sock".into(),
            resident_bytes: || None,
            port_space: None,
            clients_file: "/home/me/.config/linkspan/clients.toml".into(),
            own_places: vec!["/ws/own".into()],
        };
        let lookup = |name: &str| (name == "HOME").then(|| "/home/me".into());
        let (core, actions) = Core::new(identity, Config::default(), Box::new(lookup), remembered);
        let mut desk = Desk {
            core,
            now_ms: 0,
            files,
            writes: 0,
            hold_records: false,
            held: Vec::new(),
            hold_reads: false,
            reads: Vec::new(),
            hold_places: false,
            places: Vec::new(),
            journal: BTreeMap::new(),
            decided: BTreeMap::new(),
            on_disk: Vec::new(),
            to_agents: Vec::new(),
            closed_agents: Vec::new(),
            closed_locals: Vec::new(),
            pings: Vec::new(),
            to_locals: Vec::new(),
            editor_answers: BTreeMap::new(),
            stopped: false,
            ports_closed: 0,
            past: VecDeque::new(),
            questions: Vec::new(),
            begun: Vec::new(),
            ended: Vec::new(),
            hold_undos: false,
            undos_held: Vec::new(),
            hold_restores: false,
            restoring: None,
            hold_writes: false,
            restores_fail: None,
            removed_mode: None,
            swept: Vec::new(),
            page_link: Err("no port".to_owned()),
            page_revoked: Ok(PageRevokeResult { sessions: 2, links: 1 }),
            remembered: Vec::new(),
            workspace: Vec::new(),
            clients: Ok(Clients::default()),
            running: Vec::new(),
            closed_terminals: Vec::new(),
            well_known: None,
            well_known_free: true,
            next_request: 0,
            window_id: None,
            away_ms: 0,
        };
        desk.carry_out(actions);
        desk
    }

    pub(super) fn event(&mut self, event: Event) {
        let actions = self.core.handle(self.now_ms, event);
        self.carry_out(actions);
    }

    fn carry_out(&mut self, actions: Vec<Action>) {
        let mut next: VecDeque<Event> = VecDeque::new();
        for action in actions {
            match action {
                Action::SendAgent { agent, text } => self.to_agents.push((agent, parse(text.as_bytes()))),
                Action::AnswerExchange { agent, answer, .. } => match answer {
                    ExchangeAnswer::Text(text)
                    | ExchangeAnswer::Introduced { text, .. }
                    | ExchangeAnswer::Malformed(text) => {
                        self.to_agents.push((agent, parse(text.as_bytes())));
                    }
                    ExchangeAnswer::Nothing => {}
                },
                Action::PingAgent { agent, number } => self.pings.push((agent, number)),
                Action::ConfirmAgent { .. } | Action::NameOutcome { .. } => {}
                Action::CloseAgent { agent, .. } => self.closed_agents.push(agent),
                Action::SendLocal { local, body } => {
                    let message = parse(&body);
                    next.extend(self.editor_answer(local, &message));
                    self.to_locals.push((local, message));
                }
                Action::PrepareWindow { ticket, folders, listen } => {
                    let fresh = || (4711, Token::remembered("fresh".to_owned()));
                    let door = listen.map(|listen| listen.before.unwrap_or_else(fresh));
                    let result = Ok(Prepared { folders, workspace: self.workspace.clone(), door });
                    let place = Event::WindowPrepared { ticket, result };
                    if self.hold_places {
                        self.places.push(place);
                    } else {
                        next.push_back(place);
                    }
                }
                Action::ReadFile { ticket, path, .. } => {
                    let bytes = self.files.get(&path).cloned();
                    let exists = bytes.is_some();
                    let state = FileState { path, exists, bytes: bytes.unwrap_or_default() };
                    let read = Event::FileRead { ticket, result: Ok(state) };
                    if self.hold_reads {
                        self.reads.push(read);
                    } else {
                        next.push_back(read);
                    }
                }
                Action::WriteFile { .. } if self.hold_writes => {}
                Action::WriteFile { review, replacement } => {
                    let result = self.write(replacement);
                    next.push_back(Event::FileWritten { review, result });
                }
                Action::Record { review, step, .. } => {
                    let id = review.id;
                    if self.hold_records {
                        self.held.push((id, step));
                    } else {
                        if step == Step::Decided {
                            self.decided.insert(id, (*review).clone());
                        }
                        self.journal.insert(id, *review);
                        next.push_back(Event::Recorded { review: id, step, result: Ok(()) });
                    }
                }
                Action::RecordOnDisk { review } => self.on_disk.push(review),
                Action::ClosePort { .. } => self.ports_closed += 1,
                Action::LinkPage { local, request } => {
                    let result = self.page_link.clone();
                    next.push_back(Event::PageLinked { local, request, result });
                }
                Action::RevokePage { local, request } => {
                    let result = self.page_revoked.clone();
                    next.push_back(Event::PageRevoked { local, request, result });
                }
                Action::LookAtClients => {
                    next.push_back(Event::ClientsLookedAt { found: Some(self.clients.clone()) });
                }
                Action::ChangeClients { ticket, change } => {
                    let result = self.clients.as_mut().map_err(|error| error.clone());
                    let result = result.map(|clients| {
                        let changed = clients.change(&change);
                        (clients.clone(), changed)
                    });
                    next.push_back(Event::ClientsChanged { ticket, result });
                }
                Action::Stop => self.stopped = true,
                Action::RunTool { ticket, tool, cancel } => self.running.push((ticket, tool, cancel)),
                Action::ServeWellKnown { listen } => {
                    let open = self.well_known_free && listen.is_some();
                    self.well_known = listen.filter(|_| open).map(|listen| listen.window);
                    next.push_back(Event::WellKnownServed { open });
                }
                Action::CloseTerminal { terminal } => self.closed_terminals.push(terminal),
                Action::CloseLocal { local } => self.closed_locals.push(local),
                Action::LookForDiscovery { ticket, .. } => {
                    next.push_back(Event::DiscoveryLookedFor { ticket, missing: Vec::new() });
                }
                Action::PaceLocal { .. } | Action::WriteDiscovery { .. } | Action::RemoveDiscovery { .. } => {
                }
                Action::Publish { to, body } => {
                    self.to_locals.extend(to.into_iter().map(|local| (local, parse(&body))));
                }
                Action::ReadHistory { ticket, question } => {
                    self.questions.push(question);
                    if let Some(found) = self.past.pop_front() {
                        next.push_back(Event::HistoryRead { ticket, result: found });
                    }
                }
                Action::BeginUndo { ticket, .. } if self.hold_undos => self.undos_held.push(ticket),
                Action::RestoreFile { ticket, .. } if self.hold_restores => self.restoring = Some(ticket),
                Action::SweepBeside { path, .. } => self.swept.push(path),
                Action::BeginUndo { ticket, change } => {
                    self.begun.push(change);
                    let result = if self.hold_records {
                        Err("disk full".into())
                    } else {
                        Ok((ChangeId(1), ChangeId(1 + self.begun.len() as u64)))
                    };
                    next.push_back(Event::UndoBegun { ticket, result });
                }
                Action::RestoreFile { ticket, restoration } => {
                    let result = match restoration {
                        _ if self.restores_fail.is_some() => Err(self.restores_fail.clone().unwrap()),
                        Restoration::Replace(replacement) => self.write(replacement).map(|()| None),
                        Restoration::Remove(removal) => {
                            self.files.remove(&removal.path);
                            Ok(Some(0o750))
                        }
                    };
                    next.push_back(Event::FileRestored { ticket, result });
                }
                Action::EndUndo { undo, done, mode } => {
                    self.ended.push((undo, done));
                    self.removed_mode = mode;
                }
                Action::RememberWindow { window } => {
                    self.remembered.push(window.clone());
                    next.push_back(Event::WindowRemembered { window: window.id, result: Ok(()) });
                }
            }
        }
        for event in next {
            self.event(event);
        }
    }

    fn write(&mut self, order: Replacement) -> Result<(), WriteError> {
        let now = self.files.get(&order.path);
        if now.is_some_and(|now| **now == *order.bytes) {
            return Ok(());
        }
        if now.map(|bytes| Digest::of(bytes)) != order.expect {
            return Err(WriteError::BaseMoved(now.cloned()));
        }
        self.files.insert(order.path, order.bytes.to_vec());
        self.writes += 1;
        Ok(())
    }

    fn editor_answer(&self, local: LocalId, message: &Value) -> Option<Event> {
        let answer = self.editor_answers.get(message["method"].as_str()?).filter(|_| local == EDITOR)?;
        Some(says(local, &json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer })))
    }

    /// Lets the held records through, each with this result.
    pub(super) fn let_go(&mut self, result: Result<(), String>) {
        for (review, step) in std::mem::take(&mut self.held) {
            self.event(Event::Recorded { review, step, result: result.clone() });
        }
    }

    pub(super) fn let_reads_go(&mut self) {
        self.hold_reads = false;
        for read in std::mem::take(&mut self.reads) {
            self.event(read);
        }
    }

    /// Moves the clock to each deadline in turn, up to this one.
    pub(super) fn take_reads(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.reads)
    }

    pub(super) fn give(&mut self, events: Vec<Event>) {
        for event in events {
            self.event(event);
        }
    }

    pub(super) fn wait_seconds(&mut self, seconds: u64) {
        self.wait_ms(seconds * 1000);
    }

    pub(super) fn wait_ms(&mut self, ms: u64) {
        let until = self.now_ms + ms;
        while let Some(due) = self.core.next_deadline().filter(|due| *due <= until) {
            self.now_ms = due;
            self.event(Event::Tick);
        }
        self.now_ms = until;
    }

    /// Killed right after a decision was recorded: nothing later is in the journal, and nothing in the file.
    pub(super) fn restart_at_the_decision(mut self, file: &[u8]) -> Desk {
        self.journal = std::mem::take(&mut self.decided);
        self.files.insert("/ws/a.txt".into(), file.to_vec());
        self.restart()
    }

    /// The hub is killed and started again: files and journal are all that is left.
    pub(super) fn restart(self) -> Desk {
        let past = self.journal.keys().map(|id| Past {
            review: *id,
            proposed_ms: 0,
            decided_ms: Some(self.away_ms),
        });
        let remembered = Remembered {
            past: past.collect(),
            next_review: self.journal.keys().map(|id| id.0 + 1).max().unwrap_or(1),
            reviews: self.journal.values().cloned().collect(),
            next_window: 1,
            windows: Vec::new(),
            undos: Vec::new(),
            unseen: Vec::new(),
        };
        let mut desk = Desk::after(remembered, self.files);
        desk.journal = self.journal;
        desk
    }

    pub(super) fn attach(&mut self, local: LocalId, capabilities: Value) {
        self.event(Event::LocalOpened { local });
        let attach = json!({
            "protocol": linkspan_editor_api::PROTOCOL, "version": "0.0.0", "pid": 7,
            "editor": { "name": "Desk", "version": "1" }, "folders": ["/ws"], "capabilities": capabilities,
            "windowId": self.window_id,
        });
        self.ask(local, "attach", attach);
    }

    /// Two editors attach before the place of either is ready.
    pub(super) fn attach_both(&mut self, one: LocalId, other: LocalId) {
        self.hold_places = true;
        self.attach(one, json!({}));
        self.attach(other, json!({}));
        self.hold_places = false;
        for place in std::mem::take(&mut self.places) {
            self.event(place);
        }
    }

    pub(super) fn attached_window(&self, local: LocalId) -> &Value {
        let answers = self.to_locals.iter().filter(|(to, _)| *to == local).map(|(_, message)| message);
        answers.map(|message| &message["result"]["window"]).find(|window| window.is_string()).unwrap()
    }

    pub(super) fn ask(&mut self, local: LocalId, method: &str, params: Value) -> i64 {
        self.next_request += 1;
        let id = self.next_request;
        self.event(says(local, &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })));
        id
    }

    /// What an editor says to a request it was left to answer.
    pub(super) fn answer(&mut self, local: LocalId, id: &Value, result: Value) {
        self.event(says(local, &json!({ "jsonrpc": "2.0", "id": id, "result": result })));
    }

    pub(super) fn tell(&mut self, local: LocalId, method: &str, params: Value) {
        self.event(says(local, &json!({ "jsonrpc": "2.0", "method": method, "params": params })));
    }

    /// What became of a request on the hub's own socket.
    pub(super) fn answer_to(&self, local: LocalId, id: i64) -> Option<&Value> {
        let answers = self.to_locals.iter().filter(|(to, message)| *to == local && message["id"] == id);
        answers.map(|(_, message)| message).find(|message| message["method"].is_null())
    }

    pub(super) fn shown(&self) -> Vec<&Value> {
        self.asked_of_editor("review/show")
    }

    pub(super) fn asked_of_editor(&self, method: &str) -> Vec<&Value> {
        self.to_locals
            .iter()
            .map(|(_, message)| message)
            .filter(|message| message["method"] == method)
            .collect()
    }

    pub(super) fn connect(&mut self, agent: u64, dialect: &str) -> AgentId {
        let agent = AgentId(agent);
        let dialect = linkspan_dialect::by_name(dialect).unwrap();
        self.event(Event::AgentOpened { agent, window: WindowId(1), dialect, called: None });
        let hello =
            json!({ "protocolVersion": "2025-06-18", "clientInfo": { "name": "tester", "version": "1" } });
        self.frame(
            agent,
            &json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello }),
        );
        agent
    }

    pub(super) fn frame(&mut self, agent: AgentId, frame: &Value) {
        self.event(Event::AgentFrame { agent, text: frame.to_string(), exchange: None });
    }

    pub(super) fn call(&mut self, agent: AgentId, id: i64, tool: &str, arguments: Value) {
        let params = json!({ "name": tool, "arguments": arguments });
        self.frame(agent, &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }

    /// Proposes a new text for `a.txt`.
    pub(super) fn propose(&mut self, agent: AgentId, id: i64, text: &str) {
        let path = "/ws/a.txt";
        let arguments = json!({
            "old_file_path": path, "new_file_path": path, "new_file_contents": text, "tab_name": "tab",
        });
        self.call(agent, id, "openDiff", arguments);
    }

    pub(super) fn decide(&mut self, local: LocalId, verdict: &str) -> i64 {
        self.ask(
            local,
            "reviews/decide",
            json!({
                "review": "r1", "decision": { "verdict": { "kind": verdict } },
            }),
        )
    }

    /// All answers to that call of that agent.
    pub(super) fn answers(&self, agent: AgentId, id: i64) -> Vec<&Value> {
        let answers = self.to_agents.iter().filter(|(to, frame)| *to == agent && frame["id"] == id);
        answers.map(|(_, frame)| frame).collect()
    }

    /// The agent answers every ping it has got.
    pub(super) fn pong(&mut self, agent: AgentId) {
        let number = self.pings.iter().filter(|(to, _)| *to == agent).map(|(_, number)| *number).max();
        self.event(Event::AgentPong { agent, number });
    }

    pub(super) fn lose(&mut self, agent: AgentId) {
        self.event(Event::AgentClosed { agent, said_goodbye: false });
    }

    pub(super) fn file(&self) -> &[u8] {
        self.files.get(&PathBuf::from("/ws/a.txt")).map_or(b"", |bytes| bytes)
    }

    pub(super) fn reviews(&self) -> Vec<&Review> {
        self.core.state.reviews().collect()
    }
}

fn says(local: LocalId, message: &Value) -> Event {
    Event::LocalMessage { local, body: message.to_string().into_bytes() }
}

fn parse(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

//! The world around a hub's core, for one input: a disk, a journal and a page that always answer, an editor that never
//! does by itself. It looks at everything that the core does.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use linkspan_editor_api::{PageLinkResult, PageRevokeResult};
use linkspan_hub::config::{Clients, Config};
use linkspan_hub::core::{Action, Core, Event, ExchangeAnswer, Identity, LocalId, Prepared};
use linkspan_hub::files::{FileState, Restoration, WriteError};
use linkspan_hub::journal::{Found, Remembered};
use linkspan_hub::token::Token;
use linkspan_review::{AgentId, ChangeId, Digest};
use linkspan_workspace::WorkspaceError;
use serde_json::{Value, json};

use crate::questions::{Asker, Questions};

pub(crate) const COMMAND: LocalId = LocalId(2);
pub(crate) const PAGE: LocalId = LocalId(3);
/// An agent of our own dialect, which has joined on the hub's socket.
pub(crate) const OWN: LocalId = LocalId(4);

pub(crate) struct Hub {
    core: Core,
    now_ms: u64,
    files: BTreeMap<PathBuf, Vec<u8>>,
    clients: Clients,
    pub(crate) questions: Questions,
    /// The newest connection of the editor.
    pub(crate) editor: LocalId,
    /// Somebody who may decide has said a word that can be a yes.
    pub(crate) accepted: bool,
    pub(crate) stopped: bool,
}

impl Hub {
    /// With a window of an editor that can do everything, a command, and an open page.
    pub(crate) fn new() -> Hub {
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
        let remembered = Remembered { next_review: 1, next_window: 1, ..Remembered::default() };
        let (core, actions) = Core::new(identity, Config::default(), Box::new(lookup), remembered);
        let mut hub = Hub {
            core,
            now_ms: 0,
            files: BTreeMap::from([("/ws/a.txt".into(), b"one\ntwo\n".to_vec())]),
            clients: Clients::default(),
            questions: Questions::default(),
            editor: LocalId(100),
            accepted: false,
            stopped: false,
        };
        hub.carry_out(actions);
        hub.attach();
        hub.event(Event::LocalOpened { local: COMMAND });
        hub.event(Event::PageOpened { local: PAGE });
        hub
    }

    /// On a connection of its own.
    pub(crate) fn attach(&mut self) {
        self.editor = LocalId(self.editor.0 + 1);
        self.event(Event::LocalOpened { local: self.editor });
        let able = [
            "documents",
            "selection",
            "diagnostics",
            "reviews",
            "edits",
            "format",
            "language",
            "terminal",
            "messages",
            "questions",
            "executeCode",
        ];
        let capabilities: Value = able.iter().map(|able| ((*able).to_owned(), json!(true))).collect();
        let params = json!({
            "protocol": linkspan_editor_api::PROTOCOL, "version": "0.0.0", "pid": 7,
            "editor": { "name": "Desk", "version": "1" }, "folders": ["/ws"], "capabilities": capabilities,
        });
        let attach = json!({ "jsonrpc": "2.0", "id": "attach", "method": "attach", "params": params });
        self.local(self.editor, attach.to_string().as_bytes());
    }

    pub(crate) fn local(&mut self, local: LocalId, body: &[u8]) {
        self.questions.heard(Asker::Local(local), body);
        self.event(Event::LocalMessage { local, body: body.to_vec() });
    }

    pub(crate) fn agent(&mut self, agent: AgentId, text: &str) {
        self.questions.heard(Asker::Agent(agent), text.as_bytes());
        self.event(Event::AgentFrame { agent, text: text.to_owned(), exchange: None });
    }

    /// Lets the next thing become due.
    pub(crate) fn wait(&mut self) {
        let Some(due) = self.core.next_deadline() else { return };
        self.now_ms = self.now_ms.max(due);
        self.event(Event::Tick);
    }

    /// Lets everything become due that is due within so many seconds.
    pub(crate) fn wait_seconds(&mut self, seconds: u64) {
        let until = self.now_ms + seconds * 1000;
        while self.core.next_deadline().is_some_and(|due| due <= until) && !self.stopped {
            self.wait();
        }
    }

    pub(crate) fn event(&mut self, event: Event) {
        let mut waiting = VecDeque::from([event]);
        while let Some(event) = waiting.pop_front() {
            if self.stopped {
                return;
            }
            let actions = self.core.handle(self.now_ms, event);
            waiting.extend(self.look_at(actions));
        }
    }

    fn carry_out(&mut self, actions: Vec<Action>) {
        for event in self.look_at(actions) {
            self.event(event);
        }
    }

    fn look_at(&mut self, actions: Vec<Action>) -> Vec<Event> {
        let mut next = Vec::new();
        for action in actions {
            next.extend(self.act(action));
        }
        next
    }

    fn act(&mut self, action: Action) -> Option<Event> {
        match action {
            Action::SendLocal { local, body } => self.questions.told(Asker::Local(local), &body),
            Action::Publish { to, body } => {
                for local in to {
                    self.questions.told(Asker::Local(local), &body);
                }
            }
            Action::SendAgent { agent, text } => self.questions.told(Asker::Agent(agent), text.as_bytes()),
            Action::AnswerExchange { agent, answer, .. } => match answer {
                ExchangeAnswer::Text(text)
                | ExchangeAnswer::Introduced { text, .. }
                | ExchangeAnswer::Malformed(text) => {
                    self.questions.told(Asker::Agent(agent), text.as_bytes())
                }
                ExchangeAnswer::Nothing => {}
            },
            Action::CloseLocal { local } => self.questions.gone(Asker::Local(local)),
            Action::CloseAgent { agent, .. } => self.questions.gone(Asker::Agent(agent)),
            Action::PrepareWindow { ticket, folders, listen } => {
                let fresh = || (4711, Token::remembered("fresh".to_owned()));
                let door = listen.map(|listen| listen.before.unwrap_or_else(fresh));
                return Some(Event::WindowPrepared {
                    ticket,
                    result: Ok(Prepared { folders, workspace: Vec::new(), door }),
                });
            }
            Action::ReadFile { ticket, path, .. } => {
                let bytes = self.files.get(&path).cloned();
                let state = FileState { path, exists: bytes.is_some(), bytes: bytes.unwrap_or_default() };
                return Some(Event::FileRead { ticket, result: Ok(state) });
            }
            Action::WriteFile { review, replacement } => {
                assert!(self.accepted, "a write that nobody decided");
                let now = self.files.get(&replacement.path);
                let result = if now.map(|bytes| Digest::of(bytes)) == replacement.expect {
                    self.files.insert(replacement.path, replacement.bytes.to_vec());
                    Ok(())
                } else {
                    Err(WriteError::BaseMoved(now.cloned()))
                };
                return Some(Event::FileWritten { review, result });
            }
            Action::LookForDiscovery { ticket, .. } => {
                return Some(Event::DiscoveryLookedFor { ticket, missing: Vec::new() });
            }
            Action::Record { review, step, .. } => {
                return Some(Event::Recorded { review: review.id, step, result: Ok(()) });
            }
            Action::RememberWindow { window } => {
                return Some(Event::WindowRemembered { window: window.id, result: Ok(()) });
            }
            Action::ReadHistory { ticket, .. } => {
                return Some(Event::HistoryRead { ticket, result: Ok(Found::Unknown) });
            }
            Action::BeginUndo { ticket, .. } => {
                return Some(Event::UndoBegun { ticket, result: Ok((ChangeId(1), ChangeId(2))) });
            }
            Action::RestoreFile { ticket, restoration } => {
                match restoration {
                    Restoration::Replace(order) => drop(self.files.insert(order.path, order.bytes.to_vec())),
                    Restoration::Remove(order) => drop(self.files.remove(&order.path)),
                }
                return Some(Event::FileRestored { ticket, result: Ok(None) });
            }
            Action::LinkPage { local, request } => {
                let result = PageLinkResult { url: String::new(), port: 1, expires_in_seconds: 1 };
                return Some(Event::PageLinked { local, request, result: Ok(result) });
            }
            Action::RevokePage { local, request } => {
                let result = PageRevokeResult { sessions: 0, links: 0 };
                return Some(Event::PageRevoked { local, request, result: Ok(result) });
            }
            Action::LookAtClients => {
                return Some(Event::ClientsLookedAt { found: Some(Ok(self.clients.clone())) });
            }
            Action::ChangeClients { ticket, change } => {
                let changed = self.clients.change(&change);
                return Some(Event::ClientsChanged { ticket, result: Ok((self.clients.clone(), changed)) });
            }
            Action::RunTool { ticket, .. } => {
                return Some(Event::ToolRan { ticket, result: Err(WorkspaceError::NoGit) });
            }
            Action::ServeWellKnown { listen } => {
                return Some(Event::WellKnownServed { open: listen.is_some() });
            }
            Action::Stop => self.stopped = true,
            Action::PingAgent { .. }
            | Action::NameOutcome { .. }
            | Action::ConfirmAgent { .. }
            | Action::PaceLocal { .. }
            | Action::RecordOnDisk { .. }
            | Action::ClosePort { .. }
            | Action::WriteDiscovery { .. }
            | Action::RemoveDiscovery { .. }
            | Action::CloseTerminal { .. }
            | Action::SweepBeside { .. }
            | Action::EndUndo { .. } => {}
        }
        None
    }
}

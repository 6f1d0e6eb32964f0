//! A hub in the harness, for one input: its files, journal and page always answer, its editor never does by itself.
//! Everything that it does is checked.

use linkspan_editor_api::PageLinkResult;
use linkspan_hub::core::harness::{CoreHarness, attach_params};
use linkspan_hub::core::{Action, ConnectionId, Event, ExchangeAnswer};
use linkspan_review::AgentId;
use linkspan_workspace::WorkspaceError;
use serde_json::{Value, json};

use crate::questions::{Asker, Questions};

pub(crate) const COMMAND: ConnectionId = ConnectionId(2);
pub(crate) const PAGE: ConnectionId = ConnectionId(3);
/// An agent of our own dialect, which has joined on the hub's socket.
pub(crate) const OWN: ConnectionId = ConnectionId(4);

pub(crate) struct Hub {
    harness: CoreHarness,
    pub(crate) questions: Questions,
    /// The newest connection of the editor.
    pub(crate) editor: ConnectionId,
    /// A connection that may decide has sent something that can be an acceptance.
    pub(crate) accepted: bool,
}

impl Hub {
    /// With a window of an editor that can do everything, a command, and an open page.
    pub(crate) fn new() -> Hub {
        let mut harness = CoreHarness::new();
        harness.page_link = Ok(PageLinkResult { url: String::new(), port: 1, expires_in_seconds: 1 });
        harness.history_is_empty = true;
        let editor = ConnectionId(100);
        let mut hub = Hub { harness, questions: Questions::default(), editor, accepted: false };
        hub.attach();
        hub.event(Event::ConnectionOpened { connection: COMMAND });
        hub.event(Event::PageOpened { connection: PAGE });
        hub
    }

    /// On a connection of its own.
    pub(crate) fn attach(&mut self) {
        self.editor = ConnectionId(self.editor.0 + 1);
        self.event(Event::ConnectionOpened { connection: self.editor });
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
        let params = attach_params(capabilities, None);
        let attach = json!({ "jsonrpc": "2.0", "id": "attach", "method": "attach", "params": params });
        self.connection(self.editor, attach.to_string().as_bytes());
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.harness.stopped
    }

    pub(crate) fn connection(&mut self, connection: ConnectionId, body: &[u8]) {
        self.questions.heard(Asker::Connection(connection), body);
        self.event(Event::ConnectionMessage { connection, body: body.to_vec() });
    }

    pub(crate) fn agent(&mut self, agent: AgentId, text: &str) {
        self.questions.heard(Asker::Agent(agent), text.as_bytes());
        self.event(Event::AgentFrame { agent, text: text.to_owned(), exchange: None });
    }

    /// Lets the next thing become due.
    pub(crate) fn wait(&mut self) {
        let Some(due) = self.harness.core.next_deadline() else { return };
        self.harness.now_ms = self.harness.now_ms.max(due);
        self.event(Event::Tick);
    }

    /// Lets everything become due that is due within so many seconds.
    pub(crate) fn wait_seconds(&mut self, seconds: u64) {
        let until = self.harness.now_ms + seconds * 1000;
        while self.harness.core.next_deadline().is_some_and(|due| due <= until) && !self.is_stopped() {
            self.wait();
        }
    }

    pub(crate) fn event(&mut self, event: Event) {
        let mut waiting = vec![event];
        while let Some(event) = waiting.pop() {
            if self.is_stopped() {
                return;
            }
            let Hub { harness, questions, accepted, .. } = self;
            harness.watched_event(event, &mut |action| check(questions, *accepted, action));
            let jobs = self.harness.jobs.drain(..);
            waiting.extend(
                jobs.map(|(ticket, ..)| Event::JobDone { ticket, result: Err(WorkspaceError::NoGit) }),
            );
        }
    }
}

fn check(questions: &mut Questions, accepted: bool, action: &Action) {
    match action {
        Action::SendMessage { connection, body } => questions.told(Asker::Connection(*connection), body),
        Action::Publish { to, body } => {
            for connection in to {
                questions.told(Asker::Connection(*connection), body);
            }
        }
        Action::SendAgent { agent, text } => questions.told(Asker::Agent(*agent), text.as_bytes()),
        Action::AnswerExchange { agent, answer, .. } => match answer {
            ExchangeAnswer::Text(text)
            | ExchangeAnswer::Introduced { text, .. }
            | ExchangeAnswer::Malformed(text) => {
                questions.told(Asker::Agent(*agent), text.as_bytes());
            }
            ExchangeAnswer::Nothing => {}
        },
        Action::CloseConnection { connection } => questions.gone(Asker::Connection(*connection)),
        Action::CloseAgent { agent, .. } => questions.gone(Asker::Agent(*agent)),
        Action::WriteFile { .. } => assert!(accepted, "a write that nobody decided"),
        _ => {}
    }
}

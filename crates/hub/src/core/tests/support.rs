//! What the tests say to a hub in the harness, and what they look for in what it says.

use std::path::PathBuf;

use linkspan_review::{AgentId, Review, ReviewEnd, WindowId};
use serde_json::{Value, json};

use crate::core::contract::{RememberedChat, RememberedState, ReviewPast, UnseenWrite};
use crate::core::harness::{CoreHarness, attach_params};
use crate::core::{ConnectionId, Event};

pub(super) const EDITOR: ConnectionId = CoreHarness::EDITOR;
pub(super) const COMMAND: ConnectionId = ConnectionId(2);

impl CoreHarness {
    /// Lets the held records through, each with this result.
    pub(super) fn release_records(&mut self, result: Result<(), String>) {
        for (review, step) in std::mem::take(&mut self.held_records) {
            self.event(Event::Recorded { review, step, result: result.clone() });
        }
    }

    pub(super) fn release_reads(&mut self) {
        self.hold_reads = false;
        for read in std::mem::take(&mut self.held_reads) {
            self.event(read);
        }
    }

    /// The results of reads, for a test that gives them back in an order of its own.
    pub(super) fn take_reads(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.held_reads)
    }

    pub(super) fn events(&mut self, events: Vec<Event>) {
        for event in events {
            self.event(event);
        }
    }

    pub(super) fn wait_seconds(&mut self, seconds: u64) {
        self.wait_ms(seconds * 1000);
    }

    /// Killed right after a decision was recorded: nothing later is in the journal, and nothing in the file.
    pub(super) fn restart_at_the_decision(mut self, file: &[u8]) -> CoreHarness {
        self.journal = std::mem::take(&mut self.decided);
        self.files.insert("/ws/a.txt".into(), file.to_vec());
        self.restart()
    }

    /// The hub is killed and started again: files and journal are all that is left.
    pub(super) fn restart(self) -> CoreHarness {
        let past = self.journal.keys().map(|id| ReviewPast {
            review: *id,
            proposed_ms: 0,
            decided_ms: Some(self.downtime_ms),
            origin: self.origins.get(id).cloned(),
        });
        let unseen = self.journal.values().filter(|review| !self.on_disk.contains(&review.id));
        let unseen = unseen.filter_map(|review| unseen_write(review, self.downtime_ms));
        let remembered = RememberedState {
            unseen: unseen.collect(),
            past: past.collect(),
            next_review: self.journal.keys().map(|id| id.0 + 1).max().unwrap_or(1),
            reviews: self.journal.values().cloned().collect(),
            next_window: 1,
            windows: Vec::new(),
            undos: Vec::new(),
            last_chat: self.chats.keys().copied().max().unwrap_or(0),
            chats: self
                .chats
                .iter()
                .map(|(chat, (head, items))| RememberedChat {
                    chat: *chat,
                    head: head.clone(),
                    items: items.keys().last().map_or(0, |last| last + 1),
                    bytes: items.values().map(String::len).sum(),
                })
                .collect(),
        };
        let mut hub = CoreHarness::restarted(remembered, self.files);
        (hub.journal, hub.chats) = (self.journal, self.chats);
        hub
    }

    pub(super) fn attach(&mut self, connection: ConnectionId, capabilities: Value) {
        self.event(Event::ConnectionOpened { connection });
        let attach = attach_params(capabilities, self.window_id);
        self.request(connection, "attach", attach);
    }

    /// Two editors attach before the place of either is ready.
    pub(super) fn attach_both(&mut self, one: ConnectionId, other: ConnectionId) {
        self.hold_windows = true;
        self.attach(one, json!({}));
        self.attach(other, json!({}));
        self.hold_windows = false;
        for place in std::mem::take(&mut self.held_windows) {
            self.event(place);
        }
    }

    pub(super) fn attached_window(&self, connection: ConnectionId) -> &Value {
        let answers =
            self.to_connections.iter().filter(|(to, _)| *to == connection).map(|(_, message)| message);
        answers.map(|message| &message["result"]["window"]).find(|window| window.is_string()).unwrap()
    }

    pub(super) fn request(&mut self, connection: ConnectionId, method: &str, params: Value) -> i64 {
        self.next_request += 1;
        let id = self.next_request;
        self.event(message(
            connection,
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }),
        ));
        id
    }

    /// What an editor says to a request it was left to answer.
    pub(super) fn respond(&mut self, connection: ConnectionId, id: &Value, result: Value) {
        self.event(message(connection, &json!({ "jsonrpc": "2.0", "id": id, "result": result })));
    }

    pub(super) fn notify(&mut self, connection: ConnectionId, method: &str, params: Value) {
        self.event(message(connection, &json!({ "jsonrpc": "2.0", "method": method, "params": params })));
    }

    /// What became of a request on the hub's own socket.
    pub(super) fn response_to(&self, connection: ConnectionId, id: i64) -> Option<&Value> {
        let answers =
            self.to_connections.iter().filter(|(to, message)| *to == connection && message["id"] == id);
        answers.map(|(_, message)| message).find(|message| message["method"].is_null())
    }

    pub(super) fn shown(&self) -> Vec<&Value> {
        self.requests_to_editor("review/show")
    }

    pub(super) fn requests_to_editor(&self, method: &str) -> Vec<&Value> {
        self.to_connections
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

    pub(super) fn decide(&mut self, connection: ConnectionId, verdict: &str) -> i64 {
        self.request(
            connection,
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

    pub(super) fn disconnect(&mut self, agent: AgentId) {
        self.event(Event::AgentClosed { agent, said_goodbye: false });
    }

    pub(super) fn file(&self) -> &[u8] {
        self.files.get(&PathBuf::from("/ws/a.txt")).map_or(b"", |bytes| bytes)
    }

    pub(super) fn reviews(&self) -> Vec<&Review> {
        self.core.reviews.iter().collect()
    }
}

/// A change that its agent was to write.
fn unseen_write(review: &Review, decided_ms: u64) -> Option<UnseenWrite> {
    let ReviewEnd::Accepted(accepted) = &review.outcome()?.ended else { return None };
    (review.writer.is_agent() && !review.written_here).then(|| UnseenWrite {
        review: review.id,
        window: review.window,
        path: review.path.clone(),
        owner_key: review.owner_key.clone(),
        decided_ms,
        writer: review.writer,
        before: review.base.as_ref().and_then(|base| base.encode().ok()),
        accepted: accepted.bytes.clone(),
    })
}

fn message(connection: ConnectionId, message: &Value) -> Event {
    Event::ConnectionMessage { connection, body: message.to_string().into_bytes() }
}

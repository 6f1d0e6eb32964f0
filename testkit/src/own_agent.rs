//! An agent that has joined on the hub's own socket.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use linkspan_editor_api::PROTOCOL;
use serde_json::{Value, json};

use super::{DEADLINE, HubSocket, World};

/// An agent that speaks our own dialect.
pub struct OwnAgent {
    socket: HubSocket,
    pub joined: Value,
    /// Messages that arrived and were not asked for yet.
    heard: VecDeque<Value>,
    next: i64,
    pub pings: usize,
}

impl OwnAgent {
    /// In the first window.
    #[track_caller]
    pub fn join(world: &World, session: &str) -> OwnAgent {
        let window = world.status()["windows"][0]["window"].as_str().expect("no window").to_owned();
        let mut socket = HubSocket::connect(world);
        let hello =
            socket.request("hub/hello", json!({ "version": "1", "protocol": PROTOCOL, "role": "tester" }));
        assert!(hello["error"].is_null(), "{hello}");
        let answer = socket.request("agent/join", join(&window, session));
        assert!(answer["error"].is_null(), "{answer}");
        let joined = answer["result"].clone();
        let mut agent = OwnAgent { socket, joined, heard: VecDeque::new(), next: 0, pings: 0 };
        let client = json!({ "name": "another name", "version": "9" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let id = agent.send_request("initialize", hello);
        assert_eq!(agent.answer(id)["result"]["serverInfo"]["name"], "linkspan");
        agent.notify("notifications/initialized", json!({}));
        agent
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.socket.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    pub fn send_request(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.socket.send(&request.to_string());
        self.next
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> i64 {
        self.send_request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    pub fn propose(&mut self, path: &str, text: &str) -> i64 {
        self.call("proposeChange", json!({ "path": path, "newText": text }))
    }

    #[track_caller]
    pub fn answer(&mut self, id: i64) -> Value {
        self.find(DEADLINE, |message| message["id"] == id && message["method"].is_null())
            .unwrap_or_else(|| panic!("no answer to {id}"))
    }

    /// The object in the answer of a tool.
    #[track_caller]
    pub fn told(&mut self, id: i64) -> Value {
        let answer = self.answer(id);
        assert!(answer["result"]["content"][0]["text"].is_string(), "{answer}");
        answer["result"]["structuredContent"].clone()
    }

    #[track_caller]
    pub fn ask(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.call(tool, arguments);
        self.told(id)
    }

    /// Whether that call is still unanswered after 300 ms.
    pub fn waits(&mut self, id: i64) -> bool {
        self.find(Duration::from_millis(300), |message| message["id"] == id && message["method"].is_null())
            .is_none()
    }

    #[track_caller]
    pub fn notification(&mut self, method: &str) -> Value {
        self.find(DEADLINE, |message| message["method"] == method)
            .unwrap_or_else(|| panic!("never received: {method}"))
    }

    /// Answers pings on the way, as an agent must.
    fn find(&mut self, patience: Duration, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        let until = Instant::now() + patience;
        if let Some(at) = self.heard.iter().position(&fits) {
            return self.heard.remove(at);
        }
        loop {
            let message = self.socket.receive_within(until.saturating_duration_since(Instant::now()))??;
            if message["method"] == "ping" {
                self.pings += 1;
                self.socket.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} }).to_string());
            } else if fits(&message) {
                return Some(message);
            } else {
                self.heard.push_back(message);
            }
        }
    }

    /// Leaves and waits until the hub closes the connection.
    #[track_caller]
    pub fn leave(mut self) {
        self.notify("agent/leave", json!({}));
        while self.socket.receive().is_some() {}
    }
}

pub fn join(window: &str, session: &str) -> Value {
    json!({ "window": window, "session": session, "name": "tester", "version": "1", "pid": std::process::id() })
}

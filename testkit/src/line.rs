//! One connection to the hub's own socket, framed, and an agent that has joined on it.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use linkspan_editor_api::{Decoder, Limits, PROTOCOL, encode};
use serde_json::{Value, json};

use super::{DEADLINE, World};

pub struct Line {
    pub stream: UnixStream,
    decoder: Decoder,
}

impl Line {
    pub fn to(world: &World) -> Line {
        Line::over(UnixStream::connect(world.socket()).unwrap())
    }

    /// Either end of a connection.
    pub fn over(stream: UnixStream) -> Line {
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        Line { stream, decoder: Decoder::new(Limits::default()) }
    }

    /// The next message; none when the hub has hung up.
    #[track_caller]
    pub fn hear(&mut self) -> Option<Value> {
        self.hear_within(DEADLINE).unwrap_or_else(|| panic!("the hub says nothing"))
    }

    /// None when nothing comes in time; the inner one when the hub has hung up.
    #[expect(clippy::option_option, reason = "silence and a hang-up are two things")]
    fn hear_within(&mut self, patience: Duration) -> Option<Option<Value>> {
        let mut bytes = [0; 4096];
        let until = Instant::now() + patience;
        loop {
            if let Some(body) = self.decoder.next().unwrap() {
                return Some(Some(serde_json::from_slice(&body).unwrap()));
            }
            let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            self.stream.set_read_timeout(Some(left)).unwrap();
            match self.stream.read(&mut bytes) {
                Ok(0) => return Some(None),
                Ok(length) => self.decoder.push(&bytes[..length]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Some(None),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return None;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    pub fn send(&mut self, body: &str) {
        self.stream.write_all(&encode(body.as_bytes())).unwrap();
    }

    #[track_caller]
    pub fn say(&mut self, body: &str) -> Option<Value> {
        self.send(body);
        self.hear()
    }

    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": "q", "method": method, "params": params });
        let answer = self.say(&message.to_string()).expect("no answer");
        assert_eq!(answer["id"], "q", "{answer}");
        answer
    }
}

/// An agent that speaks our own dialect.
pub struct OwnAgent {
    line: Line,
    pub joined: Value,
    /// What came and nobody has asked for yet.
    heard: VecDeque<Value>,
    next: i64,
    pub pings: usize,
}

impl OwnAgent {
    /// In the first window there is.
    #[track_caller]
    pub fn join(world: &World, session: &str) -> OwnAgent {
        let window = world.status()["windows"][0]["window"].as_str().expect("no window").to_owned();
        let mut line = Line::to(world);
        let hello = line.ask("hub/hello", json!({ "version": "1", "protocol": PROTOCOL, "role": "tester" }));
        assert!(hello["error"].is_null(), "{hello}");
        let answer = line.ask("agent/join", join(&window, session));
        assert!(answer["error"].is_null(), "{answer}");
        let joined = answer["result"].clone();
        let mut agent = OwnAgent { line, joined, heard: VecDeque::new(), next: 0, pings: 0 };
        let client = json!({ "name": "another name", "version": "9" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let id = agent.send_request("initialize", hello);
        assert_eq!(agent.answer(id)["result"]["serverInfo"]["name"], "linkspan");
        agent.notify("notifications/initialized", json!({}));
        agent
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.line.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    pub fn send_request(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.line.send(&request.to_string());
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

    /// Whether that call is not answered within a moment.
    pub fn waits(&mut self, id: i64) -> bool {
        self.find(Duration::from_millis(300), |message| message["id"] == id && message["method"].is_null())
            .is_none()
    }

    #[track_caller]
    pub fn notification(&mut self, method: &str) -> Value {
        self.find(DEADLINE, |message| message["method"] == method)
            .unwrap_or_else(|| panic!("never told: {method}"))
    }

    /// Answers pings on the way, as an agent must.
    fn find(&mut self, patience: Duration, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        let until = Instant::now() + patience;
        if let Some(at) = self.heard.iter().position(&fits) {
            return self.heard.remove(at);
        }
        loop {
            let message = self.line.hear_within(until.saturating_duration_since(Instant::now()))??;
            if message["method"] == "ping" {
                self.pings += 1;
                self.line.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} }).to_string());
            } else if fits(&message) {
                return Some(message);
            } else {
                self.heard.push_back(message);
            }
        }
    }

    /// Says goodbye and waits until the hub hangs up.
    #[track_caller]
    pub fn leave(mut self) {
        self.notify("agent/leave", json!({}));
        while self.line.hear().is_some() {}
    }
}

pub fn join(window: &str, session: &str) -> Value {
    json!({ "window": window, "session": session, "name": "tester", "version": "1", "pid": std::process::id() })
}

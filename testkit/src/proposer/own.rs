//! Our own dialect on the hub's socket. A thread reads all the time and answers pings.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_editor_api::{Decoder, Limits, PROTOCOL, encode};
use serde_json::{Value, json};

use super::super::own_agent::join;
use super::{ProposalOutcome, ProposedChange, Proposer, World};

const HELLO: Duration = Duration::from_secs(5);

pub(super) struct HubAgent {
    socket: Arc<UnixStream>,
    heard: Receiver<Value>,
    frozen: Arc<AtomicBool>,
    lost: bool,
    next_id: i64,
    waiting: Vec<(i64, String)>,
}

impl HubAgent {
    pub(super) fn connect(world: &World) -> Option<HubAgent> {
        let socket = Arc::new(UnixStream::connect(world.socket()).ok()?);
        let frozen = Arc::new(AtomicBool::new(false));
        let (to, heard) = channel();
        {
            let (socket, frozen) = (Arc::clone(&socket), Arc::clone(&frozen));
            thread::spawn(move || listen(&socket, &frozen, &to));
        }
        let mut agent = HubAgent { socket, heard, frozen, lost: false, next_id: 0, waiting: Vec::new() };
        agent.ask("hub/hello", json!({ "version": "1", "protocol": PROTOCOL, "role": "tester" }))?;
        let status = agent.ask("hub/windows", json!({}))?;
        let window = status["windows"][0]["window"].as_str()?.to_owned();
        agent.ask("agent/join", join(&window, "the-session"))?;
        let client = json!({ "name": "tester", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        agent.ask("initialize", hello)?;
        agent.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized", "params": {} }));
        Some(agent)
    }

    fn say(&self, message: &Value) {
        let _ = (&*self.socket).write_all(&encode(message.to_string().as_bytes()));
    }

    fn send(&mut self, method: &str, params: &Value) -> i64 {
        self.next_id += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params }));
        self.next_id
    }

    fn ask(&mut self, method: &str, params: Value) -> Option<Value> {
        let id = self.send(method, &params);
        let until = Instant::now() + HELLO;
        loop {
            let message = self.heard.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
            if message["id"] == id && message["method"].is_null() {
                return message.get("result").cloned();
            }
        }
    }
}

fn listen(socket: &UnixStream, frozen: &AtomicBool, to: &Sender<Value>) {
    let mut decoder = Decoder::new(Limits::default());
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = (&*socket).read(&mut buffer) {
        while frozen.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
        decoder.push(&buffer[..length]);
        while let Some(body) = decoder.next().unwrap() {
            let message: Value = serde_json::from_slice(&body).unwrap();
            if message["method"] == "ping" {
                let pong = json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} });
                let _ = (&*socket).write_all(&encode(pong.to_string().as_bytes()));
            } else if to.send(message).is_err() {
                return;
            }
        }
    }
}

impl Proposer for HubAgent {
    fn propose(&mut self, changes: &[ProposedChange]) {
        for ProposedChange { path, after, .. } in changes {
            let mut arguments = json!({ "path": path, "newText": after });
            if changes.len() > 1 {
                arguments["set"] = json!("together");
            }
            let id = self.send("tools/call", &json!({ "name": "proposeChange", "arguments": arguments }));
            self.waiting.push((id, path.clone()));
        }
    }

    fn hear(&mut self, patience: Duration) -> Option<ProposalOutcome> {
        let until = Instant::now() + patience;
        loop {
            let message = match self.heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(message) => message,
                Err(error) => {
                    self.lost |= error == RecvTimeoutError::Disconnected;
                    return None;
                }
            };
            let call = self.waiting.iter().position(|(id, _)| message["id"] == *id);
            let Some(call) = call.filter(|_| message["method"].is_null()) else { continue };
            let (_, path) = self.waiting.remove(call);
            let told = &message["result"]["structuredContent"];
            return Some(match told["outcome"].as_str() {
                Some("accepted") => {
                    ProposalOutcome::Accepted { path, text: told["text"].as_str().map(str::to_owned) }
                }
                Some("rejected") => ProposalOutcome::Rejected { path },
                _ => ProposalOutcome::Failed { path: Some(path), why: message.to_string() },
            });
        }
    }

    fn has_lost_the_hub(&self) -> bool {
        self.lost
    }

    fn come_back(&mut self, world: &World, _port: u16, changes: &[ProposedChange]) -> bool {
        let Some(again) = HubAgent::connect(world) else { return false };
        *self = again;
        self.propose(changes);
        true
    }

    fn freeze(&self) {
        self.frozen.store(true, Ordering::Relaxed);
    }

    fn thaw(&self) {
        self.frozen.store(false, Ordering::Relaxed);
    }

    fn cut_off(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

impl Drop for HubAgent {
    fn drop(&mut self) {
        self.cut_off();
        self.thaw();
    }
}

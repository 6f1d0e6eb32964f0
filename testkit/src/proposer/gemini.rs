//! Gemini CLI: the answer to a request only says that the change is shown; the decision arrives on a stream. The session
//! outlives both.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::gemini::{Gemini, Stream};
use super::{ProposalOutcome, ProposedChange, Proposer, World, file};

const HELLO: Duration = Duration::from_secs(5);
/// Decisions that were made meanwhile arrive within this time; only changes without one are proposed again.
const LISTENS_FIRST: Duration = Duration::from_millis(300);

pub(super) struct GeminiAgent {
    session: Gemini,
    stream: Option<Stream>,
    /// Requests without an answer, with the part of it that was received.
    asking: Vec<(ProposedChange, TcpStream, Vec<u8>)>,
    /// The hub answered that these are shown: from then on only the stream matters.
    shown: Vec<String>,
    last: Option<String>,
    /// The changes to propose again, and when.
    missing: Vec<ProposedChange>,
    ask_again: Instant,
}

impl GeminiAgent {
    pub(super) fn connect(world: &World, port: u16) -> Option<GeminiAgent> {
        let end = format!("-{port}.json");
        let ours = world.gemini_files().into_iter().find(|path| path.to_string_lossy().ends_with(&end))?;
        let token = file(&ours)?["authToken"].as_str()?.to_owned();
        let accept = "application/json, text/event-stream".to_owned();
        let mut session = Gemini { port, token, session: None, accept };
        let client = json!({ "name": "streamable-http-client", "version": "0.61.0" });
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let head = exchange(&session, &hello)?;
        let mut lines = head.lines().map(str::to_lowercase);
        let id = lines.find_map(|line| line.strip_prefix("mcp-session-id: ").map(|id| id.trim().len()))?;
        let named = head.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id: "))?;
        session.session = Some(named.trim().get(named.trim().len() - id..)?.to_owned());
        exchange(&session, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        let stream = Some(session.try_listen(None)?);
        Some(GeminiAgent {
            session,
            stream,
            asking: Vec::new(),
            shown: Vec::new(),
            last: None,
            missing: Vec::new(),
            ask_again: Instant::now(),
        })
    }

    /// Reads the answers to the requests; a failure is an outcome.
    fn collect(&mut self) -> Option<ProposalOutcome> {
        let mut failed = None;
        let shown = &mut self.shown;
        self.asking.retain_mut(|(wanted, socket, heard)| {
            let mut buffer = [0; 4096];
            let ended = match socket.read(&mut buffer) {
                Ok(0) => true,
                Ok(length) => {
                    heard.extend_from_slice(&buffer[..length]);
                    false
                }
                Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
            };
            let text = String::from_utf8_lossy(heard);
            let body =
                text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str::<Value>(body).ok());
            match body {
                Some(answer) if answer["result"]["content"] == json!([]) => {
                    shown.push(wanted.path.clone());
                    false
                }
                Some(answer) => {
                    failed = Some(ProposalOutcome::Failed {
                        path: Some(wanted.path.clone()),
                        why: answer.to_string(),
                    });
                    false
                }
                None => !ended,
            }
        });
        failed
    }
}

/// The whole answer to one message, if there is one.
fn exchange(session: &Gemini, message: &Value) -> Option<String> {
    let mut socket = session.try_post(message)?;
    socket.set_read_timeout(Some(HELLO)).ok()?;
    let mut heard = Vec::new();
    let _ = socket.read_to_end(&mut heard);
    let heard = String::from_utf8(heard).ok()?;
    (heard.starts_with("HTTP/1.1 200") || heard.starts_with("HTTP/1.1 202")).then_some(heard)
}

impl Proposer for GeminiAgent {
    fn propose(&mut self, changes: &[ProposedChange]) {
        for wanted in changes {
            let arguments = json!({ "filePath": wanted.path, "newContent": wanted.after });
            let params = json!({ "name": "openDiff", "arguments": arguments });
            let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
            if let Some(mut socket) = self.session.try_post(&call) {
                let _ = socket.flush();
                socket.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
                self.asking.push((wanted.clone(), socket, Vec::new()));
            }
        }
    }

    fn hear(&mut self, patience: Duration) -> Option<ProposalOutcome> {
        let until = Instant::now() + patience;
        loop {
            if let Some(failed) = self.collect() {
                return Some(failed);
            }
            if Instant::now() >= self.ask_again {
                let missing = std::mem::take(&mut self.missing);
                self.propose(&missing);
            }
            let stream = self.stream.as_mut()?;
            let message = stream.next_within(Duration::from_millis(10));
            self.last.clone_from(&stream.last);
            if let Some(message) = message {
                let path = message["params"]["filePath"].as_str().unwrap_or_default().to_owned();
                self.missing.retain(|wanted| wanted.path != path);
                match message["method"].as_str() {
                    Some("ide/diffAccepted") => {
                        let text = message["params"]["content"].as_str().map(str::to_owned);
                        return Some(ProposalOutcome::Accepted { path, text });
                    }
                    Some("ide/diffRejected") => return Some(ProposalOutcome::Rejected { path }),
                    Some("ide/diffClosed") => {
                        return Some(ProposalOutcome::Failed { path: Some(path), why: message.to_string() });
                    }
                    _ => {}
                }
            } else if Instant::now() >= until {
                return None;
            }
        }
    }

    fn has_lost_the_hub(&self) -> bool {
        self.stream.as_ref().is_none_or(Stream::has_ended)
    }

    /// The session continues: changes that the hub shows are not proposed again.
    fn come_back(&mut self, world: &World, port: u16, changes: &[ProposedChange]) -> bool {
        // Answers that arrived before the loss count.
        self.collect();
        self.asking.clear();
        match self.session.try_listen(self.last.as_deref()) {
            Some(stream) => self.stream = Some(stream),
            None => {
                // A running hub that no longer knows the session, as after a long time.
                let Some(again) = GeminiAgent::connect(world, port) else { return false };
                *self = again;
            }
        }
        let missing = changes.iter().filter(|wanted| !self.shown.contains(&wanted.path));
        self.missing = missing.cloned().collect();
        self.ask_again = Instant::now() + LISTENS_FIRST;
        true
    }

    fn freeze(&self) {
        if let Some(stream) = &self.stream {
            stream.freeze();
        }
    }

    fn thaw(&self) {
        if let Some(stream) = &self.stream {
            stream.thaw();
        }
    }

    fn cut_off(&mut self) {
        for (_, socket, _) in &self.asking {
            let _ = socket.shutdown(Shutdown::Both);
        }
        if let Some(stream) = &self.stream {
            stream.cut_off();
        }
    }
}

impl Drop for GeminiAgent {
    fn drop(&mut self) {
        self.cut_off();
        self.thaw();
    }
}

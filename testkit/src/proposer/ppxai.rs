//! ppxai: one request for all files, answered when all are decided. It reads only when a test asks for the outcome.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::raw_http::head;
use super::{ProposalOutcome, ProposedChange, Proposer, World, edit};

pub(super) struct PpxaiAgent {
    port: u16,
    socket: TcpStream,
    asked: Vec<ProposedChange>,
    heard: Vec<u8>,
    /// Outcomes of one answer that were not asked for yet.
    told: Vec<ProposalOutcome>,
    frozen: AtomicBool,
    lost: bool,
}

impl PpxaiAgent {
    pub(super) fn connect(port: u16) -> Option<PpxaiAgent> {
        let socket = TcpStream::connect(("127.0.0.1", port)).ok()?;
        let (asked, heard, told) = (Vec::new(), Vec::new(), Vec::new());
        Some(PpxaiAgent { port, socket, asked, heard, told, frozen: AtomicBool::new(false), lost: false })
    }

    fn read(&mut self, patience: Duration) {
        let mut buffer = [0; 4096];
        self.socket.set_read_timeout(Some(patience.max(Duration::from_millis(1)))).unwrap();
        match self.socket.read(&mut buffer) {
            Ok(0) => self.lost = true,
            Ok(length) => self.heard.extend_from_slice(&buffer[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => self.lost = true,
        }
    }

    /// The body of one whole answer.
    fn answer(&mut self) -> Option<Value> {
        let text = String::from_utf8_lossy(&self.heard).into_owned();
        let (head, body) = text.split_once("\r\n\r\n")?;
        let length = head.to_lowercase();
        let length = length.lines().find_map(|line| line.strip_prefix("content-length: "))?;
        let whole = body.get(..length.trim().parse().ok()?)?;
        let status = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let answer = serde_json::from_str(whole).unwrap_or(json!({ "error": format!("status {status}") }));
        self.heard.clear();
        Some(answer)
    }

    fn understand(&mut self, answer: &Value) {
        // A rejection has an error for simple clients, and a result like any decision.
        if answer["success"] != true && answer["code"] != "REJECTED" {
            self.told.push(ProposalOutcome::Failed { path: None, why: answer.to_string() });
            return;
        }
        let result = &answer["result"];
        for wanted in &self.asked {
            let name = wanted.path.rsplit('/').next().unwrap_or_default();
            let of_it = result["files"].as_array().map_or(Some(result), |files| {
                files.iter().find(|file| file["path"].as_str().is_some_and(|path| path.ends_with(name)))
            });
            let path = wanted.path.clone();
            self.told.push(match of_it.and_then(|file| file["accepted"].as_bool()) {
                Some(true) => {
                    let text = of_it.and_then(|file| file["content"].as_str()).map(str::to_owned);
                    ProposalOutcome::Accepted { path, text }
                }
                Some(false) => ProposalOutcome::Rejected { path },
                None => ProposalOutcome::Failed { path: None, why: answer.to_string() },
            });
        }
    }
}

fn asked_for(wanted: &ProposedChange) -> Value {
    match &wanted.before {
        Some(before) => json!({ "path": wanted.path, "edits": [edit(before, &wanted.after)] }),
        None => json!({ "path": wanted.path, "content": wanted.after }),
    }
}

impl Proposer for PpxaiAgent {
    fn propose(&mut self, changes: &[ProposedChange]) {
        self.asked = changes.to_vec();
        let args = match changes {
            [one] => asked_for(one),
            several => json!({ "files": several.iter().map(asked_for).collect::<Vec<_>>() }),
        };
        let body = json!({ "id": "p1", "tool": "ide.apply_edit", "args": args }).to_string();
        let lines = [
            format!("Host: 127.0.0.1:{}", self.port),
            "User-Agent: ppxai/1.0".to_owned(),
            "Content-Type: application/json".to_owned(),
            format!("Content-Length: {}", body.len()),
        ];
        if self.socket.write_all((head("POST /ide/execute HTTP/1.1", &lines) + &body).as_bytes()).is_err() {
            self.lost = true;
        }
    }

    fn hear(&mut self, patience: Duration) -> Option<ProposalOutcome> {
        let until = Instant::now() + patience;
        while self.told.is_empty() && !self.frozen.load(Ordering::Relaxed) {
            if let Some(answer) = self.answer() {
                self.understand(&answer);
            } else if self.lost || Instant::now() >= until {
                return None;
            } else {
                self.read(until.saturating_duration_since(Instant::now()));
            }
        }
        (!self.told.is_empty()).then(|| self.told.remove(0))
    }

    fn has_lost_the_hub(&self) -> bool {
        self.lost && self.told.is_empty()
    }

    fn come_back(&mut self, _world: &World, port: u16, changes: &[ProposedChange]) -> bool {
        let Some(again) = PpxaiAgent::connect(port) else { return false };
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

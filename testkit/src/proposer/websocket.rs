//! Claude Code, NEXUS3 and Clio: one WebSocket, one question for each file.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::agent::{self, Agent, CLAUDE, NEXUS3, Who};
use super::{Dialect, ProposalOutcome, ProposedChange, Proposer, World, edit, file};

/// A hub that answers admits an agent within this time.
const HELLO: Duration = Duration::from_secs(5);

pub(super) struct WebSocketAgent {
    dialect: Dialect,
    agent: Agent,
    /// The pending calls, with their files.
    waiting: Vec<(i64, ProposedChange)>,
}

impl WebSocketAgent {
    pub(super) fn connect(dialect: Dialect, world: &World, port: u16) -> Option<WebSocketAgent> {
        let agent = match dialect {
            Dialect::Clio => {
                let mut agent = Agent::open(port, &[]).ok()?;
                let hello = json!({ "type": "connect", "clientVersion": "0.1.0" });
                agent.try_send_json(&hello).then_some(())?;
                agent.find(HELLO, |message| message["type"] == "connected")?;
                agent
            }
            Dialect::Claude => introduced(world, port, agent::WsDialect::Claude, CLAUDE)?,
            _ => introduced(world, port, agent::WsDialect::Nexus3, NEXUS3)?,
        };
        Some(WebSocketAgent { dialect, agent, waiting: Vec::new() })
    }

    fn told(&mut self, message: &Value) -> Option<ProposalOutcome> {
        if self.dialect == Dialect::Clio {
            let path = message["file"].as_str().unwrap_or_default().to_owned();
            return match message["type"].as_str()? {
                "diffAccepted" => Some(ProposalOutcome::Accepted { path, text: None }),
                "diffRejected" => Some(ProposalOutcome::Rejected { path }),
                "error" => Some(ProposalOutcome::Failed { path: Some(path), why: message.to_string() }),
                _ => None,
            };
        }
        let at = self.waiting.iter().position(|(id, _)| message["id"] == *id)?;
        let (_, ProposedChange { path, before, .. }) = self.waiting.remove(at);
        let said = |at: usize| message["result"]["content"][at]["text"].as_str();
        // As Claude Code does with a new file.
        let written = |text: &str| match (self.dialect, &before) {
            (Dialect::Claude, None) => text.strip_suffix('\n').unwrap_or(text).to_owned(),
            _ => text.to_owned(),
        };
        match said(0) {
            Some("FILE_SAVED") => Some(ProposalOutcome::Accepted { path, text: said(1).map(written) }),
            Some("DIFF_REJECTED") => Some(ProposalOutcome::Rejected { path }),
            _ => Some(ProposalOutcome::Failed { path: Some(path), why: message.to_string() }),
        }
    }
}

fn introduced(world: &World, port: u16, dialect: agent::WsDialect, who: Who) -> Option<Agent> {
    let lock = file(&dialect.folder(world).join(format!("{port}.lock")))?;
    let mut headers = vec![(dialect.header(), lock["authToken"].as_str()?)];
    if dialect == agent::WsDialect::Claude {
        headers.push(("Sec-WebSocket-Protocol", "mcp"));
    }
    let mut agent = Agent::open(port, &headers).ok()?;
    let client = json!({ "name": who.name, "version": who.version });
    let params = json!({ "protocolVersion": who.protocol, "capabilities": {}, "clientInfo": client });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    agent.try_send_json(&hello).then_some(())?;
    agent.answer_within(0, HELLO)?;
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized", "params": {} });
    agent.try_send_json(&ready).then_some(agent)
}

impl Proposer for WebSocketAgent {
    fn propose(&mut self, changes: &[ProposedChange]) {
        for change in changes {
            let ProposedChange { path, before, after } = change;
            if self.dialect == Dialect::Clio {
                let edits = [edit(before.as_deref().unwrap_or_default(), after)];
                let said = json!({ "type": "proposeDiff", "file": path, "edits": edits });
                self.agent.try_send_json(&said);
            } else {
                let id = self.agent.new_id();
                let params = json!({ "name": "openDiff", "arguments": agent::diff(path, after, "the tab") });
                let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
                self.waiting.push((id, change.clone()));
                self.agent.try_send_json(&call);
            }
        }
    }

    fn hear(&mut self, patience: Duration) -> Option<ProposalOutcome> {
        let until = Instant::now() + patience;
        loop {
            let message = self.agent.next_frame(until.saturating_duration_since(Instant::now()))?;
            if let Some(told) = self.told(&message) {
                return Some(told);
            }
        }
    }

    fn has_lost_the_hub(&self) -> bool {
        self.agent.closed.is_some()
    }

    fn come_back(&mut self, world: &World, port: u16, changes: &[ProposedChange]) -> bool {
        let Some(again) = WebSocketAgent::connect(self.dialect, world, port) else { return false };
        *self = again;
        self.propose(changes);
        true
    }

    fn freeze(&self) {
        self.agent.freeze();
    }

    fn thaw(&self) {
        self.agent.thaw();
    }

    fn cut_off(&mut self) {
        self.agent.cut_off();
    }
}

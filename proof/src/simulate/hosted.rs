//! Simulated processes of agents that the hub hosts: they begin, take prompts, ask before they change files, write what
//! they were allowed to, end, and are killed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use linkspan_hub::core::contract::{ChatPeer, ChildCommand, HostedAgent};
use linkspan_review::AgentId;
use serde_json::{Value, json};

use super::file_contents::MARK;
use super::simulation::{SimEvent, Simulation};
use super::wire::{Endpoint, Peer, PeerName, ToHub, ToPeer, Wire, WireId};

pub(super) const HOSTED: &str = "hosted";

pub(super) struct SimProcess {
    home: usize,
    wire: WireId,
    alive: bool,
    session: String,
    /// The prompt that is not answered.
    prompt: Option<Value>,
    /// What it asks for, by the id of the request.
    pub(super) open: BTreeMap<u64, Edit>,
    /// What it asked for when it ended its turn: it does not listen for the answer. A hub that answers before it hears of
    /// the end cannot know that.
    pub(super) given_up: BTreeMap<u64, Edit>,
    next_id: u64,
}

/// The whole new texts of some files, which it wants to write.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    pub(super) parts: Vec<(PathBuf, Option<String>, String)>,
}

pub(super) fn table() -> Vec<HostedAgent> {
    vec![HostedAgent {
        id: HOSTED.to_owned(),
        name: "Hosted".to_owned(),
        command: vec![HOSTED.to_owned()],
        program: Some("/bin/hosted".into()),
        env: Vec::new(),
        mode: None,
        hint: None,
        engine: None,
    }]
}

impl SimProcess {
    pub(super) fn is_alive(&self) -> bool {
        self.alive
    }
}

impl Simulation {
    pub(super) fn process_starts(&mut self, agent: AgentId, peer: &ChatPeer) {
        let ChatPeer::Process(ChildCommand { cwd, .. }) = peer else { return };
        let home = cwd.to_string_lossy().trim_start_matches("/ws").parse().expect("a folder of a window");
        self.count("hosted agents started");
        let (wire, number) = (WireId(self.wires.len()), self.processes.len());
        let (life, now) = (self.hub.life, self.now);
        self.wires.push(Wire {
            peer: Peer::Process(number),
            door: Endpoint::Socket,
            life,
            name: Some(PeerName::Agent(agent)),
            cut_at: None,
            over_for_hub: false,
            over_at: None,
            over_for_peer: false,
            unread: 0,
            to_hub_at: now,
            to_peer_at: now,
        });
        self.hub.agents.insert(agent, wire);
        self.processes.push(SimProcess {
            home,
            wire,
            alive: true,
            session: format!("session {number}"),
            prompt: None,
            open: BTreeMap::new(),
            given_up: BTreeMap::new(),
            next_id: 0,
        });
        self.later(100, SimEvent::Turn(Peer::Process(number)));
    }

    pub(super) fn process_turn(&mut self, number: usize) {
        let process = &self.processes[number];
        if !process.alive {
            return;
        }
        let (working, open) = (process.prompt.is_some(), process.open.len());
        let pause = if self.calm { 200 } else { 100 + self.chance.below(2_000) as u64 };
        self.later(pause, SimEvent::Turn(Peer::Process(number)));
        let choice = if self.calm { 99 } else { self.chance.below(100) };
        match choice {
            0..2 => self.process_dies(number),
            _ if !working => {}
            2..60 if open < 2 => self.process_asks(number),
            60..68 => {
                let text = json!({ "type": "text", "text": "I am at it. " });
                self.says_update(number, &json!({ "sessionUpdate": "agent_message_chunk", "content": text }));
            }
            // Some end their turn while they ask.
            68..70 => self.ends_turn(number, "end_turn"),
            70..80 | 99 if open == 0 => self.ends_turn(number, "end_turn"),
            _ => {}
        }
    }

    /// Killed: what was on the way to it is lost, and what it said arrives.
    fn process_dies(&mut self, number: usize) {
        self.count("hosted agents killed");
        self.trace.tell(self.now, || format!("process {number} is killed"));
        self.processes[number].alive = false;
        let wire = self.processes[number].wire;
        self.send_to_hub(wire, ToHub::Closed);
    }

    fn ends_turn(&mut self, number: usize, reason: &str) {
        let process = &mut self.processes[number];
        process.given_up.append(&mut process.open);
        let Some(id) = process.prompt.take() else { return };
        let wire = process.wire;
        self.count("turns of hosted agents");
        let result = json!({ "stopReason": reason });
        self.agent_says(wire, &json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn says_update(&mut self, number: usize, update: &Value) {
        let process = &self.processes[number];
        let params = json!({ "sessionId": process.session, "update": update });
        let wire = process.wire;
        self.agent_says(wire, &json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    }

    fn process_asks(&mut self, number: usize) {
        let home = self.processes[number].home;
        let mut names = ["lf", "crlf", "bom", "open", ""];
        self.chance.shuffle(&mut names);
        let several = if self.chance.in_hundred(30) { 2 + self.chance.below(2) } else { 1 };
        let mut parts = Vec::new();
        for name in names.into_iter().take(several) {
            let path: PathBuf = match name {
                "" => format!("/ws{home}/new-{}.txt", self.chance.below(50)).into(),
                name => format!("/ws{home}/{name}.txt").into(),
            };
            let old = self.known_text(home, &path);
            let new = self.changed(old.as_deref().unwrap_or_default());
            parts.push((path, old, new));
        }
        self.count("changes that hosted agents ask for");
        let process = &mut self.processes[number];
        process.next_id += 1;
        let (id, wire, session) = (process.next_id, process.wire, process.session.clone());
        let diff = |(path, old, new): &(PathBuf, Option<String>, String)| json!({ "type": "diff", "path": path, "oldText": old, "newText": new });
        let content: Vec<Value> = parts.iter().map(diff).collect();
        process.open.insert(id, Edit { parts });
        let options = json!([
            { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
            { "optionId": "no", "name": "No", "kind": "reject_once" },
        ]);
        let call = json!({ "toolCallId": tool(id), "kind": "edit", "title": "Edit", "content": content });
        let params = json!({ "sessionId": session, "toolCall": call, "options": options });
        self.agent_says(
            wire,
            &json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params }),
        );
    }

    /// It reads what the user sees.
    fn known_text(&self, home: usize, path: &PathBuf) -> Option<String> {
        let live = self.editors[home].documents.get(path).map(|document| document.text.text.to_string());
        let held = || {
            let bytes = self.disk.get(path)?;
            Some(String::from_utf8_lossy(bytes).trim_start_matches(MARK).to_owned())
        };
        live.or_else(held)
    }

    pub(super) fn process_hears(&mut self, number: usize, what: ToPeer) {
        if !self.processes[number].alive {
            return;
        }
        let frame = match what {
            ToPeer::Closed => return self.processes[number].alive = false,
            ToPeer::Ping(_) | ToPeer::Event(..) => return,
            ToPeer::Frame(frame) => frame,
        };
        let wire = self.processes[number].wire;
        let mut reply = |result: Value| {
            self.agent_says(wire, &json!({ "jsonrpc": "2.0", "id": frame["id"], "result": result }));
        };
        match frame["method"].as_str() {
            Some("initialize") => {
                let capabilities = json!({ "loadSession": true });
                reply(json!({ "protocolVersion": 1, "agentCapabilities": capabilities }));
            }
            Some("session/new") => {
                let session = self.processes[number].session.clone();
                self.agent_says(
                    wire,
                    &json!({ "jsonrpc": "2.0", "id": frame["id"], "result": { "sessionId": session } }),
                );
            }
            Some("session/load") => {
                reply(json!({}));
                let session = frame["params"]["sessionId"].as_str().unwrap_or_default();
                self.processes[number].session = session.to_owned();
            }
            Some("session/prompt") => self.processes[number].prompt = Some(frame["id"].clone()),
            // Some do not listen.
            Some("session/cancel") if self.fault(200) => self.count("hosted agents that ignore a cancel"),
            Some("session/cancel") => self.ends_turn(number, "cancelled"),
            Some(_) => {}
            None => self.process_answered(number, &frame),
        }
    }

    fn process_answered(&mut self, number: usize, frame: &Value) {
        let Some(id) = frame["id"].as_u64() else { return };
        let Some(edit) = self.processes[number].open.remove(&id) else { return };
        if frame["result"]["outcome"]["optionId"] == "yes" {
            let delay = self.delay();
            return self.later(delay, SimEvent::ProcessWrites(number, id, edit));
        }
        let update =
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": tool(id), "status": "failed" });
        // Some only go on.
        if self.calm || self.chance.in_hundred(80) {
            self.says_update(number, &update);
        }
    }

    /// What it was allowed to write.
    pub(super) fn process_writes(&mut self, number: usize, id: u64, edit: Edit) {
        if !self.processes[number].alive {
            return;
        }
        self.wrote(number, id);
        for (path, _, new) in edit.parts {
            self.count("writes of hosted agents");
            self.trace.tell(self.now, || format!("process {number} writes {}", path.display()));
            let mark = if path.ends_with("bom.txt") { MARK } else { "" };
            self.overwritten(&path);
            self.puts(path, Some(format!("{mark}{new}").into_bytes()));
        }
        let update =
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": tool(id), "status": "completed" });
        self.says_update(number, &update);
    }

    /// No process waits for a decision.
    pub(super) fn processes_are_settled(&self) -> bool {
        self.processes.iter().all(|process| !process.alive || process.open.is_empty())
    }
}

fn tool(id: u64) -> String {
    format!("call {id}")
}

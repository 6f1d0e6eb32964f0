//! Simulated agents: they propose, wait, lose their connection and ask again, in the bytes of their dialects.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::lines::changed;
use super::wire::{Door, Peer, ToHub, ToPeer, WireId};
use super::world::{Happening, World};

pub(super) struct Agent {
    pub(super) dialect: &'static str,
    pub(super) name: String,
    /// The window that it works in.
    home: usize,
    pub(super) wire: Option<WireId>,
    /// It has said who it is, where that has to be answered first.
    joined: bool,
    next_id: i64,
    pub(super) asks: Vec<Ask>,
    /// What is open on the connection there is now.
    calls: BTreeMap<i64, Call>,
    /// Texts that it has put into files, each once.
    wrote: BTreeSet<(PathBuf, String)>,
}

#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) state: Asked,
    /// How often it was asked for on the connection there is now.
    pub(super) times: usize,
    by_agent: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Wanted,
    Answered,
    /// The agent took it back.
    Dropped,
}

#[derive(Debug, Clone, Copy)]
enum Call {
    Join,
    Ask(usize),
    Machine,
}

/// What an answer to a call says, in no dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Heard {
    Accepted { text: Option<String> },
    Rejected,
    Failed(String),
    Other,
}

pub(super) fn heard(frame: &Value) -> Heard {
    let result = &frame["result"];
    if let Some(error) = frame.get("error") {
        return Heard::Failed(error["message"].as_str().unwrap_or_default().to_owned());
    }
    let structured = &result["structuredContent"];
    match structured["outcome"].as_str() {
        Some("accepted") => {
            return Heard::Accepted { text: structured["text"].as_str().map(str::to_owned) };
        }
        Some("rejected") => return Heard::Rejected,
        _ => {}
    }
    if result["isError"] == true {
        return Heard::Failed(result["content"][0]["text"].as_str().unwrap_or_default().to_owned());
    }
    match result["content"][0]["text"].as_str() {
        Some("FILE_SAVED") => Heard::Accepted { text: None },
        Some("DIFF_REJECTED") => Heard::Rejected,
        _ => Heard::Other,
    }
}

impl Agent {
    pub(super) fn new(number: usize, dialect: &'static str, home: usize) -> Agent {
        Agent {
            dialect,
            name: format!("agent{number}"),
            home,
            wire: None,
            joined: false,
            next_id: 0,
            asks: Vec::new(),
            calls: BTreeMap::new(),
            wrote: BTreeSet::new(),
        }
    }

    fn wanted(&self) -> Vec<usize> {
        (0..self.asks.len()).filter(|at| self.asks[*at].state == Asked::Wanted).collect()
    }
}

impl World {
    pub(super) fn agent_turn(&mut self, number: usize) {
        if self.leaving {
            if let Some(wire) = self.agents[number].wire.take() {
                self.send_to_hub(wire, ToHub::Closed);
            }
            return;
        }
        let pause = if self.calm { 200 } else { 300 + self.chance.below(6_000) as u64 };
        self.later(pause, Happening::Turn(Peer::Agent(number)));
        let Some(wire) = self.agents[number].wire else { return self.agent_connects(number) };
        if !self.agents[number].joined {
            return;
        }
        let wanted = self.agents[number].wanted();
        if self.calm {
            // What nobody answers, or was answered with an error, is asked again.
            for ask in wanted {
                if self.agents[number].asks[ask].times == 0 {
                    self.agent_asks(number, wire, ask);
                }
            }
            return;
        }
        let some = (!wanted.is_empty()).then(|| wanted[self.chance.below(wanted.len().max(1))]);
        match (self.chance.below(100), some) {
            (0..40, _) if wanted.len() < 4 => self.agent_proposes(number, wire),
            (40..60, _) => self.agent_calls(number, wire),
            (60..63, Some(ask)) => {
                // A client that waited too long and tries again.
                self.count("duplicate proposals");
                self.agent_asks(number, wire, ask);
            }
            (63..66, Some(ask)) => self.agent_takes_back(number, wire, ask),
            (66..69, _) => {
                self.count("agents that closed their connection");
                self.send_to_hub(wire, ToHub::Closed);
                self.agent_lost(number);
            }
            (_, Some(ask)) if self.agents[number].asks[ask].times == 0 => self.agent_asks(number, wire, ask),
            _ => {}
        }
    }

    fn agent_connects(&mut self, number: usize) {
        let home = &self.editors[self.agents[number].home];
        let (port, window) = (home.port, home.window.clone());
        let Some(port) = port.filter(|port| self.hub.ports.contains_key(port)) else { return };
        let own = self.agents[number].dialect == "linkspan";
        let door = if own { Door::Socket } else { Door::Port(port) };
        let wire = self.open(Peer::Agent(number), door);
        self.count("connections of agents");
        let agent = &mut self.agents[number];
        agent.wire = Some(wire);
        agent.joined = !own;
        agent.next_id = 1;
        agent.calls = BTreeMap::from([(1, Call::Join)]);
        let name = agent.name.clone();
        if own {
            let join = json!({ "window": window, "session": format!("session-{name}"), "name": name, "version": "1" });
            self.agent_says(
                wire,
                &json!({ "jsonrpc": "2.0", "id": 1, "method": "agent/join", "params": join }),
            );
            return;
        }
        let hello =
            json!({ "protocolVersion": "2025-06-18", "clientInfo": { "name": name, "version": "1" } });
        self.agent_says(wire, &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }));
        self.asks_again(number, wire);
    }

    fn asks_again(&mut self, number: usize, wire: WireId) {
        for ask in self.agents[number].wanted() {
            self.count("proposals asked again");
            self.agent_asks(number, wire, ask);
        }
    }

    fn agent_says(&mut self, wire: WireId, frame: &Value) {
        self.send_to_hub(wire, ToHub::Text(frame.to_string()));
    }

    fn agent_proposes(&mut self, number: usize, wire: WireId) {
        let home = self.agents[number].home;
        let names = ["lf.txt", "crlf.txt", "bom.txt", "open.txt"];
        let at = self.chance.below(5);
        let path: PathBuf = match names.get(at) {
            Some(name) => format!("/ws{home}/{name}").into(),
            None => format!("/ws{home}/new-{}.txt", self.chance.below(50)).into(),
        };
        let bytes = self.disk.get(&path).cloned().unwrap_or_default();
        let held = String::from_utf8(bytes).expect("all files are UTF-8");
        let held = held.trim_start_matches('\u{feff}');
        let held = if self.chance.in_hundred(50) { held.replace("\r\n", "\n") } else { held.to_owned() };
        let text = self.changed(&held);
        let by_agent = match self.agents[number].dialect {
            "claude" => true,
            "linkspan" => self.chance.in_hundred(30),
            _ => false,
        };
        self.count("proposals");
        self.agents[number].asks.push(Ask { path, text, state: Asked::Wanted, times: 0, by_agent });
        let ask = self.agents[number].asks.len() - 1;
        self.agent_asks(number, wire, ask);
    }

    pub(super) fn changed(&mut self, text: &str) -> String {
        let mut chance = self.chance.clone();
        let text = changed(text, &mut chance, || self.word());
        self.chance = chance;
        text
    }

    fn agent_asks(&mut self, number: usize, wire: WireId, at: usize) {
        let agent = &mut self.agents[number];
        let ask = &mut agent.asks[at];
        ask.times += 1;
        let path = ask.path.display().to_string();
        let (tool, arguments) = match agent.dialect {
            "linkspan" => {
                let writer = if ask.by_agent { "agent" } else { "hub" };
                ("proposeChange", json!({ "path": path, "newText": ask.text, "writer": writer }))
            }
            _ => (
                "openDiff",
                json!({
                    "old_file_path": path, "new_file_path": path, "new_file_contents": ask.text,
                    "tab_name": format!("tab {at}"),
                }),
            ),
        };
        self.agent_call(number, wire, tool, &arguments, Call::Ask(at));
    }

    fn agent_call(&mut self, number: usize, wire: WireId, tool: &str, arguments: &Value, call: Call) -> i64 {
        let agent = &mut self.agents[number];
        agent.next_id += 1;
        let id = agent.next_id;
        agent.calls.insert(id, call);
        let params = json!({ "name": tool, "arguments": arguments });
        self.agent_says(
            wire,
            &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }),
        );
        id
    }

    fn agent_calls(&mut self, number: usize, wire: WireId) {
        self.count("calls of machines");
        let path = format!("/ws{}/lf.txt", self.agents[number].home);
        let own = self.agents[number].dialect == "linkspan";
        let file = if own { json!({ "path": path }) } else { json!({ "filePath": path }) };
        let (tool, arguments) = match self.chance.below(4) {
            0 => ("getOpenEditors", json!({})),
            1 => ("getDiagnostics", json!({})),
            2 => ("getWorkspaceFolders", json!({})),
            _ => ("checkDocumentDirty", file),
        };
        self.agent_call(number, wire, tool, &arguments, Call::Machine);
    }

    fn agent_takes_back(&mut self, number: usize, wire: WireId, ask: usize) {
        let of = |call: &Call| matches!(call, Call::Ask(at) if *at == ask);
        let open = self.agents[number].calls.iter().filter(|(_, call)| of(call));
        let open: Vec<i64> = open.map(|(id, _)| *id).collect();
        if open.is_empty() {
            return;
        }
        self.count("proposals taken back");
        self.agents[number].asks[ask].state = Asked::Dropped;
        for id in open {
            let params = json!({ "requestId": id });
            let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            self.call_cancelled(wire, id);
            self.agent_says(wire, &cancel);
        }
    }

    pub(super) fn agent_lost(&mut self, number: usize) {
        let agent = &mut self.agents[number];
        agent.wire = None;
        agent.joined = false;
        agent.calls.clear();
        agent.asks.iter_mut().for_each(|ask| ask.times = 0);
    }

    pub(super) fn agent_hears(&mut self, number: usize, wire: WireId, what: ToPeer) {
        if self.agents[number].wire != Some(wire) {
            return;
        }
        match what {
            ToPeer::Closed => self.agent_lost(number),
            ToPeer::Ping(ping) => self.send_to_hub(wire, ToHub::Pong(ping)),
            ToPeer::Frame(frame) if frame["method"] == "ping" => {
                self.agent_says(wire, &json!({ "jsonrpc": "2.0", "id": frame["id"], "result": {} }));
            }
            ToPeer::Frame(frame) => {
                let Some(id) = frame["id"].as_i64().filter(|_| frame["method"].is_null()) else { return };
                match self.agents[number].calls.remove(&id) {
                    Some(Call::Join) if self.agents[number].dialect == "linkspan" => match frame.get("error")
                    {
                        None => {
                            self.agents[number].joined = true;
                            self.asks_again(number, wire);
                        }
                        // Its window is not there: it tries again later.
                        Some(_) => {
                            self.send_to_hub(wire, ToHub::Closed);
                            self.agent_lost(number);
                        }
                    },
                    Some(Call::Ask(ask)) => self.agent_told(number, ask, &frame),
                    Some(Call::Join | Call::Machine) | None => {}
                }
            }
        }
    }

    fn agent_told(&mut self, number: usize, at: usize, frame: &Value) {
        let heard = heard(frame);
        let agent = &mut self.agents[number];
        let ask = &mut agent.asks[at];
        match heard {
            Heard::Accepted { text } => {
                ask.state = if ask.state == Asked::Dropped { Asked::Dropped } else { Asked::Answered };
                let (path, by_agent) = (ask.path.clone(), ask.by_agent);
                let text = text.or_else(|| frame["result"]["content"][1]["text"].as_str().map(str::to_owned));
                self.count("changes told to be accepted");
                if let Some(text) = text.filter(|_| by_agent) {
                    let delay = self.delay();
                    self.later(delay, Happening::AgentWrites(number, path, text));
                }
            }
            Heard::Rejected => {
                ask.state = if ask.state == Asked::Dropped { Asked::Dropped } else { Asked::Answered };
                self.count("changes told to be rejected");
            }
            Heard::Failed(_) | Heard::Other => {
                ask.times = ask.times.saturating_sub(1);
                self.count("changes that failed");
            }
        }
    }

    /// In its dialect the agent is the one who writes; what it was told once, it writes once.
    pub(super) fn agent_writes(&mut self, number: usize, path: PathBuf, text: &str) {
        if self.agents[number].wrote.insert((path.clone(), text.to_owned())) {
            self.count("writes of agents");
            self.trace.tell(self.now, || format!("agent{number} writes {}", path.display()));
            let marked = self.disk.get(&path).is_some_and(|bytes| bytes.starts_with("\u{feff}".as_bytes()));
            let mark = if marked { "\u{feff}" } else { "" };
            self.disk.insert(path, format!("{mark}{text}").into_bytes());
        }
    }
}

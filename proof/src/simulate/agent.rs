//! Simulated agents: they come, wait, lose their connection and come back. What they ask for is in `asking`, and in
//! which words in `speech`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use linkspan_review::{Digest, Place, Review, Splice, digest_of_splices};
use serde_json::{Value, json};

use super::listening::Listening;
use super::wire::{Door, Peer, ToHub, ToPeer, WireId};
use super::world::{Happening, World};

pub(super) struct Agent {
    pub(super) dialect: &'static str,
    pub(super) name: String,
    /// NEXUS3 itself: after a yes it runs its own tool, which writes what it proposed.
    pub(super) own_tool: bool,
    /// The window that it works in.
    pub(super) home: usize,
    pub(super) wire: Option<WireId>,
    /// It has said who it is, where that has to be answered first.
    joined: bool,
    pub(super) next_id: i64,
    pub(super) asks: Vec<Ask>,
    /// What is open on the connection there is now.
    pub(super) calls: BTreeMap<i64, Call>,
    /// Texts that it has put into files, each once.
    pub(super) wrote: BTreeSet<(PathBuf, String)>,
    /// Of one that hears decisions on a stream.
    pub(super) listening: Listening,
}

#[derive(Debug, Clone)]
pub(super) struct Ask {
    /// The files of one call, mostly one.
    pub(super) parts: Vec<Part>,
    /// Its own word for changes that belong together.
    pub(super) set: Option<String>,
    pub(super) state: Asked,
    /// How often it was asked for on the connection there is now.
    pub(super) times: usize,
    /// How often in all, by one that knows it by its path: what it asked before then means nothing to it.
    pub(super) asked: usize,
    pub(super) by_agent: bool,
    /// When it was asked for the first time.
    pub(super) since: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) path: PathBuf,
    /// The whole new text, or what is inserted.
    pub(super) text: String,
    /// Inserted before this line, whatever the file holds by then.
    pub(super) before_line: Option<u32>,
}

/// Less than the time in which an agent may come back.
const EDIT_AGAIN_MS: u64 = 300_000;

/// In the list of dialects: NEXUS3 itself, and not another program that speaks as it does.
pub(super) const OWN_TOOL: &str = "nexus3 itself";

impl Ask {
    pub(super) fn asks_for(&self, review: &Review) -> bool {
        self.parts.iter().any(|part| part.is_asked_by(review))
    }

    /// Made twice, it would be there twice.
    pub(super) fn is_by_place(&self) -> bool {
        self.parts.iter().any(|part| part.before_line.is_some())
    }
}

impl Part {
    /// Of a whole text, its digest; of edits, that of the edits.
    pub(super) fn is_asked_by(&self, review: &Review) -> bool {
        let (first, last) = self.before_line.map_or((0, u32::MAX), |line| (line, line));
        let place = |line| Place { line, character: 0 };
        let edit = || Splice { from: place(first), to: place(last), text: self.text.clone(), expects: None };
        self.path == review.path
            && (Digest::of(self.text.as_bytes()) == review.original
                || digest_of_splices(&[edit()]) == review.original)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Wanted,
    Answered,
    /// The agent took it back.
    Dropped,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Call {
    Join,
    Ask(usize),
    Machine,
}

impl Agent {
    pub(super) fn new(number: usize, dialect: &'static str, home: usize) -> Agent {
        let own_tool = dialect == OWN_TOOL;
        Agent {
            dialect: if own_tool { "nexus3" } else { dialect },
            name: if own_tool { "nexus3".to_owned() } else { format!("agent{number}") },
            own_tool,
            home,
            wire: None,
            joined: false,
            next_id: 0,
            asks: Vec::new(),
            calls: BTreeMap::new(),
            wrote: BTreeSet::new(),
            listening: Listening::default(),
        }
    }

    pub(super) fn wanted(&self) -> Vec<usize> {
        (0..self.asks.len()).filter(|at| self.asks[*at].state == Asked::Wanted).collect()
    }

    /// It asks by POST, and hears what was decided on a stream.
    pub(super) fn listens(&self) -> bool {
        self.dialect == "gemini"
    }

    /// It asks by HTTP: on one connection, one thing at a time.
    pub(super) fn by_exchanges(&self) -> bool {
        self.dialect == "ppxai"
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
        if self.agents[number].listens() {
            let port = self.editors[self.agents[number].home].port;
            if let Some(port) = port.filter(|port| self.hub.ports.contains_key(port)) {
                self.listening_turn(number, port);
            }
            return;
        }
        let Some(wire) = self.agents[number].wire else { return self.agent_connects(number) };
        if !self.agents[number].joined {
            return;
        }
        let wanted = self.agents[number].wanted();
        let busy = self.agents[number].by_exchanges() && !self.agents[number].calls.is_empty();
        if self.calm {
            // What nobody answers, or was answered with an error, is asked again.
            for ask in wanted {
                let busy = self.agents[number].by_exchanges() && !self.agents[number].calls.is_empty();
                if self.agents[number].asks[ask].times == 0 && !busy && !self.gives_up(number, ask) {
                    self.agent_asks(number, wire, ask);
                }
            }
            return;
        }
        let some = (!wanted.is_empty()).then(|| wanted[self.chance.below(wanted.len().max(1))]);
        match (self.chance.below(100), some) {
            (66..69, _) => {
                self.count("agents that closed their connection");
                self.send_to_hub(wire, ToHub::Closed);
                self.agent_lost(number);
            }
            _ if busy => {}
            (0..40, _) if wanted.len() < 4 => self.agent_proposes(number, wire),
            (40..60, _) => self.agent_calls(number, wire),
            (60..63, Some(ask)) if !self.agents[number].by_exchanges() => {
                // A client that waited too long and tries again.
                self.count("duplicate proposals");
                self.agent_asks(number, wire, ask);
            }
            (63..66, Some(ask)) => self.agent_takes_back(number, wire, ask),
            (_, Some(ask)) if self.agents[number].asks[ask].times == 0 && !self.gives_up(number, ask) => {
                self.agent_asks(number, wire, ask);
            }
            _ => {}
        }
    }

    fn agent_connects(&mut self, number: usize) {
        let home = &self.editors[self.agents[number].home];
        let (port, window) = (home.port, home.window.clone());
        let Some(port) = port.filter(|port| self.hub.ports.contains_key(port)) else { return };
        let own = self.agents[number].dialect == "linkspan";
        let by_exchanges = self.agents[number].by_exchanges();
        let door = if own { Door::Socket } else { Door::Port(port) };
        let wire = self.open(Peer::Agent(number), door);
        self.count("connections of agents");
        let agent = &mut self.agents[number];
        agent.wire = Some(wire);
        agent.joined = !own;
        agent.next_id = 1;
        agent.calls = if by_exchanges { BTreeMap::new() } else { BTreeMap::from([(1, Call::Join)]) };
        let name = agent.name.clone();
        if own {
            let join = json!({ "window": window, "session": format!("session-{name}"), "name": name, "version": "1" });
            self.agent_says(
                wire,
                &json!({ "jsonrpc": "2.0", "id": 1, "method": "agent/join", "params": join }),
            );
            return;
        }
        if !by_exchanges {
            let hello =
                json!({ "protocolVersion": "2025-06-18", "clientInfo": { "name": name, "version": "1" } });
            self.agent_says(
                wire,
                &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
            );
        }
        self.asks_again(number, wire);
    }

    fn asks_again(&mut self, number: usize, wire: WireId) {
        let most = if self.agents[number].by_exchanges() { 1 } else { usize::MAX };
        for ask in self.agents[number].wanted().into_iter().take(most) {
            // As Claude Code does: the same program is back, and does not ask again.
            if self.fault(250) {
                self.count("agents back without their question");
                self.agents[number].asks[ask].state = Asked::Dropped;
                continue;
            }
            if self.gives_up(number, ask) {
                continue;
            }
            self.count("proposals asked again");
            self.agent_asks(number, wire, ask);
        }
    }

    /// What was decided about an edit by place is forgotten some time after its agent was lost. Made once more after
    /// that, it would be another edit.
    fn gives_up(&mut self, number: usize, at: usize) -> bool {
        let now = self.now;
        let ask = &mut self.agents[number].asks[at];
        let late = ask.is_by_place() && ask.since + EDIT_AGAIN_MS < now;
        if late {
            ask.state = Asked::Dropped;
        }
        late
    }

    pub(super) fn agent_says(&mut self, wire: WireId, frame: &Value) {
        self.send_to_hub(wire, ToHub::Text(frame.to_string()));
    }

    pub(super) fn agent_lost(&mut self, number: usize) {
        let agent = &mut self.agents[number];
        agent.wire = None;
        agent.joined = false;
        agent.calls.clear();
        agent.asks.iter_mut().for_each(|ask| ask.times = 0);
    }

    pub(super) fn agent_hears(&mut self, number: usize, wire: WireId, what: ToPeer) {
        if self.agents[number].listens() {
            return self.listening_hears(number, wire, what);
        }
        if self.agents[number].wire != Some(wire) {
            return;
        }
        match what {
            ToPeer::Event(..) => {}
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
}

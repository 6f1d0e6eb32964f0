//! Simulated agents: they come, wait, lose their connection and come back. What they ask for is in `proposals`, and in
//! which words in `messages`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use linkspan_review::{Digest, Review, Splice, TextPosition, splices_digest};
use serde_json::{Value, json};

use super::simulation::{SimEvent, Simulation};
use super::stream_agent::StreamAgent;
use super::wire::{Endpoint, Peer, ToHub, ToPeer, WireId};

pub(super) struct Agent {
    pub(super) dialect: &'static str,
    pub(super) name: String,
    /// NEXUS3 itself: after a yes it runs its own tool, which writes what it proposed.
    pub(super) own_tool: bool,
    /// It is the hook of that agent, which also asks by itself. Each of its processes has a number.
    pub(super) hook_of: Option<usize>,
    process: u64,
    /// It has not asked again since its connection was lost then.
    lost_at: Option<u64>,
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
    /// For an agent that receives decisions on a stream.
    pub(super) listening: StreamAgent,
}

#[derive(Debug, Clone)]
pub(super) struct Ask {
    /// The files of one call, mostly one.
    pub(super) parts: Vec<Part>,
    /// Its own word for changes that belong together.
    pub(super) set: Option<String>,
    pub(super) state: AskState,
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

/// In the list of dialects: the hook of the agent before it.
pub(super) const HOOK: &str = "hook";

/// As long as a hook that lost its hub tries to come back.
const HOOK_PATIENCE_MS: u64 = 60_000;

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
        let place = |line| TextPosition { line, character: 0 };
        let edit = || Splice { from: place(first), to: place(last), text: self.text.clone(), expects: None };
        self.path == review.path
            && (Digest::of(self.text.as_bytes()) == review.original
                || splices_digest(&[edit()]) == review.original)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskState {
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
        let hook_of = (dialect == HOOK).then(|| number.saturating_sub(1));
        let name = match hook_of {
            Some(agent) => format!("agent{agent} hook"),
            None if own_tool => "nexus3".to_owned(),
            None => format!("agent{number}"),
        };
        Agent {
            dialect: match dialect {
                OWN_TOOL => "nexus3",
                HOOK => "linkspan",
                dialect => dialect,
            },
            name,
            own_tool,
            hook_of,
            process: 0,
            lost_at: None,
            home,
            wire: None,
            joined: false,
            next_id: 0,
            asks: Vec::new(),
            calls: BTreeMap::new(),
            wrote: BTreeSet::new(),
            listening: StreamAgent::default(),
        }
    }

    pub(super) fn wanted(&self) -> Vec<usize> {
        (0..self.asks.len()).filter(|at| self.asks[*at].state == AskState::Wanted).collect()
    }

    /// It asks by POST, and receives decisions on a stream.
    pub(super) fn listens(&self) -> bool {
        self.dialect == "gemini"
    }

    /// It asks by HTTP: on one connection, one thing at a time.
    pub(super) fn by_exchanges(&self) -> bool {
        self.dialect == "ppxai"
    }
}

impl Simulation {
    pub(super) fn agent_turn(&mut self, number: usize) {
        if self.leaving {
            if let Some(wire) = self.agents[number].wire.take() {
                self.send_to_hub(wire, ToHub::Closed);
            }
            return;
        }
        let pause = if self.calm { 200 } else { 300 + self.chance.below(6_000) as u64 };
        self.later(pause, SimEvent::Turn(Peer::Agent(number)));
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
            // Requests without an answer, or with an error, are sent again.
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
                self.hook_ended(number);
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
        let door = if own { Endpoint::Socket } else { Endpoint::Port(port) };
        let wire = self.open(Peer::Agent(number), door);
        self.count("connections of agents");
        let agent = &mut self.agents[number];
        agent.wire = Some(wire);
        agent.joined = !own;
        agent.next_id = 1;
        agent.calls = if by_exchanges { BTreeMap::new() } else { BTreeMap::from([(1, Call::Join)]) };
        let name = agent.name.clone();
        if own {
            let session = format!("session-{}-{}", name.replace(' ', "-"), agent.process);
            let mut join = json!({ "window": window, "session": session, "name": name, "version": "1" });
            if let (Some(of), Some(join)) = (agent.hook_of, join.as_object_mut()) {
                join.insert("hook".to_owned(), json!({ "agent": name, "session": format!("s-{of}") }));
            }
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
                self.agents[number].asks[ask].state = AskState::Dropped;
                continue;
            }
            if self.gives_up(number, ask) {
                continue;
            }
            self.count("proposals asked again");
            self.agent_asks(number, wire, ask);
        }
        self.agents[number].lost_at = None;
    }

    /// What was decided about an edit by place is forgotten some time after its agent was lost. Made once more after
    /// that, it would be another edit.
    fn gives_up(&mut self, number: usize, at: usize) -> bool {
        let now = self.now;
        let ask = &self.agents[number].asks[at];
        let late = ask.is_by_place() && ask.since + EDIT_AGAIN_MS < now;
        let (is_hook, lost_at) = (self.agents[number].hook_of.is_some(), self.agents[number].lost_at);
        let late = late || (is_hook && lost_at.is_some_and(|lost_at| lost_at + HOOK_PATIENCE_MS < now));
        if late {
            self.agents[number].asks[at].state = AskState::Dropped;
        }
        late
    }

    pub(super) fn agent_says(&mut self, wire: WireId, frame: &Value) {
        self.send_to_hub(wire, ToHub::Text(frame.to_string()));
    }

    /// The process of a hook ended, and what it asked with it.
    fn hook_ended(&mut self, number: usize) {
        let agent = &mut self.agents[number];
        if agent.hook_of.is_none() {
            return;
        }
        agent.process += 1;
        agent.lost_at = None;
        let mut wanted = 0;
        for ask in agent.asks.iter_mut().filter(|ask| ask.state == AskState::Wanted) {
            ask.state = AskState::Dropped;
            wanted += 1;
        }
        if wanted > 0 {
            self.count("hooks that ended with a question");
        }
    }

    pub(super) fn agent_lost(&mut self, number: usize) {
        let now = self.now;
        let agent = &mut self.agents[number];
        agent.lost_at.get_or_insert(now);
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

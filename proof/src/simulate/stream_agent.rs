//! Simulated agents that ask by POST and hear decisions on a stream, which they open again when it breaks. They know a
//! change by its path alone.

use std::collections::{BTreeMap, BTreeSet};

use linkspan_review::ReviewId;
use serde_json::{Value, json};

use super::agent::AskState;
use super::messages::{self, Received};
use super::simulation::{SimEvent, Simulation};
use super::streams::Position;
use super::wire::{Endpoint, Peer, ToHub, ToPeer, WireId};

#[derive(Default)]
pub(super) struct StreamAgent {
    /// Of the session, once the hub has answered to it.
    key: Option<String>,
    used: Vec<String>,
    /// The last event it has got.
    last: Option<Position>,
    posts: BTreeMap<WireId, Post>,
    /// Reviews whose outcome it has got.
    outcomes: BTreeSet<ReviewId>,
}

enum Post {
    Initialize(String),
    Ask(usize),
    Other,
}

impl StreamAgent {
    pub(super) fn has_used(&self, key: &str) -> bool {
        self.used.iter().any(|used| used == key)
    }
}

impl Simulation {
    /// Its part of a turn, once it is known that the hub is there.
    pub(super) fn listening_turn(&mut self, number: usize, port: u16) {
        let listening = &self.agents[number].listening;
        let Some(key) = listening.key.clone() else {
            if !listening.posts.values().any(|post| matches!(post, Post::Initialize(_))) {
                self.begins_session(number);
            }
            return;
        };
        if self.agents[number].wire.is_none() {
            let wire = self.open(Peer::Agent(number), Endpoint::Stream(port));
            self.count("streams opened");
            self.agents[number].wire = Some(wire);
            let last = self.agents[number].listening.last.clone();
            self.send_to_hub(wire, ToHub::Listen { key, last });
            return;
        }
        let wanted = self.agents[number].wanted();
        let idle: Vec<usize> =
            wanted.iter().copied().filter(|ask| self.agents[number].asks[*ask].times == 0).collect();
        match self.chance.below(100) {
            _ if self.calm => idle.into_iter().for_each(|ask| self.posts_ask(number, ask)),
            0..40 if wanted.len() < 4 => self.posts_proposal(number),
            40..50 => {
                self.count("calls of machines");
                let list =
                    json!({ "jsonrpc": "2.0", "id": self.agents[number].next_id, "method": "tools/list" });
                self.posts(number, &list, Post::Other);
            }
            50..54 if !wanted.is_empty() => {
                self.count("duplicate proposals");
                let ask = wanted[self.chance.below(wanted.len())];
                self.posts_ask(number, ask);
            }
            54..58 => {
                self.count("streams closed by their agents");
                if let Some(wire) = self.agents[number].wire.take() {
                    self.send_to_hub(wire, ToHub::Closed);
                }
            }
            _ => {
                if let Some(ask) = idle.first() {
                    self.posts_ask(number, *ask);
                }
            }
        }
    }

    fn begins_session(&mut self, number: usize) {
        self.count("sessions begun");
        let name = self.agents[number].name.clone();
        let key = format!("key-{name}-{}", self.agents[number].listening.used.len());
        self.agents[number].listening.used.push(key.clone());
        let hello =
            json!({ "protocolVersion": "2025-06-18", "clientInfo": { "name": name, "version": "1" } });
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello });
        self.posts(number, &hello, Post::Initialize(key));
    }

    /// Each on a connection of its own.
    fn posts(&mut self, number: usize, frame: &Value, post: Post) {
        let Some(port) = self.editors[self.agents[number].home].port else { return };
        let listening = &self.agents[number].listening;
        let key = match &post {
            Post::Initialize(key) => Some(key.clone()),
            Post::Ask(_) | Post::Other => listening.key.clone(),
        };
        let Some(key) = key else { return };
        let wire = self.open(Peer::Agent(number), Endpoint::Stream(port));
        self.agents[number].next_id += 1;
        self.agents[number].listening.posts.insert(wire, post);
        self.send_to_hub(wire, ToHub::Post { key, text: frame.to_string() });
    }

    fn posts_proposal(&mut self, number: usize) {
        let ask = self.new_ask(number);
        let path = ask.parts.first().map(|part| part.path.clone());
        let same = |other: &super::agent::Ask| {
            other.state == AskState::Wanted && other.parts.first().map(|part| part.path.clone()) == path
        };
        // It would not know which of the two is meant.
        if self.agents[number].asks.iter().any(same) {
            return;
        }
        self.agents[number].asks.push(ask);
        self.posts_ask(number, self.agents[number].asks.len() - 1);
    }

    fn posts_ask(&mut self, number: usize, at: usize) {
        let agent = &mut self.agents[number];
        agent.asks[at].times += 1;
        agent.asks[at].asked += 1;
        let (tool, arguments) = messages::proposal(agent.dialect, &agent.asks[at], at);
        let frame = messages::call(agent.dialect, agent.next_id, tool, &arguments);
        self.posts(number, &frame, Post::Ask(at));
    }

    pub(super) fn listening_hears(&mut self, number: usize, wire: WireId, what: ToPeer) {
        match what {
            ToPeer::Event(position, frame, review) if self.agents[number].wire == Some(wire) => {
                self.agents[number].listening.last = Some(position);
                if let Some(review) = review {
                    let first = self.agents[number].listening.outcomes.insert(review);
                    let result =
                        if first { Ok(()) } else { Err(format!("agent{number} hears of {review} again")) };
                    self.promises.look("3: no outcome is told twice on a stream", result);
                }
                self.hears_event(number, &frame);
            }
            ToPeer::Closed if self.agents[number].wire == Some(wire) => self.agents[number].wire = None,
            ToPeer::Closed => match self.agents[number].listening.posts.remove(&wire) {
                Some(Post::Ask(at)) => self.agents[number].asks[at].times = 0,
                Some(Post::Initialize(_) | Post::Other) | None => {}
            },
            ToPeer::Frame(frame) => match self.agents[number].listening.posts.remove(&wire) {
                Some(Post::Initialize(key)) => {
                    self.agents[number].listening.key = Some(key);
                    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
                    self.posts(number, &ready, Post::Other);
                }
                Some(Post::Ask(at)) if frame["result"]["isError"] == true || frame.get("error").is_some() => {
                    self.count("changes that failed");
                    self.agents[number].asks[at].times = 0;
                }
                Some(Post::Ask(_)) => self.count("proposals said to be shown"),
                Some(Post::Other) | None => {}
            },
            ToPeer::Event(..) | ToPeer::Ping(_) => {}
        }
    }

    fn hears_event(&mut self, number: usize, frame: &Value) {
        if frame["method"] == "ping" {
            let pong = json!({ "jsonrpc": "2.0", "id": frame["id"], "result": {} });
            return self.posts(number, &pong, Post::Other);
        }
        let Some((path, heard)) = messages::told_later(frame) else { return };
        let agent = &mut self.agents[number];
        let mut wanted = agent.asks.iter_mut().rev().filter(|ask| ask.state == AskState::Wanted);
        let Some(ask) = wanted.find(|ask| ask.parts.first().is_some_and(|part| part.path == path)) else {
            return self.count("decisions heard twice, or too late");
        };
        match heard {
            Received::Accepted { text } => {
                ask.state = AskState::Answered;
                self.count("decisions heard on a stream");
                if let Some(text) = text {
                    let delay = self.delay();
                    self.later(delay, SimEvent::AgentWrites(number, path, text));
                }
            }
            Received::Rejected => {
                ask.state = AskState::Answered;
                self.count("decisions heard on a stream");
            }
            // Nobody will decide it.
            Received::Failed(_) | Received::Other | Received::Set(_) => {
                ask.times = 0;
                self.count("changes closed without a decision");
            }
        }
    }
}

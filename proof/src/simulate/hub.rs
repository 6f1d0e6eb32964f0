//! The edge of the simulated hub: turns what arrives into events for the real core, and its actions into what happens
//! later. Kills the hub and starts it again from what was durable.

use std::collections::BTreeMap;

use linkspan_hub::core::harness::CoreHarness;
use linkspan_hub::core::{ConnectionId, Event};
use linkspan_review::{AgentId, WindowId};

use super::exchanges::Exchanges;
use super::hosted::table;
use super::journal::{Durable, Job, SimJournal};
use super::simulation::{SimEvent, Simulation};
use super::streams::Streams;
use super::wire::{Endpoint, Peer, PeerName, ToHub, ToPeer, WireId};

pub(super) struct Hub {
    pub(super) harness: Option<CoreHarness>,
    /// Counts the hubs there have been.
    pub(super) life: u64,
    started: u64,
    books: SimJournal,
    pub(super) agents: BTreeMap<AgentId, WireId>,
    pub(super) exchanges: Exchanges,
    pub(super) streams: Streams,
    pub(super) locals: BTreeMap<ConnectionId, WireId>,
    pub(super) ports: BTreeMap<u16, WindowId>,
    pub(super) connections: u64,
    pub(super) next_port: u16,
    /// When the journal's last word arrives: they come in order.
    told_at: u64,
    /// It said itself that there is nothing to do.
    pub(super) left: bool,
    /// It is being stopped, even if agents wait.
    pub(super) stopping: bool,
}

impl Hub {
    pub(super) fn new() -> Hub {
        Hub {
            harness: None,
            life: 0,
            started: 0,
            books: SimJournal::new(),
            agents: BTreeMap::new(),
            exchanges: Exchanges::default(),
            streams: Streams::default(),
            locals: BTreeMap::new(),
            ports: BTreeMap::new(),
            connections: 0,
            next_port: 40_000,
            told_at: 0,
            left: false,
            stopping: false,
        }
    }

    pub(super) fn next_agent(&mut self) -> AgentId {
        self.connections += 1;
        AgentId(2 * self.connections + 1)
    }

    pub(super) fn is_up(&self) -> bool {
        self.harness.is_some()
    }

    pub(super) fn alarm(&self) -> Option<u64> {
        self.harness.as_ref()?.core.next_deadline().map(|due| due + self.started)
    }

    /// What the core holds of anything.
    pub(super) fn resource_counts(&self) -> Vec<(&'static str, usize)> {
        self.harness
            .iter()
            .flat_map(|harness| harness.core.resource_counts())
            .filter(|(_, held)| *held > 0)
            .collect()
    }

    pub(super) fn wire_of(&self, agent: AgentId) -> Option<WireId> {
        self.agents.get(&agent).copied()
    }
}

impl Simulation {
    pub(super) fn hub_starts(&mut self) {
        if self.hub.is_up() || (self.leaving && self.hub.left) {
            return;
        }
        let remembered = self.hub.books.read_back(self.now);
        self.hub.life += 1;
        self.hub.started = self.now;
        self.hub.told_at = self.now;
        self.count("hubs started");
        self.trace.tell(self.now, || format!("a hub starts with {} reviews", remembered.reviews.len()));
        let life = format!("life{}", self.hub.life);
        let (harness, actions) = CoreHarness::start(&life, self.now, remembered);
        let harness = CoreHarness { hosted_agents: Ok(table()), ..harness };
        self.hub.harness = Some(harness);
        self.carry_out(actions);
    }

    /// Killed: all that is left of it are the files and what was durable.
    pub(super) fn crash(&mut self) {
        if !self.hub.is_up() {
            return;
        }
        self.count("hub crashes");
        self.trace.tell(self.now, || "the hub is killed".to_owned());
        self.hub.books.lose();
        self.promises.undos.lose();
        self.hub_ends();
        let pause = match self.chance.below(3) {
            0 => 0,
            1 => self.chance.below(10_000) as u64,
            _ => self.chance.below(900_000) as u64,
        };
        self.later(pause, SimEvent::HubStarts);
    }

    /// `linkspan hub stop --force`, or a signal.
    pub(super) fn stop(&mut self) {
        if self.hub.is_up() {
            self.trace.tell(self.now, || "the hub is stopped".to_owned());
            self.hub.stopping = true;
            self.promises.looked("3: a hub that is stopped tells no agent anything");
            self.hub_event(Event::StopRequested);
        }
    }

    pub(super) fn hub_ends(&mut self) {
        self.hub.harness = None;
        // Nothing that was under way in this life happens in the next.
        self.hub.life += 1;
        self.hub.ports.clear();
        self.hub.agents.clear();
        self.hub.locals.clear();
        self.hub.streams = Streams::default();
        self.hub.exchanges = Exchanges::default();
        self.promises.undos.hub_ends();
        for id in (0..self.wires.len()).map(WireId) {
            if self.wires[id.0].name.is_some() && !self.wires[id.0].over_for_hub {
                self.over_for_hub(id);
                self.send_to_peer(id, ToPeer::Closed);
            }
        }
    }

    pub(super) fn hub_event(&mut self, event: Event) {
        let now = self.now - self.hub.started;
        let Some(harness) = &mut self.hub.harness else { return };
        let core = &mut harness.core;
        let mut actions = core.handle(now, event);
        // As the real edge does.
        if core.next_deadline().is_some_and(|due| due <= now) {
            actions.extend(core.handle(now, Event::Tick));
        }
        let overdue = core.next_deadline().filter(|due| *due <= now);
        self.promises.looked("7: no deadline is left behind");
        if let Some(due) = overdue {
            self.promises.broken(format!("7: a deadline of {due} ms is still there at {now} ms"));
        }
        self.carry_out(actions);
    }

    pub(super) fn at_hub(&mut self, id: WireId, what: ToHub) {
        let wire = &self.wires[id.0];
        let closed = matches!(what, ToHub::Closed);
        if wire.cut_at.is_some() && !closed {
            return;
        }
        let (peer, door) = (wire.peer, wire.door);
        let serves = self.hub.is_up() && wire.life == self.hub.life;
        if matches!(what, ToHub::Opened) {
            if !serves || !self.lets_in(id, peer, door) {
                self.over_for_hub(id);
                self.send_to_peer(id, ToPeer::Closed);
            }
            return;
        }
        let Some(name) = self.wires[id.0].name.filter(|_| serves) else { return };
        self.trace.tell(self.now, || format!("the hub hears of {peer:?} on {id:?}: {what:?}"));
        match (name, what) {
            (PeerName::Agent(agent), ToHub::Text(text)) => {
                self.trace.mix(text.as_bytes());
                if !matches!(peer, Peer::Process(_)) {
                    self.call_arrives(id, &text);
                }
                match self.asks_by_exchanges(peer) {
                    true => self.asked_by_exchange(agent, id, text),
                    false => self.hub_event(Event::AgentFrame { agent, text, exchange: None }),
                }
            }
            (PeerName::Agent(agent), ToHub::Pong(number)) => {
                self.hub_event(Event::AgentPong { agent, number: Some(number) });
            }
            (PeerName::Agent(agent), ToHub::Closed) => {
                if self.asks_by_exchanges(peer) && !self.wires[id.0].over_for_hub {
                    let wire = &self.wires[id.0];
                    self.caller_ended(agent, wire.cut_at.is_none() && wire.unread == 0);
                }
                self.over_for_hub(id);
                self.hub.agents.remove(&agent);
                if matches!(peer, Peer::Process(_)) {
                    let why = "it ended".to_owned();
                    return self.hub_event(Event::ChildEnded { agent, why });
                }
                self.hub_event(Event::AgentClosed { agent, said_goodbye: false });
            }
            (PeerName::Local(connection), ToHub::Text(text)) => {
                self.trace.mix(text.as_bytes());
                self.call_arrives(id, &text);
                self.hub_event(Event::ConnectionMessage { connection, body: text.into_bytes() });
            }
            (PeerName::Local(connection), ToHub::Closed) => {
                self.over_for_hub(id);
                self.hub.locals.remove(&connection);
                self.hub_event(Event::ConnectionClosed { connection });
            }
            (PeerName::Session, ToHub::Post { key, text }) => {
                self.trace.mix(text.as_bytes());
                self.posted(id, &key, text);
            }
            (PeerName::Session, ToHub::Listen { key, last }) => self.listens(id, &key, last),
            (PeerName::Session, ToHub::Closed) => self.session_wire_closed(id),
            (PeerName::Session, ToHub::Text(_) | ToHub::Pong(_))
            | (PeerName::Local(_), ToHub::Pong(_))
            | (_, ToHub::Opened | ToHub::Post { .. } | ToHub::Listen { .. }) => {}
        }
    }

    pub(super) fn asks_by_exchanges(&self, peer: Peer) -> bool {
        matches!(peer, Peer::Agent(number) if self.agents[number].by_exchanges())
    }

    fn lets_in(&mut self, id: WireId, peer: Peer, door: Endpoint) -> bool {
        match door {
            Endpoint::Stream(port) => {
                let open = self.hub.ports.contains_key(&port);
                self.wire(id).name = open.then_some(PeerName::Session);
                return open;
            }
            Endpoint::Port(port) => {
                let (Some(window), Peer::Agent(agent)) = (self.hub.ports.get(&port).copied(), peer) else {
                    return false;
                };
                let agent_id = self.hub.next_agent();
                self.wire(id).name = Some(PeerName::Agent(agent_id));
                self.hub.agents.insert(agent_id, id);
                let dialect = linkspan_dialect::by_name(self.agents[agent].dialect).expect("a dialect");
                let called = self.agents[agent].by_exchanges().then(|| self.agents[agent].name.clone());
                self.hub_event(Event::AgentOpened { agent: agent_id, window, dialect, called });
            }
            Endpoint::Socket | Endpoint::Page => {
                self.hub.connections += 1;
                let connection = ConnectionId(self.hub.connections);
                self.wire(id).name = Some(PeerName::Local(connection));
                self.hub.locals.insert(connection, id);
                let is_page = matches!(door, Endpoint::Page);
                self.hub_event(match is_page {
                    true => Event::PageOpened { connection },
                    false => Event::ConnectionOpened { connection },
                });
            }
        }
        true
    }

    pub(super) fn finds_out(&mut self, event: Event) {
        let (life, delay) = (self.hub.life, self.delay());
        self.later(delay, SimEvent::Edge(life, event));
    }

    pub(super) fn hand_in(&mut self, job: Job) {
        if self.hub.books.hand_in(job) {
            let (life, delay) = (self.hub.life, self.delay().min(4_000));
            self.later(delay, SimEvent::Sync(life));
        }
    }

    pub(super) fn sync_journal(&mut self) {
        let fails = self.fault(5);
        if fails {
            self.count("failures of the journal");
        }
        let (events, recorded) = self.hub.books.sync(self.now, fails);
        for durable in recorded {
            self.trace.tell(self.now, || format!("durable: {durable}"));
            match durable {
                Durable::Review(review, step) => self.became_durable(*review, step),
                Durable::UndoBegun(ticket, id, change) => self.undo_is_durable(ticket, id, *change),
                Durable::UndoEnded(id) => self.promises.undos.end_is_kept(id),
            }
        }
        let delay = self.delay().min(4_000);
        self.hub.told_at = self.hub.told_at.max(self.now + delay);
        let (when, life) = (self.hub.told_at, self.hub.life);
        for event in events {
            self.at(when, SimEvent::Edge(life, event));
        }
    }
}

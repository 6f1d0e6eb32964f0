//! The edge of the simulated hub for agents that ask by POST and listen on a stream: a session outlives its streams,
//! and goes on behind what the agent says it has got.

use std::collections::BTreeMap;

use linkspan_hub::core::{Event, Introduction};
use linkspan_review::{AgentId, ReviewId, WindowId};
use serde_json::Value;

use super::messages;
use super::simulation::Simulation;
use super::wire::{Endpoint, Peer, ToPeer, WireId};

/// What an agent has got of a session: the id of an event, as the edge makes it.
#[derive(Debug, Clone)]
pub(super) struct Position {
    /// The hub's name for the session; another hub has another.
    of: AgentId,
    got: usize,
    /// Reviews whose outcome was sent up to there: all that are not known to have arrived, and the newest that are.
    received: Vec<ReviewId>,
}

const ARRIVED_OUTCOMES: usize = 16;

#[derive(Default)]
pub(super) struct Streams {
    sessions: BTreeMap<String, Session>,
}

struct Session {
    agent: AgentId,
    sent: Vec<(Value, Option<ReviewId>)>,
    next_outcome: Option<ReviewId>,
    /// Outcomes that an earlier hub sent to it.
    received_before: Vec<ReviewId>,
    /// How many of them are known to have arrived.
    arrived: usize,
    /// Pings, each with how much was sent before its answer.
    pings: Vec<(u64, usize)>,
    turn: u64,
    stream: Option<WireId>,
    heard_at: u64,
}

impl Streams {
    fn of(&mut self, agent: AgentId) -> Option<&mut Session> {
        self.sessions.values_mut().find(|session| session.agent == agent)
    }

    pub(super) fn has(&self, agent: AgentId) -> bool {
        self.sessions.values().any(|session| session.agent == agent)
    }

    /// The next event carries the outcome of this review.
    pub(super) fn names_outcome(&mut self, agent: AgentId, review: ReviewId) {
        if let Some(session) = self.of(agent) {
            session.next_outcome = Some(review);
        }
    }

    pub(super) fn pinged(&mut self, agent: AgentId, number: u64) {
        if let Some(session) = self.of(agent) {
            session.pings.push((number, session.sent.len()));
        }
    }

    pub(super) fn confirmed(&mut self, agent: AgentId, number: u64) {
        if let Some(session) = self.of(agent) {
            let known = session.pings.extract_if(.., |(ping, _)| *ping <= number).map(|(_, sent)| sent).max();
            session.arrived = session.arrived.max(known.unwrap_or_default());
        }
    }

    /// When the agent last sent something, and on which stream it listens.
    pub(super) fn signs_of_life(&self, agent: AgentId) -> Option<(u64, Option<WireId>)> {
        let session = self.sessions.values().find(|session| session.agent == agent)?;
        Some((session.heard_at, session.stream))
    }
}

impl Session {
    /// The id of one event, counted from 1.
    fn position(&self, got: usize) -> Position {
        let told = |from: usize, to: usize| {
            self.sent.iter().take(to).skip(from).filter_map(|(_, review)| *review).collect::<Vec<_>>()
        };
        let arrived = told(0, self.arrived.min(got));
        let known = arrived.len().saturating_sub(ARRIVED_OUTCOMES);
        let received = arrived.into_iter().skip(known).chain(told(self.arrived, got)).collect();
        Position { of: self.agent, got, received }
    }

    fn is_known(&self, review: Option<ReviewId>) -> bool {
        review.is_some_and(|review| self.received_before.contains(&review))
    }
}

impl Simulation {
    fn window_behind(&self, wire: WireId) -> Option<WindowId> {
        match self.wires[wire.0].door {
            Endpoint::Stream(port) => self.hub.ports.get(&port).copied(),
            Endpoint::Port(_) | Endpoint::Socket | Endpoint::Page => None,
        }
    }

    /// The session of that key; one of an earlier hub is taken up again.
    fn session(&mut self, wire: WireId, key: &str, begins: bool) -> Option<AgentId> {
        if let Some(session) = self.hub.streams.sessions.get(key) {
            return Some(session.agent);
        }
        let window = self.window_behind(wire)?;
        let Peer::Agent(number) = self.wires[wire.0].peer else { return None };
        let agent = self.hub.next_agent();
        let (stream, heard_at) = (None, self.now);
        let (sent, pings) = (Vec::new(), Vec::new());
        let (next_outcome, received_before) = (None, Vec::new());
        let session = Session {
            agent,
            sent,
            next_outcome,
            received_before,
            arrived: 0,
            pings,
            turn: 0,
            stream,
            heard_at,
        };
        self.hub.streams.sessions.insert(key.to_owned(), session);
        let dialect = linkspan_dialect::by_name(self.agents[number].dialect).expect("a dialect");
        let (name, version) = (self.agents[number].name.clone(), "1".to_owned());
        let known = (!begins).then_some(Introduction { name, version });
        if known.is_some() {
            self.count("sessions taken up again");
        }
        self.hub_event(Event::SessionOpened { agent, window, dialect, key: key.to_owned(), known });
        self.hub.streams.has(agent).then_some(agent)
    }

    pub(super) fn posted(&mut self, wire: WireId, key: &str, text: String) {
        let begins = text.contains(r#""initialize""#);
        let Some(agent) = self.session(wire, key, begins) else {
            return self.hangs_up(wire);
        };
        if let Some(session) = self.hub.streams.of(agent) {
            session.heard_at = self.now;
        }
        self.call_arrives(wire, &text);
        self.asked_by_exchange(agent, wire, text);
    }

    pub(super) fn listens(&mut self, wire: WireId, key: &str, last: Option<Position>) {
        let agent = self.session(wire, key, false);
        let Some((agent, session)) = agent.and_then(|agent| Some((agent, self.hub.streams.of(agent)?)))
        else {
            return self.hangs_up(wire);
        };
        session.turn += 1;
        let (turn, before) = (session.turn, session.stream.replace(wire));
        let from = match &last {
            None => session.arrived,
            Some(last) if last.of == agent && last.got <= session.sent.len() => last.got,
            Some(_) => 0,
        };
        let received = last.map(|last| last.received).unwrap_or_default();
        session.received_before.clone_from(&received);
        let sent = session.sent.iter().cloned().enumerate().skip(from);
        let missed = sent.filter(|(_, (_, review))| !session.is_known(*review));
        let missed: Vec<_> =
            missed.map(|(at, (event, review))| (session.position(at + 1), event, review)).collect();
        for (position, event, review) in missed {
            self.count("events sent again on another stream");
            self.send_to_peer(wire, ToPeer::Event(position, event, review));
        }
        if let Some(before) = before {
            self.hangs_up(before);
        }
        if !received.is_empty() {
            self.count("streams that say which outcomes were received");
        }
        self.hub_event(Event::StreamOpened { agent, stream: turn, received });
    }

    /// What is not an answer; kept until a stream takes it.
    pub(super) fn says_on_stream(&mut self, agent: AgentId, text: &str) {
        self.trace.mix(text.as_bytes());
        let frame: Value = serde_json::from_str(text).expect("the hub sends JSON");
        let key = self.hub.streams.sessions.iter().find(|(_, session)| session.agent == agent);
        let Some(key) = key.map(|(key, _)| key.clone()) else { return };
        if let Some((path, heard)) = messages::told_later(&frame) {
            let number = self.agents.iter().position(|agent| agent.listening.has_used(&key));
            let name = number.map(|number| self.agents[number].name.clone()).unwrap_or_default();
            self.look_at_told(&name, &path, &heard);
            self.look_at_stopped(&name);
        }
        let Some(session) = self.hub.streams.of(agent) else { return };
        let review = session.next_outcome.take();
        session.sent.push((frame.clone(), review));
        let position = session.position(session.sent.len());
        if let Some(wire) = session.stream.filter(|_| !session.is_known(review)) {
            self.send_to_peer(wire, ToPeer::Event(position, frame, review));
        }
    }

    pub(super) fn session_wire_closed(&mut self, wire: WireId) {
        self.over_for_hub(wire);
        self.hub.exchanges.given_up(wire);
        let on_it = self.hub.streams.sessions.values_mut().find(|session| session.stream == Some(wire));
        if let Some(session) = on_it {
            session.stream = None;
            let (agent, stream) = (session.agent, session.turn);
            self.hub_event(Event::StreamClosed { agent, stream });
        }
    }

    /// The hub ends the session: its waiting requests get no answer.
    pub(super) fn session_ends(&mut self, agent: AgentId) {
        let ended = self.hub.streams.sessions.extract_if(.., |_, session| session.agent == agent);
        let streams: Vec<WireId> = ended.filter_map(|(_, session)| session.stream).collect();
        let waiting = self.hub.exchanges.all_given_up(agent);
        for wire in streams.into_iter().chain(waiting) {
            self.hangs_up(wire);
        }
    }
}

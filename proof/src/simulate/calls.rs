//! Requests to the hub: each is answered once and in time, and what a status calls connected is.

use std::collections::{BTreeMap, BTreeSet};

use linkspan_review::{AgentId, ReviewId};
use serde_json::Value;

use super::agent::Part;
use super::messages::{self, Received};
use super::simulation::Simulation;
use super::wire::{Peer, PeerName, WireId};

#[derive(Default)]
pub(super) struct Calls {
    open: BTreeMap<(WireId, i64), Call>,
    due: BTreeSet<(u64, WireId, i64)>,
    /// Questions of the hub about a document.
    texts: BTreeMap<(WireId, i64), String>,
    /// Agents on the hub's own socket, by the name that the hub gave them.
    pub(super) joined: BTreeMap<String, WireId>,
}

struct Call {
    arrived: u64,
    method: String,
    answers: u32,
    cancelled: bool,
    /// The changes that it asks for.
    changes: Vec<Part>,
    /// The review that it says yes to.
    accepts: Option<ReviewId>,
}

/// How long a machine may take in all: a disk that does not answer, then an editor that does not.
const MACHINE_MS: u64 = 30_000;
/// How long a call may take that only an editor has to answer. Less than the time between two pings: otherwise an editor
/// that does not answer would be disconnected before its deadline was seen to be missed.
const EDITOR_MS: u64 = 10_000;
/// How long an editor may be away.
const EDITOR_BACK_MS: u64 = 120_000;
/// A status waits for signs of life.
const STATUS_MS: u64 = 1_000;
/// A decision that is written: several disks and editors in turn may have to be given up, and looked at again.
const DECISION_MS: u64 = 300_000;

impl Calls {
    /// The whole machine did: no answer was possible in that time.
    pub(super) fn slept(&mut self, ms: u64) {
        self.due =
            std::mem::take(&mut self.due).into_iter().map(|(due, wire, id)| (due + ms, wire, id)).collect();
    }
}

impl Simulation {
    pub(super) fn call_arrives(&mut self, wire: WireId, text: &str) {
        if self.wires[wire.0].over_for_hub {
            return;
        }
        let frame: Value = serde_json::from_str(text).expect("peers send JSON");
        let Some(id) = frame["id"].as_i64() else { return };
        let Some(method) = messages::method(&frame) else {
            if let Some(path) = self.promises.calls.texts.remove(&(wire, id)) {
                match frame["result"]["dirty"] == true {
                    true => drop(self.promises.unsaved.insert(path, wire)),
                    false => drop(self.promises.unsaved.remove(&path)),
                }
            }
            return;
        };
        let changes = messages::changes(&frame);
        let name = self.wires[wire.0].name;
        let within = match method {
            // Answered when the user has decided; if the decision is sent later, when the change is shown.
            _ if !changes.is_empty() && name != Some(PeerName::Session) => None,
            // Whether it was decided before may hang on an editor that is away and has time to come back.
            _ if !changes.is_empty() => Some(MACHINE_MS + EDITOR_BACK_MS),
            "hub/status" => Some(STATUS_MS),
            "review/decided" | "reviews/decide" | "review/edited" => Some(DECISION_MS),
            // Files and editors are asked in turn, and what is in doubt first.
            "history/undo" | "history/list" => Some(DECISION_MS),
            // A person is asked.
            _ if messages::wants_to_run(&frame) => None,
            _ if messages::asks_editor_only(&frame) => Some(EDITOR_MS),
            // The folders are looked at by the edge.
            "attach" => None,
            _ => Some(MACHINE_MS),
        };
        match method {
            "history/undo" => {
                let name = frame["params"]["change"].as_str().unwrap_or_default();
                self.promises.undos.is_asked((wire, id), name);
            }
            "user/answered" => self.check_permission_answer(&frame["params"]),
            _ => {}
        }
        let calls = &mut self.promises.calls;
        if let Some(within) = within {
            calls.due.insert((self.now + within, wire, id));
        }
        let (arrived, method) = (self.now, method.to_owned());
        let cancelled = calls.open.remove(&(wire, id)).is_some_and(|call| call.cancelled);
        let decides = frame["params"]["decision"]["verdict"]["kind"].as_str();
        let accepts = decides.filter(|kind| *kind != "reject").and(frame["params"]["review"].as_str());
        let accepts = accepts.and_then(|review| review.parse().ok());
        calls.open.insert((wire, id), Call { arrived, method, answers: 0, cancelled, changes, accepts });
    }

    pub(super) fn call_cancelled(&mut self, wire: WireId, id: i64) {
        let (arrived, method) = (self.now, String::new());
        let (changes, accepts) = (Vec::new(), None);
        let fresh = Call { arrived, method, answers: 0, cancelled: true, changes, accepts };
        self.promises.calls.open.entry((wire, id)).or_insert(fresh).cancelled = true;
    }

    pub(super) fn hub_says(&mut self, wire: WireId, frame: &Value) {
        let Some(id) = frame["id"].as_i64() else { return };
        if let Some(method) = frame["method"].as_str() {
            self.look_at_question(method, &frame["params"]);
            if method == "document/text" {
                let path = frame["params"]["path"].as_str().unwrap_or_default().to_owned();
                self.promises.calls.texts.insert((wire, id), path);
            }
            return;
        }
        self.promises.looked("7: each request is answered at most once");
        let Some(call) = self.promises.calls.open.get_mut(&(wire, id)) else {
            return self
                .promises
                .broken(format!("7: an answer to a request {id} that was never made on {wire:?}"));
        };
        call.answers += 1;
        if call.answers > 1 {
            let what = format!("7: `{}` {id} on {wire:?} is answered {} times", call.method, call.answers);
            return self.promises.broken(what);
        }
        let (method, arrived, changes) = (call.method.clone(), call.arrived, call.changes.clone());
        let taken = call.accepts.filter(|_| frame["result"]["kind"] == "taken");
        self.promises.file_contents.taken.extend(taken);
        match method.as_str() {
            "hub/status" => self.look_at_status(arrived, &frame["result"]),
            "history/undo" => self.undo_answered((wire, id), frame["result"]["redo"].as_str()),
            "hub/watch" => self.is_watching(wire),
            "agent/join" => {
                if let Some(agent) = frame["result"]["agent"].as_str() {
                    self.promises.calls.joined.insert(agent.to_owned(), wire);
                }
            }
            _ => {}
        }
        let Peer::Agent(number) = self.wires[wire.0].peer else { return };
        let heard = messages::heard(self.agents[number].dialect, frame);
        if changes.len() > 1 {
            self.look_at_parts(self.agents[number].home, &changes, &heard);
        }
        let heard = match heard {
            Received::Set(parts) => parts.into_iter().map(|(_, part)| part).collect(),
            one => vec![one],
        };
        let name = self.agents[number].name.clone();
        if !changes.is_empty() {
            self.look_at_stopped(&name);
        }
        for (part, heard) in changes.into_iter().zip(heard) {
            match heard {
                Received::Accepted { text } => {
                    self.look_at_outcome(&name, &part, Some(text.as_deref()), arrived)
                }
                Received::Rejected => self.look_at_outcome(&name, &part, None, arrived),
                Received::Failed(_) | Received::Other | Received::Set(_) => {}
            }
        }
    }

    fn look_at_status(&mut self, asked: u64, status: &Value) {
        let is_gone = |wire: WireId| {
            let wire = &self.wires[wire.0];
            wire.over_for_hub || wire.life != self.hub.life || wire.cut_at.is_some_and(|cut| cut < asked)
        };
        let (mut listed, mut lies) = (0, Vec::new());
        for window in status["windows"].as_array().into_iter().flatten() {
            let folder = window["folders"][0].as_str().unwrap_or_default();
            let editor = folder.trim_start_matches("/ws").parse().map(Peer::Editor).ok();
            if window["attached"] == true {
                listed += 1;
                let its =
                    (0..self.wires.len()).map(WireId).filter(|wire| Some(self.wires[wire.0].peer) == editor);
                if its.into_iter().all(is_gone) {
                    lies.push(folder.to_owned());
                }
            }
            let lists = ["agents", "returnedAgents"].into_iter().filter_map(|list| window[list].as_array());
            for agent in lists.flatten() {
                listed += 1;
                let name = agent["agent"].as_str().unwrap_or_default();
                let number = name.trim_start_matches('a').parse().map(AgentId).ok();
                let by_port = number.and_then(|agent| self.hub.wire_of(agent));
                let wire = by_port.or_else(|| self.promises.calls.joined.get(name).copied());
                let session = number.and_then(|agent| self.hub.streams.signs_of_life(agent));
                let is_gone = match session {
                    Some((heard_at, stream)) => heard_at < asked && stream.is_none_or(is_gone),
                    None => wire.is_none_or(is_gone),
                };
                if is_gone {
                    lies.push(name.to_owned());
                }
            }
        }
        if listed > 0 {
            self.promises.looked("8: who is called connected is");
        }
        if !lies.is_empty() {
            self.promises
                .broken(format!("8: the status calls connected what was gone before it was asked: {lies:?}"));
        }
    }

    /// After each step; only when the hub has had its turn for all that is due.
    pub(super) fn look_at_deadlines(&mut self) {
        let Some(&(due, wire, id)) = self.promises.calls.due.first() else { return };
        if due >= self.now || !self.is_caught_up() {
            return;
        }
        self.promises.calls.due.pop_first();
        self.promises.looked("7: each machine's request is answered in time");
        let waits =
            self.wires[wire.0].life == self.hub.life && self.hub.is_up() && !self.wires[wire.0].over_for_hub;
        let call = self.promises.calls.open.get(&(wire, id));
        if let Some(call) = call.filter(|call| waits && call.answers == 0 && !call.cancelled) {
            let what = format!(
                "7: `{}` {id} on {wire:?} is without an answer since {} ms",
                call.method, call.arrived
            );
            self.promises.broken(what);
        }
    }

    /// When everything is settled: no call on a connection that is still there waits for its answer, but for those
    /// that came a moment ago.
    pub(super) fn look_for_unanswered(&mut self) {
        let mut unanswered = Vec::new();
        for ((wire, id), call) in &self.promises.calls.open {
            let there = &self.wires[wire.0];
            let named =
                matches!(there.name, Some(PeerName::Agent(_) | PeerName::Session | PeerName::Local(_)));
            if there.is_whole()
                && there.life == self.hub.life
                && named
                && call.answers == 0
                && !call.cancelled
                && call.arrived + 2 * STATUS_MS < self.now
            {
                unanswered.push(format!("`{}` {id} on {wire:?}", call.method));
            }
        }
        // Also those that ask nothing: a notification, or the answer to a ping.
        for (exchange, wire) in self.hub.exchanges.waiting() {
            if self.wires[wire.0].is_whole() {
                unanswered.push(format!("{exchange:?} on {wire:?}"));
            }
        }
        self.promises.looked("7: no one waits in the end");
        if !unanswered.is_empty() {
            self.promises.broken(format!("7: never answered: {unanswered:?}"));
        }
    }
}

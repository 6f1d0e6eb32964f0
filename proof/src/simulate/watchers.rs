//! What is promised to those who watch: of reviews they hear what is recorded, as it is recorded, each thing once and
//! nothing left out; and no agent leaves that they have not seen join, unless that was before they watched.

use std::collections::{BTreeMap, BTreeSet};

use linkspan_hub::core::{ConnectionId, Event};
use linkspan_review::{ReviewId, Step};
use serde_json::Value;

use super::simulation::Simulation;
use super::wire::{PeerName, ToPeer, WireId};

#[derive(Default)]
pub(super) struct WatcherLog {
    /// Watchers that the hub has confirmed, and how many connections there had been by then.
    watching: BTreeMap<WireId, u64>,
    /// The record that the journal reports right now, and whether it succeeded.
    now: Option<(ReviewId, Step, bool)>,
    /// Who was notified of that.
    told: BTreeSet<ConnectionId>,
    /// Who saw which agent come, and not leave yet.
    seen: BTreeSet<(ConnectionId, String)>,
    /// Agents that have left, and in which life of the hub.
    left: BTreeSet<(u64, String)>,
}

const IN_ORDER: &str = "3: watchers hear of each record once, as it is made";
const ALL: &str = "3: no watcher misses a record";

impl Simulation {
    pub(super) fn is_watching(&mut self, wire: WireId) {
        self.count("watchers");
        self.promises.watched.watching.insert(wire, self.hub.connections);
    }

    fn watchers(&self) -> BTreeSet<ConnectionId> {
        let there = |wire: &&WireId| {
            let wire = &self.wires[wire.0];
            !wire.over_for_hub && wire.life == self.hub.life
        };
        let names = self.promises.watched.watching.keys().filter(there).map(|wire| self.wires[wire.0].name);
        names
            .filter_map(|name| if let Some(PeerName::Local(local)) = name { Some(local) } else { None })
            .collect()
    }

    /// The hub receives an event; the result of a record is published to all watchers.
    pub(super) fn hub_hears(&mut self, event: Event) {
        let record = match &event {
            Event::Recorded { review, step, result } => Some((*review, *step, result.is_ok())),
            _ => None,
        };
        let watchers = self.watchers();
        self.promises.watched.now = record;
        self.promises.watched.told.clear();
        self.hub_event(event);
        self.promises.watched.now = None;
        let Some((review, step, true)) = record else { return };
        if watchers.is_empty() {
            return;
        }
        let told = &self.promises.watched.told;
        let result = match watchers.iter().find(|watcher| !told.contains(watcher)) {
            // A hub that stops notifies no one.
            Some(watcher) if self.hub.is_up() => Err(format!("{watcher:?} is not told of {review} {step:?}")),
            _ => Ok(()),
        };
        self.promises.look(ALL, result);
    }

    pub(super) fn publishes(&mut self, to: Vec<ConnectionId>, body: &[u8]) {
        self.trace.mix(body);
        let frame: Value = serde_json::from_slice(body).expect("the hub sends JSON");
        let what = &frame["params"]["what"];
        match what["kind"].as_str().unwrap_or_default() {
            "review" => self.look_at_news(&to, what),
            "agentJoined" | "agentLeft" => self.look_at_comings(&to, what),
            _ => {}
        }
        for local in to {
            if let Some(wire) = self.hub.locals.get(&local).copied() {
                self.count("events sent to watchers");
                self.send_to_peer(wire, ToPeer::Frame(frame.clone()));
            }
        }
    }

    fn look_at_news(&mut self, to: &[ConnectionId], what: &Value) {
        let (name, kind) = (what["review"].as_str().unwrap_or_default(), what["change"]["kind"].as_str());
        match kind {
            // No step of a review, and in no record of one.
            Some("agentGone" | "agentBack" | "notOnDisk") => return,
            Some("onDisk") => return self.told_to_be_on_disk(name),
            _ => {}
        }
        let watched = &mut self.promises.watched;
        let result = match (watched.now, kind) {
            (Some((review, step, is_there)), Some(kind)) if review.to_string() == name => {
                let fits = match step {
                    Step::Proposed => kind == "proposed" && is_there,
                    Step::Decided => kind == "decided" && is_there,
                    Step::Edited => kind == "edited",
                    Step::Rebased => kind == "rebased",
                    Step::Written => kind == "written",
                    Step::Delivered => kind == "delivered",
                    Step::Ended => match kind {
                        "failed" => is_there,
                        "reopened" => !is_there,
                        kind => matches!(kind, "superseded" | "withdrawn"),
                    },
                };
                let twice = to.iter().find(|local| !watched.told.insert(**local));
                match (fits, twice) {
                    (true, None) => Ok(()),
                    (false, _) => {
                        Err(format!("{name} is said to be {kind}, recorded ({is_there}) is {step:?}"))
                    }
                    (_, Some(local)) => Err(format!("{local:?} is told twice of {name} {step:?}")),
                }
            }
            (now, kind) => Err(format!("{name} is said to be {kind:?}, and recorded is {now:?}")),
        };
        self.promises.look(IN_ORDER, result);
    }

    fn look_at_comings(&mut self, to: &[ConnectionId], what: &Value) {
        let agent = what["agent"].as_str().unwrap_or_default();
        let came = self.connection_of(agent);
        let watched = &mut self.promises.watched;
        let who = (self.hub.life, agent.to_owned());
        let fits = match what["kind"] == "agentJoined" {
            true => {
                let mut to = to.iter().map(|local| (*local, agent.to_owned()));
                !watched.left.contains(&who) && to.all(|sight| watched.seen.insert(sight))
            }
            false => {
                let wire = |local: &ConnectionId| self.hub.locals.get(local);
                let since = |local| wire(local).and_then(|wire| watched.watching.get(wire).copied());
                let mut missed = to.iter().filter(|local| !watched.seen.remove(&(**local, agent.to_owned())));
                missed.all(|local| since(local) >= came) && watched.left.insert(who)
            }
        };
        let result = if fits { Ok(()) } else { Err(format!("{what} is not what was there before")) };
        self.promises.look("8: watchers see each agent come once, and leave once", result);
    }

    /// Which connection the agent came on, counted over all lives of the hub.
    fn connection_of(&self, agent: &str) -> Option<u64> {
        match self.promises.calls.joined.get(agent).map(|wire| self.wires[wire.0].name) {
            Some(Some(PeerName::Local(local))) => Some(local.0),
            // As the edge has numbered it.
            _ => agent.trim_start_matches('a').parse::<u64>().ok().map(|number| number / 2),
        }
    }
}

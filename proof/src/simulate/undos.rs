//! What is promised of undos: they give a file exactly what it held before a change that was made, once, because a
//! person asked; and the journal knows of each whether it was done.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use linkspan_hub::core::Ticket;
use linkspan_hub::core::contract::RecordedChange;
use linkspan_hub::core::contract::Restoration;
use linkspan_review::{ChangeId, Digest, decode};

use super::simulation::{SimEvent, Simulation};
use super::wire::WireId;

#[derive(Default)]
pub(super) struct Undos {
    /// The name of a change or its review in each request that was neither gone about nor answered.
    asked: BTreeMap<(WireId, i64), String>,
    known: BTreeMap<ChangeId, Undo>,
    /// Those of the hub there is now.
    by_ticket: BTreeMap<Ticket, ChangeId>,
}

/// As the journal has it.
struct Undo {
    path: PathBuf,
    /// What the file holds if it was not done, and if it was.
    without: Option<Vec<u8>>,
    with: Option<Vec<u8>>,
    applied: usize,
    /// The file has held what it was to be given back.
    arrived: bool,
    /// What was recorded, and whether it would survive the hub.
    done: Option<bool>,
    is_kept: bool,
}

const BOUND: &str = "2: each undo gives back what a change took, and a person asked for it";
const ONCE: &str = "1: each undo is applied once";
const KNOWN: &str = "3: the journal knows of each undo whether it was done";

impl Undos {
    pub(super) fn is_asked(&mut self, request: (WireId, i64), name: &str) {
        self.asked.insert(request, name.to_owned());
    }

    /// Whether somebody asked for just this; each request is good for one undo.
    fn spend(&mut self, change: &RecordedChange) -> bool {
        let names = [change.id.map(|id| id.to_string()), Some(change.review.to_string())];
        let asked = self.asked.iter().find(|(_, name)| names.iter().flatten().any(|known| known == *name));
        let request = asked.map(|(request, _)| *request);
        request.is_some_and(|request| self.asked.remove(&request).is_some())
    }

    /// No request outlives the hub that was asked.
    pub(super) fn hub_ends(&mut self) {
        self.asked.clear();
    }

    /// Killed: what was recorded last is lost.
    pub(super) fn lose(&mut self) {
        self.by_ticket.clear();
        for undo in self.known.values_mut().filter(|undo| !undo.is_kept) {
            undo.done = None;
        }
    }

    pub(super) fn end_is_kept(&mut self, id: ChangeId) {
        if let Some(undo) = self.known.get_mut(&id) {
            undo.is_kept = true;
        }
    }

    /// Another program makes the change again before the result of its undo was seen: then it cannot be told.
    pub(super) fn made_again(&mut self, path: &Path, bytes: &[u8]) {
        let open = self.known.values_mut().filter(|undo| undo.path == path && undo.done.is_none());
        open.filter(|undo| undo.without.as_deref() == Some(bytes)).for_each(|undo| undo.arrived = false);
    }

    /// Which undo gives this document that text.
    fn with_texts(&mut self, path: &Path, held: &str, text: &str) -> Option<ChangeId> {
        let is = |bytes: &Option<Vec<u8>>, text: &str| {
            bytes.as_ref().and_then(|bytes| decode(bytes).ok()).is_some_and(|known| known.text == text)
        };
        let found = self.known.iter().rev().find(|(_, undo)| {
            undo.path == path && undo.done.is_none() && is(&undo.without, held) && is(&undo.with, text)
        });
        found.map(|(id, _)| *id)
    }
}

impl Simulation {
    /// The hub goes about an undo; nothing is in the journal yet.
    pub(super) fn undo_begins(&mut self, change: &RecordedChange) {
        let undos = &mut self.promises.undos;
        let asked = undos.spend(change);
        let before = change.id.and_then(|id| undos.known.get(&id));
        let made = match before {
            Some(undo) => {
                (&undo.path, &undo.without, &undo.with) == (&change.path, &change.before, &change.after)
            }
            None => self.promises.was_made(change),
        };
        let result = match (asked, made) {
            (false, _) => Err(format!("no one asked for the undo of {:?} of {}", change.id, change.review)),
            (_, false) => {
                Err(format!("no change of {} made {:?} of {:?}", change.review, change.after, change.before))
            }
            _ => Ok(()),
        };
        self.promises.look(BOUND, result);
        let unsaved = self.promises.unsaved.get(&*change.path.to_string_lossy()).copied();
        let result = match unsaved.filter(|wire| !self.wires[wire.0].over_for_hub) {
            Some(_) => Err(format!("{} has unsaved text, and is undone", change.path.display())),
            None => Ok(()),
        };
        self.promises.look("5: no undo begins under text known to be unsaved", result);
    }

    /// It is in the journal.
    pub(super) fn undo_is_durable(&mut self, ticket: Ticket, id: ChangeId, change: RecordedChange) {
        self.count("undos begun");
        let RecordedChange { path, before, after, .. } = change;
        let (applied, arrived, done, is_kept) = (0, false, None, false);
        let undo = Undo { path, without: after, with: before, applied, arrived, done, is_kept };
        self.promises.undos.known.insert(id, undo);
        self.promises.undos.by_ticket.insert(ticket, id);
        if self.fault(150) {
            self.count("hubs killed amid an undo");
            let (life, soon) = (self.hub.life, self.chance.below(20) as u64);
            self.later(soon, SimEvent::HubDies(life));
        }
    }

    pub(super) fn restore_ordered(&mut self, ticket: Ticket, order: &Restoration) {
        let (path, expect, bytes) = match order {
            Restoration::Replace(order) => (&order.path, order.expect, Some(&*order.bytes)),
            Restoration::Remove(order) => (&order.path, Some(order.expect), None),
        };
        let undos = &self.promises.undos;
        let undo = undos.by_ticket.get(&ticket).and_then(|id| undos.known.get(id));
        let bound = undo.is_some_and(|undo| {
            undo.path == *path
                && undo.without.as_deref().map(Digest::of) == expect
                && undo.with.as_deref() == bytes
                && undo.done.is_none()
        });
        let result = match bound {
            true => Ok(()),
            false => Err(format!("no undo in the journal gives {} these bytes", path.display())),
        };
        self.promises.look("2: each file is given back what the journal says, over what it says", result);
    }

    /// The disk has got what that undo gives back.
    pub(super) fn restored(&mut self, ticket: Ticket) {
        self.count("files given back by undos");
        if let Some(id) = self.promises.undos.by_ticket.get(&ticket).copied() {
            self.undo_applied(id);
            self.undo_arrived(id);
        }
    }

    /// Whether it is an undo that gives this document that text.
    pub(super) fn is_undone_in_editor(&mut self, path: &Path, held: &str, dirty: bool, text: &str) -> bool {
        let Some(id) = self.promises.undos.with_texts(path, held, text) else { return false };
        self.count("documents given back by undos");
        if dirty {
            self.promises.broken(format!("5: the undo {id} changes unsaved text of {}", path.display()));
        }
        self.undo_applied(id);
        true
    }

    fn undo_applied(&mut self, id: ChangeId) {
        let Some(undo) = self.promises.undos.known.get_mut(&id) else { return };
        undo.applied += 1;
        let times = undo.applied;
        let result = if times == 1 { Ok(()) } else { Err(format!("{id} is applied {times} times")) };
        self.promises.look(ONCE, result);
    }

    /// A file holds something new: what an undo was to give back, perhaps, and said not to have.
    pub(super) fn look_for_undone(&mut self, path: &Path) {
        let held = self.disk.get(path);
        let arrived = self.promises.undos.known.iter().filter(|(_, undo)| {
            undo.path == path && undo.applied > 0 && !undo.arrived && undo.with.as_ref() == held
        });
        for id in arrived.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.undo_arrived(id);
        }
    }

    fn undo_arrived(&mut self, id: ChangeId) {
        let Some(undo) = self.promises.undos.known.get_mut(&id) else { return };
        undo.arrived = true;
        let result = match undo.done {
            Some(false) => Err(format!("{id} was said not to be done, and is done now")),
            _ => Ok(()),
        };
        self.promises.look(KNOWN, result);
    }

    /// The hub records the result.
    pub(super) fn undo_ends(&mut self, id: ChangeId, done: bool) {
        self.count(if done { "undos done" } else { "undos begun and not done" });
        let Some(undo) = self.promises.undos.known.get_mut(&id) else {
            return self.promises.broken(format!("{KNOWN}: {id} ends, which was never begun"));
        };
        undo.done = Some(done);
        undo.is_kept = false;
        let holds = self.disk.get(&undo.path) == undo.with.as_ref();
        let result = match done {
            true if !undo.arrived && !holds => {
                Err(format!("{id} is said to be done, and the file never had it"))
            }
            false if undo.arrived => Err(format!("{id} is said not to be done, and the file had it")),
            _ => Ok(()),
        };
        self.promises.look(KNOWN, result);
    }

    /// What is reported about the undo.
    pub(super) fn undo_answered(&mut self, request: (WireId, i64), redo: Option<&str>) {
        self.promises.undos.asked.remove(&request);
        let Some(redo) = redo else { return self.count("undos refused") };
        let undo = redo.parse().ok().and_then(|id| self.promises.undos.known.get(&id));
        let result = match undo.map(|undo| undo.done) {
            Some(Some(true)) => Ok(()),
            other => Err(format!("{redo} is said to be done, and the journal was told {other:?}")),
        };
        self.promises.look("3: an undo that is reported as done is done", result);
    }
}

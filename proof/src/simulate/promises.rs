//! What is looked at whenever something is recorded, written or applied: the promises about files and decisions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use linkspan_hub::core::contract::{RecordedChange, Replacement};
use linkspan_review::{Digest, Review, ReviewEnd, ReviewId, Step, Writer, decode};

use super::agent::{Ask, AskState, Part};
use super::calls::Calls;
use super::conversations::{Conversations, is_hosted};
use super::file_contents::{FileContents, MARK};
use super::messages::Received;
use super::permissions::Permissions;
use super::sets::Sets;
use super::simulation::Simulation;
use super::undos::Undos;
use super::user::{UserDecision, fits, goes_on};
use super::watchers::WatcherLog;
use super::wire::{Peer, WireId};

#[derive(Default)]
pub(super) struct Promises {
    /// How often each check had something to look at.
    pub(super) looked: BTreeMap<&'static str, u64>,
    pub(super) broken: Option<String>,
    /// What the person said of each review.
    pub(super) words: BTreeMap<ReviewId, Vec<UserDecision>>,
    /// Which of them were recorded as decisions, and how the last of them was.
    counted: BTreeMap<ReviewId, BTreeSet<usize>>,
    last_decided: BTreeMap<ReviewId, (usize, Review)>,
    /// How often the decisions about a review changed a file or a document.
    pub(super) applied: BTreeMap<ReviewId, usize>,
    /// The last write of the hub to each file, and what it wrote.
    pub(super) last_write: BTreeMap<PathBuf, (ReviewId, Vec<u8>)>,
    pub(super) durable: BTreeMap<ReviewId, Vec<Durable>>,
    /// What is known to be in its file, by a decision that is durable; that it was written may fail to be.
    pub(super) written: BTreeMap<ReviewId, Durable>,
    /// Files that an editor has said to hold unsaved text of, by the last word that the hub has got.
    pub(super) unsaved: BTreeMap<String, WireId>,
    /// The same at the moment when a decision was made.
    unsaved_at_decision: BTreeMap<ReviewId, WireId>,
    pub(super) calls: Calls,
    pub(super) sets: Sets,
    pub(super) conversations: Conversations,
    pub(super) undos: Undos,
    pub(super) consent: Permissions,
    pub(super) watched: WatcherLog,
    pub(super) file_contents: FileContents,
}

/// A review as the journal has it.
pub(super) struct Durable {
    pub(super) at: u64,
    pub(super) step: Step,
    pub(super) review: Review,
}

/// Agents that write the accepted text also receive the byte order mark of the file.
fn is_told(accepted: &linkspan_review::Accepted, text: &str) -> bool {
    accepted.text == text || text.strip_prefix(MARK).is_some_and(|text| accepted.text == text)
}

/// A hook and its agent asked for the same change, each when the file had the line endings of that moment. The one that is
/// not the owner may receive the accepted text in those of the file.
fn is_told_to_follower(accepted: &linkspan_review::Accepted, text: &str) -> bool {
    is_told(accepted, text) || &*accepted.bytes == text.as_bytes()
}

/// The hub or an editor writes it, not the agent.
pub(super) fn is_written_by_hub(review: &Review) -> bool {
    review.writer == Writer::Hub || review.written_here
}

impl Durable {
    pub(super) fn accepted(&self) -> Option<&linkspan_review::Accepted> {
        match &self.review.outcome()?.ended {
            ReviewEnd::Accepted(accepted) => Some(accepted),
            _ => None,
        }
    }

    fn is_rejected(&self) -> bool {
        self.review.outcome().is_some_and(|outcome| matches!(outcome.ended, ReviewEnd::Rejected { .. }))
    }
}

impl Promises {
    /// The reviews that the journal does not have the end of.
    pub(super) fn unfinished(&self) -> Vec<String> {
        let last = self.durable.values().filter_map(|known| known.last());
        let open = last.filter(|last| !matches!(last.step, Step::Delivered | Step::Ended));
        open.map(|last| {
            format!(
                "{} {} {:?} {:?} at {}",
                last.review.id, last.review.owner_key, last.step, last.review.writer, last.at
            )
        })
        .collect()
    }

    /// Whether an accepted review changed a file in exactly this way.
    pub(super) fn was_made(&self, change: &RecordedChange) -> bool {
        let known =
            self.durable.get(&change.review).into_iter().flatten().chain(self.written.get(&change.review));
        known.into_iter().any(|durable| {
            let before = durable.review.base.as_ref().and_then(|base| base.encode().ok());
            durable.review.path == change.path
                && before.as_deref() == change.before.as_deref()
                && durable.accepted().map(|accepted| &*accepted.bytes) == change.after.as_deref()
        })
    }

    pub(super) fn looked(&mut self, at: &'static str) {
        *self.looked.entry(at).or_default() += 1;
    }

    /// The first is what counts: the others may follow from it.
    pub(super) fn broken(&mut self, what: String) {
        self.broken.get_or_insert(what);
    }

    pub(super) fn look(&mut self, at: &'static str, result: Result<(), String>) {
        self.looked(at);
        if let Err(what) = result {
            self.broken(format!("{at}: {what}"));
        }
    }

    /// Finds the user's decision that this is, byte for byte.
    fn said(&self, review: &Review) -> Result<usize, String> {
        let words = self.words.get(&review.id).map(Vec::as_slice).unwrap_or_default();
        let mut why = None;
        for (at, word) in words.iter().enumerate().rev() {
            match fits(word, review) {
                Ok(()) => return Ok(at),
                Err(error) => drop(why.get_or_insert(format!(
                    "{error}; the file held {:?}, the user decided {word:?}",
                    review.base
                ))),
            }
        }
        // The file may move again before a decision is carried out, back to what it was, too: each move is a merge of
        // its own.
        if let Some((word, before)) = self.last_decided.get(&review.id)
            && goes_on(before, review)
        {
            return Ok(*word);
        }
        Err(why.unwrap_or_else(|| format!("the user decided nothing about {}", review.id)))
    }
}

impl Simulation {
    pub(super) fn record_asked(&mut self, review: &Review, step: Step) {
        match step {
            Step::Proposed => {
                self.look_at_proposal(review);
                self.look_at_set(review);
            }
            Step::Decided => {
                let said = self.promises.said(review);
                if let Ok(word) = &said {
                    self.promises.counted.entry(review.id).or_default().insert(*word);
                    self.promises.last_decided.insert(review.id, (*word, review.clone()));
                }
                let which = match review.outcome().map(|outcome| &outcome.ended) {
                    Some(ReviewEnd::Accepted(_)) => {
                        "2, 4: an accepted text is exactly what the user saw and decided"
                    }
                    _ => "2: a rejection is the user's own",
                };
                self.promises.look(which, said.map(|_| ()));
                self.look_at_writer(review);
                let unsaved = self.promises.unsaved.get(&*review.path.to_string_lossy()).copied();
                match unsaved {
                    Some(wire) => drop(self.promises.unsaved_at_decision.insert(review.id, wire)),
                    None => drop(self.promises.unsaved_at_decision.remove(&review.id)),
                }
            }
            // Without an owner it was not delivered: no agent fetched it in time.
            Step::Delivered if review.owner.is_some() => {
                let decided = review.outcome().is_some_and(|outcome| outcome.ended.is_by_user());
                // It may have asked for the same twice, and was told once for each.
                let heard = self.asks_of(review).filter(|(_, ask)| ask.asked < 2);
                let states: Vec<AskState> = heard.map(|(_, ask)| ask.state).collect();
                let got =
                    !decided || states.is_empty() || states.iter().any(|state| *state != AskState::Wanted);
                let result = if got { Ok(()) } else { Err(format!("its agent never got {}", review.id)) };
                self.promises.look("3: what counts as delivered has arrived", result);
            }
            Step::Written => {
                let written = Durable { at: self.now, step, review: review.clone() };
                self.promises.written.insert(review.id, written);
            }
            Step::Edited | Step::Rebased | Step::Ended | Step::Delivered => {}
        }
    }

    /// The number of the agent that asked for it, whether it still wants it, and how often it asks right now.
    fn ask_of(&self, review: &Review) -> Option<(usize, AskState, usize)> {
        self.asks_of(review).next().map(|(number, ask)| (number, ask.state, ask.times))
    }

    /// NEXUS3 has one name in every window.
    pub(super) fn agent_of(&self, name: Option<&str>, path: &Path) -> Option<usize> {
        let is_it = |agent: &super::agent::Agent| {
            Some(agent.name.as_str()) == name && path.starts_with(format!("/ws{}", agent.home))
        };
        self.agents.iter().position(is_it)
    }

    fn asks_of<'w>(&'w self, review: &'w Review) -> impl Iterator<Item = (usize, &'w Ask)> {
        let name = review.owner_key.split([':', '\u{1f}']).nth(1);
        let number = self.agent_of(name, &review.path);
        let asks = number
            .into_iter()
            .flat_map(|number| self.agents[number].asks.iter().map(move |ask| (number, ask)));
        asks.filter(|(_, ask)| ask.asks_for(review))
    }

    fn look_at_proposal(&mut self, review: &Review) {
        let id = review.id;
        if self.promises.durable.contains_key(&id) {
            return self.promises.broken(format!("3: {id} is the name of an older review"));
        }
        // A name whose first review was never durable is free again.
        self.promises.counted.remove(&id);
        self.promises.last_decided.remove(&id);
        self.promises.words.remove(&id);
        self.promises.applied.remove(&id);
        let Some((number, AskState::Wanted, 1)) = self.ask_of(review) else { return };
        // In a session on a stream, the newest change of a path takes the place of those before.
        if self.agents[number].listens() {
            return;
        }
        // Only where it is sure that the hub knows nothing else of this agent, and has not forgotten it yet.
        const KEPT_MS: u64 = 500_000;
        const KEPT_FOR_HOOK_MS: u64 = 50_000;
        let kept_ms = if self.agents[number].hook_of.is_some() { KEPT_FOR_HOOK_MS } else { KEPT_MS };
        const SETTLED_MS: u64 = 10_000;
        let wires = || {
            let its =
                |wire: &&super::wire::Wire| wire.peer == Peer::Agent(number) && wire.life == self.hub.life;
            self.wires.iter().filter(its)
        };
        let alone = wires().filter(|wire| !wire.over_for_hub).count() == 1;
        let gone = wires().filter_map(|wire| wire.over_at).max().unwrap_or(self.now);
        if !alone || self.now - gone > kept_ms {
            return;
        }
        let same = |other: &Review| {
            (&other.owner_key, &other.path, other.original, other.window, other.writer)
                == (&review.owner_key, &review.path, review.original, review.window, review.writer)
        };
        let mut asked_twice = None;
        let mut compared = false;
        for known in self.promises.durable.values() {
            let Some(last) = known.last().filter(|last| same(&last.review)) else { continue };
            let age = self.now - last.at;
            if !(SETTLED_MS..kept_ms).contains(&age) {
                continue;
            }
            // A decision answers its question, whatever became of the file. Only what was written and taken back
            // since is asked again.
            let still_holds = match (last.step, is_written_by_hub(&last.review), last.accepted()) {
                (Step::Written, true, Some(accepted)) => {
                    last.review.base != review.base
                        || review.base_digest() == Some(Digest::of(&accepted.bytes))
                }
                (Step::Decided, false, Some(_)) => true,
                (Step::Decided, _, None) if last.is_rejected() => true,
                _ => continue,
            };
            compared = true;
            if still_holds {
                asked_twice = Some(last.review.id);
            }
        }
        if compared {
            let result = asked_twice.map_or(Ok(()), |before| {
                Err(format!("{id} asks the user again for what was decided as {before}"))
            });
            self.promises.look("3: the user is not asked again for what was decided", result);
        }
    }

    pub(super) fn became_durable(&mut self, review: Review, step: Step) {
        if step == Step::Decided {
            self.count("durable decisions");
        }
        self.hosted_recorded(&review, step);
        let durable = Durable { at: self.now, step, review };
        self.promises.durable.entry(durable.review.id).or_default().push(durable);
    }

    pub(super) fn write_ordered(&mut self, id: ReviewId, order: &Replacement) {
        let known = self.promises.durable.get(&id).into_iter().flatten();
        let bound = known.filter(|durable| durable.step == Step::Decided).any(|durable| {
            let review = &durable.review;
            durable.accepted().is_some_and(|accepted| accepted.bytes == order.bytes)
                && is_written_by_hub(review)
                && (review.base_digest(), &review.path) == (order.expect, &order.path)
        });
        let result = match bound {
            true => Ok(()),
            false => {
                Err(format!("no durable decision of {id} is about these bytes for {}", order.path.display()))
            }
        };
        self.promises.look("2: each write is bound to a durable decision", result);
        let unsaved = self.promises.unsaved_at_decision.get(&id).copied();
        let result = match unsaved.filter(|wire| !self.wires[wire.0].over_for_hub) {
            Some(_) => Err(format!("{id} is written under unsaved text: {}", order.path.display())),
            None => Ok(()),
        };
        self.promises.look("5: no file is written under text known to be unsaved", result);
    }

    /// An editor is about to put this text in place of what its document holds.
    pub(super) fn edit_applied(&mut self, path: &Path, held: &str, dirty: bool, text: &str) {
        if self.is_undone_in_editor(path, held, dirty, text) {
            return;
        }
        let all = self.promises.durable.iter().rev();
        let found = all.map(|(id, known)| (*id, known)).find(|(_, known)| {
            known.iter().any(|durable| {
                let review = &durable.review;
                let decided = durable.accepted().and_then(|accepted| decode(&accepted.bytes).ok());
                durable.step == Step::Decided
                    && is_written_by_hub(review)
                    && (review.path.as_path(), review.base_text()) == (path, held)
                    && decided.is_some_and(|decided| decided.text == text)
            })
        });
        let which = if dirty {
            "5: unsaved text changes only into what was decided about it"
        } else {
            "2: each edit of a document is bound to a durable decision"
        };
        match found.map(|(id, _)| id) {
            Some(id) => {
                self.promises.look(which, Ok(()));
                if held != text {
                    self.applied(id, "an editor");
                }
            }
            None => {
                self.promises.look(which, Err(format!("{} gets a text that was not decided", path.display())))
            }
        }
    }

    pub(super) fn applied(&mut self, id: ReviewId, by: &str) {
        let hosted = self.promises.durable.get(&id).and_then(|known| known.last());
        if hosted.is_some_and(|durable| is_hosted(&durable.review)) {
            self.look_at_hosted_write(id);
        }
        *self.promises.applied.entry(id).or_default() += 1;
        let (times, said) =
            (self.promises.applied[&id], self.promises.counted.get(&id).map_or(0, BTreeSet::len));
        let result = match times <= said {
            true => Ok(()),
            false => Err(format!("{id} is applied {times} times, now by {by}, for {said} decisions")),
        };
        self.promises.look("1: each decision is applied once, by one party", result);
    }

    /// An agent writes over what the file holds. If that is a write of which the hub never learnt that it happened,
    /// because it was killed, the next hub rightly makes it again.
    pub(super) fn overwritten(&mut self, path: &Path) {
        let held = self.disk.get(path);
        if let Some((id, _)) = self.promises.last_write.get(path).filter(|(_, bytes)| Some(bytes) == held)
            && !self.promises.written.contains_key(id)
            && let Some(times) = self.promises.applied.get_mut(id)
        {
            *times = times.saturating_sub(1);
        }
    }

    /// Whether the user decided what an agent receives.
    pub(super) fn look_at_outcome(
        &mut self,
        name: &str,
        part: &Part,
        accepted: Option<Option<&str>>,
        asked: u64,
    ) {
        let before = self.promises.durable.values().flatten().any(|durable| {
            durable.step == Step::Decided && durable.at < asked && part.is_asked_by(&durable.review)
        });
        if before {
            self.promises.looked("3: the user is not asked again for what was decided");
        }
        let path = part.path.clone();
        self.look_at_word(name, &path, |review| part.is_asked_by(review), accepted, Some(&part.text));
    }

    /// The same, where a change is known by its path alone.
    pub(super) fn look_at_told(&mut self, name: &str, path: &Path, heard: &Received) {
        let accepted = match heard {
            Received::Accepted { text } => Some(text.as_deref()),
            Received::Rejected => None,
            Received::Failed(_) | Received::Set(_) | Received::Other => return,
        };
        self.look_at_word(name, path, |review| review.path == path, accepted, None);
    }

    fn look_at_word(
        &mut self,
        name: &str,
        path: &Path,
        is_it: impl Fn(&Review) -> bool,
        accepted: Option<Option<&str>>,
        proposed: Option<&str>,
    ) {
        let own_tool = self.agent_of(Some(name), path).is_some_and(|number| self.agents[number].own_tool);
        let written = self.promises.written.values();
        let decided = self.promises.durable.values().flatten().chain(written).filter(|durable| {
            let review = &durable.review;
            let is_written = is_written_by_hub(review) && durable.step == Step::Written;
            // A hook and its agent hear the same.
            let agent = |name: &str| name.trim_end_matches(" hook").to_owned();
            let owner = review.owner_key.split([':', '\u{1f}']).nth(1);
            let same = is_it(review) && owner.map(agent) == Some(agent(name));
            let is_told = if owner == Some(name) { is_told } else { is_told_to_follower };
            same && match accepted {
                // After a yes its tool would write once more: it hears no of what the hub has written.
                None => durable.is_rejected() || (own_tool && is_written && durable.accepted().is_some()),
                Some(_) if own_tool => {
                    let proposed = proposed.map(str::as_bytes);
                    !is_written_by_hub(review)
                        && durable.accepted().is_some_and(|told| Some(&*told.bytes) == proposed)
                }
                // Where Linkspan writes, no agent is answered before the file is known to hold it.
                Some(text) => {
                    (!is_written_by_hub(review) || is_written)
                        && durable.accepted().is_some_and(|told| text.is_none_or(|text| is_told(told, text)))
                }
            }
        });
        let decided: Vec<ReviewId> = decided.map(|durable| durable.review.id).collect();
        let result = match decided.is_empty() {
            false => Ok(()),
            true => Err(format!("{name} receives for {} what was not decided", path.display())),
        };
        if accepted.is_some() {
            self.promises.file_contents.told.extend(decided);
        }
        self.promises.look("3: agents hear durable decisions, exactly as made", result);
    }
}

//! Everybody around the reviews: the journal, the disk, agents and surfaces. Carries out effects as a
//! faithful shell does, only slowly and in the order the walk says.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use linkspan_review::{
    AgentId, Effect, Event, Follower, Outcome, Phase, Proposal, Review, ReviewEnd, ReviewId, Revision, State,
    Step, SurfaceId, Text, WriteError, Writer,
};

use crate::{
    checks,
    files::{self, Files},
    followers,
    transitions::Transition,
};

pub(crate) const KEYS: [&str; 3] = ["claude:one", "claude:one", "nexus3:two"];

/// The state shown under a revision.
pub(crate) type Shown = (Option<Text>, String, String);

#[derive(Default)]
pub(crate) struct ShellModel {
    pub(crate) state: State,
    pub(crate) files: Files,
    /// The state that a restart would find.
    pub(crate) journal: BTreeMap<ReviewId, Review>,
    /// Records under way, in order, each with the review as it was when the record was asked for.
    pub(crate) recording: VecDeque<(ReviewId, Step, Review)>,
    pub(crate) writing: VecDeque<(ReviewId, Text)>,
    pub(crate) agents: [Option<AgentId>; KEYS.len()],
    pub(crate) last_agent: u64,
    pub(crate) asked: Vec<Proposal>,
    /// Requests without an answer.
    pub(crate) waiting: BTreeSet<(ReviewId, AgentId)>,
    /// Those of `waiting` that do not own the review: they asked for the same.
    pub(crate) followers: BTreeMap<(ReviewId, AgentId), Follower>,
    /// Reviews that passed on to another agent.
    pub(crate) handed_over: BTreeSet<ReviewId>,
    /// In this life of the hub: what surfaces have seen, and so can speak about.
    pub(crate) shown: HashMap<(ReviewId, Revision), Shown>,
    /// Decisions that a surface was told are accepted.
    pub(crate) told: HashMap<ReviewId, ReviewEnd>,
    /// Answers that an agent has received.
    pub(crate) answered: BTreeMap<ReviewId, (AgentId, Outcome)>,
    /// Written, but not recorded: a restart has to find out again.
    pub(crate) unsure: BTreeSet<ReviewId>,
    /// Writes that the hub before may have done.
    pub(crate) doubtful: BTreeSet<ReviewId>,
    pub(crate) seen: BTreeSet<Transition>,
}

impl ShellModel {
    pub(crate) fn new() -> ShellModel {
        ShellModel { files: files::at_first(), ..ShellModel::default() }
    }

    pub(crate) fn apply(&mut self, event: Event) -> Vec<Effect> {
        let before = self.state.clone();
        let effects = self.state.apply(event.clone());
        checks::step(self, &before, &event, &effects);
        self.carry_out(Some(&event), &effects);
        checks::nothing_is_lost(self);
        effects
    }

    fn carry_out(&mut self, event: Option<&Event>, effects: &[Effect]) {
        for effect in effects.iter().cloned() {
            match effect {
                Effect::Bound { review, agent } => {
                    // Only edits may be repeated while they wait.
                    let repeats =
                        matches!(event, Some(Event::Proposed(proposal)) if proposal.asked.is_some());
                    assert!(self.waiting.insert((review, agent)) || repeats, "bound twice");
                }
                Effect::Record { review, step } => {
                    let snapshot = self.state.review(review).expect("a record of nothing").clone();
                    self.recording.push_back((review, step, snapshot));
                }
                Effect::Show { review } => {
                    let now = self.state.review(review).unwrap();
                    let shown = (now.base.clone(), now.side().to_owned(), now.base_text().to_owned());
                    let first = self.shown.entry((review, now.revision)).or_insert_with(|| shown.clone());
                    assert_eq!(*first, shown, "{review} shows two things under revision {}", now.revision);
                }
                Effect::Write { review, bytes, .. } => {
                    let now = self.state.review(review).unwrap();
                    let Phase::Writing(decided) = &now.phase else { panic!("a write in {:?}", now.phase) };
                    let format = now.base.as_ref().map_or(linkspan_review::Format::UTF8, |base| base.format);
                    let text = Text { format, text: decided.text.clone() };
                    assert_eq!(text.encode().unwrap(), bytes);
                    self.writing.push_back((review, text));
                }
                Effect::Answer { review, agent, outcome } => {
                    assert!(self.waiting.remove(&(review, agent)), "an answer that nobody waits for");
                    followers::answer_all(self, review, &outcome);
                    self.answered.insert(review, (agent, outcome));
                }
                Effect::Forget { review } => {
                    self.journal.remove(&review);
                    self.told.remove(&review);
                    self.unsure.remove(&review);
                    self.waiting.retain(|(waits_for, _)| *waits_for != review);
                    self.followers.retain(|(of, _), _| *of != review);
                    self.handed_over.remove(&review);
                }
                Effect::Hide { .. } | Effect::Reply { .. } => {}
            }
        }
    }

    /// The journal gets to its next record.
    pub(crate) fn record(&mut self, succeeds: bool) -> bool {
        let Some((review, step, snapshot)) = self.recording.pop_front() else { return false };
        if succeeds {
            self.journal.insert(review, snapshot);
            self.unsure.remove(&review);
            self.apply(Event::Recorded { review, step });
        } else {
            if step == Step::Written {
                self.unsure.insert(review);
            }
            self.apply(Event::RecordFailed { review, step, error: "disk full".to_owned() });
        }
        true
    }

    /// The disk gets to its next write, which happens only if the file is what the decision was about. An editor may
    /// have rules of its own for what it saves.
    pub(crate) fn write(&mut self, succeeds: bool, rules: Option<u32>) -> bool {
        let Some((id, text)) = self.writing.pop_front() else { return false };
        let review = self.state.review(id).unwrap();
        let in_doubt = self.doubtful.remove(&id);
        let now = self.files.get(&review.path).cloned();
        let made = rules.map(|rules| Text { text: files::changed(&text.text, rules).into(), ..text.clone() });
        // An editor saves only what the file can hold.
        let made = made.filter(|made| succeeds && made.encode().is_ok());
        let event = if now.as_ref() == Some(&text) {
            Event::Written { review: id }
        } else if files::digest(now.as_ref()) != review.base_digest() {
            let error = if in_doubt { WriteError::InDoubt(now) } else { WriteError::BaseMoved(now) };
            Event::WriteFailed { review: id, error }
        } else if let Some(made) = made {
            self.files.insert(review.path.clone(), made.clone());
            Event::SavedAs { review: id, text: made.text.into_string() }
        } else if succeeds {
            self.files.insert(review.path.clone(), text);
            Event::Written { review: id }
        } else {
            Event::WriteFailed { review: id, error: WriteError::Io("no space".to_owned()) }
        };
        self.apply(event);
        true
    }

    /// The hub dies: of what was under way, some records and some writes made it.
    pub(crate) fn crash(&mut self, records: usize, writes: usize) {
        let made_it = self.recording.len().min(records);
        for (review, _, snapshot) in self.recording.drain(..made_it) {
            self.journal.insert(review, snapshot);
        }
        for (id, text) in self.writing.drain(..).take(writes) {
            let review = self.state.review(id).unwrap();
            if files::digest(self.files.get(&review.path)) == review.base_digest() {
                self.files.insert(review.path.clone(), text);
            }
        }
        self.recording.clear();
        for review in std::mem::take(&mut self.unsure) {
            self.told.remove(&review);
        }
        self.agents = [None; KEYS.len()];
        self.waiting.clear();
        self.followers.clear();
        // The id of a review that was not recorded may be assigned again.
        self.handed_over.retain(|review| self.journal.contains_key(review));
        self.shown.clear();
        self.answered.clear();
        let next_id = self.journal.keys().last().map_or(1, |id| id.0 + 1);
        let (state, effects) = State::restore(self.journal.values().cloned().collect(), next_id);
        self.state = state;
        checks::restored(self, &effects);
        self.carry_out(None, &effects);
        self.doubtful = self.writing.iter().map(|(id, _)| *id).collect();
        checks::nothing_is_lost(self);
    }

    pub(crate) fn agent(&mut self, slot: usize) -> AgentId {
        let last = &mut self.last_agent;
        *self.agents[slot].get_or_insert_with(|| {
            *last += 1;
            AgentId(*last)
        })
    }

    pub(crate) fn ask(&mut self, slot: usize, mut proposal: Proposal) -> Vec<Effect> {
        proposal.owner.agent = self.agent(slot);
        proposal.owner.key = KEYS[slot].to_owned();
        if proposal.writer != Writer::Nobody {
            proposal.base = self.files.get(&proposal.path).cloned();
        }
        self.asked.push(proposal.clone());
        self.apply(Event::Proposed(proposal))
    }

    pub(crate) fn surface(choice: u32) -> SurfaceId {
        SurfaceId(u64::from(choice % 3))
    }

    /// Everything in progress succeeds.
    pub(crate) fn come_to_rest(&mut self) {
        while self.record(true) || self.write(true, None) {}
        checks::at_rest(self);
    }
}

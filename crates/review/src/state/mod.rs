//! The life of all reviews: only `State::apply(event) -> effects` changes it. Does nothing itself: the shell (the hub's
//! core) carries the effects out.
//!
//! Invariants: each fact is recorded before anyone is notified of it; the first decision on the shown revision wins; a
//! decision is never withdrawn, except to ask the user again.

mod accept;
mod agent_first;
mod effect;
mod event;
mod propose;
mod record;
mod review_index;
mod same_change;
mod user;
mod write;

use std::path::Path;

use crate::{AgentId, Outcome, Phase, Review, ReviewEnd, ReviewId, WindowId, Writer};

pub use effect::{Effect, HideReason, Reply};
pub use event::{Event, Step, WriteError};
pub use propose::to_file_conventions;
use review_index::ReviewIndex;
pub use same_change::Follower;
use user::ShownState;

#[derive(Clone, Debug, Default)]
pub struct State {
    reviews: ReviewIndex,
    last_id: u64,
}

impl State {
    /// Continues after a crash. Everything in the journal was recorded, so a review found waiting for its record has it.
    /// Owners and surfaces are gone.
    pub fn restore(reviews: Vec<Review>, next_id: u64) -> (State, Vec<Effect>) {
        let highest = reviews.iter().map(|review| review.id.0).max().unwrap_or(0);
        let mut state = State { last_id: highest.max(next_id.saturating_sub(1)), ..State::default() };
        let mut effects = Vec::new();
        for mut review in reviews {
            review.drop_connections();
            let (id, step) = (review.id, review.waits_for());
            state.reviews.insert(review);
            if let Some(step) = step {
                effects.extend(state.recorded(id, step));
            }
        }
        // No one is connected yet who could be shown or sent anything.
        effects.retain(|effect| matches!(effect, Effect::Write { .. } | Effect::Forget { .. }));
        (state, effects)
    }

    pub fn review(&self, id: ReviewId) -> Option<&Review> {
        self.reviews.get(id)
    }

    /// In the order they were proposed.
    pub fn reviews(&self) -> impl Iterator<Item = &Review> {
        self.reviews.all()
    }

    /// The reviews of one file, in the same order.
    pub fn reviews_of_path(&self, path: &Path) -> impl DoubleEndedIterator<Item = &Review> {
        self.reviews.of_path(path)
    }

    /// The reviews of one window, in the same order.
    pub fn reviews_of_window(&self, window: WindowId) -> impl DoubleEndedIterator<Item = &Review> {
        self.reviews.of_window(window)
    }

    pub fn apply(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Proposed(proposal) => self.proposed(proposal),
            Event::Recorded { review, step } => self.recorded(review, step),
            Event::RecordFailed { review, step, error } => self.record_failed(review, step, &error),
            Event::Edited { review, surface, revision, digest, text } => {
                self.edited(review, surface, ShownState { revision, digest }, &text)
            }
            Event::Decided { review, surface, revision, digest, decision, base_now } => {
                self.decided(review, surface, ShownState { revision, digest }, decision, base_now)
            }
            Event::Written { review } => self.written(review),
            Event::SavedAs { review, text } => self.saved_as(review, text),
            Event::WriteFailed { review, error } => self.write_failed(review, error),
            Event::WriteHere { review, base_now } => self.write_here(review, base_now),
            Event::Withdrawn { review } => self.end(review, ReviewEnd::Withdrawn),
            Event::NotAwaited { review } => self.not_awaited(review),
            Event::Superseded { review, by } => self.end(review, ReviewEnd::Superseded { by }),
            Event::Delivered { review } => self.delivered(review),
            Event::OwnerGone { agent, said_goodbye } => self.owner_gone(agent, said_goodbye),
            Event::OwnerBack { agent, key, window } => self.owner_back(agent, &key, window),
            Event::HandedOver { review, to, waits } => self.handed_over(review, to, waits),
            Event::WindowBack { window } => self.window_back(window),
            // Which surfaces show a review is known to the shell; it changes nothing about the review.
            Event::WindowGone { .. } | Event::SurfaceGone { .. } => Vec::new(),
            Event::Expired { review } => self.expired(review),
        }
    }

    /// Ends a review without a decision; one that the user has decided stays decided.
    fn end(&mut self, id: ReviewId, ended: ReviewEnd) -> Vec<Effect> {
        match self.reviews.get_mut(id) {
            Some(review) if matches!(review.phase, Phase::Recording | Phase::Pending) => {
                review.phase = Phase::Settling(Box::new(Outcome::without_decision(ended)));
                vec![Effect::Record { review: id, step: Step::Ended }]
            }
            _ => Vec::new(),
        }
    }

    fn not_awaited(&mut self, id: ReviewId) -> Vec<Effect> {
        if let Some(review @ Review { phase: Phase::Deciding(_), .. }) = self.reviews.get_mut(id) {
            review.owner = None;
            return Vec::new();
        }
        self.end(id, ReviewEnd::Withdrawn)
    }

    fn owner_gone(&mut self, agent: AgentId, said_goodbye: bool) -> Vec<Effect> {
        let orphans: Vec<ReviewId> =
            self.reviews().filter(|review| review.owner == Some(agent)).map(|review| review.id).collect();
        let mut effects = Vec::new();
        for id in orphans {
            if let Some(review) = self.reviews.get_mut(id) {
                review.owner = None;
            }
            // A change that is already in the file can be reverted after its agent is gone.
            let stays = self.review(id).is_some_and(|review| review.writer == Writer::AgentFirst);
            if (said_goodbye && !stays) || self.is_repeated_by_another(id, agent) {
                effects.extend(self.end(id, ReviewEnd::Withdrawn));
            }
        }
        effects
    }

    /// Rebinds the undelivered reviews that have no other owner; a decision made in the meantime is sent at once.
    fn owner_back(&mut self, agent: AgentId, key: &str, window: WindowId) -> Vec<Effect> {
        let waits = |review: &&mut Review| {
            review.owner.is_none()
                && review.owner_key == key
                && review.window == window
                && !matches!(review.phase, Phase::Settled { delivered: true, .. })
        };
        let mut effects = Vec::new();
        for review in self.reviews.all_mut().filter(waits) {
            review.owner = Some(agent);
            effects.push(Effect::Bound { review: review.id, agent });
            if let Phase::Settled { outcome, .. } = &review.phase {
                effects.push(Effect::Answer { review: review.id, agent, outcome: (**outcome).clone() });
            }
        }
        effects
    }

    fn window_back(&self, window: WindowId) -> Vec<Effect> {
        self.reviews_of_window(window)
            .filter(|review| review.phase == Phase::Pending)
            .map(|review| Effect::Show { review: review.id })
            .collect()
    }

    /// Only a connected owner can have received the answer: without one, none was sent.
    fn delivered(&mut self, id: ReviewId) -> Vec<Effect> {
        match self.reviews.get_mut(id) {
            Some(Review { owner: Some(_), phase: Phase::Settled { delivered, .. }, .. }) if !*delivered => {
                *delivered = true;
                vec![Effect::Record { review: id, step: Step::Delivered }]
            }
            _ => Vec::new(),
        }
    }

    fn expired(&mut self, id: ReviewId) -> Vec<Effect> {
        match self.reviews.get_mut(id) {
            // Recorded like a delivery: an old accept must not come back with the next hub and count as a new one.
            Some(Review { owner: None, phase: Phase::Settled { delivered, .. }, .. }) if !*delivered => {
                *delivered = true;
                vec![Effect::Record { review: id, step: Step::Delivered }]
            }
            Some(Review { owner: None, writer, .. }) if *writer != Writer::AgentFirst => {
                self.end(id, ReviewEnd::Withdrawn)
            }
            _ => Vec::new(),
        }
    }

    fn forget(&mut self, id: ReviewId) -> Vec<Effect> {
        self.reviews.remove(id).map(|_| Effect::Forget { review: id }).into_iter().collect()
    }
}

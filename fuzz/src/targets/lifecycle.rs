//! Any events in any order, from a shell that keeps no promise at all: what the state itself promises holds.

use std::collections::BTreeSet;

use crate::events::event;
use arbitrary::{Result, Unstructured};
use linkspan_review::{AgentId, Effect, Event, Phase, Review, ReviewEnd, ReviewId, State, Step, Verdict};

#[derive(Default)]
struct LifecycleModel {
    state: State,
    /// Reviews that a person accepted, whatever became of that.
    accepted: BTreeSet<ReviewId>,
    /// Reviews whose proposal the journal has.
    recorded: BTreeSet<ReviewId>,
    /// Questions without an answer.
    asked: BTreeSet<(ReviewId, AgentId)>,
}

impl LifecycleModel {
    fn apply(&mut self, event: Event) {
        match &event {
            Event::Decided { review, decision, .. }
                if !matches!(decision.verdict, Verdict::Reject { .. }) =>
            {
                self.accepted.insert(*review);
            }
            Event::Recorded { review, step: Step::Proposed } => drop(self.recorded.insert(*review)),
            _ => {}
        }
        let settled: Vec<Review> = self.state.reviews().filter(|review| !review.is_open()).cloned().collect();
        for effect in self.state.apply(event.clone()) {
            assert!(is_due(&effect, &event), "{effect:?} because of {event:?}");
            self.look_at(effect);
        }
        for before in &settled {
            let now = self.state.review(before.id);
            assert!(now.is_none_or(|now| !now.is_open() && now.outcome() == before.outcome()));
        }
    }

    fn look_at(&mut self, effect: Effect) {
        let review = |id| self.state.review(id).expect("the review it speaks of");
        match effect {
            Effect::Bound { review, agent } => drop(self.asked.insert((review, agent))),
            Effect::Answer { review, agent, .. } => {
                assert!(self.asked.remove(&(review, agent)), "an answer that nobody asked for");
            }
            Effect::Write { review: id, bytes, expect, .. } => {
                assert!(self.accepted.contains(&id), "a write that nobody accepted");
                let Some(ReviewEnd::Accepted(accepted)) = review(id).outcome().map(|outcome| &outcome.ended)
                else {
                    panic!("a write of what is not accepted");
                };
                assert_eq!((&bytes, expect), (&accepted.bytes, review(id).base_digest()));
            }
            Effect::Record { review: id, .. } => drop(review(id)),
            Effect::Show { review: id } => {
                assert!(self.recorded.contains(&id), "shown before it is recorded");
                assert_eq!(review(id).phase, Phase::Pending);
            }
            Effect::Forget { review } => assert!(self.state.review(review).is_none()),
            Effect::Hide { .. } | Effect::Reply { .. } => {}
        }
    }

    /// Once a person has spoken, a restart does not take it back.
    fn restart(self) {
        let reviews: Vec<Review> = self.state.reviews().cloned().collect();
        let (restored, _) = State::restore(reviews.clone(), 0);
        for review in &reviews {
            let Some(spoken) = review.outcome().filter(|outcome| outcome.ended.is_by_user()) else {
                continue;
            };
            let now = restored.review(review.id).map(|now| now.outcome().map(|outcome| &outcome.ended));
            let delivered = matches!(review.phase, Phase::Settled { delivered: true, .. });
            assert_eq!(now, (!delivered).then_some(Some(&spoken.ended)));
        }
    }
}

/// Nobody is told, and nothing is written, before the journal has spoken.
fn is_due(effect: &Effect, event: &Event) -> bool {
    match (effect, event) {
        (Effect::Write { .. }, Event::Recorded { step, .. }) => *step == Step::Decided,
        (Effect::Write { .. }, _) => false,
        (Effect::Answer { .. }, Event::Proposed(_)) => true,
        (Effect::Answer { .. }, Event::Recorded { step, .. }) => {
            matches!(step, Step::Decided | Step::Written | Step::Ended)
        }
        (Effect::Answer { .. }, Event::RecordFailed { step, .. }) => {
            matches!(step, Step::Proposed | Step::Written | Step::Ended)
        }
        (Effect::Answer { .. }, _) => false,
        _ => true,
    }
}

fn walk(mut input: Unstructured<'_>) -> Result<()> {
    let mut world = LifecycleModel::default();
    while !input.is_empty() {
        world.apply(event(&world.state, &mut input)?);
    }
    world.restart();
    Ok(())
}

pub(crate) fn run(data: &[u8]) {
    // An input that ends within an event has been walked as far as it goes.
    let _ = walk(Unstructured::new(data));
}

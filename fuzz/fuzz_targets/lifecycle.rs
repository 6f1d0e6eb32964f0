//! Any events in any order, from a shell that keeps no promise at all: what the state itself promises holds.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use linkspan_fuzz::events::event;
use linkspan_review::{AgentId, Effect, Ended, Event, Phase, Review, ReviewId, State, Verdict};

#[derive(Default)]
struct World {
    state: State,
    /// Reviews that a person accepted, whatever became of that.
    accepted: BTreeSet<ReviewId>,
    /// Questions without an answer.
    asked: BTreeSet<(ReviewId, AgentId)>,
}

impl World {
    fn apply(&mut self, event: Event) {
        if let Event::Decided { review, decision, .. } = &event
            && !matches!(decision.verdict, Verdict::Reject { .. })
        {
            self.accepted.insert(*review);
        }
        let settled: Vec<Review> = self.state.reviews().filter(|review| !review.is_open()).cloned().collect();
        for effect in self.state.apply(event) {
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
                let Some(Ended::Accepted(accepted)) = review(id).outcome().map(|outcome| &outcome.ended)
                else {
                    panic!("a write of what is not accepted");
                };
                assert_eq!((&bytes, expect), (&accepted.bytes, review(id).base_digest()));
            }
            Effect::Record { review: id, .. } => drop(review(id)),
            Effect::Show { review: id } => assert_eq!(review(id).phase, Phase::Pending),
            Effect::Forget { review } => assert!(self.state.review(review).is_none()),
            Effect::Hide { .. } | Effect::Reply { .. } => {}
        }
    }

    /// Once a person has spoken, a restart does not take it back.
    fn restart(self) {
        let reviews: Vec<Review> = self.state.reviews().cloned().collect();
        let (restored, _) = State::restore(reviews.clone(), 0);
        for review in &reviews {
            let Some(spoken) = review.outcome().filter(|outcome| outcome.ended.by_a_person()) else {
                continue;
            };
            let now = restored.review(review.id).map(|now| now.outcome().map(|outcome| &outcome.ended));
            let delivered = matches!(review.phase, Phase::Settled { delivered: true, .. });
            assert_eq!(now, (!delivered).then_some(Some(&spoken.ended)));
        }
    }
}

fn walk(mut input: Unstructured<'_>) -> Result<()> {
    let mut world = World::default();
    while !input.is_empty() {
        world.apply(event(&world.state, &mut input)?);
    }
    world.restart();
    Ok(())
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // An input that ends within an event has been walked as far as it goes.
    let _ = walk(Unstructured::new(data));
});

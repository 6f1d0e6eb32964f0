//! Reviews that end without a decision, and the delivery of answers.

use linkspan_review::{
    AgentId, Effect, Event, HideReason, Phase, ReviewEnd, ReviewId, Step, SurfaceId, Verdict, WindowId,
    Writer,
};

use crate::harness::*;

const WITHDRAWN: Effect = Effect::Hide { review: ID, reason: HideReason::Withdrawn };

#[test]
fn a_withdrawn_review_is_recorded_hidden_and_forgotten() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    assert_eq!(harness.apply(Event::Withdrawn { review: ID }), [record(Step::Ended)]);
    assert_eq!(harness.recorded(Step::Ended), [WITHDRAWN, FORGET]);
    assert_eq!(harness.state.reviews().count(), 0);
}

#[test]
fn a_withdrawal_takes_effect_even_if_it_cannot_be_recorded() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.apply(Event::Withdrawn { review: ID });
    assert_eq!(harness.not_recorded(Step::Ended), [WITHDRAWN, FORGET]);
}

#[test]
fn a_proposal_withdrawn_before_it_was_recorded_is_never_shown() {
    let mut harness = LifecycleHarness::default();
    harness.apply(Event::Proposed(proposal(Writer::Agent, text(BASE), PROPOSED)));
    harness.apply(Event::Withdrawn { review: ID });
    assert_eq!(harness.recorded(Step::Proposed), []);
    assert_eq!(harness.recorded(Step::Ended), [WITHDRAWN, FORGET]);
}

#[test]
fn the_agent_of_a_superseded_review_is_told_by_which_one() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    let by = ReviewId(9);
    assert_eq!(harness.apply(Event::Superseded { review: ID, by }), [record(Step::Ended)]);
    let effects = harness.recorded(Step::Ended);
    assert_eq!(effects[0], Effect::Hide { review: ID, reason: HideReason::Superseded { by } });
    assert_eq!(answers(&effects), [(AGENT, &ReviewEnd::Superseded { by })]);
    assert_eq!(effects.last(), Some(&FORGET));
}

#[test]
fn a_goodbye_withdraws_and_a_lost_socket_does_not() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    assert_eq!(harness.lose_agent(true), [record(Step::Ended)]);
    assert_eq!(harness.recorded(Step::Ended), [WITHDRAWN, FORGET]);
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    assert_eq!(harness.lose_agent(false), []);
    assert!(harness.is_pending());
    assert_eq!(harness.review().owner, None);
}

#[test]
fn a_goodbye_withdraws_only_the_agents_own_reviews() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    assert_eq!(harness.apply(Event::OwnerGone { agent: AgentId(99), said_goodbye: true }), []);
    assert_eq!(harness.review().owner, Some(AGENT));
}

#[test]
fn a_decided_review_cannot_be_withdrawn() {
    for (writer, verdict) in [(Writer::Agent, reject()), (Writer::Hub, Verdict::Accept)] {
        let mut harness = LifecycleHarness::pending(writer);
        harness.decide(HERE, 0, verdict, text(BASE));
        let late = |harness: &mut LifecycleHarness| {
            assert_eq!(harness.apply(Event::Withdrawn { review: ID }), []);
            assert_eq!(harness.apply(Event::Superseded { review: ID, by: ReviewId(9) }), []);
            assert_eq!(harness.lose_agent(true), []);
            assert_eq!(harness.apply(Event::Expired { review: ID }), []);
        };
        late(&mut harness);
        harness.recorded(Step::Decided);
        if writer == Writer::Hub {
            late(&mut harness);
        }
        assert!(harness.outcome().ended.is_by_user());
    }
}

#[test]
fn a_closed_tab_is_not_a_rejection() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    let window = harness.review().window;
    assert_eq!(harness.apply(Event::SurfaceGone { surface: HERE }), []);
    assert_eq!(harness.apply(Event::WindowGone { window }), []);
    assert!(harness.is_pending());
    assert_eq!(harness.apply(Event::WindowBack { window: WindowId(99) }), []);
    assert_eq!(harness.apply(Event::WindowBack { window }), [SHOW]);
}

#[test]
fn a_decision_outlives_the_surface_it_was_made_on() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, reject(), text(BASE));
    harness.apply(Event::SurfaceGone { surface: HERE });
    assert_eq!(answers(&harness.recorded(Step::Decided)), [(AGENT, &harness.outcome().ended)]);
}

#[test]
fn an_answer_is_kept_until_it_is_delivered() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, reject(), text(BASE));
    harness.recorded(Step::Decided);
    assert_eq!(harness.apply(Event::Delivered { review: ID }), [record(Step::Delivered)]);
    assert_eq!(harness.apply(Event::Delivered { review: ID }), []);
    assert_eq!(harness.recorded(Step::Delivered), [FORGET]);
    assert_eq!(harness.state.reviews().count(), 0);
}

#[test]
fn an_answer_without_a_connected_agent_is_not_delivered() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.lose_agent(false);
    harness.decide(HERE, 0, reject(), text(BASE));
    harness.recorded(Step::Decided);
    assert_eq!(harness.apply(Event::Delivered { review: ID }), []);
    assert!(matches!(harness.review().phase, Phase::Settled { delivered: false, .. }));
}

#[test]
fn a_goodbye_keeps_an_undelivered_answer_for_a_repeated_request() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, reject(), text(BASE));
    harness.recorded(Step::Decided);
    assert_eq!(harness.lose_agent(true), []);
    assert_eq!(
        answers(&harness.ask_again(Writer::Agent, text(BASE))),
        [(AGENT_BACK, &harness.outcome().ended)]
    );
}

#[test]
fn the_grace_time_ends_reviews_of_agents_that_did_not_come_back() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    assert_eq!(harness.apply(Event::Expired { review: ID }), [], "its agent is there");
    harness.lose_agent(false);
    assert_eq!(harness.apply(Event::Expired { review: ID }), [record(Step::Ended)]);
    assert_eq!(harness.recorded(Step::Ended), [WITHDRAWN, FORGET]);

    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, reject(), text(BASE));
    harness.recorded(Step::Decided);
    assert_eq!(harness.apply(Event::Expired { review: ID }), [], "its agent is there");
    harness.lose_agent(false);
    assert_eq!(harness.apply(Event::Expired { review: ID }), [record(Step::Delivered)]);
    assert_eq!(harness.recorded(Step::Delivered), [FORGET]);
}

#[test]
fn events_about_unknown_reviews_change_nothing() {
    let mut harness = LifecycleHarness::default();
    let (review, by, error) = (ReviewId(5), ReviewId(6), "late".to_owned());
    for event in [
        Event::Recorded { review, step: Step::Decided },
        Event::RecordFailed { review, step: Step::Decided, error },
        Event::Written { review },
        Event::Withdrawn { review },
        Event::Superseded { review, by },
        Event::Delivered { review },
        Event::OwnerGone { agent: AGENT, said_goodbye: true },
        Event::SurfaceGone { surface: SurfaceId(1) },
        Event::Expired { review },
    ] {
        assert_eq!(harness.apply(event), []);
    }
    assert_eq!(harness.state.reviews().count(), 0);
}

#[test]
fn an_agent_that_reconnects_before_its_loss_is_noticed_asks_once() {
    let mut harness = LifecycleHarness::pending(Writer::Hub);
    harness.ask_again(Writer::Hub, text(BASE));
    assert_eq!(harness.lose_agent(false), [record(Step::Ended)]);
    assert_eq!(harness.recorded(Step::Ended), [WITHDRAWN, FORGET]);
    assert_eq!(harness.state.review(ReviewId(2)).unwrap().owner, Some(AGENT_BACK));
}

#[test]
fn a_review_that_is_not_repeated_or_has_a_draft_stays_when_its_agent_is_gone() {
    let mut harness = LifecycleHarness::pending(Writer::Hub);
    harness.ask_again(Writer::Agent, text(BASE));
    assert_eq!(harness.lose_agent(false), []);
    let mut harness = LifecycleHarness::pending(Writer::Hub);
    harness.edit(HERE, 0, "my own\n");
    harness.ask_again(Writer::Hub, text(BASE));
    assert_eq!(harness.lose_agent(false), []);
}

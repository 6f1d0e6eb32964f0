//! The hub crashed. Everything in the journal was recorded; all connections are gone.

use linkspan_review::{Effect, Event, Phase, ReviewId, SharedText, State, Step, Verdict, WriteError, Writer};

use crate::harness::*;

#[test]
fn a_recorded_proposal_waits_for_its_agent_and_its_window() {
    let mut harness = LifecycleHarness::default();
    harness.apply(Event::Proposed(proposal(Writer::Agent, text(BASE), PROPOSED)));
    assert_eq!(harness.restart(), []);
    assert!(harness.is_pending());
    assert_eq!(harness.review().owner, None);
    assert_eq!(harness.apply(Event::WindowBack { window: harness.review().window }), [SHOW]);
    assert_eq!(
        harness.ask_again(Writer::Agent, text(BASE)),
        [Effect::Bound { review: ID, agent: AGENT_BACK }]
    );
}

#[test]
fn a_draft_survives() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.edit(HERE, 0, "mine\n");
    harness.restart();
    assert_eq!(harness.review().side(), "mine\n");
}

#[test]
fn a_recorded_decision_is_never_requested_again() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, reject(), text(BASE));
    let ended = harness.outcome().ended.clone();
    assert_eq!(harness.restart(), []);
    assert_eq!(answers(&harness.ask_again(Writer::Agent, text(BASE))), [(AGENT_BACK, &ended)]);
}

#[test]
fn a_write_in_progress_is_requested_again() {
    for recorded in [false, true] {
        let mut harness = LifecycleHarness::pending(Writer::Hub);
        harness.decide(HERE, 0, Verdict::Accept, text(BASE));
        if recorded {
            harness.recorded(Step::Decided);
        }
        let effects = harness.restart();
        let expect = harness.review().base_digest();
        let path = harness.review().path.clone();
        assert_eq!(
            effects,
            [Effect::Write { review: ID, path, bytes: SharedText::from(PROPOSED).into(), expect }]
        );
        assert_eq!(harness.apply(Event::Written { review: ID }), [record(Step::Written)]);
        assert!(!harness.recorded(Step::Written).iter().any(|effect| matches!(effect, Effect::Reply { .. })));
    }
}

#[test]
fn a_reply_to_a_surface_of_the_previous_hub_reaches_no_one_else() {
    let mut harness = LifecycleHarness::writing();
    harness.restart();
    let now = text(&BASE.replace("one", "uno"));
    let effects = harness.apply(Event::WriteFailed { review: ID, error: WriteError::BaseMoved(now) });
    assert_eq!(effects, [record(Step::Rebased)]);
}

/// Whether it was written, nobody knows: what is missing may be what someone took out again.
#[test]
fn a_file_that_changed_after_a_write_that_may_have_been_done_is_asked_about() {
    let half = PROPOSED.replace("ONE", "one").replace("four", "FOUR");
    for (now, writes) in [
        (half, false),
        (PROPOSED.replace("four", "FOUR"), true),
        (BASE.replace("four", "FOUR"), false),
        (BASE.to_owned(), true),
    ] {
        let mut harness = LifecycleHarness::writing();
        harness.restart();
        let error = WriteError::InDoubt(text(&now));
        let effects = harness.apply(Event::WriteFailed { review: ID, error });
        let step = if writes { Step::Decided } else { Step::Rebased };
        assert_eq!(effects, [record(step)], "{now}");
        let both = if now == BASE { PROPOSED.to_owned() } else { PROPOSED.replace("four", "FOUR") };
        match writes {
            true => {
                assert!(matches!(&harness.review().phase, Phase::Deciding(decided) if *decided.text == *both))
            }
            false => assert_eq!((harness.review().side(), harness.review().file_text()), (&*both, &*now)),
        }
    }
}

#[test]
fn a_recorded_write_is_not_written_again() {
    let mut harness = LifecycleHarness::writing();
    harness.apply(Event::Written { review: ID });
    assert_eq!(harness.restart(), []);
    assert!(matches!(harness.review().phase, Phase::Settled { delivered: false, .. }));
}

#[test]
fn reviews_that_had_ended_are_forgotten() {
    let mut withdrawn = LifecycleHarness::pending(Writer::Agent);
    withdrawn.apply(Event::Withdrawn { review: ID });
    let mut delivered = LifecycleHarness::pending(Writer::Agent);
    delivered.decide(HERE, 0, reject(), text(BASE));
    delivered.recorded(Step::Decided);
    delivered.apply(Event::Delivered { review: ID });
    for mut harness in [withdrawn, delivered] {
        assert_eq!(harness.restart(), [FORGET]);
        assert_eq!(harness.state.reviews().count(), 0);
    }
}

#[test]
fn ids_continue_where_they_were() {
    let harness = LifecycleHarness::pending(Writer::Agent);
    let kept: Vec<_> = harness.state.reviews().cloned().collect();
    for (reviews, next_id, expect) in [(vec![], 7, 7), (kept.clone(), 7, 7), (kept, 0, 2), (vec![], 0, 1)] {
        let (mut state, _) = State::restore(reviews, next_id);
        let mut other = proposal(Writer::Agent, None, "other\n");
        other.path = "/w/other".into();
        let effects = state.apply(Event::Proposed(other));
        assert_eq!(effects[0], Effect::Bound { review: ReviewId(expect), agent: AGENT });
    }
}

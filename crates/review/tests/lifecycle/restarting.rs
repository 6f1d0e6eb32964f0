//! The hub died. What the journal holds was recorded; everybody else is gone.

use linkspan_review::{Effect, Event, Phase, ReviewId, SharedText, State, Step, Verdict, WriteError, Writer};

use crate::desk::*;

#[test]
fn a_recorded_proposal_waits_for_its_agent_and_its_window() {
    let mut desk = Desk::default();
    desk.apply(Event::Proposed(proposal(Writer::Agent, text(BASE), PROPOSED)));
    assert_eq!(desk.restart(), []);
    assert!(desk.is_pending());
    assert_eq!(desk.review().owner, None);
    assert_eq!(desk.apply(Event::WindowBack { window: desk.review().window }), [SHOW]);
    assert_eq!(desk.ask_again(Writer::Agent, text(BASE)), [Effect::Bound { review: ID, agent: AGENT_BACK }]);
}

#[test]
fn a_draft_survives() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.edit(HERE, 0, "mine\n");
    desk.restart();
    assert_eq!(desk.review().side(), "mine\n");
}

#[test]
fn a_recorded_decision_is_never_asked_for_again() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.decide(HERE, 0, reject(), text(BASE));
    let ended = desk.outcome().ended.clone();
    assert_eq!(desk.restart(), []);
    assert_eq!(answers(&desk.ask_again(Writer::Agent, text(BASE))), [(AGENT_BACK, &ended)]);
}

#[test]
fn a_write_that_was_under_way_is_asked_for_again() {
    for recorded in [false, true] {
        let mut desk = Desk::pending(Writer::Editor);
        desk.decide(HERE, 0, Verdict::Accept, text(BASE));
        if recorded {
            desk.recorded(Step::Decided);
        }
        let effects = desk.restart();
        let expect = desk.review().base_digest();
        let path = desk.review().path.clone();
        assert_eq!(
            effects,
            [Effect::Write { review: ID, path, bytes: SharedText::from(PROPOSED).into(), expect }]
        );
        assert_eq!(desk.apply(Event::Written { review: ID }), [record(Step::Written)]);
        assert!(!desk.recorded(Step::Written).iter().any(|effect| matches!(effect, Effect::Reply { .. })));
    }
}

#[test]
fn nobody_new_hears_what_was_meant_for_a_surface_of_the_former_life() {
    let mut desk = Desk::writing();
    desk.restart();
    let now = text(&BASE.replace("one", "uno"));
    let effects = desk.apply(Event::WriteFailed { review: ID, error: WriteError::BaseMoved(now) });
    assert_eq!(effects, [record(Step::Rebased)]);
}

#[test]
fn a_recorded_write_is_not_written_again() {
    let mut desk = Desk::writing();
    desk.apply(Event::Written { review: ID });
    assert_eq!(desk.restart(), []);
    assert!(matches!(desk.review().phase, Phase::Settled { delivered: false, .. }));
}

#[test]
fn what_had_ended_is_forgotten() {
    let mut withdrawn = Desk::pending(Writer::Agent);
    withdrawn.apply(Event::Withdrawn { review: ID });
    let mut delivered = Desk::pending(Writer::Agent);
    delivered.decide(HERE, 0, reject(), text(BASE));
    delivered.recorded(Step::Decided);
    delivered.apply(Event::Delivered { review: ID });
    for mut desk in [withdrawn, delivered] {
        assert_eq!(desk.restart(), [FORGET]);
        assert_eq!(desk.state.reviews().count(), 0);
    }
}

#[test]
fn ids_go_on_where_they_were() {
    let desk = Desk::pending(Writer::Agent);
    let kept: Vec<_> = desk.state.reviews().cloned().collect();
    for (reviews, next_id, expect) in [(vec![], 7, 7), (kept.clone(), 7, 7), (kept, 0, 2), (vec![], 0, 1)] {
        let (mut state, _) = State::restore(reviews, next_id);
        let mut other = proposal(Writer::Agent, None, "other\n");
        other.path = "/w/other".into();
        let effects = state.apply(Event::Proposed(other));
        assert_eq!(effects[0], Effect::Bound { review: ReviewId(expect), agent: AGENT });
    }
}

//! Reviews that end without a person, and answers that arrive.

use linkspan_review::{
    AgentId, Effect, Ended, Event, HideReason, Phase, ReviewId, Step, SurfaceId, Verdict, WindowId, Writer,
};

use crate::desk::*;

const WITHDRAWN: Effect = Effect::Hide { review: ID, reason: HideReason::Withdrawn };

#[test]
fn a_withdrawn_review_is_recorded_hidden_and_forgotten() {
    let mut desk = Desk::pending(Writer::Agent);
    assert_eq!(desk.apply(Event::Withdrawn { review: ID }), [record(Step::Ended)]);
    assert_eq!(desk.recorded(Step::Ended), [WITHDRAWN, FORGET]);
    assert_eq!(desk.state.reviews().count(), 0);
}

#[test]
fn a_withdrawal_that_cannot_be_recorded_is_still_the_agents_word() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.apply(Event::Withdrawn { review: ID });
    assert_eq!(desk.not_recorded(Step::Ended), [WITHDRAWN, FORGET]);
}

#[test]
fn a_proposal_withdrawn_before_it_was_recorded_is_never_shown() {
    let mut desk = Desk::default();
    desk.apply(Event::Proposed(proposal(Writer::Agent, text(BASE), PROPOSED)));
    desk.apply(Event::Withdrawn { review: ID });
    assert_eq!(desk.recorded(Step::Proposed), []);
    assert_eq!(desk.recorded(Step::Ended), [WITHDRAWN, FORGET]);
}

#[test]
fn a_superseded_review_tells_its_asker_by_what() {
    let mut desk = Desk::pending(Writer::Agent);
    let by = ReviewId(9);
    assert_eq!(desk.apply(Event::Superseded { review: ID, by }), [record(Step::Ended)]);
    let effects = desk.recorded(Step::Ended);
    assert_eq!(effects[0], Effect::Hide { review: ID, reason: HideReason::Superseded { by } });
    assert_eq!(answers(&effects), [(AGENT, &Ended::Superseded { by })]);
    assert_eq!(effects.last(), Some(&FORGET));
}

#[test]
fn a_goodbye_withdraws_and_a_lost_socket_does_not() {
    let mut desk = Desk::pending(Writer::Agent);
    assert_eq!(desk.lose_agent(true), [record(Step::Ended)]);
    assert_eq!(desk.recorded(Step::Ended), [WITHDRAWN, FORGET]);
    let mut desk = Desk::pending(Writer::Agent);
    assert_eq!(desk.lose_agent(false), []);
    assert!(desk.is_pending());
    assert_eq!(desk.review().owner, None);
}

#[test]
fn a_goodbye_takes_only_what_is_its_own() {
    let mut desk = Desk::pending(Writer::Agent);
    assert_eq!(desk.apply(Event::OwnerGone { agent: AgentId(99), said_goodbye: true }), []);
    assert_eq!(desk.review().owner, Some(AGENT));
}

#[test]
fn it_is_too_late_to_withdraw_what_is_decided() {
    for (writer, verdict) in [(Writer::Agent, reject()), (Writer::Editor, Verdict::Accept)] {
        let mut desk = Desk::pending(writer);
        desk.decide(HERE, 0, verdict, text(BASE));
        let late = |desk: &mut Desk| {
            assert_eq!(desk.apply(Event::Withdrawn { review: ID }), []);
            assert_eq!(desk.apply(Event::Superseded { review: ID, by: ReviewId(9) }), []);
            assert_eq!(desk.lose_agent(true), []);
            assert_eq!(desk.apply(Event::Expired { review: ID }), []);
        };
        late(&mut desk);
        desk.recorded(Step::Decided);
        if writer == Writer::Editor {
            late(&mut desk);
        }
        assert!(desk.outcome().ended.by_a_person());
    }
}

#[test]
fn a_closed_tab_is_not_a_rejection() {
    let mut desk = Desk::pending(Writer::Agent);
    let window = desk.review().window;
    assert_eq!(desk.apply(Event::SurfaceGone { surface: HERE }), []);
    assert_eq!(desk.apply(Event::WindowGone { window }), []);
    assert!(desk.is_pending());
    assert_eq!(desk.apply(Event::WindowBack { window: WindowId(99) }), []);
    assert_eq!(desk.apply(Event::WindowBack { window }), [SHOW]);
}

#[test]
fn a_decision_outlives_the_surface_it_was_made_on() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.decide(HERE, 0, reject(), text(BASE));
    desk.apply(Event::SurfaceGone { surface: HERE });
    assert_eq!(answers(&desk.recorded(Step::Decided)), [(AGENT, &desk.outcome().ended)]);
}

#[test]
fn an_answer_is_kept_until_it_is_delivered() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.decide(HERE, 0, reject(), text(BASE));
    desk.recorded(Step::Decided);
    assert_eq!(desk.apply(Event::Delivered { review: ID }), [record(Step::Delivered)]);
    assert_eq!(desk.apply(Event::Delivered { review: ID }), []);
    assert_eq!(desk.recorded(Step::Delivered), [FORGET]);
    assert_eq!(desk.state.reviews().count(), 0);
}

#[test]
fn an_answer_nobody_was_there_for_is_not_delivered() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.lose_agent(false);
    desk.decide(HERE, 0, reject(), text(BASE));
    desk.recorded(Step::Decided);
    assert_eq!(desk.apply(Event::Delivered { review: ID }), []);
    assert!(matches!(desk.review().phase, Phase::Settled { delivered: false, .. }));
}

#[test]
fn a_goodbye_leaves_an_undelivered_answer_for_whoever_asks_again() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.decide(HERE, 0, reject(), text(BASE));
    desk.recorded(Step::Decided);
    assert_eq!(desk.lose_agent(true), []);
    assert_eq!(answers(&desk.ask_again(Writer::Agent, text(BASE))), [(AGENT_BACK, &desk.outcome().ended)]);
}

#[test]
fn grace_ends_for_those_who_did_not_come_back() {
    let mut desk = Desk::pending(Writer::Agent);
    assert_eq!(desk.apply(Event::Expired { review: ID }), [], "its agent is there");
    desk.lose_agent(false);
    assert_eq!(desk.apply(Event::Expired { review: ID }), [record(Step::Ended)]);
    assert_eq!(desk.recorded(Step::Ended), [WITHDRAWN, FORGET]);

    let mut desk = Desk::pending(Writer::Agent);
    desk.decide(HERE, 0, reject(), text(BASE));
    desk.recorded(Step::Decided);
    assert_eq!(desk.apply(Event::Expired { review: ID }), [], "its agent is there");
    desk.lose_agent(false);
    assert_eq!(desk.apply(Event::Expired { review: ID }), [record(Step::Delivered)]);
    assert_eq!(desk.recorded(Step::Delivered), [FORGET]);
}

#[test]
fn what_nobody_knows_changes_nothing() {
    let mut desk = Desk::default();
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
        assert_eq!(desk.apply(event), []);
    }
    assert_eq!(desk.state.reviews().count(), 0);
}

#[test]
fn a_person_is_asked_once_by_an_agent_that_was_back_before_it_was_known_to_be_gone() {
    let mut desk = Desk::pending(Writer::Editor);
    desk.ask_again(Writer::Editor, text(BASE));
    assert_eq!(desk.lose_agent(false), [record(Step::Ended)]);
    assert_eq!(desk.recorded(Step::Ended), [WITHDRAWN, FORGET]);
    assert_eq!(desk.state.review(ReviewId(2)).unwrap().owner, Some(AGENT_BACK));
}

#[test]
fn what_is_not_asked_again_or_she_has_edited_stays_when_its_agent_is_gone() {
    let mut desk = Desk::pending(Writer::Editor);
    desk.ask_again(Writer::Agent, text(BASE));
    assert_eq!(desk.lose_agent(false), []);
    let mut desk = Desk::pending(Writer::Editor);
    desk.edit(HERE, 0, "her own\n");
    desk.ask_again(Writer::Editor, text(BASE));
    assert_eq!(desk.lose_agent(false), []);
}

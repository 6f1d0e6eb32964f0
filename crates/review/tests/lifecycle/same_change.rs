//! The review of one agent passes on to another that asked for the same change.

use linkspan_review::{AgentId, Effect, Event, Follower, Owner, Proposal, Step, Verdict, WindowId, Writer};

use crate::harness::*;

const HEIR: AgentId = AgentId(9);

/// Asked for the same, in this form.
fn heir(text_as_sent: &str, base: &str) -> Follower {
    let owner = Owner { agent: HEIR, key: "hook:claude".to_owned() };
    Follower::of(&Proposal { owner, ..proposal(Writer::Agent, text(base), text_as_sent) })
}

fn handed_over(to: Follower, waits: bool) -> Event {
    Event::HandedOver { review: ID, to, waits }
}

fn accepted(writer: Writer) -> LifecycleHarness {
    let mut harness = LifecycleHarness::pending(writer);
    harness.decide(HERE, 0, Verdict::Accept, text(BASE));
    harness.recorded(Step::Decided);
    harness
}

#[test]
fn the_outcome_goes_to_the_agent_that_waits_now() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    assert_eq!(harness.apply(handed_over(heir(PROPOSED, BASE), true)), [record(Step::Rebased)]);
    assert_eq!(harness.lose_agent(true), [], "its own no longer");
    harness.decide(HERE, 0, Verdict::Accept, text(BASE));
    let effects = harness.recorded(Step::Decided);
    assert_eq!(answers(&effects)[0].0, HEIR);
}

#[test]
fn after_a_restart_the_change_belongs_to_the_agent_that_waited_last() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    let handed_over = harness.apply(handed_over(heir(PROPOSED, BASE), true));
    assert_eq!(handed_over, [record(Step::Rebased)], "the journal has to know");
    harness.restart();
    let (key, window) = ("hook:claude".to_owned(), WindowId(1));
    let effects = harness.apply(Event::OwnerBack { agent: AGENT_BACK, key, window });
    assert_eq!(effects, [Effect::Bound { review: ID, agent: AGENT_BACK }]);
}

#[test]
fn an_agent_that_waits_for_a_change_that_is_already_decided_is_answered_at_once() {
    let mut harness = accepted(Writer::Agent);
    let effects = harness.apply(handed_over(heir(PROPOSED, BASE), true));
    assert_eq!(answers(&effects), [(HEIR, &harness.outcome().ended)]);
    let mut to_ask = accepted(Writer::Agent);
    assert_eq!(to_ask.apply(handed_over(heir(PROPOSED, BASE), false)), [], "it is about to ask");
}

#[test]
fn an_outcome_that_its_agent_has_received_does_not_pass_on() {
    let mut harness = accepted(Writer::Agent);
    harness.apply(Event::Delivered { review: ID });
    let before = harness.review().clone();
    assert_eq!(harness.apply(handed_over(heir(PROPOSED, BASE), true)), []);
    assert_eq!(*harness.review(), before);
}

#[test]
fn only_an_agent_that_writes_what_it_is_told_takes_the_place_of_another() {
    for writer in [Writer::Hub, Writer::AgentAsProposed, Writer::Nobody] {
        let mut harness = LifecycleHarness::pending(writer);
        let before = harness.review().clone();
        assert_eq!(harness.apply(handed_over(heir(PROPOSED, BASE), true)), []);
        assert_eq!(*harness.review(), before, "{writer:?}");
    }
}

#[test]
fn the_users_change_is_told_in_the_form_of_the_agent_that_waits_now() {
    let in_crlf = |text: &str| text.replace('\n', "\r\n");
    let mut harness =
        LifecycleHarness::showing(proposal(Writer::Agent, text(&in_crlf(BASE)), &in_crlf(PROPOSED)));
    let edited = in_crlf(&PROPOSED.replace("four", "4"));
    harness.decide(HERE, 0, Verdict::AcceptEdited(edited.clone()), text(&in_crlf(BASE)));
    let bytes = harness.accepted().bytes.clone();
    harness.apply(handed_over(heir(PROPOSED, &in_crlf(BASE)), true));
    let accepted = harness.accepted();
    assert_eq!((&*accepted.text, &accepted.bytes), (edited.replace('\r', "").as_str(), &bytes));
    let change = accepted.person_diff.as_deref().unwrap();
    assert!(change.contains("\n-four\n+4\n"), "{change:?}");
}

//! The hub or its editor writes the accepted bytes.

use linkspan_review::{
    AcceptedPart, Digest, Effect, Event, HideReason, Phase, Reply, ReviewEnd, SharedText, Step, Text,
    Verdict, WriteError, Writer,
};

use crate::harness::*;

fn write(bytes: &str, expect: Option<&str>) -> Effect {
    let expect = expect.map(|text| Digest::of(text.as_bytes()));
    Effect::Write { review: ID, path: "/w/src/mod.rs".into(), bytes: SharedText::from(bytes).into(), expect }
}

fn write_fails(harness: &mut LifecycleHarness, error: WriteError) -> Vec<Effect> {
    harness.apply(Event::WriteFailed { review: ID, error })
}

fn base_moved(harness: &mut LifecycleHarness, now: Option<Text>) -> Vec<Effect> {
    write_fails(harness, WriteError::BaseMoved(now))
}

#[test]
fn the_write_follows_the_recorded_decision_and_the_answer_follows_the_recorded_write() {
    let mut harness = LifecycleHarness::pending(Writer::Hub);
    assert_eq!(harness.decide(HERE, 0, Verdict::Accept, text(BASE)), [record(Step::Decided)]);
    assert_eq!(harness.recorded(Step::Decided), [write(PROPOSED, Some(BASE))]);
    assert_eq!(harness.apply(Event::Written { review: ID }), [record(Step::Written)]);
    let effects = harness.recorded(Step::Written);
    let expect = [
        reply(HERE, Reply::Taken),
        Effect::Hide { review: ID, reason: HideReason::Decided { by: Some(HERE) } },
        Effect::Answer { review: ID, agent: AGENT, outcome: harness.outcome().clone() },
    ];
    assert_eq!(effects, expect);
}

/// Accepted, and its agent was to write it.
fn left_to_the_agent() -> LifecycleHarness {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, Verdict::Accept, text(BASE));
    assert_eq!(answers(&harness.recorded(Step::Decided)).len(), 1);
    harness
}

#[test]
fn the_hub_takes_over_the_write_of_an_agent_that_was_told_not_to_write() {
    let mut harness = left_to_the_agent();
    let here = Event::WriteHere { review: ID, base_now: text(BASE) };
    assert_eq!(harness.apply(here.clone()), [record(Step::Decided)]);
    assert_eq!(harness.apply(here.clone()), [], "once");
    assert_eq!(harness.recorded(Step::Decided), [write(PROPOSED, Some(BASE))]);
    assert_eq!(harness.apply(Event::Written { review: ID }), [record(Step::Written)]);
    assert_eq!(answers(&harness.recorded(Step::Written)).len(), 1);
    assert_eq!(harness.apply(here), [], "it is written");
}

#[test]
fn a_write_that_the_hub_takes_over_is_bound_to_what_the_file_holds_then() {
    let mut merged = left_to_the_agent();
    let moved = BASE.replace("four", "4");
    merged.apply(Event::WriteHere { review: ID, base_now: text(&moved) });
    let result = PROPOSED.replace("four", "4");
    assert_eq!(merged.recorded(Step::Decided), [write(&result, Some(&moved))]);
    let mut conflicts = left_to_the_agent();
    let effects = conflicts.apply(Event::WriteHere { review: ID, base_now: text(&BASE.replace("one", "1")) });
    assert!(effects.contains(&record(Step::Rebased)), "{effects:?}");
    assert_eq!(conflicts.review().phase, Phase::Pending);
}

#[test]
fn the_text_that_the_editors_rules_produced_is_the_accepted_one() {
    let mut harness = LifecycleHarness::writing();
    let formatted = format!("{PROPOSED}// tidy\n");
    let effects = harness.apply(Event::SavedAs { review: ID, text: formatted.clone() });
    assert_eq!(effects, [record(Step::Written)]);
    let accepted = harness.accepted();
    assert_eq!(
        (accepted.text.as_str(), accepted.bytes.as_slice()),
        (formatted.as_str(), formatted.as_bytes())
    );
    assert_eq!(accepted.taken, AcceptedPart::Edited);
    assert!(accepted.person_diff.as_ref().unwrap().contains("+// tidy"));
    let effects = harness.recorded(Step::Written);
    assert_eq!(answers(&effects), [(AGENT, &harness.outcome().ended)]);
}

#[test]
fn rules_that_change_nothing_leave_the_decision_unchanged() {
    let mut harness = LifecycleHarness::writing();
    let before = harness.outcome().clone();
    harness.apply(Event::SavedAs { review: ID, text: PROPOSED.to_owned() });
    assert_eq!(*harness.outcome(), before);
}

#[test]
fn an_agent_that_writes_by_itself_is_the_only_writer() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, Verdict::Accept, text(BASE));
    let effects = harness.recorded(Step::Decided);
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Write { .. })));
    assert_eq!(answers(&effects), [(AGENT, &harness.outcome().ended)]);
}

#[test]
fn a_rejection_writes_nothing() {
    let mut harness = LifecycleHarness::pending(Writer::Hub);
    harness.decide(HERE, 0, reject(), text(BASE));
    let effects = harness.recorded(Step::Decided);
    assert!(matches!(answers(&effects)[..], [(AGENT, ReviewEnd::Rejected { .. })]));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Write { .. })));
}

#[test]
fn a_new_file_is_written_only_if_there_is_none() {
    let mut harness = LifecycleHarness::showing(proposal(Writer::Hub, None, "new\n"));
    harness.decide(HERE, 0, Verdict::Accept, None);
    assert_eq!(harness.recorded(Step::Decided), [write("new\n", None)]);
}

#[test]
fn a_base_that_changed_during_the_write_is_merged_recorded_and_written_again() {
    let mut harness = LifecycleHarness::writing();
    let now = BASE.replace("four", "4");
    assert_eq!(base_moved(&mut harness, text(&now)), [record(Step::Decided)]);
    assert_eq!(harness.recorded(Step::Decided), [write(&PROPOSED.replace("four", "4"), Some(&now))]);
    assert_eq!(harness.outcome().by, Some(HERE));
}

#[test]
fn a_conflict_during_the_write_asks_the_user_again() {
    let mut harness = LifecycleHarness::writing();
    let effects = base_moved(&mut harness, text(&BASE.replace("one", "uno")));
    assert_eq!(effects, [reply(HERE, Reply::AskAgain { conflicts: 1 }), record(Step::Rebased)]);
    assert!(harness.is_pending());
    assert_eq!(harness.recorded(Step::Rebased), [SHOW]);
}

#[test]
fn a_file_deleted_during_the_write_asks_the_user_again() {
    let mut harness = LifecycleHarness::writing();
    let effects = base_moved(&mut harness, None);
    assert_eq!(effects, [reply(HERE, Reply::AskAgain { conflicts: 0 }), record(Step::Rebased)]);
}

#[test]
fn a_file_whose_encoding_cannot_hold_the_text_any_longer_asks_the_user_again() {
    let mut harness =
        LifecycleHarness::showing(proposal(Writer::Hub, text(BASE), &PROPOSED.replace("ONE", "\u{2192}")));
    harness.decide(HERE, 0, Verdict::Accept, text(BASE));
    harness.recorded(Step::Decided);
    let format = linkspan_review::Format::from_name("windows-1252").unwrap();
    let effects = base_moved(&mut harness, Some(Text { format, text: BASE.into() }));
    assert!(matches!(&effects[0], Effect::Reply { reply: Reply::Refused(why), .. } if why.contains("1252")));
    assert_eq!(effects[1..], [record(Step::Rebased)]);
    assert!(harness.is_pending());
}

#[test]
fn a_failed_write_is_reported_to_the_user_and_the_agent() {
    let mut harness = LifecycleHarness::writing();
    assert_eq!(write_fails(&mut harness, WriteError::Io("disk full".to_owned())), [record(Step::Ended)]);
    let effects = harness.recorded(Step::Ended);
    let error = "accepted, but could not be written: disk full".to_owned();
    let expect = [
        reply(HERE, Reply::Refused(error.clone())),
        Effect::Hide { review: ID, reason: HideReason::Failed { error } },
        Effect::Answer { review: ID, agent: AGENT, outcome: harness.outcome().clone() },
    ];
    assert_eq!(effects, expect);
    assert!(matches!(harness.outcome().ended, ReviewEnd::Failed { .. }));
}

#[test]
fn a_failed_write_that_cannot_be_recorded_is_not_reported_to_the_agent() {
    let mut harness = LifecycleHarness::writing();
    write_fails(&mut harness, WriteError::Io("disk full".to_owned()));
    let effects = harness.not_recorded(Step::Ended);
    assert!(matches!(effects[..], [Effect::Reply { reply: Reply::Refused(_), .. }, SHOW]), "{effects:?}");
    assert!(harness.is_pending());
}

#[test]
fn a_write_that_cannot_be_recorded_is_still_a_write() {
    let mut harness = LifecycleHarness::writing();
    harness.apply(Event::Written { review: ID });
    let effects = harness.not_recorded(Step::Written);
    assert_eq!(answers(&effects), [(AGENT, &harness.outcome().ended)]);
}

#[test]
fn an_unexpected_write_result_changes_nothing() {
    let mut harness = LifecycleHarness::pending(Writer::Hub);
    assert_eq!(harness.apply(Event::Written { review: ID }), []);
    assert_eq!(base_moved(&mut harness, None), []);
    assert!(harness.is_pending());
}

//! The editor side writes the accepted bytes.

use linkspan_review::{
    Digest, Effect, Ended, Event, HideReason, Reply, SharedText, Step, Taken, Text, Verdict, WriteError,
    Writer,
};

use crate::desk::*;

fn write(bytes: &str, expect: Option<&str>) -> Effect {
    let expect = expect.map(|text| Digest::of(text.as_bytes()));
    Effect::Write { review: ID, path: "/w/src/mod.rs".into(), bytes: SharedText::from(bytes).into(), expect }
}

fn write_fails(desk: &mut Desk, error: WriteError) -> Vec<Effect> {
    desk.apply(Event::WriteFailed { review: ID, error })
}

fn base_moved(desk: &mut Desk, now: Option<Text>) -> Vec<Effect> {
    write_fails(desk, WriteError::BaseMoved(now))
}

#[test]
fn an_editor_writes_only_after_the_decision_is_recorded_and_tells_only_after_the_write_is() {
    let mut desk = Desk::pending(Writer::Editor);
    assert_eq!(desk.decide(HERE, 0, Verdict::Accept, text(BASE)), [record(Step::Decided)]);
    assert_eq!(desk.recorded(Step::Decided), [write(PROPOSED, Some(BASE))]);
    assert_eq!(desk.apply(Event::Written { review: ID }), [record(Step::Written)]);
    let effects = desk.recorded(Step::Written);
    let expect = [
        reply(HERE, Reply::Taken),
        Effect::Hide { review: ID, reason: HideReason::Decided { by: Some(HERE) } },
        Effect::Answer { review: ID, agent: AGENT, outcome: desk.outcome().clone() },
    ];
    assert_eq!(effects, expect);
}

#[test]
fn what_the_editors_rules_made_of_it_is_what_was_accepted() {
    let mut desk = Desk::writing();
    let formatted = format!("{PROPOSED}// tidy\n");
    let effects = desk.apply(Event::SavedAs { review: ID, text: formatted.clone() });
    assert_eq!(effects, [record(Step::Written)]);
    let accepted = desk.accepted();
    assert_eq!(
        (accepted.text.as_str(), accepted.bytes.as_slice()),
        (formatted.as_str(), formatted.as_bytes())
    );
    assert_eq!(accepted.taken, Taken::Edited);
    assert!(accepted.person_diff.as_ref().unwrap().contains("+// tidy"));
    let effects = desk.recorded(Step::Written);
    assert_eq!(answers(&effects), [(AGENT, &desk.outcome().ended)]);
}

#[test]
fn rules_that_made_nothing_else_of_it_leave_the_decision_as_it_was() {
    let mut desk = Desk::writing();
    let before = desk.outcome().clone();
    desk.apply(Event::SavedAs { review: ID, text: PROPOSED.to_owned() });
    assert_eq!(*desk.outcome(), before);
}

#[test]
fn an_agent_that_writes_by_itself_is_the_only_writer() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.decide(HERE, 0, Verdict::Accept, text(BASE));
    let effects = desk.recorded(Step::Decided);
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Write { .. })));
    assert_eq!(answers(&effects), [(AGENT, &desk.outcome().ended)]);
}

#[test]
fn a_rejection_writes_nothing() {
    let mut desk = Desk::pending(Writer::Editor);
    desk.decide(HERE, 0, reject(), text(BASE));
    let effects = desk.recorded(Step::Decided);
    assert!(matches!(answers(&effects)[..], [(AGENT, Ended::Rejected { .. })]));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Write { .. })));
}

#[test]
fn a_new_file_is_written_only_where_there_is_none() {
    let mut desk = Desk::showing(proposal(Writer::Editor, None, "new\n"));
    desk.decide(HERE, 0, Verdict::Accept, None);
    assert_eq!(desk.recorded(Step::Decided), [write("new\n", None)]);
}

#[test]
fn a_base_that_moved_under_the_write_is_merged_recorded_and_written_again() {
    let mut desk = Desk::writing();
    let now = BASE.replace("four", "4");
    assert_eq!(base_moved(&mut desk, text(&now)), [record(Step::Decided)]);
    assert_eq!(desk.recorded(Step::Decided), [write(&PROPOSED.replace("four", "4"), Some(&now))]);
    assert_eq!(desk.outcome().by, Some(HERE));
}

#[test]
fn a_conflict_under_the_write_is_asked_about_again() {
    let mut desk = Desk::writing();
    let effects = base_moved(&mut desk, text(&BASE.replace("one", "uno")));
    assert_eq!(effects, [reply(HERE, Reply::AskAgain { conflicts: 1 }), record(Step::Rebased)]);
    assert!(desk.is_pending());
    assert_eq!(desk.recorded(Step::Rebased), [SHOW]);
}

#[test]
fn a_file_that_vanished_under_the_write_is_asked_about_again() {
    let mut desk = Desk::writing();
    let effects = base_moved(&mut desk, None);
    assert_eq!(effects, [reply(HERE, Reply::AskAgain { conflicts: 0 }), record(Step::Rebased)]);
}

#[test]
fn a_file_whose_encoding_turned_too_narrow_under_the_write_is_asked_about_again() {
    let mut desk = Desk::showing(proposal(Writer::Editor, text(BASE), &PROPOSED.replace("ONE", "\u{2192}")));
    desk.decide(HERE, 0, Verdict::Accept, text(BASE));
    desk.recorded(Step::Decided);
    let format = linkspan_review::Format::from_name("windows-1252").unwrap();
    let effects = base_moved(&mut desk, Some(Text { format, text: BASE.into() }));
    assert!(matches!(&effects[0], Effect::Reply { reply: Reply::Refused(why), .. } if why.contains("1252")));
    assert_eq!(effects[1..], [record(Step::Rebased)]);
    assert!(desk.is_pending());
}

#[test]
fn a_write_that_fails_is_told_to_the_person_and_the_agent() {
    let mut desk = Desk::writing();
    assert_eq!(write_fails(&mut desk, WriteError::Io("disk full".to_owned())), [record(Step::Ended)]);
    let effects = desk.recorded(Step::Ended);
    let error = "accepted, but could not be written: disk full".to_owned();
    let expect = [
        reply(HERE, Reply::Refused(error.clone())),
        Effect::Hide { review: ID, reason: HideReason::Failed { error } },
        Effect::Answer { review: ID, agent: AGENT, outcome: desk.outcome().clone() },
    ];
    assert_eq!(effects, expect);
    assert!(matches!(desk.outcome().ended, Ended::Failed { .. }));
}

#[test]
fn a_failed_write_that_cannot_be_recorded_is_not_told_to_the_agent() {
    let mut desk = Desk::writing();
    write_fails(&mut desk, WriteError::Io("disk full".to_owned()));
    let effects = desk.not_recorded(Step::Ended);
    assert!(matches!(effects[..], [Effect::Reply { reply: Reply::Refused(_), .. }, SHOW]), "{effects:?}");
    assert!(desk.is_pending());
}

#[test]
fn a_write_that_cannot_be_recorded_is_still_a_write() {
    let mut desk = Desk::writing();
    desk.apply(Event::Written { review: ID });
    let effects = desk.not_recorded(Step::Written);
    assert_eq!(answers(&effects), [(AGENT, &desk.outcome().ended)]);
}

#[test]
fn a_write_nobody_asked_for_changes_nothing() {
    let mut desk = Desk::pending(Writer::Editor);
    assert_eq!(desk.apply(Event::Written { review: ID }), []);
    assert_eq!(base_moved(&mut desk, None), []);
    assert!(desk.is_pending());
}

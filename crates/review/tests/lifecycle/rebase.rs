//! The file changes while the review is open.

use linkspan_review::{
    AcceptedPart, Convention, Event, Format, Reply, Revision, Step, Text, Verdict, Writer,
};

use crate::harness::*;

#[test]
fn a_change_elsewhere_in_the_file_is_merged() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    let now = BASE.replace("four", "4");
    assert_eq!(harness.decide(HERE, 0, Verdict::Accept, text(&now)), [record(Step::Decided)]);
    let accepted = harness.accepted();
    assert_eq!(accepted.text, PROPOSED.replace("four", "4"));
    assert_eq!(
        (&accepted.taken, &accepted.person_diff),
        (&AcceptedPart::All, &None),
        "nobody edited the proposal"
    );
    assert_eq!(harness.review().base, text(&now));
}

#[test]
fn a_merged_decision_that_cannot_be_recorded_shows_the_merged_review() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, Verdict::Accept, text(&BASE.replace("four", "4")));
    harness.not_recorded(Step::Decided);
    assert_eq!(harness.review().revision, Revision(1));
    assert_eq!(harness.review().side(), PROPOSED.replace("four", "4"));
}

#[test]
fn a_change_in_the_same_place_asks_the_user_again() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    let now = BASE.replace("one", "uno");
    let effects = harness.decide(HERE, 0, Verdict::Accept, text(&now));
    assert_eq!(effects, [reply(HERE, Reply::AskAgain { conflicts: 1 }), record(Step::Rebased)]);
    assert_eq!(harness.recorded(Step::Rebased), [SHOW]);
    assert!(harness.is_pending());
    let review = harness.review();
    assert_eq!((review.base_text(), review.side(), review.draft.as_ref()), (now.as_str(), PROPOSED, None));
    assert_eq!((review.conflicts.len(), review.conflicts[0].merged.clone()), (1, 0..1));
    assert_eq!(harness.decide(HERE, 1, Verdict::Accept, text(&now)), [record(Step::Decided)]);
    assert_eq!(harness.accepted().text, PROPOSED);
}

#[test]
fn the_users_choice_is_kept_when_they_are_asked_again() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    let mine = PROPOSED.replace("two", "TWO");
    let now = BASE.replace("one", "uno");
    harness.decide(HERE, 0, Verdict::AcceptEdited(mine.clone()), text(&now));
    assert_eq!((harness.review().side(), harness.review().proposed.as_str()), (mine.as_str(), PROPOSED));
    harness.decide(HERE, 1, Verdict::Accept, text(&now));
    assert_eq!(harness.accepted().taken, AcceptedPart::Edited);
    assert!(harness.accepted().person_diff.as_ref().unwrap().contains("+TWO"));
}

#[test]
fn a_deleted_file_asks_the_user_again() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    let effects = harness.decide(HERE, 0, Verdict::Accept, None);
    assert_eq!(effects, [reply(HERE, Reply::AskAgain { conflicts: 0 }), record(Step::Rebased)]);
    assert_eq!((&harness.review().base, harness.review().side()), (&None, PROPOSED));
    harness.decide(HERE, 1, Verdict::Accept, None);
    assert!(harness.accepted().new_file);
}

#[test]
fn a_file_created_in_the_meantime_is_not_overwritten() {
    for theirs in ["theirs\n", "new\n", ""] {
        let mut harness = LifecycleHarness::showing(proposal(Writer::Hub, None, "new\n"));
        let effects = harness.decide(HERE, 0, Verdict::Accept, text(theirs));
        assert!(matches!(effects[0], linkspan_review::Effect::Reply { reply: Reply::AskAgain { .. }, .. }));
        assert_eq!((harness.review().base_text(), harness.review().side()), (theirs, "new\n"));
    }
}

#[test]
fn a_file_converted_to_crlf_stays_crlf() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, Verdict::Accept, text(&BASE.replace('\n', "\r\n")));
    assert_eq!(harness.accepted().bytes.as_slice(), PROPOSED.replace('\n', "\r\n").as_bytes());
    assert_eq!((harness.review().convention, harness.accepted().text.as_str()), (Convention::Lf, PROPOSED));
}

#[test]
fn a_file_converted_to_crlf_is_not_converted_back_because_one_line_had_crlf() {
    let mut harness = LifecycleHarness::showing(proposal(Writer::Agent, text("a\nb\nc\n"), "a\nB\r\nc\n"));
    let effects = harness.decide(HERE, 0, Verdict::Accept, text("a\r\nb\r\nc\r\n"));
    assert_eq!(effects[0], reply(HERE, Reply::AskAgain { conflicts: 1 }));
}

#[test]
fn the_current_encoding_of_the_file_counts() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    let format = Format::from_name("UTF-16LE").unwrap();
    let now = Text { format, text: BASE.into() };
    harness.decide(HERE, 0, Verdict::Accept, Some(now));
    assert_eq!(harness.accepted().bytes.as_slice(), format.encode(PROPOSED).unwrap());
}

#[test]
fn an_edit_clears_the_conflicts() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, Verdict::Accept, text(&BASE.replace("one", "uno")));
    harness.edit(HERE, 1, "uno\n");
    assert!(harness.review().conflicts.is_empty());
}

#[test]
fn a_rejection_needs_no_file() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    assert_eq!(harness.decide(HERE, 0, reject(), None), [record(Step::Decided)]);
}

#[test]
fn a_draft_is_rebased_with_a_repeated_review() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.edit(HERE, 0, &PROPOSED.replace("two", "TWO"));
    harness.lose_agent(false);
    harness.ask_again(Writer::Agent, text(&BASE.replace("four", "4")));
    assert_eq!(harness.review().side(), PROPOSED.replace("two", "TWO").replace("four", "4"));
    assert_eq!(harness.review().proposed, PROPOSED.replace("four", "4"));
    assert_eq!(harness.apply(Event::WindowBack { window: harness.review().window }), [SHOW]);
}

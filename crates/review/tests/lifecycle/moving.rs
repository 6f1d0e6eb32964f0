//! The file changes under the review.

use linkspan_review::{Convention, Event, Format, Reply, Revision, Step, Taken, Text, Verdict, Writer};

use crate::desk::*;

#[test]
fn a_change_elsewhere_in_the_file_is_merged() {
    let mut desk = Desk::pending(Writer::Agent);
    let now = BASE.replace("four", "4");
    assert_eq!(desk.decide(HERE, 0, Verdict::Accept, text(&now)), [record(Step::Decided)]);
    let accepted = desk.accepted();
    assert_eq!(accepted.text, PROPOSED.replace("four", "4"));
    assert_eq!((&accepted.taken, &accepted.person_diff), (&Taken::All, &None), "nobody edited the proposal");
    assert_eq!(desk.review().base, text(&now));
}

#[test]
fn a_merged_decision_that_cannot_be_recorded_shows_the_merged_review() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.decide(HERE, 0, Verdict::Accept, text(&BASE.replace("four", "4")));
    desk.not_recorded(Step::Decided);
    assert_eq!(desk.review().revision, Revision(1));
    assert_eq!(desk.review().side(), PROPOSED.replace("four", "4"));
}

#[test]
fn a_change_in_the_same_place_is_asked_about_again() {
    let mut desk = Desk::pending(Writer::Agent);
    let now = BASE.replace("one", "uno");
    let effects = desk.decide(HERE, 0, Verdict::Accept, text(&now));
    assert_eq!(effects, [reply(HERE, Reply::AskAgain { conflicts: 1 }), record(Step::Rebased)]);
    assert_eq!(desk.recorded(Step::Rebased), [SHOW]);
    assert!(desk.is_pending());
    let review = desk.review();
    assert_eq!((review.base_text(), review.side(), review.draft.as_ref()), (now.as_str(), PROPOSED, None));
    assert_eq!((review.conflicts.len(), review.conflicts[0].merged.clone()), (1, 0..1));
    assert_eq!(desk.decide(HERE, 1, Verdict::Accept, text(&now)), [record(Step::Decided)]);
    assert_eq!(desk.accepted().text, PROPOSED);
}

#[test]
fn what_the_person_chose_is_kept_when_she_is_asked_again() {
    let mut desk = Desk::pending(Writer::Agent);
    let mine = PROPOSED.replace("two", "TWO");
    let now = BASE.replace("one", "uno");
    desk.decide(HERE, 0, Verdict::AcceptEdited(mine.clone()), text(&now));
    assert_eq!((desk.review().side(), desk.review().proposed.as_str()), (mine.as_str(), PROPOSED));
    desk.decide(HERE, 1, Verdict::Accept, text(&now));
    assert_eq!(desk.accepted().taken, Taken::Edited);
    assert!(desk.accepted().person_diff.as_ref().unwrap().contains("+TWO"));
}

#[test]
fn a_file_that_is_gone_is_asked_about_again() {
    let mut desk = Desk::pending(Writer::Agent);
    let effects = desk.decide(HERE, 0, Verdict::Accept, None);
    assert_eq!(effects, [reply(HERE, Reply::AskAgain { conflicts: 0 }), record(Step::Rebased)]);
    assert_eq!((&desk.review().base, desk.review().side()), (&None, PROPOSED));
    desk.decide(HERE, 1, Verdict::Accept, None);
    assert!(desk.accepted().new_file);
}

#[test]
fn a_file_that_somebody_created_meanwhile_is_not_overwritten() {
    for theirs in ["theirs\n", "new\n", ""] {
        let mut desk = Desk::showing(proposal(Writer::Editor, None, "new\n"));
        let effects = desk.decide(HERE, 0, Verdict::Accept, text(theirs));
        assert!(matches!(effects[0], linkspan_review::Effect::Reply { reply: Reply::AskAgain { .. }, .. }));
        assert_eq!((desk.review().base_text(), desk.review().side()), (theirs, "new\n"));
    }
}

#[test]
fn a_file_that_turned_to_crlf_meanwhile_stays_crlf() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.decide(HERE, 0, Verdict::Accept, text(&BASE.replace('\n', "\r\n")));
    assert_eq!(desk.accepted().bytes.as_slice(), PROPOSED.replace('\n', "\r\n").as_bytes());
    assert_eq!((desk.review().convention, desk.accepted().text.as_str()), (Convention::Lf, PROPOSED));
}

#[test]
fn a_file_that_turned_to_crlf_does_not_turn_back_because_one_line_knew_crlf() {
    let mut desk = Desk::showing(proposal(Writer::Agent, text("a\nb\nc\n"), "a\nB\r\nc\n"));
    let effects = desk.decide(HERE, 0, Verdict::Accept, text("a\r\nb\r\nc\r\n"));
    assert_eq!(effects[0], reply(HERE, Reply::AskAgain { conflicts: 1 }));
}

#[test]
fn the_encoding_of_the_file_as_it_is_now_counts() {
    let mut desk = Desk::pending(Writer::Agent);
    let format = Format::from_name("UTF-16LE").unwrap();
    let now = Text { format, text: BASE.into() };
    desk.decide(HERE, 0, Verdict::Accept, Some(now));
    assert_eq!(desk.accepted().bytes.as_slice(), format.encode(PROPOSED).unwrap());
}

#[test]
fn an_edit_moves_the_persons_eyes_past_the_conflicts() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.decide(HERE, 0, Verdict::Accept, text(&BASE.replace("one", "uno")));
    desk.edit(HERE, 1, "uno\n");
    assert!(desk.review().conflicts.is_empty());
}

#[test]
fn a_rejection_needs_no_file() {
    let mut desk = Desk::pending(Writer::Agent);
    assert_eq!(desk.decide(HERE, 0, reject(), None), [record(Step::Decided)]);
}

#[test]
fn a_draft_moves_with_a_review_that_is_found_again() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.edit(HERE, 0, &PROPOSED.replace("two", "TWO"));
    desk.lose_agent(false);
    desk.ask_again(Writer::Agent, text(&BASE.replace("four", "4")));
    assert_eq!(desk.review().side(), PROPOSED.replace("two", "TWO").replace("four", "4"));
    assert_eq!(desk.review().proposed, PROPOSED.replace("four", "4"));
    assert_eq!(desk.apply(Event::WindowBack { window: desk.review().window }), [SHOW]);
}

//! The user edits, decides and comments.

use linkspan_review::{
    AcceptedPart, Effect, Event, HideReason, HunkId, Reply, ReviewEnd, Revision, Step, Verdict, Writer,
    unified,
};

use crate::harness::*;

fn hunks(harness: &LifecycleHarness) -> Vec<HunkId> {
    harness.review().hunks().iter().map(|hunk| hunk.id).collect()
}

#[test]
fn a_decision_is_not_reported_before_it_is_recorded() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    assert_eq!(harness.decide(HERE, 0, reject(), text(BASE)), [record(Step::Decided)]);
    let effects = harness.recorded(Step::Decided);
    let outcome = harness.outcome().clone();
    assert_eq!(outcome.ended, ReviewEnd::Rejected { reason: Some("no".to_owned()) });
    let expect = [
        reply(HERE, Reply::Taken),
        Effect::Hide { review: ID, reason: HideReason::Decided { by: Some(HERE) } },
        Effect::Answer { review: ID, agent: AGENT, outcome },
    ];
    assert_eq!(effects, expect);
}

#[test]
fn the_first_decision_wins_and_the_second_is_told_who_was_first() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, Verdict::Accept, text(BASE));
    let late = [reply(THERE, Reply::AlreadyDecided { by: Some(HERE) })];
    assert_eq!(harness.decide(THERE, 0, reject(), text(BASE)), late);
    harness.recorded(Step::Decided);
    assert_eq!(harness.decide(THERE, 0, reject(), text(BASE)), late);
    assert_eq!(harness.edit(THERE, 0, "x"), late);
    assert_eq!(harness.accepted().text, PROPOSED);
}

#[test]
fn a_decision_that_cannot_be_recorded_leaves_the_review_open_and_says_so() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, reject(), text(BASE));
    let why = "the decision could not be recorded: disk full".to_owned();
    assert_eq!(harness.not_recorded(Step::Decided), [reply(HERE, Reply::Refused(why)), SHOW]);
    assert!(harness.is_pending());
}

#[test]
fn a_decision_on_other_bytes_is_stale_even_if_id_and_revision_are_the_same() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    // As sent by a surface that was shown another change under the same id: of another file, or with another result.
    let mut other = harness.review().clone();
    other.proposed = "something else\n".into();
    let mut moved = harness.review().clone();
    moved.base = None;
    let mut elsewhere = harness.review().clone();
    elsewhere.path = "/another/file".into();
    let stale = [reply(HERE, Reply::Stale { revision: Revision(0) })];
    for shown in [&other, &moved, &elsewhere] {
        for verdict in [Verdict::Accept, Verdict::Reject { reason: None }] {
            assert_eq!(harness.decide_shown(HERE, shown.shown_digest(), verdict), stale);
        }
    }
    let shown = harness.review().shown_digest();
    assert_eq!(harness.decide_shown(HERE, shown, Verdict::Accept), [record(Step::Decided)]);
}

#[test]
fn a_decision_on_what_is_no_longer_shown_is_stale() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.edit(HERE, 0, BASE);
    let stale = [reply(THERE, Reply::Stale { revision: Revision(1) })];
    assert_eq!(harness.decide(THERE, 0, Verdict::Accept, text(BASE)), stale);
    assert_eq!(harness.edit(THERE, 0, "x"), stale);
    assert_eq!(harness.decide(THERE, 2, Verdict::Accept, text(BASE)), stale);
}

#[test]
fn a_review_that_is_not_shown_cannot_be_decided() {
    let mut harness = LifecycleHarness::default();
    let nothing = [reply(HERE, Reply::NotPending)];
    assert_eq!(harness.decide(HERE, 0, Verdict::Accept, text(BASE)), nothing);
    harness.apply(Event::Proposed(proposal(Writer::Agent, text(BASE), PROPOSED)));
    assert_eq!(harness.decide(HERE, 0, Verdict::Accept, text(BASE)), nothing);
    harness.recorded(Step::Proposed);
    harness.apply(Event::Withdrawn { review: ID });
    assert_eq!(harness.decide(HERE, 0, Verdict::Accept, text(BASE)), nothing);
}

#[test]
fn an_edit_is_recorded_and_shown_and_decides_nothing() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    assert_eq!(harness.edit(HERE, 0, "mine\n"), [record(Step::Edited)]);
    assert_eq!(harness.recorded(Step::Edited), [SHOW]);
    assert_eq!((harness.review().side(), harness.review().revision), ("mine\n", Revision(1)));
    assert_eq!(harness.review().proposed, PROPOSED);
    assert!(harness.is_pending());
}

#[test]
fn an_edit_is_shown_even_if_it_cannot_be_recorded() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.edit(HERE, 0, "mine\n");
    assert_eq!(harness.not_recorded(Step::Edited), [SHOW]);
    assert_eq!(harness.review().side(), "mine\n");
}

#[test]
fn an_editor_that_echoes_the_shown_text_causes_nothing() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    assert_eq!(harness.edit(HERE, 0, PROPOSED), []);
    assert_eq!(harness.review().revision, Revision(0));
}

#[test]
fn a_reverted_edit_is_the_proposal_again() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.edit(HERE, 0, "mine\n");
    harness.edit(HERE, 1, PROPOSED);
    assert_eq!(harness.review().draft, None);
    harness.decide(HERE, 2, Verdict::Accept, text(BASE));
    assert_eq!(harness.accepted().taken, AcceptedPart::All);
}

#[test]
fn to_accept_a_draft_is_to_accept_the_draft() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    let mine = PROPOSED.replace("two", "TWO");
    harness.edit(HERE, 0, &mine);
    harness.decide(HERE, 1, Verdict::Accept, text(BASE));
    let accepted = harness.accepted();
    assert_eq!((accepted.text.as_str(), &accepted.taken), (mine.as_str(), &AcceptedPart::Edited));
    assert_eq!(accepted.person_diff, Some(unified(PROPOSED, &mine, "proposed", "accepted", 3)));
}

#[test]
fn everything_accepted_is_exactly_the_proposal() {
    let every_hunk = Verdict::AcceptHunks(hunks(&LifecycleHarness::pending(Writer::Agent)));
    for verdict in [Verdict::Accept, Verdict::AcceptEdited(PROPOSED.to_owned()), every_hunk] {
        let mut harness = LifecycleHarness::pending(Writer::Agent);
        harness.decide(HERE, 0, verdict, text(BASE));
        let accepted = harness.accepted();
        assert_eq!((accepted.text.as_str(), accepted.bytes.as_slice()), (PROPOSED, PROPOSED.as_bytes()));
        assert_eq!(
            (&accepted.taken, &accepted.person_diff, accepted.new_file),
            (&AcceptedPart::All, &None, false)
        );
    }
}

#[test]
fn one_hunk_of_two_is_accepted_and_the_other_is_not() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    let hunks = hunks(&harness);
    harness.decide(HERE, 0, Verdict::AcceptHunks(vec![hunks[1]]), text(BASE));
    let accepted = harness.accepted();
    assert_eq!(accepted.text, BASE.replace("seven", "SEVEN"));
    assert_eq!(accepted.taken, AcceptedPart::Some { taken: vec![hunks[1]], left: vec![hunks[0]] });
    assert!(accepted.person_diff.is_some());
}

#[test]
fn an_invalid_choice_of_hunks_is_refused() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    let known = hunks(&harness)[0];
    let unknown: HunkId = "h0000000001".parse().unwrap();
    for chosen in [vec![], vec![known, known], vec![known, unknown]] {
        let effects = harness.decide(HERE, 0, Verdict::AcceptHunks(chosen), text(BASE));
        assert!(matches!(effects[..], [Effect::Reply { reply: Reply::Refused(_), .. }]), "{effects:?}");
        assert!(harness.is_pending());
    }
}

#[test]
fn a_text_the_file_cannot_hold_is_refused_and_the_review_stays() {
    let latin = linkspan_review::Format::from_name("windows-1252").unwrap();
    let base = Some(linkspan_review::Text { format: latin, text: BASE.into() });
    let mut harness = LifecycleHarness::showing(proposal(Writer::Hub, base.clone(), PROPOSED));
    let effects = harness.decide(HERE, 0, Verdict::AcceptEdited("\u{2192}\n".to_owned()), base);
    assert!(
        matches!(&effects[..], [Effect::Reply { reply: Reply::Refused(why), .. }] if why.contains("1252"))
    );
    assert!(harness.is_pending());
}

#[test]
fn a_comment_outside_the_text_moves_to_its_nearest_line() {
    let line = |line, verdict| LifecycleHarness::pending(Writer::Agent).comment_on(line, verdict);
    assert_eq!(line(3, reject()), 3);
    assert_eq!(line(0, reject()), 1);
    assert_eq!(line(99, reject()), 7);
    assert_eq!(line(99, Verdict::AcceptEdited("one\ntwo\n".to_owned())), 2);
    assert_eq!(line(99, Verdict::AcceptEdited(String::new())), 1);
}

#[test]
fn a_new_file_is_reported_as_new() {
    let mut harness = LifecycleHarness::showing(proposal(Writer::Agent, None, "new\n"));
    harness.decide(HERE, 0, Verdict::Accept, None);
    assert!(harness.accepted().new_file);
    assert_eq!(harness.accepted().bytes.as_slice(), b"new\n");
}

#[test]
fn a_line_the_user_did_not_touch_keeps_its_proposed_ending() {
    for writer in [Writer::Agent, Writer::Hub] {
        let mut harness = LifecycleHarness::showing(proposal(writer, text("a\nb\n"), "a\r\nB\nc\r\n"));
        harness.edit(HERE, 0, "a\nmine\nc\n");
        assert_eq!(harness.review().side(), "a\r\nmine\nc\r\n");
    }
}

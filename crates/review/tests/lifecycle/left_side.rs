//! A change that is shown next to the text of another file than the one that is written.

use linkspan_review::{
    Digest, Effect, Event, HunkId, Proposal, Reply, Revision, Step, Taken, Verdict, Writer,
};

use crate::desk::*;

const HELD: &str = "held\n";

/// `PROPOSED` for a file that holds `base`, shown next to `BASE`.
fn beside(writer: Writer, base: Option<&str>) -> Proposal {
    Proposal { left: Some(BASE.into()), ..proposal(writer, base.and_then(text), PROPOSED) }
}

fn first_hunk(desk: &Desk) -> Verdict {
    let hunks: Vec<HunkId> = desk.review().hunks().iter().map(|hunk| hunk.id).collect();
    assert_eq!(hunks.len(), 2);
    Verdict::AcceptHunks(vec![hunks[0]])
}

#[test]
fn the_other_text_is_shown_and_the_file_is_expected_to_hold_its_own() {
    let held = text(HELD).map(|held| held.digest());
    for (base, expected) in [(None, None), (Some(HELD), held)] {
        let mut desk = Desk::showing(beside(Writer::Editor, base));
        assert_eq!(desk.review().base_text(), BASE);
        let chosen = first_hunk(&desk);
        assert_eq!(desk.decide(HERE, 0, chosen, base.and_then(text)), [record(Step::Decided)]);
        assert_eq!(desk.accepted().text, BASE.replace("one", "ONE"));
        assert!(matches!(desk.accepted().taken, Taken::Some { .. }));
        assert_eq!(desk.accepted().new_file, base.is_none());
        let effects = desk.recorded(Step::Decided);
        let Effect::Write { expect, bytes, .. } = &effects[0] else { panic!("{effects:?}") };
        assert_eq!((*expect, bytes.as_ref()), (expected, BASE.replace("one", "ONE").as_bytes()));
    }
}

#[test]
fn it_is_part_of_what_a_decision_is_about() {
    let mut desk = Desk::showing(beside(Writer::Editor, None));
    let shown = desk.review().shown_digest();
    let mut other = desk.review().clone();
    other.left = Some("other\n".into());
    assert_ne!(other.shown_digest(), shown);
    let stale = [reply(HERE, Reply::Stale { revision: Revision(0) })];
    assert_eq!(desk.decide_shown(HERE, other.shown_digest(), Verdict::Accept), stale);
    assert_eq!(desk.decide_shown(HERE, shown, Verdict::Accept), [record(Step::Decided)]);
}

/// Nothing of it is merged: the user is shown what the file holds now, and the whole change.
#[test]
fn a_file_that_changed_is_never_merged_with_it() {
    // These would merge cleanly with the text on the left.
    let now = BASE.replace("four", "4");
    for base in [None, Some(HELD), Some(BASE.trim_end())] {
        for some in [true, false] {
            let mut desk = Desk::showing(beside(Writer::Editor, base));
            let verdict = if some { first_hunk(&desk) } else { Verdict::Accept };
            let effects = desk.decide(HERE, 0, verdict, text(&now));
            assert_eq!(effects, [reply(HERE, Reply::AskAgain { conflicts: 0 }), record(Step::Rebased)]);
            assert_eq!(desk.recorded(Step::Rebased), [SHOW]);
            let review = desk.review();
            assert_eq!((review.base_text(), review.side()), (now.as_str(), PROPOSED));
            assert_eq!((&review.base, review.revision), (&text(&now), Revision(1)));
            assert_eq!(desk.decide(HERE, 1, Verdict::Accept, text(&now)), [record(Step::Decided)]);
            assert_eq!(desk.accepted().text, PROPOSED);
        }
    }
}

#[test]
fn what_the_user_typed_is_kept_when_the_file_changed() {
    let mut desk = Desk::showing(beside(Writer::Editor, None));
    desk.decide(HERE, 0, Verdict::AcceptEdited("mine\n".to_owned()), text(HELD));
    assert_eq!((desk.review().side(), desk.review().proposed.as_str()), ("mine\n", PROPOSED));
    assert_eq!(desk.review().base_text(), HELD);
}

#[test]
fn a_write_that_finds_another_file_asks_again() {
    let mut desk = Desk::showing(beside(Writer::Editor, None));
    desk.decide(HERE, 0, Verdict::Accept, None);
    desk.recorded(Step::Decided);
    let error = linkspan_review::WriteError::BaseMoved(text(HELD));
    let effects = desk.apply(Event::WriteFailed { review: ID, error });
    assert_eq!(effects, [reply(HERE, Reply::AskAgain { conflicts: 0 }), record(Step::Rebased)]);
    assert!(desk.is_pending());
    assert_eq!((desk.review().base_text(), desk.review().side()), (HELD, PROPOSED));
}

#[test]
fn it_is_there_after_a_restart_and_when_the_agent_asks_again() {
    let mut desk = Desk::showing(beside(Writer::Editor, None));
    desk.restart();
    assert_eq!(desk.review().base_text(), BASE);
    let mut again = beside(Writer::Editor, None);
    again.owner.agent = AGENT_BACK;
    assert_eq!(desk.apply(Event::Proposed(again.clone())), [Effect::Bound { review: ID, agent: AGENT_BACK }]);
    // The other file changed meanwhile: what is shown is what it holds now.
    desk.restart();
    again.left = Some("other\n".into());
    let effects = desk.apply(Event::Proposed(again));
    assert_eq!(effects[1..], [record(Step::Rebased)]);
    assert_eq!((desk.review().base_text(), desk.review().revision), ("other\n", Revision(1)));
}

#[test]
fn it_is_left_out_where_it_would_say_nothing() {
    let copy = Proposal { left: Some(PROPOSED.into()), ..proposal(Writer::Editor, None, PROPOSED) };
    let same = Proposal { left: Some(BASE.into()), ..proposal(Writer::Editor, text(BASE), PROPOSED) };
    let given = Proposal { left: Some(HELD.into()), ..proposal(Writer::Nobody, text(BASE), PROPOSED) };
    for (proposal, shown) in [(copy, ""), (same, BASE), (given, BASE)] {
        let desk = Desk::showing(proposal);
        assert_eq!((&desk.review().left, desk.review().base_text()), (&None, shown));
    }
}

#[test]
fn its_lines_end_like_those_of_the_change() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let mut new_file = beside(Writer::Editor, None);
    new_file.left = Some(crlf(BASE).into());
    let desk = Desk::showing(new_file);
    assert_eq!((desk.review().base_text(), desk.review().side()), (BASE, PROPOSED));
    let desk = Desk::showing(beside(Writer::Editor, Some("held\r\n")));
    assert_eq!((desk.review().base_text(), desk.review().side()), (&*crlf(BASE), &*crlf(PROPOSED)));
}

#[test]
fn nexus3_itself_writes_all_of_it_and_the_hub_a_part() {
    for (some, here) in [(true, true), (false, false)] {
        let mut desk = Desk::showing(beside(Writer::AgentAsProposed, None));
        let verdict = if some { first_hunk(&desk) } else { Verdict::Accept };
        desk.decide(HERE, 0, verdict, None);
        assert_eq!(desk.review().written_here, here);
        assert_eq!(desk.review().original, Digest::of(PROPOSED.as_bytes()));
    }
}

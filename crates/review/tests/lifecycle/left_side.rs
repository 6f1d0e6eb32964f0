//! A change that is shown next to the text of a file other than the written one.

use linkspan_review::{
    AcceptedPart, Digest, Effect, Event, HunkId, Proposal, Reply, Revision, Step, Verdict, Writer,
};

use crate::harness::*;

const HELD: &str = "held\n";

/// `PROPOSED` for a file that holds `base`, shown next to `BASE`.
fn beside(writer: Writer, base: Option<&str>) -> Proposal {
    Proposal { left: Some(BASE.into()), ..proposal(writer, base.and_then(text), PROPOSED) }
}

fn first_hunk(harness: &LifecycleHarness) -> Verdict {
    let hunks: Vec<HunkId> = harness.review().hunks().iter().map(|hunk| hunk.id).collect();
    assert_eq!(hunks.len(), 2);
    Verdict::AcceptHunks(vec![hunks[0]])
}

#[test]
fn the_other_text_is_shown_and_the_file_is_expected_to_hold_its_own() {
    let held = text(HELD).map(|held| held.digest());
    for (base, expected) in [(None, None), (Some(HELD), held)] {
        let mut harness = LifecycleHarness::showing(beside(Writer::Hub, base));
        assert_eq!(harness.review().base_text(), BASE);
        let chosen = first_hunk(&harness);
        assert_eq!(harness.decide(HERE, 0, chosen, base.and_then(text)), [record(Step::Decided)]);
        assert_eq!(harness.accepted().text, BASE.replace("one", "ONE"));
        assert!(matches!(harness.accepted().taken, AcceptedPart::Some { .. }));
        assert_eq!(harness.accepted().new_file, base.is_none());
        let effects = harness.recorded(Step::Decided);
        let Effect::Write { expect, bytes, .. } = &effects[0] else { panic!("{effects:?}") };
        assert_eq!((*expect, bytes.as_ref()), (expected, BASE.replace("one", "ONE").as_bytes()));
    }
}

#[test]
fn it_is_part_of_what_a_decision_is_about() {
    let mut harness = LifecycleHarness::showing(beside(Writer::Hub, None));
    let shown = harness.review().shown_digest();
    let mut other = harness.review().clone();
    other.left = Some("other\n".into());
    assert_ne!(other.shown_digest(), shown);
    let stale = [reply(HERE, Reply::Stale { revision: Revision(0) })];
    assert_eq!(harness.decide_shown(HERE, other.shown_digest(), Verdict::Accept), stale);
    assert_eq!(harness.decide_shown(HERE, shown, Verdict::Accept), [record(Step::Decided)]);
}

/// Nothing is merged: the user sees the file's current content and the whole change.
#[test]
fn a_file_that_changed_is_never_merged_with_it() {
    // These would merge cleanly with the text on the left.
    let now = BASE.replace("four", "4");
    for base in [None, Some(HELD), Some(BASE.trim_end())] {
        for some in [true, false] {
            let mut harness = LifecycleHarness::showing(beside(Writer::Hub, base));
            let verdict = if some { first_hunk(&harness) } else { Verdict::Accept };
            let effects = harness.decide(HERE, 0, verdict, text(&now));
            assert_eq!(effects, [reply(HERE, Reply::AskAgain { conflicts: 0 }), record(Step::Rebased)]);
            assert_eq!(harness.recorded(Step::Rebased), [SHOW]);
            let review = harness.review();
            assert_eq!((review.base_text(), review.side()), (now.as_str(), PROPOSED));
            assert_eq!((&review.base, review.revision), (&text(&now), Revision(1)));
            assert_eq!(harness.decide(HERE, 1, Verdict::Accept, text(&now)), [record(Step::Decided)]);
            assert_eq!(harness.accepted().text, PROPOSED);
        }
    }
}

#[test]
fn the_users_text_is_kept_when_the_file_changed() {
    let mut harness = LifecycleHarness::showing(beside(Writer::Hub, None));
    harness.decide(HERE, 0, Verdict::AcceptEdited("mine\n".to_owned()), text(HELD));
    assert_eq!((harness.review().side(), harness.review().proposed.as_str()), ("mine\n", PROPOSED));
    assert_eq!(harness.review().base_text(), HELD);
}

#[test]
fn a_write_that_finds_another_file_asks_again() {
    let mut harness = LifecycleHarness::showing(beside(Writer::Hub, None));
    harness.decide(HERE, 0, Verdict::Accept, None);
    harness.recorded(Step::Decided);
    let error = linkspan_review::WriteError::BaseMoved(text(HELD));
    let effects = harness.apply(Event::WriteFailed { review: ID, error });
    assert_eq!(effects, [reply(HERE, Reply::AskAgain { conflicts: 0 }), record(Step::Rebased)]);
    assert!(harness.is_pending());
    assert_eq!((harness.review().base_text(), harness.review().side()), (HELD, PROPOSED));
}

#[test]
fn it_is_there_after_a_restart_and_when_the_agent_asks_again() {
    let mut harness = LifecycleHarness::showing(beside(Writer::Hub, None));
    harness.restart();
    assert_eq!(harness.review().base_text(), BASE);
    let mut again = beside(Writer::Hub, None);
    again.owner.agent = AGENT_BACK;
    assert_eq!(
        harness.apply(Event::Proposed(again.clone())),
        [Effect::Bound { review: ID, agent: AGENT_BACK }]
    );
    // The other file changed in the meantime: its current content is shown.
    harness.restart();
    again.left = Some("other\n".into());
    let effects = harness.apply(Event::Proposed(again));
    assert_eq!(effects[1..], [record(Step::Rebased)]);
    assert_eq!((harness.review().base_text(), harness.review().revision), ("other\n", Revision(1)));
}

#[test]
fn it_is_omitted_if_it_adds_nothing() {
    let copy = Proposal { left: Some(PROPOSED.into()), ..proposal(Writer::Hub, None, PROPOSED) };
    let same = Proposal { left: Some(BASE.into()), ..proposal(Writer::Hub, text(BASE), PROPOSED) };
    let given = Proposal { left: Some(HELD.into()), ..proposal(Writer::Nobody, text(BASE), PROPOSED) };
    for (proposal, shown) in [(copy, ""), (same, BASE), (given, BASE)] {
        let harness = LifecycleHarness::showing(proposal);
        assert_eq!((&harness.review().left, harness.review().base_text()), (&None, shown));
    }
}

#[test]
fn it_has_the_line_endings_of_the_change() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let mut new_file = beside(Writer::Hub, None);
    new_file.left = Some(crlf(BASE).into());
    let harness = LifecycleHarness::showing(new_file);
    assert_eq!((harness.review().base_text(), harness.review().side()), (BASE, PROPOSED));
    let harness = LifecycleHarness::showing(beside(Writer::Hub, Some("held\r\n")));
    assert_eq!((harness.review().base_text(), harness.review().side()), (&*crlf(BASE), &*crlf(PROPOSED)));
}

#[test]
fn nexus3_itself_writes_all_of_it_and_the_hub_a_part() {
    for (some, here) in [(true, true), (false, false)] {
        let mut harness = LifecycleHarness::showing(beside(Writer::AgentAsProposed, None));
        let verdict = if some { first_hunk(&harness) } else { Verdict::Accept };
        harness.decide(HERE, 0, verdict, None);
        assert_eq!(harness.review().written_here, here);
        assert_eq!(harness.review().original, Digest::of(PROPOSED.as_bytes()));
    }
}

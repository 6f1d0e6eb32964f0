//! Two given texts compared under the name of a file: nothing is read or written.

use linkspan_review::{AcceptedPart, Convention, Effect, Event, Step, Verdict, Writer};

use crate::harness::{
    AGENT, AGENT_BACK, BASE, HERE, ID, LifecycleHarness, PROPOSED, answers, proposal, text,
};

#[test]
fn the_content_of_the_file_does_not_matter() {
    for base_now in [None, text("something else\n"), text(BASE)] {
        let mut harness = LifecycleHarness::pending(Writer::Nobody);
        harness.decide(HERE, 0, Verdict::Accept, base_now);
        let effects = harness.recorded(Step::Decided);
        assert_eq!(answers(&effects), [(AGENT, &harness.outcome().ended)]);
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Write { .. })));
        assert_eq!(
            (harness.accepted().text.as_str(), &harness.accepted().taken),
            (PROPOSED, &AcceptedPart::All)
        );
    }
}

#[test]
fn line_endings_are_a_difference_like_any_other() {
    let mut harness = LifecycleHarness::showing(proposal(Writer::Nobody, text("a\r\nb\r\n"), "a\nb\n"));
    assert_eq!(
        (harness.review().proposed.as_str(), harness.review().convention),
        ("a\nb\n", Convention::AsIs)
    );
    assert_eq!(harness.review().hunks().len(), 1);
    harness.decide(HERE, 0, Verdict::AcceptEdited("a\nc\n".to_owned()), None);
    assert_eq!(harness.accepted().bytes.as_slice(), b"a\nc\n");
}

#[test]
fn asking_again_with_both_texts_finds_the_answer_also_after_a_restart() {
    let mut harness = LifecycleHarness::pending(Writer::Nobody);
    harness.decide(HERE, 0, Verdict::Accept, None);
    harness.recorded(Step::Decided);
    harness.restart();
    let ended = harness.outcome().ended.clone();
    assert_eq!(answers(&harness.ask_again(Writer::Nobody, text(BASE))), [(AGENT_BACK, &ended)]);
}

#[test]
fn a_different_base_is_a_different_request() {
    let mut harness = LifecycleHarness::pending(Writer::Nobody);
    harness.lose_agent(false);
    let effects = harness.ask_again(Writer::Nobody, text("something else\n"));
    assert!(!effects.contains(&Effect::Bound { review: ID, agent: AGENT_BACK }), "{effects:?}");
    assert!(harness.is_pending());
    assert_eq!(harness.review().base, text(BASE));
}

#[test]
fn an_edit_is_taken_as_it_is() {
    let mut harness = LifecycleHarness::showing(proposal(Writer::Nobody, text("a\r\n"), "b\r\n"));
    harness.edit(HERE, 0, "c\n");
    assert_eq!(harness.review().side(), "c\n");
    assert_eq!(harness.apply(Event::Written { review: ID }), []);
}

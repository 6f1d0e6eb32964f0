//! Two given texts under the name of a file: nothing is read, and nobody writes.

use linkspan_review::{Convention, Effect, Event, Step, Taken, Verdict, Writer};

use crate::desk::{AGENT, AGENT_BACK, BASE, Desk, HERE, ID, PROPOSED, answers, proposal, text};

#[test]
fn what_the_file_holds_does_not_matter() {
    for base_now in [None, text("something else\n"), text(BASE)] {
        let mut desk = Desk::pending(Writer::Nobody);
        desk.decide(HERE, 0, Verdict::Accept, base_now);
        let effects = desk.recorded(Step::Decided);
        assert_eq!(answers(&effects), [(AGENT, &desk.outcome().ended)]);
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Write { .. })));
        assert_eq!((desk.accepted().text.as_str(), &desk.accepted().taken), (PROPOSED, &Taken::All));
    }
}

#[test]
fn how_lines_end_is_a_difference_like_any_other() {
    let mut desk = Desk::showing(proposal(Writer::Nobody, text("a\r\nb\r\n"), "a\nb\n"));
    assert_eq!((desk.review().proposed.as_str(), desk.review().convention), ("a\nb\n", Convention::AsIs));
    assert_eq!(desk.review().hunks().len(), 1);
    desk.decide(HERE, 0, Verdict::AcceptEdited("a\nc\n".to_owned()), None);
    assert_eq!(desk.accepted().bytes.as_slice(), b"a\nc\n");
}

#[test]
fn asking_again_with_both_texts_finds_the_answer_also_after_a_restart() {
    let mut desk = Desk::pending(Writer::Nobody);
    desk.decide(HERE, 0, Verdict::Accept, None);
    desk.recorded(Step::Decided);
    desk.restart();
    let ended = desk.outcome().ended.clone();
    assert_eq!(answers(&desk.ask_again(Writer::Nobody, text(BASE))), [(AGENT_BACK, &ended)]);
}

#[test]
fn another_text_before_is_another_question() {
    let mut desk = Desk::pending(Writer::Nobody);
    desk.lose_agent(false);
    let effects = desk.ask_again(Writer::Nobody, text("something else\n"));
    assert!(!effects.contains(&Effect::Bound { review: ID, agent: AGENT_BACK }), "{effects:?}");
    assert!(desk.is_pending());
    assert_eq!(desk.review().base, text(BASE));
}

#[test]
fn an_edit_is_taken_as_it_is() {
    let mut desk = Desk::showing(proposal(Writer::Nobody, text("a\r\n"), "b\r\n"));
    desk.edit(HERE, 0, "c\n");
    assert_eq!(desk.review().side(), "c\n");
    assert_eq!(desk.apply(Event::Written { review: ID }), []);
}

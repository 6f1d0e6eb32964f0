//! A proposal comes in, for the first time or again.

use linkspan_review::{
    AgentId, Convention, Digest, Effect, Ended, Event, Format, Phase, Reply, ReviewId, Revision, Step, Text,
    Verdict, Writer,
};

use crate::desk::*;

fn file(format: &str, text: &str) -> Option<Text> {
    Some(Text { format: Format::from_name(format).unwrap(), text: text.into() })
}

#[test]
fn a_proposal_is_shown_to_nobody_before_it_is_recorded() {
    let mut desk = Desk::default();
    let effects = desk.apply(Event::Proposed(proposal(Writer::Agent, text(BASE), PROPOSED)));
    assert_eq!(effects, [Effect::Bound { review: ID, agent: AGENT }, record(Step::Proposed)]);
    assert_eq!(desk.apply(Event::WindowBack { window: desk.review().window }), []);
    assert_eq!(desk.recorded(Step::Proposed), [SHOW]);
    assert_eq!(desk.review().hunks().len(), 2);
}

#[test]
fn a_proposal_that_cannot_be_recorded_fails_and_is_forgotten() {
    let mut desk = Desk::default();
    desk.apply(Event::Proposed(proposal(Writer::Agent, text(BASE), PROPOSED)));
    let effects = desk.not_recorded(Step::Proposed);
    assert!(
        matches!(answers(&effects)[..], [(AGENT, Ended::Failed { error })] if error.contains("disk full"))
    );
    assert_eq!(effects.last(), Some(&FORGET));
    assert_eq!(desk.state.reviews().count(), 0);
}

#[test]
fn a_proposal_its_file_cannot_hold_is_refused_at_once() {
    let mut desk = Desk::default();
    let effects =
        desk.apply(Event::Proposed(proposal(Writer::Agent, file("windows-1252", "a\n"), "\u{2192}\n")));
    assert!(
        matches!(answers(&effects)[..], [(AGENT, Ended::Failed { error })] if error.contains("windows-1252"))
    );
    assert_eq!(desk.state.reviews().count(), 0);
    let next = desk.apply(Event::Proposed(proposal(Writer::Agent, text("a\n"), "b\n")));
    assert_eq!(next[0], Effect::Bound { review: ReviewId(2), agent: AGENT }, "an id is never used twice");
}

#[test]
fn a_proposal_equal_to_its_base_can_still_be_talked_about() {
    let mut desk = Desk::showing(proposal(Writer::Agent, text(BASE), BASE));
    assert_eq!(desk.review().hunks(), []);
    desk.decide(HERE, 0, Verdict::Accept, text(BASE));
    assert_eq!(desk.accepted().text, BASE);
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_text() {
    let desk = Desk::showing(proposal(Writer::Agent, file("UTF-8 with BOM", "a\n"), "\u{feff}b\n"));
    assert_eq!(desk.review().proposed, "b\n");
    let desk = Desk::showing(proposal(Writer::Agent, text("a\n"), "\u{feff}b\n"));
    assert_eq!(desk.review().proposed, "\u{feff}b\n", "here the agent asks for one");
}

#[test]
fn an_agent_that_sends_the_mark_gets_it_back_and_no_difference_is_seen_in_it() {
    for name in ["UTF-8 with BOM", "UTF-16LE", "UTF-16BE"] {
        let base = file(name, "a\n");
        let mut desk = Desk::showing(proposal(Writer::Agent, base.clone(), "\u{feff}b\n"));
        desk.decide(HERE, 0, Verdict::Accept, base.clone());
        let accepted = desk.accepted();
        assert_eq!((accepted.text.as_str(), &accepted.person_diff), ("\u{feff}b\n", &None), "{name}");
        assert_eq!(*accepted.bytes, *file(name, "b\n").unwrap().encode().unwrap(), "{name}");
        let mut desk = Desk::showing(proposal(Writer::Agent, base.clone(), "b\n"));
        desk.decide(HERE, 0, Verdict::Accept, base);
        let accepted = desk.accepted();
        assert_eq!((accepted.text.as_str(), &accepted.person_diff), ("b\n", &None), "{name}");
    }
}

#[test]
fn a_mark_that_the_file_lost_meanwhile_is_not_told() {
    let mut desk = Desk::showing(proposal(Writer::Agent, file("UTF-8 with BOM", "a\nb\n"), "\u{feff}a\nB\n"));
    desk.decide(HERE, 0, Verdict::Accept, text("a\nb\n"));
    let accepted = desk.accepted();
    assert_eq!((accepted.text.as_str(), accepted.bytes.as_slice()), ("a\nB\n", b"a\nB\n".as_slice()));
}

#[test]
fn a_second_mark_is_text_and_stays() {
    let base = file("UTF-8 with BOM", "\u{feff}a\n");
    for proposed in ["\u{feff}b\n", "\u{feff}\u{feff}b\n"] {
        let mut desk = Desk::showing(proposal(Writer::Agent, base.clone(), proposed));
        assert_eq!(desk.review().proposed, "\u{feff}b\n");
        desk.decide(HERE, 0, Verdict::AcceptEdited("\u{feff}c\n".to_owned()), base.clone());
        let accepted = desk.accepted();
        assert_eq!(accepted.text, proposed.replace('b', "c"));
        assert_eq!(*accepted.bytes, *"\u{feff}\u{feff}c\n".as_bytes());
    }
}

#[test]
fn an_agent_that_speaks_lf_hears_lf_and_the_file_keeps_crlf() {
    let mut desk = Desk::showing(proposal(Writer::Agent, text("a\r\nb\r\n"), "a\nc\n"));
    assert_eq!((desk.review().proposed.as_str(), desk.review().convention), ("a\r\nc\r\n", Convention::Lf));
    desk.decide(HERE, 0, Verdict::AcceptEdited("a\nd\n".to_owned()), text("a\r\nb\r\n"));
    let accepted = desk.accepted();
    assert_eq!((accepted.text.as_str(), accepted.bytes.as_slice()), ("a\nd\n", b"a\r\nd\r\n".as_slice()));
    assert!(!accepted.person_diff.as_ref().unwrap().contains('\r'));
}

#[test]
fn an_agent_that_comes_back_finds_its_open_review() {
    let mut desk = Desk::pending(Writer::Agent);
    assert_eq!(desk.lose_agent(false), []);
    assert!(desk.is_pending());
    assert_eq!(desk.ask_again(Writer::Agent, text(BASE)), [Effect::Bound { review: ID, agent: AGENT_BACK }]);
    desk.decide(HERE, 0, reject(), text(BASE));
    assert_eq!(answers(&desk.recorded(Step::Decided)), [(AGENT_BACK, &desk.outcome().ended)]);
}

#[test]
fn a_review_found_again_moves_onto_the_file_as_it_is_now() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.lose_agent(false);
    let now = BASE.replace("four", "4");
    let effects = desk.ask_again(Writer::Agent, text(&now));
    assert_eq!(effects, [Effect::Bound { review: ID, agent: AGENT_BACK }, record(Step::Rebased)]);
    assert_eq!(desk.recorded(Step::Rebased), [SHOW]);
    let review = desk.review();
    assert_eq!((review.base_text(), review.revision), (now.as_str(), Revision(1)));
    assert_eq!(review.side(), PROPOSED.replace("four", "4"));
}

#[test]
fn a_decision_made_while_the_agent_was_away_is_its_answer_when_it_is_back() {
    for (writer, verdict) in [(Writer::Agent, reject()), (Writer::Editor, reject())] {
        for now in [BASE, "something else\n"] {
            let mut desk = Desk::pending(writer);
            desk.lose_agent(false);
            desk.decide(HERE, 0, verdict.clone(), text(BASE));
            assert_eq!(answers(&desk.recorded(Step::Decided)), []);
            let effects = desk.ask_again(writer, text(now));
            assert_eq!(effects[0], Effect::Bound { review: ID, agent: AGENT_BACK });
            assert_eq!(answers(&effects), [(AGENT_BACK, &desk.outcome().ended)]);
        }
    }
}

#[test]
fn an_accept_is_refused_while_the_agent_that_should_write_does_not_wait() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.lose_agent(false);
    assert_eq!(
        desk.decide(HERE, 0, Verdict::Accept, text(BASE)),
        [Effect::Reply { surface: HERE, review: ID, reply: Reply::NobodyWaits }]
    );
    assert!(desk.is_pending());
    desk.ask_again(Writer::Agent, text(BASE));
    assert_eq!(desk.decide(HERE, 0, Verdict::Accept, text(BASE)), [record(Step::Decided)]);
}

#[test]
fn an_accept_is_refused_if_the_agent_left_while_it_was_recorded() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.decide(HERE, 0, Verdict::Accept, text(BASE));
    desk.lose_agent(false);
    assert_eq!(
        desk.recorded(Step::Decided),
        [reply(HERE, Reply::NobodyWaits), record(Step::Rebased)],
        "nobody would write it"
    );
    assert!(desk.is_pending());
    assert_eq!(desk.recorded(Step::Rebased), [SHOW]);
    assert_eq!(desk.write_here(HERE, text(BASE)), [record(Step::Decided)]);
}

#[test]
fn an_accept_of_what_the_agent_asks_otherwise_by_now_is_refused_unless_it_asks_the_same() {
    for same in [false, true] {
        let mut desk = Desk::pending(Writer::Agent);
        desk.decide(HERE, 0, Verdict::Accept, text(BASE));
        assert_eq!(desk.apply(Event::NotAwaited { review: ID }), []);
        if same {
            assert_eq!(
                desk.ask_again(Writer::Agent, text(BASE)),
                [Effect::Bound { review: ID, agent: AGENT_BACK }]
            );
            let effects = desk.recorded(Step::Decided);
            assert_eq!(effects[0], reply(HERE, Reply::Taken));
            assert_eq!(answers(&effects), [(AGENT_BACK, &desk.outcome().ended)]);
        } else {
            assert_eq!(
                desk.recorded(Step::Decided),
                [reply(HERE, Reply::NobodyWaits), record(Step::Rebased)]
            );
        }
    }
    let mut desk = Desk::pending(Writer::Agent);
    assert_eq!(desk.apply(Event::NotAwaited { review: ID }), [record(Step::Ended)]);
}

#[test]
fn the_hub_writes_where_the_user_lets_it_because_the_agent_does_not_wait() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.lose_agent(false);
    assert_eq!(desk.write_here(HERE, text(BASE)), [record(Step::Decided)]);
    assert!(matches!(desk.recorded(Step::Decided)[..], [Effect::Write { .. }]));
    desk.apply(Event::Written { review: ID });
    let effects = desk.recorded(Step::Written);
    assert_eq!(effects[0], Effect::Reply { surface: HERE, review: ID, reply: Reply::Taken });
    assert_eq!(desk.accepted().bytes.as_slice(), PROPOSED.as_bytes());
}

#[test]
fn an_agent_that_waits_writes_by_itself_also_if_the_user_would_let_the_hub() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.write_here(HERE, text(BASE));
    let effects = desk.recorded(Step::Decided);
    assert_eq!(answers(&effects).len(), 1);
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Write { .. })));
}

#[test]
fn an_accept_that_its_agent_did_not_hear_is_carried_over_to_a_file_that_changed_since() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.decide(HERE, 0, Verdict::Accept, text(BASE));
    desk.recorded(Step::Decided);
    desk.lose_agent(false);
    let effects = desk.ask_again(Writer::Agent, text(&BASE.replace("four", "4")));
    assert_eq!(effects, [Effect::Bound { review: ID, agent: AGENT_BACK }, record(Step::Decided)]);
    let effects = desk.recorded(Step::Decided);
    assert_eq!(answers(&effects), [(AGENT_BACK, &desk.outcome().ended)]);
    assert_eq!(desk.accepted().text, PROPOSED.replace("four", "4"));
}

#[test]
fn an_accept_that_its_agent_did_not_hear_is_asked_again_where_the_file_conflicts_by_now() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.decide(HERE, 0, Verdict::Accept, text(BASE));
    desk.recorded(Step::Decided);
    desk.lose_agent(false);
    let effects = desk.ask_again(Writer::Agent, text("something else\n"));
    assert_eq!(effects, [Effect::Bound { review: ID, agent: AGENT_BACK }, record(Step::Rebased)]);
    assert!(desk.is_pending() && !desk.review().conflicts.is_empty());
}

#[test]
fn a_written_change_answers_also_if_the_file_moved_on_but_not_if_it_was_taken_back() {
    let mut desk = Desk::writing();
    desk.apply(Event::Written { review: ID });
    desk.recorded(Step::Written);
    desk.lose_agent(false);
    for now in [PROPOSED, "one more edit\n"] {
        let mut again = Desk { state: desk.state.clone() };
        assert_eq!(
            answers(&again.ask_again(Writer::Editor, text(now))),
            [(AGENT_BACK, &desk.outcome().ended)]
        );
    }
    assert_eq!(answers(&desk.ask_again(Writer::Editor, text(BASE))), []);
}

#[test]
fn a_decision_not_yet_recorded_is_not_promised_about_another_base() {
    let mut desk = Desk::pending(Writer::Agent);
    desk.decide(HERE, 0, Verdict::Accept, text(BASE));
    desk.lose_agent(false);
    let effects = desk.ask_again(Writer::Agent, text("something else\n"));
    assert_eq!(effects[0], Effect::Bound { review: ReviewId(2), agent: AGENT_BACK });
}

#[test]
fn two_agents_of_one_name_that_are_both_there_have_two_reviews() {
    let mut desk = Desk::pending(Writer::Agent);
    let effects = desk.ask_again(Writer::Agent, text(BASE));
    assert_eq!(effects[0], Effect::Bound { review: ReviewId(2), agent: AGENT_BACK });
    assert_eq!(desk.review().owner, Some(AGENT));
}

#[test]
fn another_name_window_path_or_text_is_another_question() {
    let strangers: [fn(&mut linkspan_review::Proposal); 5] = [
        |proposal| proposal.owner.key = "nexus3:other".to_owned(),
        |proposal| proposal.window.0 += 1,
        |proposal| proposal.path = "/w/lib/mod.rs".into(),
        |proposal| proposal.proposed.push('\n'),
        |proposal| proposal.writer = Writer::Editor,
    ];
    for differs in strangers {
        let mut desk = Desk::pending(Writer::Agent);
        desk.lose_agent(false);
        let mut proposal = proposal(Writer::Agent, text(BASE), PROPOSED);
        proposal.owner.agent = AGENT_BACK;
        differs(&mut proposal);
        let effects = desk.apply(Event::Proposed(proposal));
        assert_eq!(effects[0], Effect::Bound { review: ReviewId(2), agent: AGENT_BACK });
    }
}

#[test]
fn forty_reviews_are_each_answered_to_their_own_asker() {
    let mut desk = Desk::default();
    for n in 1..=40 {
        let mut proposal = proposal(Writer::Agent, text(BASE), PROPOSED);
        proposal.owner.agent = AgentId(n);
        desk.apply(Event::Proposed(proposal));
        desk.apply(Event::Recorded { review: ReviewId(n), step: Step::Proposed });
    }
    for n in (1..=40).rev() {
        let decision =
            linkspan_review::Decision { verdict: reject(), comments: Vec::new(), write_here: false };
        let (surface, revision, base_now) = (HERE, Revision(0), text(BASE));
        desk.apply(Event::Decided {
            review: ReviewId(n),
            surface,
            revision,
            digest: None,
            decision,
            base_now,
        });
        let effects = desk.apply(Event::Recorded { review: ReviewId(n), step: Step::Decided });
        assert!(matches!(answers(&effects)[..], [(agent, Ended::Rejected { .. })] if agent == AgentId(n)));
    }
    assert!(desk.state.reviews().all(|review| matches!(review.phase, Phase::Settled { .. })));
    assert!(desk.state.reviews().all(|review| review.original == Digest::of(PROPOSED.as_bytes())));
}

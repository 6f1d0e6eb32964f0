//! A proposal arrives, for the first time or again.

use linkspan_review::{
    AgentId, Convention, Digest, Effect, Event, Format, Phase, Reply, ReviewEnd, ReviewId, Revision, Step,
    Text, Verdict, Writer,
};

use crate::harness::*;

fn file(format: &str, text: &str) -> Option<Text> {
    Some(Text { format: Format::from_name(format).unwrap(), text: text.into() })
}

#[test]
fn a_proposal_is_not_shown_before_it_is_recorded() {
    let mut harness = LifecycleHarness::default();
    let effects = harness.apply(Event::Proposed(proposal(Writer::Agent, text(BASE), PROPOSED)));
    assert_eq!(effects, [Effect::Bound { review: ID, agent: AGENT }, record(Step::Proposed)]);
    assert_eq!(harness.apply(Event::WindowBack { window: harness.review().window }), []);
    assert_eq!(harness.recorded(Step::Proposed), [SHOW]);
    assert_eq!(harness.review().hunks().len(), 2);
}

#[test]
fn a_proposal_that_cannot_be_recorded_fails_and_is_forgotten() {
    let mut harness = LifecycleHarness::default();
    harness.apply(Event::Proposed(proposal(Writer::Agent, text(BASE), PROPOSED)));
    let effects = harness.not_recorded(Step::Proposed);
    assert!(
        matches!(answers(&effects)[..], [(AGENT, ReviewEnd::Failed { error })] if error.contains("disk full"))
    );
    assert_eq!(effects.last(), Some(&FORGET));
    assert_eq!(harness.state.reviews().count(), 0);
}

#[test]
fn a_proposal_its_file_cannot_hold_is_refused_at_once() {
    let mut harness = LifecycleHarness::default();
    let effects =
        harness.apply(Event::Proposed(proposal(Writer::Agent, file("windows-1252", "a\n"), "\u{2192}\n")));
    assert!(
        matches!(answers(&effects)[..], [(AGENT, ReviewEnd::Failed { error })] if error.contains("windows-1252"))
    );
    assert_eq!(harness.state.reviews().count(), 0);
    let next = harness.apply(Event::Proposed(proposal(Writer::Agent, text("a\n"), "b\n")));
    assert_eq!(next[0], Effect::Bound { review: ReviewId(2), agent: AGENT }, "an id is never used twice");
}

#[test]
fn a_proposal_equal_to_its_base_can_still_be_reviewed() {
    let mut harness = LifecycleHarness::showing(proposal(Writer::Agent, text(BASE), BASE));
    assert_eq!(harness.review().hunks(), []);
    harness.decide(HERE, 0, Verdict::Accept, text(BASE));
    assert_eq!(harness.accepted().text, BASE);
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_text() {
    let harness =
        LifecycleHarness::showing(proposal(Writer::Agent, file("UTF-8 with BOM", "a\n"), "\u{feff}b\n"));
    assert_eq!(harness.review().proposed, "b\n");
    let harness = LifecycleHarness::showing(proposal(Writer::Agent, text("a\n"), "\u{feff}b\n"));
    assert_eq!(harness.review().proposed, "\u{feff}b\n", "here the agent asks for one");
}

#[test]
fn an_agent_that_sends_the_mark_gets_it_back_and_no_difference_is_seen_in_it() {
    for name in ["UTF-8 with BOM", "UTF-16LE", "UTF-16BE"] {
        let base = file(name, "a\n");
        let mut harness = LifecycleHarness::showing(proposal(Writer::Agent, base.clone(), "\u{feff}b\n"));
        harness.decide(HERE, 0, Verdict::Accept, base.clone());
        let accepted = harness.accepted();
        assert_eq!((accepted.text.as_str(), &accepted.person_diff), ("\u{feff}b\n", &None), "{name}");
        assert_eq!(*accepted.bytes, *file(name, "b\n").unwrap().encode().unwrap(), "{name}");
        let mut harness = LifecycleHarness::showing(proposal(Writer::Agent, base.clone(), "b\n"));
        harness.decide(HERE, 0, Verdict::Accept, base);
        let accepted = harness.accepted();
        assert_eq!((accepted.text.as_str(), &accepted.person_diff), ("b\n", &None), "{name}");
    }
}

#[test]
fn a_byte_order_mark_that_the_file_lost_is_not_sent() {
    let mut harness = LifecycleHarness::showing(proposal(
        Writer::Agent,
        file("UTF-8 with BOM", "a\nb\n"),
        "\u{feff}a\nB\n",
    ));
    harness.decide(HERE, 0, Verdict::Accept, text("a\nb\n"));
    let accepted = harness.accepted();
    assert_eq!((accepted.text.as_str(), accepted.bytes.as_slice()), ("a\nB\n", b"a\nB\n".as_slice()));
}

#[test]
fn a_second_mark_is_text_and_stays() {
    let base = file("UTF-8 with BOM", "\u{feff}a\n");
    for proposed in ["\u{feff}b\n", "\u{feff}\u{feff}b\n"] {
        let mut harness = LifecycleHarness::showing(proposal(Writer::Agent, base.clone(), proposed));
        assert_eq!(harness.review().proposed, "\u{feff}b\n");
        harness.decide(HERE, 0, Verdict::AcceptEdited("\u{feff}c\n".to_owned()), base.clone());
        let accepted = harness.accepted();
        assert_eq!(accepted.text, proposed.replace('b', "c"));
        assert_eq!(*accepted.bytes, *"\u{feff}\u{feff}c\n".as_bytes());
    }
}

#[test]
fn an_agent_that_uses_lf_receives_lf_and_the_file_keeps_crlf() {
    let mut harness = LifecycleHarness::showing(proposal(Writer::Agent, text("a\r\nb\r\n"), "a\nc\n"));
    assert_eq!(
        (harness.review().proposed.as_str(), harness.review().convention),
        ("a\r\nc\r\n", Convention::Lf)
    );
    harness.decide(HERE, 0, Verdict::AcceptEdited("a\nd\n".to_owned()), text("a\r\nb\r\n"));
    let accepted = harness.accepted();
    assert_eq!((accepted.text.as_str(), accepted.bytes.as_slice()), ("a\nd\n", b"a\r\nd\r\n".as_slice()));
    assert!(!accepted.person_diff.as_ref().unwrap().contains('\r'));
}

#[test]
fn an_agent_that_comes_back_finds_its_open_review() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    assert_eq!(harness.lose_agent(false), []);
    assert!(harness.is_pending());
    assert_eq!(
        harness.ask_again(Writer::Agent, text(BASE)),
        [Effect::Bound { review: ID, agent: AGENT_BACK }]
    );
    harness.decide(HERE, 0, reject(), text(BASE));
    assert_eq!(answers(&harness.recorded(Step::Decided)), [(AGENT_BACK, &harness.outcome().ended)]);
}

#[test]
fn a_repeated_review_is_rebased_onto_the_current_file() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.lose_agent(false);
    let now = BASE.replace("four", "4");
    let effects = harness.ask_again(Writer::Agent, text(&now));
    assert_eq!(effects, [Effect::Bound { review: ID, agent: AGENT_BACK }, record(Step::Rebased)]);
    assert_eq!(harness.recorded(Step::Rebased), [SHOW]);
    let review = harness.review();
    assert_eq!((review.base_text(), review.revision), (now.as_str(), Revision(1)));
    assert_eq!(review.side(), PROPOSED.replace("four", "4"));
}

#[test]
fn a_decision_made_while_the_agent_was_away_is_its_answer_when_it_is_back() {
    for (writer, verdict) in [(Writer::Agent, reject()), (Writer::Hub, reject())] {
        for now in [BASE, "something else\n"] {
            let mut harness = LifecycleHarness::pending(writer);
            harness.lose_agent(false);
            harness.decide(HERE, 0, verdict.clone(), text(BASE));
            assert_eq!(answers(&harness.recorded(Step::Decided)), []);
            let effects = harness.ask_again(writer, text(now));
            assert_eq!(effects[0], Effect::Bound { review: ID, agent: AGENT_BACK });
            assert_eq!(answers(&effects), [(AGENT_BACK, &harness.outcome().ended)]);
        }
    }
}

#[test]
fn an_accept_is_refused_while_the_agent_that_should_write_does_not_wait() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.lose_agent(false);
    assert_eq!(
        harness.decide(HERE, 0, Verdict::Accept, text(BASE)),
        [Effect::Reply { surface: HERE, review: ID, reply: Reply::AgentNotWaiting }]
    );
    assert!(harness.is_pending());
    harness.ask_again(Writer::Agent, text(BASE));
    assert_eq!(harness.decide(HERE, 0, Verdict::Accept, text(BASE)), [record(Step::Decided)]);
}

#[test]
fn an_accept_is_refused_if_the_agent_went_away_while_it_was_recorded() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, Verdict::Accept, text(BASE));
    harness.lose_agent(false);
    assert_eq!(
        harness.recorded(Step::Decided),
        [reply(HERE, Reply::AgentNotWaiting), record(Step::Rebased)],
        "nobody would write it"
    );
    assert!(harness.is_pending());
    assert_eq!(harness.recorded(Step::Rebased), [SHOW]);
    assert_eq!(harness.write_here(HERE, text(BASE)), [record(Step::Decided)]);
}

#[test]
fn an_accept_of_a_replaced_request_is_refused_unless_the_agent_repeats_it() {
    for same in [false, true] {
        let mut harness = LifecycleHarness::pending(Writer::Agent);
        harness.decide(HERE, 0, Verdict::Accept, text(BASE));
        assert_eq!(harness.apply(Event::NotAwaited { review: ID }), []);
        if same {
            assert_eq!(
                harness.ask_again(Writer::Agent, text(BASE)),
                [Effect::Bound { review: ID, agent: AGENT_BACK }]
            );
            let effects = harness.recorded(Step::Decided);
            assert_eq!(effects[0], reply(HERE, Reply::Taken));
            assert_eq!(answers(&effects), [(AGENT_BACK, &harness.outcome().ended)]);
        } else {
            assert_eq!(
                harness.recorded(Step::Decided),
                [reply(HERE, Reply::AgentNotWaiting), record(Step::Rebased)]
            );
        }
    }
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    assert_eq!(harness.apply(Event::NotAwaited { review: ID }), [record(Step::Ended)]);
}

#[test]
fn the_hub_writes_on_request_if_the_agent_does_not_wait() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.lose_agent(false);
    assert_eq!(harness.write_here(HERE, text(BASE)), [record(Step::Decided)]);
    assert!(matches!(harness.recorded(Step::Decided)[..], [Effect::Write { .. }]));
    harness.apply(Event::Written { review: ID });
    let effects = harness.recorded(Step::Written);
    assert_eq!(effects[0], Effect::Reply { surface: HERE, review: ID, reply: Reply::Taken });
    assert_eq!(harness.accepted().bytes.as_slice(), PROPOSED.as_bytes());
}

#[test]
fn an_agent_that_waits_writes_by_itself_also_if_the_user_would_let_the_hub() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.write_here(HERE, text(BASE));
    let effects = harness.recorded(Step::Decided);
    assert_eq!(answers(&effects).len(), 1);
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Write { .. })));
}

#[test]
fn an_undelivered_accept_is_rebased_onto_a_changed_file() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, Verdict::Accept, text(BASE));
    harness.recorded(Step::Decided);
    harness.lose_agent(false);
    let effects = harness.ask_again(Writer::Agent, text(&BASE.replace("four", "4")));
    assert_eq!(effects, [Effect::Bound { review: ID, agent: AGENT_BACK }, record(Step::Decided)]);
    let effects = harness.recorded(Step::Decided);
    assert_eq!(answers(&effects), [(AGENT_BACK, &harness.outcome().ended)]);
    assert_eq!(harness.accepted().text, PROPOSED.replace("four", "4"));
}

#[test]
fn an_undelivered_accept_asks_the_user_again_if_the_file_conflicts() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, Verdict::Accept, text(BASE));
    harness.recorded(Step::Decided);
    harness.lose_agent(false);
    let effects = harness.ask_again(Writer::Agent, text("something else\n"));
    assert_eq!(effects, [Effect::Bound { review: ID, agent: AGENT_BACK }, record(Step::Rebased)]);
    assert!(harness.is_pending() && !harness.review().conflicts.is_empty());
}

#[test]
fn a_written_change_answers_if_the_file_changed_further_but_not_if_it_was_reverted() {
    let mut harness = LifecycleHarness::writing();
    harness.apply(Event::Written { review: ID });
    harness.recorded(Step::Written);
    harness.lose_agent(false);
    for now in [PROPOSED, "one more edit\n"] {
        let mut again = LifecycleHarness { state: harness.state.clone() };
        assert_eq!(
            answers(&again.ask_again(Writer::Hub, text(now))),
            [(AGENT_BACK, &harness.outcome().ended)]
        );
    }
    assert_eq!(answers(&harness.ask_again(Writer::Hub, text(BASE))), []);
}

#[test]
fn a_decision_not_yet_recorded_is_not_promised_about_another_base() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    harness.decide(HERE, 0, Verdict::Accept, text(BASE));
    harness.lose_agent(false);
    let effects = harness.ask_again(Writer::Agent, text("something else\n"));
    assert_eq!(effects[0], Effect::Bound { review: ReviewId(2), agent: AGENT_BACK });
}

#[test]
fn two_agents_of_one_name_that_are_both_there_have_two_reviews() {
    let mut harness = LifecycleHarness::pending(Writer::Agent);
    let effects = harness.ask_again(Writer::Agent, text(BASE));
    assert_eq!(effects[0], Effect::Bound { review: ReviewId(2), agent: AGENT_BACK });
    assert_eq!(harness.review().owner, Some(AGENT));
}

#[test]
fn a_different_name_window_path_or_text_is_a_different_request() {
    let strangers: [fn(&mut linkspan_review::Proposal); 5] = [
        |proposal| proposal.owner.key = "nexus3:other".to_owned(),
        |proposal| proposal.window.0 += 1,
        |proposal| proposal.path = "/w/lib/mod.rs".into(),
        |proposal| proposal.proposed.push('\n'),
        |proposal| proposal.writer = Writer::Hub,
    ];
    for differs in strangers {
        let mut harness = LifecycleHarness::pending(Writer::Agent);
        harness.lose_agent(false);
        let mut proposal = proposal(Writer::Agent, text(BASE), PROPOSED);
        proposal.owner.agent = AGENT_BACK;
        differs(&mut proposal);
        let effects = harness.apply(Event::Proposed(proposal));
        assert_eq!(effects[0], Effect::Bound { review: ReviewId(2), agent: AGENT_BACK });
    }
}

#[test]
fn forty_reviews_are_each_answered_to_their_own_agent() {
    let mut harness = LifecycleHarness::default();
    for n in 1..=40 {
        let mut proposal = proposal(Writer::Agent, text(BASE), PROPOSED);
        proposal.owner.agent = AgentId(n);
        harness.apply(Event::Proposed(proposal));
        harness.apply(Event::Recorded { review: ReviewId(n), step: Step::Proposed });
    }
    for n in (1..=40).rev() {
        let decision =
            linkspan_review::Decision { verdict: reject(), comments: Vec::new(), write_here: false };
        let (surface, revision, base_now) = (HERE, Revision(0), text(BASE));
        harness.apply(Event::Decided {
            review: ReviewId(n),
            surface,
            revision,
            digest: None,
            decision,
            base_now,
        });
        let effects = harness.apply(Event::Recorded { review: ReviewId(n), step: Step::Decided });
        assert!(
            matches!(answers(&effects)[..], [(agent, ReviewEnd::Rejected { .. })] if agent == AgentId(n))
        );
    }
    assert!(harness.state.reviews().all(|review| matches!(review.phase, Phase::Settled { .. })));
    assert!(harness.state.reviews().all(|review| review.original == Digest::of(PROPOSED.as_bytes())));
}

//! An editor that is away for a moment: nothing is bound to the disk that belongs to its unsaved text.

use linkspan_review::AgentId;
use serde_json::json;

use super::desk::{COMMAND, Desk, EDITOR};
use super::{OLD, first_text, outcome, with_unsaved_text};
use crate::core::Event;

const LIVE: &str = "zero\none\ntwo\n";
const CHANGED: &str = "zero\none\n2\n";

fn comes_back(desk: &mut Desk) {
    desk.attach(EDITOR, json!({ "reviews": true, "documents": true, "edits": true }));
}

/// A change of unsaved text by an agent that writes by itself.
fn proposed_by_claude() -> (Desk, AgentId) {
    let (mut desk, _) = with_unsaved_text(LIVE);
    let agent = desk.connect(5, "claude");
    desk.propose(agent, 1, CHANGED);
    (desk, agent)
}

#[test]
fn what_she_accepts_is_not_bound_to_the_disk_while_her_unsaved_text_is_away() {
    let (mut desk, agent) = proposed_by_claude();
    desk.event(Event::LocalClosed { local: EDITOR });
    let decision = desk.decide(COMMAND, "accept");
    assert_eq!(outcome(&desk, COMMAND, decision), "refused");
    comes_back(&mut desk);
    desk.decide(EDITOR, "accept");
    let answers = desk.answers(agent, 1);
    assert_eq!(answers[0]["result"]["content"][1]["text"], CHANGED);
}

#[test]
fn an_agent_that_asks_again_while_the_editor_is_away_gets_its_answer_when_it_is_back() {
    let (mut desk, agent) = proposed_by_claude();
    desk.decide(COMMAND, "accept");
    desk.lose(agent);
    desk.event(Event::LocalClosed { local: EDITOR });
    let again = desk.connect(7, "claude");
    desk.propose(again, 1, CHANGED);
    assert!(desk.answers(again, 1).is_empty(), "nobody can know what the file holds");
    comes_back(&mut desk);
    assert_eq!(first_text(desk.answers(again, 1)[0]), "FILE_SAVED");
    assert_eq!(desk.reviews().len(), 1, "and she is not asked twice");
}

#[test]
fn an_accepted_change_of_unsaved_text_waits_for_its_editor() {
    let (mut desk, agent) = with_unsaved_text(LIVE);
    desk.propose(agent, 1, CHANGED);
    desk.decide(COMMAND, "accept");
    assert_eq!(desk.asked_of_editor("edits/apply").len(), 1, "and it never answers");
    desk.event(Event::LocalClosed { local: EDITOR });
    desk.editor_answers.insert("edits/apply", json!({ "applied": true, "version": 6 }));
    comes_back(&mut desk);
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "FILE_SAVED");
    assert_eq!((desk.file(), desk.writes), (OLD, 0), "the file behind it is left alone");
}

//! An editor that is away for a moment: nothing is bound to the disk that belongs to its unsaved text.

use linkspan_review::AgentId;
use serde_json::json;

use super::support::{COMMAND, EDITOR};
use super::{OLD, first_text, outcome, with_unsaved_text};
use crate::core::Event;
use crate::core::harness::CoreHarness;

const LIVE: &str = "zero\none\ntwo\n";
const CHANGED: &str = "zero\none\n2\n";

fn comes_back(hub: &mut CoreHarness) {
    hub.attach(EDITOR, json!({ "reviews": true, "documents": true, "edits": true }));
}

/// A change of unsaved text by an agent that writes by itself.
fn proposed_by_claude() -> (CoreHarness, AgentId) {
    let (mut hub, _) = with_unsaved_text(LIVE);
    let agent = hub.connect(5, "claude");
    hub.propose(agent, 1, CHANGED);
    (hub, agent)
}

#[test]
fn an_accept_is_not_bound_to_the_disk_while_an_editor_with_unsaved_text_is_away() {
    let (mut hub, agent) = proposed_by_claude();
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    let decision = hub.decide(COMMAND, "accept");
    assert_eq!(outcome(&hub, COMMAND, decision), "refused");
    comes_back(&mut hub);
    hub.decide(EDITOR, "accept");
    let answers = hub.answers(agent, 1);
    assert_eq!(answers[0]["result"]["content"][1]["text"], CHANGED);
}

#[test]
fn an_agent_that_asks_again_while_the_editor_is_away_gets_its_answer_when_it_is_back() {
    let (mut hub, agent) = proposed_by_claude();
    hub.decide(COMMAND, "accept");
    hub.disconnect(agent);
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    let again = hub.connect(7, "claude");
    hub.propose(again, 1, CHANGED);
    assert!(hub.answers(again, 1).is_empty(), "what the file holds is not known");
    comes_back(&mut hub);
    assert_eq!(first_text(hub.answers(again, 1)[0]), "FILE_SAVED");
    assert_eq!(hub.reviews().len(), 1, "and the user is not asked twice");
}

#[test]
fn an_accepted_change_of_unsaved_text_waits_for_its_editor() {
    let (mut hub, agent) = with_unsaved_text(LIVE);
    hub.propose(agent, 1, CHANGED);
    hub.decide(COMMAND, "accept");
    assert_eq!(hub.requests_to_editor("edits/apply").len(), 1, "and it never answers");
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    hub.editor_answers.insert("edits/apply", json!({ "applied": true, "version": 6 }));
    comes_back(&mut hub);
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
    assert_eq!((hub.file(), hub.writes), (OLD, 0), "the file behind it is left alone");
}

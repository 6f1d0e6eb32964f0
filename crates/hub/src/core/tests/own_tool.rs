//! NEXUS3 itself runs its own tool after a yes. The disk holds what was decided all the same: its tool writes what was
//! accepted as it was proposed, the hub writes everything else, and the agent is not told yes.

use linkspan_review::{AgentId, WindowId};
use serde_json::{Value, json};

use super::desk::{COMMAND, Desk, EDITOR};
use super::{NEW, OLD, first_text};
use crate::core::Event;

fn nexus3(text: &[u8]) -> (Desk, AgentId) {
    let mut desk = Desk::new();
    desk.files.insert("/ws/a.txt".into(), text.to_vec());
    desk.attach(EDITOR, json!({ "reviews": true }));
    desk.event(Event::LocalOpened { local: COMMAND });
    let agent = AgentId(1);
    let dialect = linkspan_dialect::by_name("nexus3").unwrap();
    desk.event(Event::AgentOpened { agent, window: WindowId(1), dialect, called: None });
    let client = json!({ "name": "nexus3", "version": "1.0.0" });
    let hello = json!({ "protocolVersion": "2024-11-05", "clientInfo": client });
    desk.frame(agent, &json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello }));
    (desk, agent)
}

fn decide(desk: &mut Desk, verdict: Value) {
    desk.ask(COMMAND, "reviews/decide", json!({ "review": "r1", "decision": { "verdict": verdict } }));
}

/// What its model is told of the change, beside yes or no.
fn notes(desk: &mut Desk, agent: AgentId) -> String {
    desk.call(agent, 2, "getDiagnostics", json!({}));
    first_text(desk.answers(agent, 2)[0]).to_owned()
}

#[test]
fn its_tool_writes_what_was_accepted_as_it_was_proposed() {
    let (mut desk, agent) = nexus3(OLD);
    desk.propose(agent, 1, NEW);
    decide(&mut desk, json!({ "kind": "accept" }));
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "FILE_SAVED");
    assert_eq!((desk.file(), desk.writes), (OLD, 0), "it is for its tool to write");
    assert_eq!(notes(&mut desk, agent), "[]");
}

#[test]
fn the_hub_writes_what_was_edited_and_its_tool_does_not_run() {
    let (mut desk, agent) = nexus3(OLD);
    desk.propose(agent, 1, NEW);
    decide(&mut desk, json!({ "kind": "acceptEdited", "text": "mine\n" }));
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "DIFF_REJECTED");
    assert_eq!((desk.file(), desk.writes), (b"mine\n".as_slice(), 1));
    assert!(notes(&mut desk, agent).contains("accepted this change with edits"));
}

#[test]
fn the_hub_writes_a_part_and_says_which() {
    let (mut desk, agent) = nexus3(b"a\nb\nc\nd\ne\nf\ng\n");
    desk.propose(agent, 1, "A\nb\nc\nd\ne\nf\nG\n");
    let first = desk.reviews()[0].hunks()[0].id.to_string();
    decide(&mut desk, json!({ "kind": "acceptHunks", "hunks": [first] }));
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "DIFF_REJECTED");
    assert_eq!(desk.file(), b"A\nb\nc\nd\ne\nf\ng\n");
    assert!(notes(&mut desk, agent).contains("1 of the 2 parts"));
}

#[test]
fn line_endings_that_its_tool_might_lose_are_written_by_the_hub() {
    let (mut desk, agent) = nexus3(b"one\r\ntwo\r\n");
    desk.propose(agent, 1, NEW);
    decide(&mut desk, json!({ "kind": "accept" }));
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "DIFF_REJECTED");
    assert_eq!(desk.file(), b"one\r\n2\r\n");
    assert!(notes(&mut desk, agent).contains("It is saved"));
}

#[test]
fn a_proposal_that_shows_no_change_is_left_to_its_terminal() {
    let (mut desk, agent) = nexus3(b"one\r\ntwo\r\n");
    desk.propose(agent, 1, "one\ntwo\n");
    assert!(desk.answers(agent, 1)[0]["error"]["message"].as_str().unwrap().contains("terminal"));
    assert!(desk.shown().is_empty());
}

#[test]
fn a_hub_killed_before_it_wrote_a_part_writes_it_when_it_is_back() {
    let (mut before, agent) = nexus3(OLD);
    before.propose(agent, 1, NEW);
    decide(&mut before, json!({ "kind": "acceptEdited", "text": "mine\n" }));
    let mut desk = before.restart_at_the_decision(OLD);
    desk.attach(EDITOR, json!({ "reviews": true }));
    assert_eq!((desk.file(), desk.writes), (b"mine\n".as_slice(), 1));
}

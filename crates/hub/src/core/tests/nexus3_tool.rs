//! NEXUS3 itself runs its own tool after a yes. The disk holds what was decided all the same: its tool writes what was
//! accepted as it was proposed, the hub writes everything else, and the agent is not told yes.

use linkspan_review::{AgentId, WindowId};
use serde_json::{Value, json};

use super::support::{COMMAND, EDITOR};
use super::{NEW, OLD, first_text};
use crate::core::Event;
use crate::core::harness::CoreHarness;

fn nexus3(text: &[u8]) -> (CoreHarness, AgentId) {
    let mut hub = CoreHarness::new();
    hub.files.insert("/ws/a.txt".into(), text.to_vec());
    hub.attach(EDITOR, json!({ "reviews": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    let agent = AgentId(1);
    let dialect = linkspan_dialect::by_name("nexus3").unwrap();
    hub.event(Event::AgentOpened { agent, window: WindowId(1), dialect, called: None });
    let client = json!({ "name": "nexus3", "version": "1.0.0" });
    let hello = json!({ "protocolVersion": "2024-11-05", "clientInfo": client });
    hub.frame(agent, &json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello }));
    (hub, agent)
}

fn decide(hub: &mut CoreHarness, verdict: Value) {
    hub.request(COMMAND, "reviews/decide", json!({ "review": "r1", "decision": { "verdict": verdict } }));
}

/// What its model is told of the change, beside yes or no.
fn notes(hub: &mut CoreHarness, agent: AgentId) -> String {
    hub.call(agent, 2, "getDiagnostics", json!({}));
    first_text(hub.answers(agent, 2)[0]).to_owned()
}

#[test]
fn its_tool_writes_what_was_accepted_as_it_was_proposed() {
    let (mut hub, agent) = nexus3(OLD);
    hub.propose(agent, 1, NEW);
    decide(&mut hub, json!({ "kind": "accept" }));
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
    assert_eq!((hub.file(), hub.writes), (OLD, 0), "it is for its tool to write");
    assert_eq!(notes(&mut hub, agent), "[]");
}

#[test]
fn the_hub_writes_what_was_edited_and_its_tool_does_not_run() {
    let (mut hub, agent) = nexus3(OLD);
    hub.propose(agent, 1, NEW);
    decide(&mut hub, json!({ "kind": "acceptEdited", "text": "mine\n" }));
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "DIFF_REJECTED");
    assert_eq!((hub.file(), hub.writes), (b"mine\n".as_slice(), 1));
    assert!(notes(&mut hub, agent).contains("accepted this change with edits"));
}

#[test]
fn the_hub_writes_a_part_and_says_which() {
    let (mut hub, agent) = nexus3(b"a\nb\nc\nd\ne\nf\ng\n");
    hub.propose(agent, 1, "A\nb\nc\nd\ne\nf\nG\n");
    let first = hub.reviews()[0].hunks()[0].id.to_string();
    decide(&mut hub, json!({ "kind": "acceptHunks", "hunks": [first] }));
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "DIFF_REJECTED");
    assert_eq!(hub.file(), b"A\nb\nc\nd\ne\nf\ng\n");
    assert!(notes(&mut hub, agent).contains("1 of the 2 parts"));
}

#[test]
fn line_endings_that_its_tool_might_lose_are_written_by_the_hub() {
    let (mut hub, agent) = nexus3(b"one\r\ntwo\r\n");
    hub.propose(agent, 1, NEW);
    decide(&mut hub, json!({ "kind": "accept" }));
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "DIFF_REJECTED");
    assert_eq!(hub.file(), b"one\r\n2\r\n");
    assert!(notes(&mut hub, agent).contains("It is saved"));
}

#[test]
fn a_proposal_that_shows_no_change_is_left_to_its_terminal() {
    let (mut hub, agent) = nexus3(b"one\r\ntwo\r\n");
    hub.propose(agent, 1, "one\ntwo\n");
    assert!(hub.answers(agent, 1)[0]["error"]["message"].as_str().unwrap().contains("terminal"));
    assert!(hub.shown().is_empty());
}

#[test]
fn a_hub_killed_before_it_wrote_a_part_writes_it_when_it_is_back() {
    let (mut before, agent) = nexus3(OLD);
    before.propose(agent, 1, NEW);
    decide(&mut before, json!({ "kind": "acceptEdited", "text": "mine\n" }));
    let mut hub = before.restart_at_the_decision(OLD);
    hub.attach(EDITOR, json!({ "reviews": true }));
    assert_eq!((hub.file(), hub.writes), (b"mine\n".as_slice(), 1));
}

#[test]
fn what_was_accepted_before_it_was_lost_goes_into_the_text_that_is_unsaved_by_then() {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "reviews": true, "documents": true, "edits": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    hub.editor_answers.insert("document/text", json!({ "open": false }));
    let joins = |hub: &mut CoreHarness, agent: AgentId| {
        let dialect = linkspan_dialect::by_name("nexus3").unwrap();
        hub.event(Event::AgentOpened { agent, window: WindowId(1), dialect, called: None });
        let client = json!({ "name": "nexus3", "version": "1.0.0" });
        let hello = json!({ "protocolVersion": "2024-11-05", "clientInfo": client });
        hub.frame(
            agent,
            &json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello }),
        );
    };
    joins(&mut hub, AgentId(1));
    hub.propose(AgentId(1), 1, NEW);
    decide(&mut hub, json!({ "kind": "accept" }));
    hub.disconnect(AgentId(1));
    let typed = json!({ "open": true, "dirty": true, "version": 3, "text": "zero\none\ntwo\n" });
    hub.editor_answers.insert("document/text", typed);
    joins(&mut hub, AgentId(3));
    hub.propose(AgentId(3), 1, NEW);
    let apply = hub.requests_to_editor("edits/apply");
    assert_eq!((hub.file(), hub.writes), (OLD, 0), "not behind the unsaved text");
    assert_eq!(apply[0]["params"]["edits"]["text"], "zero\none\n2\n", "{apply:?}");
}

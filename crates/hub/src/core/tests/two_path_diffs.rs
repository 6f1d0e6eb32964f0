//! `openDiff` with an old file that is not the new one: its text is on the left, and the new file is written.

use linkspan_review::AgentId;
use serde_json::{Value, json};

use super::support::{COMMAND, EDITOR};
use super::{first_text, hub_and_agent, outcome};
use crate::core::Event;
use crate::core::harness::CoreHarness;

const LEFT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const PROPOSED: &str = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n";
const NEW_FILE: &str = "/ws/new.txt";

fn ask(hub: &mut CoreHarness, agent: AgentId, old: &str) {
    let arguments = json!({
        "old_file_path": old, "new_file_path": NEW_FILE, "new_file_contents": PROPOSED, "tab_name": "tab",
    });
    hub.call(agent, 1, "openDiff", arguments);
}

/// The old file holds `LEFT`, the new one this.
fn proposed(dialect: &str, held: Option<&str>) -> (CoreHarness, AgentId) {
    let (mut hub, agent) = hub_and_agent(dialect);
    hub.files.insert("/ws/a.txt".into(), LEFT.into());
    hold(&mut hub, held);
    ask(&mut hub, agent, "/ws/a.txt");
    (hub, agent)
}

fn hold(hub: &mut CoreHarness, held: Option<&str>) {
    match held {
        Some(held) => hub.files.insert(NEW_FILE.into(), held.into()),
        None => hub.files.remove(std::path::Path::new(NEW_FILE)),
    };
}

fn new_file(hub: &CoreHarness) -> Option<&str> {
    hub.files.get(std::path::Path::new(NEW_FILE)).map(|bytes| str::from_utf8(bytes).unwrap())
}

fn shown(hub: &CoreHarness) -> Value {
    hub.shown().last().map_or(Value::Null, |shown| shown["params"].clone())
}

fn accept_hunk(hub: &mut CoreHarness, number: usize) -> i64 {
    let hunk = shown(hub)["hunks"][number]["id"].clone();
    let verdict = json!({ "kind": "acceptHunks", "hunks": [hunk] });
    hub.request(COMMAND, "reviews/decide", json!({ "review": "r1", "decision": { "verdict": verdict } }))
}

#[test]
fn the_old_files_text_is_shown_and_what_is_taken_is_taken_from_it() {
    for held in [None, Some("held\n")] {
        let (mut hub, agent) = proposed("nexus3", held);
        let seen = shown(&hub);
        assert_eq!((&seen["base"], &seen["path"]), (&json!(LEFT), &json!(NEW_FILE)));
        assert_eq!(seen["newFile"], held.is_none());
        let decided = accept_hunk(&mut hub, 1);
        assert_eq!(outcome(&hub, COMMAND, decided), "taken");
        assert_eq!(new_file(&hub), Some(LEFT.replace('9', "nine").as_str()));
        assert_eq!(hub.file(), LEFT.as_bytes(), "the old file stays as it is");
        assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
    }
}

#[test]
fn an_agent_that_writes_itself_gets_the_text_that_was_composed() {
    let (mut hub, agent) = proposed("claude", None);
    assert_eq!(shown(&hub)["base"], LEFT);
    accept_hunk(&mut hub, 0);
    let answer = hub.answers(agent, 1)[0];
    assert_eq!(answer["result"]["content"][1]["text"], LEFT.replace('1', "one"));
    assert_eq!(hub.writes, 0);
}

#[test]
fn it_is_shown_after_a_restart_and_when_the_agent_asks_again() {
    let (hub, _) = proposed("nexus3", None);
    let mut hub = hub.restart();
    hub.attach(EDITOR, json!({ "reviews": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    assert_eq!(shown(&hub)["base"], LEFT);
    let agent = hub.connect(2, "nexus3");
    ask(&mut hub, agent, "/ws/a.txt");
    assert_eq!(hub.reviews().len(), 1, "the same question");
    accept_hunk(&mut hub, 0);
    assert_eq!(new_file(&hub), Some(LEFT.replace('1', "one").as_str()));
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
}

#[test]
fn a_new_file_that_changed_meanwhile_is_shown_and_not_overwritten() {
    for (held, now) in [(None, Some("theirs\n")), (Some("held\n"), Some(LEFT)), (Some("held\n"), None)] {
        let (mut hub, agent) = proposed("nexus3", held);
        hold(&mut hub, now);
        let decided = accept_hunk(&mut hub, 0);
        assert_eq!(outcome(&hub, COMMAND, decided), "askAgain");
        assert_eq!((new_file(&hub), hub.writes), (now, 0));
        assert!(hub.answers(agent, 1).is_empty());
        let seen = shown(&hub);
        assert_eq!((&seen["base"], &seen["proposed"]), (&json!(now.unwrap_or("")), &json!(PROPOSED)));
        let decided = hub.decide(COMMAND, "accept");
        assert_eq!(outcome(&hub, COMMAND, decided), "taken");
        assert_eq!(new_file(&hub), Some(PROPOSED));
    }
}

#[test]
fn unsaved_text_of_the_old_file_is_what_is_shown() {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "reviews": true, "documents": true }));
    let agent = hub.connect(1, "nexus3");
    ask(&mut hub, agent, "/ws/a.txt");
    let document_request =
        |hub: &CoreHarness| (*hub.requests_to_editor("document/text").last().unwrap()).clone();
    let old = document_request(&hub);
    assert_eq!(old["params"]["path"], "/ws/a.txt");
    let typed = json!({ "open": true, "dirty": true, "version": 2, "text": LEFT });
    hub.respond(EDITOR, &old["id"], typed);
    let new = document_request(&hub);
    assert_eq!(new["params"]["path"], NEW_FILE);
    hub.respond(EDITOR, &new["id"], json!({ "open": false, "dirty": false }));
    assert_eq!((&shown(&hub)["base"], &shown(&hub)["newFile"]), (&json!(LEFT), &json!(true)));
}

#[test]
fn an_old_file_that_is_not_there_leaves_what_the_new_one_holds() {
    let (mut hub, agent) = hub_and_agent("nexus3");
    hold(&mut hub, Some("held\n"));
    ask(&mut hub, agent, "/ws/none.txt");
    assert_eq!(shown(&hub)["base"], "held\n");
}

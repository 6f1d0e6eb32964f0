//! `openDiff` with an old file that is not the new one: its text is on the left, and the new file is written.

use linkspan_review::AgentId;
use serde_json::{Value, json};

use super::desk::{COMMAND, Desk, EDITOR};
use super::{desk, first_text, outcome};
use crate::core::Event;

const LEFT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const PROPOSED: &str = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n";
const NEW_FILE: &str = "/ws/new.txt";

fn ask(desk: &mut Desk, agent: AgentId, old: &str) {
    let arguments = json!({
        "old_file_path": old, "new_file_path": NEW_FILE, "new_file_contents": PROPOSED, "tab_name": "tab",
    });
    desk.call(agent, 1, "openDiff", arguments);
}

/// The old file holds `LEFT`, the new one this.
fn asked(dialect: &str, held: Option<&str>) -> (Desk, AgentId) {
    let (mut desk, agent) = desk(dialect);
    desk.files.insert("/ws/a.txt".into(), LEFT.into());
    hold(&mut desk, held);
    ask(&mut desk, agent, "/ws/a.txt");
    (desk, agent)
}

fn hold(desk: &mut Desk, held: Option<&str>) {
    match held {
        Some(held) => desk.files.insert(NEW_FILE.into(), held.into()),
        None => desk.files.remove(std::path::Path::new(NEW_FILE)),
    };
}

fn new_file(desk: &Desk) -> Option<&str> {
    desk.files.get(std::path::Path::new(NEW_FILE)).map(|bytes| str::from_utf8(bytes).unwrap())
}

fn shown(desk: &Desk) -> Value {
    desk.shown().last().map_or(Value::Null, |shown| shown["params"].clone())
}

fn accept_hunk(desk: &mut Desk, number: usize) -> i64 {
    let hunk = shown(desk)["hunks"][number]["id"].clone();
    let verdict = json!({ "kind": "acceptHunks", "hunks": [hunk] });
    desk.ask(COMMAND, "reviews/decide", json!({ "review": "r1", "decision": { "verdict": verdict } }))
}

#[test]
fn the_old_files_text_is_shown_and_what_is_taken_is_taken_from_it() {
    for held in [None, Some("held\n")] {
        let (mut desk, agent) = asked("nexus3", held);
        let seen = shown(&desk);
        assert_eq!((&seen["base"], &seen["path"]), (&json!(LEFT), &json!(NEW_FILE)));
        assert_eq!(seen["newFile"], held.is_none());
        let decided = accept_hunk(&mut desk, 1);
        assert_eq!(outcome(&desk, COMMAND, decided), "taken");
        assert_eq!(new_file(&desk), Some(LEFT.replace('9', "nine").as_str()));
        assert_eq!(desk.file(), LEFT.as_bytes(), "the old file stays as it is");
        assert_eq!(first_text(desk.answers(agent, 1)[0]), "FILE_SAVED");
    }
}

#[test]
fn an_agent_that_writes_itself_gets_the_text_that_was_composed() {
    let (mut desk, agent) = asked("claude", None);
    assert_eq!(shown(&desk)["base"], LEFT);
    accept_hunk(&mut desk, 0);
    let answer = desk.answers(agent, 1)[0];
    assert_eq!(answer["result"]["content"][1]["text"], LEFT.replace('1', "one"));
    assert_eq!(desk.writes, 0);
}

#[test]
fn it_is_shown_after_a_restart_and_when_the_agent_asks_again() {
    let (desk, _) = asked("nexus3", None);
    let mut desk = desk.restart();
    desk.attach(EDITOR, json!({ "reviews": true }));
    desk.event(Event::LocalOpened { local: COMMAND });
    assert_eq!(shown(&desk)["base"], LEFT);
    let agent = desk.connect(2, "nexus3");
    ask(&mut desk, agent, "/ws/a.txt");
    assert_eq!(desk.reviews().len(), 1, "the same question");
    accept_hunk(&mut desk, 0);
    assert_eq!(new_file(&desk), Some(LEFT.replace('1', "one").as_str()));
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "FILE_SAVED");
}

#[test]
fn a_new_file_that_changed_meanwhile_is_shown_and_not_overwritten() {
    for (held, now) in [(None, Some("theirs\n")), (Some("held\n"), Some(LEFT)), (Some("held\n"), None)] {
        let (mut desk, agent) = asked("nexus3", held);
        hold(&mut desk, now);
        let decided = accept_hunk(&mut desk, 0);
        assert_eq!(outcome(&desk, COMMAND, decided), "askAgain");
        assert_eq!((new_file(&desk), desk.writes), (now, 0));
        assert!(desk.answers(agent, 1).is_empty());
        let seen = shown(&desk);
        assert_eq!((&seen["base"], &seen["proposed"]), (&json!(now.unwrap_or("")), &json!(PROPOSED)));
        let decided = desk.decide(COMMAND, "accept");
        assert_eq!(outcome(&desk, COMMAND, decided), "taken");
        assert_eq!(new_file(&desk), Some(PROPOSED));
    }
}

#[test]
fn unsaved_text_of_the_old_file_is_what_is_shown() {
    let mut desk = Desk::new();
    desk.attach(EDITOR, json!({ "reviews": true, "documents": true }));
    let agent = desk.connect(1, "nexus3");
    ask(&mut desk, agent, "/ws/a.txt");
    let asked = |desk: &Desk| (*desk.asked_of_editor("document/text").last().unwrap()).clone();
    let old = asked(&desk);
    assert_eq!(old["params"]["path"], "/ws/a.txt");
    let typed = json!({ "open": true, "dirty": true, "version": 2, "text": LEFT });
    desk.answer(EDITOR, &old["id"], typed);
    let new = asked(&desk);
    assert_eq!(new["params"]["path"], NEW_FILE);
    desk.answer(EDITOR, &new["id"], json!({ "open": false, "dirty": false }));
    assert_eq!((&shown(&desk)["base"], &shown(&desk)["newFile"]), (&json!(LEFT), &json!(true)));
}

#[test]
fn an_old_file_that_is_not_there_leaves_what_the_new_one_holds() {
    let (mut desk, agent) = desk("nexus3");
    hold(&mut desk, Some("held\n"));
    ask(&mut desk, agent, "/ws/none.txt");
    assert_eq!(shown(&desk)["base"], "held\n");
}

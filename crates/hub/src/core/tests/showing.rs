//! What an editor is shown of a change, and when it hears what became of an edit.

use serde_json::json;

use super::desk::{COMMAND, EDITOR};
use super::{NEW, desk, outcome};

#[test]
fn a_change_too_large_for_a_message_is_shown_without_its_texts() {
    let long = "x".repeat(3000);
    // Each of these takes six bytes in a message.
    let expanding = "\u{1}".repeat(800);
    for (text, omitted) in [(&long, true), (&expanding, true), (&"x".repeat(800), false)] {
        let (mut desk, agent) = desk("nexus3");
        desk.core.largest_show = 5000;
        desk.files.insert("/ws/a.txt".into(), format!("{text}\n").into_bytes());
        desk.propose(agent, 1, &format!("{text}\nmore\n"));
        let shown = &desk.shown()[0]["params"];
        assert_eq!(shown["omitted"], omitted);
        assert_eq!(shown["proposed"] == "" && shown["base"] == "" && shown["hunks"] == json!([]), omitted);
        let edited = json!({ "review": "r1", "revision": 0, "text": "what she never saw" });
        let edited = desk.ask(EDITOR, "review/edited", edited);
        assert_eq!(outcome(&desk, EDITOR, edited), if omitted { "notPending" } else { "taken" });
        desk.decide(COMMAND, "accept");
        let expected = if omitted { format!("{text}\nmore\n") } else { "what she never saw".to_owned() };
        assert_eq!(desk.file(), expected.as_bytes());
    }
}

#[test]
fn an_edit_is_said_to_be_taken_once_it_is_recorded() {
    let (mut desk, agent) = desk("claude");
    desk.propose(agent, 1, NEW);
    desk.hold_records = true;
    let edit = |text: &str, revision: u32| json!({ "review": "r1", "revision": revision, "text": text });
    let first = desk.ask(EDITOR, "review/edited", edit("one\nzwei\n", 0));
    let second = desk.ask(EDITOR, "review/edited", edit("one\ndrei\n", 1));
    assert!(desk.answer_to(EDITOR, first).is_none() && desk.answer_to(EDITOR, second).is_none());
    desk.hold_records = false;
    desk.let_go(Ok(()));
    let revision = |id| desk.answer_to(EDITOR, id).unwrap()["result"]["revision"].clone();
    assert_eq!((revision(first), revision(second)), (json!(1), json!(2)));
}

#[test]
fn an_edit_that_is_sent_twice_is_taken_once_and_shown_to_who_sent_it() {
    let (mut desk, agent) = desk("claude");
    desk.propose(agent, 1, NEW);
    let edit = json!({ "review": "r1", "revision": 0, "text": "one\nzwei\n" });
    let first = desk.ask(EDITOR, "review/edited", edit.clone());
    assert_eq!(outcome(&desk, EDITOR, first), "taken");
    assert_eq!(desk.shown().len(), 1, "she has it before her");
    let again = desk.ask(EDITOR, "review/edited", edit);
    assert_eq!(outcome(&desk, EDITOR, again), "stale");
    let shown = &desk.shown()[1]["params"];
    assert_eq!((&shown["revision"], &shown["proposed"]), (&json!(1), &json!("one\nzwei\n")));
}

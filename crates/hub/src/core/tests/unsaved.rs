//! Text that the person has not saved is replaced only by what she decided about it.

use serde_json::{Value, json};

use super::desk::{COMMAND, Desk, EDITOR};
use super::{NEW, outcome};
use crate::core::Event;

fn asked(desk: &Desk, method: &str) -> Value {
    desk.asked_of_editor(method).last().map_or(Value::Null, |asked| (*asked).clone())
}

#[test]
fn a_decision_that_comes_second_does_not_lend_its_document_to_the_first() {
    let mut desk = Desk::new();
    desk.attach(EDITOR, json!({ "reviews": true, "documents": true, "edits": true }));
    desk.event(Event::LocalOpened { local: COMMAND });
    let saved = json!({ "open": true, "dirty": false, "version": 2, "text": "one\ntwo\n" });
    desk.editor_answers.insert("document/text", saved.clone());
    let agent = desk.connect(1, "nexus3");
    desk.propose(agent, 1, NEW);
    desk.editor_answers.clear();
    let first = desk.decide(COMMAND, "accept");
    let for_first = asked(&desk, "document/text")["id"].clone();
    let second = desk.decide(COMMAND, "accept");
    let for_second = asked(&desk, "document/text")["id"].clone();
    desk.hold_records = true;
    desk.answer(EDITOR, &for_first, saved);
    let typed = json!({ "open": true, "dirty": true, "version": 3, "text": "zero\none\ntwo\n" });
    desk.answer(EDITOR, &for_second, typed);
    assert_eq!(outcome(&desk, COMMAND, second), "alreadyDecided");
    desk.hold_records = false;
    desk.let_go(Ok(()));
    let apply = asked(&desk, "edits/apply");
    assert_eq!(apply["params"]["version"], 2, "what it was decided about: {apply}");
    desk.answer(EDITOR, &apply["id"], json!({ "applied": false }));
    let typed = json!({ "open": true, "dirty": true, "version": 3, "text": "zero\none\ntwo\n" });
    desk.answer(EDITOR, &asked(&desk, "document/text")["id"], typed);
    let merged = asked(&desk, "edits/apply");
    assert_eq!(merged["params"]["version"], 3);
    assert_eq!(merged["params"]["edits"]["text"], "zero\none\n2\n", "what she typed stays");
    desk.answer(EDITOR, &merged["id"], json!({ "applied": true }));
    assert_eq!(outcome(&desk, COMMAND, first), "taken");
}

//! Unsaved text is replaced only by what the user decided about it.

use serde_json::{Value, json};

use super::support::{COMMAND, EDITOR};
use super::{NEW, outcome};
use crate::core::Event;
use crate::core::harness::CoreHarness;

fn editor_request(hub: &CoreHarness, method: &str) -> Value {
    hub.requests_to_editor(method).last().map_or(Value::Null, |asked| (*asked).clone())
}

#[test]
fn a_decision_that_comes_second_does_not_lend_its_document_to_the_first() {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "reviews": true, "documents": true, "edits": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    let saved = json!({ "open": true, "dirty": false, "version": 2, "text": "one\ntwo\n" });
    hub.editor_answers.insert("document/text", saved.clone());
    let agent = hub.connect(1, "nexus3");
    hub.propose(agent, 1, NEW);
    hub.editor_answers.clear();
    let first = hub.decide(COMMAND, "accept");
    let for_first = editor_request(&hub, "document/text")["id"].clone();
    let second = hub.decide(COMMAND, "accept");
    let for_second = editor_request(&hub, "document/text")["id"].clone();
    hub.hold_records = true;
    hub.respond(EDITOR, &for_first, saved);
    let typed = json!({ "open": true, "dirty": true, "version": 3, "text": "zero\none\ntwo\n" });
    hub.respond(EDITOR, &for_second, typed);
    assert_eq!(outcome(&hub, COMMAND, second), "alreadyDecided");
    hub.hold_records = false;
    hub.release_records(Ok(()));
    let apply = editor_request(&hub, "edits/apply");
    assert_eq!(apply["params"]["version"], 2, "what it was decided about: {apply}");
    hub.respond(EDITOR, &apply["id"], json!({ "applied": false }));
    let typed = json!({ "open": true, "dirty": true, "version": 3, "text": "zero\none\ntwo\n" });
    hub.respond(EDITOR, &editor_request(&hub, "document/text")["id"], typed);
    let merged = editor_request(&hub, "edits/apply");
    assert_eq!(merged["params"]["version"], 3);
    assert_eq!(merged["params"]["edits"]["text"], "zero\none\n2\n", "the typed text stays");
    hub.respond(EDITOR, &merged["id"], json!({ "applied": true }));
    assert_eq!(outcome(&hub, COMMAND, first), "taken");
}

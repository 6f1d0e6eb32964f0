//! What an editor is shown of a change, and when it hears what became of an edit.

use serde_json::json;

use super::support::{COMMAND, EDITOR};
use super::{NEW, hub_and_agent, outcome};

#[test]
fn a_change_too_large_for_a_message_is_shown_without_its_texts() {
    let long = "x".repeat(3000);
    // Each of these takes six bytes in a message.
    let expanding = "\u{1}".repeat(800);
    for (text, omitted) in [(&long, true), (&expanding, true), (&"x".repeat(800), false)] {
        let (mut hub, agent) = hub_and_agent("nexus3");
        hub.core.reviews.set_largest_show(5000);
        hub.files.insert("/ws/a.txt".into(), format!("{text}\n").into_bytes());
        hub.propose(agent, 1, &format!("{text}\nmore\n"));
        let shown = &hub.shown()[0]["params"];
        assert_eq!(shown["omitted"], omitted);
        assert_eq!(shown["proposed"] == "" && shown["base"] == "" && shown["hunks"] == json!([]), omitted);
        let edited = json!({ "review": "r1", "revision": 0, "text": "an edit of an omitted text" });
        let edited = hub.request(EDITOR, "review/edited", edited);
        assert_eq!(outcome(&hub, EDITOR, edited), if omitted { "notPending" } else { "taken" });
        hub.decide(COMMAND, "accept");
        let expected =
            if omitted { format!("{text}\nmore\n") } else { "an edit of an omitted text".to_owned() };
        assert_eq!(hub.file(), expected.as_bytes());
    }
}

#[test]
fn an_edit_is_said_to_be_taken_once_it_is_recorded() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 1, NEW);
    hub.hold_records = true;
    let edit = |text: &str, revision: u32| json!({ "review": "r1", "revision": revision, "text": text });
    let first = hub.request(EDITOR, "review/edited", edit("one\nzwei\n", 0));
    let second = hub.request(EDITOR, "review/edited", edit("one\ndrei\n", 1));
    assert!(hub.response_to(EDITOR, first).is_none() && hub.response_to(EDITOR, second).is_none());
    hub.hold_records = false;
    hub.release_records(Ok(()));
    let revision = |id| hub.response_to(EDITOR, id).unwrap()["result"]["revision"].clone();
    assert_eq!((revision(first), revision(second)), (json!(1), json!(2)));
}

#[test]
fn an_edit_that_is_sent_twice_is_taken_once_and_shown_where_it_was_made() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 1, NEW);
    let edit = json!({ "review": "r1", "revision": 0, "text": "one\nzwei\n" });
    let first = hub.request(EDITOR, "review/edited", edit.clone());
    assert_eq!(outcome(&hub, EDITOR, first), "taken");
    assert_eq!(hub.shown().len(), 1, "the editor already shows it");
    let again = hub.request(EDITOR, "review/edited", edit);
    assert_eq!(outcome(&hub, EDITOR, again), "stale");
    let shown = &hub.shown()[1]["params"];
    assert_eq!((&shown["revision"], &shown["proposed"]), (&json!(1), &json!("one\nzwei\n")));
}

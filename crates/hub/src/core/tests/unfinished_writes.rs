//! Writes that a hub did not see the end of, because it was killed: the next one may not know whether they were done.

use serde_json::json;

use super::support::{COMMAND, EDITOR};
use super::{OLD, first_text, hub_and_agent, with_unsaved_text};
use crate::core::Event;
use crate::core::harness::CoreHarness;

const BASE: &str = "one\ntwo\nthree\nfour\nfive\n";
const ACCEPTED: &str = "ONE\ntwo\nthree\nfour\nFIVE\n";
/// Another program has written since, and kept half of what was accepted.
const HALF: &str = "one\ntwo\nTHREE\nfour\nFIVE\n";

const LIVE: &str = "zero\none\ntwo\n";
const CHANGED: &str = "zero\none\n2\n";

/// Killed right after the decision was recorded: whether the file was written, the journal does not say.
fn killed_with_file(file: &str) -> CoreHarness {
    let (mut before, _) = hub_and_agent("nexus3");
    before.files.insert("/ws/a.txt".into(), BASE.into());
    let agent = before.connect(3, "nexus3");
    before.propose(agent, 1, ACCEPTED);
    before.decide(COMMAND, "accept");
    assert_eq!(before.file(), ACCEPTED.as_bytes());
    before.restart_at_the_decision(file.as_bytes())
}

#[test]
fn a_file_that_others_changed_after_a_write_that_may_have_been_done_is_not_written_again() {
    let mut hub = killed_with_file(HALF);
    hub.attach(EDITOR, json!({ "reviews": true, "messages": true }));
    assert_eq!((hub.file(), hub.writes), (HALF.as_bytes(), 0));
    let shown = &hub.shown().last().unwrap()["params"];
    assert_eq!((&shown["base"], &shown["proposed"]), (&json!(HALF), &json!("ONE\ntwo\nTHREE\nfour\nFIVE\n")));
    let told = hub.requests_to_editor("status/message")[0]["params"]["text"].as_str().unwrap();
    assert!(told.contains("may have been written to a.txt"), "{told}");
}

#[test]
fn a_file_that_holds_what_was_accepted_and_more_is_left_as_it_is() {
    let more = ACCEPTED.replace("three", "THREE");
    let mut hub = killed_with_file(&more);
    hub.attach(EDITOR, json!({ "reviews": true }));
    assert_eq!((hub.file(), hub.writes, hub.shown().len()), (more.as_bytes(), 0, 0));
    let again = hub.connect(5, "nexus3");
    hub.propose(again, 1, ACCEPTED);
    assert_eq!(first_text(hub.answers(again, 1)[0]), "FILE_SAVED");
}

/// Killed after its editor was asked to change unsaved text, which the file does not hold.
fn killed_after_asking_the_editor() -> CoreHarness {
    let (mut before, agent) = with_unsaved_text(LIVE);
    before.propose(agent, 1, CHANGED);
    before.decide(COMMAND, "accept");
    assert_eq!(before.requests_to_editor("edits/apply").len(), 1);
    before.restart_at_the_decision(OLD)
}

#[test]
fn an_editor_that_the_clock_gave_no_time_to_come_back_is_waited_for() {
    let mut hub = killed_after_asking_the_editor();
    hub.wait_seconds(5);
    // The machine slept, and the editor with it.
    hub.now_ms += 3_600_000;
    hub.event(Event::Tick);
    hub.wait_seconds(5);
    assert_eq!((hub.file(), hub.writes), (OLD, 0));
    let applied = json!({ "open": true, "dirty": true, "version": 6, "text": CHANGED });
    hub.editor_answers.insert("document/text", applied);
    hub.attach(EDITOR, json!({ "reviews": true, "documents": true, "edits": true }));
    let again = hub.connect(5, "nexus3");
    hub.propose(again, 1, CHANGED);
    assert_eq!(first_text(hub.answers(again, 1)[0]), "FILE_SAVED");
    assert_eq!((hub.shown().len(), hub.requests_to_editor("edits/apply").len(), hub.writes), (0, 0, 0));
}

#[test]
fn an_editor_that_is_away_while_the_clock_jumps_keeps_its_window() {
    let (mut hub, agent) = with_unsaved_text(LIVE);
    hub.propose(agent, 1, CHANGED);
    hub.decide(COMMAND, "accept");
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    hub.now_ms += 3_600_000;
    hub.event(Event::Tick);
    hub.pong(agent);
    assert_eq!((hub.file(), hub.writes, hub.closed_ports), (OLD, 0, 0));
    let applied = json!({ "open": true, "dirty": true, "version": 6, "text": CHANGED });
    hub.editor_answers.insert("document/text", applied);
    hub.attach(EDITOR, json!({ "reviews": true, "documents": true, "edits": true }));
    assert_eq!((hub.requests_to_editor("edits/apply").len(), hub.writes), (1, 0));
}

/// It may have put the change into its unsaved text, which may still exist.
#[test]
fn a_change_of_unsaved_text_is_not_written_to_the_file_when_its_editor_stays_away() {
    let mut hub = killed_after_asking_the_editor();
    hub.wait_seconds(crate::config::Config::default().window_grace_seconds);
    assert_eq!((hub.file(), hub.writes), (OLD, 0));
    hub.attach(EDITOR, json!({ "reviews": true }));
    assert_eq!(hub.shown().len(), 1, "the user is asked again");
}

#[test]
fn a_document_that_changed_after_its_editor_left_without_an_answer_is_asked_about() {
    let (mut hub, agent) = with_unsaved_text(LIVE);
    hub.propose(agent, 1, CHANGED);
    hub.decide(COMMAND, "accept");
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    // What was accepted, if it was there, is gone again, and there is a new line.
    let typed = json!({ "open": true, "dirty": true, "version": 9, "text": "zero\nhalf\none\ntwo\n" });
    hub.editor_answers.insert("document/text", typed);
    hub.attach(EDITOR, json!({ "reviews": true, "documents": true, "edits": true }));
    assert_eq!((hub.requests_to_editor("edits/apply").len(), hub.writes), (1, 0));
    assert!(hub.answers(agent, 1).is_empty());
    assert_eq!(hub.shown().last().unwrap()["params"]["proposed"], "zero\nhalf\none\n2\n");
}

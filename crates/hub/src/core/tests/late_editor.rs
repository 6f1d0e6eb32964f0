//! An editor or a disk that answers too late: nothing is said to have failed that may yet happen.

use linkspan_review::{AgentId, ReviewId};
use serde_json::{Value, json};

use super::support::{COMMAND, EDITOR};
use super::{NEW, first_text, hub_and_agent, with_unsaved_text};
use crate::core::Event;
use crate::core::harness::CoreHarness;

fn waiting(dirty: bool) -> (CoreHarness, AgentId, Value) {
    let (mut hub, agent) = with_unsaved_text("one\ntwo\n");
    hub.editor_answers.insert("ping", json!(null));
    let live = json!({ "open": true, "dirty": dirty, "version": 5, "text": "one\ntwo\n" });
    hub.editor_answers.insert("document/text", live);
    hub.propose(agent, 1, NEW);
    hub.decide(COMMAND, "accept");
    let apply = hub.requests_to_editor("edits/apply")[0]["id"].clone();
    (hub, agent, apply)
}

/// Agents that do not answer their pings are let go.
fn wait(hub: &mut CoreHarness, agent: AgentId, seconds: u64) {
    for _ in 0..seconds {
        hub.wait_seconds(1);
        hub.pong(agent);
    }
}

#[test]
fn an_editor_that_is_busy_and_then_applies_has_applied() {
    let (mut hub, agent, apply) = waiting(true);
    // It does not answer anything meanwhile.
    hub.editor_answers.remove("document/text");
    wait(&mut hub, agent, 45);
    assert!(hub.answers(agent, 1).is_empty(), "{:?}", hub.answers(agent, 1));
    hub.respond(EDITOR, &apply, json!({ "applied": true, "version": 6 }));
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
    assert_eq!((hub.requests_to_editor("edits/apply").len(), hub.writes), (1, 0));
}

#[test]
fn a_clock_that_jumped_has_given_the_editor_no_time() {
    for waited in [0, 60] {
        let (mut hub, agent, apply) = waiting(true);
        wait(&mut hub, agent, waited);
        // The machine slept, and the editor with it.
        hub.now_ms += 300_000;
        hub.event(Event::Tick);
        hub.pong(agent);
        assert!(hub.answers(agent, 1).is_empty(), "{:?}", hub.answers(agent, 1));
        wait(&mut hub, agent, 5);
        hub.respond(EDITOR, &apply, json!({ "applied": true, "version": 6 }));
        assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED", "after {waited} s");
    }
}

#[test]
fn a_clock_that_jumped_has_given_the_disk_no_time() {
    let (mut hub, agent) = hub_and_agent("nexus3");
    hub.editor_answers.insert("ping", json!(null));
    hub.hold_writes = true;
    hub.propose(agent, 1, NEW);
    hub.decide(COMMAND, "accept");
    hub.now_ms += 300_000;
    hub.event(Event::Tick);
    hub.pong(agent);
    assert!(hub.answers(agent, 1).is_empty(), "{:?}", hub.answers(agent, 1));
    hub.event(Event::FileWritten { review: ReviewId(1), result: Ok(()) });
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
}

#[test]
fn a_document_that_still_holds_the_old_text_may_yet_change() {
    let (mut hub, agent, apply) = waiting(true);
    wait(&mut hub, agent, 30);
    assert!(hub.answers(agent, 1).is_empty(), "{:?}", hub.answers(agent, 1));
    let done = json!({ "open": true, "dirty": true, "version": 6, "text": NEW });
    hub.editor_answers.insert("document/text", done);
    wait(&mut hub, agent, 15);
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED", "it was looked at again");
    hub.respond(EDITOR, &apply, json!({ "applied": true, "version": 6 }));
    assert_eq!((hub.answers(agent, 1).len(), hub.requests_to_editor("edits/apply").len()), (1, 1));
}

#[test]
fn a_document_that_is_changed_and_not_saved_yet_may_yet_be_saved() {
    let (mut hub, agent, _) = waiting(false);
    let unsaved = json!({ "open": true, "dirty": true, "version": 6, "text": NEW });
    hub.editor_answers.insert("document/text", unsaved);
    wait(&mut hub, agent, 60);
    assert!(hub.answers(agent, 1).is_empty(), "{:?}", hub.answers(agent, 1));
    let saved = json!({ "open": true, "dirty": false, "version": 6, "text": NEW });
    hub.editor_answers.insert("document/text", saved);
    hub.files.insert("/ws/a.txt".into(), NEW.into());
    wait(&mut hub, agent, 15);
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
}

#[test]
fn an_editor_that_never_answers_leaves_it_open_and_that_is_what_is_said() {
    let (mut hub, agent, _) = waiting(true);
    wait(&mut hub, agent, 400);
    let error = hub.answers(agent, 1)[0]["error"]["message"].as_str().unwrap();
    assert!(error.contains("not known whether") && !error.contains("could not be written"), "{error}");
    assert_eq!(hub.requests_to_editor("edits/apply").len(), 1);
}

#[test]
fn an_editor_that_says_no_late_has_said_no() {
    let (mut hub, agent, apply) = waiting(true);
    wait(&mut hub, agent, 30);
    hub.respond(EDITOR, &apply, json!({ "applied": false }));
    let error = hub.answers(agent, 1)[0]["error"]["message"].as_str().unwrap();
    assert!(error.contains("does not let the document be changed"), "{error}");
}

#[test]
fn a_disk_that_answers_late_is_heard() {
    let (mut hub, agent) = hub_and_agent("nexus3");
    hub.editor_answers.insert("ping", json!(null));
    hub.hold_writes = true;
    hub.propose(agent, 1, NEW);
    hub.decide(COMMAND, "accept");
    wait(&mut hub, agent, 45);
    assert!(hub.answers(agent, 1).is_empty(), "{:?}", hub.answers(agent, 1));
    hub.files.insert("/ws/a.txt".into(), NEW.into());
    hub.event(Event::FileWritten { review: ReviewId(1), result: Ok(()) });
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
}

#[test]
fn a_disk_that_never_says_what_became_of_a_write_is_asked_what_the_file_holds() {
    for (holds, seconds, answer) in
        [(super::OLD, 120, "not known whether"), (NEW.as_bytes(), 2, "FILE_SAVED")]
    {
        let (mut hub, agent) = hub_and_agent("nexus3");
        hub.propose(agent, 1, NEW);
        hub.hold_writes = true;
        hub.decide(COMMAND, "accept");
        hub.wait_seconds(19);
        assert!(hub.answers(agent, 1).is_empty());
        hub.files.insert("/ws/a.txt".into(), holds.to_vec());
        wait(&mut hub, agent, seconds);
        let told = hub.answers(agent, 1);
        assert!(told.len() == 1 && told[0].to_string().contains(answer), "{told:?}");
    }
}

/// After a laptop's sleep, for example: the hub is stopped at the moment at which everything is overdue.
#[test]
fn a_hub_that_is_stopped_answers_no_agent_about_overdue_calls() {
    let (mut hub, agent) = with_unsaved_text("one\ntwo\n");
    hub.editor_answers.remove("document/text");
    hub.propose(agent, 1, NEW);
    hub.now_ms += 3_600_000;
    hub.event(Event::StopRequested);
    hub.event(Event::Tick);
    assert!(hub.answers(agent, 1).is_empty(), "{:?}", hub.answers(agent, 1));
}

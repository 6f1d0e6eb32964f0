//! An editor or a disk that answers too late: nothing is said to have failed that may yet happen.

use linkspan_review::{AgentId, ReviewId};
use serde_json::{Value, json};

use super::desk::{COMMAND, Desk, EDITOR};
use super::{NEW, first_text, with_unsaved_text};
use crate::core::Event;

fn waiting(dirty: bool) -> (Desk, AgentId, Value) {
    let (mut desk, agent) = with_unsaved_text("one\ntwo\n");
    desk.editor_answers.insert("ping", json!(null));
    let live = json!({ "open": true, "dirty": dirty, "version": 5, "text": "one\ntwo\n" });
    desk.editor_answers.insert("document/text", live);
    desk.propose(agent, 1, NEW);
    desk.decide(COMMAND, "accept");
    let apply = desk.asked_of_editor("edits/apply")[0]["id"].clone();
    (desk, agent, apply)
}

/// Agents that do not answer their pings are let go.
fn wait(desk: &mut Desk, agent: AgentId, seconds: u64) {
    for _ in 0..seconds {
        desk.wait_seconds(1);
        desk.pong(agent);
    }
}

#[test]
fn an_editor_that_is_busy_and_then_applies_has_applied() {
    let (mut desk, agent, apply) = waiting(true);
    // It does not answer anything meanwhile.
    desk.editor_answers.remove("document/text");
    wait(&mut desk, agent, 45);
    assert!(desk.answers(agent, 1).is_empty(), "{:?}", desk.answers(agent, 1));
    desk.answer(EDITOR, &apply, json!({ "applied": true, "version": 6 }));
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "FILE_SAVED");
    assert_eq!((desk.asked_of_editor("edits/apply").len(), desk.writes), (1, 0));
}

#[test]
fn a_document_that_still_holds_the_old_text_may_yet_change() {
    let (mut desk, agent, apply) = waiting(true);
    wait(&mut desk, agent, 30);
    assert!(desk.answers(agent, 1).is_empty(), "{:?}", desk.answers(agent, 1));
    let done = json!({ "open": true, "dirty": true, "version": 6, "text": NEW });
    desk.editor_answers.insert("document/text", done);
    wait(&mut desk, agent, 15);
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "FILE_SAVED", "it was looked at again");
    desk.answer(EDITOR, &apply, json!({ "applied": true, "version": 6 }));
    assert_eq!((desk.answers(agent, 1).len(), desk.asked_of_editor("edits/apply").len()), (1, 1));
}

#[test]
fn a_document_that_is_changed_and_not_saved_yet_may_yet_be_saved() {
    let (mut desk, agent, _) = waiting(false);
    let unsaved = json!({ "open": true, "dirty": true, "version": 6, "text": NEW });
    desk.editor_answers.insert("document/text", unsaved);
    wait(&mut desk, agent, 60);
    assert!(desk.answers(agent, 1).is_empty(), "{:?}", desk.answers(agent, 1));
    let saved = json!({ "open": true, "dirty": false, "version": 6, "text": NEW });
    desk.editor_answers.insert("document/text", saved);
    desk.files.insert("/ws/a.txt".into(), NEW.into());
    wait(&mut desk, agent, 15);
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "FILE_SAVED");
}

#[test]
fn an_editor_that_never_answers_leaves_it_open_and_that_is_what_is_said() {
    let (mut desk, agent, _) = waiting(true);
    wait(&mut desk, agent, 400);
    let error = desk.answers(agent, 1)[0]["error"]["message"].as_str().unwrap();
    assert!(error.contains("not known whether") && !error.contains("could not be written"), "{error}");
    assert_eq!(desk.asked_of_editor("edits/apply").len(), 1);
}

#[test]
fn an_editor_that_says_no_late_has_said_no() {
    let (mut desk, agent, apply) = waiting(true);
    wait(&mut desk, agent, 30);
    desk.answer(EDITOR, &apply, json!({ "applied": false }));
    let error = desk.answers(agent, 1)[0]["error"]["message"].as_str().unwrap();
    assert!(error.contains("does not let the document be changed"), "{error}");
}

#[test]
fn a_disk_that_answers_late_is_heard() {
    let (mut desk, agent) = super::desk("nexus3");
    desk.editor_answers.insert("ping", json!(null));
    desk.hold_writes = true;
    desk.propose(agent, 1, NEW);
    desk.decide(COMMAND, "accept");
    wait(&mut desk, agent, 45);
    assert!(desk.answers(agent, 1).is_empty(), "{:?}", desk.answers(agent, 1));
    desk.files.insert("/ws/a.txt".into(), NEW.into());
    desk.event(Event::FileWritten { review: ReviewId(1), result: Ok(()) });
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "FILE_SAVED");
}

#[test]
fn a_disk_that_never_says_what_became_of_a_write_is_asked_what_the_file_holds() {
    for (holds, seconds, answer) in
        [(super::OLD, 120, "not known whether"), (NEW.as_bytes(), 2, "FILE_SAVED")]
    {
        let (mut desk, agent) = super::desk("nexus3");
        desk.propose(agent, 1, NEW);
        desk.hold_writes = true;
        desk.decide(COMMAND, "accept");
        desk.wait_seconds(19);
        assert!(desk.answers(agent, 1).is_empty());
        desk.files.insert("/ws/a.txt".into(), holds.to_vec());
        wait(&mut desk, agent, seconds);
        let told = desk.answers(agent, 1);
        assert!(told.len() == 1 && told[0].to_string().contains(answer), "{told:?}");
    }
}

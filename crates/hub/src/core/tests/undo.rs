//! Undo among several editors, with editors and disks that go away in the middle, and after a restart.

use std::collections::BTreeMap;
use std::path::PathBuf;

use linkspan_review::ChangeId;
use serde_json::{Value, json};

use super::support::{COMMAND, EDITOR};
use super::undo_checks::{OTHER, change, hub_with_file, refusal, remembered_window, undo};
use super::{NEW, OLD};
use crate::config::WorkspaceConfig;
use crate::core::contract::{
    FileError, HistoryAnswer, RecordedChange, RememberedState, RememberedWindow, WriteError,
};
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

const SECOND: ConnectionId = ConnectionId(4);
const CLOSED: fn() -> Value = || json!({ "open": false, "dirty": false });
const OPEN: fn() -> Value = || json!({ "open": true, "dirty": false, "version": 9, "text": NEW });

fn all() -> Value {
    json!({ "documents": true, "edits": true })
}

/// Begins an undo that is not answered at once.
fn begin(hub: &mut CoreHarness) -> i64 {
    hub.history_answers.push_back(Ok(HistoryAnswer::Change(Box::new(change()))));
    hub.request(COMMAND, "history/undo", json!({ "change": "c1" }))
}

/// The newest request of that method to that connection.
fn editor_request(hub: &CoreHarness, connection: ConnectionId, method: &str) -> Option<Value> {
    let mut messages = hub.to_connections.iter().rev();
    let found = messages.find(|(to, message)| *to == connection && message["method"] == method);
    found.map(|(_, message)| message.clone())
}

fn recorded(hub: &mut CoreHarness) {
    for ticket in std::mem::take(&mut hub.held_undos) {
        hub.event(Event::UndoBegun { ticket, result: Ok((ChangeId(1), ChangeId(2))) });
    }
}

#[test]
fn every_window_that_has_the_file_is_asked_and_the_one_that_has_it_open_writes_it() {
    for dirty in [true, false] {
        let mut hub = hub_with_file(NEW.as_bytes(), all());
        hub.editor_answers.insert("document/text", CLOSED());
        hub.attach(SECOND, all());
        let id = begin(&mut hub);
        let mut open = OPEN();
        open["dirty"] = dirty.into();
        let question = editor_request(&hub, SECOND, "document/text").unwrap();
        assert!(hub.begun_undos.is_empty(), "nothing is begun before all have answered");
        hub.respond(SECOND, &question["id"], open);
        if dirty {
            assert!(refusal(hub.response_to(COMMAND, id).unwrap()).contains("unsaved text"));
            assert!(hub.begun_undos.is_empty());
        } else {
            let apply = editor_request(&hub, SECOND, "edits/apply").unwrap();
            assert_eq!(apply["params"]["version"], 9);
            assert!(editor_request(&hub, EDITOR, "edits/apply").is_none() && hub.writes == 0);
        }
    }
}

#[test]
fn another_window_on_the_folder_that_is_away_may_have_unsaved_text_too() {
    let mut hub = hub_with_file(NEW.as_bytes(), json!({}));
    hub.attach(SECOND, all());
    hub.event(Event::ConnectionClosed { connection: SECOND });
    assert!(refusal(&undo(&mut hub, change())).contains("which is away"));
    assert_eq!((hub.file(), hub.writes), (NEW.as_bytes(), 0));
}

#[test]
fn an_editor_lost_while_it_is_asked_is_not_one_without_the_document() {
    let mut hub = hub_with_file(NEW.as_bytes(), all());
    let id = begin(&mut hub);
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    assert!(refusal(hub.response_to(COMMAND, id).unwrap()).contains("which is away"));
    assert_eq!((hub.file(), hub.writes), (NEW.as_bytes(), 0));
}

#[test]
fn an_editor_lost_during_a_decision_may_have_unsaved_text() {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "reviews": true, "documents": true, "edits": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    hub.editor_answers.insert("document/text", CLOSED());
    let agent = hub.connect(1, "nexus3");
    hub.propose(agent, 1, NEW);
    hub.editor_answers.clear();
    let decision = hub.decide(COMMAND, "accept");
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    assert_eq!(super::outcome(&hub, COMMAND, decision), "refused");
    assert_eq!((hub.file(), hub.writes), (OLD, 0));
}

#[test]
fn an_editor_lost_once_the_undo_is_recorded_ends_it_with_nothing_changed() {
    for comes_back in [false, true] {
        let mut hub = hub_with_file(NEW.as_bytes(), all());
        hub.editor_answers.insert("document/text", OPEN());
        hub.hold_undos = true;
        let id = begin(&mut hub);
        hub.event(Event::ConnectionClosed { connection: EDITOR });
        if comes_back {
            hub.attach(SECOND, all());
        }
        recorded(&mut hub);
        assert!(refusal(hub.response_to(COMMAND, id).unwrap()).contains("has just disconnected"));
        assert_eq!((hub.file(), &hub.ended_undos[..]), (NEW.as_bytes(), &[(ChangeId(2), false)][..]));
    }
}

#[test]
fn a_file_whose_review_is_being_decided_is_not_undone_at_the_same_time() {
    let (mut hub, agent) = super::hub_and_agent("nexus3");
    hub.propose(agent, 1, NEW);
    hub.hold_records = true;
    hub.decide(COMMAND, "accept");
    assert!(refusal(&undo(&mut hub, change())).contains("r1, which was just decided"));
    assert!(hub.begun_undos.is_empty());
}

#[test]
fn an_undo_without_an_answer_stays_unresolved_until_the_file_is_read_again() {
    let mut hub = hub_with_file(NEW.as_bytes(), all());
    hub.editor_answers.insert("document/text", OPEN());
    let id = begin(&mut hub);
    hub.wait_seconds(30);
    assert!(refusal(hub.response_to(COMMAND, id).unwrap()).contains("not known"));
    assert_eq!(hub.ended_undos, []);
    hub.files.insert("/ws/a.txt".into(), OLD.to_vec());
    hub.history_answers.push_back(Ok(HistoryAnswer::List(Vec::new())));
    hub.hold_reads = true;
    let list = hub.request(COMMAND, "history/list", json!({}));
    assert_eq!(hub.history_queries.len(), 1, "the file comes first");
    hub.release_reads();
    assert_eq!(hub.ended_undos, [(ChangeId(2), true)]);
    assert!(hub.response_to(COMMAND, list).is_some());
}

#[test]
fn an_undo_that_an_editor_may_yet_carry_out_is_not_said_to_be_undone() {
    let mut hub = hub_with_file(NEW.as_bytes(), all());
    hub.editor_answers.insert("document/text", OPEN());
    let id = begin(&mut hub);
    hub.wait_seconds(30);
    assert!(refusal(hub.response_to(COMMAND, id).unwrap()).contains("not known"));
    let look = |hub: &mut CoreHarness| {
        hub.history_answers.push_back(Ok(HistoryAnswer::List(Vec::new())));
        hub.request(COMMAND, "history/list", json!({}));
    };
    look(&mut hub);
    assert_eq!(hub.ended_undos, [], "the file is as it was, so far");
    assert!(refusal(&undo(&mut hub, change())).contains("another undo"));
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    look(&mut hub);
    assert_eq!(hub.ended_undos, [], "what it was sent before is still on its way to it");
    let back = ConnectionId(77);
    hub.attach(back, all());
    look(&mut hub);
    let question = editor_request(&hub, back, "document/text").unwrap();
    assert_eq!(hub.ended_undos, [], "it may have done it without saving it");
    hub.respond(back, &question["id"], OPEN());
    assert_eq!(hub.ended_undos, [(ChangeId(2), false)]);
}

#[test]
fn a_failed_write_is_judged_by_the_file() {
    let error = FileError::Io { path: "/ws/a.txt".into(), error: "no sync".into() };
    for (hold, expected) in [(NEW.as_bytes(), &[(ChangeId(2), false)][..]), (b"other\n", &[])] {
        let mut hub = hub_with_file(NEW.as_bytes(), json!({}));
        hub.restore_error = Some(WriteError::Failed(error.clone()));
        hub.hold_undos = true;
        let id = begin(&mut hub);
        hub.files.insert("/ws/a.txt".into(), hold.to_vec());
        recorded(&mut hub);
        assert!(refusal(hub.response_to(COMMAND, id).unwrap()).contains("no sync"));
        assert_eq!(hub.ended_undos, expected);
    }
}

#[test]
fn a_disk_that_does_not_answer_leaves_the_undo_in_doubt_and_the_path_to_itself() {
    let mut hub = hub_with_file(NEW.as_bytes(), json!({}));
    hub.hold_restores = true;
    let id = begin(&mut hub);
    let ticket = hub.held_restore.unwrap();
    hub.wait_seconds(21);
    let answer = hub.response_to(COMMAND, id).unwrap();
    assert_eq!(answer["error"]["code"], linkspan_editor_api::errors::TIMEOUT, "{answer}");
    assert_eq!(hub.ended_undos, []);
    hub.hold_restores = false;
    // The disk may yet do it: one change must not be undone twice.
    assert!(refusal(&undo(&mut hub, change())).contains("another undo"));
    hub.event(Event::FileRestored { ticket, result: Err(WriteError::BaseMoved(None)) });
    assert_eq!(undo(&mut hub, change())["result"]["change"], "c1");
    assert_eq!(hub.ended_undos, [(ChangeId(2), false), (ChangeId(3), true)]);
}

#[test]
fn an_undo_is_not_said_to_be_undone_while_the_disk_may_yet_do_it() {
    for reports in [Ok(None), Err(WriteError::BaseMoved(None))] {
        let mut hub = hub_with_file(NEW.as_bytes(), json!({}));
        hub.hold_restores = true;
        begin(&mut hub);
        let ticket = hub.held_restore.unwrap();
        hub.wait_seconds(21);
        hub.history_answers.push_back(Ok(HistoryAnswer::List(Vec::new())));
        hub.request(COMMAND, "history/list", json!({}));
        assert_eq!(hub.ended_undos, [], "the file is as it was, so far");
        let done = reports.is_ok();
        hub.event(Event::FileRestored { ticket, result: reports });
        hub.history_answers.push_back(Ok(HistoryAnswer::List(Vec::new())));
        hub.request(COMMAND, "history/list", json!({}));
        assert_eq!(hub.ended_undos, [(ChangeId(2), done)]);
    }
}

#[test]
fn an_undo_that_the_disk_may_yet_do_does_not_keep_another_unresolved() {
    let mut hub = hub_with_file(NEW.as_bytes(), json!({}));
    hub.hold_restores = true;
    begin(&mut hub);
    hub.wait_seconds(21);
    hub.hold_restores = false;
    let file = || PathBuf::from("/ws/b.txt");
    let other = RecordedChange { id: Some(ChangeId(8)), path: file(), ..change() };
    hub.files.insert(file(), NEW.into());
    let error = FileError::Io { path: "/ws/b.txt".into(), error: "no sync".into() };
    hub.restore_error = Some(WriteError::Failed(error));
    hub.hold_undos = true;
    hub.history_answers.push_back(Ok(HistoryAnswer::Change(Box::new(other))));
    hub.request(COMMAND, "history/undo", json!({ "change": "c8" }));
    hub.files.insert(file(), b"other\n".to_vec());
    for ticket in std::mem::take(&mut hub.held_undos) {
        hub.event(Event::UndoBegun { ticket, result: Ok((ChangeId(8), ChangeId(9))) });
    }
    assert_eq!(hub.ended_undos, [], "its file holds neither text");
    hub.files.insert(file(), NEW.into());
    hub.history_answers.push_back(Ok(HistoryAnswer::List(Vec::new())));
    hub.request(COMMAND, "history/list", json!({}));
    assert_eq!(hub.ended_undos, [(ChangeId(9), false)]);
}

#[test]
fn a_connection_asks_one_thing_about_the_past_at_a_time() {
    let mut hub = hub_with_file(NEW.as_bytes(), json!({}));
    let first = hub.request(COMMAND, "history/list", json!({}));
    let second = hub.request(COMMAND, "history/list", json!({}));
    assert!(hub.response_to(COMMAND, first).is_none());
    assert!(refusal(hub.response_to(COMMAND, second).unwrap()).contains("one request at a time"));
    assert_eq!(hub.history_queries.len(), 1);
    for other in 100..200 {
        hub.event(Event::ConnectionOpened { connection: ConnectionId(other) });
        hub.request(ConnectionId(other), "history/list", json!({}));
    }
    assert_eq!(hub.history_queries.len(), 64);
}

fn restarted(window: RememberedWindow) -> CoreHarness {
    let windows = vec![window];
    let files = BTreeMap::from([("/ws/a.txt".into(), NEW.as_bytes().to_vec())]);
    let mut hub = CoreHarness::restarted(
        RememberedState { windows, next_window: 2, ..RememberedState::default() },
        files,
    );
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    hub.event(Event::ConnectionOpened { connection: OTHER });
    hub
}

#[test]
fn right_after_a_restart_an_undo_waits_for_editors_that_may_come_back() {
    let left = || RememberedWindow { discovery: vec!["/home/me/lock".into()], ..remembered_window() };
    for comes_back in [false, true] {
        let mut hub = restarted(left());
        let id = begin(&mut hub);
        hub.history_answers.push_back(Ok(HistoryAnswer::Change(Box::new(change()))));
        assert!(hub.response_to(COMMAND, id).is_none());
        if comes_back {
            hub.editor_answers.insert(
                "document/text",
                json!({ "open": true, "dirty": true, "version": 1, "text": "mine\n" }),
            );
            hub.attach(EDITOR, all());
        }
        hub.wait_seconds(4);
        let answer = hub.response_to(COMMAND, id).unwrap();
        match comes_back {
            true => assert!(refusal(answer).contains("unsaved text"), "{answer}"),
            false => assert_eq!(answer["result"]["change"], "c1"),
        }
    }
    let mut closed = restarted(remembered_window());
    assert_eq!(
        undo(&mut closed, change())["result"]["change"],
        "c1",
        "no editor comes back to a closed window"
    );
}

#[test]
fn a_window_that_is_closed_is_remembered_without_its_discovery_files() {
    let mut hub = hub_with_file(OLD, json!({}));
    assert!(!hub.remembered_windows.last().unwrap().discovery.is_empty());
    hub.notify(EDITOR, "detach", json!({}));
    assert!(hub.remembered_windows.last().unwrap().discovery.is_empty());
}

#[test]
fn what_a_closed_workspace_denies_is_neither_undone_nor_listed() {
    let mut hub = restarted(remembered_window());
    hub.workspace = vec![WorkspaceConfig { deny: vec!["a.*".into()], ..WorkspaceConfig::default() }];
    let answer = undo(&mut hub, change());
    assert_eq!(answer["error"]["code"], linkspan_editor_api::errors::DENIED, "{answer}");
    assert_eq!(hub.file(), NEW.as_bytes());
    let entry = |path: &str| {
        serde_json::from_value(json!({
            "review": "r1", "window": "w1", "agent": "x", "dialect": "claude", "path": path, "label": "",
            "ended": { "kind": "withdrawn" }, "proposedAtMs": 0, "endedAtMs": 0, "undoable": false, "undone": false,
        }))
        .unwrap()
    };
    hub.history_answers.push_back(Ok(HistoryAnswer::List(vec![
        entry("/ws/a.txt"),
        entry("/ws/b.txt"),
        entry("/ws/.env"),
    ])));
    let id = hub.request(COMMAND, "history/list", json!({}));
    let entries = &hub.response_to(COMMAND, id).unwrap()["result"]["entries"];
    assert_eq!(entries.as_array().unwrap().iter().map(|e| &e["path"]).collect::<Vec<_>>(), ["/ws/b.txt"]);
}

#[test]
fn what_was_decided_is_shown_unless_its_file_is_denied() {
    let mut hub = restarted(remembered_window());
    hub.workspace = vec![WorkspaceConfig { deny: vec!["a.*".into()], ..WorkspaceConfig::default() }];
    let texts = |path: &str| {
        let shown = json!({ "base": "one\ntwo\n", "text": NEW, "entry": {
            "review": "r1", "window": "w1", "agent": "x", "dialect": "claude", "path": path, "label": "",
            "ended": { "kind": "rejected", "reason": "no" }, "proposedAtMs": 0, "endedAtMs": 0, "undoable": false,
            "undone": false, "comments": [{ "line": 1, "text": "why?" }],
        } });
        HistoryAnswer::Texts(serde_json::from_value(shown).unwrap())
    };
    let mut show = |answer: HistoryAnswer| {
        hub.history_answers.push_back(Ok(answer));
        let id = hub.request(COMMAND, "history/show", json!({ "review": "r1" }));
        hub.response_to(COMMAND, id).unwrap().clone()
    };
    let shown = show(texts("/ws/b.txt"));
    assert_eq!(shown["result"]["entry"]["comments"][0]["text"], "why?", "{shown}");
    assert_eq!(shown["result"]["text"], json!(NEW), "{shown}");
    let unknown = show(HistoryAnswer::Unknown);
    assert!(refusal(&unknown).contains("r1 is not in the history"), "{unknown}");
    assert_eq!(show(texts("/ws/a.txt"))["error"], unknown["error"], "a denied file is not even mentioned");
    let gone = show(HistoryAnswer::TextsGone { review: linkspan_review::ReviewId(1) });
    assert!(refusal(&gone).contains("were dropped"), "{gone}");
    let id = hub.request(COMMAND, "history/show", json!({ "review": "c1" }));
    assert!(refusal(hub.response_to(COMMAND, id).unwrap()).contains("does not name a review"));
    hub.core.reviews.set_largest_show(100);
    hub.history_answers.push_back(Ok(texts("/ws/b.txt")));
    let id = hub.request(COMMAND, "history/show", json!({ "review": "r1" }));
    assert!(refusal(hub.response_to(COMMAND, id).unwrap()).contains("too large"));
}

//! Undo among several editors, with editors and disks that go away in the middle, and after a restart.

use std::collections::BTreeMap;

use linkspan_review::ChangeId;
use serde_json::{Value, json};

use super::desk::{COMMAND, Desk, EDITOR};
use super::past::{OTHER, change, desk, refusal, remembered_window, undo};
use super::{NEW, OLD};
use crate::config::WorkspaceConfig;
use crate::core::{Event, LocalId};
use crate::files::{FileError, WriteError};
use crate::journal::{Found, Remembered, RememberedWindow};

const SECOND: LocalId = LocalId(4);
const CLOSED: fn() -> Value = || json!({ "open": false, "dirty": false });
const OPEN: fn() -> Value = || json!({ "open": true, "dirty": false, "version": 9, "text": NEW });

fn all() -> Value {
    json!({ "documents": true, "edits": true })
}

/// Begins an undo that is not answered at once.
fn begin(desk: &mut Desk) -> i64 {
    desk.past.push_back(Ok(Found::Change(Box::new(change()))));
    desk.ask(COMMAND, "history/undo", json!({ "change": "c1" }))
}

/// The newest request of that method to that connection.
fn asked(desk: &Desk, local: LocalId, method: &str) -> Option<Value> {
    let mut messages = desk.to_locals.iter().rev();
    let found = messages.find(|(to, message)| *to == local && message["method"] == method);
    found.map(|(_, message)| message.clone())
}

fn recorded(desk: &mut Desk) {
    for ticket in std::mem::take(&mut desk.undos_held) {
        desk.event(Event::UndoBegun { ticket, result: Ok((ChangeId(1), ChangeId(2))) });
    }
}

#[test]
fn every_window_that_has_the_file_is_asked_and_the_one_that_has_it_open_writes_it() {
    for dirty in [true, false] {
        let mut desk = desk(NEW.as_bytes(), all());
        desk.editor_answers.insert("document/text", CLOSED());
        desk.attach(SECOND, all());
        let id = begin(&mut desk);
        let mut open = OPEN();
        open["dirty"] = dirty.into();
        let question = asked(&desk, SECOND, "document/text").unwrap();
        assert!(desk.begun.is_empty(), "nothing is begun before all have answered");
        desk.answer(SECOND, &question["id"], open);
        if dirty {
            assert!(refusal(desk.answer_to(COMMAND, id).unwrap()).contains("unsaved text"));
            assert!(desk.begun.is_empty());
        } else {
            let apply = asked(&desk, SECOND, "edits/apply").unwrap();
            assert_eq!(apply["params"]["version"], 9);
            assert!(asked(&desk, EDITOR, "edits/apply").is_none() && desk.writes == 0);
        }
    }
}

#[test]
fn another_window_on_the_folder_that_is_away_may_have_unsaved_text_too() {
    let mut desk = desk(NEW.as_bytes(), json!({}));
    desk.attach(SECOND, all());
    desk.event(Event::LocalClosed { local: SECOND });
    assert!(refusal(&undo(&mut desk, change())).contains("which is away"));
    assert_eq!((desk.file(), desk.writes), (NEW.as_bytes(), 0));
}

#[test]
fn an_editor_lost_while_it_is_asked_is_not_one_without_the_document() {
    let mut desk = desk(NEW.as_bytes(), all());
    let id = begin(&mut desk);
    desk.event(Event::LocalClosed { local: EDITOR });
    assert!(refusal(desk.answer_to(COMMAND, id).unwrap()).contains("which is away"));
    assert_eq!((desk.file(), desk.writes), (NEW.as_bytes(), 0));
}

#[test]
fn an_editor_lost_during_a_decision_may_have_unsaved_text() {
    let mut desk = Desk::new();
    desk.attach(EDITOR, json!({ "reviews": true, "documents": true, "edits": true }));
    desk.event(Event::LocalOpened { local: COMMAND });
    desk.editor_answers.insert("document/text", CLOSED());
    let agent = desk.connect(1, "nexus3");
    desk.propose(agent, 1, NEW);
    desk.editor_answers.clear();
    let decision = desk.decide(COMMAND, "accept");
    desk.event(Event::LocalClosed { local: EDITOR });
    assert_eq!(super::outcome(&desk, COMMAND, decision), "refused");
    assert_eq!((desk.file(), desk.writes), (OLD, 0));
}

#[test]
fn an_editor_lost_once_the_undo_is_recorded_ends_it_with_nothing_changed() {
    for comes_back in [false, true] {
        let mut desk = desk(NEW.as_bytes(), all());
        desk.editor_answers.insert("document/text", OPEN());
        desk.hold_undos = true;
        let id = begin(&mut desk);
        desk.event(Event::LocalClosed { local: EDITOR });
        if comes_back {
            desk.attach(SECOND, all());
        }
        recorded(&mut desk);
        assert!(refusal(desk.answer_to(COMMAND, id).unwrap()).contains("has just gone"));
        assert_eq!((desk.file(), &desk.ended[..]), (NEW.as_bytes(), &[(ChangeId(2), false)][..]));
    }
}

#[test]
fn what_is_being_decided_is_not_undone_at_the_same_time() {
    let (mut desk, agent) = super::desk("nexus3");
    desk.propose(agent, 1, NEW);
    desk.hold_records = true;
    desk.decide(COMMAND, "accept");
    assert!(refusal(&undo(&mut desk, change())).contains("r1, which was just decided"));
    assert!(desk.begun.is_empty());
}

#[test]
fn an_undo_that_nobody_answered_stays_in_doubt_until_the_file_is_asked_about_again() {
    let mut desk = desk(NEW.as_bytes(), all());
    desk.editor_answers.insert("document/text", OPEN());
    let id = begin(&mut desk);
    desk.wait_seconds(30);
    assert!(refusal(desk.answer_to(COMMAND, id).unwrap()).contains("not known"));
    assert_eq!(desk.ended, []);
    desk.files.insert("/ws/a.txt".into(), OLD.to_vec());
    desk.past.push_back(Ok(Found::List(Vec::new())));
    desk.hold_reads = true;
    let list = desk.ask(COMMAND, "history/list", json!({}));
    assert_eq!(desk.questions.len(), 1, "the file comes first");
    desk.let_reads_go();
    assert_eq!(desk.ended, [(ChangeId(2), true)]);
    assert!(desk.answer_to(COMMAND, list).is_some());
}

#[test]
fn an_undo_that_an_editor_may_yet_carry_out_is_not_said_to_be_undone() {
    let mut desk = desk(NEW.as_bytes(), all());
    desk.editor_answers.insert("document/text", OPEN());
    let id = begin(&mut desk);
    desk.wait_seconds(30);
    assert!(refusal(desk.answer_to(COMMAND, id).unwrap()).contains("not known"));
    let look = |desk: &mut Desk| {
        desk.past.push_back(Ok(Found::List(Vec::new())));
        desk.ask(COMMAND, "history/list", json!({}));
    };
    look(&mut desk);
    assert_eq!(desk.ended, [], "the file is as it was, so far");
    assert!(refusal(&undo(&mut desk, change())).contains("another undo"));
    desk.event(Event::LocalClosed { local: EDITOR });
    look(&mut desk);
    assert_eq!(desk.ended, [], "what it was sent before is still on its way to it");
    desk.attach(LocalId(77), all());
    look(&mut desk);
    assert_eq!(desk.ended, [(ChangeId(2), false)]);
}

#[test]
fn a_failed_write_is_judged_by_the_file() {
    let error = FileError::Io { path: "/ws/a.txt".into(), error: "no sync".into() };
    for (hold, expected) in [(NEW.as_bytes(), &[(ChangeId(2), false)][..]), (b"other\n", &[])] {
        let mut desk = desk(NEW.as_bytes(), json!({}));
        desk.restores_fail = Some(WriteError::Failed(error.clone()));
        desk.hold_undos = true;
        let id = begin(&mut desk);
        desk.files.insert("/ws/a.txt".into(), hold.to_vec());
        recorded(&mut desk);
        assert!(refusal(desk.answer_to(COMMAND, id).unwrap()).contains("no sync"));
        assert_eq!(desk.ended, expected);
    }
}

#[test]
fn a_disk_that_does_not_answer_leaves_the_undo_in_doubt_and_the_path_to_itself() {
    let mut desk = desk(NEW.as_bytes(), json!({}));
    desk.hold_restores = true;
    let id = begin(&mut desk);
    let ticket = desk.restoring.unwrap();
    desk.wait_seconds(21);
    let answer = desk.answer_to(COMMAND, id).unwrap();
    assert_eq!(answer["error"]["code"], linkspan_editor_api::errors::TIMEOUT, "{answer}");
    assert_eq!(desk.ended, []);
    desk.hold_restores = false;
    // The disk may yet do it: one change must not be undone twice.
    assert!(refusal(&undo(&mut desk, change())).contains("another undo"));
    desk.event(Event::FileRestored { ticket, result: Err(WriteError::BaseMoved(None)) });
    assert_eq!(undo(&mut desk, change())["result"]["change"], "c1");
    assert_eq!(desk.ended, [(ChangeId(2), false), (ChangeId(3), true)]);
}

#[test]
fn an_undo_is_not_said_to_be_undone_while_the_disk_may_yet_do_it() {
    for reports in [Ok(None), Err(WriteError::BaseMoved(None))] {
        let mut desk = desk(NEW.as_bytes(), json!({}));
        desk.hold_restores = true;
        begin(&mut desk);
        let ticket = desk.restoring.unwrap();
        desk.wait_seconds(21);
        desk.past.push_back(Ok(Found::List(Vec::new())));
        desk.ask(COMMAND, "history/list", json!({}));
        assert_eq!(desk.ended, [], "the file is as it was, so far");
        let done = reports.is_ok();
        desk.event(Event::FileRestored { ticket, result: reports });
        desk.past.push_back(Ok(Found::List(Vec::new())));
        desk.ask(COMMAND, "history/list", json!({}));
        assert_eq!(desk.ended, [(ChangeId(2), done)]);
    }
}

#[test]
fn a_connection_asks_one_thing_about_the_past_at_a_time() {
    let mut desk = desk(NEW.as_bytes(), json!({}));
    let first = desk.ask(COMMAND, "history/list", json!({}));
    let second = desk.ask(COMMAND, "history/list", json!({}));
    assert!(desk.answer_to(COMMAND, first).is_none());
    assert!(refusal(desk.answer_to(COMMAND, second).unwrap()).contains("one at a time"));
    assert_eq!(desk.questions.len(), 1);
    for other in 100..200 {
        desk.event(Event::LocalOpened { local: LocalId(other) });
        desk.ask(LocalId(other), "history/list", json!({}));
    }
    assert_eq!(desk.questions.len(), 64);
}

fn restarted(window: RememberedWindow) -> Desk {
    let windows = vec![window];
    let files = BTreeMap::from([("/ws/a.txt".into(), NEW.as_bytes().to_vec())]);
    let mut desk = Desk::after(Remembered { windows, next_window: 2, ..Remembered::default() }, files);
    desk.event(Event::LocalOpened { local: COMMAND });
    desk.event(Event::LocalOpened { local: OTHER });
    desk
}

#[test]
fn right_after_a_restart_an_undo_waits_for_editors_that_may_come_back() {
    let left = || RememberedWindow { discovery: vec!["/home/me/lock".into()], ..remembered_window() };
    for comes_back in [false, true] {
        let mut desk = restarted(left());
        let id = begin(&mut desk);
        desk.past.push_back(Ok(Found::Change(Box::new(change()))));
        assert!(desk.answer_to(COMMAND, id).is_none());
        if comes_back {
            desk.editor_answers.insert(
                "document/text",
                json!({ "open": true, "dirty": true, "version": 1, "text": "mine\n" }),
            );
            desk.attach(EDITOR, all());
        }
        desk.wait_seconds(4);
        let answer = desk.answer_to(COMMAND, id).unwrap();
        match comes_back {
            true => assert!(refusal(answer).contains("unsaved text"), "{answer}"),
            false => assert_eq!(answer["result"]["change"], "c1"),
        }
    }
    let mut closed = restarted(remembered_window());
    assert_eq!(undo(&mut closed, change())["result"]["change"], "c1", "nobody comes back to what was closed");
}

#[test]
fn a_window_that_is_closed_is_remembered_without_its_discovery_files() {
    let mut desk = desk(OLD, json!({}));
    assert!(!desk.remembered.last().unwrap().discovery.is_empty());
    desk.tell(EDITOR, "detach", json!({}));
    assert!(desk.remembered.last().unwrap().discovery.is_empty());
}

#[test]
fn what_a_closed_workspace_denies_is_neither_undone_nor_listed() {
    let mut desk = restarted(remembered_window());
    desk.workspace = vec![WorkspaceConfig { deny: vec!["a.*".into()], ..WorkspaceConfig::default() }];
    let answer = undo(&mut desk, change());
    assert_eq!(answer["error"]["code"], linkspan_editor_api::errors::DENIED, "{answer}");
    assert_eq!(desk.file(), NEW.as_bytes());
    let entry = |path: &str| {
        serde_json::from_value(json!({
            "review": "r1", "window": "w1", "agent": "x", "dialect": "claude", "path": path, "label": "",
            "ended": { "kind": "withdrawn" }, "proposedAtMs": 0, "endedAtMs": 0, "undoable": false, "undone": false,
        }))
        .unwrap()
    };
    desk.past.push_back(Ok(Found::List(vec![entry("/ws/a.txt"), entry("/ws/b.txt"), entry("/ws/.env")])));
    let id = desk.ask(COMMAND, "history/list", json!({}));
    let entries = &desk.answer_to(COMMAND, id).unwrap()["result"]["entries"];
    assert_eq!(entries.as_array().unwrap().iter().map(|e| &e["path"]).collect::<Vec<_>>(), ["/ws/b.txt"]);
}

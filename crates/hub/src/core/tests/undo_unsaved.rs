//! Undos that an editor has made in its document, or may have made, while the file still holds the change.

use std::collections::BTreeMap;

use linkspan_review::ChangeId;
use serde_json::{Value, json};

use super::support::{COMMAND, EDITOR};
use super::undo_checks::{begun, change, hub_with_file, refusal, remembered_window, undo};
use super::{NEW, OLD};
use crate::config::Config;
use crate::core::contract::{HistoryAnswer, RememberedState, RememberedWindow};
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

fn all() -> Value {
    json!({ "documents": true, "edits": true })
}

fn document(dirty: bool, text: &[u8]) -> Value {
    json!({ "open": true, "dirty": dirty, "version": 9, "text": str::from_utf8(text).unwrap() })
}

/// Somebody asks what was done in the past.
fn list(hub: &mut CoreHarness, from: ConnectionId) {
    hub.history_answers.push_back(Ok(HistoryAnswer::List(Vec::new())));
    let list = hub.request(from, "history/list", json!({}));
    assert!(hub.response_to(from, list).is_some(), "nobody waits for an editor that is away");
}

/// Its editor has put the text before back into the document, and could not save it.
fn undone_without_being_saved() -> CoreHarness {
    let mut hub = hub_with_file(NEW.as_bytes(), all());
    hub.editor_answers.insert("document/text", document(false, NEW.as_bytes()));
    hub.editor_answers.insert("edits/apply", json!({ "applied": true, "saved": false, "version": 10 }));
    let answer = undo(&mut hub, change());
    assert!(refusal(&answer).contains("could not save it: save it there"), "{answer}");
    hub.editor_answers.insert("document/text", document(true, OLD));
    list(&mut hub, COMMAND);
    assert_eq!(hub.ended_undos, [], "its user may save it");
    hub
}

#[test]
fn an_undo_that_its_editor_could_not_save_is_done_once_its_user_has_saved_it() {
    let mut hub = undone_without_being_saved();
    hub.editor_answers.insert("document/text", document(false, OLD));
    hub.files.insert("/ws/a.txt".into(), OLD.to_vec());
    list(&mut hub, COMMAND);
    assert_eq!(hub.ended_undos, [(ChangeId(2), true)]);
}

#[test]
fn an_undo_that_its_editor_could_not_save_is_not_done_once_its_user_has_reverted_it() {
    let mut hub = undone_without_being_saved();
    hub.editor_answers.insert("document/text", document(false, NEW.as_bytes()));
    list(&mut hub, COMMAND);
    assert_eq!(hub.ended_undos, [(ChangeId(2), false)]);
}

#[test]
fn an_undo_that_its_editor_could_not_save_stays_open_while_the_editor_is_away() {
    let mut hub = undone_without_being_saved();
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    list(&mut hub, COMMAND);
    assert_eq!(hub.ended_undos, []);
}

/// The hub was killed after the undo began, and its editor is not back.
fn killed_amid_an_undo() -> CoreHarness {
    let window = RememberedWindow { discovery: vec!["/home/me/lock".into()], ..remembered_window() };
    let remembered =
        RememberedState { undos: vec![begun()], windows: vec![window], ..RememberedState::default() };
    let files = BTreeMap::from([("/ws/a.txt".into(), NEW.as_bytes().to_vec())]);
    let mut hub = CoreHarness::restarted(remembered, files);
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    hub
}

#[test]
fn an_editor_that_takes_long_to_come_back_may_still_do_what_the_hub_before_asked() {
    let mut hub = killed_amid_an_undo();
    hub.wait_seconds(20);
    list(&mut hub, COMMAND);
    assert_eq!(hub.ended_undos, []);
    let answer = undo(&mut hub, change());
    assert!(refusal(&answer).contains("in an editor that is not back yet"), "{answer}");
    // The machine sleeps, and the editor with it.
    hub.now_ms += 3_600_000;
    hub.event(Event::Tick);
    list(&mut hub, COMMAND);
    assert_eq!(hub.ended_undos, []);
    hub.files.insert("/ws/a.txt".into(), OLD.to_vec());
    hub.editor_answers.insert("document/text", document(false, OLD));
    hub.attach(EDITOR, all());
    list(&mut hub, COMMAND);
    assert_eq!(hub.ended_undos, [(ChangeId(2), true)]);
}

#[test]
fn an_editor_that_stays_away_does_nothing_any_more() {
    let mut hub = killed_amid_an_undo();
    hub.wait_seconds(Config::default().window_grace_seconds);
    list(&mut hub, COMMAND);
    assert_eq!(hub.ended_undos, [(ChangeId(2), false)]);
    let answer = undo(&mut hub, change());
    assert_eq!(answer["result"]["change"], "c1", "{answer}");
}

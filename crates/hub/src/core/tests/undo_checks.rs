//! The hub as the judge of an undo: which files it touches, and which it leaves alone.

use std::collections::BTreeMap;
use std::path::PathBuf;

use linkspan_review::{ChangeId, Digest, ReviewId, WindowId, Writer};
use serde_json::{Value, json};

use super::support::{COMMAND, EDITOR};
use super::{NEW, OLD};
use crate::core::contract::{
    BegunUndo, ChangeSelector, HistoryAnswer, HistoryQuery, RecordedChange, RememberedState, RememberedWindow,
};
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

pub(super) const OTHER: ConnectionId = ConnectionId(3);

/// `c1` made `NEW` of `OLD`.
pub(super) fn change() -> RecordedChange {
    RecordedChange {
        id: Some(ChangeId(1)),
        review: ReviewId(1),
        writer: Writer::Hub,
        window: WindowId(1),
        path: "/ws/a.txt".into(),
        before: Some(OLD.to_vec()),
        after: Some(NEW.into()),
        mode: None,
        undone_by: None,
    }
}

/// The file holds `now`; the editor can do all this.
pub(super) fn hub_with_file(now: &[u8], capabilities: Value) -> CoreHarness {
    let mut hub = CoreHarness::new();
    hub.files.insert("/ws/a.txt".into(), now.to_vec());
    hub.attach(EDITOR, capabilities);
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    hub.event(Event::ConnectionOpened { connection: OTHER });
    hub
}

pub(super) fn undo(hub: &mut CoreHarness, change: RecordedChange) -> Value {
    hub.history_answers.push_back(Ok(HistoryAnswer::Change(Box::new(change))));
    let id = hub.request(COMMAND, "history/undo", json!({ "change": "c1" }));
    hub.response_to(COMMAND, id).unwrap().clone()
}

/// The window of `change`, closed properly.
pub(super) fn remembered_window() -> RememberedWindow {
    RememberedWindow {
        id: WindowId(1),
        editor: "Editor".into(),
        folders: vec!["/ws".into()],
        real_folders: vec!["/ws".into()],
        key: String::new(),
        port: 1,
        token: "t".into(),
        discovery: Vec::new(),
    }
}

pub(super) fn refusal(answer: &Value) -> &str {
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("not refused: {answer}"))
}

#[test]
fn a_file_that_holds_what_the_change_left_gets_back_what_it_held() {
    let mut hub = hub_with_file(NEW.as_bytes(), json!({}));
    let answer = undo(&mut hub, change());
    assert_eq!(answer["result"]["redo"], "c2", "{answer}");
    assert_eq!(hub.file(), OLD);
    assert_eq!((hub.begun_undos.len(), &hub.ended_undos[..]), (1, &[(ChangeId(2), true)][..]));
}

#[test]
fn a_file_that_changed_since_is_left_alone_and_nothing_is_recorded() {
    let mut hub = hub_with_file(b"mine\n", json!({}));
    let answer = undo(&mut hub, change());
    assert!(refusal(&answer).contains("is not what c1 made it"), "{answer}");
    assert_eq!(hub.file(), b"mine\n");
    assert!(hub.begun_undos.is_empty() && hub.writes == 0);
}

#[test]
fn a_write_of_an_agent_without_the_final_newline_is_undone_and_redone_as_it_was() {
    let without = NEW.trim_end().as_bytes();
    let written = RecordedChange { id: None, writer: Writer::Agent, ..change() };
    let mut hub = hub_with_file(without, json!({}));
    let answer = undo(&mut hub, written.clone());
    assert_eq!(answer["result"]["redo"], "c2", "{answer}");
    assert_eq!((hub.file(), hub.writes), (OLD, 1));
    assert_eq!(hub.begun_undos[0].after.as_deref(), Some(without), "a redo gives what the agent wrote");
    let mut hub = hub_with_file(without, json!({}));
    let answer = undo(&mut hub, change());
    assert!(refusal(&answer).contains("is not what c1 made it"), "we write every byte: {answer}");
    // Not written at all: only the newline would have been new.
    let added = RecordedChange { before: Some(without.to_vec()), ..written };
    let mut hub = hub_with_file(without, json!({}));
    let answer = undo(&mut hub, added);
    assert!(refusal(&answer).contains("it was never written"), "{answer}");
}

#[test]
fn nothing_is_written_before_the_undo_is_recorded() {
    let mut hub = hub_with_file(NEW.as_bytes(), json!({}));
    hub.hold_records = true;
    let answer = undo(&mut hub, change());
    assert!(refusal(&answer).contains("nothing was changed"), "{answer}");
    assert_eq!((hub.file(), hub.writes), (NEW.as_bytes(), 0));
}

#[test]
fn a_new_file_is_removed_unless_it_is_open() {
    let new = RecordedChange { before: None, ..change() };
    let mut closed = hub_with_file(NEW.as_bytes(), json!({}));
    assert_eq!(undo(&mut closed, new.clone())["result"]["removedFile"], true);
    assert!(closed.files.is_empty());
    assert_eq!(closed.removed_mode, Some(0o750));
    let mut open = hub_with_file(NEW.as_bytes(), json!({ "documents": true, "edits": true }));
    open.editor_answers
        .insert("document/text", json!({ "open": true, "dirty": false, "version": 1, "text": NEW }));
    assert!(refusal(&undo(&mut open, new)).contains("close it in Editor first"));
    assert_eq!(open.file(), NEW.as_bytes());
}

#[test]
fn unsaved_text_is_never_touched() {
    let mut hub = hub_with_file(NEW.as_bytes(), json!({ "documents": true, "edits": true }));
    hub.editor_answers
        .insert("document/text", json!({ "open": true, "dirty": true, "version": 1, "text": NEW }));
    assert!(refusal(&undo(&mut hub, change())).contains("unsaved text in Editor"));
    assert!(hub.requests_to_editor("edits/apply").is_empty() && hub.begun_undos.is_empty());
}

#[test]
fn an_open_document_is_changed_by_its_editor_and_the_file_is_looked_at_afterwards() {
    let open = json!({ "open": true, "dirty": false, "version": 4, "text": NEW });
    // What holds neither the one nor the other may yet turn out to be undone.
    for (saved, holds, expected, ended) in [
        (true, OLD, None, &[(ChangeId(2), true)][..]),
        (true, b"formatted\n", Some("did not save"), &[]),
        (false, NEW.as_bytes(), Some("save it there"), &[]),
    ] {
        let mut hub = hub_with_file(NEW.as_bytes(), json!({ "documents": true, "edits": true }));
        hub.editor_answers.insert("document/text", open.clone());
        hub.history_answers.push_back(Ok(HistoryAnswer::Change(Box::new(change()))));
        let id = hub.request(COMMAND, "history/undo", json!({ "change": "c1" }));
        let apply = hub.requests_to_editor("edits/apply")[0].clone();
        assert_eq!((&apply["params"]["version"], &apply["params"]["save"]), (&json!(4), &json!(true)));
        assert_eq!(apply["params"]["edits"]["text"].as_str().unwrap().as_bytes(), OLD);
        hub.files.insert("/ws/a.txt".into(), holds.to_vec());
        hub.respond(EDITOR, &apply["id"], json!({ "applied": true, "saved": saved }));
        let answer = hub.response_to(COMMAND, id).unwrap();
        match expected {
            None => assert_eq!(answer["result"]["change"], "c1"),
            Some(words) => assert!(refusal(answer).contains(words), "{answer}"),
        }
        assert_eq!((&hub.ended_undos[..], hub.writes), (ended, 0));
    }
}

#[test]
fn an_editor_that_is_away_may_have_unsaved_text() {
    let mut hub = hub_with_file(NEW.as_bytes(), json!({ "documents": true, "edits": true }));
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    assert!(refusal(&undo(&mut hub, change())).contains("which is away"));
    assert_eq!(hub.file(), NEW.as_bytes());
}

#[test]
fn of_two_undos_at_once_one_is_refused() {
    let mut hub = hub_with_file(NEW.as_bytes(), json!({}));
    hub.hold_reads = true;
    hub.history_answers.extend([0, 1].map(|_| Ok(HistoryAnswer::Change(Box::new(change())))));
    let first = hub.request(COMMAND, "history/undo", json!({ "change": "c1" }));
    let second = hub.request(OTHER, "history/undo", json!({ "change": "r1" }));
    assert!(refusal(hub.response_to(OTHER, second).unwrap()).contains("another undo"));
    hub.release_reads();
    assert_eq!(hub.response_to(COMMAND, first).unwrap()["result"]["change"], "c1");
    assert_eq!((hub.file(), hub.writes), (OLD, 1));
}

#[test]
fn an_undo_of_an_undone_or_unknown_or_unwritten_change_says_so() {
    let mut hub = hub_with_file(NEW.as_bytes(), json!({}));
    let undone = RecordedChange { undone_by: Some(ChangeId(9)), ..change() };
    assert!(refusal(&undo(&mut hub, undone)).contains("linkspan undo c9"));
    for (found, name, asked) in [
        (HistoryAnswer::Unknown, "last", ChangeSelector::Last),
        (HistoryAnswer::Unknown, "c7", ChangeSelector::Change(ChangeId(7))),
        (
            HistoryAnswer::NothingWritten { review: ReviewId(4), verdict: "rejected".into() },
            "r4",
            ChangeSelector::Review(ReviewId(4)),
        ),
    ] {
        hub.history_answers.push_back(Ok(found));
        let id = hub.request(COMMAND, "history/undo", json!({ "change": name }));
        let answer = hub.response_to(COMMAND, id).unwrap();
        assert_eq!(answer["error"]["code"], linkspan_editor_api::errors::UNKNOWN_CHANGE, "{answer}");
        assert_eq!(hub.history_queries.last(), Some(&HistoryQuery::Change(asked)));
    }
    let id = hub.request(COMMAND, "history/undo", json!({ "change": "../etc" }));
    assert!(refusal(hub.response_to(COMMAND, id).unwrap()).contains("there is no change"));
    assert_eq!((hub.file(), hub.writes), (NEW.as_bytes(), 0));
}

pub(super) fn begun() -> BegunUndo {
    BegunUndo {
        id: ChangeId(2),
        review: ReviewId(1),
        window: WindowId(1),
        path: "/ws/a.txt".into(),
        before: Some(Digest::of(NEW.as_bytes())),
        after: Some(Digest::of(OLD)),
    }
}

#[test]
fn an_editor_that_may_come_back_may_still_do_what_the_hub_before_asked() {
    let window = RememberedWindow { discovery: vec!["/home/me/lock".into()], ..remembered_window() };
    let remembered =
        RememberedState { undos: vec![begun()], windows: vec![window], ..RememberedState::default() };
    let files = BTreeMap::from([("/ws/a.txt".into(), NEW.as_bytes().to_vec())]);
    let mut hub = CoreHarness::restarted(remembered, files);
    hub.wait_seconds(1);
    assert_eq!(hub.ended_undos, []);
    hub.files.insert("/ws/a.txt".into(), OLD.to_vec());
    hub.wait_seconds(3);
    assert_eq!(hub.ended_undos, [(ChangeId(2), true)]);
}

#[test]
fn an_undo_of_an_earlier_hub_is_resolved_by_what_the_file_holds() {
    for (holds, done) in
        [(Some(OLD), Some(true)), (Some(b"one\n2\n"), Some(false)), (Some(b"mine\n"), None), (None, None)]
    {
        let windows = vec![remembered_window()];
        let remembered = RememberedState { undos: vec![begun()], windows, ..RememberedState::default() };
        let files: BTreeMap<PathBuf, Vec<u8>> =
            holds.map(|bytes| ("/ws/a.txt".into(), bytes.to_vec())).into_iter().collect();
        let hub = CoreHarness::restarted(remembered, files);
        let ended: Vec<_> = done.map(|done| (ChangeId(2), done)).into_iter().collect();
        assert_eq!((&hub.ended_undos, hub.writes), (&ended, 0), "{holds:?}");
        assert_eq!(hub.swept, [PathBuf::from("/ws/a.txt")]);
    }
}

#[test]
fn a_list_asks_for_no_more_than_can_be_listed() {
    let mut hub = hub_with_file(NEW.as_bytes(), json!({}));
    hub.history_answers.push_back(Ok(HistoryAnswer::List(Vec::new())));
    let id = hub.request(
        COMMAND,
        "history/list",
        json!({ "limit": 4_000_000_000_u32, "path": "/ws", "window": "w1" }),
    );
    assert_eq!(hub.response_to(COMMAND, id).unwrap()["result"], json!({ "entries": [] }));
    let HistoryQuery::List(filter) = &hub.history_queries[0] else { panic!("no list was asked for") };
    assert_eq!((filter.limit, filter.window), (1000, Some(WindowId(1))));
    let id = hub.request(COMMAND, "history/list", json!({ "window": "the left one" }));
    assert!(refusal(hub.response_to(COMMAND, id).unwrap()).contains("not the id of a window"));
}

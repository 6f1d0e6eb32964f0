//! The hub as the judge of an undo: which files it touches, and which it leaves alone.

use std::collections::BTreeMap;
use std::path::PathBuf;

use linkspan_review::{ChangeId, Digest, ReviewId, WindowId, Writer};
use serde_json::{Value, json};

use super::desk::{COMMAND, Desk, EDITOR};
use super::{NEW, OLD};
use crate::core::{Event, LocalId};
use crate::journal::{BegunUndo, Change, Found, Name, Question, Remembered, RememberedWindow};

pub(super) const OTHER: LocalId = LocalId(3);

/// `c1` made `NEW` of `OLD`.
pub(super) fn change() -> Change {
    Change {
        id: Some(ChangeId(1)),
        review: ReviewId(1),
        writer: Writer::Editor,
        window: WindowId(1),
        path: "/ws/a.txt".into(),
        before: Some(OLD.to_vec()),
        after: Some(NEW.into()),
        mode: None,
        undone_by: None,
    }
}

/// The file holds `now`; the editor can do all this.
pub(super) fn desk(now: &[u8], capabilities: Value) -> Desk {
    let mut desk = Desk::new();
    desk.files.insert("/ws/a.txt".into(), now.to_vec());
    desk.attach(EDITOR, capabilities);
    desk.event(Event::LocalOpened { local: COMMAND });
    desk.event(Event::LocalOpened { local: OTHER });
    desk
}

pub(super) fn undo(desk: &mut Desk, change: Change) -> Value {
    desk.past.push_back(Ok(Found::Change(Box::new(change))));
    let id = desk.ask(COMMAND, "history/undo", json!({ "change": "c1" }));
    desk.answer_to(COMMAND, id).unwrap().clone()
}

/// The window of `change`, closed properly.
pub(super) fn remembered_window() -> RememberedWindow {
    RememberedWindow {
        id: WindowId(1),
        editor: "Desk".into(),
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
    let mut desk = desk(NEW.as_bytes(), json!({}));
    let answer = undo(&mut desk, change());
    assert_eq!(answer["result"]["redo"], "c2", "{answer}");
    assert_eq!(desk.file(), OLD);
    assert_eq!((desk.begun.len(), &desk.ended[..]), (1, &[(ChangeId(2), true)][..]));
}

#[test]
fn a_file_that_changed_since_is_left_alone_and_the_journal_hears_nothing() {
    let mut desk = desk(b"mine\n", json!({}));
    let answer = undo(&mut desk, change());
    assert!(refusal(&answer).contains("is not what c1 made it"), "{answer}");
    assert_eq!(desk.file(), b"mine\n");
    assert!(desk.begun.is_empty() && desk.writes == 0);
}

#[test]
fn what_an_agent_wrote_without_the_final_newline_is_taken_back_and_put_in_again_as_it_was() {
    let without = NEW.trim_end().as_bytes();
    let written = Change { id: None, writer: Writer::Agent, ..change() };
    let mut desk = desk(without, json!({}));
    let answer = undo(&mut desk, written.clone());
    assert_eq!(answer["result"]["redo"], "c2", "{answer}");
    assert_eq!((desk.file(), desk.writes), (OLD, 1));
    assert_eq!(desk.begun[0].after.as_deref(), Some(without), "a redo gives what the agent wrote");
    let mut desk = super::past::desk(without, json!({}));
    let answer = undo(&mut desk, change());
    assert!(refusal(&answer).contains("is not what c1 made it"), "we write every byte: {answer}");
    // Not written at all: only the newline would have been new.
    let added = Change { before: Some(without.to_vec()), ..written };
    let mut desk = super::past::desk(without, json!({}));
    let answer = undo(&mut desk, added);
    assert!(refusal(&answer).contains("it was never written"), "{answer}");
}

#[test]
fn nothing_is_written_before_the_undo_is_recorded() {
    let mut desk = desk(NEW.as_bytes(), json!({}));
    desk.hold_records = true;
    let answer = undo(&mut desk, change());
    assert!(refusal(&answer).contains("nothing was changed"), "{answer}");
    assert_eq!((desk.file(), desk.writes), (NEW.as_bytes(), 0));
}

#[test]
fn a_new_file_is_removed_unless_it_is_open() {
    let new = Change { before: None, ..change() };
    let mut closed = desk(NEW.as_bytes(), json!({}));
    assert_eq!(undo(&mut closed, new.clone())["result"]["removedFile"], true);
    assert!(closed.files.is_empty());
    assert_eq!(closed.removed_mode, Some(0o750));
    let mut open = desk(NEW.as_bytes(), json!({ "documents": true, "edits": true }));
    open.editor_answers
        .insert("document/text", json!({ "open": true, "dirty": false, "version": 1, "text": NEW }));
    assert!(refusal(&undo(&mut open, new)).contains("close it in Desk first"));
    assert_eq!(open.file(), NEW.as_bytes());
}

#[test]
fn unsaved_text_is_never_touched() {
    let mut desk = desk(NEW.as_bytes(), json!({ "documents": true, "edits": true }));
    desk.editor_answers
        .insert("document/text", json!({ "open": true, "dirty": true, "version": 1, "text": NEW }));
    assert!(refusal(&undo(&mut desk, change())).contains("unsaved text in Desk"));
    assert!(desk.asked_of_editor("edits/apply").is_empty() && desk.begun.is_empty());
}

#[test]
fn an_open_document_is_changed_by_its_editor_and_the_file_is_looked_at_afterwards() {
    let open = json!({ "open": true, "dirty": false, "version": 4, "text": NEW });
    // What holds neither the one nor the other may yet turn out to be undone.
    for (saved, holds, expected, ended) in [
        (true, OLD, None, &[(ChangeId(2), true)][..]),
        (true, b"formatted\n", Some("did not save"), &[]),
        (false, NEW.as_bytes(), Some("save it there"), &[(ChangeId(2), false)]),
    ] {
        let mut desk = desk(NEW.as_bytes(), json!({ "documents": true, "edits": true }));
        desk.editor_answers.insert("document/text", open.clone());
        desk.past.push_back(Ok(Found::Change(Box::new(change()))));
        let id = desk.ask(COMMAND, "history/undo", json!({ "change": "c1" }));
        let apply = desk.asked_of_editor("edits/apply")[0].clone();
        assert_eq!((&apply["params"]["version"], &apply["params"]["save"]), (&json!(4), &json!(true)));
        assert_eq!(apply["params"]["edits"]["text"].as_str().unwrap().as_bytes(), OLD);
        desk.files.insert("/ws/a.txt".into(), holds.to_vec());
        desk.answer(EDITOR, &apply["id"], json!({ "applied": true, "saved": saved }));
        let answer = desk.answer_to(COMMAND, id).unwrap();
        match expected {
            None => assert_eq!(answer["result"]["change"], "c1"),
            Some(words) => assert!(refusal(answer).contains(words), "{answer}"),
        }
        assert_eq!((&desk.ended[..], desk.writes), (ended, 0));
    }
}

#[test]
fn an_editor_that_is_away_may_have_unsaved_text() {
    let mut desk = desk(NEW.as_bytes(), json!({ "documents": true, "edits": true }));
    desk.event(Event::LocalClosed { local: EDITOR });
    assert!(refusal(&undo(&mut desk, change())).contains("which is away"));
    assert_eq!(desk.file(), NEW.as_bytes());
}

#[test]
fn of_two_undos_at_once_one_is_told_to_wait() {
    let mut desk = desk(NEW.as_bytes(), json!({}));
    desk.hold_reads = true;
    desk.past.extend([0, 1].map(|_| Ok(Found::Change(Box::new(change())))));
    let first = desk.ask(COMMAND, "history/undo", json!({ "change": "c1" }));
    let second = desk.ask(OTHER, "history/undo", json!({ "change": "r1" }));
    assert!(refusal(desk.answer_to(OTHER, second).unwrap()).contains("another undo"));
    desk.let_reads_go();
    assert_eq!(desk.answer_to(COMMAND, first).unwrap()["result"]["change"], "c1");
    assert_eq!((desk.file(), desk.writes), (OLD, 1));
}

#[test]
fn what_is_undone_already_or_unknown_or_was_never_written_says_so() {
    let mut desk = desk(NEW.as_bytes(), json!({}));
    let undone = Change { undone_by: Some(ChangeId(9)), ..change() };
    assert!(refusal(&undo(&mut desk, undone)).contains("linkspan undo c9"));
    for (found, name, asked) in [
        (Found::Unknown, "last", Name::Last),
        (Found::Unknown, "c7", Name::Change(ChangeId(7))),
        (
            Found::NothingWritten { review: ReviewId(4), verdict: "rejected".into() },
            "r4",
            Name::Review(ReviewId(4)),
        ),
    ] {
        desk.past.push_back(Ok(found));
        let id = desk.ask(COMMAND, "history/undo", json!({ "change": name }));
        let answer = desk.answer_to(COMMAND, id).unwrap();
        assert_eq!(answer["error"]["code"], linkspan_editor_api::errors::UNKNOWN_CHANGE, "{answer}");
        assert_eq!(desk.questions.last(), Some(&Question::Change(asked)));
    }
    let id = desk.ask(COMMAND, "history/undo", json!({ "change": "../etc" }));
    assert!(refusal(desk.answer_to(COMMAND, id).unwrap()).contains("names no change"));
    assert_eq!((desk.file(), desk.writes), (NEW.as_bytes(), 0));
}

fn begun() -> BegunUndo {
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
fn an_editor_that_may_come_back_may_yet_do_what_the_hub_before_told_it() {
    let window = RememberedWindow { discovery: vec!["/home/me/lock".into()], ..remembered_window() };
    let remembered = Remembered { undos: vec![begun()], windows: vec![window], ..Remembered::default() };
    let files = BTreeMap::from([("/ws/a.txt".into(), NEW.as_bytes().to_vec())]);
    let mut desk = Desk::after(remembered, files);
    desk.wait_seconds(1);
    assert_eq!(desk.ended, []);
    desk.files.insert("/ws/a.txt".into(), OLD.to_vec());
    desk.wait_seconds(3);
    assert_eq!(desk.ended, [(ChangeId(2), true)]);
}

#[test]
fn an_undo_of_an_earlier_life_is_settled_by_what_the_file_holds() {
    for (holds, done) in
        [(Some(OLD), Some(true)), (Some(b"one\n2\n"), Some(false)), (Some(b"mine\n"), None), (None, None)]
    {
        let windows = vec![remembered_window()];
        let remembered = Remembered { undos: vec![begun()], windows, ..Remembered::default() };
        let files: BTreeMap<PathBuf, Vec<u8>> =
            holds.map(|bytes| ("/ws/a.txt".into(), bytes.to_vec())).into_iter().collect();
        let desk = Desk::after(remembered, files);
        let ended: Vec<_> = done.map(|done| (ChangeId(2), done)).into_iter().collect();
        assert_eq!((&desk.ended, desk.writes), (&ended, 0), "{holds:?}");
        assert_eq!(desk.swept, [PathBuf::from("/ws/a.txt")]);
    }
}

#[test]
fn a_list_asks_for_no_more_than_can_be_listed() {
    let mut desk = desk(NEW.as_bytes(), json!({}));
    desk.past.push_back(Ok(Found::List(Vec::new())));
    let id = desk.ask(
        COMMAND,
        "history/list",
        json!({ "limit": 4_000_000_000_u32, "path": "/ws", "window": "w1" }),
    );
    assert_eq!(desk.answer_to(COMMAND, id).unwrap()["result"], json!({ "entries": [] }));
    let Question::List(filter) = &desk.questions[0] else { panic!("no list was asked for") };
    assert_eq!((filter.limit, filter.window), (1000, Some(WindowId(1))));
    let id = desk.ask(COMMAND, "history/list", json!({ "window": "the left one" }));
    assert!(refusal(desk.answer_to(COMMAND, id).unwrap()).contains("no window's id"));
}

//! Qwen Code, asked in `PermissionRequest`; its model hears the rest after the tool.

use std::fs;

use serde_json::json;

use super::{
    AgentSetup, BEFORE, EDITED, FIRST_HUNK, HookSession, PROPOSED, is_decided_in_the_terminal, tool, words,
};
use crate::support::model::ModelText;
use crate::support::real_agent::EditorProtocol;
use crate::support::{RealAgent, Turn};

const QWEN: AgentSetup =
    AgentSetup { id: "qwen", start: RealAgent::qwen, calls, question: ("Apply this change?", "\r") };

fn calls(path: &str) -> Vec<Turn> {
    let change = json!({ "file_path": path, "old_string": BEFORE, "new_string": PROPOSED });
    vec![Turn::calls("read_file", json!({ "file_path": path })), Turn::calls("edit", change)]
}

#[test]
fn an_accepted_edit_is_written() {
    let mut session = HookSession::new(&QWEN);
    let shown = session.shown();
    session.editor.accept(&shown);
    assert_eq!(session.told(), [updated(&session.path, PROPOSED, "")]);
    session.is_written(PROPOSED, "all");
}

#[test]
fn a_comment_on_an_accepted_edit_reaches_the_model() {
    let mut session = HookSession::new(&QWEN);
    let shown = session.shown();
    session.accepts_with_a_comment(&shown);
    let words = words::commented(&session.path);
    assert_eq!(session.told(), [updated(&session.path, PROPOSED, &words)]);
    session.is_written(PROPOSED, "all");
}

#[test]
fn one_hunk_of_two_is_written_and_the_model_is_told_which() {
    let mut session = HookSession::new(&QWEN);
    let shown = session.shown();
    session.takes_the_first_hunk(&shown);
    let words = words::first_hunk(&session.path);
    assert_eq!(session.told(), [updated(&session.path, FIRST_HUNK, &words)]);
    session.is_written(FIRST_HUNK, "some");
}

#[test]
fn an_edited_text_is_written_and_the_model_is_told() {
    let mut session = HookSession::new(&QWEN);
    let shown = session.shown();
    session.accepts_an_edited_text(&shown);
    let words = words::edited(&session.path);
    assert_eq!(session.told(), [updated(&session.path, EDITED, &words)]);
    session.is_written(EDITED, "edited");
}

#[test]
fn a_rejection_reaches_the_model_with_its_reason_and_comments() {
    let mut session = HookSession::new(&QWEN);
    let shown = session.shown();
    session.rejects(&shown);
    assert_eq!(session.told(), [tool(words::rejected(&session.path))]);
    session.is_unwritten("rejected");
}

#[test]
fn a_cancelled_edit_is_withdrawn() {
    let mut session = HookSession::new(&QWEN);
    let shown = session.shown();
    session.agent.tty.types("\u{1b}");
    session.is_withdrawn(&shown);
}

#[test]
fn a_killed_hub_asks_again() {
    let mut session = HookSession::new(&QWEN);
    let shown = session.survives_a_killed_hub();
    session.takes_the_first_hunk(&shown);
    let words = words::first_hunk(&session.path);
    assert_eq!(session.told(), [updated(&session.path, FIRST_HUNK, &words)]);
    session.is_written(FIRST_HUNK, "some");
}

#[test]
fn with_the_editor_protocol_the_user_is_asked_once() {
    let mut session = HookSession::with(&QWEN, EditorProtocol::On);
    let shown = session.shown();
    session.takes_the_first_hunk(&shown);
    let words = words::first_hunk(&session.path);
    assert_eq!(session.told(), [updated(&session.path, FIRST_HUNK, &words)]);
    session.is_written(FIRST_HUNK, "some");
}

#[test]
fn without_a_window_the_terminal_asks_as_ever() {
    let (path, told) = is_decided_in_the_terminal(&QWEN);
    assert_eq!(told, [updated(&path, PROPOSED, "")]);
}

/// Qwen takes a limit of 1000 or more for milliseconds. It ends the hook with a signal, and asks in the terminal.
#[test]
fn after_its_time_limit_the_review_is_withdrawn_and_the_terminal_asks() {
    let mut session = HookSession::prepared(&QWEN, EditorProtocol::Off, |world| {
        let settings = world.home().join(".qwen/settings.json");
        let text = fs::read_to_string(&settings).unwrap();
        assert!(text.contains("86400000"), "{text}");
        fs::write(&settings, text.replace("86400000", "3600")).unwrap();
    });
    let shown = session.shown();
    session.agent.answers("Apply this change?", "\r");
    assert_eq!(session.told(), [updated(&session.path, PROPOSED, "")]);
    session.editor.hidden(&shown.review);
    assert_eq!(session.world.read_text("a.txt"), PROPOSED);
    assert_eq!(session.only_entry()["ended"]["kind"], "withdrawn");
}

/// It shows the model only the lines around the change.
fn updated(path: &str, text: &str, words: &str) -> ModelText {
    let (last, shown) = match text {
        FIRST_HUNK => (6, "one\n2\nthree\nfour\nfive\nsix"),
        whole => (10, whole),
    };
    let rest = if words.is_empty() { String::new() } else { format!("\n\n{words}") };
    tool(format!(
        "The file: {path} has been updated. Showing lines 1-{last} of 10 from the edited file:\n\n---\n\n{shown}{rest}"
    ))
}

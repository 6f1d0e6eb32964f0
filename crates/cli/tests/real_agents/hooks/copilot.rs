//! Copilot CLI, asked in `preToolUse` and again in `permissionRequest`, which is answered from the first decision.

use serde_json::json;

use super::{
    AgentSetup, BEFORE, EDITED, FIRST_HUNK, HookSession, PROPOSED, is_decided_in_the_terminal, tool, words,
};
use crate::support::model::{ModelText, Role};
use crate::support::real_agent::EditorProtocol;
use crate::support::{RealAgent, Turn};

const COPILOT: AgentSetup =
    AgentSetup { id: "copilot", start: RealAgent::copilot, calls, question: ("Do you want to edit", "\r") };

fn calls(path: &str) -> Vec<Turn> {
    let change = json!({ "path": path, "old_str": BEFORE, "new_str": PROPOSED });
    vec![Turn::calls("view", json!({ "path": path })), Turn::calls("edit", change)]
}

#[test]
fn an_accepted_edit_is_written_without_a_second_question() {
    let mut session = HookSession::new(&COPILOT);
    let shown = session.shown();
    session.editor.accept(&shown);
    assert_eq!(session.told(), [updated(&session.path)]);
    session.is_written(PROPOSED, "all");
}

#[test]
fn a_comment_on_an_accepted_edit_reaches_the_model() {
    let mut session = HookSession::new(&COPILOT);
    let shown = session.shown();
    session.accepts_with_a_comment(&shown);
    assert_eq!(session.told(), [updated(&session.path), context(words::commented(&session.path))]);
    session.is_written(PROPOSED, "all");
}

#[test]
fn one_hunk_of_two_is_written_and_the_model_is_told_which() {
    let mut session = HookSession::new(&COPILOT);
    let shown = session.shown();
    session.takes_the_first_hunk(&shown);
    assert_eq!(session.told(), [updated(&session.path), context(words::first_hunk(&session.path))]);
    session.is_written(FIRST_HUNK, "some");
}

#[test]
fn an_edited_text_is_written_and_the_model_is_told() {
    let mut session = HookSession::new(&COPILOT);
    let shown = session.shown();
    session.accepts_an_edited_text(&shown);
    assert_eq!(session.told(), [updated(&session.path), context(words::edited(&session.path))]);
    session.is_written(EDITED, "edited");
}

#[test]
fn a_rejection_reaches_the_model_with_its_reason_and_comments() {
    let mut session = HookSession::new(&COPILOT);
    let shown = session.shown();
    session.rejects(&shown);
    let words = words::rejected(&session.path);
    assert_eq!(session.told(), [tool(format!("Denied by preToolUse hook: {words}"))]);
    session.is_unwritten("rejected");
}

/// It does not signal its hook, and waits until that ends.
#[test]
fn after_a_cancel_an_accept_writes_nothing_and_is_not_on_disk() {
    let mut session = HookSession::new(&COPILOT);
    let shown = session.shown();
    session.agent.tty.types("\u{1b}");
    session.agent.tty.sees("again");
    session.agent.tty.types("\u{1b}");
    session.agent.tty.sees_no("again");
    session.editor.accept(&shown);
    session.agent.prompt("what now");
    session.agent.model.asked(3);
    session.is_accepted_and_not_on_disk();
}

#[test]
fn a_killed_hub_asks_again() {
    let mut session = HookSession::new(&COPILOT);
    let shown = session.survives_a_killed_hub();
    session.takes_the_first_hunk(&shown);
    assert_eq!(session.told(), [updated(&session.path), context(words::first_hunk(&session.path))]);
    session.is_written(FIRST_HUNK, "some");
}

#[test]
fn with_the_editor_protocol_the_user_is_asked_once() {
    let mut session = HookSession::with(&COPILOT, EditorProtocol::On);
    let shown = session.shown();
    session.takes_the_first_hunk(&shown);
    assert_eq!(session.told(), [updated(&session.path), context(words::first_hunk(&session.path))]);
    session.is_written(FIRST_HUNK, "some");
}

#[test]
fn without_a_window_the_terminal_asks_as_ever() {
    let (path, told) = is_decided_in_the_terminal(&COPILOT);
    assert_eq!(told, [updated(&path)]);
}

fn updated(path: &str) -> ModelText {
    tool(format!("File {path} updated with changes."))
}

fn context(words: String) -> ModelText {
    ModelText::new(Role::User, format!("Additional context from preToolUse hook:\n{words}"))
}

//! Gemini CLI, asked in `BeforeTool`. It asks a second time by its editor protocol, and the hub answers that itself.

use serde_json::json;

use super::{
    AgentSetup, BEFORE, EDITED, FIRST_HUNK, HookSession, PROPOSED, is_decided_in_the_terminal, tool, words,
};
use crate::support::model::ModelText;
use crate::support::real_agent::EditorProtocol;
use crate::support::{RealAgent, Turn};

const GEMINI: AgentSetup =
    AgentSetup { id: "gemini", start: RealAgent::gemini, calls, question: ("Apply this change?", "\r") };

fn calls(path: &str) -> Vec<Turn> {
    let change = json!({
        "file_path": path, "instruction": "Change numbers.", "old_string": BEFORE, "new_string": PROPOSED,
    });
    vec![Turn::calls("read_file", json!({ "file_path": path })), Turn::calls("replace", change)]
}

#[test]
fn an_accepted_edit_is_written_without_a_second_question() {
    let mut session = HookSession::with(&GEMINI, EditorProtocol::On);
    let shown = session.shown();
    session.editor.accept(&shown);
    assert_eq!(session.told(), [modified(&session.path, PROPOSED, &confirmed(PROPOSED))]);
    session.is_written(PROPOSED, "all");
}

#[test]
fn a_comment_on_an_accepted_edit_reaches_the_model() {
    let mut session = HookSession::with(&GEMINI, EditorProtocol::On);
    let shown = session.shown();
    session.accepts_with_a_comment(&shown);
    let rest = confirmed(PROPOSED) + &hook_context(&words::commented(&session.path));
    assert_eq!(session.told(), [modified(&session.path, PROPOSED, &rest)]);
    session.is_written(PROPOSED, "all");
}

#[test]
fn one_hunk_of_two_is_written_and_the_model_is_told_which() {
    let mut session = HookSession::with(&GEMINI, EditorProtocol::On);
    let shown = session.shown();
    session.takes_the_first_hunk(&shown);
    let rest = confirmed(FIRST_HUNK) + &after(&words::first_hunk(&session.path));
    assert_eq!(session.told(), [modified(&session.path, FIRST_HUNK, &rest)]);
    session.is_written(FIRST_HUNK, "some");
}

#[test]
fn an_edited_text_is_written_and_the_model_is_told() {
    let mut session = HookSession::with(&GEMINI, EditorProtocol::On);
    let shown = session.shown();
    session.accepts_an_edited_text(&shown);
    let rest = confirmed(EDITED) + &after(&words::edited(&session.path));
    assert_eq!(session.told(), [modified(&session.path, EDITED, &rest)]);
    session.is_written(EDITED, "edited");
}

#[test]
fn a_rejection_reaches_the_model_with_its_reason_and_comments() {
    let mut session = HookSession::with(&GEMINI, EditorProtocol::On);
    let shown = session.shown();
    session.rejects(&shown);
    let words = words::rejected(&session.path);
    assert_eq!(session.told(), [tool(format!("Tool execution blocked: {words}"))]);
    session.is_unwritten("rejected");
}

/// It does not signal its hook, and waits until that ends.
#[test]
fn after_a_cancel_an_accept_writes_nothing_and_is_not_on_disk() {
    let mut session = HookSession::with(&GEMINI, EditorProtocol::On);
    let shown = session.shown();
    session.agent.tty.types("\u{1b}");
    session.agent.tty.sees("Request cancelled");
    session.editor.accept(&shown);
    session.agent.prompt("what now");
    session.agent.model.asked(3);
    session.is_accepted_and_not_on_disk();
}

#[test]
fn a_killed_hub_asks_again() {
    let mut session = HookSession::new(&GEMINI);
    let shown = session.survives_a_killed_hub();
    session.takes_the_first_hunk(&shown);
    // Without its editor protocol it asks once more, in the terminal.
    session.agent.answers("Apply this change?", "\r");
    let words = words::first_hunk(&session.path);
    assert_eq!(session.told(), [modified(&session.path, FIRST_HUNK, &after(&words))]);
    session.is_written(FIRST_HUNK, "some");
}

#[test]
fn without_a_window_the_terminal_asks_as_ever() {
    let (path, told) = is_decided_in_the_terminal(&GEMINI);
    assert_eq!(told, [modified(&path, PROPOSED, "")]);
}

/// Only the lines around the change, if that is not all of the file.
fn modified(path: &str, text: &str, rest: &str) -> ModelText {
    let shown = if text == FIRST_HUNK { "one\n2\nthree\nfour\nfive\nsix\nseven\n..." } else { text };
    tool(format!(
        "Successfully modified file: {path} (1 replacements). Here is the updated code:\n{shown}{rest}"
    ))
}

/// What it adds after an answer by its editor protocol.
fn confirmed(text: &str) -> String {
    format!(" The confirmation step modified the `new_string` content to be: {text}.")
}

fn hook_context(words: &str) -> String {
    format!("\n\n<hook_context>{words}</hook_context>")
}

/// After a rewritten edit.
fn after(words: &str) -> String {
    hook_context(words) + "\n\n[System] Tool input parameters were modified by a hook before execution."
}

//! Codex, asked in `PreToolUse` and again in `PermissionRequest`, which is answered from the first decision.

use std::process::Stdio;

use linkspan_editor_api as api;
use serde_json::json;

use super::{
    AgentSetup, BEFORE, EDITED, FIRST_HUNK, HookSession, PROPOSED, is_decided_in_the_terminal, tool, words,
};
use crate::support::model::{ModelText, Role};
use crate::support::real_agent::{CodexServer, Sandbox, codex_exec};
use crate::support::world::finish;
use crate::support::{Editor, Model, RealAgent, Turn, World};

/// It would ask about each patch.
const READ_ONLY: AgentSetup = AgentSetup {
    id: "codex",
    start: |world, _, script| RealAgent::codex(world, Sandbox::ReadOnly, CodexServer::None, script),
    calls,
    question: ("Would you like to make the following edits?", "y"),
};

/// It would ask about no patch.
const WORKSPACE_WRITE: AgentSetup = AgentSetup {
    start: |world, _, script| RealAgent::codex(world, Sandbox::WorkspaceWrite, CodexServer::None, script),
    ..READ_ONLY
};

/// The hub hears of the patch from the app server, too.
const APP_SERVER: AgentSetup = AgentSetup {
    start: |world, _, script| {
        let mut codex = RealAgent::codex(world, Sandbox::ReadOnly, CodexServer::AppServer, script);
        codex.trusts_hooks();
        codex
    },
    ..READ_ONLY
};

const PATCH: &str = "*** Begin Patch
*** Update File: a.txt
@@
 one
-two
+2
 three
@@
 seven
-eight
+8
 nine
*** End Patch
";

const WRITTEN: &str = "Success. Updated the following files:\nM a.txt\n";

fn calls(_path: &str) -> Vec<Turn> {
    vec![Turn::calls("apply_patch", json!(PATCH))]
}

#[test]
fn an_accepted_patch_is_written_without_a_second_question() {
    let mut session = HookSession::new(&READ_ONLY);
    let shown = session.shown();
    session.editor.accept(&shown);
    assert_eq!(without_times(session.told()), [tool(WRITTEN)]);
    session.is_written(PROPOSED, "all");
}

#[test]
fn a_comment_on_an_accepted_patch_reaches_the_model() {
    let mut session = HookSession::new(&READ_ONLY);
    let shown = session.shown();
    session.accepts_with_a_comment(&shown);
    let words = words::commented(&session.path);
    assert_eq!(without_times(session.told()), [context(words), tool(WRITTEN)]);
    session.is_written(PROPOSED, "all");
}

#[test]
fn one_hunk_of_two_is_written_and_the_model_is_told_which() {
    let mut session = HookSession::new(&READ_ONLY);
    let shown = session.shown();
    session.takes_the_first_hunk(&shown);
    let words = words::first_hunk(&session.path);
    assert_eq!(without_times(session.told()), [context(words), tool(WRITTEN)]);
    session.is_written(FIRST_HUNK, "some");
}

#[test]
fn the_user_is_asked_even_where_codex_would_not_ask() {
    let mut session = HookSession::new(&WORKSPACE_WRITE);
    let shown = session.shown();
    session.takes_the_first_hunk(&shown);
    let words = words::first_hunk(&session.path);
    assert_eq!(without_times(session.told()), [context(words), tool(WRITTEN)]);
    session.is_written(FIRST_HUNK, "some");
}

#[test]
fn an_edited_text_is_written_and_the_model_is_told() {
    let mut session = HookSession::new(&READ_ONLY);
    let shown = session.shown();
    session.accepts_an_edited_text(&shown);
    let words = words::edited(&session.path);
    assert_eq!(without_times(session.told()), [context(words), tool(WRITTEN)]);
    session.is_written(EDITED, "edited");
}

#[test]
fn a_rejection_reaches_the_model_with_its_reason_and_comments() {
    let mut session = HookSession::new(&READ_ONLY);
    let shown = session.shown();
    session.rejects(&shown);
    let words = words::rejected(&session.path);
    let blocked = format!("Command blocked by PreToolUse hook: {words}. Command: {PATCH}");
    assert_eq!(session.told(), [tool(blocked)]);
    session.is_unwritten("rejected");
}

#[test]
fn a_cancelled_patch_is_withdrawn() {
    let mut session = HookSession::new(&READ_ONLY);
    let shown = session.shown();
    session.agent.tty.types("\u{1b}");
    session.is_withdrawn(&shown);
}

#[test]
fn a_killed_hub_asks_again() {
    let mut session = HookSession::new(&READ_ONLY);
    let shown = session.survives_a_killed_hub();
    session.takes_the_first_hunk(&shown);
    let words = words::first_hunk(&session.path);
    assert_eq!(without_times(session.told()), [context(words), tool(WRITTEN)]);
    session.is_written(FIRST_HUNK, "some");
}

#[test]
fn with_an_app_server_the_user_is_asked_once() {
    let mut session = HookSession::new(&APP_SERVER);
    let shown = session.shown();
    session.takes_the_first_hunk(&shown);
    let words = words::first_hunk(&session.path);
    assert_eq!(without_times(session.told()), [context(words), tool(WRITTEN)]);
    session.is_written(FIRST_HUNK, "some");
}

#[test]
fn without_a_window_the_terminal_asks_as_ever() {
    let (_, told) = is_decided_in_the_terminal(&READ_ONLY);
    assert_eq!(without_times(told), [tool(WRITTEN)]);
}

/// It says that its user allowed everything in advance, and its user is asked all the same.
#[test]
fn the_command_waits_for_the_decision() {
    let world = World::new();
    let path = world.file("a.txt", BEFORE);
    let mut editor = Editor::attach(&world);
    world.run(&["hook", "install", "codex", "--yes"]).ok();
    let model = Model::start(calls(&path));
    let mut command = codex_exec(&world, &model, Sandbox::WorkspaceWrite, "please change it");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let shown = editor.shown(&path);
    let hunks = vec![shown.hunks[0].id.clone()];
    assert_eq!(editor.decide(&shown, api::Verdict::AcceptHunks { hunks }), api::ReviewDecidedResult::Taken);
    let output = finish(child);
    assert_eq!((output.code, output.stdout.as_str()), (0, "Done.\n"), "{output:?}");
    assert_eq!(without_times(model.told_about(0)), [context(words::first_hunk(&path)), tool(WRITTEN)]);
    assert_eq!(world.read_text("a.txt"), FIRST_HUNK);
}

fn context(words: String) -> ModelText {
    ModelText::new(Role::Developer, words)
}

/// Without how long the patch took.
fn without_times(told: Vec<ModelText>) -> Vec<ModelText> {
    let start = "Exit code: 0\nWall time: ";
    let shorten = |message: ModelText| match message.text.strip_prefix(start) {
        Some(rest) => tool(rest.split_once(" seconds\nOutput:\n").unwrap().1),
        None => message,
    };
    told.into_iter().map(shorten).collect()
}

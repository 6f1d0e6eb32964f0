//! Prompts and sessions: what the model is told about the editor, and what the surfaces are told about the agent.

use linkspan_editor_api as api;
use serde_json::json;

use super::events::{claude, codex, copilot, gemini, qwen};
use super::hook_process::{HookProcess, run};
use super::{OLD, attach_with_questions};
use crate::support::{Editor, World};

fn select(editor: &Editor, path: &str) {
    let position = |line, character| api::Position { line, character };
    let selection = api::Selection {
        path: path.to_owned(),
        text: "two".into(),
        range: api::Range { start: position(1, 0), end: position(1, 3) },
        is_empty: false,
        reversed: false,
    };
    editor.state().selection = Some(selection);
}

#[test]
fn a_prompt_tells_what_the_editor_has_open_without_denied_files() {
    let world = World::with_config("deny = [\"secret.txt\"]\n");
    let (path, denied) = (world.file("a.txt", OLD), world.file("secret.txt", OLD));
    let editor = Editor::attach(&world);
    editor.open(&denied, OLD, false);
    editor.open(&path, OLD, false);
    select(&editor, &path);
    let context = world.run(&["context"]).ok().stdout;
    let context = context.trim_end();
    assert!(
        context.contains("a.txt") && context.contains("| two") && !context.contains("secret"),
        "{context}"
    );

    let prompt = json!({ "prompt": "please" });
    let claude_form = |event: &str| json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": context } });
    let answer = |input| run(&world, &[], &input).ok().json();
    assert_eq!(answer(claude(&world, "UserPromptSubmit", prompt.clone())), claude_form("UserPromptSubmit"));
    let other = json!("another session");
    let start = claude(&world, "SessionStart", json!({ "source": "startup" })).with("session_id", other);
    assert_eq!(answer(start), claude_form("SessionStart"));
    let qwen_prompt = qwen(&world, "UserPromptSubmit", "default", prompt.clone());
    assert_eq!(answer(qwen_prompt), claude_form("UserPromptSubmit"));
    assert_eq!(answer(gemini(&world, "BeforeAgent", prompt.clone())), claude_form("BeforeAgent"));
    assert_eq!(answer(copilot(&world, prompt)), json!({ "additionalContext": context }));
}

#[test]
fn the_same_context_is_not_repeated_at_once() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let editor = Editor::attach(&world);
    editor.open(&path, OLD, false);
    let prompt = || qwen(&world, "UserPromptSubmit", "default", json!({ "prompt": "please" }));
    run(&world, &[], &prompt()).ok().json();
    HookProcess::start(&world, &prompt()).passes();
    let other = world.file("b.txt", OLD);
    editor.open(&other, OLD, false);
    run(&world, &[], &prompt()).ok().json();
}

#[test]
fn without_a_window_or_anything_open_nothing_is_told() {
    let world = World::new();
    let prompt = || claude(&world, "UserPromptSubmit", json!({ "prompt": "please" }));
    HookProcess::start(&world, &prompt()).passes();
    let editor = Editor::attach(&world);
    HookProcess::start(&world, &prompt()).passes();
    drop(editor);
}

#[test]
fn an_editor_that_does_not_answer_delays_a_prompt_by_two_seconds_at_most() {
    let world = World::new();
    let editor = Editor::attach(&world);
    editor.stall();
    let start = std::time::Instant::now();
    let prompt = claude(&world, "UserPromptSubmit", json!({ "prompt": "please" }));
    HookProcess::start(&world, &prompt).passes();
    assert!(start.elapsed() < std::time::Duration::from_secs(6), "{:?}", start.elapsed());
    editor.resume();
}

#[test]
fn an_agent_that_waits_or_is_done_is_announced() {
    let world = World::new();
    let editor = attach_with_questions(&world);
    let waits =
        json!({ "message": "Claude needs your permission", "notification_type": "permission_prompt" });
    HookProcess::start(&world, &claude(&world, "Notification", waits)).passes();
    HookProcess::start(&world, &claude(&world, "Stop", json!({ "stop_hook_active": false }))).passes();
    HookProcess::start(&world, &claude(&world, "SessionEnd", json!({ "reason": "exit" }))).passes();
    let said = editor.until("the editor is told", |state| {
        let texts: Vec<String> = state.messages.iter().map(|message| message.text.clone()).collect();
        (texts.len() >= 2).then_some(texts)
    });
    assert!(said[0].contains("Claude Code is waiting: Claude needs your permission"), "{said:?}");
    assert!(said[1].contains("Claude Code is done"), "{said:?}");
}

#[test]
fn the_stop_of_codex_passes() {
    let world = World::new();
    let serve = world.serve();
    let stop = codex(&world, "Stop", "").with("tool_name", json!(null)).with("tool_input", json!(null));
    HookProcess::start(&world, &stop).passes();
    drop(serve);
}

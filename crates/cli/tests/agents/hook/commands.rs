//! Commands, with `--commands`: the user is asked about the whole command, and the agent runs it or not.

use linkspan_editor_api::AskOption;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::attach_with_questions;
use super::events::{HookInput, claude};
use super::hook_process::{HookProcess, run};
use crate::support::World;

const COMMAND: &str = "cargo test --all && rm -rf target";

fn bash(world: &World) -> HookInput {
    let input = json!({ "command": COMMAND, "description": "test" });
    claude(world, "PreToolUse", json!({ "tool_name": "Bash", "tool_input": input, "tool_use_id": "toolu_1" }))
}

fn decision(answer: &Value) -> &Value {
    &answer["hookSpecificOutput"]["permissionDecision"]
}

#[test]
fn without_the_option_commands_are_the_agents_own_matter() {
    let world = World::new();
    let editor = attach_with_questions(&world);
    HookProcess::start(&world, &bash(&world)).passes();
    assert!(editor.state().questions.is_empty());
}

#[test]
fn an_allowed_command_is_allowed_and_not_run_by_us() {
    let world = World::new();
    let mut editor = attach_with_questions(&world);
    let hook = HookProcess::start_with(&world, &["--commands"], &bash(&world));
    let asked = editor.question(1);
    assert!(format!("{asked:?}").contains(COMMAND), "{asked:?}");
    editor.reply(&asked, Some(AskOption::AllowOnce));
    assert_eq!(*decision(&hook.answer()), json!("allow"));
    assert!(editor.state().ran.is_empty());
}

#[test]
fn a_denied_command_is_denied_with_a_reason() {
    let world = World::new();
    let mut editor = attach_with_questions(&world);
    let hook = HookProcess::start_with(&world, &["--commands"], &bash(&world));
    let asked = editor.question(1);
    editor.reply(&asked, Some(AskOption::Deny));
    let answer = hook.answer();
    assert_eq!(*decision(&answer), json!("deny"));
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(!reason.is_empty());
}

#[test]
fn a_question_that_is_closed_is_a_denial() {
    let world = World::new();
    let mut editor = attach_with_questions(&world);
    let hook = HookProcess::start_with(&world, &["--commands"], &bash(&world));
    let asked = editor.question(1);
    editor.reply(&asked, None);
    let answer = hook.answer();
    assert_eq!(*decision(&answer), json!("deny"));
    assert!(answer.to_string().contains("The user has not decided on this command"), "{answer}");
}

#[test]
fn a_cancelled_hook_takes_its_question_back() {
    let world = World::new();
    let editor = attach_with_questions(&world);
    for (count, signal) in [(1, Signal::TERM), (2, Signal::KILL)] {
        let hook = HookProcess::start_with(&world, &["--commands"], &bash(&world));
        let asked = editor.question(count);
        hook.signal(signal);
        editor.until("the question is withdrawn", |state| state.unasked.contains(&asked.ask).then_some(()));
        assert_eq!(hook.end().stdout, "");
    }
}

#[test]
fn without_a_window_commands_pass_or_are_denied() {
    let world = World::new();
    HookProcess::start_with(&world, &["--commands"], &bash(&world)).passes();
    let denied = run(&world, &["--commands", "--require"], &bash(&world)).ok().json();
    assert_eq!(*decision(&denied), json!("deny"));
}

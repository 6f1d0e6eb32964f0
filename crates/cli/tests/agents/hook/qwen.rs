//! Qwen Code: decided in `PermissionRequest`; `PreToolUse` comes after that, and in automatic modes alone.

use serde_json::json;

use super::events::qwen_edit;
use super::hook_process::{HookProcess, run};
use super::{FIRST, NEW, OLD, first_words, reject_with_comments, rejected_words, take_first};
use crate::support::{Editor, World};

#[test]
fn a_part_is_rewritten_passes_the_second_event_and_is_told_after_the_tool() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook =
        HookProcess::start(&world, &qwen_edit(&world, "PermissionRequest", "default", &path, OLD, NEW));
    let shown = editor.shown(&path);
    assert_eq!(shown.agent, "Qwen Code");
    take_first(&mut editor, &shown, &[(2, "good")]);
    let answer = hook.answer();
    let decision = answer["hookSpecificOutput"]["decision"].clone();
    assert_eq!(
        answer,
        json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } })
    );
    assert_eq!(decision["behavior"], "allow");
    let input = &decision["updatedInput"];
    let (old, new) = (input["old_string"].as_str().unwrap(), input["new_string"].as_str().unwrap());
    assert_eq!(OLD.replace(old, new), FIRST);
    // Not asked again, whatever is answered.
    run(&world, &[], &qwen_edit(&world, "PreToolUse", "default", &path, old, new)).ok();
    world.pending(0);
    world.file("a.txt", FIRST);
    let done = qwen_edit(&world, "PostToolUse", "default", &path, old, new);
    let told = run(&world, &[], &done).ok().json();
    let output = json!({ "hookEventName": "PostToolUse", "additionalContext": first_words(&path) });
    assert_eq!(told, json!({ "hookSpecificOutput": output }));
}

#[test]
fn a_rejection_is_a_message() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook =
        HookProcess::start(&world, &qwen_edit(&world, "PermissionRequest", "default", &path, OLD, NEW));
    let shown = editor.shown(&path);
    reject_with_comments(&mut editor, &shown);
    let decision = json!({ "behavior": "deny", "message": rejected_words(&path) });
    let output = json!({ "hookEventName": "PermissionRequest", "decision": decision });
    assert_eq!(hook.answer(), json!({ "hookSpecificOutput": output }));
}

#[test]
fn in_an_automatic_mode_the_hub_writes_and_the_model_is_told_so() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let edit = qwen_edit(&world, "PreToolUse", "auto-edit", &path, OLD, NEW);
    HookProcess::start(&world, &edit).passes();
    let hook = HookProcess::start_with(&world, &["--always"], &edit);
    let shown = editor.shown(&path);
    assert!(!shown.agent_writes);
    take_first(&mut editor, &shown, &[]);
    let answer = hook.answer();
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["permissionDecision"], "deny", "{answer}");
    let reason = output["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.starts_with("Do not repeat this edit: it is done."), "{reason}");
    assert!(reason.contains("SIX"), "{reason}");
    assert_eq!(world.read_text("a.txt"), FIRST);
}

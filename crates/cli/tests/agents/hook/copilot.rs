//! Copilot CLI: the edit is decided in `preToolUse`, and its own permission question shows only a diff.

use serde_json::json;

use super::events::{copilot_edit, copilot_permission};
use super::hook_process::{HookProcess, run};
use super::{NEW, OLD, first_words, reject_with_comments, rejected_words, take_first};
use crate::support::{Editor, World};

const BOTH: &str = "@@ -1,8 +1,8 @@\n one\n-two\n+TWO\n three\n four\n five\n-six\n+SIX\n seven\n \n";
const ONE: &str = "@@ -1,5 +1,5 @@\n one\n-two\n+TWO\n three\n four\n five\n";

#[test]
fn an_accepted_edit_is_allowed_in_both_events() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &copilot_edit(&world, &path, OLD, NEW));
    let shown = editor.shown(&path);
    assert_eq!(shown.agent, "Copilot CLI");
    editor.accept(&shown);
    assert_eq!(hook.answer(), json!({ "permissionDecision": "allow" }));
    let permission = copilot_permission(&world, &path, BOTH);
    assert_eq!(run(&world, &[], &permission).ok().json(), json!({ "behavior": "allow" }));
    HookProcess::start(&world, &permission).passes();
    assert_eq!(world.read_text("a.txt"), OLD);
}

#[test]
fn a_part_is_rewritten_and_only_that_part_is_permitted() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &copilot_edit(&world, &path, OLD, NEW));
    let shown = editor.shown(&path);
    take_first(&mut editor, &shown, &[(2, "good")]);
    let args = json!({ "path": path, "old_str": "two", "new_str": "TWO" });
    let expected = json!({
        "permissionDecision": "allow", "modifiedArgs": args, "additionalContext": first_words(&path),
    });
    assert_eq!(hook.answer(), expected);
    HookProcess::start(&world, &copilot_permission(&world, &path, BOTH)).passes();
    let permission = copilot_permission(&world, &path, ONE);
    assert_eq!(run(&world, &[], &permission).ok().json(), json!({ "behavior": "allow" }));
}

#[test]
fn a_diff_that_does_not_fit_the_file_is_left_to_copilot() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &copilot_edit(&world, &path, OLD, NEW));
    let shown = editor.shown(&path);
    editor.accept(&shown);
    hook.answer();
    world.file("a.txt", "another\n");
    HookProcess::start(&world, &copilot_permission(&world, &path, BOTH)).passes();
}

#[test]
fn a_rejection_is_a_denial_with_reason_and_comments() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &copilot_edit(&world, &path, OLD, NEW));
    let shown = editor.shown(&path);
    reject_with_comments(&mut editor, &shown);
    let expected = json!({ "permissionDecision": "deny", "permissionDecisionReason": rejected_words(&path) });
    assert_eq!(hook.answer(), expected);
}

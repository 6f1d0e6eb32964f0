//! Codex: a patch of several files is one question, and its own permission question is answered from the decision.

use serde_json::{Value, json};

use super::events::codex;
use super::hook_process::{HookProcess, run};
use super::{FIRST, NEW, OLD, REASON, first_words, reject, reject_with_comments, rejected_words, take_first};
use crate::support::{Editor, World};

const PATCH: &str = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n three\n@@\n five\n-six\n+SIX\n seven\n\
                     *** End Patch\n";
const TWO_FILES: &str = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n three\n*** Add File: b.txt\n\
                         +new\n*** End Patch\n";

fn context(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap()
}

fn patch(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap()
}

#[test]
fn a_plain_yes_prints_nothing_and_answers_the_permission_once() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &codex(&world, "PreToolUse", PATCH));
    let shown = editor.shown(&path);
    assert_eq!(shown.proposed, NEW);
    editor.accept(&shown);
    hook.passes();
    let permission = codex(&world, "PermissionRequest", PATCH);
    let allowed = json!({
        "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": { "behavior": "allow" } },
    });
    assert_eq!(run(&world, &[], &permission).ok().json(), allowed);
    // The decision was for one edit.
    HookProcess::start(&world, &permission).passes();
    assert_eq!(world.read_text("a.txt"), OLD);
}

#[test]
fn a_permission_for_other_bytes_is_left_to_codex() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &codex(&world, "PreToolUse", PATCH));
    let shown = editor.shown(&path);
    editor.accept(&shown);
    hook.passes();
    let other = PATCH.replace("+TWO", "+ZWEI");
    HookProcess::start(&world, &codex(&world, "PermissionRequest", &other)).passes();
    let other_session = codex(&world, "PermissionRequest", PATCH).with("session_id", json!("another"));
    HookProcess::start(&world, &other_session).passes();
    world.file("a.txt", OLD.replace("four", "4"));
    HookProcess::start(&world, &codex(&world, "PermissionRequest", PATCH)).passes();
}

#[test]
fn a_part_is_a_rewritten_patch_whose_permission_is_allowed_too() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &codex(&world, "PreToolUse", PATCH));
    let shown = editor.shown(&path);
    take_first(&mut editor, &shown, &[(2, "good")]);
    let answer = hook.answer();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "allow");
    assert_eq!(context(&answer), first_words(&path));
    assert!(patch(&answer).contains("+TWO") && !patch(&answer).contains("+SIX"), "{answer}");
    let permission = codex(&world, "PermissionRequest", patch(&answer));
    let allowed = run(&world, &[], &permission).ok().json();
    assert_eq!(allowed["hookSpecificOutput"]["decision"], json!({ "behavior": "allow" }));
    world.file("a.txt", FIRST);
    // Codex was told everything before.
    HookProcess::start(&world, &codex(&world, "PostToolUse", patch(&answer))).passes();
}

#[test]
fn of_two_files_one_can_be_rejected() {
    let world = World::new();
    let (a, b) = (world.file("a.txt", OLD), world.path_str("b.txt"));
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &codex(&world, "PreToolUse", TWO_FILES));
    let (shown_a, shown_b) = (editor.shown(&a), editor.shown(&b));
    assert!(shown_a.set.is_some());
    assert_eq!(shown_a.set, shown_b.set);
    editor.accept(&shown_a);
    reject(&mut editor, &shown_b, REASON, &[]);
    let answer = hook.answer();
    assert!(patch(&answer).contains("a.txt") && !patch(&answer).contains("b.txt"), "{answer}");
    let words = format!(
        "The user accepted the change of {a} exactly as you proposed it.\n\nThe user rejected the new file {b}. Nothing \
         of it was written. The file does not exist.\nReason: {REASON}"
    );
    assert_eq!(context(&answer), words);
    assert_eq!(world.read_text("a.txt"), OLD);
    assert!(!world.path("b.txt").exists());
}

#[test]
fn a_deleted_file_is_shown_and_accepted_as_a_whole() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let patch = "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n";
    let hook = HookProcess::start(&world, &codex(&world, "PreToolUse", patch));
    let shown = editor.shown(&path);
    assert_eq!((shown.base.as_str(), shown.proposed.as_str()), (OLD, ""));
    assert_eq!(shown.label, "Delete a.txt");
    editor.accept(&shown);
    hook.passes();
    assert_eq!(world.read_text("a.txt"), OLD);
    let allowed = run(&world, &[], &codex(&world, "PermissionRequest", patch)).ok().json();
    assert_eq!(allowed["hookSpecificOutput"]["decision"], json!({ "behavior": "allow" }));
}

#[test]
fn a_moved_file_is_compared_and_taken_as_a_whole() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let patch = PATCH.replace("a.txt\n", "a.txt\n*** Move to: c.txt\n");
    let hook = HookProcess::start(&world, &codex(&world, "PreToolUse", &patch));
    let shown = editor.shown(&path);
    assert_eq!(shown.label, format!("Move a.txt to {}", world.path_str("c.txt")));
    assert_eq!((shown.base.as_str(), shown.proposed.as_str()), (OLD, NEW));
    take_first(&mut editor, &shown, &[]);
    let answer = hook.answer();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");

    editor.state().shown.clear();
    let hook = HookProcess::start(&world, &codex(&world, "PreToolUse", &patch));
    let shown = editor.shown(&path);
    editor.accept(&shown);
    hook.passes();
    let allowed = run(&world, &[], &codex(&world, "PermissionRequest", &patch)).ok().json();
    assert_eq!(allowed["hookSpecificOutput"]["decision"], json!({ "behavior": "allow" }));
    assert_eq!(world.read_text("a.txt"), OLD);
    assert!(!world.path("c.txt").exists());
}

#[test]
fn a_move_over_another_file_or_out_of_the_folders_is_denied_unseen() {
    let world = World::with_config("deny = [\"secret.txt\"]\n");
    world.file("a.txt", OLD);
    world.file("b.txt", OLD);
    let outside = world.folder("outside").join("c.txt");
    let editor = Editor::attach(&world);
    for target in
        ["b.txt", "secret.txt", "../outside/c.txt", "none/../../outside/c.txt", outside.to_str().unwrap()]
    {
        let patch = PATCH.replace("a.txt\n", &format!("a.txt\n*** Move to: {target}\n"));
        let answer = HookProcess::start(&world, &codex(&world, "PreToolUse", &patch)).answer();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{target}: {answer}");
        assert!(answer.to_string().contains("Nothing was moved or written"), "{target}: {answer}");
    }
    assert!(editor.state().shown.is_empty());
    assert_eq!(world.read_text("b.txt"), OLD);
}

#[test]
fn a_target_that_appears_while_the_user_decides_is_not_overwritten() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let patch = PATCH.replace("a.txt\n", "a.txt\n*** Move to: c.txt\n");
    let hook = HookProcess::start(&world, &codex(&world, "PreToolUse", &patch));
    let shown = editor.shown(&path);
    world.file("c.txt", "other\n");
    editor.accept(&shown);
    let answer = hook.answer();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
}

#[test]
fn a_rejection_reaches_the_model_in_full() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &codex(&world, "PreToolUse", PATCH));
    let shown = editor.shown(&path);
    reject_with_comments(&mut editor, &shown);
    let output = json!({
        "hookEventName": "PreToolUse", "permissionDecision": "deny",
        "permissionDecisionReason": rejected_words(&path),
    });
    assert_eq!(hook.answer(), json!({ "hookSpecificOutput": output }));
}

//! Files that change while the user decides: the agent's tool writes what was accepted, and nothing of others twice or
//! never.

use serde_json::{Value, json};

use super::events::{claude_edit, claude_write, codex};
use super::hook_process::HookProcess;
use super::{FIRST, NEW, OLD, take_first};
use crate::support::{Editor, World};

const FOREIGN: &str = "X by the user\n";
const MOVED: &str =
    "The file was changed in other places, too, while the user decided. Read it before you edit it again.";

/// The review; the file changes after it is shown, and the hub merges both when the user decides.
#[track_caller]
fn shown_moved(world: &World, editor: &Editor, path: &str) -> linkspan_editor_api::ReviewShow {
    let shown = editor.shown(path);
    world.file("a.txt", format!("{FOREIGN}{OLD}"));
    shown
}

fn output(answer: &Value) -> &Value {
    &answer["hookSpecificOutput"]
}

/// What the tool `Edit` makes of the answer.
#[track_caller]
fn edited(answer: &Value, own: (&str, &str), current: &str) -> String {
    let input = &output(answer)["updatedInput"];
    let (old, new) = match input.is_null() {
        true => own,
        false => (input["old_string"].as_str().unwrap(), input["new_string"].as_str().unwrap()),
    };
    assert_eq!(current.matches(old).count(), 1, "{answer}");
    current.replace(old, new)
}

#[test]
fn a_line_of_others_is_not_written_twice() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &claude_edit(&world, &path, "one\ntwo", "one\nTWO"));
    let shown = shown_moved(&world, &editor, &path);
    editor.accept(&shown);
    let answer = hook.answer();
    assert_eq!(output(&answer)["permissionDecision"], "allow", "{answer}");
    let written = edited(&answer, ("one\ntwo", "one\nTWO"), &format!("{FOREIGN}{OLD}"));
    assert_eq!(written, format!("{FOREIGN}{FIRST}"));
    let words = output(&answer)["additionalContext"].as_str().unwrap();
    assert_eq!(words, format!("The user accepted the change of {path} exactly as you proposed it.\n{MOVED}"));
}

#[test]
fn one_hunk_of_a_moved_file_is_shown_with_its_own_lines() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &claude_edit(&world, &path, OLD, NEW));
    let shown = shown_moved(&world, &editor, &path);
    take_first(&mut editor, &shown, &[]);
    let answer = hook.answer();
    let written = edited(&answer, (OLD, NEW), &format!("{FOREIGN}{OLD}"));
    assert_eq!(written, format!("{FOREIGN}{FIRST}"));
    let words = output(&answer)["additionalContext"].as_str().unwrap();
    assert!(words.contains("@@\n-two\n+TWO\n"), "{words}");
    assert!(words.contains("@@\n-six\n+SIX\n"), "{words}");
    assert!(words.contains(MOVED) && !words.contains(FOREIGN), "{words}");
}

#[test]
fn a_whole_file_is_rewritten_with_the_line_of_others() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &claude_write(&world, &path, NEW));
    let shown = shown_moved(&world, &editor, &path);
    editor.accept(&shown);
    let answer = hook.answer();
    let input = json!({ "file_path": path, "content": format!("{FOREIGN}{NEW}") });
    assert_eq!(output(&answer)["updatedInput"], input, "{answer}");
    assert!(!answer.to_string().contains("The user edited"), "{answer}");
}

#[test]
fn a_deletion_is_for_the_text_that_was_shown() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let patch = "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n";
    let hook = HookProcess::start(&world, &codex(&world, "PreToolUse", patch));
    let shown = editor.shown(&path);
    world.file("a.txt", NEW);
    editor.accept(&shown);
    let answer = hook.answer();
    assert_eq!(output(&answer)["permissionDecision"], "deny", "{answer}");
    assert!(answer.to_string().contains("changed meanwhile"), "{answer}");
}

#[test]
fn a_move_is_for_the_text_that_was_shown() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let patch =
        "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-two\n+TWO\n*** End Patch\n";
    let hook = HookProcess::start(&world, &codex(&world, "PreToolUse", patch));
    let shown = editor.shown(&path);
    world.file("a.txt", format!("{FOREIGN}{OLD}"));
    editor.accept(&shown);
    let answer = hook.answer();
    assert_eq!(output(&answer)["permissionDecision"], "deny", "{answer}");
}

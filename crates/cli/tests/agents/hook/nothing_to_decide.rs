//! A hook with nothing to decide prints nothing, ends with status 0, and starts no hub; with `--require` it denies.

use std::fs;

use serde_json::{Value, json};

use super::events::{HookInput, claude, claude_edit, codex, copilot_edit, gemini_edit, qwen_edit};
use super::hook_process::{HookProcess, run};
use super::{FIRST, NEW, OLD};
use crate::support::{Editor, ForeignEditor, World};

const PATCH: &str = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n three\n*** End Patch\n";

/// The edit of `a.txt` as each agent asks about it.
fn edits(world: &World) -> Vec<HookInput> {
    let path = world.path_str("a.txt");
    vec![
        claude_edit(world, &path, "two", "TWO"),
        codex(world, "PreToolUse", PATCH),
        copilot_edit(world, &path, "two", "TWO"),
        gemini_edit(world, "BeforeTool", &path, "two", "TWO"),
        qwen_edit(world, "PermissionRequest", "default", &path, "two", "TWO"),
    ]
}

/// The reason of a denial, in each agent's form.
fn denial(answer: &Value) -> Option<&str> {
    let output = &answer["hookSpecificOutput"];
    [
        &output["permissionDecisionReason"],
        &answer["permissionDecisionReason"],
        &answer["reason"],
        &output["decision"]["message"],
    ]
    .into_iter()
    .find_map(Value::as_str)
}

#[test]
fn without_a_hub_nothing_happens_and_none_is_started() {
    let world = World::new();
    world.file("a.txt", OLD);
    for edit in edits(&world) {
        HookProcess::start(&world, &edit).passes();
    }
    assert!(!world.socket().exists() && !world.runtime().exists() && !world.state().exists());
}

#[test]
fn without_a_window_for_the_folder_nothing_happens() {
    let world = World::new();
    world.file("a.txt", OLD);
    let other = world.folder("other");
    let serve = world.serve_folders(&[&other]);
    for edit in edits(&world) {
        HookProcess::start(&world, &edit).passes();
    }
    assert!(world.reviews().is_empty());
    drop(serve);
}

#[test]
fn with_require_the_model_is_told_what_to_do() {
    let world = World::new();
    world.file("a.txt", OLD);
    for edit in edits(&world) {
        let answer = run(&world, &["--require"], &edit).ok().json();
        let reason = denial(&answer).unwrap_or_else(|| panic!("{answer}"));
        assert!(reason.contains("linkspan serve"), "{reason}");
    }
    assert!(!world.socket().exists());
    let serve = world.serve_folders(&[&world.folder("other")]);
    for edit in edits(&world) {
        let answer = run(&world, &["--require"], &edit).ok().json();
        assert!(denial(&answer).is_some_and(|reason| reason.contains("no editor window")), "{answer}");
    }
    drop(serve);
}

#[test]
fn the_hub_of_a_crash_is_no_hub() {
    let mut world = World::new();
    world.may_leave_files();
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    serve.kill();
    world.kill_hub();
    assert!(world.socket().exists());
    HookProcess::start(&world, &claude_edit(&world, &path, OLD, NEW)).passes();
}

#[test]
fn another_editors_window_does_not_count() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let editor = ForeignEditor::start(&world, |_, _| Value::Null);
    HookProcess::start(&world, &claude_edit(&world, &path, OLD, NEW)).passes();
    assert!(editor.called().is_empty());
}

#[test]
fn a_folder_that_was_disconnected_is_left_alone() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    world.run(&["ide", "disconnect"]).ok();
    HookProcess::start(&world, &claude_edit(&world, &path, OLD, NEW)).passes();
    drop(serve);
}

#[test]
fn other_tools_and_events_are_not_asked_about_whatever_is_required() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    let read = json!({ "tool_name": "Read", "tool_input": { "file_path": path }, "tool_use_id": "toolu_1" });
    let bash = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "toolu_1" });
    for more in [read, bash] {
        for options in [&[][..], &["--require"]] {
            let ended = run(&world, options, &claude(&world, "PreToolUse", more.clone()));
            assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""));
        }
    }
    HookProcess::start(&world, &claude(&world, "PreCompact", json!({ "trigger": "auto" }))).passes();
    drop(serve);
}

#[test]
fn in_an_automatic_mode_only_always_asks() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    for (mode, new) in [("acceptEdits", NEW), ("bypassPermissions", FIRST)] {
        let edit = claude_edit(&world, &path, OLD, new).with("permission_mode", json!(mode));
        HookProcess::start(&world, &edit).passes();
        HookProcess::start_with(&world, &["--require"], &edit).passes();
        editor.state().shown.clear();
        let hook = HookProcess::start_with(&world, &["--always"], &edit);
        let shown = editor.shown(&path);
        editor.accept(&shown);
        assert_eq!(hook.answer()["hookSpecificOutput"]["permissionDecision"], "allow");
    }
}

#[test]
fn files_that_cannot_be_shown_are_left_to_the_agent() {
    let world = World::with_config("deny = [\"secret.txt\"]\n");
    let denied = world.file("secret.txt", OLD);
    let binary = world.file("binary.txt", b"one\0two\n");
    let outside = world.folder("outside").join("a.txt");
    fs::write(&outside, OLD).unwrap();
    let folder = world.path_str("folder");
    fs::create_dir(&folder).unwrap();
    let editor = Editor::attach(&world);
    for path in [denied.as_str(), &binary, outside.to_str().unwrap(), &folder] {
        let edit = claude_edit(&world, path, "two", "TWO");
        HookProcess::start(&world, &edit).passes();
        let answer = run(&world, &["--require"], &edit).ok().json();
        assert!(denial(&answer).is_some(), "{path}: {answer}");
    }
    assert!(editor.state().shown.is_empty());
    assert_eq!(fs::read_to_string(&outside).unwrap(), OLD);
}

#[test]
fn an_edit_that_cannot_be_made_is_left_to_the_tool() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let editor = Editor::attach(&world);
    let missing = world.path_str("none.txt");
    let edits = [claude_edit(&world, &path, "two", "two"), claude_edit(&world, &missing, "two", "TWO")];
    for edit in edits {
        for options in [&[][..], &["--require"]] {
            HookProcess::start_with(&world, options, &edit).passes();
        }
    }
    assert!(editor.state().shown.is_empty());
}

#[test]
fn a_text_that_is_not_found_exactly_is_denied_unless_the_tool_is_exact() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let editor = Editor::attach(&world);
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-eight\n+EIGHT\n*** End Patch\n";
    let found = |how: &str| {
        format!(
            "`old_string` {how} in {path}. Read the file again, then repeat the edit with its exact text."
        )
    };
    let (missing, several) = (found("was not found exactly"), found("was found more than once"));
    let loose = [
        (claude_edit(&world, &path, "eight", "EIGHT"), &missing),
        (claude_edit(&world, &path, "e", "E"), &several),
        (gemini_edit(&world, "BeforeTool", &path, "eight", "EIGHT"), &missing),
        (qwen_edit(&world, "PermissionRequest", "default", &path, "eight", "EIGHT"), &missing),
    ];
    for (edit, expected) in loose {
        let answer = HookProcess::start(&world, &edit).answer();
        assert_eq!(denial(&answer), Some(expected.as_str()), "{answer}");
    }
    let exact = [codex(&world, "PreToolUse", patch), copilot_edit(&world, &path, "eight", "EIGHT")];
    for edit in exact {
        HookProcess::start(&world, &edit).passes();
        let answer = HookProcess::start_with(&world, &["--require"], &edit).answer();
        assert_eq!(denial(&answer), Some(missing.as_str()), "{answer}");
    }
    assert!(editor.state().shown.is_empty());
}

//! Input that is not what we expect: the agent is not kept waiting, nothing is written, and nothing of it is printed.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::events::{claude, claude_edit, claude_write, codex};
use super::hook_process::{HookProcess, command};
use super::{NEW, OLD};
use crate::support::{Editor, World};

#[test]
fn truncated_and_foreign_input_is_said_in_one_line_and_passes() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let editor = Editor::attach(&world);
    let edit = claude_edit(&world, &path, OLD, "s3cret");
    let whole = edit.event.to_string();
    let inputs: [&[u8]; 7] =
        [b"", b"{", whole.get(..whole.len() / 2).unwrap().as_bytes(), b"[]", b"null", b"\xff\xfe", b"{}"];
    for input in inputs {
        let ended = HookProcess::spawn(command(&world, &[], &edit), input).end();
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{ended:?}");
        assert!(ended.stderr.matches('\n').count() <= 1, "{ended:?}");
        assert!(!ended.stderr.contains("s3cret") && !ended.stderr.contains("CLAUDE"), "{ended:?}");
        let required = HookProcess::spawn(command(&world, &["--require"], &edit), input).end();
        assert_eq!((required.code, required.stdout.as_str()), (2, ""), "{required:?}");
        assert!(!required.stderr.is_empty());
    }
    assert!(editor.state().shown.is_empty());
}

#[test]
fn without_a_home_nothing_is_allowed_if_a_decision_is_required() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let edit = claude_edit(&world, &path, OLD, NEW);
    for (options, code) in [(&[][..], 0), (&["--require"], 2)] {
        let mut hook = command(&world, options, &edit);
        // A relative one counts as none.
        hook.env("HOME", "home");
        let ended = HookProcess::spawn(hook, edit.event.to_string().as_bytes()).end();
        assert_eq!((ended.code, ended.stdout.as_str()), (code, ""), "{ended:?}");
    }
}

#[test]
fn members_of_wrong_types_pass() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let editor = Editor::attach(&world);
    for (member, value) in [
        ("tool_input", json!("text")),
        ("tool_input", json!({ "file_path": 7, "old_string": [], "new_string": null })),
        ("tool_name", json!({})),
        ("cwd", json!("relative")),
        ("cwd", json!(null)),
        ("session_id", json!(1)),
    ] {
        let edit = claude_edit(&world, &path, OLD, NEW).with(member, value);
        let ended = HookProcess::start(&world, &edit).end();
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{member}: {ended:?}");
    }
    assert!(editor.state().shown.is_empty());
}

#[test]
fn a_newer_version_with_unknown_members_is_understood() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let mut edit = claude_edit(&world, &path, OLD, NEW).with("new_in_3", json!({ "deep": [1, 2] }));
    edit.event["tool_input"]["also_new"] = json!(true);
    let hook = HookProcess::start(&world, &edit);
    let shown = editor.shown(&path);
    editor.accept(&shown);
    assert_eq!(hook.answer()["hookSpecificOutput"]["permissionDecision"], "allow");
    let unknown = json!({ "tool_name": "EditEverything", "tool_input": { "file_path": path } });
    HookProcess::start(&world, &claude(&world, "PreToolUse", unknown)).passes();
    HookProcess::start(&world, &claude(&world, "SomethingNew", json!({}))).passes();
}

#[test]
fn ten_megabytes_are_shown() {
    let world = World::new();
    let mut editor = Editor::attach(&world);
    let path = world.path_str("large.txt");
    let large = "0123456789abcde\n".repeat(10 * 1024 * 1024 / 16);
    let hook = HookProcess::start(&world, &claude_write(&world, &path, &large));
    let shown = editor.shown(&path);
    editor.reject(&shown);
    assert_eq!(hook.answer()["hookSpecificOutput"]["permissionDecision"], "deny");
    assert!(!world.path("large.txt").exists());
}

#[test]
fn an_agent_is_read_to_the_end_also_without_a_hub() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    // A hook that ends earlier breaks the pipe, which fails here.
    let large = "x".repeat(10 * 1024 * 1024);
    HookProcess::start(&world, &claude_write(&world, &path, &large)).passes();
}

#[test]
fn an_event_that_does_not_end_is_not_waited_for_without_end() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    let edit = claude_edit(&world, &path, OLD, NEW);
    let mut child = command(&world, &[], &edit)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"hook_event_name\":").unwrap();
    let start = Instant::now();
    let ended = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(25));
    assert!(ended.status.success() && ended.stdout.is_empty());
    drop((stdin, serve));
}

#[test]
fn a_path_that_climbs_out_is_not_shown() {
    let world = World::new();
    world.file("a.txt", OLD);
    let outside = world.folder("outside").join("a.txt");
    std::fs::write(&outside, OLD).unwrap();
    let editor = Editor::attach(&world);
    let climbing = world.path_str("../outside/a.txt");
    HookProcess::start(&world, &claude_edit(&world, &climbing, "two", "TWO")).passes();
    let patch = "*** Begin Patch\n*** Update File: ../outside/a.txt\n@@\n-two\n+TWO\n*** End Patch\n";
    HookProcess::start(&world, &codex(&world, "PreToolUse", patch)).passes();
    assert!(editor.state().shown.is_empty());
}

#[test]
fn two_edits_in_one_message_are_two_reviews_one_after_the_other() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    for (old, new) in [("two", "TWO"), ("six", "SIX")] {
        editor.state().shown.clear();
        let hook = HookProcess::start(&world, &claude_edit(&world, &path, old, new));
        let shown = editor.shown(&path);
        assert_eq!(shown.hunks.len(), 1);
        editor.accept(&shown);
        assert_eq!(hook.answer()["hookSpecificOutput"]["permissionDecision"], "allow");
        let text = world.read_text("a.txt").replace(old, new);
        world.file("a.txt", text);
    }
    assert_eq!(world.read_text("a.txt"), NEW);
}

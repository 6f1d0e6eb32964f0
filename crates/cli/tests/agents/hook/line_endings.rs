//! Line endings: a tool that writes what it is given gets the endings of the file, and nobody is said to have edited them.

use serde_json::json;

use super::events::{claude_write, codex};
use super::hook_process::HookProcess;
use super::{NEW, OLD};
use crate::support::{Editor, World};

fn crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

#[test]
fn a_new_file_with_crlf_is_allowed_as_it_is() {
    let world = World::new();
    let mut editor = Editor::attach(&world);
    let path = world.path_str("new.txt");
    let hook = HookProcess::start(&world, &claude_write(&world, &path, &crlf(NEW)));
    let shown = editor.shown(&path);
    editor.accept(&shown);
    let output = json!({ "hookEventName": "PreToolUse", "permissionDecision": "allow" });
    assert_eq!(hook.answer(), json!({ "hookSpecificOutput": output }));
}

#[test]
fn a_whole_text_in_lf_gets_the_crlf_of_the_file() {
    let world = World::new();
    let path = world.file("a.txt", crlf(OLD));
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &claude_write(&world, &path, NEW));
    let shown = editor.shown(&path);
    assert_eq!(shown.hunks.len(), 2);
    editor.accept(&shown);
    let input = json!({ "file_path": path, "content": crlf(NEW) });
    let output =
        json!({ "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": input });
    assert_eq!(hook.answer(), json!({ "hookSpecificOutput": output }));
}

#[test]
fn an_added_file_over_one_with_crlf_becomes_an_update() {
    let world = World::new();
    let path = world.file("a.txt", crlf(OLD));
    let mut editor = Editor::attach(&world);
    let lines: String = NEW.lines().map(|line| format!("+{line}\n")).collect();
    let patch = format!("*** Begin Patch\n*** Add File: a.txt\n{lines}*** End Patch\n");
    let hook = HookProcess::start(&world, &codex(&world, "PreToolUse", &patch));
    let shown = editor.shown(&path);
    editor.accept(&shown);
    let answer = hook.answer();
    let patch = answer["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap();
    assert!(patch.contains("*** Update File: a.txt\n") && patch.contains("\n+TWO\n"), "{patch}");
}

#[test]
fn an_edit_of_line_endings_alone_is_not_made_unseen() {
    let world = World::new();
    let path = world.file("a.txt", crlf(OLD));
    let editor = Editor::attach(&world);
    let answer = HookProcess::start(&world, &claude_write(&world, &path, OLD)).answer();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
    assert!(editor.state().shown.is_empty());
}

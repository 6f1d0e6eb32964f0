//! Claude Code: one event is enough for every decision.

use linkspan_editor_api::Verdict;
use serde_json::{Value, json};

use super::events::{claude, claude_edit, claude_write};
use super::hook_process::HookProcess;
use super::{
    FIRST, NEW, OLD, assert_nothing_pending, decide, first_words, reject_with_comments, rejected_words,
    take_first,
};
use crate::support::{Editor, World};

/// The answer to `PreToolUse` with these members.
fn pre(more: Value) -> Value {
    let mut output = json!({ "hookEventName": "PreToolUse" });
    output.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "hookSpecificOutput": output })
}

#[test]
fn an_accepted_edit_is_allowed_and_the_agent_writes_it() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &claude_edit(&world, &path, OLD, NEW));
    let shown = editor.shown(&path);
    assert_eq!((shown.agent.as_str(), shown.label.as_str()), ("Claude Code", "Edit a.txt"));
    assert_eq!((shown.base.as_str(), shown.proposed.as_str()), (OLD, NEW));
    assert!(shown.agent_writes);
    editor.accept(&shown);
    assert_eq!(hook.answer(), pre(json!({ "permissionDecision": "allow" })));
    assert_eq!(world.read_text("a.txt"), OLD);
    assert_nothing_pending(&world);
}

#[test]
fn comments_with_an_accept_are_context() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &claude_edit(&world, &path, OLD, NEW));
    let shown = editor.shown(&path);
    decide(&mut editor, &shown, Verdict::Accept, &[(2, "nice"), (6, "why capitals?")]);
    let context = format!(
        "The user accepted the change of {path} exactly as you proposed it.\nComment on line 2: nice\n\
         Comment on line 6: why capitals?\n(Lines are counted in your proposed text.)"
    );
    assert_eq!(hook.answer(), pre(json!({ "permissionDecision": "allow", "additionalContext": context })));
}

#[test]
fn one_hunk_of_two_is_a_rewritten_edit_with_the_difference_as_context() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &claude_edit(&world, &path, OLD, NEW));
    let shown = editor.shown(&path);
    take_first(&mut editor, &shown, &[(2, "good")]);
    let updated =
        json!({ "file_path": path, "old_string": "two", "new_string": "TWO", "replace_all": false });
    assert_eq!(result_of_edit(&updated, OLD), FIRST);
    let expected = json!({
        "permissionDecision": "allow", "additionalContext": first_words(&path), "updatedInput": updated,
    });
    assert_eq!(hook.answer(), pre(expected));
    assert_eq!(world.read_text("a.txt"), OLD);
}

#[test]
fn an_edited_text_is_what_the_agent_writes() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &claude_write(&world, &path, NEW));
    let shown = editor.shown(&path);
    let edited = NEW.replace("TWO", "Two");
    let shown = editor.edit(&shown, &edited);
    editor.accept(&shown);
    let words = format!(
        "The user edited the change of {path} and accepted the edited text instead of yours.\nHow it differs from yours \
         (- your line, not in the file; + the user's line, in the file):\n--- your proposed text\t\n\
         +++ the user's text\t\n@@ -1,5 +1,5 @@\n one\n-TWO\n+Two\n three\n four\n five\n\
         The file now holds the user's version; read it before you edit it again."
    );
    let updated = json!({ "file_path": path, "content": edited });
    let expected =
        json!({ "permissionDecision": "allow", "additionalContext": words, "updatedInput": updated });
    assert_eq!(hook.answer(), pre(expected));
    assert_eq!(world.read_text("a.txt"), OLD);
}

#[test]
fn a_file_with_crlf_is_asked_about_and_answered_with_its_own_lines() {
    let world = World::new();
    let crlf = OLD.replace('\n', "\r\n");
    let path = world.file("a.txt", &crlf);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &claude_edit(&world, &path, "two\nthree", "TWO\nthree"));
    let shown = editor.shown(&path);
    assert_eq!(shown.hunks.len(), 1);
    editor.accept(&shown);
    assert_eq!(hook.answer(), pre(json!({ "permissionDecision": "allow" })));
    assert_eq!(world.read_text("a.txt"), crlf);
}

#[test]
fn a_rejection_is_a_denial_with_reason_and_comments() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &claude_edit(&world, &path, OLD, NEW));
    let shown = editor.shown(&path);
    reject_with_comments(&mut editor, &shown);
    let expected =
        pre(json!({ "permissionDecision": "deny", "permissionDecisionReason": rejected_words(&path) }));
    assert_eq!(hook.answer(), expected);
    assert_eq!(world.read_text("a.txt"), OLD);
}

#[test]
fn a_new_file_in_a_new_folder_is_shown_and_not_written_by_us() {
    let world = World::new();
    let mut editor = Editor::attach(&world);
    let path = world.path_str("sub/new.txt");
    let hook = HookProcess::start(&world, &claude_write(&world, &path, "new\n"));
    let shown = editor.shown(&path);
    assert_eq!((shown.new_file, shown.label.as_str()), (true, "Write new.txt"));
    editor.accept(&shown);
    assert_eq!(hook.answer(), pre(json!({ "permissionDecision": "allow" })));
    assert!(!world.path("sub").exists());
}

#[test]
fn after_the_tool_nothing_is_left_to_say() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let edit = claude_edit(&world, &path, OLD, NEW);
    let hook = HookProcess::start(&world, &edit);
    let shown = editor.shown(&path);
    take_first(&mut editor, &shown, &[]);
    hook.answer();
    world.file("a.txt", FIRST);
    let done = json!({ "tool_name": "Edit", "tool_input": edit.event["tool_input"], "tool_response": {} });
    HookProcess::start(&world, &claude(&world, "PostToolUse", done)).passes();
}

#[test]
fn decided_in_another_place_is_decided() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let _serve = world.serve();
    let hook = HookProcess::start(&world, &claude_edit(&world, &path, OLD, NEW));
    let review = world.one_pending();
    world.run(&["accept", &review]).ok();
    assert_eq!(hook.answer(), pre(json!({ "permissionDecision": "allow" })));
}

/// What Claude Code's tool makes of its input.
#[track_caller]
fn result_of_edit(input: &Value, current: &str) -> String {
    let old = input["old_string"].as_str().unwrap();
    assert_eq!(current.matches(old).count(), 1, "{input}");
    current.replace(old, input["new_string"].as_str().unwrap())
}

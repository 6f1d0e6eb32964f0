//! Gemini CLI: its model hears the user's words only after the tool.

use linkspan_editor_api::Verdict;
use serde_json::json;

use super::events::gemini_edit;
use super::hook_process::{HookProcess, run};
use super::{FIRST, NEW, OLD, decide, first_words, reject_with_comments, rejected_words, take_first};
use crate::support::{Editor, World};

#[test]
fn a_part_is_rewritten_and_told_after_the_tool_once() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &gemini_edit(&world, "BeforeTool", &path, OLD, NEW));
    let shown = editor.shown(&path);
    take_first(&mut editor, &shown, &[(2, "good")]);
    let answer = hook.answer();
    let input = answer["hookSpecificOutput"]["tool_input"].clone();
    assert_eq!(
        answer,
        json!({
            "decision": "allow", "hookSpecificOutput": { "hookEventName": "BeforeTool", "tool_input": input },
        })
    );
    let written = OLD.replace(input["old_string"].as_str().unwrap(), input["new_string"].as_str().unwrap());
    assert_eq!(written, FIRST);
    world.file("a.txt", FIRST);
    let done = gemini_edit(&world, "AfterTool", &path, OLD, FIRST);
    let told = run(&world, &[], &done).ok().json();
    let output = json!({ "hookEventName": "AfterTool", "additionalContext": first_words(&path) });
    assert_eq!(told, json!({ "hookSpecificOutput": output }));
    HookProcess::start(&world, &done).passes();
}

#[test]
fn a_plain_yes_has_nothing_to_tell_and_comments_come_after_the_tool() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let done = gemini_edit(&world, "AfterTool", &path, OLD, NEW);
    let hook = HookProcess::start(&world, &gemini_edit(&world, "BeforeTool", &path, OLD, NEW));
    let shown = editor.shown(&path);
    editor.accept(&shown);
    assert_eq!(hook.answer(), json!({ "decision": "allow" }));
    world.file("a.txt", NEW);
    HookProcess::start(&world, &done).passes();

    world.file("a.txt", OLD);
    editor.state().shown.clear();
    let hook = HookProcess::start(&world, &gemini_edit(&world, "BeforeTool", &path, OLD, NEW));
    let shown = editor.shown(&path);
    decide(&mut editor, &shown, Verdict::Accept, &[(2, "nice")]);
    assert_eq!(hook.answer(), json!({ "decision": "allow" }));
    let told = run(&world, &[], &done).ok().json();
    assert!(told["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("nice"), "{told}");
}

#[test]
fn the_words_about_an_edit_that_never_happened_are_not_told_about_a_later_one() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &gemini_edit(&world, "BeforeTool", &path, OLD, NEW));
    let shown = editor.shown(&path);
    take_first(&mut editor, &shown, &[]);
    hook.answer();
    editor.state().shown.clear();
    let hook = HookProcess::start(&world, &gemini_edit(&world, "BeforeTool", &path, "five", "FIVE"));
    let shown = editor.shown(&path);
    editor.accept(&shown);
    assert_eq!(hook.answer(), json!({ "decision": "allow" }));
    HookProcess::start(&world, &gemini_edit(&world, "AfterTool", &path, "five", "FIVE")).passes();
}

#[test]
fn a_rejection_is_a_denial_with_reason_and_comments() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &gemini_edit(&world, "BeforeTool", &path, OLD, NEW));
    let shown = editor.shown(&path);
    reject_with_comments(&mut editor, &shown);
    assert_eq!(hook.answer(), json!({ "decision": "deny", "reason": rejected_words(&path) }));
    assert_eq!(world.read_text("a.txt"), OLD);
}

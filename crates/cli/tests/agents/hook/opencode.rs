//! opencode: our plugin runs the hook, and what the model hears later travels in `append`.

use serde_json::{Value, json};

use super::events::{HookInput, SESSION};
use super::hook_process::{HookProcess, run};
use super::{NEW, OLD, first_words, reject_with_comments, rejected_words, take_first};
use crate::support::{Editor, World};

fn opencode(world: &World, event: &str, more: Value) -> HookInput {
    let mut input = json!({
        "agent": "opencode", "event": event, "sessionID": SESSION, "callID": "call_1", "cwd": world.workspace(),
    });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    HookInput { event: input, variables: vec![] }
}

fn edit(world: &World, path: &str) -> HookInput {
    let args = json!({ "filePath": path, "oldString": OLD, "newString": NEW });
    opencode(world, "tool.execute.before", json!({ "tool": "edit", "args": args }))
}

#[test]
fn a_part_is_rewritten_in_place_with_the_words_for_later() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &edit(&world, &path));
    let shown = editor.shown(&path);
    assert_eq!(shown.agent, "opencode");
    take_first(&mut editor, &shown, &[(2, "good")]);
    let answer = hook.answer();
    let args = json!({ "filePath": path, "oldString": "two", "newString": "TWO" });
    assert_eq!(answer["args"], args);
    assert!(answer["append"].as_str().unwrap().contains(&first_words(&path)), "{answer}");
    let diff = format!(
        "Index: {path}\n===================================================================\n--- {path}\n+++ {path}\n\
         @@ -1,7 +1,7 @@\n one\n-two\n+TWO\n three\n four\n five\n six\n seven\n"
    );
    let metadata = json!({ "permission": "edit", "metadata": { "filepath": path, "diff": diff } });
    let permission = opencode(&world, "permission.asked", metadata);
    assert_eq!(run(&world, &[], &permission).ok().json(), json!({ "permission": "once" }));
    HookProcess::start(&world, &permission).passes();
}

#[test]
fn an_empty_old_text_overwrites_the_whole_file_and_is_shown_so() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let args = json!({ "filePath": path, "oldString": "", "newString": "other\n" });
    let input = opencode(&world, "tool.execute.before", json!({ "tool": "edit", "args": args }));
    let hook = HookProcess::start(&world, &input);
    let shown = editor.shown(&path);
    assert_eq!((shown.base.as_str(), shown.proposed.as_str()), (OLD, "other\n"));
    editor.accept(&shown);
    hook.passes();
}

#[test]
fn a_text_that_is_not_found_exactly_is_an_error() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let editor = Editor::attach(&world);
    let args = json!({ "filePath": path, "oldString": " two ", "newString": "TWO" });
    let input = opencode(&world, "tool.execute.before", json!({ "tool": "edit", "args": args }));
    let answer = HookProcess::start(&world, &input).answer();
    assert!(answer["error"].as_str().unwrap().contains("was not found exactly"), "{answer}");
    assert!(editor.state().shown.is_empty());
}

#[test]
fn a_rejection_is_the_error_of_the_tool() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &edit(&world, &path));
    let shown = editor.shown(&path);
    reject_with_comments(&mut editor, &shown);
    assert_eq!(hook.answer(), json!({ "error": rejected_words(&path) }));
    assert_eq!(world.read_text("a.txt"), OLD);
}

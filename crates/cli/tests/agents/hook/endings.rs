//! How a wait ends without a decision: nothing stays on the screen, and nothing is allowed.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::events::{claude, claude_edit, codex};
use super::hook_process::HookProcess;
use super::{NEW, OLD, REASON, assert_nothing_pending, reject};
use crate::support::{Editor, World, eventually};

#[track_caller]
fn assert_undecided(answer: &Value, why: &str) {
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["permissionDecision"], "deny", "{answer}");
    let expected = format!(
        "The user has not decided on this change ({why}). Nothing was written. Propose it again if it is still wanted."
    );
    assert!(output["permissionDecisionReason"].as_str().unwrap().starts_with(&expected), "{answer}");
}

#[test]
fn a_signal_withdraws_the_review_and_ends_without_an_answer() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let editor = Editor::attach(&world);
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        editor.state().shown.clear();
        let hook = HookProcess::start(&world, &claude_edit(&world, &path, OLD, NEW));
        let shown = editor.shown(&path);
        hook.signal(signal);
        hook.passes();
        editor.hidden(&shown.review);
        assert_nothing_pending(&world);
    }
}

#[test]
fn a_killed_hook_takes_its_review_with_it() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &claude_edit(&world, &path, OLD, NEW));
    let shown = editor.shown(&path);
    hook.signal(Signal::KILL);
    editor.hidden(&shown.review);
    assert_nothing_pending(&world);
    assert_eq!(hook.end().code, -1);
}

#[test]
fn an_agent_that_stops_reading_no_longer_waits() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let editor = Editor::attach(&world);
    let mut hook = HookProcess::start(&world, &claude_edit(&world, &path, OLD, NEW));
    let shown = editor.shown(&path);
    hook.stop_reading();
    editor.hidden(&shown.review);
    assert_eq!(hook.end().code, 0);
}

#[test]
fn an_agent_that_dies_no_longer_waits() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let editor = Editor::attach(&world);
    let edit = claude_edit(&world, &path, OLD, NEW);
    let event = world.file("event.json", edit.event.to_string());
    // A shell in the place of the agent; the answer goes to a file, which nobody closes.
    let script = format!(
        "exec 3<'{event}'; '{}' hook <&3 >'{}' & wait",
        crate::support::paths::linkspan().display(),
        world.path_str("answer")
    );
    let mut shell = world.program("/bin/sh");
    shell.args(["-c", &script]).stdout(Stdio::null()).envs(edit.variables.iter().copied());
    let mut shell = shell.spawn().unwrap();
    let shown = editor.shown(&path);
    shell.kill().unwrap();
    shell.wait().unwrap();
    editor.hidden(&shown.review);
    assert_eq!(world.read_text("answer"), "");
}

#[test]
fn a_killed_hub_is_asked_again_and_shows_the_same_review() {
    let mut world = World::new();
    world.may_leave_files();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &claude_edit(&world, &path, OLD, NEW));
    let first = editor.shown(&path);
    editor.state().shown.clear();
    world.kill_hub();
    let again = editor.shown(&path);
    assert_eq!(again.review, first.review);
    // Until the hook is back, the hub accepts nothing: nobody would write it.
    eventually("the hook is back", || (world.reviews().first()?["ownerGone"] != json!(true)).then_some(()));
    assert_eq!(world.one_pending(), first.review);
    editor.accept(&again);
    let output = json!({ "hookEventName": "PreToolUse", "permissionDecision": "allow" });
    assert_eq!(hook.answer(), json!({ "hookSpecificOutput": output }));
    assert_nothing_pending(&world);
}

#[test]
fn a_window_that_closes_denies_the_edit() {
    let world = World::new();
    let (a, b) = (world.file("a.txt", OLD), world.file("b.txt", OLD));
    let editor = Editor::attach(&world);
    let asking = HookProcess::start(&world, &claude_edit(&world, &a, OLD, NEW));
    let requiring = HookProcess::start_with(&world, &["--require"], &claude_edit(&world, &b, OLD, NEW));
    editor.shown(&a);
    editor.shown(&b);
    editor.detach();
    for hook in [asking, requiring] {
        assert_undecided(&hook.answer(), "the editor was closed");
    }
    assert_nothing_pending(&world);
}

#[test]
fn a_new_prompt_shows_that_the_agent_went_on() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let editor = Editor::attach(&world);
    let hook = HookProcess::start(&world, &claude_edit(&world, &path, OLD, NEW));
    let shown = editor.shown(&path);
    let prompt = claude(&world, "UserPromptSubmit", json!({ "prompt": "something else" }));
    HookProcess::start(&world, &prompt).end().ok();
    editor.hidden(&shown.review);
    assert_undecided(&hook.answer(), "the review was closed");
}

#[test]
fn a_set_with_a_rejected_file_never_passes() {
    let world = World::new();
    let (a, b) = (world.file("a.txt", OLD), world.file("b.txt", OLD));
    let mut editor = Editor::attach(&world);
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+TWO\n*** Update File: b.txt\n@@\n-two\n+TWO\n\
                 *** End Patch\n";
    let hook = HookProcess::start(&world, &codex(&world, "PreToolUse", patch));
    let (shown_a, shown_b) = (editor.shown(&a), editor.shown(&b));
    reject(&mut editor, &shown_a, REASON, &[]);
    let prompt = codex(&world, "UserPromptSubmit", "").with("tool_name", json!(null));
    HookProcess::start(&world, &prompt.with("tool_input", json!(null))).passes();
    editor.hidden(&shown_b.review);
    let answer = hook.answer();
    assert_undecided(&answer, "the review was closed");
    assert!(answer.to_string().contains("The user rejected the change of"), "{answer}");
}

#[test]
fn an_edit_that_was_done_nevertheless_closes_its_review() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let editor = Editor::attach(&world);
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n three\n*** End Patch\n";
    let hook = HookProcess::start(&world, &codex(&world, "PreToolUse", patch));
    let shown = editor.shown(&path);
    std::fs::write(&path, OLD.replace("two", "TWO")).unwrap();
    HookProcess::start(&world, &codex(&world, "PostToolUse", patch)).passes();
    editor.hidden(&shown.review);
    assert_undecided(&hook.answer(), "the review was closed");
}

#[test]
fn one_refused_file_of_a_set_withdraws_the_others() {
    let world = World::new();
    let a = world.file("a.txt", OLD);
    let outside = world.folder("outside").join("b.txt");
    std::fs::write(&outside, OLD).unwrap();
    let editor = Editor::attach(&world);
    let patch = format!(
        "*** Begin Patch\n*** Update File: {a}\n@@\n-two\n+TWO\n*** Update File: {}\n@@\n-two\n+TWO\n*** End Patch\n",
        outside.display()
    );
    HookProcess::start(&world, &codex(&world, "PreToolUse", &patch)).passes();
    assert_nothing_pending(&world);
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), OLD);
    drop(editor);
}

//! opencode, whose plugin runs the same hook: `opencode run` with a decision in the editor.

use std::process::Stdio;

use linkspan_editor_api as api;
use serde_json::json;

use super::{BEFORE, FIRST_HUNK, PROPOSED, REASON, tool, words};
use crate::support::model::ModelText;
use crate::support::real_agent::opencode_run;
use crate::support::world::finish;
use crate::support::{Editor, Model, Turn, World};

#[test]
fn one_hunk_of_two_is_written_and_the_model_is_told_which() {
    let world = World::new();
    let told = decided(&world, |editor, shown| {
        let hunks = vec![shown.hunks[0].id.clone()];
        editor.decide(shown, api::Verdict::AcceptHunks { hunks })
    });
    let words = words::first_hunk(&world.path_str("a.txt"));
    assert_eq!(told, [tool(format!("Edit applied successfully.\n\n{words}"))]);
    assert_eq!(world.read_text("a.txt"), FIRST_HUNK);
}

#[test]
fn a_rejection_reaches_the_model_with_its_reason() {
    let world = World::new();
    let told = decided(&world, |editor, shown| {
        editor.decide(shown, api::Verdict::Reject { reason: Some(REASON.to_owned()) })
    });
    let path = world.path_str("a.txt");
    let text = format!(
        "The user rejected the change of {path}. Nothing of it was written. The file is as it was before.\nReason: {REASON}"
    );
    assert_eq!(told, [tool(text)]);
    assert_eq!(world.read_text("a.txt"), BEFORE);
}

/// Everything that the model received about the change.
#[track_caller]
fn decided(
    world: &World,
    decide: impl FnOnce(&mut Editor, &api::ReviewShow) -> api::ReviewDecidedResult,
) -> Vec<ModelText> {
    let path = world.file("a.txt", BEFORE);
    let mut editor = Editor::attach(world);
    world.run(&["hook", "install", "opencode", "--yes"]).ok();
    let read = Turn::calls("read", json!({ "filePath": path }));
    let change = json!({ "filePath": path, "oldString": BEFORE, "newString": PROPOSED });
    let model = Model::start([read, Turn::calls("edit", change)]);
    let mut command = opencode_run(world, &model, "please change it");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    model.asked(2);
    let shown = editor.shown(&path);
    assert_eq!(decide(&mut editor, &shown), api::ReviewDecidedResult::Taken);
    let output = finish(child);
    assert_eq!(output.code, 0, "{output:?}");
    model.told_about(1)
}

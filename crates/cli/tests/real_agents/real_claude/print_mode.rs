//! `claude -p`, which never connects to an editor: it changes files through `linkspan mcp`, as the docs say.

use std::process::Stdio;

use serde_json::{Value, json};

use super::{ClaudeVersion, World, with_each_version};
use crate::support::{Model, Turn, claude, paths};

with_each_version! {
    a_change_is_proposed_through_the_mcp_server
}

const BEFORE: &str = "one\ntwo\nthree\n";
const AFTER: &str = "one\n2\nthree\n";

fn a_change_is_proposed_through_the_mcp_server(version: ClaudeVersion) {
    let world = World::new();
    world.file("a.txt", BEFORE);
    let serve = world.serve();
    claude::set_up(&world);
    let change = json!({ "path": "a.txt", "newText": AFTER });
    let model = Model::start([Turn::calls("mcp__linkspan__proposeChange", change)]);

    let mut adding = claude::command(&world, version, &model);
    adding.args(["mcp", "add", "--scope", "user", "linkspan", "--"]).arg(paths::linkspan()).arg("mcp");
    assert!(adding.output().unwrap().status.success());

    let mut printing = claude::command(&world, version, &model);
    printing.args(["-p", "change it", "--allowedTools"]);
    printing.arg("mcp__linkspan__proposeChange,mcp__linkspan__proposeChanges");
    printing.args(["--disallowedTools", "Edit,MultiEdit,Write,NotebookEdit"]);
    let child = printing.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    model.asked(1);
    let review = world.one_pending();
    world.run(&["accept", &review]).ok();

    let told = model.result(0);
    assert!(!told.is_error && told.text.to_lowercase().contains("accepted"), "{told:?}");
    assert_eq!(world.read_text("a.txt"), AFTER);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout == b"Done.\n", "{output:?}");

    // The model sees how to propose a change without a search for it, and nothing else that writes files.
    let first = model.conversation().remove(0);
    let offered = |tool: &&Value| tool["defer_loading"] != true;
    let tools: Vec<&str> = first["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter(offered)
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    for needed in ["mcp__linkspan__proposeChange", "mcp__linkspan__proposeChanges"] {
        assert!(tools.contains(&needed), "no {needed} in {tools:?}");
    }
    for writes in ["Edit", "MultiEdit", "Write", "NotebookEdit"] {
        assert!(!tools.contains(&writes), "{writes} in {tools:?}");
    }
    drop(serve);
}

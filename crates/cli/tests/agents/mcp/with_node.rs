//! The official TypeScript clients, of both eras, which check what they get against our schemas.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::*;

/// Runs the client script in a world with an editor; returns its output, after an accepted and a cancelled call.
fn run_client(era: &str) -> (World, Value) {
    let modules = prerequisites::node_modules();
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut editor = Editor::attach(&world);
    let environment = world.command(&["mcp"]);
    let client = Command::new("node")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/peers/mcp_client.mjs"))
        .arg(&modules)
        .args([env!("CARGO_BIN_EXE_linkspan"), era])
        .env_clear()
        .envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("PROJECT", world.workspace())
        // Not the project: relative paths are relative to the root that the client sends.
        .current_dir(world.home())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let shown = editor.shown(&path);
    assert_eq!(shown.label, "from TypeScript");
    editor.accept(&shown);
    let withdrawn = editor.until("the second review", |state| state.shown.get(1).cloned());
    assert_eq!(editor.hidden(&withdrawn.review), linkspan_editor_api::HideReason::Withdrawn);
    let ran = world::finish(client).ok();
    assert_eq!(ran.stderr, "", "no validator complains of our schemas");
    drop(editor);
    let said = ran.json();
    (world, said)
}

fn check(era: &str) {
    let (world, said) = run_client(era);
    assert!(said["instructions"].as_str().unwrap().contains("Do not write it again"), "{said}");
    assert!(said["tools"].as_array().unwrap().contains(&json!("proposeChanges")), "{said}");
    assert_eq!(said["folders"]["editor"], "Test Editor");
    assert_eq!(said["refused"]["isError"], true);
    assert_eq!(said["proposed"]["structuredContent"]["outcome"], "accepted", "{said}");
    assert!(said["withdrawn"]["error"].as_str().unwrap().contains("changed my mind"), "{said}");
    assert_eq!(world.read_text("a.txt"), "two\n");
}

#[test]
fn the_typescript_sdk_with_a_handshake_gets_along() {
    check("handshake");
}

#[test]
fn the_typescript_client_without_a_handshake_gets_along() {
    check("now");
}

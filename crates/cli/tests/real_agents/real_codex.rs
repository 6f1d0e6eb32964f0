//! Codex without a hook: what its terminal asks is decided there, in each of the ways in which it runs.

use serde_json::json;

use crate::support::model::{ModelText, Role};
use crate::support::real_agent::{CodexServer, Sandbox, codex_exec};
use crate::support::{Model, RealAgent, Turn, World};

const BEFORE: &str = "one\ntwo\nthree\n";
const AFTER: &str = "one\n2\nthree\n";
const PATCH: &str = "*** Begin Patch
*** Update File: a.txt
@@
 one
-two
+2
 three
*** End Patch
";

#[test]
fn a_patch_that_is_allowed_in_the_terminal_is_written() {
    is_written_after_a_yes(CodexServer::None);
}

#[test]
fn a_patch_of_an_app_server_is_allowed_in_the_terminal() {
    is_written_after_a_yes(CodexServer::AppServer);
}

#[test]
fn a_patch_of_its_own_daemon_is_allowed_in_the_terminal() {
    is_written_after_a_yes(CodexServer::Daemon);
}

#[track_caller]
fn is_written_after_a_yes(server: CodexServer) {
    let world = World::new();
    world.file("a.txt", BEFORE);
    let mut codex = RealAgent::codex(&world, Sandbox::ReadOnly, server, [change()]);
    codex.prompt("please change it");
    codex.answers("Would you like to make the following edits?", "y");
    let told = codex.model.told_about(0);
    assert!(is_success(&told), "{told:?}");
    assert_eq!(world.read_text("a.txt"), AFTER);
}

#[test]
fn the_command_asks_nothing_in_a_sandbox_that_may_write() {
    let world = World::new();
    world.file("a.txt", BEFORE);
    let model = Model::start([change()]);
    let output = codex_exec(&world, &model, Sandbox::WorkspaceWrite, "please change it").output().unwrap();
    assert!(output.status.success() && output.stdout == b"Done.\n", "{output:?}");
    let told = model.told_about(0);
    assert!(is_success(&told), "{told:?}");
    assert_eq!(world.read_text("a.txt"), AFTER);
}

fn change() -> Turn {
    Turn::calls("apply_patch", json!(PATCH))
}

fn is_success(told: &[ModelText]) -> bool {
    let [ModelText { role: Role::Tool, text }] = told else { return false };
    text.ends_with("Success. Updated the following files:\nM a.txt\n")
}

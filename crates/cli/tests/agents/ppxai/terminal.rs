//! Commands, with the user's permission: in the editor's terminal, and in the hub's own.

use std::time::{Duration, Instant};

use linkspan_editor_api as api;
use linkspan_editor_api::AskOption;
use serde_json::{Value, json};

use crate::support::editor::all_capabilities;
use crate::support::ppxai::{Client, error, result};
use crate::support::*;

/// An editor with terminals.
fn fixture() -> (World, Editor) {
    let world = World::new();
    let capabilities = api::Capabilities { terminal: true, questions: true, ..all_capabilities() };
    let editor = EditorBuilder::new(&world).capabilities(capabilities).attach();
    (world, editor)
}

/// A window that can show permission prompts, and has no documents.
fn bare() -> (World, Editor) {
    let world = World::new();
    let capabilities = api::Capabilities { questions: true, ..api::Capabilities::default() };
    let editor = EditorBuilder::new(&world).capabilities(capabilities).attach();
    (world, editor)
}

/// Allowed once.
#[track_caller]
fn run(editor: &mut Editor, args: Value) -> Value {
    let asked = editor.state().questions.len();
    let waiting = Client::new(editor.port()).asking("ide.run_in_terminal", args);
    let question = editor.question(asked + 1);
    editor.reply(&question, Some(AskOption::AllowOnce));
    waiting.join().unwrap()
}

#[test]
fn a_command_runs_in_the_editors_terminal_once_the_person_allows_it() {
    let (world, mut editor) = fixture();
    let waiting = Client::new(editor.port())
        .asking("ide.run_in_terminal", json!({ "command": "make", "wait_seconds": 5, "confirmed": true }));
    let question = editor.question(1);
    assert_eq!(question.question, "Allow ppxai to run this command in a terminal?");
    assert_eq!(question.detail.as_deref(), Some("make"));
    assert!(editor.state().ran.is_empty(), "a request does not confirm itself");
    editor.reply(&question, Some(AskOption::AllowOnce));
    let ran = json!({ "terminal": "t1", "output": "make", "exit_code": 3, "timed_out": false });
    assert_eq!(result(waiting.join().unwrap()), ran);
    editor.state().scripted.insert("terminal/output".into(), json!({ "output": "more", "running": true }));
    let shows = json!({ "terminal": "t1", "output": "more", "running": true, "exit_code": null });
    let mut client = Client::new(editor.port());
    assert_eq!(client.result("ide.get_terminal_output", json!({})), shows);
    assert_eq!(client.result("ide.get_terminal_output", json!({ "terminal": "t1" })), shows);
    // The editor has it, but it was not made for this client.
    assert_eq!(client.error("ide.get_terminal_output", json!({ "terminal": "t9" })).0, "NOT_FOUND");
    let mut other = Client::called(editor.port(), "other");
    assert_eq!(other.error("ide.get_terminal_output", json!({ "terminal": "t1" })).0, "NOT_FOUND");
    assert_eq!(
        other.error("ide.run_in_terminal", json!({ "command": "x", "terminal": "t1" })).0,
        "NOT_FOUND"
    );
    run(&mut editor, json!({ "command": "again", "terminal": "t1", "cwd": "." }));
    let last = editor.state().ran.last().cloned().unwrap();
    assert_eq!(
        (last.terminal.as_deref(), last.cwd),
        (Some("t1"), Some(world.workspace().display().to_string()))
    );
}

#[test]
fn a_refused_command_does_not_run() {
    let (_world, mut editor) = fixture();
    let waiting = Client::new(editor.port()).asking("ide.run_in_terminal", json!({ "command": "rm -rf /" }));
    editor.reply(&editor.question(1), Some(AskOption::Deny));
    assert_eq!(error(&waiting.join().unwrap()).0, "DENIED");
    assert!(editor.state().ran.is_empty());
    let mut client = Client::new(editor.port());
    for (args, code) in [
        (json!({}), "INVALID_ARGUMENT"),
        (json!({ "command": "ls", "cwd": "absent" }), "NOT_FOUND"),
        (json!({ "command": "ls", "cwd": "/" }), "OUTSIDE_WORKSPACE"),
        (json!({ "command": "ls\u{3}" }), "INVALID_ARGUMENT"),
        (json!({ "command": "x".repeat(70_000) }), "TOO_LARGE"),
    ] {
        assert_eq!(client.error("ide.run_in_terminal", args).0, code);
    }
    assert_eq!(editor.state().questions.len(), 1);
}

#[test]
fn a_terminal_is_made_in_the_editor() {
    let (_world, editor) = fixture();
    editor.state().scripted.insert("terminal/create".into(), json!({ "terminal": "t7" }));
    let mut client = Client::new(editor.port());
    let made = client.result("ide.create_terminal", json!({ "name": "tests" }));
    assert_eq!(made, json!({ "terminal": "t7", "name": "tests" }));
    assert_eq!(editor.state().scripted_asked[0].1["name"], "tests");
    assert_eq!(client.error("ide.create_terminal", json!({ "cwd": "absent" })).0, "NOT_FOUND");
}

#[test]
fn an_editor_that_keeps_commands_from_its_folder_is_not_gone_around() {
    let world = World::new();
    let capabilities = api::Capabilities { questions: true, ..all_capabilities() };
    let editor = EditorBuilder::new(&world).capabilities(capabilities).attach();
    let mut client = Client::new(editor.port());
    assert_eq!(client.error("ide.run_in_terminal", json!({ "command": "ls" })).0, "UNSUPPORTED");
    assert_eq!(client.error("ide.git_commit", json!({ "message": "x" })).0, "UNSUPPORTED");
}

#[test]
fn without_an_editor_commands_run_in_the_hubs_own_terminal() {
    let (world, mut editor) = bare();
    let ran = result(run(&mut editor, json!({ "command": "pwd; echo $LINKSPAN_WINDOW; exit 3" })));
    assert_eq!(ran["terminal"], "hub-1");
    assert_eq!(ran["output"].as_str().unwrap().trim(), format!("{}\nw1", world.workspace().display()));
    assert_eq!((&ran["exit_code"], &ran["timed_out"]), (&json!(3), &json!(false)));
    let mut client = Client::new(editor.port());
    let shows = client.result("ide.get_terminal_output", json!({}));
    assert_eq!(
        (&shows["terminal"], &shows["running"], &shows["exit_code"]),
        (&json!("hub-1"), &json!(false), &json!(3))
    );
    let killed = result(run(&mut editor, json!({ "command": "kill -9 $$" })));
    assert_eq!(killed["exit_code"], 137);
}

#[test]
fn a_command_may_open_as_many_files_as_the_hub_was_given() {
    let world = World::new();
    let script = "ulimit -S -n 300; exec \"$0\" hub start";
    let started = world.program("sh").arg("-c").arg(script).arg(paths::linkspan()).output().unwrap();
    assert!(started.status.success(), "{started:?}");
    let hub = world.hub_pid().unwrap();
    let limits = std::fs::read_to_string(format!("/proc/{hub}/limits")).unwrap();
    let own = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let own: u64 = own.split_whitespace().next().unwrap().parse().unwrap();
    assert!(own > 300, "the hub itself takes more: {own}");
    let capabilities = api::Capabilities { questions: true, ..api::Capabilities::default() };
    let mut editor = EditorBuilder::new(&world).capabilities(capabilities).attach();
    let ran = result(run(&mut editor, json!({ "command": "sleep 0.3; ulimit -S -n; sh -c 'ulimit -S -n'" })));
    let said = ran["output"].as_str().unwrap();
    assert_eq!(said.lines().map(str::trim).collect::<Vec<_>>(), ["300", "300"]);
}

#[test]
fn a_command_that_takes_longer_goes_on_and_can_be_read_later() {
    let (world, mut editor) = bare();
    let mut client = Client::new(editor.port());
    let made = client.result("ide.create_terminal", json!({ "name": "slow" }));
    assert_eq!(made, json!({ "terminal": "hub-1", "name": "slow" }));
    let command = "echo first; while ! test -e go-on; do sleep 0.1; done; echo last";
    let args = json!({ "command": command, "wait_seconds": 2, "terminal": "hub-1" });
    let ran = result(run(&mut editor, args));
    assert_eq!((&ran["timed_out"], &ran["exit_code"]), (&json!(true), &Value::Null));
    assert!(ran["output"].as_str().unwrap().contains("first"), "{ran}");
    let busy = run(&mut editor, json!({ "command": "echo", "terminal": "hub-1" }));
    assert_eq!(error(&busy).0, "FAILED");
    world.file("go-on", "");
    eventually("it has ended", || {
        let shows = client.result("ide.get_terminal_output", json!({ "terminal": "hub-1" }));
        (shows["output"].as_str()?.contains("last") && shows["running"] == false).then_some(())
    });
}

#[test]
fn what_a_client_that_left_had_running_is_ended() {
    let (world, mut editor) = bare();
    let mut client = Client::new(editor.port());
    let command = "echo $$ > pid; sleep 60";
    let body = json!({ "id": 1, "tool": "ide.run_in_terminal", "args": { "command": command } });
    client.write("POST /ide/execute", &body.to_string());
    editor.reply(&editor.question(1), Some(AskOption::AllowOnce));
    let pid: u32 =
        eventually("it runs", || std::fs::read_to_string(world.path("pid")).ok()?.trim().parse().ok());
    drop(client);
    let left = Instant::now();
    eventually("it is ended", || (!world::alive(pid)).then_some(()));
    assert!(left.elapsed() < Duration::from_secs(9));
}

#[test]
fn only_so_many_terminals_are_kept() {
    let (_world, editor) = bare();
    let mut client = Client::new(editor.port());
    for number in 1..=17 {
        let made = client.result("ide.create_terminal", json!({}));
        assert_eq!(made["terminal"], format!("hub-{number}"));
    }
    assert_eq!(client.error("ide.get_terminal_output", json!({ "terminal": "hub-1" })).0, "NOT_FOUND");
    assert_eq!(client.result("ide.get_terminal_output", json!({ "terminal": "hub-2" }))["output"], "");
}

#[test]
fn long_output_keeps_its_end_and_says_so() {
    let (_world, mut editor) = bare();
    let told = run(&mut editor, json!({ "command": "seq 1 1000000 | tail -n 500000" }));
    assert_eq!(told["truncated"], true, "{}", told["result"]["output"].as_str().unwrap().len());
    assert!(told["result"]["output"].as_str().unwrap().trim_end().ends_with("1000000"));
}

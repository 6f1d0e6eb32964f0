//! Snapshots of the messages of each dialect: the handshake, the list of tools, and the answers to a proposal. To
//! accept new ones: `INSTA_UPDATE=always cargo nextest run -p linkspan frames::`.

use insta::{Settings, assert_snapshot};
use linkspan_editor_api::{AskOption, Capabilities};
use serde_json::{Value, json};

use crate::support::editor::all_capabilities;
use crate::support::gemini::Gemini;
use crate::support::mcp::{self, Era};
use crate::support::ppxai as http;
use crate::support::*;

const OLD: &str = "one\ntwo\nthree\n";
const NEW: &str = "one\n2\nthree\n";

#[track_caller]
fn check(name: &str, transcript: Transcript<'_>) {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| assert_snapshot!(name, transcript.finish()));
}

/// The handshake, the tools, and `openDiff` accepted, rejected and refused, over a WebSocket.
fn over_websocket(name: &str, dialect: WsDialect, who: agent::Who) {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::connect(&world, editor.port(), dialect);
    let mut transcript = Transcript::new(&world);
    transcript.message("initialize", &agent.introduce(who));
    transcript.message("tools/list", &agent.request("tools/list", json!({})));
    let call = agent.propose(&path, NEW, "a.txt");
    editor.accept(&editor.shown(&path));
    transcript.message("openDiff, accepted", &agent.answer(call));
    world.file("a.txt", OLD);
    let call = agent.propose(&path, "three\n", "a.txt");
    let shown = editor.until("the second change", |state| state.shown.get(1).cloned());
    editor.reject(&shown);
    transcript.message("openDiff, rejected", &agent.answer(call));
    let outside = agent.call("openDiff", agent::diff("/etc/passwd", "x\n", "passwd"));
    transcript.message("openDiff of a file outside the workspace", &outside);
    transcript.message("a tool that does not exist", &agent.call("noSuchTool", json!({})));
    transcript.message("a method that does not exist", &agent.request("no/such/method", json!({})));
    check(name, transcript);
    drop((agent, editor));
}

#[test]
fn claude() {
    over_websocket("claude", WsDialect::Claude, agent::CLAUDE);
}

#[test]
fn nexus3() {
    over_websocket("nexus3", WsDialect::Nexus3, agent::NEXUS3);
}

#[test]
fn gemini() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let found = Gemini::find(&world, editor.port());
    let client = json!({ "name": "streamable-http-client", "version": "0.61.0" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let mut transcript = Transcript::new(&world);
    let hello = found.post(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
    transcript.message("initialize", &hello.message());
    let agent = Gemini::ready(&world, editor.port());
    let listed = agent.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
    transcript.message("tools/list", &listed.message());
    let mut stream = agent.listen(None);
    let propose =
        |id: i64, text: &str| agent.call(id, "openDiff", json!({ "filePath": path, "newContent": text }));
    transcript.message("openDiff", &propose(2, NEW));
    editor.accept(&editor.shown(&path));
    transcript.message("accepted", &stream.notification("ide/diffAccepted"));
    world.file("a.txt", OLD);
    propose(3, "three\n");
    let shown = editor.until("the second change", |state| state.shown.get(1).cloned());
    editor.reject(&shown);
    transcript.message("rejected", &stream.notification("ide/diffRejected"));
    let outside = agent.call(4, "openDiff", json!({ "filePath": "/etc/passwd", "newContent": "x\n" }));
    transcript.message("openDiff of a file outside the workspace", &outside);
    check("gemini", transcript);
    drop(editor);
}

#[test]
fn copilot() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let mut agent = Copilot::find(&world, "a-session");
    let mut transcript = Transcript::new(&world);
    let discover = json!({ "jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {} });
    transcript.message("server/discover", &agent.post(&discover).message());
    transcript.message("initialize", &agent.initialize().message());
    agent.begun = true;
    agent.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let _stream = agent.listen();
    let listed = agent.post(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    transcript.message("tools/list", &listed.message());
    let pending = agent.open_diff(&path, NEW, "a.txt (1)");
    editor.accept(&editor.shown(&path));
    transcript.message("open_diff, accepted", &pending.answer());
    let pending = agent.open_diff(&path, "three\n", "a.txt (2)");
    let shown = editor.until("the second change", |state| state.shown.get(1).cloned());
    editor.reject(&shown);
    transcript.message("open_diff, rejected", &pending.answer());
    let pending = agent.open_diff(&path, "four\n", "a.txt (3)");
    let shown = editor.until("the third change", |state| state.shown.get(2).cloned());
    let shown = editor.edit(&shown, "five\n");
    editor.accept(&shown);
    transcript.message("open_diff, accepted with edits", &pending.answer());
    let outside = agent.open_diff("/etc/passwd", "x\n", "passwd");
    transcript.message("open_diff of a file outside the workspace", &outside.answer());
    transcript.message("close_diff", &agent.call(8, "close_diff", json!({ "tab_name": "none" })));
    transcript.message("get_selection", &agent.call(9, "get_selection", json!({})));
    transcript.message("get_vscode_info", &agent.call(10, "get_vscode_info", json!({})));
    check("copilot", transcript);
    drop(editor);
}

#[test]
fn clio() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::open(editor.port(), &[]).unwrap();
    let mut transcript = Transcript::new(&world);
    agent.send_json(&json!({ "type": "connect", "clientVersion": "0.1.0" }));
    transcript.message("connect", &agent.next_frame(DEADLINE).unwrap());
    let place = |line: u32, character: u32| json!({ "line": line, "character": character });
    let edit =
        json!({ "range": { "start": place(1, 0), "end": place(1, 3) }, "oldText": "two", "newText": "2" });
    let propose = json!({ "type": "proposeDiff", "file": path, "edits": [edit], "description": "Shorter" });
    agent.send_json(&propose);
    editor.accept(&editor.shown(&path));
    transcript.message("proposeDiff, accepted", &agent.next_frame(DEADLINE).unwrap());
    world.file("a.txt", OLD);
    agent.send_json(&propose);
    let shown = editor.until("the second change", |state| state.shown.get(1).cloned());
    editor.reject(&shown);
    transcript.message("proposeDiff, rejected", &agent.next_frame(DEADLINE).unwrap());
    agent.send_json(&json!({ "type": "noSuchMessage" }));
    transcript.message("a message that does not exist", &agent.next_frame(DEADLINE).unwrap());
    check("clio", transcript);
    drop((agent, editor));
}

#[test]
fn ppxai() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let mut transcript = Transcript::new(&world);
    let mut client = http::Client::new(editor.port());
    let (code, status) = client.send("GET /status", "");
    transcript.message(&format!("GET /status: {code}"), &status);
    let port = editor.port();
    let propose = |text: &str| {
        http::Client::new(port).asking("ide.apply_edit", json!({ "path": "a.txt", "content": text }))
    };
    let accepted = propose(NEW);
    editor.accept(&editor.shown(&path));
    transcript.message("ide.apply_edit, accepted", &accepted.join().unwrap());
    world.file("a.txt", OLD);
    let rejected = propose("three\n");
    let shown = editor.until("the second change", |state| state.shown.get(1).cloned());
    editor.reject(&shown);
    transcript.message("ide.apply_edit, rejected", &rejected.join().unwrap());
    let read = |client: &mut http::Client, path: &str| client.call("ide.read_file", json!({ "path": path }));
    transcript.message("ide.read_file", &read(&mut client, "a.txt"));
    transcript.message("ide.read_file outside the workspace", &read(&mut client, "../outside.txt"));
    transcript.message("a tool that does not exist", &client.call("ide.no_such_tool", json!({})));
    check("ppxai", transcript);
    drop(editor);
}

#[test]
fn our_own() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let capabilities = Capabilities { questions: true, ..all_capabilities() };
    let mut editor = EditorBuilder::new(&world).capabilities(capabilities).attach();
    let mut agent = OwnAgent::join(&world, "snapshot");
    let mut transcript = Transcript::new(&world);
    transcript.message("agent/join", &agent.joined.clone());
    let id = agent.send_request("tools/list", json!({}));
    transcript.message("tools/list", &agent.answer(id));
    let call = agent.propose(&path, NEW);
    editor.accept(&editor.shown(&path));
    transcript.message("proposeChange, accepted", &agent.answer(call));
    let call = agent.propose(&path, "three\n");
    let shown = editor.until("the second change", |state| state.shown.get(1).cloned());
    editor.reject(&shown);
    transcript.message("proposeChange, rejected", &agent.answer(call));
    let call = agent.propose("/etc/passwd", "x\n");
    transcript.message("proposeChange of a file outside the workspace", &agent.answer(call));
    let call = agent.call("requestPermission", json!({ "command": "make all" }));
    let asked = editor.question(1);
    editor.reply(&asked, Some(AskOption::Deny));
    transcript.message("requestPermission, refused", &agent.answer(call));
    check("own", transcript);
    drop((agent, editor));
}

#[test]
fn mcp() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let mut client = mcp::Client::of(&world, Era::Now);
    let mut transcript = Transcript::new(&world);
    let answer: Value = client.request("tools/list", json!({}));
    transcript.message("tools/list", &answer);
    let call = client.start_call("proposeChange", json!({ "path": path, "newText": NEW }));
    editor.accept(&editor.shown(&path));
    transcript.message("proposeChange, accepted", &client.result(call));
    let call = client.start_call("proposeChange", json!({ "path": path, "newText": "three\n" }));
    let shown = editor.until("the second change", |state| state.shown.get(1).cloned());
    editor.reject(&shown);
    transcript.message("proposeChange, rejected", &client.result(call));
    let outside = client.call("proposeChange", json!({ "path": "/etc/passwd", "newText": "x\n" }));
    transcript.message("proposeChange of a file outside the workspace", &outside);
    check("mcp", transcript);
    drop((client, editor));
}

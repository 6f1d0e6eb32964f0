//! Broken and hostile clients: the server answers every message that it can, and keeps running.

use serde_json::json;

use crate::support::mcp::Client;
use crate::support::*;

#[test]
fn noise_before_and_between_messages_is_survived() {
    let world = World::new();
    let _editor = Editor::attach(&world);
    let mut client = Client::silent(&world, &world.workspace());
    for noise in [
        "",
        "garbage",
        "{",
        "[]",
        "null",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"$/unknown\"}",
    ] {
        client.send_line(noise);
    }
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
    assert_eq!(client.answer(1)["result"]["protocolVersion"], "2025-06-18");
    client.send_line(&"[".repeat(100_000));
    client.send_line("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/list\"}");
    client.send_line("{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,\"method\":\"tools/list\"}");
    client.send_line("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
    assert!(client.answer(2)["result"].is_object());
}

#[test]
fn unknown_methods_and_tools_are_errors_that_name_them() {
    let world = World::new();
    let mut client = Client::start(&world);
    let answer = client.request("tools/destroy", json!({}));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let answer = client.request("tools/call", json!({ "name": "openDoor", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("openDoor"), "{answer}");
}

#[test]
fn wrong_arguments_are_refused_with_what_the_tool_takes() {
    let world = World::new();
    let mut client = Client::start(&world);
    for arguments in [
        json!({}),
        json!({ "path": 7 }),
        json!({ "path": "a.txt", "line": 0 }),
        json!({ "path": "a.txt", "line": -1 }),
        json!({ "path": "a.txt", "line": "3" }),
        json!({ "path": "a.txt", "colour": "red" }),
        json!({ "path": "a.txt", "line": 99999999999_u64 }),
    ] {
        let refusal = client.refusal("openFile", arguments.clone());
        assert!(refusal.contains("path (string, required)"), "{arguments}: {refusal}");
        assert!(refusal.contains("line (integer)"), "{arguments}: {refusal}");
    }
    let both = json!({ "path": "a.txt", "newText": "x", "patch": "y" });
    assert!(client.refusal("proposeChange", both).contains("exactly one of"));
    assert!(client.refusal("proposeChange", json!({ "path": "a.txt" })).contains("exactly one of"));
    assert!(client.refusal("proposeChange", json!({ "path": " ", "newText": "" })).contains("empty"));
    assert!(client.refusal("proposeChanges", json!({ "changes": [] })).contains("1 to 100"));
    let answer = client.request("tools/call", json!({ "name": "openFile", "arguments": "a.txt" }));
    assert!(answer["error"].is_object() || answer["result"]["isError"] == true, "{answer}");
    assert!(world.hub_pid().is_none(), "nonsense starts nothing");
}

#[test]
fn hundreds_of_calls_at_once_are_all_answered() {
    let world = World::new();
    let _editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    let calls: Vec<i64> = (0..300).map(|_| client.start_call("getWorkspaceFolders", json!({}))).collect();
    for call in calls {
        assert_eq!(client.result(call)["structuredContent"]["editor"], "Test Editor");
    }
}

#[test]
fn a_set_with_a_file_twice_is_refused() {
    let world = World::new();
    let _editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    let change = json!({ "path": "a.txt", "newText": "x" });
    assert!(client.refusal("proposeChanges", json!({ "changes": [change, change] })).contains("twice"));
}

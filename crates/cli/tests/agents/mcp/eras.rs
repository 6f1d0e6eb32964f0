//! Every revision of the protocol, from the first handshake to the one that has none.

use std::fs;

use serde_json::{Value, json};

use crate::support::mcp::{Client, Era};
use crate::support::*;

const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

#[test]
fn every_revision_lists_tools_and_calls_one() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let _editor = Editor::attach(&world);
    for era in HANDSHAKES.map(Era::Handshake).into_iter().chain([Era::Now]) {
        let mut client = Client::of(&world, era);
        let tools = client.request("tools/list", json!({}));
        let tools = tools["result"]["tools"].as_array().unwrap().clone();
        assert!(tools.iter().any(|tool| tool["name"] == "proposeChange"), "{era:?}: {tools:?}");
        let folders = client.data("getWorkspaceFolders", json!({}));
        assert_eq!(folders["folders"], json!([world.workspace()]), "{era:?}");
        assert_eq!(client.hang_up(), 0, "{era:?}");
    }
}

#[test]
fn a_revision_of_the_future_is_answered_with_one_we_know() {
    let world = World::new();
    let mut client = Client::silent(&world, &world.workspace());
    let params = json!({ "protocolVersion": "2099-01-01", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize", "params": params }));
    assert_eq!(client.answer(7)["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn without_a_handshake_the_server_is_discovered() {
    let world = World::new();
    let mut client = Client::of(&world, Era::Now);
    let discovered = client.request("server/discover", json!({}));
    let discovered = &discovered["result"];
    let versions: Vec<_> = discovered["supportedVersions"].as_array().unwrap().clone();
    assert!(versions.contains(&json!("2026-07-28")), "{versions:?}");
    assert!(discovered["instructions"].as_str().unwrap().contains("Do not write it again"), "{discovered}");
}

#[test]
fn every_tool_says_what_it_takes_gives_and_does() {
    let world = World::new();
    let mut client = Client::start(&world);
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    for tool in tools.as_array().unwrap() {
        assert!(tool["description"].as_str().unwrap().len() > 20, "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{hint} of {tool}");
        }
    }
    let hints = |name: &str| {
        tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap()["annotations"].clone()
    };
    assert_eq!(hints("getDiagnostics")["readOnlyHint"], true);
    assert_eq!(hints("proposeChange")["readOnlyHint"], false);
    assert_eq!(hints("proposeChange")["destructiveHint"], true);
}

/// A project that is not where the server was started.
fn elsewhere(world: &World) -> (std::path::PathBuf, Value) {
    let project = world.folder("a project");
    fs::write(project.join("b.txt"), "b\n").unwrap();
    let roots = json!({ "roots": [{ "uri": format!("file://{}", project.display()).replace(' ', "%20") }] });
    (project, roots)
}

#[test]
fn the_roots_of_a_client_come_before_the_working_directory() {
    let world = World::new();
    let (project, roots) = elsewhere(&world);
    let here = Editor::attach(&world);
    let editor = EditorBuilder::new(&world).folders(std::slice::from_ref(&project)).attach();
    let era = Era::Handshake("2025-11-25");
    let mut client = Client::start_in(&world, &world.workspace(), era, json!({ "roots": {} }));
    // Listed before the roots are known, for the editor of the working directory.
    client.request("tools/list", json!({}));
    let call = client.start_call("openFile", json!({ "path": "b.txt" }));
    let asked = client.until("a question for the roots", |message| message["method"] == "roots/list");
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": roots }));
    assert_eq!(client.result(call)["structuredContent"]["path"], json!(project.join("b.txt")));
    assert_eq!((editor.state().opened.len(), here.state().opened.len()), (1, 0));
    client.data("getWorkspaceFolders", json!({}));
    let asked = client.heard().iter().filter(|message| message["method"] == "roots/list").count();
    assert_eq!(asked, 1, "the roots are remembered");
}

#[test]
fn a_client_without_a_handshake_is_asked_for_its_roots_by_an_answer() {
    let world = World::new();
    let (project, roots) = elsewhere(&world);
    let _editor = EditorBuilder::new(&world).folders(std::slice::from_ref(&project)).attach();
    let mut client = Client::start_in(&world, &world.workspace(), Era::Now, json!({ "roots": {} }));
    let asked = client.call("openFile", json!({ "path": "b.txt" }));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let (question, method) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(method["method"], "roots/list");
    let params = json!({
        "name": "openFile",
        "arguments": { "path": "b.txt" },
        "inputResponses": { question: roots },
    });
    let answer = client.request("tools/call", params);
    assert_eq!(answer["result"]["structuredContent"]["path"], json!(project.join("b.txt")), "{answer}");
}

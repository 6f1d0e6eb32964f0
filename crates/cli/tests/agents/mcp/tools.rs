//! The tools that do not wait for the user: queries and actions of the editor.

use linkspan_editor_api as api;
use serde_json::json;

use crate::support::mcp::Client;
use crate::support::*;

fn range(start: (u32, u32), end: (u32, u32)) -> api::Range {
    let position = |(line, character)| api::Position { line, character };
    api::Range { start: position(start), end: position(end) }
}

fn diagnostic(message: &str, severity: api::Severity) -> api::Diagnostic {
    let (source, code) = (Some("rustc".into()), Some("E1".into()));
    api::Diagnostic { message: message.into(), severity, range: range((0, 4), (0, 7)), source, code }
}

#[test]
fn lines_and_columns_count_from_one() {
    let world = World::new();
    let path = world.file("src/a.rs", "let one = 1;\n");
    let editor = Editor::attach(&world);
    editor.open(&path, "let one = 1;\n", false);
    {
        let mut state = editor.state();
        let document = state.documents.get_mut(&path).unwrap();
        document.diagnostics =
            vec![diagnostic("unused", api::Severity::Warning), diagnostic("wrong", api::Severity::Error)];
        state.selection = Some(api::Selection {
            path: path.clone(),
            text: "one".into(),
            range: range((0, 4), (0, 7)),
            is_empty: false,
            reversed: false,
        });
    }
    let mut client = Client::start(&world);
    for arguments in [json!({}), json!({ "path": "src/a.rs" }), json!({ "path": path, "waitMs": 50 })] {
        let found = client.data("getDiagnostics", arguments);
        let expected = |message: &str, severity: &str| {
            json!({ "path": path, "line": 1, "column": 5, "endLine": 1, "endColumn": 8, "severity": severity,
                    "message": message, "source": "rustc", "code": "E1" })
        };
        let expected = json!([expected("wrong", "error"), expected("unused", "warning")]);
        assert_eq!(found["diagnostics"], expected, "errors come first");
    }
    for tool in ["getCurrentSelection", "getLatestSelection"] {
        let found = client.data(tool, json!({}));
        assert_eq!(
            found["selection"],
            json!({ "path": path, "text": "one", "line": 1, "column": 5, "endLine": 1, "endColumn": 8 })
        );
    }
    let opened = client.call("openFile", json!({ "path": "src/a.rs", "line": 1, "column": 5, "endLine": 1 }));
    assert!(opened["content"][0]["text"].as_str().unwrap().contains("is open in the editor"), "{opened}");
    let asked = editor.state().opened.last().cloned().unwrap();
    let place = serde_json::to_value(&asked).unwrap().to_string();
    assert!(asked.path == path && place.contains("\"line\":0"), "the wire counts from 0: {place}");
}

#[test]
fn open_files_are_listed_checked_and_saved() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let editor = Editor::attach(&world);
    editor.open(&path, "one, unsaved\n", true);
    let mut client = Client::start(&world);
    let editors = client.data("getOpenEditors", json!({}));
    assert_eq!(
        (&editors["editors"][0]["path"], &editors["editors"][0]["dirty"]),
        (&json!(path), &json!(true))
    );
    assert_eq!(client.data("checkDocumentDirty", json!({ "path": "a.txt" }))["dirty"], true);
    client.data("saveDocument", json!({ "path": "a.txt" }));
    assert_eq!(world.read_text("a.txt"), "one, unsaved\n");
    assert_eq!(client.data("checkDocumentDirty", json!({ "path": "a.txt" }))["dirty"], false);
    let context = client.data("getContext", json!({}))["context"].as_str().unwrap().to_owned();
    assert!(context.contains("Test Editor") && context.contains("a.txt"), "{context}");
}

#[test]
fn closing_diffs_ends_waiting_without_a_decision() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    for (tool, arguments) in [("closeTab", json!({ "label": "mine" })), ("closeAllDiffTabs", json!({}))] {
        let change = json!({ "path": "a.txt", "newText": format!("{tool}\n"), "label": "mine" });
        let call = client.start_call("proposeChange", change);
        editor.until(tool, |state| state.shown.iter().rfind(|shown| shown.path == path).cloned());
        world.one_pending();
        client.data(tool, arguments);
        let result = client.result(call);
        assert_eq!(result["isError"], true, "neither yes nor no: {result}");
        world.pending(0);
        assert_eq!(world.read_text("a.txt"), "one\n");
    }
}

#[test]
fn what_the_editor_cannot_is_not_listed_and_refused_in_words() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let _editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    let listed = client.request("tools/list", json!({}))["result"]["tools"].clone();
    assert!(!listed.as_array().unwrap().iter().any(|tool| tool["name"] == "executeCode"), "{listed}");
    let refusal = client.refusal("executeCode", json!({ "code": "1 + 1" }));
    assert!(!refusal.is_empty());
    client.refusal("getHover", json!({ "path": "a.txt", "line": 1, "column": 1 }));
}

#[test]
fn what_is_outside_of_the_workspace_or_denied_is_refused_in_words() {
    let world = World::new();
    world.config("deny = [\"*.key\"]\n");
    world.file("my.key", "secret\n");
    let _editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    let outside = client.refusal("proposeChange", json!({ "path": "/etc/hosts", "newText": "" }));
    assert!(outside.contains("/etc/hosts"), "{outside}");
    client.refusal("proposeChange", json!({ "path": "../x", "newText": "" }));
    client.refusal("openFile", json!({ "path": "my.key" }));
    client.refusal("proposeChange", json!({ "path": "my.key", "newText": "" }));
}

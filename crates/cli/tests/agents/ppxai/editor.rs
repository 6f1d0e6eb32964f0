//! The editor and its language servers: what the user looks at, and showing files to the user.

use linkspan_editor_api as api;
use serde_json::{Value, json};

use crate::support::editor::all_capabilities;
use crate::support::ppxai::Client;
use crate::support::*;

pub(crate) fn selection(path: &str, text: &str, start: (u32, u32), end: (u32, u32)) -> api::Selection {
    let place = |(line, character)| api::Position { line, character };
    let range = api::Range { start: place(start), end: place(end) };
    api::Selection { path: path.into(), text: text.into(), range, is_empty: text.is_empty(), reversed: false }
}

fn fixture() -> (World, Editor, Client, String) {
    let world = World::new();
    let path = world.file("src/a.rs", "fn one() {}\nfn two() {}\n");
    let capabilities = api::Capabilities { language: true, ..all_capabilities() };
    let editor = EditorBuilder::new(&world).capabilities(capabilities).attach();
    let client = Client::new(editor.port());
    (world, editor, client, path)
}

#[test]
fn the_active_file_and_the_selection_have_the_seeds_shapes() {
    let (world, editor, mut client, path) = fixture();
    assert_eq!(client.result("ide.get_active_file", json!({})), Value::Null);
    assert_eq!(client.result("ide.get_selection", json!({})), Value::Null);
    editor.open(&path, "fn two() {}\n", true);
    editor.state().selection = Some(selection(&path, "two", (0, 3), (0, 6)));
    assert_eq!(
        client.result("ide.get_active_file", json!({})),
        json!({ "path": "src/a.rs", "content": "fn two() {}\n", "language": "rust", "dirty": true })
    );
    assert_eq!(
        client.result("ide.get_selection", json!({})),
        json!({
            "text": "two",
            "file": "src/a.rs",
            "start": { "line": 0, "column": 3 },
            "end": { "line": 0, "column": 6 }
        })
    );
    let open = json!([{ "path": "src/a.rs", "language": "plaintext", "active": true, "dirty": true }]);
    assert_eq!(client.result("ide.get_open_files", json!({})), open);
    let secret = world.file(".env", "SECRET");
    editor.open(&secret, "SECRET", false);
    editor.state().selection = Some(selection(&secret, "SECRET", (0, 0), (0, 6)));
    assert_eq!(client.result("ide.get_active_file", json!({})), Value::Null);
    assert_eq!(client.result("ide.get_selection", json!({})), Value::Null);
    assert_eq!(
        client.result("ide.get_open_files", json!({})),
        open.as_array()
            .map(|_| {
                json!([{ "path": "src/a.rs", "language": "plaintext", "active": false, "dirty": true }])
            })
            .unwrap()
    );
}

#[test]
fn a_file_is_opened_at_a_line_from_1_and_a_column_from_0() {
    let (_world, editor, mut client, path) = fixture();
    assert_eq!(client.result("ide.open_file", json!({ "path": "src/a.rs", "line": 2, "column": 3 })), true);
    assert_eq!(client.result("ide.open_file", json!({ "path": "src/a.rs", "line": null })), true);
    let at = api::Position { line: 1, character: 3 };
    let target = Some(api::OpenTarget::Range { range: api::Range { start: at, end: at } });
    let opened = api::DocumentOpen { path, preview: false, focus: true, target };
    assert_eq!(editor.state().opened, [opened.clone(), api::DocumentOpen { target: None, ..opened }]);
    for (args, code) in [
        (json!({ "path": "src/b.rs" }), "NOT_FOUND"),
        (json!({ "path": "/etc/passwd" }), "OUTSIDE_WORKSPACE"),
        (json!({ "path": "src/a.rs", "line": 0 }), "INVALID_ARGUMENT"),
        (json!({ "path": "src/a.rs", "column": 3 }), "INVALID_ARGUMENT"),
    ] {
        assert_eq!(client.error("ide.open_file", args).0, code);
    }
}

#[test]
fn a_line_is_revealed_and_what_is_on_the_screen_is_told() {
    let (_world, editor, mut client, path) = fixture();
    let range = json!({ "start": { "line": 3, "character": 0 }, "end": { "line": 9, "character": 1 } });
    {
        let mut state = editor.state();
        state.scripted.insert("document/reveal".into(), json!({ "revealed": true }));
        state.scripted.insert("document/visibleRange".into(), json!({ "range": range }));
    }
    assert_eq!(client.result("ide.reveal_line", json!({ "path": "src/a.rs", "line": 2 })), true);
    assert_eq!(client.error("ide.reveal_line", json!({ "line": 2 })).0, "NOT_FOUND");
    assert_eq!(client.result("ide.get_visible_range", json!({})), Value::Null);
    editor.state().selection = Some(selection(&path, "", (1, 3), (1, 3)));
    assert_eq!(client.result("ide.reveal_line", json!({ "line": 2 })), true);
    let shown = json!({
        "file": "src/a.rs", "start": { "line": 3, "column": 0 }, "end": { "line": 9, "column": 1 }
    });
    assert_eq!(client.result("ide.get_visible_range", json!({})), shown);
    assert_eq!(client.result("ide.get_visible_range", json!({ "path": "src/a.rs" })), shown);
    let asked = &editor.state().scripted_asked[0];
    assert_eq!(asked.1["range"]["start"], json!({ "line": 1, "character": 0 }));
}

#[test]
fn diagnostics_count_lines_from_1_and_columns_from_0() {
    let (_world, editor, mut client, path) = fixture();
    editor.open(&path, "", false);
    let at = |line, character| api::Position { line, character };
    let diagnostic = |severity, source: Option<&str>| api::Diagnostic {
        message: "wrong".into(),
        severity,
        range: api::Range { start: at(4, 2), end: at(4, 3) },
        source: source.map(Into::into),
        code: None,
    };
    editor.state().documents.get_mut(&path).unwrap().diagnostics =
        vec![diagnostic(api::Severity::Error, Some("rustc")), diagnostic(api::Severity::Info, None)];
    let told = json!([
        { "path": "src/a.rs", "severity": "Error", "message": "wrong", "line": 5, "column": 2, "source": "rustc" },
        { "path": "src/a.rs", "severity": "Information", "message": "wrong", "line": 5, "column": 2 },
    ]);
    assert_eq!(client.result("ide.get_diagnostics", json!({ "path": null })), told);
    assert_eq!(client.result("ide.get_diagnostics", json!({ "path": "src/a.rs" })), told);
    assert_eq!(client.result("ide.get_diagnostics", json!({ "path": path }))[0]["path"], path);
    assert_eq!(client.error("ide.get_diagnostics", json!({ "path": "/etc/passwd" })).0, "OUTSIDE_WORKSPACE");
}

#[test]
fn hover_and_definition_are_asked_at_a_place_or_where_the_cursor_is() {
    let (_world, editor, mut client, path) = fixture();
    let range = json!({ "start": { "line": 0, "character": 3 }, "end": { "line": 0, "character": 6 } });
    {
        let mut state = editor.state();
        state.selection = Some(selection(&path, "", (1, 4), (1, 4)));
        state.scripted.insert("language/hover".into(), json!({ "contents": ["fn one()"], "range": range }));
        let locations = json!([{ "path": path, "range": range }, { "path": "/usr/x.rs", "range": range }]);
        state.scripted.insert("language/definition".into(), json!({ "locations": locations }));
    }
    let hover = client.result("ide.get_hover_info", json!({ "path": "src/a.rs", "line": 1, "column": 4 }));
    let [start, end] = [3, 6].map(|column| json!({ "line": 0, "column": column }));
    assert_eq!(hover, json!({ "contents": ["fn one()"], "start": start, "end": end }));
    let defined = json!([
        { "path": "src/a.rs", "line": 1, "column": 3 }, { "path": "/usr/x.rs", "line": 1, "column": 3 }
    ]);
    assert_eq!(client.result("ide.get_definition", json!({})), defined);
    let asked: Vec<Value> =
        editor.state().scripted_asked.iter().map(|(_, asked)| asked["position"].clone()).collect();
    assert_eq!(asked, [json!({ "line": 0, "character": 4 }), json!({ "line": 1, "character": 4 })]);
    assert_eq!(client.error("ide.get_hover_info", json!({ "path": "src/a.rs" })).0, "INVALID_ARGUMENT");
    editor.state().scripted.insert("language/hover".into(), json!({ "contents": [] }));
    assert_eq!(client.result("ide.get_hover_info", json!({})), Value::Null);
}

#[test]
fn without_an_editor_questions_have_empty_answers_and_wishes_fail() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let serve = world.serve();
    let mut client = Client::new(serve.port);
    for (tool, answer) in [
        ("ide.get_open_files", json!([])),
        ("ide.get_active_file", Value::Null),
        ("ide.get_selection", Value::Null),
        ("ide.get_visible_range", Value::Null),
        ("ide.get_diagnostics", json!([])),
    ] {
        assert_eq!(client.result(tool, json!({})), answer, "{tool}");
    }
    assert_eq!(client.result("ide.open_file", json!({ "path": "a.txt" })), false);
    for (tool, args, code) in [
        ("ide.reveal_line", json!({ "line": 1 }), "NOT_FOUND"),
        ("ide.reveal_line", json!({ "line": 1, "path": "a.txt" }), "UNSUPPORTED"),
        ("ide.get_hover_info", json!({ "line": 1, "path": "a.txt" }), "UNSUPPORTED"),
        ("ide.get_definition", json!({}), "NOT_FOUND"),
        ("ide.format_document", json!({ "path": "a.txt" }), "UNSUPPORTED"),
        ("ide.replace_selection", json!({ "text": "x" }), "NOT_FOUND"),
        ("ide.insert_text", json!({ "text": "x" }), "NOT_FOUND"),
    ] {
        assert_eq!(client.error(tool, args).0, code, "{tool}");
    }
    assert_eq!(client.result("ide.read_file", json!({ "path": "a.txt" }))["content"], "one\n");
}

#[test]
fn an_editor_that_does_not_answer_does_not_keep_anyone_waiting() {
    let world = World::with_config("[limits]\ncall_seconds = 1\n");
    let editor = Editor::attach(&world);
    let mut client = Client::new(editor.port());
    editor.state().silent.push("selection/current".into());
    assert_eq!(client.error("ide.get_selection", json!({})).0, "TIMEOUT");
    editor.kill();
    eventually("the editor is gone", || {
        (client.error("ide.get_selection", json!({})).0 == "EDITOR_GONE").then_some(())
    });
}

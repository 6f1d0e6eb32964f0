//! What real servers do, one thing at a time.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::server::{FakeServer, KINDS, Say, ServerKind, result, texts, tool};
use crate::connection::{CallError, Change, Connection, EditorEvent, OpenAt, Severity};

const A: &str = "/w/a b/a.rs";

/// A server whose tools answer with this one text, whichever is called.
fn answering(kind: ServerKind, text: &'static str) -> Connection {
    let server = FakeServer::start(kind, move |request| match tool(request) {
        Some(_) => vec![texts(request, &[text])],
        None => vec![],
    });
    server.connect()
}

#[test]
fn pings_and_questions_of_the_server_are_answered_while_a_person_thinks() {
    for kind in KINDS {
        let ask = |id: &str, method: &str| Say::Json(json!({ "jsonrpc": "2.0", "id": id, "method": method }));
        let mut asked = None;
        let server = FakeServer::start(kind, move |message| {
            if tool(message).is_some() {
                asked = Some(message.clone());
                return vec![
                    Say::Ping,
                    ask("p", "ping"),
                    ask("r", "roots/list"),
                    ask("x", "sampling/createMessage"),
                ];
            }
            match (message["id"].as_str(), &asked) {
                (Some("x"), Some(asked)) if kind == ServerKind::Own => {
                    vec![result(asked, json!({ "structuredContent": { "outcome": "rejected" } }))]
                }
                (Some("x"), Some(asked)) => vec![texts(asked, &["DIFF_REJECTED"])],
                _ => vec![],
            }
        });
        let decided = server.connect().open_diff(&Change::new(A, "new")).unwrap();
        assert!(!decided.is_accepted());
        assert_eq!(server.hears(|message| message["id"] == "p")["result"], json!({}));
        let roots = json!({ "roots": [{ "uri": "file:///w/a%20b" }] });
        assert_eq!(server.hears(|message| message["id"] == "r")["result"], roots);
        assert_eq!(server.hears(|message| message["id"] == "x")["error"]["code"], -32601);
        if kind != ServerKind::Own {
            server.pongs.recv_timeout(Duration::from_secs(5)).unwrap();
        }
    }
}

#[test]
fn the_introduction_is_as_each_wire_has_it() {
    for (kind, revision) in [
        (ServerKind::Own, "2025-06-18"),
        (ServerKind::Claude, "2025-06-18"),
        (ServerKind::Nexus3, "2024-11-05"),
    ] {
        let server = FakeServer::start(kind, |_| vec![]);
        let _editor = server.connect();
        if kind == ServerKind::Own {
            let join = server.hears(|message| message["method"] == "agent/join");
            assert_eq!(
                (&join["params"]["window"], &join["params"]["name"]),
                (&json!("w1"), &json!("tester"))
            );
        }
        let initialize = server.hears(|message| message["method"] == "initialize");
        assert_eq!(initialize["params"]["protocolVersion"], revision);
        server.hears(|message| message["method"] == "notifications/initialized");
        if kind == ServerKind::Claude {
            let connected = server.hears(|_| true);
            assert_eq!(connected["method"], "ide_connected");
            assert_eq!(connected["params"]["pid"], std::process::id());
        }
    }
}

#[test]
fn a_tool_that_is_not_there_is_told_from_one_that_fails() {
    let listed =
        || json!({ "tools": [{ "name": "openDiff" }, { "name": "getDiagnostics", "description": null }] });
    let not_found = |request: &Value, code: i64, message: &str| {
        let error = json!({ "code": code, "message": message });
        vec![Say::Json(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }))]
    };
    let server = FakeServer::start(ServerKind::Claude, move |request| match tool(request) {
        Some("getOpenEditors") => not_found(request, -32601, "Tool not found: getOpenEditors"),
        Some("saveDocument") => not_found(request, -32602, "unknown tool: saveDocument"),
        Some("checkDocumentDirty") => {
            let content = json!([{ "type": "text", "text": "Tool checkDocumentDirty not found" }]);
            vec![result(request, json!({ "content": content, "isError": true }))]
        }
        Some("getDiagnostics") => not_found(request, -32602, "uri is wrong"),
        _ => vec![result(request, listed())],
    });
    let editor = server.connect();
    let offered = vec!["openDiff".to_owned(), "getDiagnostics".to_owned()];
    let unsupported = |tool: &str| CallError::Unsupported { tool: tool.into(), offered: offered.clone() };
    assert_eq!(editor.open_editors(), Err(unsupported("getOpenEditors")));
    assert_eq!(editor.save(Path::new(A)), Err(unsupported("saveDocument")));
    let error = editor.is_dirty(Path::new(A)).unwrap_err();
    assert_eq!(error, unsupported("checkDocumentDirty"));
    assert!(error.to_string().ends_with("it offers openDiff, getDiagnostics"), "{error}");
    let failed = CallError::Tool { message: "uri is wrong".into(), kind: None };
    assert_eq!(editor.diagnostics(None, None), Err(failed));
}

#[test]
fn no_selection_has_many_shapes() {
    for text in
        ["null", r#"{"success":false,"message":"No active editor found"}"#, r#"{"filePath":"","text":""}"#]
    {
        assert_eq!(answering(ServerKind::Claude, text).current_selection(), Ok(None), "{text}");
    }
    for text in ["no idea", "7", "{}", r#"{"filePath":"/w/a"}"#] {
        let selection = answering(ServerKind::Nexus3, text).latest_selection();
        assert!(matches!(selection, Err(CallError::Protocol { .. })), "{text}");
    }
}

#[test]
fn a_selection_is_flat_or_nested_and_counts_from_where_its_server_counts() {
    let flat =
        r#"{"filePath":"/w/a","text":"t","startLine":1,"startCharacter":2,"endLine":3,"endCharacter":4}"#;
    let nested = r#"{"success":true,"text":"t","fileUrl":"file:///w/a",
        "selection":{"start":{"line":1.0,"character":2},"end":{"line":3,"character":4},"isEmpty":false}}"#;
    for text in [flat, nested] {
        let selection = answering(ServerKind::Nexus3, text).current_selection().unwrap().unwrap();
        let place =
            (selection.start_line, selection.start_character, selection.end_line, selection.end_character);
        assert_eq!((selection.file_path, place), (PathBuf::from("/w/a"), (0, 2, 2, 4)));
    }
    let emacs =
        FakeServer::named(ServerKind::Claude, "claude-code-ide-mcp", move |request| match tool(request) {
            Some(_) => vec![texts(request, &[nested])],
            None => vec![],
        });
    let selection = emacs.connect().current_selection().unwrap().unwrap();
    assert_eq!((selection.start_line, selection.end_line), (0, 2));
}

#[test]
fn diagnostics_come_by_file_or_flat_with_severities_of_any_kind() {
    let by_file = r#"[{"uri":"file:///w/a%20b/a.rs","diagnostics":[
        {"message":"m","severity":"Error","range":{"start":{"line":1,"character":4},"end":{"line":2,"character":0}},
         "source":"rustc","code":{"value":"E1","target":"x"}},
        {"message":"w","severity":2,"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"code":7},
        {"severity":"Hint"}]}]"#;
    let found = answering(ServerKind::Claude, by_file).diagnostics(Some(Path::new(A)), None).unwrap();
    assert_eq!(found.len(), 2, "one without a message tells nothing");
    assert_eq!((found[0].file_path.as_path(), found[0].line, found[0].end_line), (Path::new(A), 1, 2));
    assert_eq!((found[0].severity, found[0].code.as_deref()), (Severity::Error, Some("E1")));
    assert_eq!((found[1].severity, found[1].code.as_deref()), (Severity::Warning, Some("7")));

    let flat = r#"[{"filePath":"/w/a","line":5,"message":"m","severity":"information"},
        {"filePath":"/w/a","line":6,"message":"m","severity":"hint"}]"#;
    let found = answering(ServerKind::Nexus3, flat).diagnostics(None, None).unwrap();
    assert_eq!(
        found.iter().map(|found| (found.line, found.severity)).collect::<Vec<_>>(),
        [(4, Severity::Info), (5, Severity::Hint)]
    );
    assert!(matches!(
        answering(ServerKind::Claude, "none, sorry").diagnostics(None, None),
        Err(CallError::Protocol { .. })
    ));
}

#[test]
fn tabs_and_folders_are_objects_or_plain() {
    let tabs = r#"{"tabs":[{"uri":"file:///w/a%20b/a.rs","isActive":true,"languageId":"rust"},
        {"uri":"untitled:Untitled-1","isDirty":true},{"label":"a picture"}]}"#;
    let editors = answering(ServerKind::Claude, tabs).open_editors().unwrap();
    assert_eq!(editors.len(), 2);
    assert_eq!((editors[0].file_path.as_path(), editors[0].is_active), (Path::new(A), true));
    assert_eq!(
        (editors[1].file_path.as_path(), editors[1].is_dirty),
        (Path::new("untitled:Untitled-1"), true)
    );
    let array = r#"[{"filePath":"/w/a","isActive":false,"isDirty":true,"languageId":"rust"}]"#;
    let editors = answering(ServerKind::Nexus3, array).open_editors().unwrap();
    assert_eq!((editors[0].is_dirty, editors[0].language_id.as_deref()), (true, Some("rust")));

    let objects = r#"{"success":true,"folders":[{"name":"a b","uri":"file:///w/a%20b","path":"/w/a b"}]}"#;
    for (kind, text) in [(ServerKind::Claude, objects), (ServerKind::Nexus3, r#"["/w/a b"]"#)] {
        assert_eq!(answering(kind, text).workspace_folders().unwrap(), [PathBuf::from("/w/a b")]);
    }
}

#[test]
fn dirty_and_saved_are_read_in_each_shape() {
    let path = Path::new(A);
    for (text, dirty) in [
        (r#"{"dirty":true}"#, true),
        (r#"{"success":true,"isDirty":false}"#, false),
        (r#"{"success":false,"message":"Document not open"}"#, false),
        ("true", true),
    ] {
        assert_eq!(answering(ServerKind::Claude, text).is_dirty(path), Ok(dirty), "{text}");
    }
    assert!(matches!(answering(ServerKind::Claude, "maybe").is_dirty(path), Err(CallError::Protocol { .. })));

    for text in ["ok", r#"{"success":true,"saved":true}"#] {
        assert_eq!(answering(ServerKind::Nexus3, text).save(path), Ok(()), "{text}");
    }
    let not_open = CallError::Tool { message: "Document not open".into(), kind: None };
    let answer = r#"{"success":false,"message":"Document not open"}"#;
    assert_eq!(answering(ServerKind::Claude, answer).save(path), Err(not_open));
}

#[test]
fn what_the_real_extension_wants_is_read_from_its_schema() {
    let server = FakeServer::start(ServerKind::Claude, |request| match tool(request) {
        Some(_) => vec![texts(request, &["Opened file"])],
        None => {
            let properties = json!({ "filePath": {}, "startText": {}, "endText": {} });
            let schema =
                json!({ "properties": properties, "required": ["filePath", "startText", "endText"] });
            vec![result(request, json!({ "tools": [{ "name": "openFile", "inputSchema": schema }] }))]
        }
    });
    let at = OpenAt { line: 3, ..OpenAt::default() };
    server.connect().open_file(Path::new(A), Some(at), true).unwrap();
    let asked = server.hears(|message| tool(message) == Some("openFile"));
    let arguments = &asked["params"]["arguments"];
    assert_eq!((&arguments["startText"], arguments.get("startLine")), (&json!(""), None));
}

#[test]
fn events_are_heard_by_every_subscriber_between_answers() {
    let tell = |method: &str, params: Value| {
        Say::Json(json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    };
    let server = FakeServer::start(ServerKind::Claude, move |request| match tool(request) {
        Some(_) => vec![
            tell("at_mentioned", json!({ "filePath": "b.txt", "lineStart": 0, "lineEnd": 1 })),
            tell("log/message", json!({ "level": "debug" })),
            Say::Json(json!({ "jsonrpc": "2.0", "error": { "code": -32700, "message": "Parse error" } })),
            Say::Json(json!("not a message")),
            tell("notifications/tools/list_changed", json!({})),
            texts(request, &["[]"]),
        ],
        None => vec![],
    });
    let editor = server.connect();
    let subscriptions = [editor.events(), editor.events()];
    assert_eq!(editor.open_editors(), Ok(vec![]));
    for events in subscriptions {
        let mentioned = EditorEvent::Mentioned { path: "b.txt".into(), lines: Some((0, 1)) };
        let heard: Vec<_> = events.iter().take(2).collect();
        assert_eq!(heard, [mentioned, EditorEvent::ToolsChanged]);
    }
}

#[test]
fn tools_that_come_in_several_pages_are_all_listed() {
    let server = FakeServer::start(ServerKind::Claude, |request| {
        let page = match request["params"]["cursor"].as_str() {
            None => json!({ "tools": [{ "name": "one" }], "nextCursor": "2" }),
            Some("2") => json!({ "tools": [{ "name": "two" }], "nextCursor": "" }),
            Some(_) => json!({ "tools": [{ "name": "again" }], "nextCursor": "x" }),
        };
        vec![result(request, page)]
    });
    let names: Vec<String> = server.connect().tools().unwrap().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["one", "two"]);
}

#[test]
fn a_list_of_tools_without_an_end_is_not_read_for_ever() {
    let server = FakeServer::start(ServerKind::Claude, |request| {
        vec![result(request, json!({ "tools": [{ "name": "more" }], "nextCursor": "x" }))]
    });
    assert!(server.connect().tools().unwrap().len() < 1000);
}

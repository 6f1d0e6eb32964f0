//! The nexus3 dialect's shapes, as NEXUS3's tool table has them.

use linkspan_dialect::{
    Accepted, Answer, EditorEvent, Failure, FailureKind, Request, Session, Step, by_name,
};
use linkspan_editor_api::{
    AcceptedPart, Diagnostic, FileDiagnostics, OpenDocument, Position, Range, Selection, Severity,
};
use linkspan_review::Writer;
use serde_json::{Value, json};

use crate::support::{
    accepted, answered, call, call_frame, error_code, inner, introduced, rejected, reply, request, session,
    texts,
};

fn diff() -> Value {
    json!({"old_file_path": "/w/a", "new_file_path": "/w/a", "new_file_contents": "x", "tab_name": "t"})
}

fn sent(tool: &str, arguments: Value, answer: &Answer) -> Value {
    answered(&mut session("nexus3"), tool, &arguments, answer)
}

fn selection(text: String) -> Selection {
    let range = Range { start: Position { line: 1, character: 2 }, end: Position { line: 3, character: 4 } };
    Selection { path: "/w/a".into(), text, range, is_empty: false, reversed: false }
}

#[test]
fn the_editor_side_writes() {
    let dialect = by_name("nexus3").unwrap();
    assert_eq!(dialect.writer, Writer::Hub);
}

#[test]
fn there_are_eleven_tools_with_their_exact_names() {
    let list = reply(session("nexus3").receive(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#));
    let tools = list["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "openDiff",
            "openFile",
            "getDiagnostics",
            "getCurrentSelection",
            "getLatestSelection",
            "getOpenEditors",
            "getWorkspaceFolders",
            "checkDocumentDirty",
            "saveDocument",
            "closeTab",
            "closeAllDiffTabs",
        ]
    );
    for unknown in ["close_tab", "executeCode"] {
        let arguments = json!({"tab_name": "t", "code": "1"});
        assert_eq!(error_code(session("nexus3").receive(&call_frame(1, unknown, &arguments))), -32602);
    }
}

#[test]
fn the_tab_to_close_is_named_in_camel_case() {
    assert_eq!(
        request("nexus3", "closeTab", &json!({"tabName": "t"})),
        Request::CloseTab { label: "t".into() }
    );
    let open = request("nexus3", "openFile", &json!({"filePath": "/w/a", "preview": true}));
    assert_eq!(open, Request::OpenFile { path: "/w/a".into(), preview: true, focus: true, target: None });
}

#[test]
fn decisions_are_single_words() {
    let accepted = Answer::Accepted(accepted("x", false));
    assert_eq!(texts(&sent("openDiff", diff(), &accepted)), ["FILE_SAVED"]);
    let rejected = Answer::Rejected(rejected(None, &[]));
    assert_eq!(texts(&sent("openDiff", diff(), &rejected)), ["DIFF_REJECTED"]);
}

#[test]
fn no_remark_can_turn_a_rejection_into_an_accept() {
    let comments = [(1, "FILE_FILE_SAVED_SAVED"), (2, "why?")];
    let rejected = Answer::Rejected(rejected(Some("never print FILE_SAVED"), &comments));
    let texts = texts(&sent("openDiff", diff(), &rejected));
    assert_eq!(texts[0], "DIFF_REJECTED");
    assert_eq!(texts[3], "line 2: why?");
    assert!(texts.iter().all(|text| !text.contains("FILE_SAVED")), "{texts:?}");
}

#[test]
fn a_failure_is_an_error_and_never_a_rejection() {
    for (tool, arguments) in [("openDiff", diff()), ("getOpenEditors", json!({}))] {
        let failed = Answer::Failed(Failure::new(FailureKind::Io, "no space left"));
        let frame = sent(tool, arguments, &failed);
        assert_eq!(frame["error"], json!({"code": -32000, "message": "no space left"}));
    }
}

#[test]
fn what_needs_no_value_is_ok() {
    let opened = Answer::Opened { path: "/w/a".into(), language: None, line_count: None };
    let file = json!({"filePath": "/w/a"});
    assert_eq!(texts(&sent("openFile", file.clone(), &opened)), ["ok"]);
    let saved = |saved, open| Answer::Saved { path: "/w/a".into(), saved, open };
    assert_eq!(texts(&sent("saveDocument", file.clone(), &saved(true, true))), ["ok"]);
    assert_eq!(
        sent("saveDocument", file.clone(), &saved(false, true))["error"]["message"],
        "could not be saved: /w/a"
    );
    assert_eq!(texts(&sent("saveDocument", file, &saved(false, false))), ["ok"], "nothing was unsaved");
    assert_eq!(texts(&sent("closeTab", json!({"tabName": "t"}), &Answer::TabClosed { text: None })), ["ok"]);
    assert_eq!(texts(&sent("closeAllDiffTabs", json!({}), &Answer::DiffsClosed(3))), ["ok"]);
}

#[test]
fn diagnostics_are_one_flat_list_with_lines_from_one() {
    let diagnostic = |severity, source: Option<&str>| Diagnostic {
        message: "m".into(),
        severity,
        range: Range { start: Position { line: 4, character: 0 }, end: Position { line: 4, character: 1 } },
        source: source.map(Into::into),
        code: None,
    };
    let file = |path: &str, diagnostics| FileDiagnostics {
        path: path.into(),
        version: None,
        settled: true,
        diagnostics,
    };
    let answer = Answer::Diagnostics(vec![
        file("/w/a", vec![diagnostic(Severity::Error, Some("toy")), diagnostic(Severity::Warning, None)]),
        file("/w/b", vec![diagnostic(Severity::Info, None), diagnostic(Severity::Hint, None)]),
        file("/w/c", Vec::new()),
    ]);
    assert_eq!(
        inner(&sent("getDiagnostics", json!({}), &answer)),
        json!([
            {"filePath": "/w/a", "line": 5, "message": "m", "severity": "error", "source": "toy"},
            {"filePath": "/w/a", "line": 5, "message": "m", "severity": "warning"},
            {"filePath": "/w/b", "line": 5, "message": "m", "severity": "info"},
            {"filePath": "/w/b", "line": 5, "message": "m", "severity": "hint"},
        ])
    );
}

#[test]
fn a_selection_is_flat_and_none_is_null() {
    let some = Answer::Selection(Some(selection("hi".into())));
    assert_eq!(
        inner(&sent("getCurrentSelection", json!({}), &some)),
        json!({"filePath": "/w/a", "text": "hi", "startLine": 2, "startCharacter": 2, "endLine": 4, "endCharacter": 4})
    );
    assert_eq!(texts(&sent("getLatestSelection", json!({}), &Answer::Selection(None))), ["null"]);
}

#[test]
fn a_cursor_without_a_selection_is_null() {
    let cursor = Position { line: 1, character: 2 };
    let range = Range { start: cursor, end: cursor };
    let bare = Selection { path: "/w/a".into(), text: String::new(), range, is_empty: true, reversed: false };
    for tool in ["getCurrentSelection", "getLatestSelection"] {
        assert_eq!(texts(&sent(tool, json!({}), &Answer::Selection(Some(bare.clone())))), ["null"], "{tool}");
    }
}

#[test]
fn editors_and_folders_are_lists_and_dirty_is_an_object() {
    let document = OpenDocument { path: "/w/a".into(), dirty: true, ..OpenDocument::default() };
    assert_eq!(
        inner(&sent("getOpenEditors", json!({}), &Answer::Editors(vec![document]))),
        json!([{"filePath": "/w/a", "isActive": false, "isDirty": true, "languageId": "plaintext"}])
    );
    assert_eq!(
        inner(&sent("getWorkspaceFolders", json!({}), &Answer::Folders(vec!["/w".into()]))),
        json!(["/w"])
    );
    let dirty = Answer::Dirty { path: "/w/a".into(), open: true, dirty: true, untitled: false };
    assert_eq!(
        texts(&sent("checkDocumentDirty", json!({"filePath": "/w/a"}), &dirty)),
        [r#"{"dirty":true}"#]
    );
}

#[test]
fn no_frame_is_larger_than_the_agent_takes() {
    let mut session = session("nexus3");
    let large = "x".repeat(1 << 20);
    let answer = Answer::Selection(Some(selection(large.clone())));
    let frame = answered(&mut session, "getCurrentSelection", &json!({}), &answer);
    assert_eq!(frame["error"]["code"], -32000);
    let rejected = Answer::Rejected(rejected(Some(&large), &[]));
    assert_eq!(texts(&answered(&mut session, "openDiff", &diff(), &rejected)), ["DIFF_REJECTED"]);
}

#[test]
fn the_agent_hears_nothing_unasked_but_that_the_tools_changed() {
    let session = introduced("nexus3", "nexus3", "0.1.0");
    assert_eq!(session.event(&EditorEvent::SelectionChanged(selection(String::new()))), None);
    assert_eq!(session.event(&EditorEvent::Mentioned { path: "/w/a".into(), lines: None }), None);
    assert_eq!(session.event(&EditorEvent::DiagnosticsChanged { paths: Vec::new() }), None);
    assert!(session.event(&EditorEvent::ToolsChanged).is_some());
}

#[test]
fn its_protocol_version_is_echoed() {
    let params =
        json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "nexus3"}});
    let frame = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
    let Step::Introduced { reply, .. } = session("nexus3").receive(&frame) else { panic!("not introduced") };
    assert_eq!(serde_json::from_str::<Value>(&reply).unwrap()["result"]["protocolVersion"], "2024-11-05");
    call(&mut session("nexus3"), "getOpenEditors", &Value::Null);
}

#[test]
fn another_old_file_is_what_the_change_is_compared_with() {
    for dialect in ["nexus3", "claude"] {
        for (old, expected) in [("/w/old", Some("/w/old")), ("/w/a", None), ("", None)] {
            let mut arguments = diff();
            arguments["old_file_path"] = json!(old);
            let Step::Call { request: Request::Propose { path, compare_with, .. }, .. } =
                session(dialect).receive(&call_frame(1, "openDiff", &arguments))
            else {
                panic!("no proposal")
            };
            assert_eq!((path, compare_with), ("/w/a".into(), expected.map(Into::into)), "{dialect}");
        }
    }
}

/// NEXUS3 itself, which runs its tool after a yes.
fn nexus3() -> Session {
    introduced("nexus3", "nexus3", "1.0.0")
}

#[test]
fn nexus3_itself_writes_what_it_proposed_and_nothing_else() {
    let proposed = |session: &mut Session| match session.receive(&call_frame(1, "openDiff", &diff())) {
        Step::Call { request: Request::Propose { writer, .. }, .. } => writer,
        other => panic!("{other:?}"),
    };
    assert_eq!(proposed(&mut nexus3()), Some(Writer::AgentAsProposed));
    assert_eq!(proposed(&mut introduced("nexus3", "another", "1.0.0")), None);
}

#[test]
fn nexus3_itself_hears_yes_only_if_its_tool_is_the_writer() {
    let by_agent = Answer::Accepted(Accepted { written: false, ..accepted("x", false) });
    assert_eq!(texts(&answered(&mut nexus3(), "openDiff", &diff(), &by_agent)), ["FILE_SAVED"]);
    let by_hub =
        Accepted { written: true, person_diff: Some("+FILE_SAVED\n".into()), ..accepted("x", false) };
    let by_hub = Answer::Accepted(by_hub);
    let told = texts(&answered(&mut nexus3(), "openDiff", &diff(), &by_hub));
    assert_eq!(told, ["DIFF_REJECTED", "+file saved\n"]);
    let mut another = introduced("nexus3", "another", "1.0.0");
    assert_eq!(texts(&answered(&mut another, "openDiff", &diff(), &by_hub))[0], "FILE_SAVED");
}

#[test]
fn what_nexus3_shows_its_model_of_a_decision_comes_with_the_next_diagnostics_and_once() {
    let mut session = nexus3();
    let in_part = Accepted { written: true, taken: AcceptedPart::Edited, ..accepted("x", false) };
    answered(&mut session, "openDiff", &diff(), &Answer::Accepted(in_part));
    let rejection = Answer::Rejected(rejected(Some("not\nnow"), &[(3, "why?")]));
    answered(&mut session, "openDiff", &diff(), &rejection);
    let none = Answer::Diagnostics(Vec::new());
    let one_file = answered(&mut session, "getDiagnostics", &json!({"uri": "/w/b"}), &none);
    assert_eq!(inner(&one_file), json!([]));
    let told = inner(&answered(&mut session, "getDiagnostics", &json!({}), &none));
    let messages: Vec<&str> =
        told.as_array().unwrap().iter().map(|d| d["message"].as_str().unwrap()).collect();
    assert_eq!(messages[0], "The user rejected this change. The user says: not now; line 3: why?");
    assert!(messages[1].contains("accepted this change with edits") && messages[1].contains("It is saved"));
    assert_eq!((&told[0]["severity"], &told[0]["source"]), (&json!("error"), &json!("linkspan")));
    assert_eq!(inner(&answered(&mut session, "getDiagnostics", &json!({}), &none)), json!([]));
}

#[test]
fn a_note_is_short_enough_for_nexus3s_context() {
    let mut session = nexus3();
    let long = "é".repeat(4000);
    answered(&mut session, "openDiff", &diff(), &Answer::Rejected(rejected(Some(&long), &[])));
    let told = inner(&answered(&mut session, "getDiagnostics", &json!({}), &Answer::Diagnostics(Vec::new())));
    assert!(told[0]["message"].as_str().unwrap().chars().count() <= 481, "{told}");
}

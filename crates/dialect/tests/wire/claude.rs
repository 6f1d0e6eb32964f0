//! The claude dialect's shapes.

use std::path::PathBuf;

use linkspan_dialect::{
    Accepted, Answer, EditorEvent, Endpoint, Failure, FailureKind, OpenSelection, Request, by_name,
};
use linkspan_editor_api::{
    Capabilities, Diagnostic, FileDiagnostics, OpenDocument, Position, Range, SelectedRange, Selection,
    Severity,
};
use linkspan_review::Writer;
use serde_json::{Value, json};

use crate::support::{self, answered, inner, introduced, reply, request, session, texts};

fn range(start: (u32, u32), end: (u32, u32)) -> Range {
    let position = |(line, character)| Position { line, character };
    Range { start: position(start), end: position(end) }
}

fn selection() -> Selection {
    Selection {
        path: "/w/a b.py".into(),
        text: "hi".into(),
        range: range((1, 0), (1, 2)),
        is_empty: false,
        reversed: true,
    }
}

fn diff(label: &str) -> Value {
    json!({"old_file_path": "/w/a", "new_file_path": "/w/a", "new_file_contents": "x\n", "tab_name": label})
}

fn accepted(text: &str, new_file: bool) -> Answer {
    Answer::Accepted(Accepted {
        comments: vec![support::comment(1, "nice")],
        ..support::accepted(text, new_file)
    })
}

#[test]
fn the_agent_writes() {
    let dialect = by_name("claude").unwrap();
    assert_eq!(dialect.writer, Writer::Agent);
    let Endpoint::WebSocket { subprotocol, .. } = dialect.endpoint else { panic!("no WebSocket") };
    assert_eq!(subprotocol, Some("mcp"));
}

#[test]
fn an_accept_carries_the_final_text() {
    let mut session = introduced("claude", "claude-code", "2.1.325");
    let frame = answered(&mut session, "openDiff", &diff("t"), &accepted("é\r\n", false));
    assert_eq!(
        frame,
        json!({"jsonrpc": "2.0", "id": 7, "result": {"content": [
            {"type": "text", "text": "FILE_SAVED"}, {"type": "text", "text": "é\r\n"}]}})
    );
}

#[test]
fn a_new_file_keeps_its_final_newline_in_agents_that_take_one_off() {
    let sent = |name: &str, version: &str, text: &str, new_file: bool| {
        let mut session = introduced("claude", name, version);
        texts(&answered(&mut session, "openDiff", &diff("t"), &accepted(text, new_file)))[1].clone()
    };
    assert_eq!(sent("claude-code", "2.1.325", "a\n", true), "a\n\n");
    assert_eq!(sent("claude-code", "2.2.0", "a\n", true), "a\n\n");
    assert_eq!(sent("claude-code", "2.1.325", "a", true), "a");
    assert_eq!(sent("claude-code", "2.1.325", "a\n", false), "a\n");
    assert_eq!(sent("claude-code", "2.1.112", "a\n", true), "a\n");
    assert_eq!(sent("claude-code", "next", "a\n", true), "a\n");
    assert_eq!(sent("opencode", "2.1.325", "a\n", true), "a\n");
}

#[test]
fn a_byte_order_mark_that_the_agent_left_out_is_sent_where_its_program_does_not_keep_it() {
    let sent = |name: &str, version: &str, unsent_mark: bool| {
        let mut session = introduced("claude", name, version);
        let answer = Answer::Accepted(Accepted { unsent_mark, ..support::accepted("a\n", false) });
        texts(&answered(&mut session, "openDiff", &diff("t"), &answer))[1].clone()
    };
    assert_eq!(sent("claude-code", "2.1.325", true), "a\n", "it puts the mark back");
    assert_eq!(sent("claude-code", "2.1.112", true), "\u{feff}a\n");
    assert_eq!(sent("claude-code", "1.0.128", true), "\u{feff}a\n");
    assert_eq!(sent("another", "9", true), "\u{feff}a\n");
    assert_eq!(sent("claude-code", "2.1.112", false), "a\n");
    let mut session = introduced("claude", "claude-code", "2.1.325");
    let answer = Answer::Accepted(Accepted { unsent_mark: true, ..support::accepted("\u{feff}a\n", false) });
    let two = texts(&answered(&mut session, "openDiff", &diff("t"), &answer))[1].clone();
    assert_eq!(two, "\u{feff}\u{feff}a\n", "the second one is text");
}

#[test]
fn a_rejection_names_the_tab_and_says_no_more() {
    let answer = Answer::Rejected(support::rejected(Some("no"), &[(1, "why?")]));
    let frame = answered(&mut session("claude"), "openDiff", &diff("✻ a ⧉"), &answer);
    assert_eq!(texts(&frame), ["DIFF_REJECTED", "✻ a ⧉"]);
}

#[test]
fn a_failed_review_is_an_error_and_never_a_text() {
    for (kind, code) in [(FailureKind::Internal, -32603), (FailureKind::OutsideWorkspace, -32000)] {
        let failed = Answer::Failed(Failure::new(kind, "TAB_CLOSED"));
        let frame = answered(&mut session("claude"), "openDiff", &diff("t"), &failed);
        assert_eq!(
            frame,
            json!({"jsonrpc": "2.0", "id": 7, "error": {"code": code, "message": "TAB_CLOSED"}})
        );
    }
}

#[test]
fn another_failed_tool_is_a_result_that_the_model_can_read() {
    let failed = Answer::Failed(Failure::new(FailureKind::Unsupported, "not supported by this editor"));
    let frame = answered(&mut session("claude"), "executeCode", &json!({"code": "1"}), &failed);
    assert_eq!(
        frame["result"],
        json!({"content": [{"type": "text", "text": "not supported by this editor"}], "isError": true})
    );
    let failed = Answer::Failed(Failure::new(FailureKind::InvalidParams, "filePath is relative"));
    let frame = answered(&mut session("claude"), "openFile", &json!({"filePath": "a"}), &failed);
    assert_eq!(frame["error"], json!({"code": -32602, "message": "filePath is relative"}));
}

#[test]
fn tabs_are_closed_with_the_words_of_the_real_extension() {
    let mut session = session("claude");
    let frame =
        answered(&mut session, "close_tab", &json!({"tab_name": "t"}), &Answer::TabClosed { text: None });
    assert_eq!(texts(&frame), ["TAB_CLOSED"]);
    let frame = answered(&mut session, "closeAllDiffTabs", &json!({}), &Answer::DiffsClosed(5));
    assert_eq!(texts(&frame), ["CLOSED_5_DIFF_TABS"]);
}

#[test]
fn lines_count_from_one_on_this_wire() {
    let target = |extra: Value| {
        let mut arguments = json!({"filePath": "/w/a"});
        arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        match request("claude", "openFile", &arguments) {
            Request::OpenFile { target, .. } => target,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(target(json!({})), None);
    assert_eq!(target(json!({"startText": "", "endText": ""})), None);
    let lines = |start, end| Some(OpenSelection::Lines { start, end });
    assert_eq!(target(json!({"startLine": 5, "endLine": 10})), lines(4, Some(9)));
    assert_eq!(target(json!({"startLine": 1})), lines(0, None));
    assert_eq!(target(json!({"endLine": 3})), lines(0, Some(2)));
    assert_eq!(target(json!({"startLine": 0})), lines(0, None));
    assert_eq!(
        target(json!({"startText": "fn", "endText": "}", "selectToEndOfLine": true, "startLine": 3})),
        Some(OpenSelection::Text { start: "fn".into(), end: Some("}".into()), to_end_of_line: true })
    );
}

#[test]
fn a_file_is_opened_in_front_unless_told_otherwise() {
    let opened =
        Answer::Opened { path: "/w/a.py".into(), language: Some("python".into()), line_count: Some(5) };
    let mut session = session("claude");
    let frame = answered(&mut session, "openFile", &json!({"filePath": "/w/a.py"}), &opened);
    assert_eq!(texts(&frame), ["Opened file: /w/a.py"]);
    let behind = json!({"filePath": "/w/a.py", "makeFrontmost": false});
    assert_eq!(
        inner(&answered(&mut session, "openFile", &behind, &opened)),
        json!({"success": true, "filePath": "/w/a.py", "languageId": "python", "lineCount": 5})
    );
}

#[test]
fn diagnostics_are_asked_by_uri_or_by_path() {
    let path = |arguments: Value| request("claude", "getDiagnostics", &arguments);
    let of = |path: &str| Request::Diagnostics { path: Some(PathBuf::from(path)), wait_ms: None };
    assert_eq!(path(json!({"uri": "file:///w/a%20b%23.txt"})), of("/w/a b#.txt"));
    assert_eq!(path(json!({"uri": "/w/a b.txt"})), of("/w/a b.txt"));
    assert_eq!(path(json!({})), Request::Diagnostics { path: None, wait_ms: None });
    assert_eq!(path(json!({"uri": ""})), Request::Diagnostics { path: None, wait_ms: None });
    let call = support::call_frame(1, "getDiagnostics", &json!({"uri": "https://a/b"}));
    assert_eq!(
        reply(session("claude").receive(&call))["error"]["message"],
        "uri is invalid: expected a file: URI or a path"
    );
}

#[test]
fn diagnostics_have_the_names_of_severities_that_the_agent_knows() {
    let diagnostic = |severity, source: Option<&str>| Diagnostic {
        message: "m".into(),
        severity,
        range: range((1, 4), (1, 10)),
        source: source.map(Into::into),
        code: source.map(|_| "E1".into()),
    };
    let diagnostics = vec![
        diagnostic(Severity::Error, Some("toy")),
        diagnostic(Severity::Warning, None),
        diagnostic(Severity::Info, None),
        diagnostic(Severity::Hint, None),
    ];
    let file = FileDiagnostics { path: "/w/a b.py".into(), version: None, settled: true, diagnostics };
    let answer = Answer::Diagnostics(vec![file]);
    let sent = inner(&answered(&mut session("claude"), "getDiagnostics", &json!({}), &answer));
    let span = json!({"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 10}});
    assert_eq!(
        sent,
        json!([{"uri": "file:///w/a%20b.py", "diagnostics": [
            {"message": "m", "severity": "Error", "range": span, "source": "toy", "code": "E1"},
            {"message": "m", "severity": "Warning", "range": span},
            {"message": "m", "severity": "Information", "range": span},
            {"message": "m", "severity": "Hint", "range": span},
        ]}])
    );
}

#[test]
fn a_selection_has_path_url_and_span() {
    let shape = json!({"success": true, "text": "hi", "filePath": "/w/a b.py", "fileUrl": "file:///w/a%20b.py",
        "selection": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 2}, "isEmpty": false}});
    for tool in ["getCurrentSelection", "getLatestSelection"] {
        let mut session = session("claude");
        let some = Answer::Selection(Some(selection()));
        assert_eq!(inner(&answered(&mut session, tool, &json!({}), &some)), shape);
        let none = inner(&answered(&mut session, tool, &json!({}), &Answer::Selection(None)));
        assert_eq!(none, json!({"success": false, "message": "No selection available"}));
    }
}

#[test]
fn open_editors_are_tabs() {
    let document = OpenDocument {
        path: "/w/a.py".into(),
        label: "a.py".into(),
        active: true,
        language: Some("python".into()),
        group_active: true,
        line_count: Some(5),
        selection: Some(SelectedRange { range: range((0, 0), (0, 9)), reversed: false }),
        ..OpenDocument::default()
    };
    let untitled = OpenDocument {
        path: "Untitled-1".into(),
        label: "Untitled-1".into(),
        untitled: true,
        dirty: true,
        view_column: Some(2),
        ..OpenDocument::default()
    };
    let answer = Answer::Editors(vec![document, untitled]);
    assert_eq!(
        inner(&answered(&mut session("claude"), "getOpenEditors", &json!({}), &answer)),
        json!({"tabs": [
            {"uri": "file:///w/a.py", "fileName": "/w/a.py", "label": "a.py", "languageId": "python", "isActive": true,
             "isDirty": false, "isPinned": false, "isPreview": false, "isUntitled": false, "groupIndex": 0,
             "viewColumn": 1, "isGroupActive": true, "lineCount": 5, "selection": {
                 "start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 9}, "isReversed": false}},
            {"uri": "untitled:Untitled-1", "fileName": "Untitled-1", "label": "Untitled-1", "languageId": "plaintext",
             "isActive": false, "isDirty": true, "isPinned": false, "isPreview": false, "isUntitled": true,
             "groupIndex": 0, "viewColumn": 2, "isGroupActive": false},
        ]})
    );
}

#[test]
fn the_first_folder_is_the_root() {
    let answer = Answer::Folders(vec!["/w/ws".into(), "/".into()]);
    assert_eq!(
        inner(&answered(&mut session("claude"), "getWorkspaceFolders", &json!({}), &answer)),
        json!({"success": true, "rootPath": "/w/ws", "folders": [
            {"name": "ws", "uri": "file:///w/ws", "path": "/w/ws"}, {"name": "/", "uri": "file:///", "path": "/"}]})
    );
}

#[test]
fn dirty_and_saved_say_so_or_that_the_document_is_not_open() {
    let path = || PathBuf::from("/w/b.txt");
    let sent = |tool: &str, answer: Answer| {
        inner(&answered(&mut session("claude"), tool, &json!({"filePath": "/w/b.txt"}), &answer))
    };
    let closed = json!({"success": false, "message": "Document not open: /w/b.txt"});
    assert_eq!(
        sent("checkDocumentDirty", Answer::Dirty { path: path(), open: true, dirty: true, untitled: false }),
        json!({"success": true, "filePath": "/w/b.txt", "isDirty": true, "isUntitled": false})
    );
    assert_eq!(
        sent(
            "checkDocumentDirty",
            Answer::Dirty { path: path(), open: false, dirty: false, untitled: false }
        ),
        closed
    );
    assert_eq!(
        sent("saveDocument", Answer::Saved { path: path(), saved: true, open: true }),
        json!({"success": true, "filePath": "/w/b.txt", "saved": true, "message": "Document saved successfully"})
    );
    assert_eq!(
        sent("saveDocument", Answer::Saved { path: path(), saved: false, open: true }),
        json!({"success": false, "filePath": "/w/b.txt", "saved": false, "message": "Document could not be saved"})
    );
    assert_eq!(sent("saveDocument", Answer::Saved { path: path(), saved: false, open: false }), closed);
}

#[test]
fn code_is_offered_only_where_the_editor_can_execute_it() {
    use linkspan_dialect::{ServerFacts, Session};
    let names = |execute_code| {
        let capabilities = Capabilities { execute_code, questions: true, ..Capabilities::default() };
        let server = ServerFacts { version: String::new(), editor_name: String::new(), capabilities };
        let mut session = Session::new(by_name("claude").unwrap(), server);
        let list = reply(session.receive(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#));
        let tools = list["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(true).len(), 12);
    assert_eq!(names(false), names(true)[..11]);
    assert_eq!(names(true)[11], "executeCode");
}

#[test]
fn open_file_requires_only_the_path() {
    let list = reply(session("claude").receive(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#));
    let tools = list["result"]["tools"].as_array().unwrap();
    let open_file = tools.iter().find(|tool| tool["name"] == "openFile").unwrap();
    assert_eq!(open_file["inputSchema"]["required"], json!(["filePath"]));
}

#[test]
fn events_are_the_notifications_that_the_agent_knows() {
    let session = introduced("claude", "claude-code", "2.1.325");
    let sent = |event| serde_json::from_str::<Value>(&session.event(&event).unwrap()).unwrap();
    assert_eq!(
        sent(EditorEvent::SelectionChanged(selection())),
        json!({"jsonrpc": "2.0", "method": "selection_changed", "params": {
            "text": "hi", "filePath": "/w/a b.py", "fileUrl": "file:///w/a%20b.py", "selection": {
                "start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 2}, "isEmpty": false}}})
    );
    assert_eq!(
        sent(EditorEvent::Mentioned { path: "/w/a".into(), lines: Some((0, 1)) }),
        json!({"jsonrpc": "2.0", "method": "at_mentioned", "params": {"filePath": "/w/a", "lineStart": 0, "lineEnd": 1}})
    );
    assert_eq!(
        sent(EditorEvent::Mentioned { path: "/w/a".into(), lines: None }),
        json!({"jsonrpc": "2.0", "method": "at_mentioned", "params": {"filePath": "/w/a"}})
    );
    assert_eq!(
        sent(EditorEvent::DiagnosticsChanged { paths: vec!["/w/a b".into()] }),
        json!({"jsonrpc": "2.0", "method": "diagnostics_changed", "params": {"uris": ["file:///w/a%20b"]}})
    );
}

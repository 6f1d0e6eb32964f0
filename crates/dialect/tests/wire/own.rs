//! The shapes of our own dialect.

use linkspan_dialect::{
    Accepted, Answer, DecidedHunk, EditorEvent, Failure, FailureKind, LanguageAnswer, LanguageQuery,
    OpenSelection, Rejected, Request, ServerFacts, Session, Step, by_name,
};
use linkspan_editor_api::{
    AcceptedPart, Capabilities, Diagnostic, FileDiagnostics, LanguageDefinitionResult, LanguageHoverResult,
    LanguageSymbolsResult, Location, OpenDocument, Position, Range, Selection, Severity, Symbol,
    TerminalRunResult,
};
use linkspan_review::Writer;
use serde_json::{Value, json};

use crate::support::{accepted, answered, comment, introduced, rejected, reply, request, session};

fn asks(tool: &str, arguments: Value) -> Request {
    request("linkspan", tool, &arguments)
}

/// The object and the text of an answer.
fn told(tool: &str, arguments: Value, answer: &Answer) -> (Value, String) {
    let frame = answered(&mut session("linkspan"), tool, &arguments, answer);
    let content = frame["result"]["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "{frame}");
    assert!(frame["result"]["structuredContent"].is_object(), "{frame}");
    (frame["result"]["structuredContent"].clone(), content[0]["text"].as_str().unwrap().to_owned())
}

fn range() -> Range {
    Range { start: Position { line: 1, character: 2 }, end: Position { line: 3, character: 4 } }
}

fn listed(capabilities: Capabilities) -> Vec<String> {
    let server = ServerFacts { version: "0.1.0".into(), editor_name: "Neovim".into(), capabilities };
    let mut session = Session::new(by_name("linkspan").unwrap(), server);
    let list = reply(session.receive(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#));
    let tools = list["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_list_follows_what_the_editor_can_do() {
    let plain = listed(Capabilities::default());
    assert_eq!(
        plain,
        [
            "proposeChange",
            "compareTexts",
            "recordChange",
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
            "requestPermission",
        ]
    );
    let extra = |capabilities| -> Vec<String> {
        listed(capabilities).into_iter().filter(|name| !plain.contains(name)).collect()
    };
    let none = Capabilities::default();
    // An editor that cannot ask for permission is not the only place where that is done.
    assert_eq!(extra(Capabilities { execute_code: true, ..none }), ["executeCode"]);
    assert_eq!(extra(Capabilities { terminal: true, ..none }), ["runInTerminal"]);
    let language = ["getHover", "getDefinition", "findReferences", "getSymbols", "renameSymbol"];
    assert_eq!(extra(Capabilities { language: true, ..none }), language);
    assert_eq!(extra(Capabilities { documents: true, ..none }), ["getVisibleRange"]);
}

#[test]
fn only_an_ability_that_matters_changes_the_list() {
    let mut session = introduced("linkspan", "tester", "1");
    let before = Capabilities { execute_code: true, questions: true, ..Capabilities::default() };
    assert!(!session.set_capabilities(before));
    assert!(!session.set_capabilities(Capabilities { selection: true, ..before }));
    assert!(session.set_capabilities(Capabilities { language: true, ..before }));
    assert!(session.set_capabilities(Capabilities::default()));
}

#[test]
fn a_change_says_who_writes_and_what_it_belongs_to() {
    let change = |set: Option<&str>, label: &str, writer| Request::Propose {
        path: "/w/a".into(),
        compare_with: None,
        proposed: "x".into(),
        label: label.into(),
        set: set.map(str::to_owned),
        writer: Some(writer),
    };
    let plain = json!({"path": "/w/a", "newText": "x"});
    assert_eq!(asks("proposeChange", plain), change(None, "/w/a", Writer::Hub));
    let hub = json!({"path": "/w/a", "newText": "x", "label": "", "set": "", "writer": "hub"});
    assert_eq!(asks("proposeChange", hub), change(None, "/w/a", Writer::Hub));
    let agent = json!({"path": "/w/a", "newText": "x", "label": "t", "set": "s", "writer": "agent"});
    assert_eq!(asks("proposeChange", agent), change(Some("s"), "t", Writer::Agent));
    let compare = json!({"path": "/w/a", "oldText": "", "newText": "x", "set": "s"});
    assert_eq!(
        asks("compareTexts", compare),
        Request::Compare {
            path: "/w/a".into(),
            before: String::new(),
            after: "x".into(),
            label: "/w/a".into(),
            set: Some("s".into()),
        }
    );
}

#[test]
fn bad_arguments_are_named() {
    let long = "x".repeat(257);
    for (tool, arguments, message) in [
        ("proposeChange", json!({"path": "/a"}), "newText is missing: expected a string"),
        (
            "proposeChange",
            json!({"path": "/a", "newText": "", "writer": "me"}),
            "writer is invalid: expected `hub` or `agent`",
        ),
        (
            "proposeChange",
            json!({"path": "/a", "newText": "", "set": long}),
            "set is invalid: expected a string of at most 256 bytes",
        ),
        ("compareTexts", json!({"path": "/a", "newText": ""}), "oldText is missing: expected a string"),
        (
            "getHover",
            json!({"path": "/a", "line": 1}),
            "character is missing: expected a whole number, zero or more",
        ),
    ] {
        let frame = crate::support::call_frame(1, tool, &arguments);
        let reply = reply(session("linkspan").receive(&frame));
        assert_eq!((&reply["error"]["code"], &reply["error"]["message"]), (&json!(-32602), &json!(message)));
    }
}

#[test]
fn a_file_is_opened_at_lines_or_at_a_place() {
    let target = |arguments: Value| match asks("openFile", arguments) {
        Request::OpenFile { target, .. } => target,
        other => panic!("{other:?}"),
    };
    let lines = |start, end| Some(OpenSelection::Lines { start, end });
    assert_eq!(target(json!({"path": "/a"})), None);
    assert_eq!(target(json!({"path": "/a", "line": 3})), lines(3, None));
    assert_eq!(target(json!({"path": "/a", "line": 3, "endLine": 5})), lines(3, Some(5)));
    assert_eq!(target(json!({"path": "/a", "endLine": 5})), lines(0, Some(5)));
    let start = Position { line: 3, character: 7 };
    assert_eq!(
        target(json!({"path": "/a", "line": 3, "character": 7})),
        Some(OpenSelection::From { start, end_line: None })
    );
    assert_eq!(
        asks("openFile", json!({"path": "/a", "preview": true, "focus": false})),
        Request::OpenFile { path: "/a".into(), preview: true, focus: false, target: None }
    );
    assert_eq!(
        asks("getDiagnostics", json!({"waitMs": 250})),
        Request::Diagnostics { path: None, wait_ms: Some(250) }
    );
    assert_eq!(
        asks("findReferences", json!({"path": "/a", "line": 3, "character": 7})),
        Request::Language { path: "/a".into(), question: LanguageQuery::References(start) }
    );
}

fn change() -> Value {
    json!({"path": "/w/a", "newText": "x"})
}

#[test]
fn an_accept_has_the_final_text_and_everything_that_was_said() {
    let (all, text) = told("proposeChange", change(), &Answer::Accepted(accepted("x", true)));
    assert_eq!(
        all,
        json!({
            "outcome": "accepted", "review": "r1", "path": "/w/a", "text": "x", "newFile": true,
            "written": true, "taken": "all", "comments": [],
        })
    );
    assert_eq!(text, "Accepted as proposed: /w/a; the file is written.");

    let hunk = |id: &str, taken| DecidedHunk {
        id: id.into(),
        before_start: 1,
        before_count: 2,
        after_start: 3,
        after_count: 4,
        taken,
    };
    let some = Accepted {
        written: false,
        taken: AcceptedPart::Some,
        hunks: vec![hunk("h1", true), hunk("h2", false)],
        person_diff: Some("--- a\n".into()),
        comments: vec![comment(2, "why?")],
        ..accepted("x", false)
    };
    let (some, text) = told("proposeChange", change(), &Answer::Accepted(some));
    let shape = |id, taken| json!({"id": id, "beforeStart": 1, "beforeCount": 2, "afterStart": 3, "afterCount": 4, "taken": taken});
    assert_eq!(
        some,
        json!({
            "outcome": "accepted", "review": "r1", "path": "/w/a", "text": "x", "newFile": false,
            "written": false, "taken": "some", "hunks": [shape("h1", true), shape("h2", false)],
            "personDiff": "--- a\n", "comments": [{"line": 2, "text": "why?"}],
        })
    );
    assert!(text.contains("in part") && text.contains("--- a") && text.contains("line 2: why?"), "{text}");
}

#[test]
fn a_rejection_has_its_reason_and_comments() {
    let answer = Answer::Rejected(rejected(Some("too long"), &[(2, "why?")]));
    let (rejected, text) = told("compareTexts", json!({"path": "/a", "oldText": "", "newText": ""}), &answer);
    assert_eq!(
        rejected,
        json!({
            "outcome": "rejected", "review": "r1", "path": "/w/a", "newFile": false, "written": false,
            "reason": "too long", "comments": [{"line": 2, "text": "why?"}],
        })
    );
    assert_eq!(text, "Rejected: /w/a: too long\nline 2: why?");
}

#[test]
fn a_failure_has_its_kind_and_can_never_be_taken_for_a_decision() {
    for (kind, name) in [
        (FailureKind::OutsideWorkspace, "outsideWorkspace"),
        (FailureKind::Denied, "denied"),
        (FailureKind::Withdrawn, "withdrawn"),
    ] {
        let failed = Answer::Failed(Failure::new(kind, "accepted? no"));
        let frame = answered(&mut session("linkspan"), "proposeChange", &change(), &failed);
        let error = json!({"error": {"kind": name, "message": "accepted? no"}});
        assert_eq!(
            (&frame["result"]["isError"], &frame["result"]["structuredContent"]),
            (&json!(true), &error)
        );
        assert_eq!(frame["result"]["content"][0]["text"], "accepted? no");
    }
}

#[test]
fn what_the_editor_shows_is_told_in_its_own_shapes() {
    let diagnostic = Diagnostic {
        message: "no".into(),
        severity: Severity::Warning,
        range: range(),
        source: Some("lint".into()),
        code: Some("E1".into()),
    };
    let file = FileDiagnostics {
        path: "/w/a".into(),
        version: Some(3),
        settled: false,
        diagnostics: vec![diagnostic.clone()],
    };
    let (found, text) = told("getDiagnostics", json!({}), &Answer::Diagnostics(vec![file.clone()]));
    assert_eq!(found, json!({"files": [file]}));
    assert!(text.starts_with("/w/a:2:3: warning: no (lint E1)\n(the language servers"), "{text}");

    let selection =
        Selection { path: "/w/a".into(), text: "x".into(), range: range(), is_empty: false, reversed: false };
    let (found, _) = told("getCurrentSelection", json!({}), &Answer::Selection(Some(selection.clone())));
    assert_eq!(found, json!({"selection": selection}));
    assert_eq!(told("getLatestSelection", json!({}), &Answer::Selection(None)).0, json!({"selection": null}));

    let document = OpenDocument { path: "/w/a".into(), dirty: true, ..OpenDocument::default() };
    let (found, text) = told("getOpenEditors", json!({}), &Answer::Editors(vec![document.clone()]));
    assert_eq!((found, text.as_str()), (json!({"editors": [document]}), "/w/a (unsaved)"));
    let folders = Answer::Folders(vec!["/w".into()]);
    assert_eq!(told("getWorkspaceFolders", json!({}), &folders).0, json!({"folders": ["/w"]}));
}

#[test]
fn the_small_answers_are_objects_too() {
    let path = || json!({"path": "/w/a"});
    let opened = Answer::Opened { path: "/w/a".into(), language: Some("rust".into()), line_count: Some(3) };
    assert_eq!(
        told("openFile", path(), &opened).0,
        json!({"path": "/w/a", "language": "rust", "lineCount": 3})
    );
    let dirty = Answer::Dirty { path: "/w/a".into(), open: true, dirty: true, untitled: false };
    assert_eq!(
        told("checkDocumentDirty", path(), &dirty).0,
        json!({"path": "/w/a", "open": true, "dirty": true, "untitled": false})
    );
    let saved = Answer::Saved { path: "/w/a".into(), saved: false, open: false };
    assert_eq!(
        told("saveDocument", path(), &saved),
        (
            json!({"path": "/w/a", "saved": false, "open": false}),
            "/w/a is not open, so there is nothing to save".to_owned()
        )
    );
    assert_eq!(told("closeTab", json!({"label": "t"}), &Answer::TabClosed { text: None }).0, json!({}));
    assert_eq!(told("closeAllDiffTabs", json!({}), &Answer::DiffsClosed(2)).0, json!({"closed": 2}));
    let executed = Answer::Executed("4".into());
    assert_eq!(told("executeCode", json!({"code": "2+2"}), &executed).0, json!({"output": "4"}));
}

#[test]
fn a_command_says_where_it_runs_and_is_told_with_its_end() {
    let run = |cwd: Option<&str>, wait_ms| Request::RunInTerminal {
        terminal: None,
        command: "make".into(),
        cwd: cwd.map(Into::into),
        wait_ms,
    };
    assert_eq!(asks("runInTerminal", json!({"command": "make"})), run(None, None));
    let all = json!({"command": "make", "cwd": "/w", "waitMs": 5});
    assert_eq!(asks("runInTerminal", all.clone()), run(Some("/w"), Some(5)));
    let ran = |exit_code, timed_out| {
        Answer::Ran(TerminalRunResult { terminal: "t1".into(), output: "out".into(), exit_code, timed_out })
    };
    assert_eq!(
        told("runInTerminal", all.clone(), &ran(Some(2), false)),
        (
            json!({"terminal": "t1", "output": "out", "exitCode": 2, "timedOut": false}),
            "exit code 2\nout".to_owned()
        )
    );
    let (_, text) = told("runInTerminal", all.clone(), &ran(None, true));
    assert_eq!(text, "still running\nout");
    let (_, text) = told("runInTerminal", all, &ran(None, false));
    assert_eq!(text, "exited; the exit code is not known\nout");
}

#[test]
fn a_refused_permission_is_an_answer_and_not_a_failure() {
    let make = json!({"command": "make"});
    assert_eq!(asks("requestPermission", make.clone()), Request::Permission { command: "make".into() });
    let answer = |allowed, message: Option<&str>| {
        let message = message.map(Into::into);
        told("requestPermission", make.clone(), &Answer::Permission { allowed, message })
    };
    assert_eq!(answer(true, None), (json!({"allowed": true}), "allowed".to_owned()));
    let refused = json!({"allowed": false, "message": "the user refused it"});
    assert_eq!(
        answer(false, Some("the user refused it")),
        (refused, "not allowed: the user refused it".to_owned())
    );
}

#[test]
fn a_rename_has_the_outcome_of_each_file() {
    let place = json!({"path": "/w/a", "line": 1, "character": 2, "newName": "b"});
    let position = Position { line: 1, character: 2 };
    let asked = Request::Rename { path: "/w/a".into(), position, new_name: "b".into() };
    assert_eq!(asks("renameSymbol", place.clone()), asked);

    let rejected = Rejected {
        review: "r2".into(),
        path: "/w/b".into(),
        reason: Some("no".into()),
        ..Rejected::default()
    };
    let failure = Failure::new(FailureKind::Io, "the disk is full");
    let set = Answer::Set(vec![
        ("/w/a".into(), Answer::Accepted(accepted("x", true))),
        ("/w/b".into(), Answer::Rejected(rejected)),
        ("/w/c".into(), Answer::Failed(failure)),
    ]);
    let (files, text) = told("renameSymbol", place, &set);
    assert_eq!(
        files,
        json!({ "files": [
            { "outcome": "accepted", "review": "r1", "path": "/w/a", "textOmitted": true, "newFile": true,
              "written": true, "taken": "all", "comments": [] },
            { "outcome": "rejected", "review": "r2", "path": "/w/b", "newFile": false, "written": false,
              "reason": "no", "comments": [] },
            { "path": "/w/c", "error": { "kind": "io", "message": "the disk is full" } },
        ]})
    );
    assert_eq!(
        text,
        "Accepted as proposed: /w/a; the file is written.\nRejected: /w/b: no\nNot changed: /w/c: the disk is full"
    );
}

#[test]
fn what_language_servers_know_is_told_as_they_say_it() {
    let place = json!({"path": "/w/a", "line": 1, "character": 2});
    let hover = LanguageHoverResult { contents: vec!["fn a()".into()], range: None };
    let (found, text) = told("getHover", place.clone(), &Answer::Language(LanguageAnswer::Hover(hover)));
    assert_eq!((found, text.as_str()), (json!({"contents": ["fn a()"]}), "fn a()"));

    let location = Location { path: "/w/b".into(), range: range() };
    let found = LanguageDefinitionResult { locations: vec![location.clone()] };
    let (found, text) = told("getDefinition", place, &Answer::Language(LanguageAnswer::Definition(found)));
    assert_eq!((found, text.as_str()), (json!({"locations": [location]}), "/w/b:2:3"));

    let symbol = Symbol { name: "a".into(), symbol_kind: "function".into(), location, container: None };
    let found = LanguageSymbolsResult { symbols: vec![symbol.clone()] };
    let (found, text) =
        told("getSymbols", json!({"path": "/w/b"}), &Answer::Language(LanguageAnswer::Symbols(found)));
    assert_eq!((found, text.as_str()), (json!({"symbols": [symbol]}), "/w/b:2:3: function a"));
}

#[test]
fn events_have_the_shapes_of_the_editor_protocol() {
    let session = introduced("linkspan", "tester", "1");
    let event = |event| -> Value { serde_json::from_str(&session.event(&event).unwrap()).unwrap() };
    let selection =
        Selection { path: "/w/a".into(), text: "x".into(), range: range(), is_empty: false, reversed: false };
    let told = event(EditorEvent::SelectionChanged(selection.clone()));
    assert_eq!((&told["method"], &told["params"]), (&json!("selection_changed"), &json!(selection)));
    let told = event(EditorEvent::Mentioned { path: "/w/a".into(), lines: Some((1, 2)) });
    assert_eq!(told["params"], json!({"path": "/w/a", "lines": {"first": 1, "last": 2}}));
    let told = event(EditorEvent::Mentioned { path: "/w/a".into(), lines: None });
    assert_eq!(told["params"], json!({"path": "/w/a"}));
    let told = event(EditorEvent::DiagnosticsChanged { paths: vec!["/w/a".into()] });
    assert_eq!(
        (&told["method"], &told["params"]),
        (&json!("diagnostics_changed"), &json!({"paths": ["/w/a"]}))
    );
    assert_eq!(event(EditorEvent::ToolsChanged)["method"], "notifications/tools/list_changed");
}

#[test]
fn only_an_answer_to_a_ping_that_was_sent_is_a_pong() {
    let mut session = session("linkspan");
    let answer = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    assert_eq!(session.receive(&answer("1")), Step::Nothing);
    assert_eq!(session.ping(2).as_deref(), Some(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#));
    for nobodys in ["0", "3", "-1", "\"2\"", "18446744073709551615"] {
        assert_eq!(session.receive(&answer(nobodys)), Step::Nothing, "{nobodys}");
    }
    assert_eq!(session.receive(&answer("2")), Step::Pong(2));
}

#[test]
fn a_goodbye_is_a_word_of_this_dialect_only() {
    let leave = r#"{"jsonrpc":"2.0","method":"agent/leave","params":{}}"#;
    assert_eq!(session("linkspan").receive(leave), Step::Goodbye);
    assert_eq!(session("claude").receive(leave), Step::Nothing);
}

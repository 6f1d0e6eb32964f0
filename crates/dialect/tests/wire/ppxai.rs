//! The ppxai dialect's shapes, as the seed's own server has them where it shows one.

use linkspan_dialect::{
    ActiveFileRequest, Answer, ExchangeId, Failure, FailureKind, LanguageAnswer, Request, Session, Step,
    TerminalContents, WindowFolders, WorkspaceRequest, ppxai_tools_page,
};
use linkspan_editor_api::{
    DocumentVisibleRangeResult, LanguageHoverResult, Location, OpenDocument, Position, Range, Selection,
    TerminalRunResult,
};
use linkspan_review::Writer;
use serde_json::{Value, json};

use crate::support::{accepted, comment, rejected, session};

fn folders(session: &mut Session) {
    let path = || vec!["/w".into()];
    session.set_folders(&WindowFolders { named: path(), real: path() });
}

fn frame(tool: &str, args: &Value) -> String {
    json!({ "id": "u-1", "tool": tool, "args": args }).to_string()
}

fn step(tool: &str, args: &Value) -> Step {
    session("ppxai").receive(&frame(tool, args))
}

#[track_caller]
fn request(tool: &str, args: Value) -> Request {
    match step(tool, &args) {
        Step::Call { request, .. } => request,
        other => panic!("{tool} {args} is not a call but {other:?}"),
    }
}

/// What the client gets for this answer.
#[track_caller]
fn told(tool: &str, args: Value, answer: &Answer) -> Value {
    let mut session = session("ppxai");
    folders(&mut session);
    let Step::Call { call, .. } = session.receive_in(Some(ExchangeId(5)), &frame(tool, &args)) else {
        panic!("{tool} is not a call")
    };
    let frame = session.answer(call, answer).unwrap();
    assert_eq!(frame.answers, Some(ExchangeId(5)), "it goes back where it was asked");
    assert!(session.answer(call, answer).is_none(), "once");
    let told: Value = serde_json::from_str(&frame.text).unwrap();
    assert_eq!(told["id"], "u-1");
    told
}

#[track_caller]
fn wrong(tool: &str, args: Value) -> String {
    let Step::Reply(reply) = step(tool, &args) else { panic!("{tool} {args} is taken") };
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!((&reply["success"], &reply["code"]), (&json!(false), &json!("INVALID_ARGUMENT")), "{reply}");
    reply["error"].as_str().unwrap().to_owned()
}

fn range(start: (u32, u32), end: (u32, u32)) -> Range {
    let place = |(line, character)| Position { line, character };
    Range { start: place(start), end: place(end) }
}

#[test]
fn there_are_twenty_six_tools_and_the_page_has_them_all() {
    let mut session = session("ppxai");
    let Step::Call { call, request } = session.receive("status") else { panic!("status is not a call") };
    assert_eq!(request, Request::WorkspaceFolders);
    let frame = session.answer(call, &Answer::Folders(vec!["/home/me/app".into(), "/".into()])).unwrap();
    let status: Value = serde_json::from_str(&frame.text).unwrap();
    let folders = json!([{ "name": "app", "path": "/home/me/app" }, { "name": "/", "path": "/" }]);
    assert_eq!(status["workspace"], json!({ "name": "app", "folders": folders }));
    let tools = status["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 26);
    let page = ppxai_tools_page();
    for tool in tools {
        assert!(page.contains(&format!("\n### `{}`\n", tool.as_str().unwrap())), "{tool}");
    }
}

#[test]
fn lines_count_from_1_on_the_wire_but_in_ranges() {
    let at = |line, character| Position { line, character };
    let path = "a".into();
    assert_eq!(
        request("ide.get_hover_info", json!({ "path": "a", "line": 3, "column": 2 })),
        Request::Language { path, question: linkspan_dialect::LanguageQuery::Hover(at(2, 2)) }
    );
    assert_eq!(
        request("ide.reveal_line", json!({ "line": 1 })),
        Request::ActiveFile(ActiveFileRequest::Reveal { line: 0 })
    );
    assert_eq!(
        request("ide.read_file", json!({ "path": "a", "start_line": 2, "end_line": 5 })),
        Request::ReadFile { path: "a".into(), lines: (1, Some(4)) }
    );
    assert_eq!(
        request("ide.insert_text", json!({ "text": "x", "line": 4 })),
        Request::ActiveFile(ActiveFileRequest::Insert {
            text: "x".into(),
            at: Some(at(3, 0)),
            label: "Insert text".into()
        })
    );
    let edits = json!([{
        "range": { "start": { "line": 1, "character": 2 }, "end": { "line": 3, "column": 4 } },
        "newText": "x",
        "oldText": "y",
    }]);
    let Request::Edit { files, label, direct, .. } =
        request("ide.apply_edit", json!({ "path": "a", "edits": edits }))
    else {
        panic!("it is not an edit")
    };
    let splice = &files[0].edits[0];
    assert_eq!((splice.from.line, splice.from.character, splice.to.line, splice.to.character), (1, 2, 3, 4));
    assert_eq!((splice.expects.as_deref(), label.as_str(), direct), (Some("y"), "a", true));
}

#[test]
fn a_diff_is_shown_for_nobody_to_write() {
    let Request::Propose { writer, .. } = request("ide.show_diff", json!({ "path": "a", "content": "x" }))
    else {
        panic!("it is not a proposal")
    };
    assert_eq!(writer, Some(Writer::Nobody));
    let args = json!({ "path": "a", "original": "x", "modified": "y" });
    assert!(matches!(request("ide.show_diff", args), Request::Compare { .. }));
    for args in [
        json!({ "path": "a" }),
        json!({ "path": "a", "content": "x", "original": "y" }),
        json!({ "path": "a", "modified": "y" }),
        json!({ "content": "x" }),
    ] {
        wrong("ide.show_diff", args);
    }
}

#[test]
fn a_rejection_and_what_went_wrong_are_failures() {
    let edit = json!({ "path": "a", "content": "new" });
    let mut yes = accepted("new", false);
    yes.comments = vec![comment(2, "nice")];
    let answer = told("ide.apply_edit", edit.clone(), &Answer::Accepted(yes.clone()));
    assert_eq!(
        answer["result"],
        json!({
            "applied": true, "accepted": true, "path": "a", "review": "r1", "content": "new", "taken": "all",
            "comments": [{ "line": 2, "text": "nice" }]
        })
    );
    yes.written = false;
    let answer = told("ide.show_diff", edit.clone(), &Answer::Accepted(yes.clone()));
    assert_eq!((&answer["result"]["applied"], &answer["result"]["accepted"]), (&json!(false), &json!(true)));
    let no = Answer::Rejected(rejected(Some("no"), &[]));
    let answer = told("ide.apply_edit", edit.clone(), &no);
    assert_eq!(
        (&answer["success"], &answer["result"]["accepted"], &answer["result"]["reason"]),
        (&json!(false), &json!(false), &json!("no"))
    );
    assert_eq!(
        (&answer["code"], &answer["error"]),
        (&json!("REJECTED"), &json!("the user rejected the change to a: no"))
    );
    let stale = Answer::Failed(Failure::new(FailureKind::Stale, "read it again"));
    assert_eq!(
        told("ide.apply_edit", edit.clone(), &stale),
        json!({ "id": "u-1", "success": false, "error": "read it again", "code": "STALE_EDIT" })
    );
    let set = Answer::Set(vec![("/w/a".into(), Answer::Accepted(yes)), ("/w/b".into(), stale)]);
    let answer = told("ide.apply_edit", edit, &set);
    assert_eq!(answer["result"]["accepted"], false);
    assert_eq!(answer["result"]["files"][1]["path"], "b");
    assert_eq!(answer["result"]["files"][1]["code"], "STALE_EDIT");
}

#[test]
fn results_have_their_shapes_and_say_where_they_were_cut() {
    let data = Answer::Data { json: "[\"a\"]".into(), truncated: true };
    let answer = told("ide.list_files", json!({}), &data);
    assert_eq!(answer, json!({ "id": "u-1", "success": true, "result": ["a"], "truncated": true }));
    let text = Answer::Text {
        path: "/w/a".into(),
        text: "x".into(),
        language: "rust".into(),
        dirty: false,
        truncated: false,
    };
    let answer = told("ide.read_file", json!({ "path": "a" }), &text);
    assert_eq!(answer["result"], json!({ "content": "x", "language": "rust" }));
    let answer = told("ide.get_active_file", json!({}), &text);
    assert_eq!(answer["result"], json!({ "path": "a", "content": "x", "language": "rust" }));
    let selection = Selection {
        path: "/w/a".into(),
        text: "x".into(),
        range: range((1, 2), (3, 4)),
        is_empty: false,
        reversed: false,
    };
    let answer = told("ide.get_selection", json!({}), &Answer::Selection(Some(selection)));
    assert_eq!(answer["result"]["start"], json!({ "line": 1, "column": 2 }));
    let seen = DocumentVisibleRangeResult { range: Some(range((1, 0), (9, 0))) };
    let answer = told(
        "ide.get_visible_range",
        json!({}),
        &Answer::Language(LanguageAnswer::VisibleRange("/w/a".into(), seen)),
    );
    assert_eq!(answer["result"]["file"], "a");
    let hover = LanguageHoverResult { contents: vec!["it".into()], range: None };
    let at = json!({ "path": "a", "line": 1 });
    let answer = told("ide.get_hover_info", at.clone(), &Answer::Language(LanguageAnswer::Hover(hover)));
    assert_eq!(answer["result"], json!({ "contents": ["it"] }));
    let found = linkspan_editor_api::LanguageDefinitionResult {
        locations: vec![Location { path: "/usr/x".into(), range: range((4, 1), (4, 2)) }],
    };
    let answer = told("ide.get_definition", at, &Answer::Language(LanguageAnswer::Definition(found)));
    assert_eq!(answer["result"], json!([{ "path": "/usr/x", "line": 5, "column": 1 }]));
    let open = OpenDocument { path: "/w/a".into(), active: true, ..OpenDocument::default() };
    let answer = told("ide.get_open_files", json!({}), &Answer::Editors(vec![open]));
    assert_eq!(answer["result"], json!([{ "path": "a", "language": null, "active": true, "dirty": false }]));
    let ran =
        TerminalRunResult { terminal: "t".into(), output: "o".into(), exit_code: None, timed_out: true };
    let answer = told("ide.run_in_terminal", json!({ "command": "x" }), &Answer::Ran(ran));
    let shape = json!({ "terminal": "t", "output": "o", "exit_code": null, "timed_out": true });
    assert_eq!(answer["result"], shape);
    let printed = TerminalContents {
        terminal: "t".into(),
        output: "o".into(),
        running: true,
        exit_code: None,
        truncated: true,
    };
    let answer =
        told("ide.run_in_terminal", json!({ "command": "x" }), &Answer::TerminalContents(printed.clone()));
    assert_eq!((&answer["result"], &answer["truncated"]), (&shape, &json!(true)));
    let answer = told("ide.get_terminal_output", json!({}), &Answer::TerminalContents(printed));
    assert_eq!(answer["result"]["running"], true);
    let answer = told("ide.get_terminal_output", json!({}), &Answer::MessageShown);
    assert_eq!(answer["code"], "INTERNAL", "an answer to something else is not a result");
}

#[test]
fn every_tool_refuses_what_it_does_not_know() {
    let Step::Call { call, .. } = session("ppxai").receive("status") else { panic!() };
    let mut session = session("ppxai");
    session.receive("status");
    let status = session.answer(call, &Answer::Folders(Vec::new())).unwrap();
    let status: Value = serde_json::from_str(&status.text).unwrap();
    for tool in status["tools"].as_array().unwrap() {
        let tool = tool.as_str().unwrap();
        let message = wrong(tool, json!({ "pth": "a" }));
        assert!(message.contains(tool) && message.contains("`pth`"), "{message}");
    }
    assert_eq!(
        request("ide.git_status", json!({ "confirmed": true })),
        Request::Workspace(WorkspaceRequest::GitStatus { folder: None })
    );
    assert!(wrong("ide.read_file", json!({ "path": true })).starts_with("path is invalid"));
    let many: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
    assert!(wrong("ide.git_stage", json!({ "paths": many })).contains("1000"));
}

#[test]
fn nothing_is_said_unasked_and_what_is_text_only_is_said() {
    let session = session("ppxai");
    assert_eq!(session.event(&linkspan_dialect::EditorEvent::ToolsChanged), None);
    assert!(session.not_text().unwrap().contains("NO_REQUEST"));
}

#[test]
fn changes_that_wait_for_a_person_are_known_by_their_label() {
    let mut session = session("ppxai");
    for (tool, args) in [
        ("ide.apply_edit", json!({ "path": "a", "content": "x", "description": "d" })),
        ("ide.replace_selection", json!({ "text": "x" })),
        ("ide.format_document", json!({})),
        ("ide.git_status", json!({})),
    ] {
        assert!(matches!(session.receive(&frame(tool, &args)), Step::Call { .. }));
    }
    let labels: Vec<&str> = session.open_changes().map(|(_, label)| label).collect();
    assert_eq!(labels, ["d", "Replace the selection", "format"]);
    assert_eq!(session.open_calls().count(), 4);
}

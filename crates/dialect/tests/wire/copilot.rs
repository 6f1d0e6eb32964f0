//! Copilot CLI: what it sent is understood, and our answers have the shape that it was seen to take.

use linkspan_dialect::{
    Accepted, Answer, CallId, EditorEvent, ExchangeId, Failure, FailureKind, Request, Session, Step,
    answer_before_session, begins_session, by_name,
};
use linkspan_editor_api::{AcceptedPart, Diagnostic, FileDiagnostics, Position, Range, Selection, Severity};
use linkspan_review::Writer;
use serde_json::{Value, json};

use crate::support::{
    accepted, answered, call, call_frame, comment, conversations, inner, introduced, rejected, session,
};

const TAB: &str = "[Copilot CLI] - a.txt (772553)";

fn ready() -> Session {
    introduced("copilot", "copilot-cli", "1.0.102")
}

fn open_diff(session: &mut Session) -> CallId {
    let arguments =
        json!({"original_file_path": "/w/a.txt", "new_file_contents": "one\nTWO\n", "tab_name": TAB});
    call(session, "open_diff", &arguments).0
}

fn decided(answer: &Answer) -> Value {
    let mut session = ready();
    let call = open_diff(&mut session);
    inner(&serde_json::from_str(&session.answer(call, answer).unwrap().text).unwrap())
}

/// As proposed: the agent writes it.
fn as_proposed() -> Accepted {
    Accepted { written: false, ..accepted("one\nTWO\n", false) }
}

#[test]
fn captured_conversations_are_understood_and_answered_in_the_same_shape() {
    let files: Vec<_> =
        conversations().into_iter().filter(|(name, _)| name.starts_with("copilot-1.0.102-ide")).collect();
    assert_eq!(files.len(), 5);
    for (file, frames) in files {
        let mut session = session("copilot");
        let mut ours: Vec<(Value, Value)> = Vec::new();
        let mut change = None;
        for (from_agent, frame) in &frames {
            let text = frame.to_string();
            if !from_agent {
                alike(&mut session, &mut ours, &mut change, frame, &file);
                continue;
            }
            let id = frame["id"].clone();
            if let Some(answer) = answer_before_session(&text) {
                assert_eq!(frame["method"], "server/discover");
                ours.push((id, serde_json::from_str(&answer).unwrap()));
                continue;
            }
            match session.receive(&text) {
                Step::Introduced { name, version, reply } => {
                    assert!(begins_session(&text));
                    assert_eq!((name.as_str(), version.as_str()), ("Copilot CLI", "1.0.102"));
                    ours.push((id, serde_json::from_str(&reply).unwrap()));
                }
                Step::Reply(reply) => ours.push((id, serde_json::from_str(&reply).unwrap())),
                Step::Call { call, request: Request::NameSession { .. } } => {
                    ours.push((id, answer(&mut session, call, &Answer::SessionNamed)));
                }
                Step::Call { call, request: Request::Propose { path, label, writer, .. } } => {
                    assert!(path.starts_with("/w") && label.starts_with("[Copilot CLI] - "), "{label}");
                    assert_eq!(writer, None, "the default of the dialect");
                    change = Some((id, call));
                }
                Step::Call { call, request: Request::CloseTab { label } } => {
                    let open: Vec<_> = session.open_changes().map(|(_, name)| name.to_owned()).collect();
                    assert_eq!(open, [label]);
                    let closed = Answer::TabClosed { text: Some(String::new()) };
                    ours.push((id, answer(&mut session, call, &closed)));
                }
                Step::Nothing => {}
                other => panic!("{file}: {other:?}"),
            }
        }
    }
    assert_eq!(by_name("copilot").unwrap().writer, Writer::AgentAsProposed);
}

fn answer(session: &mut Session, call: CallId, answer: &Answer) -> Value {
    serde_json::from_str(&session.answer(call, answer).unwrap().text).unwrap()
}

/// What the recorded editor sent is what we send, but for the words of its messages.
fn alike(
    session: &mut Session,
    ours: &mut Vec<(Value, Value)>,
    change: &mut Option<(Value, CallId)>,
    theirs: &Value,
    file: &str,
) {
    if theirs["method"] == "selection_changed" {
        let told = session.event(&EditorEvent::SelectionChanged(selection())).unwrap();
        assert_eq!(&serde_json::from_str::<Value>(&told).unwrap(), theirs, "{file}");
        return;
    }
    if let Some((_, call)) = change.take_if(|(id, _)| *id == theirs["id"]) {
        let theirs = inner(theirs);
        let decision = match theirs["result"].as_str() {
            Some("SAVED") => Answer::Accepted(as_proposed()),
            _ => Answer::Rejected(rejected(Some("use lower case"), &[])),
        };
        let ours = inner(&answer(session, call, &decision));
        for key in ["success", "result", "trigger", "tab_name"] {
            assert_eq!(ours[key], theirs[key], "{file}: {key}");
        }
        assert!(ours["message"].is_string() && ours.as_object().unwrap().len() == 5, "{ours}");
        return;
    }
    let at = ours.iter().position(|(id, _)| *id == theirs["id"]).unwrap();
    let (_, ours) = ours.remove(at);
    if let Some(tools) = theirs["result"]["tools"].as_array() {
        let ours = ours["result"]["tools"].as_array().unwrap();
        assert_eq!(ours.len(), tools.len());
        for (ours, theirs) in ours.iter().zip(tools) {
            let schema = |tool: &Value| tool["inputSchema"].clone();
            assert_eq!(ours["name"], theirs["name"]);
            assert_eq!(schema(ours)["properties"], schema(theirs)["properties"], "{}", ours["name"]);
            let required = |tool: &Value| schema(tool)["required"].as_array().cloned().unwrap_or_default();
            assert_eq!(required(ours), required(theirs), "{}", ours["name"]);
        }
    } else if theirs["result"]["serverInfo"].is_object() {
        assert_eq!(ours["result"]["protocolVersion"], theirs["result"]["protocolVersion"]);
        assert_eq!(ours["result"]["capabilities"], theirs["result"]["capabilities"]);
    } else if theirs["error"].is_object() {
        assert_eq!(ours["error"]["code"], theirs["error"]["code"], "{file}");
    } else {
        let (mut ours, mut theirs) = (inner(&ours), inner(theirs));
        for value in [&mut ours, &mut theirs] {
            value.as_object_mut().unwrap().remove("message");
        }
        assert_eq!(ours, theirs, "{file}");
    }
}

fn selection() -> Selection {
    let at = |character| Position { line: 1, character };
    Selection {
        path: "/w/a.txt".into(),
        text: "two".into(),
        range: Range { start: at(0), end: at(3) },
        is_empty: false,
        reversed: false,
    }
}

#[test]
fn only_the_whole_proposal_is_saved() {
    let said = decided(&Answer::Accepted(as_proposed()));
    assert_eq!((&said["result"], &said["tab_name"]), (&json!("SAVED"), &json!(TAB)));
    for taken in [AcceptedPart::Some, AcceptedPart::Edited, AcceptedPart::All] {
        // What the hub has written differs from the proposal, which the agent would write over it.
        let said = decided(&Answer::Accepted(Accepted { taken, ..accepted("one\n2\n", false) }));
        assert_eq!((&said["success"], &said["result"]), (&json!(true), &json!("REJECTED")), "{said}");
        assert!(said["message"].as_str().unwrap().contains("The file is saved"), "{said}");
    }
}

#[test]
fn the_users_words_are_in_the_message() {
    let said = decided(&Answer::Rejected(rejected(Some("use the helper"), &[(2, "not this")])));
    assert_eq!(said["result"], "REJECTED");
    assert_eq!(said["message"], "The user rejected this change: use the helper\nline 2: not this");
    let comments = vec![comment(1, "good")];
    let said = decided(&Answer::Accepted(Accepted { comments, ..as_proposed() }));
    assert_eq!(said["message"], "The user accepted this change: line 1: good");
}

#[test]
fn a_change_that_ends_without_a_decision_is_an_error_and_no_text() {
    for kind in [FailureKind::Withdrawn, FailureKind::EditorGone, FailureKind::OutsideWorkspace] {
        let mut session = ready();
        let call = open_diff(&mut session);
        let frame = answer(&mut session, call, &Answer::Failed(Failure::new(kind, "why")));
        assert_eq!((&frame["error"]["message"], frame.get("result")), (&json!("why"), None));
    }
}

#[test]
fn the_decision_answers_the_request_that_proposed() {
    let mut session = ready();
    let arguments = json!({"original_file_path": "/w/a", "new_file_contents": "x", "tab_name": "t"});
    let frame = call_frame(7, "open_diff", &arguments);
    let Step::Call { call, .. } = session.receive_in(Some(ExchangeId(4)), &frame) else { panic!() };
    assert_eq!(session.acknowledge_shown(call), None, "nothing is answered without a decision");
    assert!(session.decides_in(ExchangeId(4)) && !session.decides_in(ExchangeId(5)));
    let frame = session.answer(call, &Answer::Rejected(rejected(None, &[]))).unwrap();
    assert_eq!(frame.answers, Some(ExchangeId(4)));
    assert!(!session.decides_in(ExchangeId(4)));
    assert_eq!(session.readopt_call("t"), None, "no decision is sent later");
}

#[test]
fn the_other_tools_answer_as_copilots_own_editors_do() {
    let mut session = ready();
    let selected = Answer::Selection(Some(selection()));
    let told = inner(&answered(&mut session, "get_selection", &json!({}), &selected));
    let span =
        json!({"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}, "isEmpty": false});
    assert_eq!(
        told,
        json!({"text": "two", "filePath": "/w/a.txt", "fileUrl": "file:///w/a.txt", "selection": span, "current": true})
    );
    let told = inner(&answered(&mut session, "get_selection", &json!({}), &Answer::Selection(None)));
    assert_eq!(told, Value::Null);
    let diagnostics = Answer::Diagnostics(vec![findings()]);
    let told = inner(&answered(&mut session, "get_diagnostics", &json!({}), &diagnostics));
    assert_eq!(told, json!([{"uri": "file:///w/a.txt", "filePath": "/w/a.txt", "diagnostics": [found()]}]));
    let info = Answer::EditorInfo { name: "Neovim".into(), version: "0.11".into() };
    let told = inner(&answered(&mut session, "get_vscode_info", &json!({}), &info));
    assert_eq!(told, json!({"version": "0.11", "appName": "Neovim"}));
    let closed = Answer::TabClosed { text: None };
    let told = inner(&answered(&mut session, "close_diff", &json!({"tab_name": "t"}), &closed));
    assert_eq!((&told["already_closed"], &told["tab_name"]), (&json!(true), &json!("t")));
}

fn findings() -> FileDiagnostics {
    let at = |character| Position { line: 1, character };
    let diagnostic = Diagnostic {
        message: "no".into(),
        severity: Severity::Error,
        range: Range { start: at(0), end: at(3) },
        source: Some("rustc".into()),
        code: Some("E1".into()),
    };
    FileDiagnostics { path: "/w/a.txt".into(), version: None, settled: true, diagnostics: vec![diagnostic] }
}

fn found() -> Value {
    let range = json!({"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}});
    json!({"message": "no", "severity": "error", "range": range, "source": "rustc", "code": "E1"})
}

#[test]
fn diagnostics_are_pushed_with_their_contents() {
    let session = ready();
    let told = session.event(&EditorEvent::Diagnostics(vec![findings()])).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["method"], "diagnostics_changed");
    assert_eq!(told["params"], json!({"uris": [{"uri": "file:///w/a.txt", "diagnostics": [found()]}]}));
    let paths = vec!["/w/a.txt".into()];
    assert_eq!(session.event(&EditorEvent::DiagnosticsChanged { paths }), None, "names alone say nothing");
}

#[test]
fn only_the_question_before_a_session_is_answered_without_one() {
    let discover = json!({"jsonrpc": "2.0", "id": "a", "method": "server/discover", "params": {}});
    let answer: Value = serde_json::from_str(&answer_before_session(&discover.to_string()).unwrap()).unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("a"), &json!(-32601)));
    for other in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "method": "server/discover"}),
        json!("server/discover"),
    ] {
        assert_eq!(answer_before_session(&other.to_string()), None, "{other}");
    }
}

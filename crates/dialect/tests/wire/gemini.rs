//! Gemini CLI and Qwen Code: what they sent is understood, and our answers have the shape of their companions'.

use linkspan_dialect::{
    Accepted, ActiveFile, AgentFrame, Answer, CallId, EditorEvent, ExchangeId, Failure, FailureKind,
    OpenFile, Request, Session, Step, begins_session, by_name,
};
use linkspan_editor_api::Position;
use serde_json::{Value, json};

use crate::support::{accepted, call, call_frame, conversations, inner, introduced, rejected, session};

const PATH: &str = "/w/project/a.txt";

fn ready() -> Session {
    introduced("gemini", "streamable-http-client", "0.61.0")
}

fn open_diff(session: &mut Session) -> CallId {
    call(session, "openDiff", &json!({"filePath": PATH, "newContent": "new\n"})).0
}

/// A change that waits for a person, its call answered.
fn shown(session: &mut Session) -> CallId {
    let call = open_diff(session);
    assert!(session.acknowledge_shown(call).is_some());
    call
}

fn value(frame: Option<AgentFrame>) -> Value {
    let frame = frame.expect("nothing is said");
    serde_json::from_str(&frame.text).unwrap()
}

fn withdrawn() -> Answer {
    Answer::Failed(Failure::new(FailureKind::Withdrawn, "it was withdrawn"))
}

#[test]
fn captured_conversations_are_understood_and_answered_in_the_same_shape() {
    let files: Vec<_> = conversations()
        .into_iter()
        .filter(|(name, _)| name.starts_with("gemini") || name.starts_with("qwen"))
        .collect();
    assert_eq!(files.len(), 6);
    for (file, frames) in files {
        let mut session = session("gemini");
        let mut change = None;
        let mut ours = Vec::new();
        for (from_agent, frame) in &frames {
            if !from_agent {
                let theirs = frame;
                let told = match theirs["method"].as_str() {
                    None => ours.remove(0),
                    Some("ide/diffAccepted") => {
                        let text = theirs["params"]["content"].as_str().unwrap();
                        value(
                            session.answer(change.take().unwrap(), &Answer::Accepted(accepted(text, false))),
                        )
                    }
                    Some("ide/diffRejected") => {
                        value(session.answer(change.take().unwrap(), &Answer::Rejected(rejected(None, &[]))))
                    }
                    Some("ide/contextUpdate") => {
                        let event = context(&theirs["params"]["workspaceState"]["openFiles"]);
                        serde_json::from_str(&session.event(&event).unwrap()).unwrap()
                    }
                    Some(other) => panic!("{file}: {other}"),
                };
                alike(&told, theirs, &file);
                continue;
            }
            match session.receive(&frame.to_string()) {
                Step::Introduced { name, reply, .. } => {
                    assert_eq!(name, if file.starts_with("qwen") { "Qwen Code" } else { "Gemini CLI" });
                    assert!(begins_session(&frame.to_string()));
                    ours.push(serde_json::from_str(&reply).unwrap());
                }
                Step::Reply(reply) => ours.push(serde_json::from_str(&reply).unwrap()),
                Step::Call { call, request: Request::Propose { path, label, .. } } => {
                    assert_eq!((path.to_str(), label.as_str()), (Some(PATH), "a.txt"));
                    ours.push(value(session.acknowledge_shown(call)));
                    change = Some(call);
                }
                Step::Call { call, request: Request::CloseTab { label } } => {
                    assert_eq!(
                        session.open_changes().map(|(_, name)| name).collect::<Vec<_>>(),
                        [label.as_str()]
                    );
                    let text = Some("one\nTWO\nthree\n".to_owned());
                    ours.push(value(session.answer(call, &Answer::TabClosed { text })));
                    assert_eq!(
                        session.answer(change.take().unwrap(), &withdrawn()),
                        None,
                        "it asked for silence"
                    );
                }
                Step::Nothing => {}
                other => panic!("{file}: {other:?}"),
            }
        }
        assert_eq!((ours.len(), session.open_calls().count()), (0, 0), "{file}");
    }
}

#[test]
fn a_byte_order_mark_that_gemini_left_out_is_sent_and_qwen_keeps_it_by_itself() {
    for (version, expect) in [("0.61.0", "\u{feff}new\n"), ("1.0.0", "new\n")] {
        let mut session = introduced("gemini", "streamable-http-client", version);
        let call = shown(&mut session);
        let answer = Answer::Accepted(Accepted { unsent_mark: true, ..accepted("new\n", false) });
        assert_eq!(value(session.answer(call, &answer))["params"]["content"], expect, "{version}");
    }
}

fn context(files: &Value) -> EditorEvent {
    let files = files.as_array().unwrap().iter().map(|file| OpenFile {
        path: file["path"].as_str().unwrap().into(),
        focused_unix_ms: file["timestamp"].as_u64().unwrap(),
        active: file["isActive"].as_bool().unwrap().then(|| ActiveFile {
            cursor: Some(Position { line: 1, character: 0 }),
            selected: file["selectedText"].as_str().unwrap().to_owned(),
        }),
    });
    EditorEvent::ContextChanged { files: files.collect() }
}

/// Equal, but for what a server says of itself and of its tools beside their arguments.
fn alike(ours: &Value, theirs: &Value, file: &str) {
    if let Some(tools) = theirs["result"]["tools"].as_array() {
        for (ours, theirs) in ours["result"]["tools"].as_array().unwrap().iter().zip(tools) {
            assert_eq!((&ours["name"], &ours["inputSchema"]), (&theirs["name"], &theirs["inputSchema"]));
        }
    } else if theirs["result"]["serverInfo"].is_object() {
        assert_eq!(ours["result"]["protocolVersion"], theirs["result"]["protocolVersion"], "{file}");
        assert_eq!(ours["result"]["capabilities"]["tools"], theirs["result"]["capabilities"]["tools"]);
    } else if theirs["id"] == 3 {
        let text = |frame: &Value| -> Value {
            serde_json::from_str(frame["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
        };
        assert_eq!(text(ours), text(theirs), "{file}");
    } else {
        assert_eq!(ours, theirs, "{file}");
    }
}

#[test]
fn a_proposal_is_answered_to_its_own_request_and_decided_by_itself() {
    let mut session = ready();
    let frame = call_frame(7, "openDiff", &json!({"filePath": PATH, "newContent": "new\n"}));
    let Step::Call { call, .. } = session.receive_in(Some(ExchangeId(4)), &frame) else { panic!() };
    let answer = session.acknowledge_shown(call).unwrap();
    assert_eq!(answer.answers, Some(ExchangeId(4)));
    assert_eq!(answer.text, r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#);
    assert_eq!(session.acknowledge_shown(call), None, "once");
    let told = session.answer(call, &Answer::Rejected(rejected(Some("no"), &[]))).unwrap();
    assert_eq!(told.answers, None);
    let told = value(Some(told));
    assert_eq!(told, json!({"jsonrpc": "2.0", "method": "ide/diffRejected", "params": {"filePath": PATH}}));
}

#[test]
fn a_change_that_cannot_be_proposed_is_a_failed_tool_and_no_decision() {
    let mut session = ready();
    let call = open_diff(&mut session);
    let failure = Failure::new(FailureKind::OutsideWorkspace, "it is outside");
    let answer = value(session.answer(call, &Answer::Failed(failure)));
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(7), &json!(true)));
    assert_eq!(answer["result"]["content"][0]["text"], "it is outside");
}

#[test]
fn a_change_that_ends_without_a_person_is_closed() {
    let mut session = ready();
    let change = shown(&mut session);
    let close = call(&mut session, "closeDiff", &json!({"filePath": PATH})).0;
    let closed = inner(&value(session.answer(close, &Answer::TabClosed { text: None })));
    assert_eq!(closed, json!({}), "there was no text to tell");
    let told = value(session.answer(change, &withdrawn()));
    assert_eq!((&told["method"], &told["params"]), (&json!("ide/diffClosed"), &json!({"filePath": PATH})));
}

#[test]
fn only_the_change_that_is_taken_back_goes_unheard() {
    let mut session = ready();
    let change = shown(&mut session);
    call(&mut session, "closeDiff", &json!({"filePath": "/w/other", "suppressNotification": true}));
    assert!(session.answer(change, &withdrawn()).is_some());
}

#[test]
fn a_call_that_is_answered_can_not_be_cancelled() {
    let mut session = ready();
    let change = shown(&mut session);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    assert_eq!(session.receive(&cancel.to_string()), Step::Nothing);
    assert!(session.answer(change, &Answer::Rejected(rejected(None, &[]))).is_some());
}

#[test]
fn a_session_that_is_taken_up_again_tells_what_was_asked_before() {
    let mut session = session("gemini");
    let event = EditorEvent::ContextChanged { files: Vec::new() };
    assert_eq!(session.event(&event), None);
    session.resume();
    assert!(session.event(&event).is_some());
    let change = session.readopt_call(PATH).unwrap();
    assert_eq!(session.open_changes().collect::<Vec<_>>(), [(change, PATH)]);
    let told = value(session.answer(change, &Answer::Accepted(accepted("new\n", false))));
    assert_eq!(told["params"], json!({"filePath": PATH, "content": "new\n"}));
    assert_eq!(self::session("claude").readopt_call(PATH), None);
}

#[test]
fn ten_files_are_told_and_no_more_of_a_selection_than_is_read() {
    let files = (0..12).map(|number| OpenFile {
        path: format!("/w/{number}").into(),
        focused_unix_ms: 100 - number,
        active: (number == 0).then(|| ActiveFile {
            cursor: Some(Position { line: 0, character: 4 }),
            selected: "é".repeat(9_000) + "x",
        }),
    });
    let told = ready().event(&EditorEvent::ContextChanged { files: files.collect() }).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    let files = told["params"]["workspaceState"]["openFiles"].as_array().unwrap();
    assert_eq!(files.len(), 10);
    assert_eq!(files[0]["cursor"], json!({"line": 1, "character": 5}));
    assert_eq!(files[0]["selectedText"].as_str().unwrap().len(), 16 * 1024);
    assert_eq!((&files[1]["isActive"], files[1].get("cursor")), (&json!(false), None));
}

#[test]
fn who_it_is_is_told_by_what_the_handshake_says() {
    let cases = [
        ("streamable-http-client", "0.61.0", "2025-06-18", ("Gemini CLI", "0.61.0")),
        ("streamable-http-client", "1.0.0", "2025-11-25", ("Qwen Code", "")),
        ("streamable-http-client", "1.0.0", "2025-06-18", ("Gemini CLI or Qwen Code", "")),
        ("another", "3", "2025-06-18", ("another", "3")),
    ];
    for (name, version, protocol, expected) in cases {
        let params = json!({"protocolVersion": protocol, "clientInfo": {"name": name, "version": version}});
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let step = session("gemini").receive(&hello.to_string());
        let Step::Introduced { name, version, .. } = step else { panic!("{step:?}") };
        assert_eq!((name.as_str(), version.as_str()), expected);
    }
    assert_eq!(by_name("gemini").unwrap().name, "gemini");
}

//! Editors of Gemini CLI and Qwen Code, as they were recorded, and such that misbehave.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http_server::{HttpServer, ReceivedRequest, ServerReply};
use crate::connection::{CallError, Change, DiffOutcome, EditorEvent};
use crate::discover::{Secret, Wire};

const A: &str = "/w/project/a.txt";
const NEW: &str = "one\nTWO\nthree\n";

fn wire(server: &HttpServer) -> Wire {
    Wire::Gemini { port: server.port, token: Some(Secret::new("let me in")) }
}

fn event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}

fn decision(method: &str, params: Value) -> String {
    event(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

/// The editor's side of a recorded conversation.
struct Recording {
    /// By method or tool: whether it came as events, and what.
    answers: BTreeMap<String, (bool, Value)>,
    /// Told when the stream is opened, and once a diff is open.
    early: Vec<Value>,
    late: Vec<Value>,
}

impl Recording {
    fn open(name: &str) -> Recording {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wire").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        let mut recording = Recording { answers: BTreeMap::new(), early: vec![], late: vec![] };
        let mut asked = BTreeMap::new();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let message = &line["msg"];
            if line["dir"] == "cli->ide" && message["id"].is_i64() {
                let named = message.pointer("/params/name").unwrap_or(&message["method"]);
                asked.insert(message["id"].as_i64().unwrap(), named.as_str().unwrap().to_owned());
            } else if line["dir"] == "ide->cli" && message["method"].is_string() {
                let opened = asked.values().any(|what| what == "openDiff");
                if opened { &mut recording.late } else { &mut recording.early }.push(message.clone());
            } else if let Some(what) = message["id"].as_i64().and_then(|id| asked.get(&id)) {
                recording.answers.insert(what.clone(), (line["sse"].is_object(), message.clone()));
            }
        }
        assert!(recording.answers.contains_key("tools/list"), "{name} has no conversation");
        recording
    }

    fn serve(self) -> HttpServer {
        let mut stream: Option<Sender<String>> = None;
        HttpServer::start(move |heard| {
            assert_eq!(heard.header("authorization"), Some("Bearer let me in"));
            if heard.line == "GET /mcp" {
                let (events, told) = channel();
                self.early.iter().for_each(|message| events.send(event(message)).unwrap());
                stream = Some(events);
                return ServerReply::Stream(told);
            }
            let Some((as_events, answer)) = self.answers.get(heard.what()) else {
                return ServerReply::Whole(202, vec![], String::new());
            };
            let mut answer = answer.clone();
            answer["id"] = heard.body["id"].clone();
            if heard.what() == "openDiff" {
                let stream = stream.as_ref().expect("the stream is open before anything is asked");
                self.late.iter().for_each(|message| stream.send(event(message)).unwrap());
            }
            let reply = match as_events {
                true => {
                    let headers = vec![("content-type", "text/event-stream".into())];
                    ServerReply::Whole(200, headers, event(&answer))
                }
                false => ServerReply::json(&answer),
            };
            if heard.what() == "initialize" { reply.with("mcp-session-id", "s-1") } else { reply }
        })
    }
}

/// Changes can only be asked once the stream is there; a real editor tells what it shows right away.
fn wait_for_stream(server: &HttpServer) -> ReceivedRequest {
    server.hears("GET /mcp")
}

#[test]
fn recorded_editors_accept_and_reject() {
    for (name, outcome) in [
        ("gemini-0.61.0-accept.jsonl", DiffOutcome::FileSaved),
        ("gemini-0.61.0-real-companion-accept.jsonl", DiffOutcome::FileSaved),
        ("qwen-0.24.4-accept.jsonl", DiffOutcome::FileSaved),
        ("gemini-0.61.0-reject.jsonl", DiffOutcome::DiffRejected),
    ] {
        let server = Recording::open(name).serve();
        let editor = server.connect(wire(&server)).unwrap();
        let introduction = server.hears("initialize");
        assert_eq!(introduction.body["params"]["protocolVersion"], "2025-06-18");
        assert_eq!(introduction.header("mcp-session-id"), None);
        let opened = wait_for_stream(&server);
        assert_eq!(opened.header("mcp-session-id"), Some("s-1"), "{name}");
        let revision = if name.starts_with("qwen") { "2025-11-25" } else { "2025-06-18" };
        assert_eq!(opened.header("mcp-protocol-version"), Some(revision), "{name}: the answer's, not ours");
        let names: Vec<String> = editor.tools().unwrap().into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, ["openDiff", "closeDiff"]);
        let decided = editor.open_diff(&Change::new(A, NEW)).unwrap();
        assert_eq!(decided.outcome, outcome, "{name}");
        assert!(!decided.written, "the agent writes");
        assert_eq!(decided.text.as_deref(), decided.is_accepted().then_some(NEW));
        let asked = server.hears("openDiff");
        let arguments = json!({ "filePath": A, "newContent": NEW });
        assert_eq!(asked.body["params"]["arguments"], arguments, "and nothing else");
        editor.close();
        assert_eq!(server.hears("DELETE /mcp").header("mcp-session-id"), Some("s-1"));
    }
}

#[test]
fn a_change_decided_elsewhere_is_closed_as_it_was_recorded() {
    let server = Recording::open("gemini-0.61.0-terminal-accept.jsonl").serve();
    let editor = server.connect(wire(&server)).unwrap();
    wait_for_stream(&server);
    let pending = editor.propose(&Change::new(A, NEW)).unwrap();
    server.hears("openDiff");
    pending.withdraw();
    assert_eq!(pending.wait(), Err(CallError::Withdrawn));
    let closed = server.hears("closeDiff");
    let arguments = json!({ "filePath": A, "suppressNotification": true });
    assert_eq!(closed.body["params"]["arguments"], arguments);
    let text = editor.call("closeDiff", &arguments).unwrap();
    assert!(text.texts().next().unwrap().contains("TWO"), "any tool by its name, too");
}

#[test]
fn what_the_editor_shows_becomes_selection_and_tabs() {
    let server = Recording::open("gemini-0.61.0-context.jsonl").serve();
    let editor = server.connect(wire(&server)).unwrap();
    let selection = (0..200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(10));
        editor.current_selection().unwrap()
    });
    let selection = selection.expect("never told");
    assert_eq!((selection.text.as_str(), selection.start_line, selection.start_character), ("two", 1, 0));
    let editors = editor.open_editors().unwrap();
    assert_eq!((editors[0].file_path.as_path(), editors[0].is_active), (Path::new(A), true));
    assert_eq!(editor.workspace_folders().unwrap(), [PathBuf::from("/w/a b")]);
    assert!(matches!(editor.diagnostics(None, None), Err(CallError::NotOnThisWire(_))));
    assert!(matches!(editor.save(Path::new(A)), Err(CallError::NotOnThisWire(_))));
}

/// A server that introduces itself, opens streams that the test writes to, and else behaves.
fn behaving(
    mut behave: impl FnMut(&ReceivedRequest) -> Option<ServerReply> + Send + 'static,
) -> (HttpServer, std::sync::mpsc::Receiver<Sender<String>>) {
    let (streams_in, streams) = channel();
    let server = HttpServer::start(move |heard| {
        if let Some(reply) = behave(heard) {
            return reply;
        }
        let answer = |result: Value| {
            ServerReply::json(&json!({ "jsonrpc": "2.0", "id": heard.body["id"], "result": result }))
        };
        match heard.what() {
            "GET /mcp" => {
                let (events, told) = channel();
                streams_in.send(events).unwrap();
                ServerReply::Stream(told)
            }
            "initialize" => {
                answer(json!({ "protocolVersion": "2025-06-18", "serverInfo": { "name": "fake" } }))
                    .with("mcp-session-id", "s")
            }
            "openDiff" | "closeDiff" => answer(json!({ "content": [] })),
            "ping" => answer(json!({})),
            _ => ServerReply::Whole(202, vec![], String::new()),
        }
    });
    (server, streams)
}

#[test]
fn a_stream_that_drops_is_opened_again_from_the_last_event() {
    let (server, streams) = behaving(|_| None);
    let editor = server.connect(wire(&server)).unwrap();
    let first = streams.recv().unwrap();
    let pending = editor.propose(&Change::new(A, NEW)).unwrap();
    server.hears("openDiff");
    first.send(": keep-alive\n\nid: e-7\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x/y\"}\n\n".into()).unwrap();
    drop(first);
    let second = streams.recv_timeout(Duration::from_secs(5)).unwrap();
    assert_eq!(wait_for_stream(&server).header("last-event-id"), Some("e-7"));
    assert_eq!(pending.wait_timeout(Duration::from_millis(20)), None, "a lost stream decides nothing");
    second.send(decision("ide/diffAccepted", json!({ "filePath": A, "content": "edited" }))).unwrap();
    assert_eq!(pending.wait().unwrap().text.as_deref(), Some("edited"));
    assert!(editor.is_connected());
}

#[test]
fn a_decision_that_comes_late_answers_no_other_question() {
    let (server, streams) = behaving(|_| None);
    let editor = server.connect(wire(&server)).unwrap();
    let events = editor.events();
    let stream = streams.recv().unwrap();
    let first = editor.propose(&Change::new(A, "first")).unwrap();
    server.hears("openDiff");
    first.withdraw();
    server.hears("closeDiff");
    stream.send(decision("ide/diffAccepted", json!({ "filePath": A, "content": "first" }))).unwrap();
    stream.send(decision("ide/diffAccepted", json!({ "filePath": "/w/other", "content": "x" }))).unwrap();
    stream.send(decision("ide/diffAccepted", json!("what?"))).unwrap();
    let active = json!({ "path": A, "isActive": true, "cursor": { "line": 1, "character": 1 } });
    let context = json!({ "workspaceState": { "openFiles": [active] } });
    stream.send(decision("ide/contextUpdate", context)).unwrap();
    assert_eq!(first.wait(), Err(CallError::Withdrawn));
    // What was sent before this has been read, too.
    assert!(matches!(events.recv_timeout(Duration::from_secs(20)), Ok(EditorEvent::Selection(_))));
    let second = editor.propose(&Change::new(A, "second")).unwrap();
    assert_eq!(second.wait_timeout(Duration::from_millis(50)), None);
    let third = editor.open_diff(&Change::new(A, "third")).unwrap_err();
    assert!(third.to_string().contains("waits for a decision already"), "{third}");
    stream.send(decision("ide/diffClosed", json!({ "filePath": A }))).unwrap();
    assert_eq!(second.wait().unwrap().outcome, DiffOutcome::DiffRejected);
}

#[test]
fn a_change_is_shown_once_its_decision_can_be_heard_and_not_if_it_was_taken_back_before() {
    let (open, opening) = channel::<()>();
    let opening = std::sync::Mutex::new(opening);
    let (server, streams) = behaving(move |heard| {
        if heard.what() == "GET /mcp" {
            let _ = opening.lock().unwrap().recv();
        }
        None
    });
    let editor = server.connect(wire(&server)).unwrap();
    let (first, second) = (Change::new(A, "first"), Change::new("/w/b", "second"));
    let [first, second] = [&first, &second].map(|change| editor.propose(change).unwrap());
    first.withdraw();
    assert_eq!(first.wait(), Err(CallError::Withdrawn));
    open.send(()).unwrap();
    let stream = streams.recv_timeout(Duration::from_secs(5)).unwrap();
    let asked = server.hears("openDiff");
    assert_eq!(asked.body["params"]["arguments"]["newContent"], "second");
    stream.send(decision("ide/diffRejected", json!({ "filePath": "/w/b" }))).unwrap();
    assert!(!second.wait().unwrap().is_accepted());
}

#[test]
fn an_accept_without_its_text_is_none() {
    let (server, streams) = behaving(|_| None);
    let editor = server.connect(wire(&server)).unwrap();
    let stream = streams.recv().unwrap();
    let pending = editor.propose(&Change::new(A, NEW)).unwrap();
    server.hears("openDiff");
    stream.send(decision("ide/diffAccepted", json!({ "filePath": A }))).unwrap();
    assert!(matches!(pending.wait(), Err(CallError::Protocol { .. })));
}

#[test]
fn questions_on_the_stream_are_answered() {
    let (server, streams) = behaving(|_| None);
    let editor = server.connect(wire(&server)).unwrap();
    let stream = streams.recv().unwrap();
    stream.send(event(&json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" }))).unwrap();
    let answer = loop {
        let heard = server.heard.recv_timeout(Duration::from_secs(5)).unwrap();
        if heard.body["id"] == "p" {
            break heard;
        }
    };
    assert_eq!(answer.body["result"], json!({}));
    drop(editor);
}

#[test]
fn hostile_answers_harm_nobody() {
    let id = |heard: &ReceivedRequest| heard.body["id"].clone();
    type Case = (&'static str, fn(&ReceivedRequest, Value) -> ServerReply);
    let cases: [Case; 6] = [
        ("invalid response", |_, _| {
            ServerReply::Whole(200, vec![("content-type", "application/json".into())], "<html>".into())
        }),
        ("did not answer the request", |_, id| {
            ServerReply::json(
                &json!({ "jsonrpc": "2.0", "id": format!("{id}0"), "result": { "content": [] } }),
            )
        }),
        ("HTTP 500", |_, _| ServerReply::Whole(500, vec![], String::new())),
        ("token", |_, _| ServerReply::Whole(401, vec![], String::new())),
        ("", |_, _| ServerReply::HangUp),
        ("larger", |_, _| {
            ServerReply::Bytes(
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", 1_u64 << 40).into_bytes(),
            )
        }),
    ];
    for (says, reply) in cases {
        let (server, streams) = behaving(move |heard| {
            (heard.what() == "openDiff" || heard.what() == "anything").then(|| reply(heard, id(heard)))
        });
        let editor = server.connect(wire(&server)).unwrap();
        let _stream = streams.recv().unwrap();
        if says == "larger" {
            // It is never sent, so only the deadline of a machine ends it; a person's answer has none.
            let pending = editor.start("anything", &json!({})).unwrap();
            assert_eq!(pending.wait_timeout(Duration::from_millis(100)), None);
            continue;
        }
        let asked = Instant::now();
        let error = editor.open_diff(&Change::new(A, NEW)).unwrap_err();
        assert!(error.to_string().contains(says), "{says}: {error}");
        let error = editor.call("anything", &json!({})).unwrap_err();
        assert!(error.to_string().contains(says), "{says}: {error}");
        assert!(asked.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn an_answer_without_end_is_given_up_and_so_is_a_stream_of_nonsense() {
    let (server, streams) = behaving(|heard| {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
        match heard.what() {
            "anything" => Some(ServerReply::Bytes([&head[..], &vec![b' '; 100_000]].concat())),
            _ => None,
        }
    });
    let editor = server.connect(wire(&server)).unwrap();
    let stream = streams.recv().unwrap();
    for nonsense in ["data: {\n\n", "\0\0\0", "data: []\n\n", "data: {\"jsonrpc\":\"2.0\"}\n\n"] {
        stream.send(nonsense.into()).unwrap();
    }
    let never = editor.start("anything", &json!({})).unwrap();
    assert_eq!(never.wait_timeout(Duration::from_millis(100)), None);
    assert!(editor.is_connected(), "others are answered meanwhile");
    editor.close();
    assert_eq!(never.wait(), Err(CallError::Closed));
}

#[test]
fn a_session_that_the_server_forgot_is_over() {
    let (server, streams) = behaving(|heard| {
        (heard.what() == "anything").then(|| ServerReply::Whole(404, vec![], String::new()))
    });
    let editor = server.connect(wire(&server)).unwrap();
    let _stream = streams.recv().unwrap();
    let pending = editor.propose(&Change::new(A, NEW)).unwrap();
    let events = editor.events();
    assert!(editor.call("anything", &json!({})).is_err());
    assert_eq!(pending.wait(), Err(CallError::Closed));
    assert_eq!(events.iter().last(), Some(EditorEvent::Closed));
}

#[test]
fn whoever_is_no_such_editor_is_told_apart() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = HttpServer::start(|_| ServerReply::Whole(404, vec![], String::new()));
    for (port, says) in [(closed, "nothing listens"), (server.port, "HTTP 404")] {
        let error = server.connect(Wire::Gemini { port, token: None }).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
}

//! A session to talk to, and the captured conversations.

use std::path::PathBuf;

use linkspan_dialect::{Accepted, Answer, CallId, Rejected, Request, ServerFacts, Session, Step, by_name};
use linkspan_editor_api::{AcceptedPart, Capabilities, ReviewComment};
use serde_json::{Value, json};

pub(crate) fn session(dialect: &str) -> Session {
    let execute_code = dialect != "nexus3";
    let capabilities = Capabilities { execute_code, questions: true, ..Capabilities::default() };
    let server = ServerFacts { version: "0.1.0".into(), editor_name: "Neovim".into(), capabilities };
    Session::new(by_name(dialect).unwrap(), server)
}

/// All of it, with nothing said.
pub(crate) fn accepted(text: &str, new_file: bool) -> Accepted {
    Accepted {
        review: "r1".into(),
        path: "/w/a".into(),
        text: Some(text.into()),
        unsent_mark: false,
        new_file,
        written: true,
        taken: AcceptedPart::All,
        hunks: Vec::new(),
        person_diff: None,
        comments: Vec::new(),
    }
}

pub(crate) fn rejected(reason: Option<&str>, comments: &[(u32, &str)]) -> Rejected {
    let comments = comments.iter().map(|(line, text)| comment(*line, text)).collect();
    let reason = reason.map(str::to_owned);
    Rejected { review: "r1".into(), path: "/w/a".into(), new_file: false, reason, comments }
}

pub(crate) fn comment(line: u32, text: &str) -> ReviewComment {
    ReviewComment { line, text: text.to_owned() }
}

/// A session after the handshake with that agent.
pub(crate) fn introduced(dialect: &str, name: &str, version: &str) -> Session {
    let mut session = session(dialect);
    let params = json!({"protocolVersion": "2025-11-25", "clientInfo": {"name": name, "version": version}});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    assert!(matches!(session.receive(&hello.to_string()), Step::Introduced { .. }));
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(session.receive(&ready.to_string()), Step::Nothing);
    session
}

pub(crate) fn call_frame(id: u64, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

pub(crate) fn call(session: &mut Session, tool: &str, arguments: &Value) -> (CallId, Request) {
    match session.receive(&call_frame(7, tool, arguments)) {
        Step::Call { call, request } => (call, request),
        other => panic!("{tool} is not a call but {other:?}"),
    }
}

pub(crate) fn request(dialect: &str, tool: &str, arguments: &Value) -> Request {
    call(&mut session(dialect), tool, arguments).1
}

/// The frame that answers such a call.
pub(crate) fn answered(session: &mut Session, tool: &str, arguments: &Value, answer: &Answer) -> Value {
    let (call, _) = call(session, tool, arguments);
    let frame: Value = serde_json::from_str(&session.answer(call, answer).unwrap().text).unwrap();
    assert_eq!((&frame["jsonrpc"], &frame["id"]), (&json!("2.0"), &json!(7)));
    frame
}

/// The texts of a result that is not a failure.
pub(crate) fn texts(frame: &Value) -> Vec<String> {
    assert_eq!(frame["result"]["isError"], Value::Null, "{frame}");
    let content = frame["result"]["content"].as_array().unwrap();
    content
        .iter()
        .map(|item| {
            assert_eq!(item["type"], "text");
            item["text"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// The JSON in the only text of a result.
pub(crate) fn inner(frame: &Value) -> Value {
    let texts = texts(frame);
    assert_eq!(texts.len(), 1);
    serde_json::from_str(&texts[0]).unwrap()
}

pub(crate) fn reply(step: Step) -> Value {
    match step {
        Step::Reply(frame) | Step::Malformed(frame) => serde_json::from_str(&frame).unwrap(),
        other => panic!("no reply but {other:?}"),
    }
}

pub(crate) fn error_code(step: Step) -> i64 {
    reply(step)["error"]["code"].as_i64().unwrap()
}

/// The frames of the captured conversations, by file: what the agent sent, and what the editor sent.
pub(crate) fn conversations() -> Vec<(String, Vec<(bool, Value)>)> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wire");
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let frames = lines.filter_map(|line| {
                let from_agent = line["dir"].as_str()?.ends_with("->ide");
                let frame = [&line["msg"], &line["frame"]].into_iter().find(|frame| frame.is_object())?;
                Some((from_agent, frame.clone()))
            });
            (path.file_name().unwrap().to_string_lossy().into_owned(), frames.collect())
        })
        .collect()
}

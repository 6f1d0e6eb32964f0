//! The Agent Client Protocol: captured conversations of real agents are understood from the first frame to the end of
//! the turn, each request is answered once, and nothing that an agent sends is obeyed without an answer of the user.

use std::collections::BTreeMap;
use std::path::PathBuf;

use linkspan_dialect::{
    Accepted, Answer, CallId, ChatCommand, ChatEvent, Failure, FailureKind, PatchFile, Request, Session,
    Step, TurnEnd,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{self, comment, session};

const BEFORE: &str = "one\ntwo\nthree\n";
const AFTER: &str = "one\nTWO\nthree\n";

/// A session, what it sent, and what it made of the frames.
struct Agent {
    session: Session,
    sent: Vec<Value>,
    events: Vec<ChatEvent>,
    calls: Vec<(CallId, Request)>,
    other_steps: Vec<Step>,
}

impl Agent {
    fn new(resume: Option<&str>, mode: Option<&str>) -> Agent {
        let mut agent = Agent {
            session: session("acp"),
            sent: Vec::new(),
            events: Vec::new(),
            calls: Vec::new(),
            other_steps: Vec::new(),
        };
        let begin = ChatCommand::Begin {
            cwd: "/w".into(),
            resume: resume.map(str::to_owned),
            mode: mode.map(str::to_owned),
        };
        agent.command(begin);
        agent
    }

    /// In the first turn of session `s1`.
    fn working() -> Agent {
        let mut agent = Agent::new(None, None);
        agent.reply(
            "initialize",
            json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": true } }),
        );
        agent.reply("session/new", json!({ "sessionId": "s1" }));
        agent.prompt();
        agent
    }

    fn prompt(&mut self) {
        self.command(ChatCommand::Prompt {
            text: "h2edit please".into(),
            attachments: Vec::new(),
            pictures: Vec::new(),
        });
    }

    fn command(&mut self, command: ChatCommand) {
        self.session.command(command);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(step) = self.session.next_step() {
            self.take(step);
        }
        let frames = self.session.take_frames();
        self.sent.extend(frames.iter().map(|frame| serde_json::from_str::<Value>(frame).unwrap()));
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Chat(event) => self.events.push(*event),
            Step::Call { call, request } => self.calls.push((call, request)),
            Step::Nothing => {}
            other => self.other_steps.push(other),
        }
    }

    fn receive(&mut self, frame: &Value) {
        let step = self.session.receive(&frame.to_string());
        self.take(step);
        self.drain();
    }

    fn last(&self, method: &str) -> Option<&Value> {
        self.sent.iter().rfind(|frame| frame["method"] == method)
    }

    fn reply(&mut self, method: &str, result: Value) {
        let id = self.last(method).unwrap_or_else(|| panic!("no {method} in {:?}", self.sent))["id"].clone();
        self.receive(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn answer(&mut self, call: CallId, answer: &Answer) {
        if let Some(frame) = self.session.answer(call, answer) {
            self.sent.push(serde_json::from_str(&frame.text).unwrap());
        }
        self.drain();
    }

    fn answers(&self, id: &Value) -> Vec<&Value> {
        self.sent.iter().filter(|frame| frame["method"].is_null() && frame["id"] == *id).collect()
    }

    fn asks(&mut self, id: u64, tool: &Value) {
        let options = json!([
            { "optionId": "always", "name": "Always", "kind": "allow_always" },
            { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
            { "optionId": "no", "name": "No", "kind": "reject_once" },
        ]);
        let params = json!({ "sessionId": "s1", "toolCall": tool, "options": options });
        self.receive(
            &json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params }),
        );
    }

    fn update(&mut self, update: Value) {
        let params = json!({ "sessionId": "s1", "update": update });
        self.receive(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    }

    fn ended(&self) -> Option<(&TurnEnd, Option<&str>)> {
        self.events.iter().find_map(|event| match event {
            ChatEvent::TurnEnded { end, follow_up } => Some((end, follow_up.as_deref())),
            _ => None,
        })
    }
}

fn edit(old: &str, new: &str) -> Value {
    json!({ "toolCallId": "t1", "kind": "edit", "title": "Edit a.txt",
        "content": [{ "type": "diff", "path": "/w/a.txt", "oldText": old, "newText": new }] })
}

fn as_proposed(path: &str) -> Answer {
    let accepted = Accepted { path: path.into(), written: false, ..support::accepted(AFTER, false) };
    Answer::Set(vec![(path.into(), Answer::Accepted(accepted))])
}

fn rejected(reason: Option<&str>) -> Answer {
    let answer = Answer::Rejected(support::rejected(reason, &[]));
    Answer::Set(vec![("/w/a.txt".into(), answer)])
}

fn patch(request: &Request) -> &[PatchFile] {
    match request {
        Request::Patch { files, .. } => files,
        other => panic!("no change of files: {other:?}"),
    }
}

struct AcpCapture {
    frames: Vec<Value>,
    methods: BTreeMap<String, String>,
}

fn captures() -> BTreeMap<String, AcpCapture> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wire/acp");
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let (mut frames, mut methods) = (Vec::new(), BTreeMap::new());
        for line in lines.filter(|line| line["frame"].is_object()) {
            let frame = line["frame"].clone();
            match (line["dir"].as_str(), frame["method"].as_str()) {
                (Some("client->agent"), Some(method)) => {
                    methods.insert(frame["id"].to_string(), method.to_owned());
                }
                (Some("agent->client"), _) => frames.push(frame),
                _ => {}
            }
        }
        (path.file_stem().unwrap().to_string_lossy().into_owned(), AcpCapture { frames, methods })
    };
    files.map(read).collect()
}

/// Replays what the agent sent; `answer` is what the user decides about its edit.
fn replay(name: &str, capture: &AcpCapture, answer: &Answer) -> Agent {
    replay_with(name, capture, |agent, call| match name.contains("cancel-turn") {
        true => agent.command(ChatCommand::Cancel),
        false => agent.answer(call, answer),
    })
}

/// The same if a part of its edit is accepted, which the hub writes as soon as the agent knows that it must not.
fn replay_declined(name: &str, capture: &AcpCapture) -> Agent {
    let mut agent = replay_with(name, capture, |agent, call| {
        let frame = agent.session.decline(call).unwrap();
        agent.sent.push(serde_json::from_str(&frame.text).unwrap());
    });
    let part = Accepted { path: "/w/a.txt".into(), written: true, ..support::accepted(AFTER, false) };
    let (call, _) = agent.calls.iter().find(|(_, request)| matches!(request, Request::Patch { .. })).unwrap();
    let part = Accepted { person_diff: Some("-a\n+b\n".into()), ..part };
    agent.answer(*call, &Answer::Set(vec![("/w/a.txt".into(), Answer::Accepted(part))]));
    agent
}

fn replay_with(name: &str, capture: &AcpCapture, decide: impl Fn(&mut Agent, CallId)) -> Agent {
    let mode = name.starts_with("codex").then_some("read-only");
    let mut agent = Agent::new(None, mode);
    let mut answered = 0;
    for frame in &capture.frames {
        match (frame["method"].as_str(), capture.methods.get(&frame["id"].to_string())) {
            (None, Some(method)) => {
                let mut frame = frame.clone();
                let own = agent.last(method).unwrap_or_else(|| panic!("{name}: no {method}"));
                frame["id"] = own["id"].clone();
                agent.receive(&frame);
            }
            _ => agent.receive(frame),
        }
        let is_ready = agent.events.iter().any(|event| matches!(event, ChatEvent::Ready { .. }));
        if is_ready && agent.last("session/prompt").is_none() {
            agent.prompt();
        }
        while let Some((call, request)) = agent.calls.get(answered).cloned() {
            answered += 1;
            let read = |path| Answer::Text {
                path,
                text: BEFORE.to_owned(),
                language: "plaintext".into(),
                dirty: false,
                truncated: false,
            };
            match request {
                Request::ReadFile { path, .. } => agent.answer(call, &read(path)),
                Request::Patch { files, .. } => {
                    assert_eq!(files.len(), 1, "{name}");
                    assert_eq!(files[0].path, PathBuf::from("/w/a.txt"), "{name}");
                    let patched = files[0].patched(Some(BEFORE)).unwrap();
                    assert_eq!((patched.text.as_str(), patched.compared), (AFTER, false), "{name}");
                    decide(&mut agent, call);
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    agent
}

#[test]
fn every_captured_conversation_is_understood_to_its_end() {
    let captures = captures();
    assert_eq!(captures.len(), 17);
    for (name, capture) in &captures {
        let answer = match name.contains("reject") {
            true => rejected(None),
            false => as_proposed("/w/a.txt"),
        };
        let agent = replay(name, capture, &answer);
        let hello = agent.last("initialize").unwrap();
        let offered = &hello["params"]["clientCapabilities"]["fs"];
        assert_eq!(offered, &json!({ "readTextFile": true, "writeTextFile": false }));
        for frame in capture.frames.iter().filter(|frame| frame["method"].is_string() && frame["id"].is_u64())
        {
            let answers = agent.answers(&frame["id"]);
            assert_eq!(answers.len(), 1, "{name}: {frame}");
            match frame["method"].as_str().unwrap() {
                "session/request_permission" => {
                    let option = answers[0]["result"]["outcome"]["optionId"].as_str();
                    let kind = frame["params"]["options"].as_array().unwrap().iter();
                    let kind = kind.clone().find(|it| it["optionId"].as_str() == option);
                    let kind = kind.and_then(|it| it["kind"].as_str());
                    let expected = match name {
                        name if name.contains("cancel-turn") => None,
                        name if name.contains("reject") => Some("reject_once"),
                        _ => Some("allow_once"),
                    };
                    assert_eq!(kind, expected, "{name}");
                }
                "fs/read_text_file" => assert_eq!(answers[0]["result"]["content"], BEFORE, "{name}"),
                "fs/write_text_file" => assert_eq!(answers[0]["result"], json!({}), "{name}"),
                _ => assert_eq!(answers[0]["error"]["code"], -32601, "{name}"),
            }
        }
        if name.contains("client-gone") {
            continue;
        }
        let end = agent.ended().unwrap_or_else(|| panic!("{name}: {:?}", agent.events)).0;
        let is_cancelled = name.contains("cancel-turn") || name == "codex-acp-2.6.0-reject";
        assert_eq!(*end, if is_cancelled { TurnEnd::Cancelled } else { TurnEnd::Done }, "{name}");
        assert_eq!(agent.session.open_calls().count(), 0, "{name}");
        let text = |event: &ChatEvent| matches!(event, ChatEvent::Text(text) if text == "MOCK-DONE-EDIT");
        let tells = !is_cancelled && name != "qwen-0.24.4-reject";
        assert_eq!(agent.events.iter().any(text), tells, "{name}");
    }
}

#[test]
fn codex_is_put_into_the_mode_that_asks_before_its_first_prompt() {
    let captures = captures();
    let name = "codex-acp-2.6.0-allow";
    let agent = replay(name, &captures[name], &as_proposed("/w/a.txt"));
    let at = |method: &str| agent.sent.iter().position(|frame| frame["method"] == method).unwrap();
    assert!(at("session/set_mode") < at("session/prompt"));
    let ready = agent.events.iter().find_map(|event| match event {
        ChatEvent::Ready { mode, modes, .. } => Some((mode.as_deref(), modes.len())),
        _ => None,
    });
    assert_eq!(ready, Some((Some("read-only"), 4)));
}

#[test]
fn what_was_taken_in_part_is_declined_written_by_the_hub_and_told_at_the_end_of_the_turn() {
    let mut agent = Agent::working();
    agent.asks(5, &edit(BEFORE, AFTER));
    let (call, _) = agent.calls[0].clone();
    let frame = agent.session.decline(call).unwrap();
    assert!(frame.text.contains(r#""optionId":"no""#), "{}", frame.text);
    assert!(agent.session.decline(call).is_none(), "it is answered once");
    agent.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "failed" }));
    assert_eq!(agent.other_steps, [Step::Declined { call, applied: false }]);
    agent.reply("session/prompt", json!({ "stopReason": "end_turn" }));
    assert_eq!(agent.ended(), None, "the hub has not written yet");
    let accepted = Accepted {
        path: "/w/a.txt".into(),
        written: true,
        person_diff: Some("-TWO\n+2\n".into()),
        comments: vec![comment(2, "a digit")],
        ..support::accepted("one\n2\nthree\n", false)
    };
    agent.answer(call, &Answer::Set(vec![("/w/a.txt".into(), Answer::Accepted(accepted))]));
    let (end, told) = agent.ended().unwrap();
    assert_eq!(*end, TurnEnd::Done);
    let told = told.unwrap();
    for part in ["reports it as rejected", "+2", "line 2: a digit"] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(agent.session.open_calls().count(), 0);
}

#[test]
fn names_that_are_too_long_to_be_names_are_not_kept() {
    let mut agent = Agent::working();
    let long = "x".repeat(100_000);
    let mut tool = edit(BEFORE, AFTER);
    tool["toolCallId"] = json!(long);
    agent.asks(5, &tool);
    assert!(agent.calls.is_empty());
    assert_eq!(agent.answers(&json!(5))[0]["result"]["outcome"]["outcome"], "cancelled");
    agent.update(json!({ "sessionUpdate": "tool_call", "toolCallId": long, "title": "x" }));
    agent.update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": long }));
    let is_kept = |event: &ChatEvent| matches!(event, ChatEvent::Tool(_) | ChatEvent::Mode(_));
    assert!(!agent.events.iter().any(is_kept));
    let places: Vec<Value> = (0..1000).map(|number| json!({ "path": format!("/w/{number}") })).collect();
    agent.update(
        json!({ "sessionUpdate": "tool_call", "toolCallId": "t1", "kind": long, "locations": places }),
    );
    let Some(ChatEvent::Tool(tool)) = agent.events.last() else { panic!("{:?}", agent.events) };
    assert_eq!(tool.kind, None);
    assert!(tool.paths.len() < 100, "{}", tool.paths.len());
}

#[test]
fn text_that_was_on_its_way_does_not_say_that_the_agent_knows_our_no() {
    let mut agent = Agent::working();
    agent.asks(5, &edit(BEFORE, AFTER));
    let (call, _) = agent.calls[0].clone();
    agent.session.decline(call).unwrap();
    for kind in ["agent_message_chunk", "agent_thought_chunk"] {
        agent.update(json!({ "sessionUpdate": kind, "content": { "type": "text", "text": "Well" } }));
    }
    agent.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t2", "status": "completed" }));
    agent.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "in_progress" }));
    assert_eq!(agent.other_steps, []);
    // It makes its next step.
    let read = json!({ "sessionId": "s1", "path": "/w/b.txt" });
    agent.receive(&json!({ "jsonrpc": "2.0", "id": 6, "method": "fs/read_text_file", "params": read }));
    assert_eq!(agent.other_steps, [Step::Declined { call, applied: false }]);
}

#[test]
fn every_captured_agent_shows_that_it_knows_our_no() {
    for (name, capture) in captures().iter().filter(|(name, _)| name.contains("reject")) {
        let agent = replay_declined(name, capture);
        let declined: Vec<_> =
            agent.other_steps.iter().filter(|step| matches!(step, Step::Declined { .. })).collect();
        assert!(matches!(declined[..], [Step::Declined { applied: false, .. }]), "{name}: {declined:?}");
        let (_, told) = agent.ended().unwrap_or_else(|| panic!("{name}: the turn does not end"));
        assert!(told.is_some_and(|told| told.contains("reports it as rejected")), "{name}: {told:?}");
        assert_eq!(agent.session.open_calls().count(), 0, "{name}");
    }
}

#[test]
fn a_reason_reaches_the_model_and_a_plain_no_needs_no_message() {
    for (reason, told) in [(None, false), (Some("not like this"), true)] {
        let mut agent = Agent::working();
        agent.asks(5, &edit(BEFORE, AFTER));
        let (call, _) = agent.calls[0].clone();
        agent.answer(call, &rejected(reason));
        assert_eq!(agent.answers(&json!(5))[0]["result"]["outcome"]["optionId"], "no");
        agent.reply("session/prompt", json!({ "stopReason": "end_turn" }));
        let follow_up = agent.ended().unwrap().1;
        assert_eq!(follow_up.is_some_and(|text| text.contains("not like this")), told);
    }
}

#[test]
fn a_diff_in_the_raw_input_and_a_part_in_an_earlier_message_are_both_understood() {
    let mut agent = Agent::working();
    agent.update(json!({ "sessionUpdate": "tool_call", "toolCallId": "t1", "kind": "edit", "title": "Edit",
        "content": [{ "type": "diff", "path": "/w/a.txt", "oldText": "two", "newText": "TWO" }] }));
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";
    agent.asks(
        1,
        &json!({ "toolCallId": "t1", "kind": "edit", "rawInput": { "fileName": "/w/a.txt", "diff": diff } }),
    );
    let files = patch(&agent.calls[0].1);
    assert_eq!(files[0].patched(Some(BEFORE)).unwrap().text, AFTER);
    // The diff says which of two it is.
    let twice = "two\none\ntwo\nthree\n";
    assert_eq!(files[0].patched(Some(twice)).unwrap().text, "two\none\nTWO\nthree\n");
    agent.asks(
        2,
        &json!({ "toolCallId": "t2", "kind": "edit", "rawInput": { "fileName": "b.txt", "diff": diff } }),
    );
    let files = patch(&agent.calls[1].1);
    assert_eq!(files[0].path, PathBuf::from("/w/b.txt"));
    assert_eq!(files[0].patched(Some(BEFORE)).unwrap().text, AFTER);
}

#[test]
fn a_command_is_asked_about_in_the_agents_own_words() {
    let mut agent = Agent::working();
    let tool = json!({ "toolCallId": "t1", "kind": "execute", "title": "Run the tests",
        "rawInput": { "command": "make test" } });
    agent.asks(1, &tool);
    let (call, request) = agent.calls[0].clone();
    assert_eq!(request, Request::Consent { what: "Run the tests\n\nmake test".into() });
    agent.answer(call, &Answer::Permission { allowed: true, message: None });
    assert_eq!(agent.answers(&json!(1))[0]["result"]["outcome"]["optionId"], "yes");
}

#[test]
fn cancelling_answers_what_is_open_and_nobody_is_asked_after_it() {
    let mut agent = Agent::working();
    agent.asks(1, &edit(BEFORE, AFTER));
    agent.command(ChatCommand::Cancel);
    assert!(agent.last("session/cancel").is_some());
    agent.asks(2, &edit(BEFORE, AFTER));
    for id in [1, 2] {
        assert_eq!(agent.answers(&json!(id))[0]["result"]["outcome"]["outcome"], "cancelled");
    }
    assert_eq!(agent.calls.len(), 1);
    agent.reply("session/prompt", json!({ "stopReason": "cancelled" }));
    assert_eq!(agent.ended(), Some((&TurnEnd::Cancelled, None)));
}

#[test]
fn a_write_that_nobody_accepted_is_answered_and_reported() {
    let mut agent = Agent::working();
    let params = json!({ "sessionId": "s1", "path": "/w/b.txt", "content": "x" });
    agent.receive(&json!({ "jsonrpc": "2.0", "id": 9, "method": "fs/write_text_file", "params": params }));
    let why = agent.answers(&json!(9))[0]["error"]["message"].as_str().unwrap();
    assert!(why.contains("did not accept a change of /w/b.txt"), "{why}");
    assert!(agent.calls.is_empty());
    let notice =
        |event: &ChatEvent| matches!(event, ChatEvent::Notice { text, .. } if text.contains("/w/b.txt"));
    assert!(agent.events.iter().any(notice));
}

#[test]
fn a_session_is_continued_where_the_agent_can_and_begun_anew_where_it_forgot() {
    let mut agent = Agent::new(Some("old"), None);
    agent.reply("initialize", json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": true } }));
    assert_eq!(agent.last("session/load").unwrap()["params"]["sessionId"], "old");
    let replayed =
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "old" } });
    agent.receive(&json!({ "jsonrpc": "2.0", "method": "session/update",
        "params": { "sessionId": "old", "update": replayed } }));
    agent.reply("session/load", json!({}));
    let ready = ChatEvent::Ready {
        session: "old".into(),
        modes: Vec::new(),
        mode: None,
        pictures: false,
        forgot: false,
    };
    assert_eq!(agent.events, [ready], "what was said before is known");

    let mut agent = Agent::new(Some("old"), None);
    agent.reply("initialize", json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": true } }));
    let id = agent.last("session/load").unwrap()["id"].clone();
    agent.receive(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32603, "message": "gone" } }));
    agent.reply("session/new", json!({ "sessionId": "s2" }));
    let ready = ChatEvent::Ready {
        session: "s2".into(),
        modes: Vec::new(),
        mode: None,
        pictures: false,
        forgot: true,
    };
    assert_eq!(agent.events, [ready]);
}

#[test]
fn an_agent_that_wants_a_login_says_so() {
    let mut agent = Agent::new(None, None);
    agent.reply("initialize", json!({ "protocolVersion": 1 }));
    let id = agent.last("session/new").unwrap()["id"].clone();
    let error = json!({ "code": -32000, "message": "Authentication required" });
    agent.receive(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    let said = |event: &ChatEvent| matches!(event, ChatEvent::CannotBegin(why) if why.contains("Log in"));
    assert!(agent.events.iter().any(said), "{:?}", agent.events);
}

#[test]
fn a_change_that_cannot_be_reviewed_is_refused_with_words() {
    let mut agent = Agent::working();
    agent.asks(1, &edit(BEFORE, AFTER));
    let (call, _) = agent.calls[0].clone();
    agent.answer(call, &Answer::Failed(Failure::new(FailureKind::OutsideWorkspace, "it is outside")));
    assert_eq!(agent.answers(&json!(1))[0]["result"]["outcome"]["optionId"], "no");
    agent.reply("session/prompt", json!({ "stopReason": "end_turn" }));
    assert!(agent.ended().unwrap().1.unwrap().contains("it is outside"));
}

#[test]
fn a_second_request_of_the_same_id_is_not_asked_about() {
    let mut agent = Agent::working();
    agent.asks(1, &edit(BEFORE, AFTER));
    agent.asks(1, &edit(BEFORE, "other"));
    assert_eq!(agent.calls.len(), 1);
}

proptest! {
    #[test]
    fn no_frame_panics_and_no_request_stays_unanswered(
        frames in proptest::collection::vec(hostile_frame(), 0..12)
    ) {
        let mut agent = Agent::working();
        for frame in &frames {
            agent.receive(frame);
        }
        let _ = agent.session.receive("{\"jsonrpc\":\"2.0\",\"id\":1,\"meth");
        agent.command(ChatCommand::Cancel);
        agent.command(ChatCommand::Gone);
        for frame in frames.iter().filter(|frame| frame["method"].is_string() && !frame["id"].is_null()) {
            let read = agent.calls.iter().any(|(_, request)| matches!(request, Request::ReadFile { .. }));
            prop_assert!(read || !agent.answers(&frame["id"]).is_empty(), "{frame}");
        }
    }
}

fn hostile_frame() -> impl Strategy<Value = Value> {
    let methods = [
        "session/request_permission",
        "session/update",
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "_x",
    ];
    let odd = prop_oneof![
        Just(Value::Null),
        Just(json!([])),
        Just(json!("x")),
        Just(json!({ "toolCallId": "t" })),
        Just(edit(BEFORE, AFTER)),
        Just(json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "content": 5, "locations": {} })),
        Just(json!({ "sessionUpdate": "plan", "entries": [null, {}] })),
        Just(json!({ "toolCallId": "t", "kind": "edit", "content": [null, { "type": "diff" }] })),
    ];
    let id =
        prop_oneof![Just(Value::Null), (0..3u64).prop_map(|id| json!(id)), Just(json!("a")), Just(json!({}))];
    (proptest::sample::select(methods.to_vec()), id, odd.clone(), odd).prop_map(|(method, id, one, other)| {
        let params = json!({ "sessionId": "s1", "toolCall": one, "update": other, "path": "/w/a.txt" });
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    })
}

//! A client on a pipe, with the frames of a real one, against a host that does what the test says.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use linkspan_client::confirm::{ConfirmQuestion, TerminalAnswer};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::*;
use crate::conversation::{Answer, Question, QuestionId, TurnEnd, TurnEvent};
use crate::host::double::HostDouble;
use crate::host::{ChangeId, ChangeQuestion, Occurred};
use crate::message::{CallArguments, ChatMessage, ModelCall, ToolResult};
use crate::permissions::PermissionMode;

struct AcpFixture {
    host: HostDouble,
    types: Option<UnboundedSender<String>>,
    reads: Receiver<Value>,
    ended: Receiver<io::Result<()>>,
    next: u64,
}

fn client() -> AcpFixture {
    let host = HostDouble::start();
    let handle = host.handle.clone();
    let (types, mut typed) = unbounded_channel::<String>();
    let (tell, reads) = channel();
    let (finish, ended) = channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut to_agent, input) = tokio::io::duplex(1 << 16);
            let (output, from_agent) = tokio::io::duplex(1 << 16);
            let writer = async move {
                while let Some(line) = typed.recv().await {
                    to_agent.write_all(line.as_bytes()).await.unwrap();
                }
            };
            let reader = async move {
                let mut lines = BufReader::new(from_agent).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    if tell.send(serde_json::from_str(&line).unwrap()).is_err() {
                        return;
                    }
                }
            };
            let serving = serve(handle, AcpOptions::default(), BufReader::new(input), output);
            let (served, (), ()) = tokio::join!(serving, writer, reader);
            finish.send(served).unwrap();
        });
    });
    AcpFixture { host, types: Some(types), reads, ended, next: 0 }
}

impl AcpFixture {
    fn send(&self, message: &Value) {
        self.types.as_ref().unwrap().send(format!("{message}\n")).unwrap();
    }

    fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        self.next
    }

    #[track_caller]
    fn reads(&self) -> Value {
        self.reads.recv_timeout(Duration::from_secs(10)).expect("no message")
    }

    /// The update in the next message.
    #[track_caller]
    fn update(&self) -> Value {
        let message = self.reads();
        assert_eq!(
            (&message["method"], &message["params"]["sessionId"]),
            (&json!("session/update"), &json!("s1"))
        );
        message["params"]["update"].clone()
    }

    #[track_caller]
    fn result(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.reads();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    }

    #[track_caller]
    fn fails(&mut self, method: &str, params: Value) -> i64 {
        let id = self.ask(method, params);
        let answer = self.reads();
        assert_eq!(answer["id"], id, "{answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|why| !why.is_empty()), "{answer}");
        answer["error"]["code"].as_i64().unwrap()
    }

    /// A session s1 of the first agent, as every client opens it.
    fn open(&mut self) -> AgentId {
        self.result("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }));
        let opened = self.result("session/new", json!({ "cwd": "/", "mcpServers": [] }));
        assert_eq!(opened["sessionId"], "s1");
        assert_eq!(self.update()["sessionUpdate"], "available_commands_update");
        AgentId(1)
    }

    fn prompt(&mut self, text: &str) -> u64 {
        let id = self.ask(
            "session/prompt",
            json!({ "sessionId": "s1", "prompt": [{ "type": "text", "text": text }] }),
        );
        self.host.prompted();
        id
    }
}

fn call(name: &str, arguments: Value) -> ModelCall {
    ModelCall { id: "c1".into(), name: name.into(), arguments: CallArguments::Json(arguments), opaque: None }
}

fn result(text: &str, is_error: bool) -> ToolResult {
    ToolResult { call_id: "c1".into(), name: "x".into(), text: text.into(), is_error, cancelled: false }
}

#[test]
fn a_plan_is_shown_as_one() {
    let mut client = client();
    let agent = client.open();
    client.prompt("hello");
    let steps = json!({ "steps": ["read", "edit"], "done": 1 });
    client.host.show(agent, TurnEvent::Call(call("update_plan", steps)));
    assert_eq!(client.update()["sessionUpdate"], "tool_call");
    let plan = client.update();
    let entries = plan["entries"].as_array().unwrap();
    let states: Vec<&str> = entries.iter().filter_map(|entry| entry["status"].as_str()).collect();
    assert_eq!(plan["sessionUpdate"], "plan");
    assert_eq!(states, ["completed", "in_progress"]);
}

#[test]
fn a_turn_is_shown_as_it_happens_and_ends_with_a_reason() {
    let mut client = client();
    let agent = client.open();
    let id = client.prompt("hello");
    for shown in [
        TurnEvent::Started,
        TurnEvent::Thought("hm".into()),
        TurnEvent::Text("I look".into()),
        TurnEvent::Call(call("read_file", json!({ "path": "a" }))),
        TurnEvent::Result(result("content", false)),
    ] {
        client.host.show(agent, shown);
    }
    assert_eq!(client.update(), update::chunk("agent_thought_chunk", "hm"));
    assert_eq!(client.update(), update::chunk("agent_message_chunk", "I look"));
    let called = client.update();
    assert_eq!(
        (&called["sessionUpdate"], &called["status"], &called["kind"]),
        (&json!("tool_call"), &json!("pending"), &json!("read"))
    );
    let done = client.update();
    assert_eq!((&done["toolCallId"], &done["status"]), (&json!("c1"), &json!("completed")));
    assert_eq!(done["content"][0]["content"]["text"], "content");
    client.host.end(agent, TurnEnd::Done, "I look");
    let answer = client.reads();
    assert_eq!((&answer["id"], &answer["result"]["stopReason"]), (&json!(id), &json!("end_turn")));
}

#[test]
fn a_prompt_is_answered_at_its_own_end_and_not_at_that_of_a_resumed_turn() {
    let mut client = client();
    let agent = client.open();
    client.host.answers.lock().unwrap().is_resumed = true;
    let id = client.prompt("and now?");
    client.host.end(agent, TurnEnd::Done, "the older turn");
    client.host.show(agent, TurnEvent::Started);
    client.host.show(agent, TurnEvent::Prompted);
    client.host.show(agent, TurnEvent::Text("now".into()));
    assert_eq!(client.reads()["params"]["update"], update::chunk("agent_message_chunk", "now"));
    client.host.end(agent, TurnEnd::Length, "now");
    let answer = client.reads();
    assert_eq!((&answer["id"], &answer["result"]["stopReason"]), (&json!(id), &json!("max_tokens")));

    let id = client.prompt("never mind");
    client.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": "s1" } }));
    assert!(matches!(client.host.next(), HostCommand::Cancel { .. }));
    client.host.end(agent, TurnEnd::Cancelled, "the older turn");
    assert!(matches!(client.host.next(), HostCommand::Cancel { .. }), "the prompt is cancelled as well");
    client.host.show(agent, TurnEvent::Prompted);
    client.host.end(agent, TurnEnd::Cancelled, "");
    let answer = client.reads();
    assert_eq!((&answer["id"], &answer["result"]["stopReason"]), (&json!(id), &json!("cancelled")));
}

#[test]
fn the_output_of_a_running_tool_is_shown_in_pieces_that_are_worth_it() {
    let mut client = client();
    let agent = client.open();
    client.prompt("run");
    client.host.show(agent, TurnEvent::Call(call("run_command", json!({ "command": "x" }))));
    assert_eq!(client.update()["sessionUpdate"], "tool_call");
    let output = |text: &str| Occurred::Output { call_id: "c1".into(), text: text.into() };
    client.host.emit(agent, output("first\n"));
    client.host.emit(agent, output("too little\n"));
    client.host.emit(agent, output(&"x".repeat(20_000)));
    client.host.emit(agent, output("of the end"));
    client.host.show(agent, TurnEvent::Result(result("all", false)));
    let text = |update: Value| update["content"][0]["content"]["text"].as_str().unwrap().to_owned();
    assert_eq!(text(client.update()), "first\n");
    let shown = text(client.update());
    assert!(shown.ends_with("xxx") && shown.len() < 9000, "{}", shown.len());
    assert_eq!(text(client.update()), "all");
}

#[test]
fn each_end_has_its_reason_and_a_failure_its_error() {
    let mut client = client();
    let agent = client.open();
    for (end, reason) in [
        (TurnEnd::Cancelled, "cancelled"),
        (TurnEnd::Length, "max_tokens"),
        (TurnEnd::Rounds, "max_turn_requests"),
        (TurnEnd::Refused, "refusal"),
    ] {
        client.prompt("x");
        client.host.end(agent, end, "");
        assert_eq!(client.reads()["result"]["stopReason"], reason);
    }
    client.prompt("x");
    client.host.show(agent, TurnEvent::Error("the key is wrong".into()));
    client.host.end(agent, TurnEnd::Failed, "");
    assert_eq!(client.reads()["error"]["message"], "the key is wrong");
}

#[test]
fn a_change_is_asked_about_with_both_texts() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f"), "one\ntwo\n").unwrap();
    let edit = json!({ "path": "f", "old_string": "two", "new_string": "2" });
    let question = Arc::new(ConfirmQuestion::of_call("edit_file", &edit, folder.path()).unwrap());
    let mut client = client();
    let agent = client.open();
    client.prompt("edit");
    type IsRight = fn(&TerminalAnswer) -> bool;
    let answers: [(Value, IsRight); 4] = [
        (json!({ "result": { "outcome": { "outcome": "selected", "optionId": "allow_once" } } }), |answer| {
            *answer == TerminalAnswer::Allow
        }),
        (
            json!({ "result": { "outcome": { "outcome": "selected", "optionId": "reject_once" } } }),
            |answer| *answer == TerminalAnswer::Deny { reason: None, comments: vec![] },
        ),
        (json!({ "result": { "outcome": { "outcome": "cancelled" } } }), |answer| {
            matches!(answer, TerminalAnswer::Unavailable { .. })
        }),
        (
            json!({ "error": { "code": -32601, "message": "no such method" } }),
            |answer| matches!(answer, TerminalAnswer::Unavailable { why } if why.contains("no such method")),
        ),
    ];
    for (number, (answer, is_right)) in (0..).zip(answers) {
        let asked = ChangeQuestion {
            change: ChangeId(number),
            call_id: "c1".into(),
            question: Arc::clone(&question),
        };
        client.host.emit(agent, Occurred::AskChange(asked));
        let request = client.reads();
        assert_eq!(request["method"], "session/request_permission");
        let diff = &request["params"]["toolCall"]["content"][0];
        assert_eq!(
            (&diff["type"], &diff["oldText"], &diff["newText"]),
            (&json!("diff"), &json!("one\ntwo\n"), &json!("one\n2\n"))
        );
        let mut message = answer.clone();
        message["id"] = request["id"].clone();
        client.send(&message);
        let HostCommand::AnswerChange { change, answer: got } = client.host.next() else {
            panic!("no answer")
        };
        assert!(change == ChangeId(number) && is_right(&got), "{answer}: {got:?}");
    }
}

#[test]
fn a_command_is_asked_about_once_or_for_the_session() {
    let mut client = client();
    let agent = client.open();
    client.prompt("run");
    for (option, expect) in [
        ("allow_once", Answer::Once),
        ("allow_always", Answer::Session),
        ("reject_once", Answer::No { reason: None }),
    ] {
        let ask =
            Question::Permission { call: call("run_command", json!({ "command": "ls" })), why: "so".into() };
        // Also of a helper, which has no session of its own.
        for agent in [agent, AgentId(9)] {
            client.host.emit(agent, Occurred::Ask { question: QuestionId(5), ask: ask.clone() });
            let request = client.reads();
            assert_eq!(request["params"]["sessionId"], "s1");
            assert_eq!(request["params"]["toolCall"]["title"], "run_command ls");
            let kinds: Vec<_> =
                request["params"]["options"].as_array().unwrap().iter().map(|o| &o["kind"]).collect();
            assert_eq!(kinds, ["allow_once", "allow_always", "reject_once"]);
            let outcome = json!({ "outcome": "selected", "optionId": option });
            client.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": { "outcome": outcome } }));
            let HostCommand::Answer { agent: whose, answer, .. } = client.host.next() else {
                panic!("no answer")
            };
            assert_eq!((whose, &answer), (agent, &expect));
        }
    }
}

#[test]
fn a_question_that_is_answered_elsewhere_is_withdrawn() {
    let mut client = client();
    let agent = client.open();
    client.prompt("run");
    let ask = Question::Repeated { call: call("run_command", json!({})), times: 3 };
    client.host.emit(agent, Occurred::Ask { question: QuestionId(5), ask });
    let request = client.reads();
    client.host.emit(agent, Occurred::QuestionClosed { question: QuestionId(5) });
    let withdrawn = client.reads();
    assert_eq!(
        (&withdrawn["method"], &withdrawn["params"]["requestId"]),
        (&json!("$/cancel_request"), &request["id"])
    );
    client.send(&json!({ "id": request["id"], "result": { "outcome": { "outcome": "cancelled" } } }));
    client.send(&json!({ "method": "session/cancel", "params": { "sessionId": "s1" } }));
    assert!(matches!(client.host.next(), HostCommand::Cancel { .. }), "a late answer was passed on");
}

#[test]
fn a_saved_session_is_shown_from_its_beginning() {
    let mut client = client();
    client.host.answers.lock().unwrap().messages = vec![
        ChatMessage::User { text: "hello".into(), attachments: vec![] },
        ChatMessage::Assistant {
            text: "I look".into(),
            calls: vec![call("read_file", json!({ "path": "a" }))],
        },
        ChatMessage::Tools { results: vec![result("no such file", true)] },
        ChatMessage::Assistant { text: "gone".into(), calls: vec![] },
    ];
    let id = client.ask("session/load", json!({ "sessionId": "s1", "cwd": "/", "mcpServers": [] }));
    let kinds: Vec<_> = (0..5).map(|_| client.update()["sessionUpdate"].clone()).collect();
    assert_eq!(
        kinds,
        ["user_message_chunk", "agent_message_chunk", "tool_call", "tool_call_update", "agent_message_chunk"]
    );
    let answer = client.reads();
    assert_eq!((&answer["id"], &answer["result"]["modes"]["currentModeId"]), (&json!(id), &json!("trusted")));
    client.update();
    // Once more, while it is open: the same agent.
    client.ask("session/load", json!({ "sessionId": "s1", "cwd": "/", "mcpServers": [] }));
    assert_eq!(client.update()["sessionUpdate"], "user_message_chunk");
    assert_eq!(client.host.answers.lock().unwrap().agents.len(), 1);
}

#[test]
fn what_a_resumed_turn_asks_at_once_is_asked_when_the_session_is_open() {
    let mut client = client();
    let ask =
        Question::Permission { call: call("run_command", json!({ "command": "ls" })), why: "so".into() };
    client.host.answers.lock().unwrap().at_once = vec![
        Occurred::Shown(TurnEvent::Text("I go on.".into())),
        Occurred::Ask { question: QuestionId(5), ask },
    ];
    let id = client.ask("session/load", json!({ "sessionId": "s1", "cwd": "/", "mcpServers": [] }));
    assert_eq!(client.reads()["id"], id);
    assert_eq!(client.update()["sessionUpdate"], "available_commands_update");
    assert_eq!(client.update(), update::chunk("agent_message_chunk", "I go on."));
    let request = client.reads();
    assert_eq!(request["method"], "session/request_permission");
    assert!(client.host.next_within(Duration::from_millis(50)).is_none(), "it was answered for the user");
}

#[test]
fn closing_a_session_answers_its_prompt() {
    let mut client = client();
    client.open();
    let prompt = client.prompt("hello");
    let close = client.ask("session/close", json!({ "sessionId": "s1" }));
    let answer = client.reads();
    assert_eq!((&answer["id"], &answer["result"]["stopReason"]), (&json!(prompt), &json!("cancelled")));
    assert_eq!(client.reads()["id"], close);
    assert!(matches!(client.host.next(), HostCommand::Close { .. }));
}

#[test]
fn modes_lists_and_closing() {
    let mut client = client();
    client.open();
    assert_eq!(client.result("session/set_mode", json!({ "sessionId": "s1", "modeId": "yolo" })), json!({}));
    assert!(matches!(client.host.next(), HostCommand::SetMode { mode: PermissionMode::Yolo, .. }));
    assert_eq!(client.fails("session/set_mode", json!({ "sessionId": "s1", "modeId": "root" })), -32602);
    let saved = |name: &str, cwd: &str| SessionSummary {
        name: name.into(),
        created_at_ms: 0,
        model: "m".into(),
        messages: 1,
        cwd: cwd.into(),
    };
    client.host.answers.lock().unwrap().sessions = vec![saved("a", "/w"), saved("b", "/x")];
    let listed = client.result("session/list", json!({ "cwd": "/x" }));
    assert_eq!(listed, json!({ "sessions": [{ "sessionId": "b", "cwd": "/x" }] }));
    client.result("session/close", json!({ "sessionId": "s1" }));
    assert!(matches!(client.host.next(), HostCommand::Close { .. }));
    assert_eq!(client.fails("session/close", json!({ "sessionId": "s1" })), -32002);
}

#[test]
fn what_is_wrong_is_answered_and_what_is_unknown_is_survived() {
    let mut client = client();
    client.open();
    assert_eq!(client.fails("craft/drainMidTurnQueue", json!({})), -32601);
    assert_eq!(client.fails("session/new", json!({ "cwd": "relative" })), -32602);
    assert_eq!(client.fails("session/new", json!({})), -32602);
    assert_eq!(client.fails("session/new", json!(null)), -32602);
    assert_eq!(
        client.fails(
            "session/prompt",
            json!({ "sessionId": "nope", "prompt": [{ "type": "text", "text": "x" }] })
        ),
        -32002
    );
    assert_eq!(client.fails("session/prompt", json!({ "sessionId": "s1", "prompt": [] })), -32602);
    assert_eq!(client.fails("session/prompt", json!({ "sessionId": "s1", "prompt": "text" })), -32602);
    client.host.answers.lock().unwrap().refuses = Some("there is no session x".into());
    assert_eq!(client.fails("session/load", json!({ "sessionId": "x", "cwd": "/" })), -32002);
    client.host.answers.lock().unwrap().refuses = Some("set ANTHROPIC_API_KEY".into());
    assert_eq!(client.fails("session/new", json!({ "cwd": "/" })), -32603);
    client.prompt("one");
    let again = json!({ "sessionId": "s1", "prompt": [{ "type": "text", "text": "two" }] });
    assert_eq!(client.fails("session/prompt", again), -32600);
    client.send(&json!({ "method": "something/new", "params": [] }));
    client.send(&json!({ "method": "session/cancel" }));
    client.send(&json!({ "id": 99, "result": {} }));
    client.types.as_ref().unwrap().send("not json\n".into()).unwrap();
    assert_eq!(client.reads()["error"]["code"], -32700);
    client.send(&json!([1]));
    assert_eq!(client.reads()["error"]["code"], -32600);
    client.types.as_ref().unwrap().send(format!("\"{}\"\n", "x".repeat(LONGEST_LINE))).unwrap();
    assert_eq!(client.reads()["error"]["code"], -32600);
    assert_eq!(client.result("initialize", json!({ "protocolVersion": 2 }))["protocolVersion"], 1);
}

#[test]
fn a_client_that_leaves_ends_it_and_cancels_its_turns() {
    let mut client = client();
    client.open();
    client.prompt("one");
    client.types = None;
    assert!(matches!(client.host.next(), HostCommand::Cancel { .. }));
    assert!(client.ended.recv_timeout(Duration::from_secs(10)).unwrap().is_ok());
}

mod any_message {
    use proptest::prelude::*;

    use super::*;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            Just(json!("s1")),
            Just(json!("/")),
            Just(json!(1)),
            Just(json!(-1.5)),
            Just(json!({ "type": "text", "text": "x" })),
            Just(json!([{ "type": "resource_link", "uri": "file:///%zz%" }])),
        ];
        leaf.prop_recursive(2, 8, 3, |inner| {
            let keys =
                prop::sample::select(vec!["sessionId", "cwd", "prompt", "modeId", "outcome", "requestId"]);
            prop::collection::btree_map(keys, inner, 0..4).prop_map(|map| json!(map))
        })
    }

    fn method() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "initialize",
            "session/new",
            "session/load",
            "session/prompt",
            "session/set_mode",
            "session/list",
            "session/close",
            "session/cancel",
            "$/cancel_request",
            "x",
        ])
    }

    proptest! {
        /// A request has at most one answer at once, a notification and a response have none, and nothing panics.
        #[test]
        fn is_survived(messages in prop::collection::vec((method(), value(), 0u8..3), 1..20)) {
            let (commands, _received) = unbounded_channel();
            let mut client = Client::new(HostHandle::new(commands));
            for (method, params, kind) in messages {
                let message = match kind {
                    0 => json!({ "id": 7, "method": method, "params": params }),
                    1 => json!({ "method": method, "params": params }),
                    _ => json!({ "id": 0, "result": params }),
                };
                let acts = client.receive(Incoming::parse(message.to_string().as_bytes()));
                prop_assert!(acts.len() <= usize::from(kind == 0), "{message}: {acts:?}");
            }
        }
    }
}

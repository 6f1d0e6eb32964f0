//! The four wires, pure and over real sockets.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use linkspan_testkit::model::{Role, Turn};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::fake_server::{FakeServer, Reply, answer};
use super::transport::{HttpModel, ModelEndpoint};
use super::wire::{self, Target};
use super::{ModelError, ModelEvent, ModelRequest, StopReason, ToolSpec};
use crate::config::WireName;
use crate::message::{CallArguments, ChatMessage, ModelCall, ToolResult, Usage};

const WIRES: [WireName; 4] = [WireName::Anthropic, WireName::Openai, WireName::Gemini, WireName::Ollama];

fn tool(name: &str) -> ToolSpec {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    ToolSpec { name: name.to_owned(), description: "About it.".to_owned(), schema }
}

fn user(text: &str) -> ChatMessage {
    ChatMessage::User { text: text.to_owned(), attachments: Vec::new() }
}

fn call(id: &str, name: &str, arguments: Value, opaque: Option<&str>) -> ModelCall {
    let opaque = opaque.map(str::to_owned);
    ModelCall { id: id.to_owned(), name: name.to_owned(), arguments: CallArguments::Json(arguments), opaque }
}

fn result(call_id: &str, name: &str, text: &str, is_error: bool) -> ToolResult {
    let [call_id, name, text] = [call_id, name, text].map(str::to_owned);
    ToolResult { call_id, name, text, is_error, cancelled: false }
}

fn hello() -> ModelRequest {
    let tools = vec![tool("read_file"), tool("ide.open_file")];
    ModelRequest { system: "Be kind.".to_owned(), messages: vec![user("hi")], tools }
}

/// A conversation with everything in it.
fn long() -> ModelRequest {
    let calls = vec![
        call("c 1", "ide.open_file", json!({ "path": "a" }), Some("sig")),
        ModelCall {
            arguments: CallArguments::Broken("{\"pa".to_owned()),
            ..call("c2", "read_file", json!({}), None)
        },
    ];
    let results = vec![result("c 1", "ide.open_file", "", false), result("c2", "read_file", "broken", true)];
    let attached = ChatMessage::User { text: "and".to_owned(), attachments: vec!["FILE a".to_owned()] };
    let messages = vec![
        ChatMessage::Summary { text: "They met.".to_owned() },
        user("one"),
        ChatMessage::Assistant { text: "Let me. ".to_owned(), calls },
        ChatMessage::Tools { results },
        attached,
        ChatMessage::Assistant { text: String::new(), calls: Vec::new() },
        user(" "),
    ];
    ModelRequest { messages, ..hello() }
}

fn body(wire: WireName, request: &ModelRequest) -> Value {
    let target = Target {
        provider: "x",
        model: "gemini-3-pro",
        context_window: Some(4096),
        max_output_tokens: Some(9),
    };
    wire::request(wire, request, &target).body
}

fn decode(wire: WireName, pieces: impl IntoIterator<Item = Vec<u8>>) -> Vec<Result<ModelEvent, ModelError>> {
    let target = Target { provider: "x", model: "m", context_window: None, max_output_tokens: None };
    let mut decoder = wire::request(wire, &hello(), &target).decoder;
    let mut events: Vec<_> = pieces.into_iter().flat_map(|piece| decoder.feed(&piece)).collect();
    if !matches!(events.last(), Some(Ok(ModelEvent::Done(_)) | Err(_))) {
        events.extend(decoder.finish());
    }
    events
}

fn calls_of_the_model() -> [(&'static str, Value); 2] {
    [("read_file", json!({ "path": "ü\n" })), ("ide_open_file", json!({}))]
}

/// What every wire makes of the same answer; ids and signatures are their own.
fn expected(wire: WireName) -> Vec<ModelEvent> {
    let (ids, signature) = match wire {
        WireName::Anthropic => (["toolu_0", "toolu_1"], None),
        WireName::Openai => (["call_0", "call_1"], None),
        WireName::Gemini => (["", ""], Some("c2lnbmVk")),
        WireName::Ollama => (["", ""], None),
    };
    vec![
        ModelEvent::Text("Hel".to_owned()),
        ModelEvent::Text("lo ü.".to_owned()),
        ModelEvent::Call(call(ids[0], "read_file", json!({ "path": "ü\n" }), signature)),
        ModelEvent::Call(call(ids[1], "ide.open_file", json!({}), None)),
        ModelEvent::Usage(Usage { input: 100, output: 7 }),
        ModelEvent::Done(StopReason::End),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn an_answer_is_understood_however_its_bytes_arrive(size in 1..200usize) {
        for wire in WIRES {
            let text = answer(wire, &["Hel", "lo ü."], &calls_of_the_model());
            let events = decode(wire, text.as_bytes().chunks(size).map(<[u8]>::to_vec));
            let expected: Vec<_> = expected(wire).into_iter().map(Ok).collect();
            prop_assert_eq!(events, expected, "{:?}", wire);
        }
    }

    #[test]
    fn a_damaged_answer_ends_with_an_error_or_an_end_and_never_with_a_panic(at in 0..900usize, byte in any::<u8>(), cut in any::<bool>()) {
        for wire in WIRES {
            let mut bytes = answer(wire, &["Hel", "lo."], &calls_of_the_model()).into_bytes();
            let at = at % bytes.len();
            if cut { bytes.truncate(at) } else { bytes[at] = byte }
            let events = decode(wire, [bytes]);
            prop_assert!(matches!(events.last(), Some(Err(_) | Ok(ModelEvent::Done(_)))), "{wire:?} {events:?}");
            let ends = events.iter().filter(|event| matches!(event, Err(_) | Ok(ModelEvent::Done(_))));
            prop_assert_eq!(ends.count(), 1);
        }
    }
}

#[test]
fn arguments_that_are_not_an_object_are_passed_on_as_broken() {
    let stream = answer(WireName::Openai, &[], &[("read_file", json!([1]))]);
    let events = decode(WireName::Openai, [stream.into_bytes()]);
    assert!(
        matches!(&events[0], Ok(ModelEvent::Call(ModelCall { arguments: CallArguments::Broken(text), .. })) if text == "[1]")
    );
}

#[test]
fn a_stream_that_ends_early_or_reports_an_error_is_not_an_answer() {
    let of = |wire, text: &str| decode(wire, [text.as_bytes().to_vec()]).pop().unwrap();
    for wire in WIRES {
        let whole = answer(wire, &["Half an answer"], &[]);
        let (half, _) = whole.split_once(" answer").unwrap();
        let error = of(wire, half).unwrap_err();
        assert!(matches!(error, ModelError::Transient { .. }), "{wire:?} {error:?}");
    }
    let overloaded =
        "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let error = of(WireName::Anthropic, overloaded).unwrap_err();
    assert_eq!(error, ModelError::Transient { message: "Overloaded".to_owned(), retry_after: None });
    let wrong = "{\"error\":{\"message\":\"x\",\"type\":\"invalid_request_error\"}}\n";
    assert!(matches!(of(WireName::Ollama, wrong), Err(ModelError::Permanent { .. })));
}

#[test]
fn every_wire_has_its_own_ends() {
    for (wire, text, reason) in [
        (
            WireName::Anthropic,
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
            StopReason::Length,
        ),
        (
            WireName::Anthropic,
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\"}}\n\n",
            StopReason::Refusal,
        ),
        (
            WireName::Openai,
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n",
            StopReason::Length,
        ),
        (
            WireName::Openai,
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\n",
            StopReason::Refusal,
        ),
        (
            WireName::Gemini,
            "data: {\"candidates\":[{\"finishReason\":\"MAX_TOKENS\"}]}\n\n",
            StopReason::Length,
        ),
        (
            WireName::Gemini,
            "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n",
            StopReason::Refusal,
        ),
        (WireName::Ollama, "{\"done\":true,\"done_reason\":\"length\"}\n", StopReason::Length),
    ] {
        let end = decode(wire, [text.as_bytes().to_vec()]).pop().unwrap();
        assert_eq!(end, Ok(ModelEvent::Done(reason)), "{wire:?} {text}");
    }
}

#[test]
fn thoughts_are_told_from_the_answer() {
    for (wire, text) in [
        (
            WireName::Anthropic,
            "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"Hm\"}}\n\n",
        ),
        (WireName::Openai, "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"Hm\"}}]}\n\n"),
        (
            WireName::Gemini,
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hm\",\"thought\":true}]}}]}\n\n",
        ),
        (WireName::Ollama, "{\"message\":{\"thinking\":\"Hm\"}}\n"),
    ] {
        let first = decode(wire, [text.as_bytes().to_vec()]).remove(0);
        assert_eq!(first, Ok(ModelEvent::Thought("Hm".to_owned())), "{wire:?}");
    }
}

#[test]
fn calls_that_share_an_index_are_told_apart_by_their_ids() {
    let call =
        |id: &str| json!({ "index": 0, "id": id, "function": { "name": "read_file", "arguments": "{}" } });
    let delta = json!({ "choices": [{ "delta": { "tool_calls": [call("a"), call("b")] }, "finish_reason": "stop" }] });
    let events = decode(WireName::Openai, [format!("data: {delta}\n\n").into_bytes()]);
    let calls = events.iter().filter(|event| matches!(event, Ok(ModelEvent::Call(_))));
    assert_eq!(calls.count(), 2);
}

#[test]
fn anthropics_body_alternates_roles_and_answers_each_call() {
    let body = body(WireName::Anthropic, &long());
    let roles: Vec<_> = body["messages"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    let parts = |message: usize| body["messages"][message]["content"].as_array().unwrap().clone();
    assert_eq!(parts(1)[0], json!({ "type": "text", "text": "Let me." }));
    let opened =
        json!({ "type": "tool_use", "id": "c_1", "name": "ide_open_file", "input": { "path": "a" } });
    assert_eq!(parts(1)[1], opened);
    assert_eq!(parts(1)[2]["input"], json!({ "invalid_json": "{\"pa" }));
    let result =
        json!({ "type": "tool_result", "tool_use_id": "c_1", "content": "(no output)", "is_error": false });
    assert_eq!(parts(2)[0], result);
    assert_eq!(parts(2)[1]["is_error"], json!(true));
    let texts: Vec<_> = parts(2).iter().filter_map(|part| part["text"].as_str().map(str::to_owned)).collect();
    assert_eq!(texts, ["FILE a", "and", "(empty)"]);
    assert_eq!(parts(2)[4]["cache_control"], json!({ "type": "ephemeral" }));
    assert_eq!(body["tools"][1]["name"], "ide_open_file");
    assert_eq!((&body["max_tokens"], &body["system"][0]["text"]), (&json!(9), &json!("Be kind.")));
}

#[test]
fn openais_body_has_a_message_for_each_result() {
    let body = body(WireName::Openai, &long());
    let roles: Vec<_> = body["messages"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["system", "user", "user", "assistant", "tool", "tool", "user", "user"]);
    let calls = &body["messages"][3]["tool_calls"];
    assert_eq!(calls[0]["function"], json!({ "name": "ide_open_file", "arguments": "{\"path\":\"a\"}" }));
    assert_eq!(
        body["messages"][4],
        json!({ "role": "tool", "tool_call_id": "c 1", "content": "(no output)" })
    );
    assert_eq!(body["stream_options"], json!({ "include_usage": true }));
    assert_eq!(body["max_tokens"], 9);
}

#[test]
fn geminis_body_returns_the_signature_and_makes_one_up_for_a_foreign_call() {
    let body = body(WireName::Gemini, &long());
    let roles: Vec<_> = body["contents"].as_array().unwrap().iter().map(|content| &content["role"]).collect();
    assert_eq!(roles, ["user", "model", "user"]);
    let parts = &body["contents"][1]["parts"];
    assert_eq!(parts[1]["functionCall"], json!({ "name": "ide_open_file", "args": { "path": "a" } }));
    assert_eq!(parts[1]["thoughtSignature"], "sig");
    assert_eq!(parts[2].get("thoughtSignature"), None);
    let response = &body["contents"][2]["parts"][1]["functionResponse"];
    assert_eq!(*response, json!({ "name": "read_file", "response": { "error": "broken" } }));
    assert_eq!(body["tools"][0]["functionDeclarations"][1]["name"], "ide_open_file");
    assert_eq!(body["generationConfig"], json!({ "maxOutputTokens": 9 }));
    let foreign =
        ChatMessage::Assistant { text: String::new(), calls: vec![call("a", "read_file", json!({}), None)] };
    let body = self::body(WireName::Gemini, &ModelRequest { messages: vec![foreign], ..hello() });
    let signature = &body["contents"][0]["parts"][0]["thoughtSignature"];
    assert_eq!(signature, "skip_thought_signature_validator");
}

#[test]
fn ollamas_body_sets_the_size_of_its_context() {
    let body = body(WireName::Ollama, &long());
    assert_eq!(body["options"], json!({ "num_ctx": 4096, "num_predict": 9 }));
    let calls = &body["messages"][3]["tool_calls"];
    assert_eq!(calls[0]["function"], json!({ "name": "ide_open_file", "arguments": { "path": "a" } }));
    let result = json!({ "role": "tool", "tool_name": "ide_open_file", "content": "(no output)" });
    assert_eq!(body["messages"][4], result);
}

fn model(wire: WireName, base_url: &str) -> HttpModel {
    let endpoint = ModelEndpoint {
        provider: "acme".to_owned(),
        wire,
        base_url: base_url.to_owned(),
        model: "m-1".to_owned(),
        key: Some(("ACME_KEY".to_owned(), "s3cret".to_owned())),
        context_window: None,
        max_output_tokens: None,
        connect: Duration::from_secs(5),
        first_byte: Duration::from_millis(500),
        idle: Duration::from_millis(500),
    };
    HttpModel::new(endpoint).unwrap()
}

fn ask(model: &HttpModel, request: &ModelRequest) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let events = Mutex::new(Vec::new());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = runtime.block_on(model.answer(request, &|event| events.lock().unwrap().push(event)));
    (events.into_inner().unwrap(), result)
}

fn fails(reply: Reply) -> ModelError {
    let server = FakeServer::start([reply]);
    ask(&model(WireName::Openai, &server.url), &hello()).1.unwrap_err()
}

#[test]
fn every_wire_is_spoken_over_a_socket_with_its_path_and_key() {
    for (wire, start, key) in [
        (WireName::Anthropic, "POST /v1/messages HTTP/1.1\n", "x-api-key: s3cret\n"),
        (WireName::Openai, "POST /chat/completions HTTP/1.1\n", "authorization: Bearer s3cret\n"),
        (
            WireName::Gemini,
            "POST /models/m-1:streamGenerateContent?alt=sse HTTP/1.1\n",
            "x-goog-api-key: s3cret\n",
        ),
        (WireName::Ollama, "POST /api/chat HTTP/1.1\n", "authorization: Bearer s3cret\n"),
    ] {
        let text = answer(wire, &["Hel", "lo ü."], &calls_of_the_model());
        let server = FakeServer::start([Reply::Stream(text, 50)]);
        let (events, result) = ask(&model(wire, &server.url), &hello());
        assert_eq!((events, result), (expected(wire), Ok(())));
        let received = server.received().remove(0);
        assert!(received.head.starts_with(start) && received.head.contains(key), "{}", received.head);
        assert!(received.body.to_string().contains("Be kind."));
    }
}

#[test]
fn a_server_that_refuses_is_explained() {
    let error = fails(Reply::Status(401, "", "{\"error\":{\"message\":\"bad key\"}}".to_owned()));
    assert!(
        matches!(&error, ModelError::Permanent { message, .. } if message.contains("ACME_KEY")),
        "{error:?}"
    );
    let error = fails(Reply::Status(429, "retry-after: 3\r\n", "slow down".to_owned()));
    let message = "acme answered 429: slow down".to_owned();
    assert_eq!(error, ModelError::Transient { message, retry_after: Some(Duration::from_secs(3)) });
    let error = fails(Reply::Status(302, "location: /elsewhere\r\n", String::new()));
    assert!(error.to_string().contains("not followed"), "{error}");
}

#[test]
fn a_server_that_breaks_off_stalls_or_is_silent_is_worth_another_try() {
    let half = answer(WireName::Openai, &["Half"], &[]);
    let (half, _) = half.split_once("[DONE]").unwrap();
    let half = half.replace("\"stop\"", "null");
    let cases = [
        (Reply::Broken(half.clone()), "in the middle of its answer"),
        (Reply::Stalled(half, 20_000), "sent nothing for"),
        (Reply::Silent(20_000), "sent nothing for"),
        (Reply::Stream("nonsense".to_owned(), 100), "in the middle of its answer"),
        (Reply::Stream("data: {\n\n".to_owned(), 100), "not JSON"),
    ];
    for (reply, expected) in cases {
        let before = Instant::now();
        let error = fails(reply);
        assert!(before.elapsed() < Duration::from_secs(10));
        let ModelError::Transient { message, .. } = error else { panic!("{error:?}") };
        assert!(message.contains(expected), "{message}");
    }
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (_, result) = ask(&model(WireName::Ollama, &format!("http://{closed}")), &hello());
    let message = result.unwrap_err().to_string();
    assert!(message.contains("cannot be reached") && message.contains("ollama serve"), "{message}");
}

#[test]
fn a_server_that_speaks_no_tls_is_an_error_and_not_a_panic() {
    let server = FakeServer::start([Reply::Silent(0)]);
    let url = server.url.replace("http://", "https://");
    let (_, result) = ask(&model(WireName::Openai, &url), &hello());
    let message = result.unwrap_err().to_string();
    assert!(message.contains("cannot be reached"), "{message}");
}

#[test]
fn an_answer_without_end_is_cut_off() {
    let error = fails(Reply::Flood);
    assert!(
        matches!(&error, ModelError::Permanent { message, .. } if message.contains("more than 10 MB")),
        "{error:?}"
    );
}

#[test]
fn the_servers_that_real_agents_are_tested_with_understand_us() {
    let wires = [
        (WireName::Anthropic, ""),
        (WireName::Openai, "/v1"),
        (WireName::Gemini, "/v1beta"),
        (WireName::Ollama, ""),
    ];
    for (wire, path) in wires {
        let server = linkspan_testkit::model::Model::start([
            Turn::calls("ide_open_file", json!({ "path": "a" })),
            Turn::says("All done."),
        ]);
        let model = model(wire, &format!("{}{path}", server.url()));
        // By these tools they know that a request is not one for a title.
        let tools = vec![tool("ide.open_file"), tool("edit_file")];
        let hello = ModelRequest { tools, ..hello() };
        let (events, result) = ask(&model, &hello);
        assert_eq!(result, Ok(()), "{wire:?}");
        let called = events.iter().find_map(|event| match event {
            ModelEvent::Call(call) => Some(call.clone()),
            _ => None,
        });
        let mut called = called.unwrap_or_else(|| panic!("{wire:?} {events:?}"));
        assert_eq!(
            (called.name.as_str(), &called.arguments),
            ("ide.open_file", &CallArguments::Json(json!({ "path": "a" })))
        );
        if called.id.is_empty() {
            called.id = "minted".to_owned();
        }
        let answered = result_of(&called);
        let messages =
            vec![user("hi"), ChatMessage::Assistant { text: String::new(), calls: vec![called] }, answered];
        let (events, result) = ask(&model, &ModelRequest { messages, ..hello });
        assert_eq!(result, Ok(()));
        let text: String = events
            .iter()
            .filter_map(|event| match event {
                ModelEvent::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(text, "All done.");
        assert_eq!(server.result(0).text, "opened", "{wire:?}");
        assert!(server.told().iter().any(|told| told.role == Role::User && told.text == "hi"), "{wire:?}");
    }
}

fn result_of(called: &ModelCall) -> ChatMessage {
    ChatMessage::Tools { results: vec![result(&called.id, &called.name, "opened", false)] }
}

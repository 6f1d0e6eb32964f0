//! Every route and every attack, over real sockets, against a host that does what the test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Instant;

use linkspan_client::confirm::TerminalAnswer;
use linkspan_testkit::raw_http::{self, Request as Raw};
use serde_json::{Value, json};

use super::*;
use crate::conversation::{Answer, Question, QuestionId, TurnEnd, TurnEvent};
use crate::host::double::HostDouble;
use crate::host::{AgentId, AgentSetting, HostCommand, Occurred, SessionSummary};
use crate::message::{CallArguments, ModelCall, ToolResult};

struct EngineFixture {
    host: HostDouble,
    port: u16,
}

fn engine_with(token: Option<&str>) -> EngineFixture {
    engine_within(DEADLINES, token)
}

fn engine_within(deadlines: SendingDeadlines, token: Option<&str>) -> EngineFixture {
    let host = HostDouble::start();
    let (handle, token) = (host.handle.clone(), token.map(str::to_owned));
    let (tell, told) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = listen(0).await.unwrap();
            tell.send(listener.local_addr().unwrap().port()).unwrap();
            let options = EngineOptions { token, settings: AgentSettings::default() };
            serve_within(deadlines, handle, IdeCallback::default(), listener, options).await.unwrap();
        });
    });
    EngineFixture { host, port: told.recv().unwrap() }
}

fn engine() -> EngineFixture {
    engine_with(None)
}

impl EngineFixture {
    fn lines(&self) -> Vec<String> {
        vec![format!("Host: 127.0.0.1:{}", self.port), "Connection: close".into()]
    }

    fn raw_get(&self, path: &str) -> Raw {
        Raw::get(self.port, path, &self.lines())
    }

    fn raw_post(&self, path: &str, body: &Value) -> Raw {
        Raw::post(self.port, path, &self.lines(), body.to_string())
    }

    fn get(&self, path: &str) -> (u16, Value) {
        read(&self.raw_get(path).send())
    }

    fn post(&self, path: &str, body: Value) -> (u16, Value) {
        read(&self.raw_post(path, &body).send())
    }

    /// Sends a request that the host has to answer in the meantime.
    fn post_while(&self, path: &str, body: Value, host: impl FnOnce(HostCommand)) -> (u16, Value) {
        let request = self.raw_post(path, &body);
        let sending = thread::spawn(move || request.send());
        host(self.host.next());
        read(&sending.join().unwrap())
    }

    fn chat(&self, body: Value) -> Stream {
        self.stream("/chat", body)
    }

    fn stream(&self, path: &str, body: Value) -> Stream {
        let mut socket = raw_http::connect(self.port);
        socket.write_all(self.raw_post(path, &body).text().as_bytes()).unwrap();
        let mut lines = BufReader::new(socket.try_clone().unwrap());
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(lines.read_line(&mut head).unwrap(), 0, "{head}");
        }
        Stream { socket, lines, head }
    }
}

fn read(answer: &str) -> (u16, Value) {
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    (raw_http::status(answer), serde_json::from_str(body).unwrap_or(Value::Null))
}

struct Stream {
    socket: TcpStream,
    lines: BufReader<TcpStream>,
    head: String,
}

impl Stream {
    /// The next event; `None` at the end.
    fn event(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(event) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(event).unwrap());
            }
        }
    }

    fn rest(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.event()).collect()
    }
}

fn call() -> ModelCall {
    let arguments = CallArguments::Json(json!({ "path": "a.rs" }));
    ModelCall { id: "c1".into(), name: "read_file".into(), arguments, opaque: None }
}

fn result(text: &str, is_error: bool) -> ToolResult {
    ToolResult {
        call_id: "c1".into(),
        name: "read_file".into(),
        text: text.into(),
        is_error,
        cancelled: false,
    }
}

#[test]
fn what_can_be_read_is_read_in_ppxais_form() {
    let engine = engine();
    let (status, health) = engine.get("/health");
    assert_eq!((status, &health["status"], &health["engine"]), (200, &json!("ok"), &json!(true)));
    assert_eq!(
        engine.get("/status").1,
        json!({ "provider": "script", "model": "demo", "tools_enabled": true, "auto_inject_context": true,
            "tool_count": 1, "has_api_key": true, "message_count": 2, "session": "s1" })
    );
    let providers = engine.get("/providers").1;
    assert_eq!(providers["current"], "script");
    assert_eq!(
        providers["providers"][1],
        json!({ "id": "anthropic", "name": "ANTHROPIC", "has_api_key": false, "default_model": "demo",
            "capabilities": { "web_search": false, "citations": false, "streaming": true } })
    );
    assert_eq!(
        engine.get("/models").1,
        json!({ "current": "demo", "provider": "script", "models": [
            { "id": "demo", "name": "demo", "description": "" },
            { "id": "other", "name": "other", "description": "" }] })
    );
    assert_eq!(
        engine.get("/tools").1,
        json!({ "tools": [{ "name": "read_file", "description": "Reads." }], "enabled": true })
    );
    assert_eq!(
        engine.get("/usage").1,
        json!({ "total_tokens": 15, "prompt_tokens": 10, "completion_tokens": 5, "estimated_cost": 0.0 })
    );
    let saved = SessionSummary {
        name: "old".into(),
        created_at_ms: 0,
        model: "openai/org/m".into(),
        messages: 4,
        cwd: "/w".into(),
    };
    engine.host.answers.lock().unwrap().sessions.push(saved);
    assert_eq!(
        engine.get("/sessions").1["sessions"][0],
        json!({ "name": "old", "created_at": "1970-01-01T00:00:00Z", "provider": "openai", "model": "org/m",
            "message_count": 4 })
    );
}

#[test]
fn what_can_be_set_is_set() {
    let engine = engine();
    assert_eq!(
        engine.post("/models", json!({ "model": "other" })),
        (200, json!({ "model": "other", "provider": "script" }))
    );
    assert_eq!(
        engine.post("/providers", json!({ "provider": "script", "model": "demo" })),
        (200, json!({ "model": "demo", "provider": "script" }))
    );
    let set = |expect: AgentSetting| {
        move |command| match command {
            HostCommand::Set { setting, reply, .. } => {
                assert_eq!(setting, expect);
                reply.send(Ok(())).unwrap();
            }
            other => panic!("{other:?}"),
        }
    };
    let (status, body) =
        engine.post_while("/tools", json!({ "enabled": false }), set(AgentSetting::Tools(false)));
    assert_eq!((status, body), (200, json!({ "enabled": false })));
    assert_eq!(engine.get("/tools").1["enabled"], false);
    let auto = json!({ "enabled": false });
    let (_, body) = engine.post_while("/context/auto_inject", auto, set(AgentSetting::InjectContext(false)));
    assert_eq!(body, json!({ "enabled": false, "success": true }));
    assert_eq!(engine.get("/context/auto_inject").1, json!({ "enabled": false }));
    let rounds = json!({ "setting": "max_iterations", "value": 7 });
    let (_, body) = engine.post_while("/tools/config", rounds, set(AgentSetting::MaxRounds(7)));
    assert_eq!(body, json!({ "setting": "max_iterations", "value": 7, "success": true }));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let cwd = set(AgentSetting::Cwd(folder.path().into()));
    let (_, body) = engine.post_while("/context/working_dir", json!({ "path": path }), cwd);
    assert_eq!(body, json!({ "path": path, "success": true }));
}

#[test]
fn wrong_values_are_errors_with_a_detail() {
    let engine = engine();
    for (path, body) in [
        ("/models", json!({ "model": "none" })),
        ("/models", json!({})),
        ("/providers", json!({ "provider": "none" })),
        ("/tools", json!({})),
        ("/tools/config", json!({ "setting": "no_such", "value": 1 })),
        ("/tools/config", json!({ "setting": "max_iterations", "value": 0 })),
        ("/tools/config", json!({ "setting": "max_iterations", "value": "7" })),
        ("/context/working_dir", json!({ "path": "relative" })),
        ("/context/working_dir", json!({ "path": "/no/such/folder" })),
        ("/context/auto_inject", json!({ "enabled": 1 })),
        ("/chat", json!({ "message": "  " })),
        ("/chat", json!({ "message": "x", "session": "../x" })),
        ("/chat", json!({ "message": "x", "model": "none" })),
        ("/coding_task", json!({ "message": "x", "task_type": "dance" })),
        ("/register-ide-callback", json!({ "callback_url": "http://evil.example/ide" })),
        ("/register-ide-callback", json!({ "callback_url": "http://169.254.169.254/ide" })),
    ] {
        let (status, answer) = engine.post(path, body.clone());
        assert_eq!(status, 400, "{path} {body}");
        assert!(
            answer["detail"].as_str().is_some_and(|detail| !detail.is_empty()),
            "{path} {body}: {answer}"
        );
    }
}

#[test]
fn sessions_are_saved_loaded_and_cleared() {
    let engine = engine();
    let path = "/sessions/save?name=my%20work";
    let saved = engine.post_while(path, json!({}), |command| match command {
        HostCommand::Save { name, reply, .. } => reply.send(Ok(name.unwrap())).unwrap(),
        other => panic!("{other:?}"),
    });
    assert_eq!(saved, (200, json!({ "name": "my work" })));
    let loaded = engine.post_while("/sessions/load/my%20work", json!({}), |command| {
        assert!(matches!(command, HostCommand::Close { agent: AgentId(1) }), "{command:?}");
    });
    assert_eq!(loaded, (200, json!({ "name": "my work", "loaded": true })));
    assert_eq!(engine.get("/status").1["session"], "my work");
    engine.host.answers.lock().unwrap().refuses = Some("there is no session x".into());
    let (status, answer) = engine.post("/sessions/load/x", json!({}));
    assert_eq!((status, answer), (404, json!({ "detail": "there is no session x" })));
    // A client that sends no body at all.
    let mut lines = engine.lines();
    lines.push("Content-Length: 0".into());
    let bare = Raw::get(engine.port, "", &lines).asking("POST /sessions/clear HTTP/1.1");
    let sending = thread::spawn(move || bare.send());
    let HostCommand::Clear { reply, .. } = engine.host.next() else { panic!("not cleared") };
    reply.send(Ok(())).unwrap();
    assert_eq!(read(&sending.join().unwrap()), (200, json!({ "cleared": true })));
}

#[test]
fn a_turn_is_streamed_with_every_kind_of_event() {
    let engine = engine();
    let mut stream = engine.chat(json!({ "message": "hello" }));
    assert!(stream.head.to_lowercase().contains("content-type: text/event-stream"), "{}", stream.head);
    assert!(!stream.head.to_lowercase().contains("access-control"), "{}", stream.head);
    let (agent, text) = engine.host.prompted();
    assert_eq!(text, "hello");
    let show = |shown| engine.host.show(agent, shown);
    show(TurnEvent::Started);
    engine.host.emit(agent, Occurred::ContextInjected("2 tabs".into()));
    engine.host.show(AgentId(77), TurnEvent::Text("of another conversation".into()));
    show(TurnEvent::Thought("hm".into()));
    show(TurnEvent::Text("I ".into()));
    show(TurnEvent::Call(call()));
    show(TurnEvent::Result(result(&"x".repeat(3000), false)));
    show(TurnEvent::Result(result("no such file", true)));
    show(TurnEvent::Info("round 2".into()));
    show(TurnEvent::Text("see".into()));
    engine.host.end(agent, TurnEnd::Done, "see");
    let id = json!({ "id": "c1" });
    assert_eq!(
        stream.rest(),
        [
            json!({ "type": "stream_start", "data": { "model": "demo" } }),
            json!({ "type": "context_injected", "data": "2 tabs" }),
            json!({ "type": "info", "data": "hm", "metadata": { "kind": "thought" } }),
            json!({ "type": "stream_chunk", "data": "I " }),
            json!({ "type": "tool_call", "data": { "tool": "read_file", "arguments": { "path": "a.rs" } }, "metadata": id }),
            json!({ "type": "tool_result", "data": { "tool": "read_file", "result": "x".repeat(2000) }, "metadata": id }),
            json!({ "type": "tool_error", "data": { "tool": "read_file", "error": "no such file" }, "metadata": id }),
            json!({ "type": "info", "data": "round 2" }),
            json!({ "type": "stream_chunk", "data": "see" }),
            json!({ "type": "stream_end", "data": "I see", "metadata": { "end": "done" } }),
        ]
    );
}

#[test]
fn an_error_ends_the_stream() {
    let engine = engine();
    let mut stream =
        engine.stream("/coding_task", json!({ "message": "File: a.rs", "task_type": "explain" }));
    let (agent, text) = engine.host.prompted();
    assert!(text.starts_with("Explain") && text.ends_with("File: a.rs"), "{text}");
    engine.host.show(agent, TurnEvent::Error("the key is wrong".into()));
    engine.host.end(agent, TurnEnd::Failed, "");
    assert_eq!(stream.rest(), [json!({ "type": "error", "data": "the key is wrong" })]);
}

#[test]
fn questions_are_declined_with_a_reason_and_changes_are_left_to_the_editor() {
    let engine = engine();
    let mut stream = engine.chat(json!({ "message": "hello" }));
    let (agent, _) = engine.host.prompted();
    let ask = Question::Permission { call: call(), why: "because".into() };
    engine.host.emit(agent, Occurred::Ask { question: QuestionId(3), ask });
    let HostCommand::Answer { question: QuestionId(3), answer: Answer::NotAsked { why: reason }, .. } =
        engine.host.next()
    else {
        panic!("no answer")
    };
    assert_eq!(stream.event().unwrap(), json!({ "type": "info", "data": reason }));
    let question = linkspan_client::confirm::ConfirmQuestion::of_call("x", &json!({}), "/".as_ref()).unwrap();
    let asked = crate::host::ChangeQuestion {
        change: crate::host::ChangeId(1),
        call_id: "c1".into(),
        question: Arc::new(question),
    };
    engine.host.emit(agent, Occurred::AskChange(asked));
    let HostCommand::AnswerChange { answer, .. } = engine.host.next() else { panic!("no answer") };
    assert!(matches!(answer, TerminalAnswer::Unavailable { .. }));
}

#[test]
fn a_client_that_leaves_cancels_its_turn_and_the_next_turn_waits_for_that() {
    let engine = engine();
    let stream = engine.chat(json!({ "message": "one" }));
    let (agent, _) = engine.host.prompted();
    let (status, answer) = engine.post("/chat", json!({ "message": "two" }));
    assert_eq!(status, 409, "{answer}");
    assert_eq!(engine.post("/sessions/clear", json!({})).0, 409);
    drop(stream.lines);
    drop(stream.socket);
    assert!(matches!(engine.host.next(), HostCommand::Cancel { agent: AgentId(1) }));
    assert_eq!(engine.post("/chat", json!({ "message": "two" })).0, 409);
    engine.host.end(agent, TurnEnd::Cancelled, "");
    linkspan_testkit::eventually("the next turn starts", || {
        let mut socket = raw_http::connect(engine.port);
        socket.write_all(engine.raw_post("/chat", &json!({ "message": "two" })).text().as_bytes()).unwrap();
        let mut head = [0; 12];
        socket.read_exact(&mut head).unwrap();
        (&head == b"HTTP/1.1 200").then_some(())
    });
}

#[test]
fn each_session_is_a_conversation_of_its_own() {
    let engine = engine();
    let mut one = engine.chat(json!({ "message": "a" }));
    let (first, _) = engine.host.prompted();
    let mut two = engine.chat(json!({ "message": "b", "session": "two" }));
    let (second, _) = engine.host.prompted();
    assert_ne!(first, second);
    assert_eq!(engine.host.answers.lock().unwrap().settings[1].name.as_deref(), Some("two"));
    engine.host.show(second, TurnEvent::Text("for two".into()));
    engine.host.show(first, TurnEvent::Text("for one".into()));
    assert_eq!(one.event().unwrap()["data"], "for one");
    assert_eq!(two.event().unwrap()["data"], "for two");
    assert_eq!(engine.get("/status?session=two").1["session"], "s2");
}

#[test]
fn a_token_of_the_model_is_sent_at_once() {
    let engine = engine();
    let mut stream = engine.chat(json!({ "message": "hello" }));
    let (agent, _) = engine.host.prompted();
    engine.host.show(agent, TurnEvent::Started);
    stream.event().unwrap();
    let mut times: Vec<_> = (0..200)
        .map(|number| {
            let sent = Instant::now();
            engine.host.show(agent, TurnEvent::Text(format!("{number}")));
            assert_eq!(stream.event().unwrap()["data"], format!("{number}"));
            sent.elapsed()
        })
        .collect();
    times.sort_unstable();
    // On a busy machine the slowest are not ours. Anything that buffers takes 40 ms for each.
    assert!(times[100] < Duration::from_millis(10), "{:?}", times[100]);
}

#[test]
fn a_callback_is_registered() {
    let engine = engine();
    let url = "http://127.0.0.1:9/ide/execute";
    let (status, answer) =
        engine.post("/register-ide-callback", json!({ "callback_url": url, "capabilities": ["git"] }));
    assert_eq!(
        (status, answer),
        (200, json!({ "registered": true, "callback_url": url, "capabilities": ["git"] }))
    );
}

#[test]
fn every_stranger_is_refused_before_anything_happens() {
    let engine = engine();
    let chat = engine.raw_post("/chat", &json!({ "message": "x" }));
    let port = engine.port;
    for (what, request, expect) in [
        ("another host", chat.with("Host: evil.example"), 421),
        ("another port", chat.with("Host: 127.0.0.1:1"), 421),
        ("no host", chat.without("Host"), 421),
        ("two hosts", chat.and(format!("Host: 127.0.0.1:{port}")), 421),
        ("a proxy", chat.asking(&format!("POST http://127.0.0.1:{port}/chat HTTP/1.1")), 421),
        ("a page", chat.and("Origin: https://evil.example"), 403),
        ("a file", chat.and("Origin: null"), 403),
        ("our own page", chat.and(format!("Origin: http://127.0.0.1:{port}")), 403),
        ("a picture", chat.and("Sec-Fetch-Site: cross-site"), 403),
        ("a form", chat.with("Content-Type: text/plain"), 415),
        ("an undeclared body", chat.without("Content-Type"), 415),
        ("no route", chat.asking("POST /chat2 HTTP/1.1"), 404),
        ("a preflight", chat.asking("OPTIONS /chat HTTP/1.1"), 405),
        ("another method", chat.asking("DELETE /sessions HTTP/1.1"), 405),
    ] {
        let answer = request.send();
        let (status, body) = read(&answer);
        assert_eq!(status, expect, "{what}: {answer}");
        assert!(body["detail"].is_string(), "{what}: {answer}");
        assert!(!answer.to_lowercase().contains("access-control"), "{what}: {answer}");
    }
    assert!(engine.host.next_within(Duration::from_millis(50)).is_none());
    assert!(engine.host.answers.lock().unwrap().agents.is_empty(), "a stranger started an agent");
}

mod as_root {
    use super::*;

    #[test]
    fn another_user_of_the_machine_is_refused() {
        let engine = engine();
        let answer = raw_http::exchange_as_another_user(engine.port, &engine.raw_get("/status").text());
        assert_eq!(read(&answer).0, 403, "{answer}");
    }
}

#[test]
fn a_token_that_is_set_is_required_on_each_route() {
    let engine = engine_with(Some("secret"));
    assert_eq!(engine.get("/health").0, 401);
    assert_eq!(engine.post("/chat", json!({ "message": "x" })).0, 401);
    let wrong = engine.raw_get("/status").and("x-ppxai-token: wrong").send();
    assert_eq!(read(&wrong).0, 401);
    let right = engine.raw_get("/status").and("x-ppxai-token: secret").send();
    assert_eq!(read(&right).0, 200);
}

#[test]
fn what_is_too_large_or_broken_is_refused() {
    let engine = engine();
    let large = json!({ "message": "x".repeat(BODY_BYTES) });
    assert_eq!(engine.post("/chat", large).0, 413);
    for body in ["{", "[1]", "{\"message\":", "\u{0}", "nul"] {
        let answer = Raw::post(engine.port, "/chat", &engine.lines(), body).send();
        assert_eq!(read(&answer).0, 400, "{body}: {answer}");
    }
    let head = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "x".repeat(HEAD_BYTES * 2));
    let answer = raw_http::exchange(engine.port, &head);
    assert!(matches!(raw_http::status(&answer), 414 | 431), "{answer}");
    let many: Vec<_> = (0..200).map(|number| format!("X-{number}: 1")).collect();
    let many = many.iter().fold(engine.raw_get("/status"), |request, line| request.and(line));
    assert_eq!(raw_http::status(&many.send()), 431);
    // After all that it still works.
    assert_eq!(engine.get("/health").0, 200);
}

#[test]
fn a_client_that_sends_slowly_or_nothing_is_not_waited_for() {
    let short = Duration::from_millis(200);
    let engine = engine_within(SendingDeadlines { head: short, body: short }, None);
    let whole = engine.raw_post("/chat", &json!({ "message": "x" })).text();
    for (what, part, expect) in [
        ("nothing", "", 0),
        ("half a head", "POST /chat HTTP/1.1\r\nHost: ", 0),
        ("half a body", whole.split_at(whole.len() - 3).0, 408),
    ] {
        let start = Instant::now();
        let mut socket = raw_http::connect(engine.port);
        socket.write_all(part.as_bytes()).unwrap();
        let answer = raw_http::answer(&mut socket);
        let status = raw_http::status(&answer);
        assert!(status == expect || (expect == 0 && status == 408), "{what}: {answer}");
        assert!(start.elapsed() < Duration::from_secs(10), "{what}");
    }
    assert!(engine.host.next_within(Duration::from_millis(50)).is_none());
}

#[test]
fn an_engine_whose_agent_ended_says_so() {
    let engine = engine();
    let EngineFixture { host, port } = engine;
    drop(host.handle);
    // The double ends with its last handle, which the engine itself has; so a port without a host is made here.
    let (commands, received) = tokio::sync::mpsc::unbounded_channel();
    drop(received);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let conversations = Conversations::new(HostHandle::new(commands), AgentSettings::default());
    let problem = runtime.block_on(conversations.get(None)).unwrap_err();
    assert_eq!(problem.status(), StatusCode::SERVICE_UNAVAILABLE, "{port}");
}

#[test]
fn a_port_that_is_taken_is_named() {
    let engine = engine();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = runtime.block_on(listen(engine.port)).unwrap_err();
    assert!(error.contains(&engine.port.to_string()) && error.contains("--port"), "{error}");
}

//! What belongs to a message besides its words: pictures, and the names of files that it may mean.

use super::*;
use crate::core::contract::{AgentJob, JobOutput};

const DOT: &str = "iVBORw0KGgo=";

impl CoreHarness {
    /// A conversation whose agent says whether it takes pictures.
    fn chat_with_pictures(&mut self, takes: bool) -> AgentId {
        self.start_chat();
        self.allow_all();
        let agent = self.children.last().unwrap().0;
        let capabilities = json!({ "promptCapabilities": { "image": takes } });
        self.replies(agent, "initialize", json!({ "protocolVersion": 1, "agentCapabilities": capabilities }));
        self.replies(agent, "session/new", json!({ "sessionId": "s1" }));
        agent
    }

    fn shows(&mut self, picture: Value) -> Value {
        self.chat("chat/prompt", json!({ "chat": "t1", "text": "look", "pictures": [picture] }))
    }

    fn files(&mut self, words: &str) -> i64 {
        self.request(READER, "chat/files", json!({ "folder": "/ws", "words": words }))
    }

    fn finds(&mut self, names: &[&str]) {
        let (ticket, _, _) = self.jobs.pop().unwrap();
        let json = json!(names).to_string();
        self.event(Event::JobDone { ticket, result: Ok(JobOutput::Data { json, truncated: false }) });
    }
}

fn picture(mime_type: &str, data: &str) -> Value {
    json!({ "name": "a.png", "mimeType": mime_type, "data": data })
}

#[test]
fn a_picture_reaches_an_agent_that_takes_pictures_and_stays_in_the_conversation() {
    let mut hub = hub();
    let agent = hub.chat_with_pictures(true);
    hub.shows(picture("image/png", DOT));
    let prompt = hub.told(agent, "session/prompt").unwrap()["params"]["prompt"].clone();
    assert_eq!(prompt[1], json!({ "type": "image", "mimeType": "image/png", "data": DOT }), "{prompt}");
    assert_eq!(hub.items()[0]["pictures"][0]["data"], DOT);
    assert_eq!(hub.chat("chat/list", json!({}))["result"]["chats"][0]["pictures"], true);
}

#[test]
fn an_agent_that_takes_no_pictures_gets_the_words_and_the_user_is_told() {
    let mut hub = hub();
    let agent = hub.chat_with_pictures(false);
    hub.shows(picture("image/png", DOT));
    let prompt = hub.told(agent, "session/prompt").unwrap()["params"]["prompt"].clone();
    assert_eq!(prompt, json!([{ "type": "text", "text": "look" }]));
    assert!(hub.items()[1]["text"].as_str().unwrap().contains("takes no pictures"), "{:?}", hub.items());
}

#[test]
fn what_is_no_picture_or_too_large_is_refused() {
    let mut hub = hub();
    hub.chat_with_pictures(true);
    let large = "A".repeat(3 * 1024 * 1024 + 1);
    for bad in [
        picture("image/svg+xml", DOT),
        picture("image/png", ""),
        picture("image/png", "<script>"),
        picture("image/png", &large),
    ] {
        let answer = hub.shows(bad);
        assert!(answer["error"]["message"].as_str().unwrap().contains("a picture must be"), "{answer}");
    }
    let many = vec![picture("image/png", DOT); 9];
    let answer = hub.chat("chat/prompt", json!({ "chat": "t1", "text": "look", "pictures": many }));
    assert!(answer["error"].is_object(), "{answer}");
    assert!(hub.items().is_empty());
}

#[test]
fn names_of_files_are_searched_in_the_folder_beside_what_the_editor_has_selected() {
    let mut hub = hub();
    let selected = json!({ "path": "/ws/a.rs", "text": "x", "isEmpty": false,
        "range": { "start": { "line": 2, "character": 0 }, "end": { "line": 4, "character": 0 } } });
    hub.notify(EDITOR, "selection/changed", json!({ "selection": selected }));
    let id = hub.files("Ma/r");
    let (_, job, _) = hub.jobs.last().unwrap();
    let AgentJob::Workspace { workspace, request } = job else { panic!("{job:?}") };
    assert_eq!(workspace.folders, [std::path::PathBuf::from("/ws")]);
    assert!(format!("{request:?}").contains("ignored: false"), "{request:?}");
    hub.finds(&["src/main.rs"]);
    let answer = hub.response_to(READER, id).unwrap()["result"].clone();
    let selection = json!({ "path": "/ws/a.rs", "firstLine": 3, "lastLine": 4 });
    assert_eq!(answer, json!({ "paths": ["/ws/src/main.rs"], "selection": selection }));
}

#[test]
fn a_newer_search_ends_the_one_before_and_folders_of_no_window_are_not_searched() {
    let mut hub = hub();
    let first = hub.files("m");
    let second = hub.files("ma");
    assert_eq!(hub.response_to(READER, first).unwrap()["result"], json!({ "paths": [] }));
    assert!(hub.jobs[0].2.is_cancelled() && !hub.jobs[1].2.is_cancelled());
    hub.finds(&["main.rs"]);
    assert_eq!(hub.response_to(READER, second).unwrap()["result"]["paths"], json!(["/ws/main.rs"]));
    hub.finds(&["late.rs"]);
    let answer = hub.chat("chat/files", json!({ "folder": "/etc", "words": "" }));
    assert!(answer["error"].is_object(), "{answer}");
    let third = hub.files("x");
    hub.event(Event::ConnectionClosed { connection: READER });
    assert!(hub.jobs[0].2.is_cancelled(), "nobody waits for it: {third}");
}

impl CoreHarness {
    fn symbols(&mut self, words: &str) -> i64 {
        self.request(READER, "chat/symbols", json!({ "folder": "/ws", "words": words }))
    }

    fn asked_for_symbols(&self) -> Vec<Value> {
        self.requests_to_editor("language/symbols")
            .iter()
            .map(|asked| asked["params"]["query"].clone())
            .collect()
    }

    /// The editor answers the newest question.
    fn knows(&mut self, symbols: &Value) {
        let id = self.requests_to_editor("language/symbols").last().unwrap()["id"].clone();
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "symbols": symbols } });
        self.event(Event::ConnectionMessage { connection: EDITOR, body: answer.to_string().into_bytes() });
    }
}

fn hub_with_language() -> CoreHarness {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "language": true }));
    hub.event(Event::ConnectionOpened { connection: READER });
    hub
}

fn symbol(name: &str, path: &str) -> Value {
    let range = json!({ "start": { "line": 4, "character": 0 }, "end": { "line": 9, "character": 1 } });
    json!({ "name": name, "symbolKind": "function", "location": { "path": path, "range": range } })
}

#[test]
fn symbols_come_from_the_editor_without_what_its_window_denies() {
    let mut hub = hub_with_language();
    let id = hub.symbols("par");
    hub.knows(&json!([
        symbol("parse", "/ws/a.rs"),
        symbol("own", "/ws/.env"),
        symbol("relative", "a.rs"),
        symbol(&"x".repeat(201), "/ws/a.rs"),
    ]));
    let answer = hub.response_to(READER, id).unwrap()["result"].clone();
    let parse = json!({ "name": "parse", "path": "/ws/a.rs", "firstLine": 5, "lastLine": 10 });
    assert_eq!(answer, json!({ "symbols": [parse] }));
    let id = hub.symbols("many");
    hub.knows(&json!(vec![symbol("parse", "/ws/a.rs"); 60]));
    let answer = hub.response_to(READER, id).unwrap();
    assert_eq!(answer["result"]["symbols"].as_array().unwrap().len(), 50);
}

#[test]
fn an_editor_is_asked_one_question_at_a_time_and_then_the_newest() {
    let mut hub = hub_with_language();
    let ids: Vec<i64> = ["p", "pa", "par"].map(|words| hub.symbols(words)).to_vec();
    assert_eq!(hub.asked_for_symbols(), ["p"]);
    let none = json!({ "symbols": [] });
    assert_eq!(hub.response_to(READER, ids[1]).unwrap()["result"], none, "a newer one came");
    hub.knows(&json!([symbol("p", "/ws/a.rs")]));
    assert_eq!(hub.response_to(READER, ids[0]).unwrap()["result"]["symbols"][0]["name"], "p");
    assert_eq!(hub.asked_for_symbols(), ["p", "par"]);
    // A language server that hangs.
    hub.wait_seconds(120);
    assert_eq!(hub.response_to(READER, ids[2]).unwrap()["result"], none);
    hub.symbols("late");
    hub.event(Event::ConnectionClosed { connection: READER });
    let sent = hub.to_connections.len();
    hub.knows(&json!([]));
    assert_eq!(hub.to_connections.len(), sent, "nobody waits for it");
}

#[test]
fn without_an_editor_that_knows_code_there_are_no_symbols() {
    let mut hub = hub();
    let none = json!({ "symbols": [] });
    assert_eq!(hub.chat("chat/symbols", json!({ "folder": "/ws", "words": "x" }))["result"], none);
    assert_eq!(hub.chat("chat/symbols", json!({ "folder": "/etc", "words": "x" }))["result"], none);
    let long = "x".repeat(201);
    assert!(hub.chat("chat/symbols", json!({ "folder": "/ws", "words": long }))["error"].is_object());
}

#[test]
fn a_conversation_that_stopped_with_as_many_messages_as_may_wait_goes_on() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.event(Event::ChildEnded { agent, why: "it ended".into() });
    hub.hosted_agents = Ok(Vec::new());
    for number in 0..32 {
        let answer = hub.say(&format!("message {number}"));
        assert!(answer["error"].is_null(), "{answer}");
    }
    hub.hosted_agents = Ok(vec![hosted(Some("/bin/gemini"))]);
    let answer = hub.say("one more");
    assert!(answer["error"]["message"].as_str().unwrap().contains("32 messages wait"), "{answer}");
    let next = hub.begins();
    assert_eq!(hub.prompted(next), "message 0");
}

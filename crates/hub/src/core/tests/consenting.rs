//! Commands and code: who is asked when, and what is run no more.

use linkspan_editor_api::errors;
use linkspan_review::{AgentId, WindowId};
use serde_json::{Value, json};

use super::desk::{COMMAND, Desk, EDITOR};
use super::own::{call, join, told};
use crate::core::{Event, LocalId};

pub(super) const AGENT: LocalId = LocalId(11);
const EDITOR_AGAIN: LocalId = LocalId(3);

pub(super) fn desk() -> Desk {
    let mut desk = Desk::new();
    desk.attach(EDITOR, json!({ "questions": true, "terminal": true, "executeCode": true }));
    desk.event(Event::LocalOpened { local: COMMAND });
    desk.files.insert("/ws/src".into(), Vec::new());
    desk
}

pub(super) fn run(desk: &mut Desk, arguments: Value) -> i64 {
    call(desk, AGENT, "runInTerminal", arguments)
}

pub(super) fn questions(desk: &Desk) -> Vec<String> {
    let asked = desk.asked_of_editor("user/ask");
    asked.iter().map(|asked| asked["params"]["ask"].as_str().unwrap().to_owned()).collect()
}

/// She answers the newest question; whether that counts.
pub(super) fn she_says(desk: &mut Desk, option: &str) -> bool {
    let ask = questions(desk).pop().unwrap();
    let result = json!({ "kind": "answered", "option": option });
    let answered = desk.ask(EDITOR, "user/answered", json!({ "ask": ask, "result": result }));
    desk.answer_to(EDITOR, answered).unwrap()["result"]["taken"].as_bool().unwrap()
}

pub(super) fn runs(desk: &Desk) -> usize {
    desk.asked_of_editor("terminal/run").len()
}

fn cancel(desk: &mut Desk, call: i64) {
    desk.tell(AGENT, "notifications/cancelled", json!({ "requestId": call }));
}

pub(super) fn kind(desk: &Desk, call: i64) -> Value {
    told(desk, AGENT, call).unwrap()["error"]["kind"].clone()
}

#[test]
fn a_command_that_was_cancelled_while_its_folder_was_looked_at_is_neither_asked_about_nor_run() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    for asked_before in [0, 1] {
        desk.hold_reads = true;
        let cancelled = run(&mut desk, json!({ "command": "ls", "cwd": "/ws/src" }));
        cancel(&mut desk, cancelled);
        desk.let_reads_go();
        assert_eq!((questions(&desk).len(), runs(&desk)), (asked_before, asked_before));
        if asked_before == 0 {
            run(&mut desk, json!({ "command": "ls", "cwd": "/ws/src" }));
            she_says(&mut desk, "allowSession");
        }
    }
}

#[test]
fn an_answer_to_a_question_that_is_over_is_not_taken() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    let cancelled = run(&mut desk, json!({ "command": "ls" }));
    cancel(&mut desk, cancelled);
    assert!(!she_says(&mut desk, "allowOnce"));
    run(&mut desk, json!({ "command": "ls" }));
    assert!(she_says(&mut desk, "allowOnce"));
    assert!(!she_says(&mut desk, "allowOnce"), "the first answer counts");
    assert_eq!(runs(&desk), 1);
}

#[test]
fn an_editor_that_may_not_run_commands_any_more_runs_none() {
    for allowed_before in [false, true] {
        let mut desk = desk();
        join(&mut desk, AGENT, "k3y");
        let mut last = run(&mut desk, json!({ "command": "ls" }));
        if allowed_before {
            she_says(&mut desk, "allowSession");
        }
        desk.event(Event::LocalClosed { local: EDITOR });
        desk.attach(EDITOR_AGAIN, json!({ "questions": true, "executeCode": true, "documents": true }));
        if allowed_before {
            last = run(&mut desk, json!({ "command": "ls" }));
        }
        assert_eq!(kind(&desk, last), "unsupported");
        assert_eq!((questions(&desk).len(), runs(&desk)), (1, usize::from(allowed_before)));
    }
}

#[test]
fn who_asks_and_takes_back_too_often_is_refused_for_a_while() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    for _ in 0..30 {
        let call = run(&mut desk, json!({ "command": "ls" }));
        cancel(&mut desk, call);
    }
    let asked = questions(&desk);
    assert_eq!((asked.len(), asked[2].as_str()), (30, "q-1ife-3"));
    let refused = run(&mut desk, json!({ "command": "ls" }));
    assert_eq!(kind(&desk, refused), "denied");
    assert_eq!(questions(&desk).len(), 30);
    desk.now_ms += 60_000;
    run(&mut desk, json!({ "command": "ls" }));
    assert_eq!(questions(&desk).len(), 31);
}

#[test]
fn a_tab_is_a_key_to_a_terminal() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    let refused = run(&mut desk, json!({ "command": "ls\t" }));
    assert_eq!(kind(&desk, refused), "invalidParams");
    run(&mut desk, json!({ "command": "ls\nls" }));
    assert_eq!(questions(&desk).len(), 1);
}

#[test]
fn a_name_that_was_given_up_is_allowed_nothing_any_more() {
    let mut desk = desk();
    let agent = desk.connect(1, "claude");
    let code = json!({ "code": "1" });
    desk.call(agent, 1, "executeCode", code.clone());
    she_says(&mut desk, "allowSession");
    desk.call(agent, 2, "executeCode", code.clone());
    assert_eq!(questions(&desk).len(), 1);
    for name in ["other", "tester"] {
        let who = json!({ "protocolVersion": "2025-06-18", "clientInfo": { "name": name } });
        desk.frame(agent, &json!({ "jsonrpc": "2.0", "id": "x", "method": "initialize", "params": who }));
    }
    desk.call(agent, 3, "executeCode", code);
    assert_eq!(questions(&desk).len(), 2);
}

#[test]
fn nobody_is_asked_for_an_agent_that_did_not_say_who_it_is() {
    let mut desk = desk();
    let (agent, dialect) = (AgentId(1), linkspan_dialect::by_name("claude").unwrap());
    desk.event(Event::AgentOpened { agent, window: WindowId(1), dialect, called: None });
    desk.call(agent, 1, "executeCode", json!({ "code": "1" }));
    assert_eq!((questions(&desk).len(), desk.answers(agent, 1).len()), (0, 1));
}

#[test]
fn code_and_commands_have_the_time_they_need() {
    let mut desk = desk();
    join(&mut desk, AGENT, "k3y");
    // Only what the editor was asked to do is waited for here.
    desk.editor_answers.insert("ping", json!({}));
    for (tool, arguments, seconds) in [
        ("executeCode", json!({ "code": "1" }), 65),
        ("runInTerminal", json!({ "command": "ls", "waitMs": 3_000 }), 18),
    ] {
        let call = call(&mut desk, AGENT, tool, arguments);
        she_says(&mut desk, "allowOnce");
        for _ in 1..seconds {
            desk.wait_seconds(1);
            desk.ask(AGENT, "ping", json!({}));
        }
        assert_eq!(told(&desk, AGENT, call), None, "{tool}");
        desk.wait_seconds(1);
        assert_eq!(kind(&desk, call), "timeout", "{tool}");
    }
}

#[test]
fn an_editor_that_says_the_document_is_too_large_is_believed() {
    let mut desk = Desk::new();
    desk.attach(EDITOR, json!({ "reviews": true, "documents": true }));
    join(&mut desk, AGENT, "k3y");
    let change = call(&mut desk, AGENT, "proposeChange", json!({ "path": "/ws/a.txt", "newText": "" }));
    let asked = desk.asked_of_editor("document/text")[0]["id"].clone();
    let error = json!({ "code": errors::TOO_LARGE, "message": "save it first" });
    let answer = json!({ "jsonrpc": "2.0", "id": asked, "error": error });
    desk.event(Event::LocalMessage { local: EDITOR, body: answer.to_string().into_bytes() });
    assert_eq!(kind(&desk, change), "tooLarge");
}

//! Commands and code: who is asked when, and what is run no more.

use linkspan_editor_api::errors;
use linkspan_review::{AgentId, WindowId};
use serde_json::{Value, json};

use super::own_dialect::{call, join, tool_result};
use super::support::{COMMAND, EDITOR};
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

pub(super) const AGENT: ConnectionId = ConnectionId(11);
const EDITOR_AGAIN: ConnectionId = ConnectionId(3);

pub(super) fn attached_hub() -> CoreHarness {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "questions": true, "terminal": true, "executeCode": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    hub.files.insert("/ws/src".into(), Vec::new());
    hub
}

pub(super) fn run(hub: &mut CoreHarness, arguments: Value) -> i64 {
    call(hub, AGENT, "runInTerminal", arguments)
}

pub(super) fn questions(hub: &CoreHarness) -> Vec<String> {
    let asked = hub.requests_to_editor("user/ask");
    asked.iter().map(|asked| asked["params"]["ask"].as_str().unwrap().to_owned()).collect()
}

/// The user answers the newest prompt. Returns whether that counts.
pub(super) fn respond_to_prompt(hub: &mut CoreHarness, option: &str) -> bool {
    let ask = questions(hub).pop().unwrap();
    let result = json!({ "kind": "answered", "option": option });
    let answered = hub.request(EDITOR, "user/answered", json!({ "ask": ask, "result": result }));
    hub.response_to(EDITOR, answered).unwrap()["result"]["taken"].as_bool().unwrap()
}

pub(super) fn runs(hub: &CoreHarness) -> usize {
    hub.requests_to_editor("terminal/run").len()
}

fn cancel(hub: &mut CoreHarness, call: i64) {
    hub.notify(AGENT, "notifications/cancelled", json!({ "requestId": call }));
}

pub(super) fn kind(hub: &CoreHarness, call: i64) -> Value {
    tool_result(hub, AGENT, call).unwrap()["error"]["kind"].clone()
}

#[test]
fn a_command_that_was_cancelled_while_its_folder_was_looked_at_is_neither_asked_about_nor_run() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    for asked_before in [0, 1] {
        hub.hold_reads = true;
        let cancelled = run(&mut hub, json!({ "command": "ls", "cwd": "/ws/src" }));
        cancel(&mut hub, cancelled);
        hub.release_reads();
        assert_eq!((questions(&hub).len(), runs(&hub)), (asked_before, asked_before));
        if asked_before == 0 {
            run(&mut hub, json!({ "command": "ls", "cwd": "/ws/src" }));
            respond_to_prompt(&mut hub, "allowSession");
        }
    }
}

#[test]
fn an_answer_to_a_question_that_is_over_is_not_taken() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    let cancelled = run(&mut hub, json!({ "command": "ls" }));
    cancel(&mut hub, cancelled);
    assert!(!respond_to_prompt(&mut hub, "allowOnce"));
    run(&mut hub, json!({ "command": "ls" }));
    assert!(respond_to_prompt(&mut hub, "allowOnce"));
    assert!(!respond_to_prompt(&mut hub, "allowOnce"), "the first answer counts");
    assert_eq!(runs(&hub), 1);
}

#[test]
fn an_editor_that_may_not_run_commands_any_more_runs_none() {
    for allowed_before in [false, true] {
        let mut hub = attached_hub();
        join(&mut hub, AGENT, "k3y");
        let mut last = run(&mut hub, json!({ "command": "ls" }));
        if allowed_before {
            respond_to_prompt(&mut hub, "allowSession");
        }
        hub.event(Event::ConnectionClosed { connection: EDITOR });
        hub.attach(EDITOR_AGAIN, json!({ "questions": true, "executeCode": true, "documents": true }));
        if allowed_before {
            last = run(&mut hub, json!({ "command": "ls" }));
        }
        assert_eq!(kind(&hub, last), "unsupported");
        assert_eq!((questions(&hub).len(), runs(&hub)), (1, usize::from(allowed_before)));
    }
}

#[test]
fn an_agent_that_asks_and_withdraws_too_often_is_refused_for_a_while() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    for _ in 0..30 {
        let call = run(&mut hub, json!({ "command": "ls" }));
        cancel(&mut hub, call);
    }
    let asked = questions(&hub);
    assert_eq!((asked.len(), asked[2].as_str()), (30, "q-1ife-3"));
    let refused = run(&mut hub, json!({ "command": "ls" }));
    assert_eq!(kind(&hub, refused), "denied");
    assert_eq!(questions(&hub).len(), 30);
    hub.now_ms += 60_000;
    run(&mut hub, json!({ "command": "ls" }));
    assert_eq!(questions(&hub).len(), 31);
}

#[test]
fn a_tab_is_a_key_to_a_terminal() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    let refused = run(&mut hub, json!({ "command": "ls\t" }));
    assert_eq!(kind(&hub, refused), "invalidParams");
    run(&mut hub, json!({ "command": "ls\nls" }));
    assert_eq!(questions(&hub).len(), 1);
}

#[test]
fn a_name_that_was_given_up_is_allowed_nothing_any_more() {
    let mut hub = attached_hub();
    let agent = hub.connect(1, "claude");
    let code = json!({ "code": "1" });
    hub.call(agent, 1, "executeCode", code.clone());
    respond_to_prompt(&mut hub, "allowSession");
    hub.call(agent, 2, "executeCode", code.clone());
    assert_eq!(questions(&hub).len(), 1);
    for name in ["other", "tester"] {
        let who = json!({ "protocolVersion": "2025-06-18", "clientInfo": { "name": name } });
        hub.frame(agent, &json!({ "jsonrpc": "2.0", "id": "x", "method": "initialize", "params": who }));
    }
    hub.call(agent, 3, "executeCode", code);
    assert_eq!(questions(&hub).len(), 2);
}

#[test]
fn the_user_is_not_asked_for_an_agent_that_did_not_introduce_itself() {
    let mut hub = attached_hub();
    let (agent, dialect) = (AgentId(1), linkspan_dialect::by_name("claude").unwrap());
    hub.event(Event::AgentOpened { agent, window: WindowId(1), dialect, called: None });
    hub.call(agent, 1, "executeCode", json!({ "code": "1" }));
    assert_eq!((questions(&hub).len(), hub.answers(agent, 1).len()), (0, 1));
}

#[test]
fn code_and_commands_have_the_time_they_need() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    // Only what the editor was asked to do is waited for here.
    hub.editor_answers.insert("ping", json!({}));
    for (tool, arguments, seconds) in [
        ("executeCode", json!({ "code": "1" }), 65),
        ("runInTerminal", json!({ "command": "ls", "waitMs": 3_000 }), 18),
    ] {
        let call = call(&mut hub, AGENT, tool, arguments);
        respond_to_prompt(&mut hub, "allowOnce");
        for _ in 1..seconds {
            hub.wait_seconds(1);
            hub.request(AGENT, "ping", json!({}));
        }
        assert_eq!(tool_result(&hub, AGENT, call), None, "{tool}");
        hub.wait_seconds(1);
        assert_eq!(kind(&hub, call), "timeout", "{tool}");
    }
}

#[test]
fn an_editor_that_says_the_document_is_too_large_is_believed() {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "reviews": true, "documents": true }));
    join(&mut hub, AGENT, "k3y");
    let change = call(&mut hub, AGENT, "proposeChange", json!({ "path": "/ws/a.txt", "newText": "" }));
    let asked = hub.requests_to_editor("document/text")[0]["id"].clone();
    let error = json!({ "code": errors::TOO_LARGE, "message": "save it first" });
    let answer = json!({ "jsonrpc": "2.0", "id": asked, "error": error });
    hub.event(Event::ConnectionMessage { connection: EDITOR, body: answer.to_string().into_bytes() });
    assert_eq!(kind(&hub, change), "tooLarge");
}

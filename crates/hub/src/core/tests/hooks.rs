//! Agents that are one event of another agent's hooks: how they leave, come back, and are withdrawn.

use serde_json::{Value, json};

use super::own_dialect::{call, pings, pong, tool_result};
use super::support::{COMMAND, EDITOR};
use super::{NEW, OLD, outcome};
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

pub(super) const HOOK: ConnectionId = ConnectionId(31);
pub(super) const NEXT_HOOK: ConnectionId = ConnectionId(32);
const REPORTER: ConnectionId = ConnectionId(33);

pub(super) fn attached_hub() -> CoreHarness {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "reviews": true, "messages": true, "questions": true }));
    hub.editor_answers.insert("ping", json!({}));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    hub.request(COMMAND, "hub/watch", json!({}));
    hub
}

/// A hook of the session `s-1` of Claude Code; each process has a session of its own.
pub(super) fn join_hook(hub: &mut CoreHarness, connection: ConnectionId, process: &str) {
    join_hook_of(hub, connection, process, "Claude Code", "s-1");
}

pub(super) fn join_hook_of(
    hub: &mut CoreHarness,
    connection: ConnectionId,
    process: &str,
    agent: &str,
    session: &str,
) {
    hub.event(Event::ConnectionOpened { connection });
    let hook = json!({ "agent": agent, "session": session });
    let join = json!({ "window": "w1", "session": process, "name": agent, "version": "1", "hook": hook });
    let joined = hub.request(connection, "agent/join", join);
    assert!(hub.response_to(connection, joined).unwrap()["error"].is_null());
}

pub(super) fn propose(hub: &mut CoreHarness, connection: ConnectionId, text: &str) -> i64 {
    let change = json!({ "path": "/ws/a.txt", "newText": text, "writer": "agent" });
    call(hub, connection, "proposeChange", change)
}

pub(super) fn lose(hub: &mut CoreHarness, connection: ConnectionId) {
    hub.event(Event::ConnectionClosed { connection });
}

/// What the process says before it ends: it has received everything.
pub(super) fn receive_all(hub: &mut CoreHarness, connection: ConnectionId) {
    for number in pings(hub, connection) {
        pong(hub, connection, number);
    }
}

pub(super) fn told(hub: &CoreHarness, connection: ConnectionId, id: i64) -> Value {
    tool_result(hub, connection, id).cloned().unwrap_or_default()
}

fn report(hub: &mut CoreHarness, event: &str, more: Value) -> Value {
    let mut report = json!({ "agent": "Claude Code", "session": "s-1", "cwd": "/ws/src", "event": event });
    for (key, value) in more.as_object().unwrap() {
        report[key] = value.clone();
    }
    hub.event(Event::ConnectionOpened { connection: REPORTER });
    let asked = hub.request(REPORTER, "hook/report", report);
    let answer = hub.response_to(REPORTER, asked).unwrap().clone();
    hub.event(Event::ConnectionClosed { connection: REPORTER });
    answer
}

fn changes(hub: &CoreHarness) -> Vec<&str> {
    let told = hub.to_connections.iter().filter(|(to, _)| *to == COMMAND);
    told.filter_map(|(_, message)| message["params"]["what"]["change"]["kind"].as_str()).collect()
}

fn messages(hub: &CoreHarness) -> Vec<&str> {
    let shown = hub.requests_to_editor("status/message");
    shown.into_iter().filter_map(|message| message["params"]["text"].as_str()).collect()
}

#[test]
fn a_hook_whose_process_ended_no_longer_asks_anything() {
    let mut hub = attached_hub();
    join_hook(&mut hub, HOOK, "p1");
    propose(&mut hub, HOOK, NEW);
    assert_eq!(hub.shown().len(), 1);
    lose(&mut hub, HOOK);
    assert!(hub.reviews().is_empty());
    assert_eq!(hub.requests_to_editor("review/hide").len(), 1);
    assert_eq!(changes(&hub), ["proposed", "withdrawn"], "nobody is told that an agent is gone");
}

#[test]
fn a_decision_that_a_dead_hook_did_not_receive_is_kept_and_not_claimed_to_be_on_disk() {
    let mut hub = attached_hub();
    join_hook(&mut hub, HOOK, "p1");
    propose(&mut hub, HOOK, NEW);
    hub.decide(COMMAND, "accept");
    lose(&mut hub, HOOK);
    assert!(!changes(&hub).contains(&"delivered"), "{:?}", changes(&hub));
    hub.wait_seconds(5);
    assert!(changes(&hub).contains(&"notOnDisk") && hub.on_disk.is_empty());
    assert_eq!(hub.file(), OLD);
    hub.wait_seconds(60);
    assert!(hub.reviews().is_empty(), "no hook would come back for it");
}

#[test]
fn a_hook_that_received_the_answer_and_left_leaves_nothing_behind() {
    let mut hub = attached_hub();
    join_hook(&mut hub, HOOK, "p1");
    let change = propose(&mut hub, HOOK, NEW);
    hub.decide(COMMAND, "accept");
    assert_eq!(told(&hub, HOOK, change)["text"], NEW);
    receive_all(&mut hub, HOOK);
    hub.notify(HOOK, "agent/leave", json!({}));
    assert!(hub.reviews().is_empty());
    assert!(changes(&hub).contains(&"delivered"));
}

#[test]
fn a_hook_that_asks_again_after_a_restart_has_the_same_review() {
    for decided in [false, true] {
        let mut hub = attached_hub();
        join_hook(&mut hub, HOOK, "p1");
        propose(&mut hub, HOOK, NEW);
        if decided {
            hub.decide(COMMAND, "accept");
        }
        let mut hub = hub.restart();
        hub.attach(EDITOR, json!({ "reviews": true }));
        hub.event(Event::ConnectionOpened { connection: COMMAND });
        join_hook(&mut hub, HOOK, "p1");
        let change = propose(&mut hub, HOOK, NEW);
        assert_eq!(hub.reviews().len(), 1);
        if !decided {
            hub.decide(COMMAND, "accept");
        }
        let told = told(&hub, HOOK, change);
        assert_eq!((&told["review"], &told["outcome"]), (&json!("r1"), &json!("accepted")), "{decided}");
    }
}

#[test]
fn a_hook_that_did_not_come_back_after_a_restart_is_not_waited_for_as_long_as_an_agent() {
    let mut hub = attached_hub();
    join_hook(&mut hub, HOOK, "p1");
    propose(&mut hub, HOOK, NEW);
    let mut hub = hub.restart();
    hub.attach(EDITOR, json!({ "reviews": true }));
    hub.wait_seconds(59);
    assert_eq!(hub.reviews().len(), 1);
    hub.wait_seconds(2);
    assert!(hub.reviews().is_empty());
}

#[test]
fn a_hook_that_joins_again_before_its_loss_was_noticed_keeps_its_review() {
    let mut hub = attached_hub();
    join_hook(&mut hub, HOOK, "p1");
    propose(&mut hub, HOOK, NEW);
    join_hook(&mut hub, NEXT_HOOK, "p1");
    let change = propose(&mut hub, NEXT_HOOK, NEW);
    hub.decide(COMMAND, "accept");
    assert_eq!(told(&hub, NEXT_HOOK, change)["review"], "r1");
}

#[test]
fn an_agent_that_went_on_withdraws_what_its_hooks_still_ask() {
    for event in ["prompt", "ended"] {
        let mut hub = attached_hub();
        join_hook(&mut hub, HOOK, "p1");
        join_hook_of(&mut hub, NEXT_HOOK, "p2", "Claude Code", "s-2");
        let change = propose(&mut hub, HOOK, NEW);
        let question = call(&mut hub, HOOK, "requestPermission", json!({ "command": "make" }));
        let other = propose(&mut hub, NEXT_HOOK, "another\n");
        assert_eq!(report(&mut hub, event, json!({}))["result"], json!({ "withdrawn": 2 }));
        for id in [change, question] {
            assert_eq!(told(&hub, HOOK, id)["error"]["kind"], "withdrawn", "{event}");
        }
        assert_eq!(told(&hub, NEXT_HOOK, other), Value::Null, "another session goes on");
        assert_eq!(hub.reviews().len(), 1);
        assert_eq!(hub.requests_to_editor("user/unask").len(), 1);
        assert_eq!(report(&mut hub, event, json!({}))["result"], json!({ "withdrawn": 0 }));
    }
}

#[test]
fn an_agent_in_the_background_still_asks_when_the_turn_ended() {
    let mut hub = attached_hub();
    join_hook(&mut hub, HOOK, "p1");
    let change = propose(&mut hub, HOOK, NEW);
    let question = call(&mut hub, HOOK, "requestPermission", json!({ "command": "make" }));
    assert_eq!(report(&mut hub, "stopped", json!({}))["result"], json!({ "withdrawn": 0 }));
    assert_eq!((told(&hub, HOOK, change), told(&hub, HOOK, question)), (Value::Null, Value::Null));
    hub.decide(COMMAND, "accept");
    assert_eq!(told(&hub, HOOK, change)["outcome"], "accepted");
}

#[test]
fn a_decision_that_came_before_the_agent_went_on_counts() {
    let mut hub = attached_hub();
    join_hook(&mut hub, HOOK, "p1");
    let change = propose(&mut hub, HOOK, NEW);
    hub.hold_records = true;
    hub.decide(COMMAND, "accept");
    assert_eq!(report(&mut hub, "prompt", json!({}))["result"], json!({ "withdrawn": 0 }));
    hub.hold_records = false;
    hub.release_records(Ok(()));
    assert_eq!(told(&hub, HOOK, change)["outcome"], "accepted");
}

#[test]
fn a_file_that_was_decided_in_the_terminal_is_not_asked_about_any_longer() {
    let mut hub = attached_hub();
    join_hook(&mut hub, HOOK, "p1");
    let change = propose(&mut hub, HOOK, NEW);
    let other = json!({ "paths": ["/ws/b.txt", "not a path"] });
    assert_eq!(report(&mut hub, "edited", other)["result"], json!({ "withdrawn": 0 }));
    assert_eq!(told(&hub, HOOK, change), Value::Null);
    hub.files.insert("/ws/a.txt".into(), NEW.as_bytes().to_vec());
    report(&mut hub, "edited", json!({ "paths": ["/ws/a.txt"] }));
    assert_eq!(told(&hub, HOOK, change)["error"]["kind"], "withdrawn");
    assert!(hub.reviews().is_empty());
}

#[test]
fn another_edit_of_the_same_file_is_still_asked_about_when_the_first_is_done() {
    let mut hub = attached_hub();
    join_hook(&mut hub, HOOK, "p1");
    join_hook(&mut hub, NEXT_HOOK, "p2");
    propose(&mut hub, HOOK, "ONE\ntwo\n");
    hub.decide(COMMAND, "accept");
    let other = propose(&mut hub, NEXT_HOOK, NEW);
    hub.files.insert("/ws/a.txt".into(), b"ONE\ntwo\n".to_vec());
    report(&mut hub, "edited", json!({ "paths": ["/ws/a.txt"] }));
    hub.wait_seconds(5);
    assert_eq!((hub.on_disk.len(), told(&hub, NEXT_HOOK, other)), (1, Value::Null));
    assert!(hub.reviews().iter().any(|review| review.owner.is_some() && review.outcome().is_none()));
}

#[test]
fn a_file_that_an_agent_reports_as_edited_is_read_at_once() {
    let mut hub = attached_hub();
    join_hook(&mut hub, HOOK, "p1");
    propose(&mut hub, HOOK, NEW);
    hub.decide(COMMAND, "accept");
    hub.wait_seconds(3);
    hub.files.insert("/ws/a.txt".into(), NEW.as_bytes().to_vec());
    assert!(hub.on_disk.is_empty());
    report(&mut hub, "edited", json!({ "paths": ["/ws/a.txt"] }));
    assert_eq!(hub.on_disk.len(), 1);
}

#[test]
fn the_user_is_told_where_the_agent_works_that_it_waits_or_is_done() {
    let mut hub = attached_hub();
    report(&mut hub, "waiting", json!({ "message": "needs your\u{1b}[2J permission" }));
    report(&mut hub, "stopped", json!({}));
    report(&mut hub, "stopped", json!({ "cwd": "/elsewhere" }));
    report(&mut hub, "prompt", json!({}));
    assert_eq!(
        messages(&hub),
        ["Claude Code is waiting: needs your\\u{1b}[2J permission", "Claude Code is done"]
    );
    let told = hub.to_connections.iter().filter(|(to, _)| *to == COMMAND);
    let kinds: Vec<&str> =
        told.filter_map(|(_, message)| message["params"]["what"]["kind"].as_str()).collect();
    assert_eq!(kinds, ["agentWaiting", "agentDone"]);
}

#[test]
fn a_report_of_impossible_size_is_refused() {
    let mut hub = attached_hub();
    for more in [
        json!({ "agent": "" }),
        json!({ "session": "x".repeat(201) }),
        json!({ "event": "something new" }),
        json!({ "paths": vec!["/ws/a.txt"; 1001] }),
    ] {
        assert_eq!(report(&mut hub, "edited", more)["error"]["code"], -32602);
    }
    hub.event(Event::ConnectionOpened { connection: HOOK });
    let hook = json!({ "agent": "x", "session": "" });
    let join = json!({ "window": "w1", "session": "p", "name": "x", "version": "1", "hook": hook });
    let joined = hub.request(HOOK, "agent/join", join);
    assert_eq!(hub.response_to(HOOK, joined).unwrap()["error"]["code"], -32602);
}

fn ask(hub: &mut CoreHarness, connection: ConnectionId) -> i64 {
    call(hub, connection, "requestPermission", json!({ "command": "make\tall" }))
}

fn answer(hub: &mut CoreHarness, result: Value) {
    let ask = hub.requests_to_editor("user/ask").pop().unwrap()["params"]["ask"].clone();
    hub.request(EDITOR, "user/answered", json!({ "ask": ask, "result": result }));
}

#[test]
fn a_permission_is_asked_for_with_the_whole_command_and_nothing_is_run() {
    let mut hub = attached_hub();
    join_hook(&mut hub, HOOK, "p1");
    let asked = ask(&mut hub, HOOK);
    let shown = &hub.requests_to_editor("user/ask")[0]["params"];
    assert_eq!(shown["question"], "Allow Claude Code (linkspan) to run this command?");
    assert!(shown["detail"].as_str().unwrap().contains("make"), "{shown}");
    answer(&mut hub, json!({ "kind": "answered", "option": "allowOnce" }));
    assert_eq!(told(&hub, HOOK, asked), json!({ "allowed": true }));
    let refused = ask(&mut hub, HOOK);
    answer(&mut hub, json!({ "kind": "answered", "option": "deny" }));
    assert_eq!(told(&hub, HOOK, refused)["allowed"], false);
    assert!(hub.response_to(HOOK, refused).unwrap()["result"]["isError"] != json!(true));
    assert!(hub.requests_to_editor("terminal/run").is_empty() && hub.jobs.is_empty());
}

#[test]
fn a_prompt_that_was_closed_or_cancelled_is_no_denial() {
    let mut hub = attached_hub();
    join_hook(&mut hub, HOOK, "p1");
    let closed = ask(&mut hub, HOOK);
    answer(&mut hub, json!({ "kind": "dismissed" }));
    let cancelled = ask(&mut hub, HOOK);
    hub.notify(HOOK, "notifications/cancelled", json!({ "requestId": cancelled }));
    for id in [closed, cancelled] {
        assert_eq!(told(&hub, HOOK, id)["error"]["kind"], "withdrawn");
    }
}

#[test]
fn what_is_allowed_for_a_session_is_allowed_to_the_next_hook_of_it() {
    let mut hub = attached_hub();
    join_hook(&mut hub, HOOK, "p1");
    ask(&mut hub, HOOK);
    answer(&mut hub, json!({ "kind": "answered", "option": "allowSession" }));
    lose(&mut hub, HOOK);
    // As long as the session lasts, and not as long as an agent may be away.
    hub.wait_seconds(2000);
    join_hook(&mut hub, NEXT_HOOK, "p2");
    let again = ask(&mut hub, NEXT_HOOK);
    assert_eq!(told(&hub, NEXT_HOOK, again), json!({ "allowed": true }));
    join_hook_of(&mut hub, HOOK, "p3", "Claude Code", "s-2");
    let other = ask(&mut hub, HOOK);
    assert_eq!(told(&hub, HOOK, other), Value::Null, "another session is asked");
    report(&mut hub, "ended", json!({}));
    let after = ask(&mut hub, NEXT_HOOK);
    assert_eq!(told(&hub, NEXT_HOOK, after), Value::Null, "the session is over");
}

#[test]
fn a_hook_of_a_closed_window_is_answered_and_its_change_withdrawn() {
    let mut hub = attached_hub();
    join_hook(&mut hub, HOOK, "p1");
    let change = propose(&mut hub, HOOK, NEW);
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    for _ in 0..13 {
        hub.wait_seconds(10);
        receive_all(&mut hub, HOOK);
    }
    assert_eq!(told(&hub, HOOK, change)["error"]["kind"], "editorGone");
    assert!(hub.reviews().is_empty());
    let late = hub.decide(COMMAND, "accept");
    assert_ne!(outcome(&hub, COMMAND, late), "taken");
}

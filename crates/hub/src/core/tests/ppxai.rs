//! What is done for agents elsewhere: when it is given up, what is ended, and where the well-known port leads.

use std::path::Path;

use linkspan_dialect::ExchangeId;
use linkspan_review::{AgentId, WindowId};
use linkspan_workspace::terminal::CommandReport;
use linkspan_workspace::{Cancel, WorkspaceError};
use serde_json::{Value, json};

use super::support::{COMMAND, EDITOR};
use crate::core::contract::JobOutput;
use crate::core::harness::CoreHarness;
use crate::core::{AgentJob, ConnectionId, Event, Ticket};

const OTHER: ConnectionId = ConnectionId(3);

fn attached_hub() -> CoreHarness {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "questions": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    hub
}

fn connect(hub: &mut CoreHarness, agent: u64) -> AgentId {
    let agent = AgentId(agent);
    let dialect = linkspan_dialect::by_name("ppxai").unwrap();
    hub.event(Event::AgentOpened { agent, window: WindowId(1), dialect, called: Some(String::new()) });
    agent
}

fn call(hub: &mut CoreHarness, agent: AgentId, id: u64, tool: &str, args: Value) {
    let text = json!({ "id": id, "tool": tool, "args": args }).to_string();
    hub.event(Event::AgentFrame { agent, text, exchange: Some(ExchangeId(id)) });
}

fn tool_result(hub: &CoreHarness, agent: AgentId, id: u64) -> Option<&Value> {
    hub.to_agents.iter().find(|(to, frame)| *to == agent && frame["id"] == id).map(|(_, frame)| frame)
}

fn take(hub: &mut CoreHarness) -> (Ticket, AgentJob, Cancel) {
    hub.jobs.pop().unwrap()
}

/// The user allows the newest prompt once.
fn allow(hub: &mut CoreHarness) {
    let ask = hub.requests_to_editor("user/ask").last().unwrap()["params"]["ask"].clone();
    let result = json!({ "kind": "answered", "option": "allowOnce" });
    hub.request(EDITOR, "user/answered", json!({ "ask": ask, "result": result }));
}

#[test]
fn a_job_that_takes_too_long_is_abandoned_and_its_late_answer_is_ignored() {
    let mut hub = attached_hub();
    let agent = connect(&mut hub, 1);
    call(&mut hub, agent, 1, "ide.list_files", json!({}));
    let (ticket, _, cancel) = take(&mut hub);
    hub.wait_seconds(59);
    assert!(tool_result(&hub, agent, 1).is_none() && !cancel.is_cancelled());
    hub.wait_seconds(2);
    assert_eq!(tool_result(&hub, agent, 1).unwrap()["code"], "TIMEOUT");
    assert!(cancel.is_cancelled());
    let json = "[]".to_owned();
    hub.event(Event::JobDone { ticket, result: Ok(JobOutput::Data { json, truncated: false }) });
    assert_eq!(hub.to_agents.len(), 1);
}

#[test]
fn lists_and_searches_leave_out_linkspans_own_folders() {
    let mut hub = attached_hub();
    let agent = connect(&mut hub, 1);
    call(&mut hub, agent, 1, "ide.list_files", json!({}));
    let (_, tool, _) = take(&mut hub);
    let AgentJob::Workspace { workspace, .. } = tool else { panic!("{tool:?}") };
    for kept in ["/ws/own", "/home/me/.claude/ide", "/home/me/.nexus3/ide", "/home/me/.clio/ide"] {
        assert!(workspace.kept.iter().any(|place| place == Path::new(kept)), "{kept}");
    }
}

#[test]
fn the_jobs_of_an_agent_end_when_it_leaves() {
    let mut hub = attached_hub();
    let (agent, other) = (connect(&mut hub, 1), connect(&mut hub, 3));
    call(&mut hub, agent, 1, "ide.search_files", json!({ "query": "x" }));
    call(&mut hub, other, 2, "ide.git_status", json!({}));
    let (theirs, mine) = (take(&mut hub).2, take(&mut hub).2);
    hub.disconnect(agent);
    assert_eq!((mine.is_cancelled(), theirs.is_cancelled()), (true, false));
}

#[test]
fn a_failure_says_what_to_do() {
    let mut hub = attached_hub();
    let agent = connect(&mut hub, 1);
    call(&mut hub, agent, 1, "ide.git_status", json!({}));
    let (ticket, ..) = take(&mut hub);
    hub.event(Event::JobDone { ticket, result: Err(WorkspaceError::NoRepository("/ws".into())) });
    assert_eq!(tool_result(&hub, agent, 1).unwrap()["code"], "NOT_FOUND");
}

#[test]
fn only_so_much_is_done_at_once() {
    let mut hub = attached_hub();
    let agent = connect(&mut hub, 1);
    for id in 1..=33 {
        call(&mut hub, agent, id, "ide.list_files", json!({}));
    }
    assert_eq!(hub.jobs.len(), 32);
    assert_eq!(tool_result(&hub, agent, 33).unwrap()["code"], "DENIED");
}

#[test]
fn with_its_window_a_terminal_is_closed() {
    let mut hub = attached_hub();
    let agent = connect(&mut hub, 1);
    call(&mut hub, agent, 1, "ide.run_in_terminal", json!({ "command": "ls" }));
    assert!(hub.jobs.is_empty(), "it is not allowed yet");
    allow(&mut hub);
    let (ticket, tool, _) = take(&mut hub);
    let AgentJob::RunCommand { terminal, command, .. } = tool else { panic!("{tool:?}") };
    assert_eq!(command, "ls");
    let ran = CommandReport { output: "a\n".into(), exit_code: Some(0), ..CommandReport::default() };
    hub.event(Event::JobDone { ticket, result: Ok(JobOutput::Ran(ran)) });
    assert_eq!(tool_result(&hub, agent, 1).unwrap()["result"]["output"], "a\n");
    hub.notify(EDITOR, "detach", json!({}));
    assert_eq!(hub.closed_terminals, [terminal]);
}

#[test]
fn the_well_known_port_is_tried_again_and_moves_on_with_the_windows() {
    let mut hub = CoreHarness::new();
    hub.ppxai_port_free = false;
    hub.attach(EDITOR, json!({}));
    assert_eq!(hub.ppxai_window, None);
    hub.ppxai_port_free = true;
    hub.notify(EDITOR, "focus/changed", json!({ "focused": true }));
    assert_eq!(hub.ppxai_window, Some(WindowId(1)));
    hub.attach(OTHER, json!({}));
    assert_eq!(hub.ppxai_window, Some(WindowId(1)), "the first has it");
    hub.notify(EDITOR, "detach", json!({}));
    assert_eq!(hub.ppxai_window, Some(WindowId(2)));
    hub.notify(OTHER, "detach", json!({}));
    assert_eq!(hub.ppxai_window, None);
}

fn put_all(hub: &mut CoreHarness, agent: AgentId, id: u64, files: &[(&str, &str)]) {
    let whole = |text: &str| {
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
        json!([{ "range": range, "newText": text }])
    };
    let files: Vec<Value> =
        files.iter().map(|(path, text)| json!({ "path": path, "edits": whole(text) })).collect();
    call(hub, agent, id, "ide.apply_edit", json!({ "files": files }));
}

fn decide(hub: &mut CoreHarness, review: &str, verdict: &str) {
    let decision = json!({ "verdict": { "kind": verdict } });
    hub.request(COMMAND, "reviews/decide", json!({ "review": review, "decision": decision }));
}

#[test]
fn a_set_is_answered_though_one_of_its_files_cannot_hold_the_text() {
    let mut hub = attached_hub();
    // Latin-1, which has no arrow.
    hub.files.insert("/ws/old.txt".into(), b"caf\xe9 cr\xe8me br\xfbl\xe9e d\xe9j\xe0 vu\n".to_vec());
    hub.files.insert("/ws/new.txt".into(), b"new\n".to_vec());
    let agent = connect(&mut hub, 1);
    put_all(&mut hub, agent, 1, &[("old.txt", "→\n"), ("new.txt", "NEW\n")]);
    let waiting: Vec<String> = hub.reviews().iter().map(|review| review.id.to_string()).collect();
    for review in waiting {
        decide(&mut hub, &review, "accept");
    }
    let told = tool_result(&hub, agent, 1).expect("an answer");
    assert_eq!((&told["success"], &told["code"]), (&json!(false), &json!("FAILED")), "{told}");
    let files = &told["result"]["files"];
    assert_eq!((&files[0]["applied"], &files[1]["applied"]), (&json!(false), &json!(true)), "{told}");
    assert_eq!(hub.files.get(&std::path::PathBuf::from("/ws/new.txt")).unwrap(), b"NEW\n");
}

#[test]
fn a_set_that_is_too_large_for_what_waits_leaves_nothing_behind() {
    let mut hub = attached_hub();
    let agent = connect(&mut hub, 1);
    for id in 0..250 {
        call(
            &mut hub,
            agent,
            1000 + id,
            "ide.apply_edit",
            json!({ "path": format!("n{id}"), "content": "x" }),
        );
    }
    assert_eq!(hub.reviews().len(), 250);
    let names: Vec<String> = (0..10).map(|number| format!("set{number}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x\n")).collect();
    put_all(&mut hub, agent, 1, &files);
    assert_eq!(tool_result(&hub, agent, 1).unwrap()["code"], "DENIED");
    assert_eq!(hub.reviews().len(), 250);
}

#[test]
fn a_set_whose_agent_left_while_its_files_were_read_leaves_nothing_behind() {
    let mut hub = attached_hub();
    let agent = connect(&mut hub, 1);
    hub.hold_reads = true;
    put_all(&mut hub, agent, 1, &[("a.txt", "A\n"), ("b.txt", "B\n")]);
    hub.disconnect(agent);
    hub.release_reads();
    let held = hub.core.resource_counts().into_iter().find(|(what, _)| *what == "calls of several changes");
    assert_eq!((held.unwrap().1, hub.reviews().len()), (0, 0));
}

#[test]
fn a_change_that_the_user_has_begun_to_edit_is_not_accepted_automatically() {
    let mut hub = attached_hub();
    hub.files.insert("/ws/a.txt".into(), b"one\n".to_vec());
    let first = connect(&mut hub, 1);
    let edit = json!({ "path": "a.txt", "content": "two\n" });
    call(&mut hub, first, 1, "ide.apply_edit", edit.clone());
    hub.disconnect(first);
    let edited = json!({ "review": "r1", "revision": 0, "text": "half of wh" });
    hub.request(EDITOR, "review/edited", edited);
    let allow =
        json!({ "name": "ppxai", "dialect": "ppxai", "deeds": ["edit"], "folder": "/ws", "session": true });
    let again = connect(&mut hub, 3);
    let allowed = hub.request(COMMAND, "clients/allow", allow);
    assert!(
        hub.response_to(COMMAND, allowed).unwrap()["error"].is_null(),
        "{:?}",
        hub.response_to(COMMAND, allowed)
    );
    call(&mut hub, again, 2, "ide.apply_edit", edit);
    hub.notify(EDITOR, "focus/changed", json!({ "focused": true }));
    assert_eq!(hub.file(), b"one\n");
    decide(&mut hub, "r1", "accept");
    assert_eq!(hub.file(), b"half of wh");
}

#[test]
fn a_question_names_the_repository_and_the_dialect() {
    let mut hub = attached_hub();
    let agent = connect(&mut hub, 1);
    call(&mut hub, agent, 1, "ide.git_commit", json!({ "message": "done" }));
    let asked = &hub.requests_to_editor("user/ask")[0]["params"];
    assert_eq!(asked["detail"], "git -C /ws commit\n\ndone");
    assert_eq!(asked["question"], "Allow ppxai to commit this?");
}

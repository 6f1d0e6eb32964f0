//! What is done for agents elsewhere: when it is given up, what is ended, and where the well-known port leads.

use std::path::Path;

use linkspan_dialect::Exchange;
use linkspan_review::{AgentId, WindowId};
use linkspan_workspace::terminal::Ran;
use linkspan_workspace::{Cancel, WorkspaceError};
use serde_json::{Value, json};

use super::desk::{COMMAND, Desk, EDITOR};
use crate::core::{Event, LocalId, Ticket, Tool};
use crate::work::Done;

const OTHER: LocalId = LocalId(3);

fn desk() -> Desk {
    let mut desk = Desk::new();
    desk.attach(EDITOR, json!({ "questions": true }));
    desk.event(Event::LocalOpened { local: COMMAND });
    desk
}

fn connect(desk: &mut Desk, agent: u64) -> AgentId {
    let agent = AgentId(agent);
    let dialect = linkspan_dialect::by_name("ppxai").unwrap();
    desk.event(Event::AgentOpened { agent, window: WindowId(1), dialect, called: Some(String::new()) });
    agent
}

fn call(desk: &mut Desk, agent: AgentId, id: u64, tool: &str, args: Value) {
    let text = json!({ "id": id, "tool": tool, "args": args }).to_string();
    desk.event(Event::AgentFrame { agent, text, exchange: Some(Exchange(id)) });
}

fn told(desk: &Desk, agent: AgentId, id: u64) -> Option<&Value> {
    desk.to_agents.iter().find(|(to, frame)| *to == agent && frame["id"] == id).map(|(_, frame)| frame)
}

fn take(desk: &mut Desk) -> (Ticket, Tool, Cancel) {
    desk.running.pop().unwrap()
}

/// She answers the newest question.
fn allow(desk: &mut Desk) {
    let ask = desk.asked_of_editor("user/ask").last().unwrap()["params"]["ask"].clone();
    let result = json!({ "kind": "answered", "option": "allowOnce" });
    desk.ask(EDITOR, "user/answered", json!({ "ask": ask, "result": result }));
}

#[test]
fn what_takes_too_long_is_given_up_and_its_late_answer_is_nobodys() {
    let mut desk = desk();
    let agent = connect(&mut desk, 1);
    call(&mut desk, agent, 1, "ide.list_files", json!({}));
    let (ticket, _, cancel) = take(&mut desk);
    desk.wait_seconds(59);
    assert!(told(&desk, agent, 1).is_none() && !cancel.is_cancelled());
    desk.wait_seconds(2);
    assert_eq!(told(&desk, agent, 1).unwrap()["code"], "TIMEOUT");
    assert!(cancel.is_cancelled());
    let json = "[]".to_owned();
    desk.event(Event::ToolRan { ticket, result: Ok(Done::Data { json, truncated: false }) });
    assert_eq!(desk.to_agents.len(), 1);
}

#[test]
fn linkspans_own_places_are_kept_from_whoever_lists_and_searches() {
    let mut desk = desk();
    let agent = connect(&mut desk, 1);
    call(&mut desk, agent, 1, "ide.list_files", json!({}));
    let (_, tool, _) = take(&mut desk);
    let Tool::Work { workspace, .. } = tool else { panic!("{tool:?}") };
    for kept in ["/ws/own", "/home/me/.claude/ide", "/home/me/.nexus3/ide", "/home/me/.clio/ide"] {
        assert!(workspace.kept.iter().any(|place| place == Path::new(kept)), "{kept}");
    }
}

#[test]
fn an_agent_that_leaves_takes_what_it_asked_for_with_it() {
    let mut desk = desk();
    let (agent, other) = (connect(&mut desk, 1), connect(&mut desk, 3));
    call(&mut desk, agent, 1, "ide.search_files", json!({ "query": "x" }));
    call(&mut desk, other, 2, "ide.git_status", json!({}));
    let (theirs, mine) = (take(&mut desk).2, take(&mut desk).2);
    desk.lose(agent);
    assert_eq!((mine.is_cancelled(), theirs.is_cancelled()), (true, false));
}

#[test]
fn a_failure_says_what_to_do() {
    let mut desk = desk();
    let agent = connect(&mut desk, 1);
    call(&mut desk, agent, 1, "ide.git_status", json!({}));
    let (ticket, ..) = take(&mut desk);
    desk.event(Event::ToolRan { ticket, result: Err(WorkspaceError::NoRepository("/ws".into())) });
    assert_eq!(told(&desk, agent, 1).unwrap()["code"], "NOT_FOUND");
}

#[test]
fn only_so_much_is_done_at_once() {
    let mut desk = desk();
    let agent = connect(&mut desk, 1);
    for id in 1..=33 {
        call(&mut desk, agent, id, "ide.list_files", json!({}));
    }
    assert_eq!(desk.running.len(), 32);
    assert_eq!(told(&desk, agent, 33).unwrap()["code"], "DENIED");
}

#[test]
fn with_its_window_a_terminal_is_closed() {
    let mut desk = desk();
    let agent = connect(&mut desk, 1);
    call(&mut desk, agent, 1, "ide.run_in_terminal", json!({ "command": "ls" }));
    assert!(desk.running.is_empty(), "nobody allowed it yet");
    allow(&mut desk);
    let (ticket, tool, _) = take(&mut desk);
    let Tool::Run { terminal, command, .. } = tool else { panic!("{tool:?}") };
    assert_eq!(command, "ls");
    let ran = Ran { output: "a\n".into(), exit_code: Some(0), ..Ran::default() };
    desk.event(Event::ToolRan { ticket, result: Ok(Done::Ran(ran)) });
    assert_eq!(told(&desk, agent, 1).unwrap()["result"]["output"], "a\n");
    desk.tell(EDITOR, "detach", json!({}));
    assert_eq!(desk.closed_terminals, [terminal]);
}

#[test]
fn the_well_known_port_is_tried_again_and_moves_on_with_the_windows() {
    let mut desk = Desk::new();
    desk.well_known_free = false;
    desk.attach(EDITOR, json!({}));
    assert_eq!(desk.well_known, None);
    desk.well_known_free = true;
    desk.tell(EDITOR, "focus/changed", json!({ "focused": true }));
    assert_eq!(desk.well_known, Some(WindowId(1)));
    desk.attach(OTHER, json!({}));
    assert_eq!(desk.well_known, Some(WindowId(1)), "the first has it");
    desk.tell(EDITOR, "detach", json!({}));
    assert_eq!(desk.well_known, Some(WindowId(2)));
    desk.tell(OTHER, "detach", json!({}));
    assert_eq!(desk.well_known, None);
}

fn put_all(desk: &mut Desk, agent: AgentId, id: u64, files: &[(&str, &str)]) {
    let whole = |text: &str| {
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
        json!([{ "range": range, "newText": text }])
    };
    let files: Vec<Value> =
        files.iter().map(|(path, text)| json!({ "path": path, "edits": whole(text) })).collect();
    call(desk, agent, id, "ide.apply_edit", json!({ "files": files }));
}

fn decide(desk: &mut Desk, review: &str, verdict: &str) {
    let decision = json!({ "verdict": { "kind": verdict } });
    desk.ask(COMMAND, "reviews/decide", json!({ "review": review, "decision": decision }));
}

#[test]
fn a_set_is_answered_though_one_of_its_files_cannot_hold_the_text() {
    let mut desk = desk();
    // Latin-1, which has no arrow.
    desk.files.insert("/ws/old.txt".into(), b"caf\xe9 cr\xe8me br\xfbl\xe9e d\xe9j\xe0 vu\n".to_vec());
    desk.files.insert("/ws/new.txt".into(), b"new\n".to_vec());
    let agent = connect(&mut desk, 1);
    put_all(&mut desk, agent, 1, &[("old.txt", "→\n"), ("new.txt", "NEW\n")]);
    let waiting: Vec<String> = desk.reviews().iter().map(|review| review.id.to_string()).collect();
    for review in waiting {
        decide(&mut desk, &review, "accept");
    }
    let told = told(&desk, agent, 1).expect("an answer");
    assert_eq!((&told["success"], &told["code"]), (&json!(false), &json!("FAILED")), "{told}");
    let files = &told["result"]["files"];
    assert_eq!((&files[0]["applied"], &files[1]["applied"]), (&json!(false), &json!(true)), "{told}");
    assert_eq!(desk.files.get(&std::path::PathBuf::from("/ws/new.txt")).unwrap(), b"NEW\n");
}

#[test]
fn a_set_that_is_too_large_for_what_waits_leaves_nothing_behind() {
    let mut desk = desk();
    let agent = connect(&mut desk, 1);
    for id in 0..250 {
        call(
            &mut desk,
            agent,
            1000 + id,
            "ide.apply_edit",
            json!({ "path": format!("n{id}"), "content": "x" }),
        );
    }
    assert_eq!(desk.reviews().len(), 250);
    let names: Vec<String> = (0..10).map(|number| format!("set{number}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x\n")).collect();
    put_all(&mut desk, agent, 1, &files);
    assert_eq!(told(&desk, agent, 1).unwrap()["code"], "DENIED");
    assert_eq!(desk.reviews().len(), 250);
}

#[test]
fn a_set_whose_agent_left_while_its_files_were_read_leaves_nothing_behind() {
    let mut desk = desk();
    let agent = connect(&mut desk, 1);
    desk.hold_reads = true;
    put_all(&mut desk, agent, 1, &[("a.txt", "A\n"), ("b.txt", "B\n")]);
    desk.lose(agent);
    desk.let_reads_go();
    let held = desk.core.holdings().into_iter().find(|(what, _)| *what == "calls of several changes");
    assert_eq!((held.unwrap().1, desk.reviews().len()), (0, 0));
}

#[test]
fn what_a_person_has_begun_to_change_is_decided_by_nobody_else() {
    let mut desk = desk();
    desk.files.insert("/ws/a.txt".into(), b"one\n".to_vec());
    let first = connect(&mut desk, 1);
    let edit = json!({ "path": "a.txt", "content": "two\n" });
    call(&mut desk, first, 1, "ide.apply_edit", edit.clone());
    desk.lose(first);
    let edited = json!({ "review": "r1", "revision": 0, "text": "half of wh" });
    desk.ask(EDITOR, "review/edited", edited);
    let allow =
        json!({ "name": "ppxai", "dialect": "ppxai", "deeds": ["edit"], "folder": "/ws", "session": true });
    let again = connect(&mut desk, 3);
    let allowed = desk.ask(COMMAND, "clients/allow", allow);
    assert!(
        desk.answer_to(COMMAND, allowed).unwrap()["error"].is_null(),
        "{:?}",
        desk.answer_to(COMMAND, allowed)
    );
    call(&mut desk, again, 2, "ide.apply_edit", edit);
    desk.tell(EDITOR, "focus/changed", json!({ "focused": true }));
    assert_eq!(desk.file(), b"one\n");
    decide(&mut desk, "r1", "accept");
    assert_eq!(desk.file(), b"half of wh");
}

#[test]
fn a_question_names_the_repository_and_the_dialect() {
    let mut desk = desk();
    let agent = connect(&mut desk, 1);
    call(&mut desk, agent, 1, "ide.git_commit", json!({ "message": "done" }));
    let asked = &desk.asked_of_editor("user/ask")[0]["params"];
    assert_eq!(asked["detail"], "git -C /ws commit\n\ndone");
    assert_eq!(asked["question"], "Allow ppxai to commit this?");
}

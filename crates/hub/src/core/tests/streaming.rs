//! Agents that listen on a stream: when they are there, what they are told later, and where the person is.

use linkspan_review::{AgentId, ReviewId, WindowId};
use serde_json::{Value, json};

use super::desk::{COMMAND, Desk, EDITOR};
use super::{NEW, OLD};
use crate::core::{Event, Introduction, LocalId};

const PATH: &str = "/ws/a.txt";

fn desk() -> Desk {
    let mut desk = Desk::new();
    desk.attach(EDITOR, json!({ "reviews": true }));
    desk.event(Event::LocalOpened { local: COMMAND });
    desk.editor_answers.insert("ping", json!({}));
    desk
}

fn gemini() -> Introduction {
    Introduction { name: "Gemini CLI".into(), version: "0.61.0".into() }
}

/// A session of this key; `known`: of an earlier hub.
fn open(desk: &mut Desk, agent: u64, key: &str, known: Option<Introduction>) -> AgentId {
    let agent = AgentId(agent);
    let dialect = linkspan_dialect::by_name("gemini").unwrap();
    let fresh = known.is_none();
    desk.event(Event::SessionOpened { agent, window: WindowId(1), dialect, key: key.into(), known });
    if fresh {
        let client = json!({ "name": "streamable-http-client", "version": "0.61.0" });
        let hello = json!({ "protocolVersion": "2025-06-18", "clientInfo": client });
        desk.frame(agent, &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }));
        desk.frame(agent, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }
    agent
}

/// A session that listens.
fn listening(desk: &mut Desk, agent: u64, key: &str) -> AgentId {
    let agent = open(desk, agent, key, None);
    desk.event(Event::StreamOpened { agent, stream: 1, received: Vec::new() });
    agent
}

fn propose(desk: &mut Desk, agent: AgentId) {
    desk.call(agent, 71, "openDiff", json!({ "filePath": PATH, "newContent": NEW }));
}

fn told(desk: &Desk, agent: AgentId) -> Vec<&str> {
    let methods = desk.to_agents.iter().filter(|(to, _)| *to == agent);
    methods.filter_map(|(_, frame)| frame["method"].as_str()).filter(|method| *method != "ping").collect()
}

fn pings(desk: &Desk, agent: AgentId) -> usize {
    desk.to_agents.iter().filter(|(to, frame)| *to == agent && frame["method"] == "ping").count()
}

fn contexts(desk: &Desk, agent: AgentId) -> Vec<&Value> {
    let told = desk.to_agents.iter().filter(|(to, _)| *to == agent);
    let told = told.filter(|(_, frame)| frame["method"] == "ide/contextUpdate");
    told.map(|(_, frame)| &frame["params"]["workspaceState"]["openFiles"]).collect()
}

/// It answers the newest ping.
fn pong(desk: &mut Desk, agent: AgentId) {
    let last = desk.to_agents.iter().rfind(|(to, frame)| *to == agent && frame["method"] == "ping");
    let id = last.unwrap().1["id"].clone();
    desk.frame(agent, &json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
}

#[test]
fn a_proposal_is_answered_once_it_is_recorded_and_the_decision_told_later() {
    let mut desk = desk();
    let agent = listening(&mut desk, 1, "k");
    desk.hold_records = true;
    propose(&mut desk, agent);
    assert!(desk.answers(agent, 71).is_empty());
    desk.hold_records = false;
    desk.let_go(Ok(()));
    assert_eq!(desk.answers(agent, 71)[0]["result"], json!({ "content": [] }));
    desk.decide(COMMAND, "accept");
    assert_eq!(told(&desk, agent).last(), Some(&"ide/diffAccepted"));
    assert_eq!((desk.file(), desk.writes), (OLD, 0), "the agent writes");
    assert_eq!(desk.reviews().len(), 1, "not delivered yet");
    pong(&mut desk, agent);
    assert!(desk.reviews().is_empty());
}

#[test]
fn a_proposal_that_cannot_be_recorded_is_a_failed_tool() {
    let mut desk = desk();
    let agent = listening(&mut desk, 1, "k");
    desk.hold_records = true;
    propose(&mut desk, agent);
    desk.let_go(Err("disk full".into()));
    assert_eq!(desk.answers(agent, 71)[0]["result"]["isError"], true);
    assert!(!told(&desk, agent).iter().any(|method| method.starts_with("ide/diff")));
}

#[test]
fn a_session_that_nobody_listens_to_is_not_pinged_and_goes_after_a_minute() {
    let mut desk = desk();
    let agent = listening(&mut desk, 1, "k");
    desk.event(Event::StreamClosed { agent, stream: 1 });
    let before = pings(&desk, agent);
    desk.wait_seconds(59);
    assert_eq!((pings(&desk, agent), desk.closed_agents.len()), (before, 0));
    desk.wait_seconds(1);
    assert_eq!(desk.closed_agents, [agent]);
}

#[test]
fn a_session_that_is_listened_to_again_stays() {
    let mut desk = desk();
    let agent = listening(&mut desk, 1, "k");
    desk.event(Event::StreamClosed { agent, stream: 1 });
    desk.wait_seconds(50);
    desk.event(Event::StreamOpened { agent, stream: 2, received: Vec::new() });
    pong(&mut desk, agent);
    desk.wait_seconds(20);
    assert!(desk.closed_agents.is_empty());
    desk.wait_seconds(60);
    assert_eq!(desk.closed_agents, [agent], "it does not answer pings any more");
}

#[test]
fn the_late_end_of_a_stream_that_was_replaced_means_nothing() {
    let mut desk = desk();
    let agent = listening(&mut desk, 1, "k");
    desk.event(Event::StreamOpened { agent, stream: 2, received: Vec::new() });
    desk.event(Event::StreamClosed { agent, stream: 1 });
    let before = pings(&desk, agent);
    desk.wait_seconds(30);
    assert_eq!(pings(&desk, agent), before + 1, "it is still pinged");
}

#[test]
fn what_is_decided_while_nobody_listens_is_confirmed_on_the_next_stream() {
    let mut desk = desk();
    let agent = listening(&mut desk, 1, "k");
    pong(&mut desk, agent);
    propose(&mut desk, agent);
    desk.event(Event::StreamClosed { agent, stream: 1 });
    desk.decide(COMMAND, "reject");
    assert_eq!(told(&desk, agent).last(), Some(&"ide/diffRejected"), "it waits at the edge");
    pong(&mut desk, agent);
    assert_eq!(desk.reviews().len(), 1, "an old pong says nothing of it");
    desk.event(Event::StreamOpened { agent, stream: 1, received: Vec::new() });
    pong(&mut desk, agent);
    assert!(desk.reviews().is_empty());
}

#[test]
fn a_session_of_an_earlier_hub_is_told_what_is_decided_now_and_what_was_before() {
    for decided_before in [false, true] {
        let mut before = desk();
        let agent = listening(&mut before, 1, "k");
        propose(&mut before, agent);
        if decided_before {
            before.decide(COMMAND, "accept");
        }
        let mut desk = before.restart();
        desk.attach(EDITOR, json!({ "reviews": true }));
        desk.event(Event::LocalOpened { local: COMMAND });
        let stranger = open(&mut desk, 3, "other", Some(gemini()));
        let again = open(&mut desk, 5, "k", Some(gemini()));
        desk.event(Event::StreamOpened { agent: again, stream: 1, received: Vec::new() });
        if !decided_before {
            assert!(told(&desk, again).iter().all(|method| !method.starts_with("ide/diff")));
            desk.decide(COMMAND, "accept");
        }
        let last = desk.to_agents.iter().rfind(|(_, frame)| frame["method"] == "ide/diffAccepted").unwrap();
        assert_eq!((last.0, &last.1["params"]), (again, &json!({ "filePath": PATH, "content": NEW })));
        assert!(told(&desk, stranger).is_empty());
        pong(&mut desk, again);
        assert!(desk.reviews().is_empty(), "delivered, and done with");
    }
}

#[test]
fn a_change_taken_back_after_a_restart_is_the_one_that_was_asked_before() {
    let mut before = desk();
    let agent = listening(&mut before, 1, "k");
    propose(&mut before, agent);
    let mut desk = before.restart();
    desk.attach(EDITOR, json!({ "reviews": true }));
    let again = open(&mut desk, 5, "k", Some(gemini()));
    desk.call(again, 72, "closeDiff", json!({ "filePath": PATH, "suppressNotification": true }));
    let closed = desk.answers(again, 72)[0]["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(closed).unwrap(), json!({ "content": NEW }));
    assert!(desk.reviews().is_empty() && told(&desk, again).is_empty());
}

#[test]
fn a_window_that_closes_tells_that_no_decision_will_come() {
    let mut desk = desk();
    let agent = listening(&mut desk, 1, "k");
    propose(&mut desk, agent);
    desk.event(Event::LocalClosed { local: EDITOR });
    for _ in 0..12 {
        pong(&mut desk, agent);
        desk.wait_seconds(10);
    }
    assert_eq!(told(&desk, agent).last(), Some(&"ide/diffClosed"));
    assert!(desk.reviews().is_empty());
}

#[test]
fn a_hub_that_is_stopped_says_no_to_nobody_and_the_next_one_goes_on() {
    let mut before = desk();
    let agent = listening(&mut before, 1, "k");
    propose(&mut before, agent);
    before.event(Event::StopRequested);
    assert!(before.stopped && told(&before, agent).iter().all(|method| *method == "ide/contextUpdate"));
    let mut desk = before.restart();
    desk.attach(EDITOR, json!({ "reviews": true }));
    desk.event(Event::LocalOpened { local: COMMAND });
    let again = open(&mut desk, 5, "k", Some(gemini()));
    desk.event(Event::StreamOpened { agent: again, stream: 1, received: Vec::new() });
    desk.decide(COMMAND, "accept");
    assert!(told(&desk, again).contains(&"ide/diffAccepted"));
}

#[test]
fn a_decision_that_the_agent_received_from_an_earlier_hub_is_delivered() {
    let mut before = desk();
    let agent = listening(&mut before, 1, "k");
    propose(&mut before, agent);
    before.decide(COMMAND, "accept");
    let mut desk = before.restart();
    desk.attach(EDITOR, json!({ "reviews": true }));
    let again = open(&mut desk, 5, "k", Some(gemini()));
    assert_eq!(desk.reviews().len(), 1);
    desk.event(Event::StreamOpened { agent: again, stream: 1, received: vec![ReviewId(1)] });
    assert!(desk.reviews().is_empty());
}

#[test]
fn nobody_waits_for_the_reviews_of_an_agent_whose_stream_stays_closed() {
    let mut desk = desk();
    let agent = listening(&mut desk, 1, "k");
    propose(&mut desk, agent);
    desk.event(Event::StreamClosed { agent, stream: 1 });
    desk.wait_seconds(6);
    let refused = desk.decide(COMMAND, "accept");
    assert_eq!(desk.answer_to(COMMAND, refused).unwrap()["result"]["canWriteHere"], true);
    desk.event(Event::StreamOpened { agent, stream: 2, received: Vec::new() });
    desk.decide(COMMAND, "accept");
    assert_eq!(told(&desk, agent).iter().filter(|method| **method == "ide/diffAccepted").count(), 1);
}

#[test]
fn a_decision_on_its_way_is_not_told_twice_when_the_stream_is_back() {
    let mut desk = desk();
    let agent = listening(&mut desk, 1, "k");
    propose(&mut desk, agent);
    desk.event(Event::StreamClosed { agent, stream: 1 });
    desk.decide(COMMAND, "accept");
    desk.wait_seconds(6);
    desk.event(Event::StreamOpened { agent, stream: 2, received: Vec::new() });
    assert_eq!(told(&desk, agent).iter().filter(|method| **method == "ide/diffAccepted").count(), 1);
    pong(&mut desk, agent);
    assert!(desk.reviews().is_empty(), "delivered");
}

#[test]
fn a_decision_stands_though_the_hub_is_stopped_before_it_was_told() {
    let mut before = desk();
    let agent = listening(&mut before, 1, "k");
    propose(&mut before, agent);
    before.decide(COMMAND, "accept");
    before.event(Event::StopRequested);
    assert!(!told(&before, agent).contains(&"ide/diffClosed"));
    let mut desk = before.restart();
    desk.attach(EDITOR, json!({ "reviews": true }));
    let again = open(&mut desk, 5, "k", Some(gemini()));
    assert_eq!(told(&desk, again), ["ide/diffAccepted"]);
}

fn accept_latest(desk: &mut Desk) {
    let decision = json!({ "verdict": { "kind": "accept" } });
    desk.ask(COMMAND, "reviews/decide", json!({ "review": "latest", "decision": decision }));
}

/// Paths of the changes that an agent was told to be over.
fn closed(desk: &Desk, agent: AgentId) -> Vec<&str> {
    let closed =
        desk.to_agents.iter().filter(|(to, frame)| *to == agent && frame["method"] == "ide/diffClosed");
    closed.filter_map(|(_, frame)| frame["params"]["filePath"].as_str()).collect()
}

#[test]
fn an_agent_that_was_away_for_too_long_is_told_that_no_decision_will_come() {
    for decided in [false, true] {
        let mut desk = desk();
        let agent = listening(&mut desk, 1, "k");
        propose(&mut desk, agent);
        desk.lose(agent);
        if decided {
            desk.decide(COMMAND, "reject");
        }
        desk.wait_seconds(crate::config::Config::default().agent_grace_seconds + 1);
        assert!(desk.reviews().is_empty());
        let again = open(&mut desk, 5, "k", Some(gemini()));
        assert!(closed(&desk, again).is_empty(), "nobody listens");
        desk.event(Event::StreamOpened { agent: again, stream: 1, received: Vec::new() });
        assert_eq!(closed(&desk, again), [PATH], "decided: {decided}");
        pong(&mut desk, again);
        desk.event(Event::StreamOpened { agent: again, stream: 2, received: Vec::new() });
        assert_eq!(closed(&desk, again).len(), 1, "it has heard that");
    }
}

#[test]
fn a_change_that_is_asked_again_is_not_closed_by_what_became_of_the_one_before() {
    let mut desk = desk();
    let agent = listening(&mut desk, 1, "k");
    propose(&mut desk, agent);
    desk.lose(agent);
    desk.wait_seconds(crate::config::Config::default().agent_grace_seconds + 1);
    let again = open(&mut desk, 5, "k", Some(gemini()));
    propose(&mut desk, again);
    desk.event(Event::StreamOpened { agent: again, stream: 1, received: Vec::new() });
    accept_latest(&mut desk);
    desk.event(Event::StreamOpened { agent: again, stream: 2, received: Vec::new() });
    assert!(closed(&desk, again).is_empty());
    assert!(told(&desk, again).contains(&"ide/diffAccepted"));
}

#[test]
fn of_two_changes_of_one_path_the_newer_one_is_decided() {
    let mut desk = desk();
    let agent = listening(&mut desk, 1, "k");
    propose(&mut desk, agent);
    let other = "another\n";
    desk.call(agent, 72, "openDiff", json!({ "filePath": PATH, "newContent": other }));
    assert_eq!(desk.reviews().len(), 1);
    assert!(closed(&desk, agent).is_empty(), "it waits for the newer one under that name");
    assert_eq!(desk.answers(agent, 72)[0]["result"], json!({ "content": [] }));
    accept_latest(&mut desk);
    let last = desk.to_agents.iter().rfind(|(_, frame)| frame["method"] == "ide/diffAccepted").unwrap();
    assert_eq!(last.1["params"]["content"], other);
    assert_eq!(told(&desk, agent).iter().filter(|method| method.starts_with("ide/diff")).count(), 1);
}

#[test]
fn the_later_of_two_changes_stands_though_its_file_was_read_first() {
    let mut desk = desk();
    let agent = listening(&mut desk, 1, "k");
    desk.hold_reads = true;
    propose(&mut desk, agent);
    desk.call(agent, 72, "openDiff", json!({ "filePath": PATH, "newContent": "another\n" }));
    let mut reads = desk.take_reads();
    desk.hold_reads = false;
    reads.reverse();
    desk.give(reads);
    assert_eq!(desk.answers(agent, 71)[0]["result"]["isError"], true);
    assert_eq!(desk.answers(agent, 72)[0]["result"], json!({ "content": [] }));
    assert_eq!(desk.reviews().len(), 1);
}

fn editor_with(desk: &mut Desk, documents: Value) {
    desk.attach(EDITOR, json!({ "reviews": true, "documents": true, "selection": true }));
    desk.editor_answers.insert("ping", json!({}));
    desk.editor_answers.insert("selection/current", Value::Null);
    desk.editor_answers.insert("documents/list", json!({ "documents": documents }));
}

fn document(path: &str, active: bool) -> Value {
    json!({ "path": path, "label": path, "active": active })
}

#[test]
fn where_the_person_is_is_told_when_it_has_come_to_rest() {
    let mut desk = Desk::new();
    editor_with(&mut desk, json!([document("/ws/a.txt", true), document("/ws/b.txt", false)]));
    let agent = listening(&mut desk, 1, "k");
    assert!(contexts(&desk, agent).is_empty());
    desk.wait_seconds(1);
    assert_eq!(contexts(&desk, agent).len(), 1, "right after the stream opened");
    for character in 0..5 {
        let at = json!({ "line": 0, "character": character });
        let range = json!({ "start": at, "end": at });
        let selection = json!({ "path": "/ws/a.txt", "range": range, "isEmpty": true });
        desk.tell(EDITOR, "selection/changed", json!({ "selection": selection }));
    }
    desk.wait_seconds(1);
    assert_eq!(contexts(&desk, agent).len(), 2, "once for all of them");
    assert_eq!(contexts(&desk, agent)[1][0]["cursor"], json!({ "line": 1, "character": 5 }));
    desk.tell(EDITOR, "documents/changed", json!({}));
    desk.wait_seconds(1);
    assert_eq!(contexts(&desk, agent).len(), 2, "nothing changed");
}

#[test]
fn whoever_moves_on_is_not_at_rest_but_for_half_a_second() {
    let mut desk = Desk::new();
    editor_with(&mut desk, json!([document("/ws/a.txt", true)]));
    let agent = listening(&mut desk, 1, "k");
    desk.wait_seconds(1);
    let mut told_after = Vec::new();
    for character in 1..=25_u64 {
        let at = json!({ "line": 0, "character": character });
        let range = json!({ "start": at, "end": at });
        let selection = json!({ "path": "/ws/a.txt", "range": range, "isEmpty": true });
        desk.tell(EDITOR, "selection/changed", json!({ "selection": selection }));
        desk.wait_ms(40);
        told_after.push(contexts(&desk, agent).len() - 1);
    }
    assert_eq!((told_after[11], told_after[13]), (0, 1), "{told_after:?}");
    desk.wait_seconds(1);
    assert_eq!(contexts(&desk, agent).last().unwrap()[0]["cursor"]["character"], 26);
}

#[test]
fn what_cannot_be_seen_is_no_part_of_a_name() {
    let mut desk = desk();
    let (agent, dialect) = (AgentId(1), linkspan_dialect::by_name("gemini").unwrap());
    desk.event(Event::SessionOpened { agent, window: WindowId(1), dialect, key: "k".into(), known: None });
    let client = json!({ "name": "A\u{1f}ge\u{200b}nt", "version": "1\u{1f}2" });
    let hello = json!({ "protocolVersion": "2025-06-18", "clientInfo": client });
    desk.frame(agent, &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }));
    propose(&mut desk, agent);
    assert_eq!(desk.reviews()[0].owner_key, "gemini:Agent\u{1f}k");
}

#[test]
fn the_path_by_which_an_agent_knows_a_change_is_kept_whole() {
    let mut before = desk();
    let agent = listening(&mut before, 1, "k");
    let long = format!("/ws/{}link.txt", "folder/".repeat(100));
    before.hold_reads = true;
    before.call(agent, 71, "openDiff", json!({ "filePath": long, "newContent": NEW }));
    let mut reads = before.take_reads();
    for read in &mut reads {
        if let Event::FileRead { result: Ok(file), .. } = read {
            (file.path, file.exists, file.bytes) = (PATH.into(), true, OLD.into());
        }
    }
    before.give(reads);
    let mut desk = before.restart();
    desk.attach(EDITOR, json!({ "reviews": true }));
    desk.event(Event::LocalOpened { local: COMMAND });
    let again = open(&mut desk, 5, "k", Some(gemini()));
    accept_latest(&mut desk);
    let last =
        desk.to_agents.iter().rfind(|(to, frame)| *to == again && frame["method"] == "ide/diffAccepted");
    assert_eq!(last.unwrap().1["params"]["filePath"], long);
}

#[test]
fn the_file_she_went_to_last_is_the_newest_and_one_without_a_file_is_none() {
    let mut desk = Desk::new();
    editor_with(&mut desk, json!([document("/ws/a.txt", true), document("/ws/b.txt", false)]));
    let agent = listening(&mut desk, 1, "k");
    desk.wait_seconds(1);
    let untitled = json!({ "path": "Untitled-1", "label": "Untitled-1", "untitled": true });
    let twice = document("/ws/a.txt", false);
    let documents = json!([
        twice,
        document("/ws/a.txt", false),
        document("/ws/b.txt", true),
        untitled,
        document("/ws/new.txt", false)
    ]);
    desk.editor_answers.insert("documents/list", json!({ "documents": documents }));
    desk.tell(EDITOR, "documents/changed", json!({}));
    desk.wait_seconds(1);
    let now = contexts(&desk, agent)[1].as_array().unwrap();
    let paths: Vec<&Value> = now.iter().map(|file| &file["path"]).collect();
    assert_eq!(paths[0], "/ws/b.txt");
    assert_eq!(paths.len(), 3, "{paths:?}");
    assert!(now[0]["timestamp"].as_u64() > now[1]["timestamp"].as_u64(), "{now:?}");
    let active: Vec<bool> = now.iter().map(|file| file["isActive"].as_bool().unwrap()).collect();
    assert_eq!(active, [true, false, false]);
}

#[test]
fn nobody_is_asked_where_the_person_is_while_nobody_wants_to_know() {
    let mut desk = Desk::new();
    editor_with(&mut desk, json!([]));
    desk.connect(1, "claude");
    desk.tell(EDITOR, "documents/changed", json!({}));
    desk.wait_seconds(1);
    assert!(desk.asked_of_editor("documents/list").is_empty());
}

#[test]
fn an_editor_that_came_back_is_asked_again() {
    let mut desk = Desk::new();
    editor_with(&mut desk, json!([document("/ws/a.txt", true)]));
    let agent = listening(&mut desk, 1, "k");
    desk.wait_seconds(1);
    desk.event(Event::LocalClosed { local: EDITOR });
    desk.attach(LocalId(3), json!({ "reviews": true }));
    desk.wait_seconds(1);
    assert_eq!(contexts(&desk, agent).last(), Some(&&json!([])));
}

/// The first window of `hub/status`: the agents that are connected, and those that came back.
fn listed(desk: &mut Desk, agent: AgentId) -> (Vec<String>, Vec<String>) {
    let asked = desk.ask(COMMAND, "hub/status", json!({}));
    pong(desk, agent);
    let status = desk.answer_to(COMMAND, asked).unwrap();
    let ids = |list: &str| -> Vec<String> {
        let agents = status["result"]["windows"][0][list].as_array().into_iter().flatten();
        agents.map(|agent| agent["agent"].as_str().unwrap().to_owned()).collect()
    };
    (ids("agents"), ids("returnedAgents"))
}

#[test]
fn an_agent_that_came_back_by_itself_is_not_called_connected_until_it_asks_something() {
    let mut desk = desk();
    let agent = open(&mut desk, 3, "k", Some(gemini()));
    desk.event(Event::StreamOpened { agent, stream: 1, received: Vec::new() });
    pong(&mut desk, agent);
    assert_eq!(listed(&mut desk, agent), (vec![], vec!["a3".to_owned()]));
    propose(&mut desk, agent);
    assert_eq!(listed(&mut desk, agent), (vec!["a3".to_owned()], vec![]));
    desk.event(Event::StreamClosed { agent, stream: 1 });
    desk.event(Event::StreamOpened { agent, stream: 2, received: Vec::new() });
    assert_eq!(listed(&mut desk, agent), (vec![], vec!["a3".to_owned()]), "a stream that broke");
}

#[test]
fn an_agent_that_the_user_reconnected_is_listed_once() {
    let mut desk = desk();
    let old = open(&mut desk, 3, "k", Some(gemini()));
    desk.event(Event::StreamOpened { agent: old, stream: 1, received: Vec::new() });
    let other = listening(&mut desk, 5, "new");
    assert_eq!(desk.closed_agents, [old]);
    let third = listening(&mut desk, 7, "one more");
    assert_eq!(desk.closed_agents, [old], "{other} never lost its connection, {third} neither");
}

#[test]
fn an_agent_that_still_waits_for_a_decision_keeps_its_old_session() {
    let mut desk = desk();
    let old = listening(&mut desk, 3, "k");
    propose(&mut desk, old);
    desk.event(Event::StreamClosed { agent: old, stream: 1 });
    desk.event(Event::StreamOpened { agent: old, stream: 2, received: Vec::new() });
    listening(&mut desk, 5, "new");
    assert!(desk.closed_agents.is_empty());
    desk.decide(COMMAND, "accept");
    assert_eq!(told(&desk, old).last(), Some(&"ide/diffAccepted"));
}

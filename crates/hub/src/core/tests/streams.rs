//! Agents that listen on a stream: when they are there, what they are told later, and where the person is.

use linkspan_review::{AgentId, ReviewId, WindowId};
use serde_json::{Value, json};

use super::support::{COMMAND, EDITOR};
use super::{NEW, OLD};
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event, Introduction};

const PATH: &str = "/ws/a.txt";

fn attached_hub() -> CoreHarness {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "reviews": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    hub.editor_answers.insert("ping", json!({}));
    hub
}

fn gemini() -> Introduction {
    Introduction { name: "Gemini CLI".into(), version: "0.61.0".into() }
}

/// A session of this key; `known`: of an earlier hub.
fn open(hub: &mut CoreHarness, agent: u64, key: &str, known: Option<Introduction>) -> AgentId {
    let agent = AgentId(agent);
    let dialect = linkspan_dialect::by_name("gemini").unwrap();
    let fresh = known.is_none();
    hub.event(Event::SessionOpened { agent, window: WindowId(1), dialect, key: key.into(), known });
    if fresh {
        let client = json!({ "name": "streamable-http-client", "version": "0.61.0" });
        let hello = json!({ "protocolVersion": "2025-06-18", "clientInfo": client });
        hub.frame(agent, &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }));
        hub.frame(agent, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }
    agent
}

/// A session that listens.
fn listening(hub: &mut CoreHarness, agent: u64, key: &str) -> AgentId {
    let agent = open(hub, agent, key, None);
    hub.event(Event::StreamOpened { agent, stream: 1, received: Vec::new() });
    agent
}

fn propose(hub: &mut CoreHarness, agent: AgentId) {
    hub.call(agent, 71, "openDiff", json!({ "filePath": PATH, "newContent": NEW }));
}

fn notifications(hub: &CoreHarness, agent: AgentId) -> Vec<&str> {
    let methods = hub.to_agents.iter().filter(|(to, _)| *to == agent);
    methods.filter_map(|(_, frame)| frame["method"].as_str()).filter(|method| *method != "ping").collect()
}

fn pings(hub: &CoreHarness, agent: AgentId) -> usize {
    hub.to_agents.iter().filter(|(to, frame)| *to == agent && frame["method"] == "ping").count()
}

fn contexts(hub: &CoreHarness, agent: AgentId) -> Vec<&Value> {
    let told = hub.to_agents.iter().filter(|(to, _)| *to == agent);
    let told = told.filter(|(_, frame)| frame["method"] == "ide/contextUpdate");
    told.map(|(_, frame)| &frame["params"]["workspaceState"]["openFiles"]).collect()
}

/// It answers the newest ping.
fn pong(hub: &mut CoreHarness, agent: AgentId) {
    let last = hub.to_agents.iter().rfind(|(to, frame)| *to == agent && frame["method"] == "ping");
    let id = last.unwrap().1["id"].clone();
    hub.frame(agent, &json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
}

#[test]
fn a_proposal_is_answered_once_it_is_recorded_and_the_decision_sent_later() {
    let mut hub = attached_hub();
    let agent = listening(&mut hub, 1, "k");
    hub.hold_records = true;
    propose(&mut hub, agent);
    assert!(hub.answers(agent, 71).is_empty());
    hub.hold_records = false;
    hub.release_records(Ok(()));
    assert_eq!(hub.answers(agent, 71)[0]["result"], json!({ "content": [] }));
    hub.decide(COMMAND, "accept");
    assert_eq!(notifications(&hub, agent).last(), Some(&"ide/diffAccepted"));
    assert_eq!((hub.file(), hub.writes), (OLD, 0), "the agent writes");
    assert_eq!(hub.reviews().len(), 1, "not delivered yet");
    pong(&mut hub, agent);
    assert!(hub.reviews().is_empty());
}

#[test]
fn a_proposal_that_cannot_be_recorded_is_a_failed_tool() {
    let mut hub = attached_hub();
    let agent = listening(&mut hub, 1, "k");
    hub.hold_records = true;
    propose(&mut hub, agent);
    hub.release_records(Err("disk full".into()));
    assert_eq!(hub.answers(agent, 71)[0]["result"]["isError"], true);
    assert!(!notifications(&hub, agent).iter().any(|method| method.starts_with("ide/diff")));
}

#[test]
fn a_session_without_a_stream_is_not_pinged_and_ends_after_a_minute() {
    let mut hub = attached_hub();
    let agent = listening(&mut hub, 1, "k");
    hub.event(Event::StreamClosed { agent, stream: 1 });
    let before = pings(&hub, agent);
    hub.wait_seconds(59);
    assert_eq!((pings(&hub, agent), hub.closed_agents.len()), (before, 0));
    hub.wait_seconds(1);
    assert_eq!(hub.closed_agents, [agent]);
}

#[test]
fn a_session_that_is_listened_to_again_stays() {
    let mut hub = attached_hub();
    let agent = listening(&mut hub, 1, "k");
    hub.event(Event::StreamClosed { agent, stream: 1 });
    hub.wait_seconds(50);
    hub.event(Event::StreamOpened { agent, stream: 2, received: Vec::new() });
    pong(&mut hub, agent);
    hub.wait_seconds(20);
    assert!(hub.closed_agents.is_empty());
    hub.wait_seconds(60);
    assert_eq!(hub.closed_agents, [agent], "it no longer answers pings");
}

#[test]
fn the_late_end_of_a_stream_that_was_replaced_means_nothing() {
    let mut hub = attached_hub();
    let agent = listening(&mut hub, 1, "k");
    hub.event(Event::StreamOpened { agent, stream: 2, received: Vec::new() });
    hub.event(Event::StreamClosed { agent, stream: 1 });
    let before = pings(&hub, agent);
    hub.wait_seconds(30);
    assert_eq!(pings(&hub, agent), before + 1, "it is still pinged");
}

#[test]
fn a_decision_without_a_stream_is_confirmed_on_the_next_stream() {
    let mut hub = attached_hub();
    let agent = listening(&mut hub, 1, "k");
    pong(&mut hub, agent);
    propose(&mut hub, agent);
    hub.event(Event::StreamClosed { agent, stream: 1 });
    hub.decide(COMMAND, "reject");
    assert_eq!(notifications(&hub, agent).last(), Some(&"ide/diffRejected"), "it waits at the edge");
    pong(&mut hub, agent);
    assert_eq!(hub.reviews().len(), 1, "an old pong says nothing of it");
    hub.event(Event::StreamOpened { agent, stream: 1, received: Vec::new() });
    pong(&mut hub, agent);
    assert!(hub.reviews().is_empty());
}

#[test]
fn a_session_of_an_earlier_hub_receives_new_and_earlier_decisions() {
    for decided_before in [false, true] {
        let mut before = attached_hub();
        let agent = listening(&mut before, 1, "k");
        propose(&mut before, agent);
        if decided_before {
            before.decide(COMMAND, "accept");
        }
        let mut hub = before.restart();
        hub.attach(EDITOR, json!({ "reviews": true }));
        hub.event(Event::ConnectionOpened { connection: COMMAND });
        let stranger = open(&mut hub, 3, "other", Some(gemini()));
        let again = open(&mut hub, 5, "k", Some(gemini()));
        hub.event(Event::StreamOpened { agent: again, stream: 1, received: Vec::new() });
        if !decided_before {
            assert!(notifications(&hub, again).iter().all(|method| !method.starts_with("ide/diff")));
            hub.decide(COMMAND, "accept");
        }
        let last = hub.to_agents.iter().rfind(|(_, frame)| frame["method"] == "ide/diffAccepted").unwrap();
        assert_eq!((last.0, &last.1["params"]), (again, &json!({ "filePath": PATH, "content": NEW })));
        assert!(notifications(&hub, stranger).is_empty());
        pong(&mut hub, again);
        assert!(hub.reviews().is_empty(), "delivered, and done with");
    }
}

#[test]
fn a_change_taken_back_after_a_restart_is_the_one_that_was_asked_before() {
    let mut before = attached_hub();
    let agent = listening(&mut before, 1, "k");
    propose(&mut before, agent);
    let mut hub = before.restart();
    hub.attach(EDITOR, json!({ "reviews": true }));
    let again = open(&mut hub, 5, "k", Some(gemini()));
    hub.call(again, 72, "closeDiff", json!({ "filePath": PATH, "suppressNotification": true }));
    let closed = hub.answers(again, 72)[0]["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(closed).unwrap(), json!({ "content": NEW }));
    assert!(hub.reviews().is_empty() && notifications(&hub, again).is_empty());
}

#[test]
fn a_window_that_closes_tells_that_no_decision_will_come() {
    let mut hub = attached_hub();
    let agent = listening(&mut hub, 1, "k");
    propose(&mut hub, agent);
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    for _ in 0..12 {
        pong(&mut hub, agent);
        hub.wait_seconds(10);
    }
    assert_eq!(notifications(&hub, agent).last(), Some(&"ide/diffClosed"));
    assert!(hub.reviews().is_empty());
}

#[test]
fn a_hub_that_is_stopped_rejects_nothing_and_the_next_one_continues() {
    let mut before = attached_hub();
    let agent = listening(&mut before, 1, "k");
    propose(&mut before, agent);
    before.event(Event::StopRequested);
    assert!(
        before.stopped && notifications(&before, agent).iter().all(|method| *method == "ide/contextUpdate")
    );
    let mut hub = before.restart();
    hub.attach(EDITOR, json!({ "reviews": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    let again = open(&mut hub, 5, "k", Some(gemini()));
    hub.event(Event::StreamOpened { agent: again, stream: 1, received: Vec::new() });
    hub.decide(COMMAND, "accept");
    assert!(notifications(&hub, again).contains(&"ide/diffAccepted"));
}

#[test]
fn a_decision_that_the_agent_received_from_an_earlier_hub_is_delivered() {
    let mut before = attached_hub();
    let agent = listening(&mut before, 1, "k");
    propose(&mut before, agent);
    before.decide(COMMAND, "accept");
    let mut hub = before.restart();
    hub.attach(EDITOR, json!({ "reviews": true }));
    let again = open(&mut hub, 5, "k", Some(gemini()));
    assert_eq!(hub.reviews().len(), 1);
    hub.event(Event::StreamOpened { agent: again, stream: 1, received: vec![ReviewId(1)] });
    assert!(hub.reviews().is_empty());
}

#[test]
fn the_reviews_of_an_agent_whose_stream_stays_closed_have_no_owner() {
    let mut hub = attached_hub();
    let agent = listening(&mut hub, 1, "k");
    propose(&mut hub, agent);
    hub.event(Event::StreamClosed { agent, stream: 1 });
    hub.wait_seconds(6);
    let refused = hub.decide(COMMAND, "accept");
    assert_eq!(hub.response_to(COMMAND, refused).unwrap()["result"]["canWriteHere"], true);
    hub.event(Event::StreamOpened { agent, stream: 2, received: Vec::new() });
    hub.decide(COMMAND, "accept");
    assert_eq!(notifications(&hub, agent).iter().filter(|method| **method == "ide/diffAccepted").count(), 1);
}

#[test]
fn a_decision_on_its_way_is_not_sent_twice_when_the_stream_is_back() {
    let mut hub = attached_hub();
    let agent = listening(&mut hub, 1, "k");
    propose(&mut hub, agent);
    hub.event(Event::StreamClosed { agent, stream: 1 });
    hub.decide(COMMAND, "accept");
    hub.wait_seconds(6);
    hub.event(Event::StreamOpened { agent, stream: 2, received: Vec::new() });
    assert_eq!(notifications(&hub, agent).iter().filter(|method| **method == "ide/diffAccepted").count(), 1);
    pong(&mut hub, agent);
    assert!(hub.reviews().is_empty(), "delivered");
}

#[test]
fn a_decision_counts_though_the_hub_is_stopped_before_it_was_sent() {
    let mut before = attached_hub();
    let agent = listening(&mut before, 1, "k");
    propose(&mut before, agent);
    before.decide(COMMAND, "accept");
    before.event(Event::StopRequested);
    assert!(!notifications(&before, agent).contains(&"ide/diffClosed"));
    let mut hub = before.restart();
    hub.attach(EDITOR, json!({ "reviews": true }));
    let again = open(&mut hub, 5, "k", Some(gemini()));
    assert_eq!(notifications(&hub, again), ["ide/diffAccepted"]);
}

fn accept_latest(hub: &mut CoreHarness) {
    let decision = json!({ "verdict": { "kind": "accept" } });
    hub.request(COMMAND, "reviews/decide", json!({ "review": "latest", "decision": decision }));
}

/// Paths of the changes that an agent was told to be over.
fn closed(hub: &CoreHarness, agent: AgentId) -> Vec<&str> {
    let closed =
        hub.to_agents.iter().filter(|(to, frame)| *to == agent && frame["method"] == "ide/diffClosed");
    closed.filter_map(|(_, frame)| frame["params"]["filePath"].as_str()).collect()
}

#[test]
fn an_agent_that_was_away_for_too_long_receives_that_no_decision_will_come() {
    for decided in [false, true] {
        let mut hub = attached_hub();
        let agent = listening(&mut hub, 1, "k");
        propose(&mut hub, agent);
        hub.disconnect(agent);
        if decided {
            hub.decide(COMMAND, "reject");
        }
        hub.wait_seconds(crate::config::Config::default().agent_grace_seconds + 1);
        assert!(hub.reviews().is_empty());
        let again = open(&mut hub, 5, "k", Some(gemini()));
        assert!(closed(&hub, again).is_empty(), "it has no stream");
        hub.event(Event::StreamOpened { agent: again, stream: 1, received: Vec::new() });
        assert_eq!(closed(&hub, again), [PATH], "decided: {decided}");
        pong(&mut hub, again);
        hub.event(Event::StreamOpened { agent: again, stream: 2, received: Vec::new() });
        assert_eq!(closed(&hub, again).len(), 1, "it has heard that");
    }
}

#[test]
fn a_repeated_change_is_not_closed_by_the_outcome_of_the_earlier_one() {
    let mut hub = attached_hub();
    let agent = listening(&mut hub, 1, "k");
    propose(&mut hub, agent);
    hub.disconnect(agent);
    hub.wait_seconds(crate::config::Config::default().agent_grace_seconds + 1);
    let again = open(&mut hub, 5, "k", Some(gemini()));
    propose(&mut hub, again);
    hub.event(Event::StreamOpened { agent: again, stream: 1, received: Vec::new() });
    accept_latest(&mut hub);
    hub.event(Event::StreamOpened { agent: again, stream: 2, received: Vec::new() });
    assert!(closed(&hub, again).is_empty());
    assert!(notifications(&hub, again).contains(&"ide/diffAccepted"));
}

#[test]
fn of_two_changes_of_one_path_the_newer_one_is_decided() {
    let mut hub = attached_hub();
    let agent = listening(&mut hub, 1, "k");
    propose(&mut hub, agent);
    let other = "another\n";
    hub.call(agent, 72, "openDiff", json!({ "filePath": PATH, "newContent": other }));
    assert_eq!(hub.reviews().len(), 1);
    assert!(closed(&hub, agent).is_empty(), "it waits for the newer one under that name");
    assert_eq!(hub.answers(agent, 72)[0]["result"], json!({ "content": [] }));
    accept_latest(&mut hub);
    let last = hub.to_agents.iter().rfind(|(_, frame)| frame["method"] == "ide/diffAccepted").unwrap();
    assert_eq!(last.1["params"]["content"], other);
    assert_eq!(notifications(&hub, agent).iter().filter(|method| method.starts_with("ide/diff")).count(), 1);
}

#[test]
fn the_later_of_two_changes_stands_though_its_file_was_read_first() {
    let mut hub = attached_hub();
    let agent = listening(&mut hub, 1, "k");
    hub.hold_reads = true;
    propose(&mut hub, agent);
    hub.call(agent, 72, "openDiff", json!({ "filePath": PATH, "newContent": "another\n" }));
    let mut reads = hub.take_reads();
    hub.hold_reads = false;
    reads.reverse();
    hub.events(reads);
    assert_eq!(hub.answers(agent, 71)[0]["result"]["isError"], true);
    assert_eq!(hub.answers(agent, 72)[0]["result"], json!({ "content": [] }));
    assert_eq!(hub.reviews().len(), 1);
}

fn editor_with(hub: &mut CoreHarness, documents: Value) {
    hub.attach(EDITOR, json!({ "reviews": true, "documents": true, "selection": true }));
    hub.editor_answers.insert("ping", json!({}));
    hub.editor_answers.insert("selection/current", Value::Null);
    hub.editor_answers.insert("documents/list", json!({ "documents": documents }));
}

fn document(path: &str, active: bool) -> Value {
    json!({ "path": path, "label": path, "active": active })
}

#[test]
fn the_selection_is_sent_when_it_has_not_changed_for_a_while() {
    let mut hub = CoreHarness::new();
    editor_with(&mut hub, json!([document("/ws/a.txt", true), document("/ws/b.txt", false)]));
    let agent = listening(&mut hub, 1, "k");
    assert!(contexts(&hub, agent).is_empty());
    hub.wait_seconds(1);
    assert_eq!(contexts(&hub, agent).len(), 1, "right after the stream opened");
    for character in 0..5 {
        let at = json!({ "line": 0, "character": character });
        let range = json!({ "start": at, "end": at });
        let selection = json!({ "path": "/ws/a.txt", "range": range, "isEmpty": true });
        hub.notify(EDITOR, "selection/changed", json!({ "selection": selection }));
    }
    hub.wait_seconds(1);
    assert_eq!(contexts(&hub, agent).len(), 2, "once for all of them");
    assert_eq!(contexts(&hub, agent)[1][0]["cursor"], json!({ "line": 1, "character": 5 }));
    hub.notify(EDITOR, "documents/changed", json!({}));
    hub.wait_seconds(1);
    assert_eq!(contexts(&hub, agent).len(), 2, "nothing changed");
}

#[test]
fn a_selection_that_keeps_changing_is_sent_after_half_a_second_at_the_latest() {
    let mut hub = CoreHarness::new();
    editor_with(&mut hub, json!([document("/ws/a.txt", true)]));
    let agent = listening(&mut hub, 1, "k");
    hub.wait_seconds(1);
    let mut told_after = Vec::new();
    for character in 1..=25_u64 {
        let at = json!({ "line": 0, "character": character });
        let range = json!({ "start": at, "end": at });
        let selection = json!({ "path": "/ws/a.txt", "range": range, "isEmpty": true });
        hub.notify(EDITOR, "selection/changed", json!({ "selection": selection }));
        hub.wait_ms(40);
        told_after.push(contexts(&hub, agent).len() - 1);
    }
    assert_eq!((told_after[11], told_after[13]), (0, 1), "{told_after:?}");
    hub.wait_seconds(1);
    assert_eq!(contexts(&hub, agent).last().unwrap()[0]["cursor"]["character"], 26);
}

#[test]
fn invisible_characters_are_not_part_of_a_name() {
    let mut hub = attached_hub();
    let (agent, dialect) = (AgentId(1), linkspan_dialect::by_name("gemini").unwrap());
    hub.event(Event::SessionOpened { agent, window: WindowId(1), dialect, key: "k".into(), known: None });
    let client = json!({ "name": "A\u{1f}ge\u{200b}nt", "version": "1\u{1f}2" });
    let hello = json!({ "protocolVersion": "2025-06-18", "clientInfo": client });
    hub.frame(agent, &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }));
    propose(&mut hub, agent);
    assert_eq!(hub.reviews()[0].owner_key, "gemini:Agent\u{1f}k");
}

#[test]
fn the_path_by_which_an_agent_knows_a_change_is_kept_whole() {
    let mut before = attached_hub();
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
    before.events(reads);
    let mut hub = before.restart();
    hub.attach(EDITOR, json!({ "reviews": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    let again = open(&mut hub, 5, "k", Some(gemini()));
    accept_latest(&mut hub);
    let last =
        hub.to_agents.iter().rfind(|(to, frame)| *to == again && frame["method"] == "ide/diffAccepted");
    assert_eq!(last.unwrap().1["params"]["filePath"], long);
}

#[test]
fn the_file_that_was_focused_last_is_the_newest_and_untitled_documents_do_not_count() {
    let mut hub = CoreHarness::new();
    editor_with(&mut hub, json!([document("/ws/a.txt", true), document("/ws/b.txt", false)]));
    let agent = listening(&mut hub, 1, "k");
    hub.wait_seconds(1);
    let untitled = json!({ "path": "Untitled-1", "label": "Untitled-1", "untitled": true });
    let twice = document("/ws/a.txt", false);
    let documents = json!([
        twice,
        document("/ws/a.txt", false),
        document("/ws/b.txt", true),
        untitled,
        document("/ws/new.txt", false)
    ]);
    hub.editor_answers.insert("documents/list", json!({ "documents": documents }));
    hub.notify(EDITOR, "documents/changed", json!({}));
    hub.wait_seconds(1);
    let now = contexts(&hub, agent)[1].as_array().unwrap();
    let paths: Vec<&Value> = now.iter().map(|file| &file["path"]).collect();
    assert_eq!(paths[0], "/ws/b.txt");
    assert_eq!(paths.len(), 3, "{paths:?}");
    assert!(now[0]["timestamp"].as_u64() > now[1]["timestamp"].as_u64(), "{now:?}");
    let active: Vec<bool> = now.iter().map(|file| file["isActive"].as_bool().unwrap()).collect();
    assert_eq!(active, [true, false, false]);
}

#[test]
fn the_editor_is_not_asked_for_its_selection_while_no_agent_follows_it() {
    let mut hub = CoreHarness::new();
    editor_with(&mut hub, json!([]));
    hub.connect(1, "claude");
    hub.notify(EDITOR, "documents/changed", json!({}));
    hub.wait_seconds(1);
    assert!(hub.requests_to_editor("documents/list").is_empty());
}

#[test]
fn an_editor_that_came_back_is_asked_again() {
    let mut hub = CoreHarness::new();
    editor_with(&mut hub, json!([document("/ws/a.txt", true)]));
    let agent = listening(&mut hub, 1, "k");
    hub.wait_seconds(1);
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    hub.attach(ConnectionId(3), json!({ "reviews": true }));
    hub.wait_seconds(1);
    assert_eq!(contexts(&hub, agent).last(), Some(&&json!([])));
}

/// The first window of `hub/status`: the agents that are connected, and those that came back.
fn listed(hub: &mut CoreHarness, agent: AgentId) -> (Vec<String>, Vec<String>) {
    let asked = hub.request(COMMAND, "hub/status", json!({}));
    pong(hub, agent);
    let status = hub.response_to(COMMAND, asked).unwrap();
    let ids = |list: &str| -> Vec<String> {
        let agents = status["result"]["windows"][0][list].as_array().into_iter().flatten();
        agents.map(|agent| agent["agent"].as_str().unwrap().to_owned()).collect()
    };
    (ids("agents"), ids("returnedAgents"))
}

#[test]
fn an_agent_that_came_back_by_itself_is_not_called_connected_until_it_asks_something() {
    let mut hub = attached_hub();
    let agent = open(&mut hub, 3, "k", Some(gemini()));
    hub.event(Event::StreamOpened { agent, stream: 1, received: Vec::new() });
    pong(&mut hub, agent);
    assert_eq!(listed(&mut hub, agent), (vec![], vec!["a3".to_owned()]));
    propose(&mut hub, agent);
    assert_eq!(listed(&mut hub, agent), (vec!["a3".to_owned()], vec![]));
    hub.event(Event::StreamClosed { agent, stream: 1 });
    hub.event(Event::StreamOpened { agent, stream: 2, received: Vec::new() });
    assert_eq!(listed(&mut hub, agent), (vec![], vec!["a3".to_owned()]), "a stream that broke");
}

#[test]
fn an_agent_that_the_user_reconnected_is_listed_once() {
    let mut hub = attached_hub();
    let old = open(&mut hub, 3, "k", Some(gemini()));
    hub.event(Event::StreamOpened { agent: old, stream: 1, received: Vec::new() });
    let other = listening(&mut hub, 5, "new");
    assert_eq!(hub.closed_agents, [old]);
    let third = listening(&mut hub, 7, "one more");
    assert_eq!(hub.closed_agents, [old], "{other} never lost its connection, {third} neither");
}

#[test]
fn an_agent_that_still_waits_for_a_decision_keeps_its_old_session() {
    let mut hub = attached_hub();
    let old = listening(&mut hub, 3, "k");
    propose(&mut hub, old);
    hub.event(Event::StreamClosed { agent: old, stream: 1 });
    hub.event(Event::StreamOpened { agent: old, stream: 2, received: Vec::new() });
    listening(&mut hub, 5, "new");
    assert!(hub.closed_agents.is_empty());
    hub.decide(COMMAND, "accept");
    assert_eq!(notifications(&hub, old).last(), Some(&"ide/diffAccepted"));
}

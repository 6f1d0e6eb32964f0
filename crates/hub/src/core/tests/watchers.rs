//! What a watcher hears of a review's life and of its window, and in which order.

use linkspan_review::{AgentId, WindowId};
use serde_json::{Value, json};

use super::support::{COMMAND, EDITOR};
use super::{NEW, hub_and_agent, own_dialect};
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

const WATCHER: ConnectionId = ConnectionId(9);

fn watched(dialect: &str, window: Value) -> (CoreHarness, AgentId) {
    let (mut hub, agent) = hub_and_agent(dialect);
    hub.event(Event::ConnectionOpened { connection: WATCHER });
    let id = hub.request(WATCHER, "hub/watch", window);
    assert_eq!(hub.response_to(WATCHER, id).unwrap()["result"], Value::Null);
    (hub, agent)
}

fn watched_events(hub: &CoreHarness) -> Vec<&Value> {
    let events =
        hub.to_connections.iter().filter(|(to, message)| *to == WATCHER && message["method"] == "hub/event");
    events.map(|(_, message)| &message["params"]["what"]).collect()
}

/// What was heard of reviews, in a word each.
fn changes(hub: &CoreHarness) -> Vec<&str> {
    let reviews = watched_events(hub).into_iter().filter(|what| what["kind"] == "review");
    reviews.map(|what| what["change"]["kind"].as_str().unwrap()).collect()
}

#[test]
fn every_step_of_a_review_is_published_in_order() {
    let (mut hub, agent) = watched("nexus3", json!({}));
    hub.propose(agent, 1, NEW);
    hub.notify(EDITOR, "review/shown", json!({ "review": "r1", "revision": 0 }));
    hub.request(EDITOR, "review/edited", json!({ "review": "r1", "revision": 0, "text": "one\nzwei\n" }));
    hub.decide(COMMAND, "accept");
    hub.pong(agent);
    assert_eq!(changes(&hub), ["proposed", "shown", "edited", "decided", "written", "delivered"]);
    let told = watched_events(&hub);
    assert_eq!(told[0]["summary"]["phase"], "pending");
    assert_eq!(told[3]["change"]["verdict"], "acceptEdited");
    assert_eq!(told[5].get("summary"), None, "it is forgotten");
}

#[test]
fn the_published_size_is_that_of_the_newest_revision() {
    let (mut hub, agent) = watched("nexus3", json!({}));
    hub.propose(agent, 1, NEW);
    hub.request(EDITOR, "review/edited", json!({ "review": "r1", "revision": 0, "text": "one\n2\n3\n" }));
    let added: Vec<&Value> = watched_events(&hub).into_iter().map(|what| &what["summary"]["added"]).collect();
    assert_eq!(added, [&json!(1), &json!(2)]);
    hub.files.insert("/ws/a.txt".into(), b"zero\none\ntwo\n".to_vec());
    hub.decide(COMMAND, "accept");
    let list = hub.request(COMMAND, "reviews/list", json!({ "all": true }));
    let listed = &hub.response_to(COMMAND, list).unwrap()["result"]["reviews"][0];
    assert_eq!((&listed["hunks"], &listed["added"], &listed["removed"]), (&json!(1), &json!(2), &json!(1)));
}

#[test]
fn a_large_change_is_compared_once_however_often_it_is_listed() {
    let (mut hub, agent) = watched("nexus3", json!({}));
    let lines = |word: &str| (0..4_000).map(|n| format!("{} {word}\n", n * 7919 % 4_001)).collect::<String>();
    hub.files.insert("/ws/a.txt".into(), lines("old").into_bytes());
    hub.propose(agent, 1, &lines("new"));
    let took = |hub: &mut CoreHarness| {
        let begun = std::time::Instant::now();
        hub.request(COMMAND, "reviews/list", json!({}));
        begun.elapsed()
    };
    let first = {
        let review = hub.reviews()[0];
        let begun = std::time::Instant::now();
        assert!(!review.hunks().is_empty());
        begun.elapsed()
    };
    let later = (0..20).map(|_| took(&mut hub)).min().unwrap();
    assert!(later * 3 < first, "{later:?} of {first:?}");
}

#[test]
fn nothing_is_published_before_it_is_recorded() {
    let (mut hub, agent) = watched("claude", json!({}));
    hub.hold_records = true;
    hub.propose(agent, 1, NEW);
    assert_eq!(changes(&hub), [""; 0]);
    hub.release_records(Ok(()));
    hub.decide(COMMAND, "accept");
    assert_eq!(changes(&hub), ["proposed"]);
    hub.release_records(Err("disk full".into()));
    assert_eq!(changes(&hub), ["proposed"], "the decision was refused");
}

#[test]
fn a_change_that_was_withdrawn_or_rebased_is_published_as_such() {
    let (mut hub, agent) = watched("claude", json!({}));
    hub.propose(agent, 1, NEW);
    hub.files.insert("/ws/a.txt".into(), b"one\nzwei\n".to_vec());
    hub.decide(COMMAND, "accept");
    hub.call(agent, 2, "close_tab", json!({ "tab_name": "tab" }));
    assert_eq!(changes(&hub), ["proposed", "rebased", "withdrawn"]);
    assert_eq!(watched_events(&hub)[1]["change"]["conflicts"], 1);
}

#[test]
fn events_in_the_window_are_published_without_denied_files() {
    let (mut hub, agent) = watched("claude", json!({ "window": "w1" }));
    let place = json!({ "line": 0, "character": 1 });
    let select = |path: &str| json!({ "selection": { "path": path, "text": "x", "range": { "start": place, "end": place }, "isEmpty": false } });
    hub.notify(EDITOR, "selection/changed", select("/ws/a.txt"));
    hub.notify(EDITOR, "selection/changed", select("/ws/.env"));
    hub.notify(EDITOR, "mentioned", json!({ "path": "/ws/a.txt", "lines": { "first": 1, "last": 2 } }));
    hub.notify(EDITOR, "mentioned", json!({ "path": "/ws/.env" }));
    hub.notify(
        EDITOR,
        "diagnostics/changed",
        json!({ "files": [{ "path": "/ws/.env" }, { "path": "/ws/a.txt" }] }),
    );
    hub.disconnect(agent);
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    hub.attach(EDITOR, json!({}));
    let kinds: Vec<&str> =
        watched_events(&hub).into_iter().map(|what| what["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["selection", "mentioned", "diagnostics", "agentLeft", "away", "attached"]);
    assert_eq!(watched_events(&hub)[2]["paths"], json!(["/ws/a.txt"]));
}

/// Who came and who left.
fn comings(hub: &CoreHarness) -> Vec<(&str, &str)> {
    let agents =
        watched_events(hub).into_iter().filter_map(|what| what["kind"].as_str().zip(what["agent"].as_str()));
    agents.collect()
}

#[test]
fn an_agent_on_the_hubs_own_socket_is_seen_to_come_and_to_leave() {
    const AGENT: ConnectionId = ConnectionId(11);
    let (mut hub, _) = watched("claude", json!({}));
    own_dialect::join(&mut hub, AGENT, "k3y");
    hub.event(Event::ConnectionClosed { connection: AGENT });
    assert_eq!(comings(&hub), [("agentJoined", "a2"), ("agentLeft", "a2")]);
}

#[test]
fn an_agent_that_never_introduced_itself_is_not_published_when_it_leaves() {
    let (mut hub, _) = watched("claude", json!({}));
    let (agent, window) = (AgentId(5), WindowId(1));
    let dialect = linkspan_dialect::by_name("claude").unwrap();
    hub.event(Event::AgentOpened { agent, window, dialect, called: None });
    hub.disconnect(agent);
    assert_eq!(comings(&hub), []);
}

#[test]
fn a_watcher_of_another_window_receives_nothing_and_one_that_left_is_sent_nothing() {
    let (mut hub, agent) = watched("claude", json!({ "window": "w2" }));
    hub.propose(agent, 1, NEW);
    assert!(watched_events(&hub).is_empty());
    let (mut hub, agent) = watched("claude", json!({}));
    hub.event(Event::ConnectionClosed { connection: WATCHER });
    hub.propose(agent, 1, NEW);
    assert!(watched_events(&hub).is_empty());
}

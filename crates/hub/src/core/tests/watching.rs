//! What a watcher hears of a review's life and of its window, and in which order.

use linkspan_review::{AgentId, WindowId};
use serde_json::{Value, json};

use super::desk::{COMMAND, Desk, EDITOR};
use super::{NEW, desk, own};
use crate::core::{Event, LocalId};

const WATCHER: LocalId = LocalId(9);

fn watched(dialect: &str, window: Value) -> (Desk, AgentId) {
    let (mut desk, agent) = desk(dialect);
    desk.event(Event::LocalOpened { local: WATCHER });
    let id = desk.ask(WATCHER, "hub/watch", window);
    assert_eq!(desk.answer_to(WATCHER, id).unwrap()["result"], Value::Null);
    (desk, agent)
}

fn heard(desk: &Desk) -> Vec<&Value> {
    let events =
        desk.to_locals.iter().filter(|(to, message)| *to == WATCHER && message["method"] == "hub/event");
    events.map(|(_, message)| &message["params"]["what"]).collect()
}

/// What was heard of reviews, in a word each.
fn changes(desk: &Desk) -> Vec<&str> {
    let reviews = heard(desk).into_iter().filter(|what| what["kind"] == "review");
    reviews.map(|what| what["change"]["kind"].as_str().unwrap()).collect()
}

#[test]
fn the_whole_life_of_a_review_is_told_in_order() {
    let (mut desk, agent) = watched("nexus3", json!({}));
    desk.propose(agent, 1, NEW);
    desk.tell(EDITOR, "review/shown", json!({ "review": "r1", "revision": 0 }));
    desk.ask(EDITOR, "review/edited", json!({ "review": "r1", "revision": 0, "text": "one\nzwei\n" }));
    desk.decide(COMMAND, "accept");
    desk.pong(agent);
    assert_eq!(changes(&desk), ["proposed", "shown", "edited", "decided", "written", "delivered"]);
    let told = heard(&desk);
    assert_eq!(told[0]["summary"]["phase"], "pending");
    assert_eq!(told[3]["change"]["verdict"], "acceptEdited");
    assert_eq!(told[5].get("summary"), None, "it is forgotten");
}

#[test]
fn the_size_that_is_told_is_that_of_the_newest_revision() {
    let (mut desk, agent) = watched("nexus3", json!({}));
    desk.propose(agent, 1, NEW);
    desk.ask(EDITOR, "review/edited", json!({ "review": "r1", "revision": 0, "text": "one\n2\n3\n" }));
    let added: Vec<&Value> = heard(&desk).into_iter().map(|what| &what["summary"]["added"]).collect();
    assert_eq!(added, [&json!(1), &json!(2)]);
    desk.files.insert("/ws/a.txt".into(), b"zero\none\ntwo\n".to_vec());
    desk.decide(COMMAND, "accept");
    let list = desk.ask(COMMAND, "reviews/list", json!({ "all": true }));
    let listed = &desk.answer_to(COMMAND, list).unwrap()["result"]["reviews"][0];
    assert_eq!((&listed["hunks"], &listed["added"], &listed["removed"]), (&json!(1), &json!(2), &json!(1)));
}

#[test]
fn a_large_change_is_compared_once_however_often_it_is_listed() {
    let (mut desk, agent) = watched("nexus3", json!({}));
    let lines = |word: &str| (0..4_000).map(|n| format!("{} {word}\n", n * 7919 % 4_001)).collect::<String>();
    desk.files.insert("/ws/a.txt".into(), lines("old").into_bytes());
    desk.propose(agent, 1, &lines("new"));
    let took = |desk: &mut Desk| {
        let begun = std::time::Instant::now();
        desk.ask(COMMAND, "reviews/list", json!({}));
        begun.elapsed()
    };
    let first = {
        let review = desk.reviews()[0];
        let begun = std::time::Instant::now();
        assert!(!review.hunks().is_empty());
        begun.elapsed()
    };
    let later = (0..20).map(|_| took(&mut desk)).min().unwrap();
    assert!(later * 3 < first, "{later:?} of {first:?}");
}

#[test]
fn nothing_is_told_before_it_is_recorded() {
    let (mut desk, agent) = watched("claude", json!({}));
    desk.hold_records = true;
    desk.propose(agent, 1, NEW);
    assert_eq!(changes(&desk), [""; 0]);
    desk.let_go(Ok(()));
    desk.decide(COMMAND, "accept");
    assert_eq!(changes(&desk), ["proposed"]);
    desk.let_go(Err("disk full".into()));
    assert_eq!(changes(&desk), ["proposed"], "the decision was refused");
}

#[test]
fn a_change_taken_back_or_moved_is_told_as_such() {
    let (mut desk, agent) = watched("claude", json!({}));
    desk.propose(agent, 1, NEW);
    desk.files.insert("/ws/a.txt".into(), b"one\nzwei\n".to_vec());
    desk.decide(COMMAND, "accept");
    desk.call(agent, 2, "close_tab", json!({ "tab_name": "tab" }));
    assert_eq!(changes(&desk), ["proposed", "rebased", "withdrawn"]);
    assert_eq!(heard(&desk)[1]["change"]["conflicts"], 1);
}

#[test]
fn what_happens_in_the_window_is_told_without_what_is_denied() {
    let (mut desk, agent) = watched("claude", json!({ "window": "w1" }));
    let place = json!({ "line": 0, "character": 1 });
    let select = |path: &str| json!({ "selection": { "path": path, "text": "x", "range": { "start": place, "end": place }, "isEmpty": false } });
    desk.tell(EDITOR, "selection/changed", select("/ws/a.txt"));
    desk.tell(EDITOR, "selection/changed", select("/ws/.env"));
    desk.tell(EDITOR, "mentioned", json!({ "path": "/ws/a.txt", "lines": { "first": 1, "last": 2 } }));
    desk.tell(EDITOR, "mentioned", json!({ "path": "/ws/.env" }));
    desk.tell(
        EDITOR,
        "diagnostics/changed",
        json!({ "files": [{ "path": "/ws/.env" }, { "path": "/ws/a.txt" }] }),
    );
    desk.lose(agent);
    desk.event(Event::LocalClosed { local: EDITOR });
    desk.attach(EDITOR, json!({}));
    let kinds: Vec<&str> = heard(&desk).into_iter().map(|what| what["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["selection", "mentioned", "diagnostics", "agentLeft", "away", "attached"]);
    assert_eq!(heard(&desk)[2]["paths"], json!(["/ws/a.txt"]));
}

/// Who came and who left.
fn comings(desk: &Desk) -> Vec<(&str, &str)> {
    let agents = heard(desk).into_iter().filter_map(|what| what["kind"].as_str().zip(what["agent"].as_str()));
    agents.collect()
}

#[test]
fn an_agent_on_the_hubs_own_socket_is_seen_to_come_and_to_leave() {
    const AGENT: LocalId = LocalId(11);
    let (mut desk, _) = watched("claude", json!({}));
    own::join(&mut desk, AGENT, "k3y");
    desk.event(Event::LocalClosed { local: AGENT });
    assert_eq!(comings(&desk), [("agentJoined", "a2"), ("agentLeft", "a2")]);
}

#[test]
fn who_never_said_who_it_is_does_not_leave_either() {
    let (mut desk, _) = watched("claude", json!({}));
    let (agent, window) = (AgentId(5), WindowId(1));
    let dialect = linkspan_dialect::by_name("claude").unwrap();
    desk.event(Event::AgentOpened { agent, window, dialect, called: None });
    desk.lose(agent);
    assert_eq!(comings(&desk), []);
}

#[test]
fn a_watcher_of_another_window_hears_nothing_and_one_that_left_is_sent_nothing() {
    let (mut desk, agent) = watched("claude", json!({ "window": "w2" }));
    desk.propose(agent, 1, NEW);
    assert!(heard(&desk).is_empty());
    let (mut desk, agent) = watched("claude", json!({}));
    desk.event(Event::LocalClosed { local: WATCHER });
    desk.propose(agent, 1, NEW);
    assert!(heard(&desk).is_empty());
}

//! What surfaces are told about an agent that does not receive every word, and when.

use serde_json::{Value, json};

use super::own_dialect::call;
use super::support::{COMMAND, EDITOR};
use super::{NEW, hub_and_agent};
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

const AGENT: ConnectionId = ConnectionId(11);
const AGAIN: ConnectionId = ConnectionId(12);

/// An agent of our own dialect that says this about its model, and its proposal.
fn proposed_by_own(hub: &mut CoreHarness, connection: ConnectionId, receives: Option<Value>) -> i64 {
    hub.event(Event::ConnectionOpened { connection });
    let mut join = json!({ "window": "w1", "session": "k3y", "name": "tester", "version": "1" });
    if let Some(receives) = receives {
        join["receives"] = receives;
    }
    hub.request(connection, "agent/join", join);
    call(hub, connection, "proposeChange", json!({ "path": "/ws/a.txt", "newText": NEW }))
}

fn own_hub() -> CoreHarness {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "reviews": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    hub
}

fn last_shown(hub: &CoreHarness) -> Value {
    hub.shown().last().unwrap()["params"].clone()
}

fn listed(hub: &mut CoreHarness) -> Value {
    let list = hub.request(COMMAND, "reviews/list", json!({}));
    hub.response_to(COMMAND, list).unwrap()["result"]["reviews"][0]["receives"].clone()
}

#[test]
fn a_claude_agent_is_known_to_receive_only_yes_or_no() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 1, NEW);
    let nothing = json!({ "reason": false, "comments": false, "hunks": false, "edited": false });
    let shown = last_shown(&hub);
    assert_eq!(shown["receives"], nothing);
    let all = shown["receivesNotes"]["all"].as_str().unwrap();
    assert!(all.contains("receives only yes or no"), "{all}");
    assert_eq!(listed(&mut hub), nothing);
    let get = hub.request(COMMAND, "reviews/get", json!({ "review": "r1" }));
    let got = &hub.response_to(COMMAND, get).unwrap()["result"]["shown"];
    assert_eq!((&got["receives"], &got["receivesNotes"]), (&nothing, &shown["receivesNotes"]));
}

#[test]
fn nothing_is_said_about_an_agent_that_receives_everything() {
    let mut hub = own_hub();
    proposed_by_own(&mut hub, AGENT, None);
    let everything = json!({ "reason": true, "comments": true, "hunks": true, "edited": true });
    let shown = last_shown(&hub);
    assert_eq!((&shown["receives"], shown.get("receivesNotes")), (&everything, None));
    assert_eq!(listed(&mut hub), everything);
}

#[test]
fn an_agent_of_our_own_dialect_may_say_that_it_receives_less() {
    let mut hub = own_hub();
    proposed_by_own(&mut hub, AGENT, Some(json!({ "reason": true, "hunks": true, "edited": true })));
    let shown = last_shown(&hub);
    assert_eq!(shown["receivesNotes"]["all"], "tester will not receive your comments.");
    assert_eq!(shown["receivesNotes"].get("reason"), None);
    assert_eq!(listed(&mut hub)["comments"], false);
}

#[test]
fn after_a_restart_only_what_follows_from_the_dialect_is_claimed() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 1, NEW);
    let before = last_shown(&hub)["receivesNotes"].clone();
    let mut hub = hub.restart();
    hub.attach(EDITOR, json!({ "reviews": true }));
    assert_eq!(last_shown(&hub)["receivesNotes"], before);

    let mut hub = own_hub();
    let less = json!({ "reason": true });
    proposed_by_own(&mut hub, AGENT, Some(less.clone()));
    let before = last_shown(&hub)["receivesNotes"].clone();
    let mut hub = hub.restart();
    hub.attach(EDITOR, json!({ "reviews": true }));
    let shown = last_shown(&hub);
    assert_eq!((shown.get("receives"), shown.get("receivesNotes")), (None, None), "its agent is not back");
    proposed_by_own(&mut hub, AGAIN, Some(less));
    assert_eq!(last_shown(&hub)["receivesNotes"], before);
    assert_eq!(last_shown(&hub)["review"], "r1");
}

#[test]
fn a_hook_receives_everything_and_the_agent_that_inherits_its_review_does_not() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.event(Event::ConnectionOpened { connection: AGENT });
    let hook = json!({ "agent": "Claude Code", "session": "s1" });
    let join =
        json!({ "window": "w1", "session": "k3y", "name": "Claude Code", "version": "1", "hook": hook });
    hub.request(AGENT, "agent/join", join);
    let change = json!({ "path": "/ws/a.txt", "newText": NEW, "writer": "agent" });
    call(&mut hub, AGENT, "proposeChange", change);
    assert_eq!(last_shown(&hub).get("receivesNotes"), None);
    hub.propose(agent, 1, NEW);
    assert_eq!((hub.reviews().len(), listed(&mut hub)["comments"].clone()), (1, json!(true)));
    hub.event(Event::ConnectionClosed { connection: AGENT });
    let shown = last_shown(&hub);
    assert_eq!((&shown["review"], &shown["dialect"]), (&json!("r1"), &json!("claude")));
    assert_eq!(shown["receivesNotes"]["comments"], "tester will not receive your comments.");
}

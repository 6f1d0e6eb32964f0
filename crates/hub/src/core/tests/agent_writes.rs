//! "Accepted" and what became of it: agents that write, agents that do not, and agents that no longer wait.

use linkspan_review::ReviewId;
use serde_json::json;

use super::support::{COMMAND, EDITOR};
use super::{NEW, OLD, hub_and_agent, outcome};
use crate::core::harness::CoreHarness;

const R1: ReviewId = ReviewId(1);

fn count_events(hub: &CoreHarness, kind: &str) -> usize {
    let told = hub.to_connections.iter().filter(|(connection, _)| *connection == COMMAND);
    told.filter(|(_, message)| message["params"]["what"]["change"]["kind"] == kind).count()
}

#[test]
fn an_accepted_change_is_on_disk_once_its_agent_wrote_it() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.request(COMMAND, "hub/watch", json!({}));
    hub.propose(agent, 1, NEW);
    hub.decide(COMMAND, "accept");
    hub.wait_ms(50);
    assert!(hub.on_disk.is_empty());
    hub.files.insert("/ws/a.txt".into(), NEW.as_bytes().to_vec());
    hub.wait_ms(100);
    assert_eq!(hub.on_disk, [R1]);
    assert_eq!((count_events(&hub, "onDisk"), count_events(&hub, "notOnDisk")), (1, 0));
}

#[test]
fn the_user_is_notified_when_an_agent_does_not_write_what_was_accepted() {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "reviews": true, "messages": true }));
    hub.event(super::Event::ConnectionOpened { connection: COMMAND });
    let agent = hub.connect(1, "claude");
    hub.request(COMMAND, "hub/watch", json!({}));
    hub.propose(agent, 1, NEW);
    hub.decide(COMMAND, "accept");
    hub.pong(agent);
    hub.wait_seconds(5);
    assert!(hub.on_disk.is_empty());
    assert_eq!(count_events(&hub, "notOnDisk"), 1);
    let told = hub.to_connections.iter().find(|(_, message)| message["method"] == "status/message");
    assert!(told.is_some_and(|(_, told)| told.to_string().contains("does not hold it")), "{told:?}");
    // It may write later.
    hub.files.insert("/ws/a.txt".into(), NEW.as_bytes().to_vec());
    hub.wait_seconds(120);
    assert_eq!(hub.on_disk, [R1]);
}

#[test]
fn a_file_that_went_on_since_was_seen_when_the_next_change_was_proposed() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 1, NEW);
    hub.decide(COMMAND, "accept");
    hub.files.insert("/ws/a.txt".into(), NEW.as_bytes().to_vec());
    hub.propose(agent, 2, "one\n2\nthree\n");
    assert_eq!(hub.on_disk, [R1]);
}

#[test]
fn the_file_is_not_watched_where_the_hub_writes_or_nothing_was_accepted() {
    for (dialect, verdict) in [("nexus3", "accept"), ("claude", "reject")] {
        let (mut hub, agent) = hub_and_agent(dialect);
        hub.propose(agent, 1, NEW);
        hub.decide(COMMAND, verdict);
        hub.hold_reads = true;
        hub.wait_seconds(30);
        assert!(hub.take_reads().is_empty() && hub.on_disk.is_empty(), "{dialect}");
    }
}

#[test]
fn an_accept_is_refused_while_no_agent_would_write_and_says_how_to_have_it_written() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 1, NEW);
    hub.disconnect(agent);
    // The same agent is back, without its question: that one is dead.
    hub.connect(2, "claude");
    let refused = hub.decide(COMMAND, "accept");
    let answer = &hub.response_to(COMMAND, refused).unwrap()["result"];
    assert_eq!((&answer["kind"], &answer["canWriteHere"]), (&json!("refused"), &json!(true)), "{answer}");
    assert_eq!(hub.file(), OLD);
    let review =
        json!({ "review": "r1", "decision": { "verdict": { "kind": "accept" }, "writeHere": true } });
    let taken = hub.request(COMMAND, "reviews/decide", review);
    assert_eq!(outcome(&hub, COMMAND, taken), "taken");
    assert_eq!((hub.file(), hub.writes), (NEW.as_bytes(), 1));
    assert!(hub.reviews().is_empty(), "no agent will ask for it again");
}

#[test]
fn every_surface_is_notified_when_the_agent_is_gone_and_when_it_is_back() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.request(COMMAND, "hub/watch", json!({}));
    hub.propose(agent, 1, NEW);
    hub.disconnect(agent);
    assert_eq!(count_events(&hub, "agentGone"), 1);
    let again = hub.connect(2, "claude");
    hub.propose(again, 1, NEW);
    assert_eq!(count_events(&hub, "agentBack"), 1);
    let waiting = hub.to_connections.iter().filter(|(_, message)| message["method"] == "review/waiting");
    let gone: Vec<bool> =
        waiting.filter_map(|(_, message)| message["params"]["ownerGone"].as_bool()).collect();
    assert_eq!(gone, [true, false]);
    let taken = hub.decide(COMMAND, "accept");
    assert_eq!(outcome(&hub, COMMAND, taken), "taken");
}

#[test]
fn a_rejection_needs_no_waiting_agent() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 1, NEW);
    hub.disconnect(agent);
    let rejected = hub.decide(COMMAND, "reject");
    assert_eq!(outcome(&hub, COMMAND, rejected), "taken");
}

#[test]
fn a_change_that_its_agent_wrote_after_a_word_in_its_terminal_is_not_pending_any_longer() {
    for restarted in [false, true] {
        let (mut hub, agent) = hub_and_agent("claude");
        hub.propose(agent, 1, NEW);
        hub.disconnect(agent);
        if restarted {
            hub = hub.restart();
            hub.attach(EDITOR, json!({ "reviews": true }));
        }
        hub.wait_seconds(50);
        assert_eq!(hub.reviews().len(), 1, "it may still be written here");
        hub.files.insert("/ws/a.txt".into(), NEW.as_bytes().to_vec());
        hub.wait_seconds(61);
        assert!(hub.reviews().is_empty(), "restarted: {restarted}");
    }
}

#[test]
fn a_change_whose_agent_waits_again_is_the_users_to_decide_whatever_the_file_holds() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 1, NEW);
    hub.disconnect(agent);
    let again = hub.connect(2, "claude");
    hub.propose(again, 1, NEW);
    hub.files.insert("/ws/a.txt".into(), NEW.as_bytes().to_vec());
    hub.wait_seconds(20);
    assert_eq!(hub.reviews().len(), 1);
}

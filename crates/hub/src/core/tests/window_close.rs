//! A window that closes for good while agents wait for a decision: each is told, so that it can ask in its terminal.

use linkspan_review::AgentId;
use serde_json::json;

use super::support::EDITOR;
use super::{NEW, OLD, first_text, hub_and_agent};
use crate::config::Config;
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

fn close_for_good(hub: &mut CoreHarness, agent: AgentId) {
    hub.notify(EDITOR, "detach", json!({}));
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    assert_eq!(hub.closed_ports, 0, "someone waits for a decision");
    for _second in 0..Config::default().window_grace_seconds {
        hub.wait_seconds(1);
        hub.pong(agent);
    }
    assert_eq!(hub.closed_ports, 1);
}

#[test]
fn an_agent_that_waits_gets_an_error_before_its_socket_closes() {
    for dialect in ["claude", "nexus3"] {
        let (mut hub, agent) = hub_and_agent(dialect);
        hub.propose(agent, 1, NEW);
        close_for_good(&mut hub, agent);
        let answers = hub.answers(agent, 1);
        assert_eq!(answers.len(), 1, "{dialect}");
        let message = answers[0]["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("window was closed"), "{dialect}: {}", answers[0]);
        assert_eq!(hub.closed_agents, [agent], "{dialect}");
        assert_eq!(hub.file(), OLD, "{dialect}");
        let pending = hub.reviews().iter().filter(|review| review.is_open()).count();
        assert_eq!(pending, 0, "{dialect}: no agent would receive a decision");
    }
}

#[test]
fn a_decision_that_was_made_is_not_taken_back_when_the_window_closes() {
    let (mut hub, agent) = hub_and_agent("nexus3");
    hub.propose(agent, 1, NEW);
    hub.hold_records = true;
    hub.decide(EDITOR, "accept");
    hub.notify(EDITOR, "detach", json!({}));
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    hub.wait_seconds(Config::default().window_grace_seconds);
    assert!(hub.answers(agent, 1).is_empty());
    assert!(hub.reviews()[0].outcome().is_some());
}

#[test]
fn a_window_that_comes_back_in_its_grace_finds_its_agents_and_reviews() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 1, NEW);
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    hub.wait_seconds(20);
    hub.pong(agent);
    hub.attach(ConnectionId(3), json!({ "reviews": true }));
    assert_eq!(hub.shown().len(), 2, "the new editor is shown what waits");
    assert!(hub.closed_agents.is_empty());
    hub.decide(ConnectionId(3), "accept");
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
}

//! A window that closes for good while agents wait for a decision: each is told, so that it can ask in its terminal.

use linkspan_review::AgentId;
use serde_json::json;

use super::desk::{Desk, EDITOR};
use super::{NEW, OLD, desk, first_text};
use crate::config::Config;
use crate::core::{Event, LocalId};

fn close_for_good(desk: &mut Desk, agent: AgentId) {
    desk.tell(EDITOR, "detach", json!({}));
    desk.event(Event::LocalClosed { local: EDITOR });
    assert_eq!(desk.ports_closed, 0, "someone waits for a decision");
    for _second in 0..Config::default().window_grace_seconds {
        desk.wait_seconds(1);
        desk.pong(agent);
    }
    assert_eq!(desk.ports_closed, 1);
}

#[test]
fn an_agent_that_waits_gets_an_error_before_its_socket_closes() {
    for dialect in ["claude", "nexus3"] {
        let (mut desk, agent) = desk(dialect);
        desk.propose(agent, 1, NEW);
        close_for_good(&mut desk, agent);
        let answers = desk.answers(agent, 1);
        assert_eq!(answers.len(), 1, "{dialect}");
        let message = answers[0]["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("window was closed"), "{dialect}: {}", answers[0]);
        assert_eq!(desk.closed_agents, [agent], "{dialect}");
        assert_eq!(desk.file(), OLD, "{dialect}");
        let pending = desk.reviews().iter().filter(|review| review.is_open()).count();
        assert_eq!(pending, 0, "{dialect}: nobody would hear a decision");
    }
}

#[test]
fn a_decision_that_was_made_is_not_taken_back_when_the_window_closes() {
    let (mut desk, agent) = desk("nexus3");
    desk.propose(agent, 1, NEW);
    desk.hold_records = true;
    desk.decide(EDITOR, "accept");
    desk.tell(EDITOR, "detach", json!({}));
    desk.event(Event::LocalClosed { local: EDITOR });
    desk.wait_seconds(Config::default().window_grace_seconds);
    assert!(desk.answers(agent, 1).is_empty());
    assert!(desk.reviews()[0].outcome().is_some());
}

#[test]
fn a_window_that_comes_back_in_its_grace_finds_its_agents_and_reviews() {
    let (mut desk, agent) = desk("claude");
    desk.propose(agent, 1, NEW);
    desk.event(Event::LocalClosed { local: EDITOR });
    desk.wait_seconds(20);
    desk.pong(agent);
    desk.attach(LocalId(3), json!({ "reviews": true }));
    assert_eq!(desk.shown().len(), 2, "the new editor is shown what waits");
    assert!(desk.closed_agents.is_empty());
    desk.decide(LocalId(3), "accept");
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "FILE_SAVED");
}

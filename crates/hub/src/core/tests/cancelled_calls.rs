//! An agent that cancels its call while the decision about it is being recorded: in most dialects nobody can be told
//! from then on, so an accept of what the agent should write is not taken.

use linkspan_review::AgentId;
use serde_json::json;

use super::support::COMMAND;
use super::{NEW, OLD, hub_and_agent, outcome};
use crate::config::Config;
use crate::core::harness::CoreHarness;

/// The user decides about the change of call 1, and the record of that is held back.
fn decided(hub: &mut CoreHarness, agent: AgentId, verdict: &str) -> i64 {
    hub.propose(agent, 1, NEW);
    hub.hold_records = true;
    hub.decide(COMMAND, verdict)
}

fn cancel(hub: &mut CoreHarness, agent: AgentId, call: i64) {
    let params = json!({ "requestId": call });
    hub.frame(agent, &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
}

fn record(hub: &mut CoreHarness) {
    hub.hold_records = false;
    hub.release_records(Ok(()));
}

/// Longer than an agent may be away. This one stays, and answers each ping.
fn wait_for_grace(hub: &mut CoreHarness, agent: AgentId) {
    hub.editor_answers.insert("ping", json!({}));
    for _ in 0..=Config::default().agent_grace_seconds / 10 {
        hub.wait_seconds(10);
        hub.pong(agent);
    }
    assert!(hub.closed_agents.is_empty());
}

#[test]
fn an_accept_is_refused_if_its_agent_cancelled_the_call_while_it_was_recorded() {
    let (mut hub, agent) = hub_and_agent("claude");
    let accepted = decided(&mut hub, agent, "accept");
    cancel(&mut hub, agent, 1);
    record(&mut hub);
    let answer = &hub.response_to(COMMAND, accepted).unwrap()["result"];
    assert_eq!((&answer["kind"], &answer["canWriteHere"]), (&json!("refused"), &json!(true)), "{answer}");
    assert!(hub.answers(agent, 1).is_empty(), "a cancelled request has no answer");
    assert_eq!(hub.file(), OLD);
    // The user may want it nevertheless.
    let review =
        json!({ "review": "r1", "decision": { "verdict": { "kind": "accept" }, "writeHere": true } });
    let taken = hub.request(COMMAND, "reviews/decide", review);
    assert_eq!(outcome(&hub, COMMAND, taken), "taken");
    assert_eq!((hub.file(), hub.writes), (NEW.as_bytes(), 1));
    assert!(hub.reviews().is_empty());
}

#[test]
fn nothing_is_left_of_a_decision_whose_call_was_cancelled() {
    for verdict in ["accept", "reject"] {
        let (mut hub, agent) = hub_and_agent("claude");
        let decision = decided(&mut hub, agent, verdict);
        cancel(&mut hub, agent, 1);
        // However long the record takes.
        wait_for_grace(&mut hub, agent);
        record(&mut hub);
        let expected = if verdict == "accept" { "refused" } else { "taken" };
        assert_eq!(outcome(&hub, COMMAND, decision), expected);
        assert_eq!(hub.reviews().len(), 1, "{verdict}");
        wait_for_grace(&mut hub, agent);
        assert!(hub.reviews().is_empty(), "{verdict}: {:?}", hub.reviews());
        assert_eq!(hub.file(), OLD);
    }
}

#[test]
fn a_change_that_is_asked_for_again_after_its_call_was_cancelled_has_the_decision_as_its_answer() {
    let (mut hub, agent) = hub_and_agent("claude");
    let accepted = decided(&mut hub, agent, "accept");
    cancel(&mut hub, agent, 1);
    hub.propose(agent, 2, NEW);
    record(&mut hub);
    assert_eq!(outcome(&hub, COMMAND, accepted), "taken");
    assert_eq!((hub.answers(agent, 1).len(), hub.answers(agent, 2).len()), (0, 1));
}

#[test]
fn a_decision_counts_if_another_call_of_the_agent_waits_for_it() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 2, NEW);
    let accepted = decided(&mut hub, agent, "accept");
    cancel(&mut hub, agent, 1);
    record(&mut hub);
    assert_eq!(outcome(&hub, COMMAND, accepted), "taken");
    assert_eq!((hub.answers(agent, 1).len(), hub.answers(agent, 2).len()), (0, 1));
    hub.pong(agent);
    assert!(hub.reviews().is_empty(), "it has arrived");
}

#[test]
fn a_change_that_the_hub_writes_is_written_though_its_agent_cancelled_the_call() {
    let (mut hub, agent) = hub_and_agent("nexus3");
    let accepted = decided(&mut hub, agent, "accept");
    cancel(&mut hub, agent, 1);
    record(&mut hub);
    assert_eq!(outcome(&hub, COMMAND, accepted), "taken");
    assert_eq!((hub.file(), hub.writes), (NEW.as_bytes(), 1));
    wait_for_grace(&mut hub, agent);
    assert!(hub.reviews().is_empty());
}

#[test]
fn watchers_learn_that_the_agent_is_gone_before_they_learn_that_it_is_back() {
    for by_leaving in [true, false] {
        let (mut hub, mut agent) = hub_and_agent("claude");
        hub.request(COMMAND, "hub/watch", json!({}));
        decided(&mut hub, agent, "accept");
        if by_leaving {
            hub.disconnect(agent);
            agent = hub.connect(2, "claude");
        } else {
            cancel(&mut hub, agent, 1);
        }
        record(&mut hub);
        hub.propose(agent, 2, NEW);
        let changes = hub.to_connections.iter().filter(|(to, _)| *to == COMMAND);
        let kinds = changes.filter_map(|(_, message)| message["params"]["what"]["change"]["kind"].as_str());
        let kinds: Vec<&str> = kinds.filter(|kind| kind.starts_with("agent")).collect();
        assert_eq!(kinds, ["agentGone", "agentBack"], "by leaving: {by_leaving}");
    }
}

#[test]
fn a_refused_accept_ends_when_the_file_comes_to_hold_the_change() {
    let (mut hub, agent) = hub_and_agent("claude");
    decided(&mut hub, agent, "accept");
    cancel(&mut hub, agent, 1);
    record(&mut hub);
    assert_eq!(hub.reviews().len(), 1);
    // It was accepted in the agent's terminal.
    hub.files.insert("/ws/a.txt".into(), NEW.as_bytes().to_vec());
    hub.wait_seconds(10);
    assert!(hub.reviews().is_empty());
}

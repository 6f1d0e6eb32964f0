//! Changes by place, what needs no second look, and agents that wait only so long.

use linkspan_review::{AgentId, WindowId};
use serde_json::{Value, json};

use super::hub_and_agent;
use super::support::COMMAND;
use crate::core::Event;
use crate::core::harness::CoreHarness;

pub(super) fn clio(hub: &mut CoreHarness, agent: u64) -> AgentId {
    let agent = AgentId(agent);
    let dialect = linkspan_dialect::by_name("clio").unwrap();
    hub.event(Event::AgentOpened { agent, window: WindowId(1), dialect, called: None });
    hub.frame(agent, &json!({ "type": "connect" }));
    agent
}

fn open_diff(hub: &mut CoreHarness, agent: AgentId, after: &str) {
    let before = String::from_utf8(hub.file().to_vec()).unwrap();
    hub.frame(agent, &json!({ "type": "openDiff", "file": "/ws/a.txt", "before": before, "after": after }));
}

fn apply_diff(hub: &mut CoreHarness, agent: AgentId, to: u32, text: &str) {
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": to } });
    let edits = json!([{ "range": range, "newText": text }]);
    hub.frame(agent, &json!({ "type": "applyDiff", "file": "/ws/a.txt", "edits": edits }));
}

pub(super) fn messages_to(hub: &CoreHarness, agent: AgentId) -> Vec<&Value> {
    let frames = hub.to_agents.iter().filter(|(to, _)| *to == agent);
    frames.map(|(_, frame)| frame).filter(|frame| frame["type"] != "connected").collect()
}

#[test]
fn an_agent_whose_wait_limit_is_over_is_answered_before_and_never_after() {
    let (mut hub, _) = hub_and_agent("nexus3");
    let agent = clio(&mut hub, 7);
    open_diff(&mut hub, agent, "ONE\n");
    hub.wait_seconds(27);
    hub.pong(agent);
    assert_eq!(messages_to(&hub, agent), Vec::<&Value>::new());
    hub.wait_seconds(1);
    let [error] = messages_to(&hub, agent)[..] else { panic!("{:?}", messages_to(&hub, agent)) };
    assert_eq!((&error["type"], &error["code"]), (&json!("error"), &json!("TIMEOUT")));
    let hidden = hub.requests_to_editor("review/hide")[0]["params"]["reason"]["kind"].clone();
    assert_eq!(hidden, "withdrawn", "not rejected");
    hub.decide(COMMAND, "accept");
    assert_eq!(messages_to(&hub, agent).len(), 1);
}

#[test]
fn a_decision_in_time_is_the_answer() {
    let (mut hub, _) = hub_and_agent("nexus3");
    let agent = clio(&mut hub, 7);
    open_diff(&mut hub, agent, "ONE\n");
    hub.decide(COMMAND, "accept");
    hub.wait_seconds(28);
    let types: Vec<&Value> = messages_to(&hub, agent).into_iter().map(|frame| &frame["type"]).collect();
    assert_eq!(types, ["diffAccepted"]);
}

#[test]
fn only_the_very_text_that_was_accepted_needs_no_second_look() {
    for (text, looks) in [("ONE", 1), ("one more", 2)] {
        let (mut hub, _) = hub_and_agent("nexus3");
        hub.files.insert("/ws/a.txt".into(), b"one\n".to_vec());
        let agent = clio(&mut hub, 7);
        open_diff(&mut hub, agent, "ONE\n");
        hub.decide(COMMAND, "accept");
        apply_diff(&mut hub, agent, 3, text);
        assert_eq!(hub.shown().len(), looks, "{text}");
        assert_eq!(hub.file() == b"ONE\n", looks == 1, "{text}");
    }
}

#[test]
fn an_accepted_text_does_not_count_for_another_agent() {
    let (mut hub, _) = hub_and_agent("nexus3");
    hub.files.insert("/ws/a.txt".into(), b"one\n".to_vec());
    let (first, second) = (clio(&mut hub, 7), hub.connect(9, "nexus3"));
    open_diff(&mut hub, first, "ONE\n");
    hub.decide(COMMAND, "accept");
    hub.propose(second, 1, "ONE\n");
    assert_eq!((hub.shown().len(), hub.file()), (2, &b"one\n"[..]));
}

#[test]
fn a_file_that_moved_after_the_accept_is_looked_at_again() {
    let (mut hub, _) = hub_and_agent("nexus3");
    hub.files.insert("/ws/a.txt".into(), b"one\n".to_vec());
    let agent = clio(&mut hub, 7);
    open_diff(&mut hub, agent, "ONE\n");
    hub.decide(COMMAND, "accept");
    hub.files.insert("/ws/a.txt".into(), b"one\ntwo\n".to_vec());
    apply_diff(&mut hub, agent, 3, "ONE");
    assert_eq!((hub.shown().len(), hub.file()), (2, &b"one\ntwo\n"[..]));
}

#[test]
fn an_accepted_text_does_not_count_forever() {
    let later: [fn(&mut CoreHarness, AgentId); 3] = [
        |hub, agent| {
            for _ in 0..31 {
                hub.wait_seconds(20);
                hub.pong(agent);
            }
        },
        |hub, agent| {
            hub.event(Event::AgentClosed { agent, said_goodbye: true });
            clio(hub, 7);
        },
        |hub, agent| {
            open_diff(hub, agent, "ONE!\n");
            let decision = json!({ "verdict": { "kind": "reject" } });
            hub.request(COMMAND, "reviews/decide", json!({ "review": "r2", "decision": decision }));
        },
    ];
    for happens in later {
        let (mut hub, _) = hub_and_agent("nexus3");
        hub.files.insert("/ws/a.txt".into(), b"one\n".to_vec());
        let agent = clio(&mut hub, 7);
        open_diff(&mut hub, agent, "ONE\n");
        hub.decide(COMMAND, "accept");
        happens(&mut hub, agent);
        apply_diff(&mut hub, agent, 3, "ONE");
        assert_eq!(hub.file(), b"one\n");
    }
}

#[test]
fn edits_that_are_asked_for_again_while_we_write_are_not_asked_about_twice() {
    let (mut hub, _) = hub_and_agent("nexus3");
    let agent = clio(&mut hub, 7);
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 3 } });
    let edits = json!([{ "range": range, "oldText": "one", "newText": "ONE" }]);
    let proposal = json!({ "type": "proposeDiff", "file": "/ws/a.txt", "edits": edits });
    hub.frame(agent, &proposal);
    hub.disconnect(agent);
    let again = clio(&mut hub, 9);
    // The file is read for the second question, then written for the first one's answer.
    hub.hold_reads = true;
    hub.frame(again, &proposal);
    let before_the_write = hub.take_reads();
    hub.hold_reads = false;
    hub.decide(COMMAND, "accept");
    hub.events(before_the_write);
    let told: Vec<&Value> = messages_to(&hub, again).into_iter().map(|frame| &frame["type"]).collect();
    assert_eq!((told, hub.writes), (vec![&json!("diffAccepted")], 1));
}

//! Changes by place, what needs no second look, and agents that wait only so long.

use linkspan_review::{AgentId, WindowId};
use serde_json::{Value, json};

use super::desk;
use super::desk::{COMMAND, Desk};
use crate::core::Event;

pub(super) fn clio(desk: &mut Desk, agent: u64) -> AgentId {
    let agent = AgentId(agent);
    let dialect = linkspan_dialect::by_name("clio").unwrap();
    desk.event(Event::AgentOpened { agent, window: WindowId(1), dialect, called: None });
    desk.frame(agent, &json!({ "type": "connect" }));
    agent
}

fn open_diff(desk: &mut Desk, agent: AgentId, after: &str) {
    let before = String::from_utf8(desk.file().to_vec()).unwrap();
    desk.frame(agent, &json!({ "type": "openDiff", "file": "/ws/a.txt", "before": before, "after": after }));
}

fn apply_diff(desk: &mut Desk, agent: AgentId, to: u32, text: &str) {
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": to } });
    let edits = json!([{ "range": range, "newText": text }]);
    desk.frame(agent, &json!({ "type": "applyDiff", "file": "/ws/a.txt", "edits": edits }));
}

pub(super) fn heard(desk: &Desk, agent: AgentId) -> Vec<&Value> {
    let frames = desk.to_agents.iter().filter(|(to, _)| *to == agent);
    frames.map(|(_, frame)| frame).filter(|frame| frame["type"] != "connected").collect()
}

#[test]
fn an_agent_that_has_stopped_listening_is_told_before_and_never_after() {
    let (mut desk, _) = desk("nexus3");
    let agent = clio(&mut desk, 7);
    open_diff(&mut desk, agent, "ONE\n");
    desk.wait_seconds(27);
    desk.pong(agent);
    assert_eq!(heard(&desk, agent), Vec::<&Value>::new());
    desk.wait_seconds(1);
    let [error] = heard(&desk, agent)[..] else { panic!("{:?}", heard(&desk, agent)) };
    assert_eq!((&error["type"], &error["code"]), (&json!("error"), &json!("TIMEOUT")));
    let hidden = desk.asked_of_editor("review/hide")[0]["params"]["reason"]["kind"].clone();
    assert_eq!(hidden, "withdrawn", "and nobody rejected it");
    desk.decide(COMMAND, "accept");
    assert_eq!(heard(&desk, agent).len(), 1);
}

#[test]
fn a_decision_in_time_is_the_answer() {
    let (mut desk, _) = desk("nexus3");
    let agent = clio(&mut desk, 7);
    open_diff(&mut desk, agent, "ONE\n");
    desk.decide(COMMAND, "accept");
    desk.wait_seconds(28);
    let types: Vec<&Value> = heard(&desk, agent).into_iter().map(|frame| &frame["type"]).collect();
    assert_eq!(types, ["diffAccepted"]);
}

#[test]
fn only_the_very_text_that_was_accepted_needs_no_second_look() {
    for (text, looks) in [("ONE", 1), ("one more", 2)] {
        let (mut desk, _) = desk("nexus3");
        desk.files.insert("/ws/a.txt".into(), b"one\n".to_vec());
        let agent = clio(&mut desk, 7);
        open_diff(&mut desk, agent, "ONE\n");
        desk.decide(COMMAND, "accept");
        apply_diff(&mut desk, agent, 3, text);
        assert_eq!(desk.shown().len(), looks, "{text}");
        assert_eq!(desk.file() == b"ONE\n", looks == 1, "{text}");
    }
}

#[test]
fn another_agent_has_no_part_in_what_was_accepted() {
    let (mut desk, _) = desk("nexus3");
    desk.files.insert("/ws/a.txt".into(), b"one\n".to_vec());
    let (first, second) = (clio(&mut desk, 7), desk.connect(9, "nexus3"));
    open_diff(&mut desk, first, "ONE\n");
    desk.decide(COMMAND, "accept");
    desk.propose(second, 1, "ONE\n");
    assert_eq!((desk.shown().len(), desk.file()), (2, &b"one\n"[..]));
}

#[test]
fn a_file_that_moved_after_the_accept_is_looked_at_again() {
    let (mut desk, _) = desk("nexus3");
    desk.files.insert("/ws/a.txt".into(), b"one\n".to_vec());
    let agent = clio(&mut desk, 7);
    open_diff(&mut desk, agent, "ONE\n");
    desk.decide(COMMAND, "accept");
    desk.files.insert("/ws/a.txt".into(), b"one\ntwo\n".to_vec());
    apply_diff(&mut desk, agent, 3, "ONE");
    assert_eq!((desk.shown().len(), desk.file()), (2, &b"one\ntwo\n"[..]));
}

#[test]
fn what_was_accepted_once_does_not_count_for_ever() {
    let later: [fn(&mut Desk, AgentId); 3] = [
        |desk, agent| {
            for _ in 0..31 {
                desk.wait_seconds(20);
                desk.pong(agent);
            }
        },
        |desk, agent| {
            desk.event(Event::AgentClosed { agent, said_goodbye: true });
            clio(desk, 7);
        },
        |desk, agent| {
            open_diff(desk, agent, "ONE!\n");
            let decision = json!({ "verdict": { "kind": "reject" } });
            desk.ask(COMMAND, "reviews/decide", json!({ "review": "r2", "decision": decision }));
        },
    ];
    for happens in later {
        let (mut desk, _) = desk("nexus3");
        desk.files.insert("/ws/a.txt".into(), b"one\n".to_vec());
        let agent = clio(&mut desk, 7);
        open_diff(&mut desk, agent, "ONE\n");
        desk.decide(COMMAND, "accept");
        happens(&mut desk, agent);
        apply_diff(&mut desk, agent, 3, "ONE");
        assert_eq!(desk.file(), b"one\n");
    }
}

#[test]
fn edits_that_are_asked_for_again_while_we_write_are_not_asked_about_twice() {
    let (mut desk, _) = desk("nexus3");
    let agent = clio(&mut desk, 7);
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 3 } });
    let edits = json!([{ "range": range, "oldText": "one", "newText": "ONE" }]);
    let proposal = json!({ "type": "proposeDiff", "file": "/ws/a.txt", "edits": edits });
    desk.frame(agent, &proposal);
    desk.lose(agent);
    let again = clio(&mut desk, 9);
    // The file is read for the second question, then written for the first one's answer.
    desk.hold_reads = true;
    desk.frame(again, &proposal);
    let before_the_write = desk.take_reads();
    desk.hold_reads = false;
    desk.decide(COMMAND, "accept");
    desk.give(before_the_write);
    let told: Vec<&Value> = heard(&desk, again).into_iter().map(|frame| &frame["type"]).collect();
    assert_eq!((told, desk.writes), (vec![&json!("diffAccepted")], 1));
}

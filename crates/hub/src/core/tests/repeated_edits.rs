//! The same edits asked for again find the review that they are, whatever the file holds by now.

use linkspan_review::AgentId;
use serde_json::{Value, json};

use super::edits::{clio, messages_to};
use super::hub_and_agent;
use super::support::COMMAND;
use crate::core::harness::CoreHarness;

const MOVED: &[u8] = b"one\ntwo\nthree\n";

/// One line at the start of the file, which fits whatever the file holds.
fn insert(hub: &mut CoreHarness, agent: AgentId) {
    let start = json!({ "line": 0, "character": 0 });
    let edits = json!([{ "range": { "start": start, "end": start }, "newText": "zero\n" }]);
    hub.frame(agent, &json!({ "type": "proposeDiff", "file": "/ws/a.txt", "edits": edits }));
}

fn words(hub: &CoreHarness, agent: AgentId) -> Vec<&Value> {
    messages_to(hub, agent).into_iter().map(|frame| &frame["type"]).collect()
}

#[test]
fn an_insertion_that_was_accepted_on_a_moved_file_is_not_made_twice() {
    let (mut hub, _) = hub_and_agent("nexus3");
    let agent = clio(&mut hub, 7);
    insert(&mut hub, agent);
    hub.disconnect(agent);
    hub.files.insert("/ws/a.txt".into(), MOVED.to_vec());
    hub.decide(COMMAND, "accept");
    let written = b"zero\none\ntwo\nthree\n";
    assert_eq!((hub.file(), hub.writes), (&written[..], 1));
    let again = clio(&mut hub, 9);
    insert(&mut hub, again);
    assert_eq!(words(&hub, again), ["diffAccepted"]);
    assert_eq!((hub.file(), hub.writes, hub.reviews().len()), (&written[..], 1, 1));
}

#[test]
fn questions_that_are_asked_again_do_not_pile_up() {
    let (mut hub, _) = hub_and_agent("nexus3");
    for (agent, file) in [(7, "one\n"), (8, "one\ntwo\n"), (9, "one\ntwo\nthree\n"), (10, "one\ntwo\n")] {
        hub.files.insert("/ws/a.txt".into(), file.into());
        let agent = clio(&mut hub, agent);
        insert(&mut hub, agent);
        assert_eq!(hub.reviews().len(), 1, "{file}");
        assert_eq!(hub.reviews()[0].side(), format!("zero\n{file}"));
        hub.disconnect(agent);
    }
}

#[test]
fn an_agent_that_repeats_itself_is_answered_each_time_and_written_once() {
    let (mut hub, _) = hub_and_agent("nexus3");
    let agent = clio(&mut hub, 7);
    insert(&mut hub, agent);
    insert(&mut hub, agent);
    assert_eq!(hub.reviews().len(), 1);
    hub.decide(COMMAND, "accept");
    assert_eq!(words(&hub, agent), ["diffAccepted", "diffAccepted"]);
    assert_eq!((hub.file(), hub.writes), (&b"zero\none\ntwo\n"[..], 1));
}

#[test]
fn what_was_told_is_over_and_the_same_edits_are_another_question() {
    let (mut hub, _) = hub_and_agent("nexus3");
    let agent = clio(&mut hub, 7);
    insert(&mut hub, agent);
    hub.decide(COMMAND, "accept");
    hub.pong(agent);
    insert(&mut hub, agent);
    assert_eq!((hub.shown().len(), hub.writes), (2, 1));
}

/// An agent that was killed asks again, and its first connection is not known to be lost.
#[test]
fn edits_that_are_repeated_before_the_loss_is_noticed_get_the_decision() {
    let (mut hub, _) = hub_and_agent("nexus3");
    let lost = clio(&mut hub, 7);
    insert(&mut hub, lost);
    hub.decide(COMMAND, "accept");
    let again = clio(&mut hub, 9);
    insert(&mut hub, again);
    assert_eq!((words(&hub, again).len(), hub.reviews().len()), (0, 1), "neither asked nor refused");
    hub.disconnect(lost);
    hub.wait_seconds(1);
    assert_eq!(words(&hub, again), ["diffAccepted"]);
    assert_eq!((hub.file(), hub.writes, hub.reviews().len()), (&b"zero\none\ntwo\n"[..], 1, 1));
}

#[test]
fn the_same_edits_of_two_connections_that_both_live_are_two_questions() {
    let (mut hub, _) = hub_and_agent("nexus3");
    for (confirmed, first, second) in [(true, 7, 8), (false, 9, 10)] {
        let (first, second) = (clio(&mut hub, first), clio(&mut hub, second));
        let shown = hub.shown().len();
        insert(&mut hub, first);
        let review = hub.reviews().last().unwrap().id.to_string();
        let decision = json!({ "verdict": { "kind": "accept" } });
        hub.request(COMMAND, "reviews/decide", json!({ "review": review, "decision": decision }));
        insert(&mut hub, second);
        if confirmed {
            hub.pong(first);
            hub.wait_seconds(1);
        } else {
            hub.wait_seconds(7);
        }
        assert_eq!(hub.shown().len(), shown + 2, "confirmed: {confirmed}");
    }
}

#[test]
fn other_edits_of_the_same_place_are_another_question() {
    let (mut hub, _) = hub_and_agent("nexus3");
    let agent = clio(&mut hub, 7);
    insert(&mut hub, agent);
    hub.disconnect(agent);
    let again = clio(&mut hub, 9);
    let start = json!({ "line": 0, "character": 0 });
    let edits = json!([{ "range": { "start": start, "end": start }, "newText": "0\n" }]);
    hub.frame(again, &json!({ "type": "proposeDiff", "file": "/ws/a.txt", "edits": edits }));
    assert_eq!(hub.reviews().len(), 2);
}

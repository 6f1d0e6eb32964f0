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

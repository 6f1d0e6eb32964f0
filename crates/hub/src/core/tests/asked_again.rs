//! The same edits asked for again find the review that they are, whatever the file holds by now.

use linkspan_review::AgentId;
use serde_json::{Value, json};

use super::desk;
use super::desk::{COMMAND, Desk};
use super::editing::{clio, heard};

const MOVED: &[u8] = b"one\ntwo\nthree\n";

/// One line at the start of the file, which fits whatever the file holds.
fn insert(desk: &mut Desk, agent: AgentId) {
    let start = json!({ "line": 0, "character": 0 });
    let edits = json!([{ "range": { "start": start, "end": start }, "newText": "zero\n" }]);
    desk.frame(agent, &json!({ "type": "proposeDiff", "file": "/ws/a.txt", "edits": edits }));
}

fn words(desk: &Desk, agent: AgentId) -> Vec<&Value> {
    heard(desk, agent).into_iter().map(|frame| &frame["type"]).collect()
}

#[test]
fn an_insertion_that_was_accepted_on_a_moved_file_is_not_made_twice() {
    let (mut desk, _) = desk("nexus3");
    let agent = clio(&mut desk, 7);
    insert(&mut desk, agent);
    desk.lose(agent);
    desk.files.insert("/ws/a.txt".into(), MOVED.to_vec());
    desk.decide(COMMAND, "accept");
    let written = b"zero\none\ntwo\nthree\n";
    assert_eq!((desk.file(), desk.writes), (&written[..], 1));
    let again = clio(&mut desk, 9);
    insert(&mut desk, again);
    assert_eq!(words(&desk, again), ["diffAccepted"]);
    assert_eq!((desk.file(), desk.writes, desk.reviews().len()), (&written[..], 1, 1));
}

#[test]
fn questions_that_are_asked_again_do_not_pile_up() {
    let (mut desk, _) = desk("nexus3");
    for (agent, file) in [(7, "one\n"), (8, "one\ntwo\n"), (9, "one\ntwo\nthree\n"), (10, "one\ntwo\n")] {
        desk.files.insert("/ws/a.txt".into(), file.into());
        let agent = clio(&mut desk, agent);
        insert(&mut desk, agent);
        assert_eq!(desk.reviews().len(), 1, "{file}");
        assert_eq!(desk.reviews()[0].side(), format!("zero\n{file}"));
        desk.lose(agent);
    }
}

#[test]
fn an_agent_that_repeats_itself_is_answered_each_time_and_written_once() {
    let (mut desk, _) = desk("nexus3");
    let agent = clio(&mut desk, 7);
    insert(&mut desk, agent);
    insert(&mut desk, agent);
    assert_eq!(desk.reviews().len(), 1);
    desk.decide(COMMAND, "accept");
    assert_eq!(words(&desk, agent), ["diffAccepted", "diffAccepted"]);
    assert_eq!((desk.file(), desk.writes), (&b"zero\none\ntwo\n"[..], 1));
}

#[test]
fn what_was_told_is_over_and_the_same_edits_are_another_question() {
    let (mut desk, _) = desk("nexus3");
    let agent = clio(&mut desk, 7);
    insert(&mut desk, agent);
    desk.decide(COMMAND, "accept");
    desk.pong(agent);
    insert(&mut desk, agent);
    assert_eq!((desk.shown().len(), desk.writes), (2, 1));
}

#[test]
fn other_edits_of_the_same_place_are_another_question() {
    let (mut desk, _) = desk("nexus3");
    let agent = clio(&mut desk, 7);
    insert(&mut desk, agent);
    desk.lose(agent);
    let again = clio(&mut desk, 9);
    let start = json!({ "line": 0, "character": 0 });
    let edits = json!([{ "range": { "start": start, "end": start }, "newText": "0\n" }]);
    desk.frame(again, &json!({ "type": "proposeDiff", "file": "/ws/a.txt", "edits": edits }));
    assert_eq!(desk.reviews().len(), 2);
}

//! "Accepted" and what became of it: agents that write, agents that do not, and agents that no longer wait.

use linkspan_review::ReviewId;
use serde_json::json;

use super::desk::{COMMAND, Desk, EDITOR};
use super::{NEW, OLD, desk, outcome};

const R1: ReviewId = ReviewId(1);

fn watcher_heard(desk: &Desk, kind: &str) -> usize {
    let told = desk.to_locals.iter().filter(|(local, _)| *local == COMMAND);
    told.filter(|(_, message)| message["params"]["what"]["change"]["kind"] == kind).count()
}

#[test]
fn an_accepted_change_is_on_disk_once_its_agent_wrote_it() {
    let (mut desk, agent) = desk("claude");
    desk.ask(COMMAND, "hub/watch", json!({}));
    desk.propose(agent, 1, NEW);
    desk.decide(COMMAND, "accept");
    desk.wait_ms(50);
    assert!(desk.on_disk.is_empty());
    desk.files.insert("/ws/a.txt".into(), NEW.as_bytes().to_vec());
    desk.wait_ms(100);
    assert_eq!(desk.on_disk, [R1]);
    assert_eq!((watcher_heard(&desk, "onDisk"), watcher_heard(&desk, "notOnDisk")), (1, 0));
}

#[test]
fn the_user_is_told_when_an_agent_does_not_write_what_was_accepted() {
    let mut desk = Desk::new();
    desk.attach(EDITOR, json!({ "reviews": true, "messages": true }));
    desk.event(super::Event::LocalOpened { local: COMMAND });
    let agent = desk.connect(1, "claude");
    desk.ask(COMMAND, "hub/watch", json!({}));
    desk.propose(agent, 1, NEW);
    desk.decide(COMMAND, "accept");
    desk.pong(agent);
    desk.wait_seconds(5);
    assert!(desk.on_disk.is_empty());
    assert_eq!(watcher_heard(&desk, "notOnDisk"), 1);
    let told = desk.to_locals.iter().find(|(_, message)| message["method"] == "status/message");
    assert!(told.is_some_and(|(_, told)| told.to_string().contains("does not hold it")), "{told:?}");
    // It may write later.
    desk.files.insert("/ws/a.txt".into(), NEW.as_bytes().to_vec());
    desk.wait_seconds(120);
    assert_eq!(desk.on_disk, [R1]);
}

#[test]
fn a_file_that_went_on_since_was_seen_when_the_next_change_was_proposed() {
    let (mut desk, agent) = desk("claude");
    desk.propose(agent, 1, NEW);
    desk.decide(COMMAND, "accept");
    desk.files.insert("/ws/a.txt".into(), NEW.as_bytes().to_vec());
    desk.propose(agent, 2, "one\n2\nthree\n");
    assert_eq!(desk.on_disk, [R1]);
}

#[test]
fn nobody_looks_at_the_file_where_the_hub_writes_or_nothing_was_accepted() {
    for (dialect, verdict) in [("nexus3", "accept"), ("claude", "reject")] {
        let (mut desk, agent) = desk(dialect);
        desk.propose(agent, 1, NEW);
        desk.decide(COMMAND, verdict);
        desk.hold_reads = true;
        desk.wait_seconds(30);
        assert!(desk.take_reads().is_empty() && desk.on_disk.is_empty(), "{dialect}");
    }
}

#[test]
fn an_accept_is_refused_while_nobody_would_write_and_says_how_to_have_it_written() {
    let (mut desk, agent) = desk("claude");
    desk.propose(agent, 1, NEW);
    desk.lose(agent);
    // The same agent is back, without its question: that one is dead.
    desk.connect(2, "claude");
    let refused = desk.decide(COMMAND, "accept");
    let answer = &desk.answer_to(COMMAND, refused).unwrap()["result"];
    assert_eq!((&answer["kind"], &answer["canWriteHere"]), (&json!("refused"), &json!(true)), "{answer}");
    assert_eq!(desk.file(), OLD);
    let review =
        json!({ "review": "r1", "decision": { "verdict": { "kind": "accept" }, "writeHere": true } });
    let taken = desk.ask(COMMAND, "reviews/decide", review);
    assert_eq!(outcome(&desk, COMMAND, taken), "taken");
    assert_eq!((desk.file(), desk.writes), (NEW.as_bytes(), 1));
    assert!(desk.reviews().is_empty(), "nobody will ask for it again");
}

#[test]
fn every_surface_hears_that_nobody_waits_and_that_somebody_does_again() {
    let (mut desk, agent) = desk("claude");
    desk.ask(COMMAND, "hub/watch", json!({}));
    desk.propose(agent, 1, NEW);
    desk.lose(agent);
    assert_eq!(watcher_heard(&desk, "agentGone"), 1);
    let again = desk.connect(2, "claude");
    desk.propose(again, 1, NEW);
    assert_eq!(watcher_heard(&desk, "agentBack"), 1);
    let waiting = desk.to_locals.iter().filter(|(_, message)| message["method"] == "review/waiting");
    let gone: Vec<bool> =
        waiting.filter_map(|(_, message)| message["params"]["ownerGone"].as_bool()).collect();
    assert_eq!(gone, [true, false]);
    let taken = desk.decide(COMMAND, "accept");
    assert_eq!(outcome(&desk, COMMAND, taken), "taken");
}

#[test]
fn a_rejection_needs_nobody_to_wait() {
    let (mut desk, agent) = desk("claude");
    desk.propose(agent, 1, NEW);
    desk.lose(agent);
    let rejected = desk.decide(COMMAND, "reject");
    assert_eq!(outcome(&desk, COMMAND, rejected), "taken");
}

#[test]
fn a_change_that_its_agent_wrote_after_a_word_in_its_terminal_is_not_pending_any_longer() {
    for restarted in [false, true] {
        let (mut desk, agent) = desk("claude");
        desk.propose(agent, 1, NEW);
        desk.lose(agent);
        if restarted {
            desk = desk.restart();
            desk.attach(EDITOR, json!({ "reviews": true }));
        }
        desk.wait_seconds(50);
        assert_eq!(desk.reviews().len(), 1, "it may still be written here");
        desk.files.insert("/ws/a.txt".into(), NEW.as_bytes().to_vec());
        desk.wait_seconds(61);
        assert!(desk.reviews().is_empty(), "restarted: {restarted}");
    }
}

#[test]
fn a_change_whose_agent_waits_again_is_the_users_to_decide_whatever_the_file_holds() {
    let (mut desk, agent) = desk("claude");
    desk.propose(agent, 1, NEW);
    desk.lose(agent);
    let again = desk.connect(2, "claude");
    desk.propose(again, 1, NEW);
    desk.files.insert("/ws/a.txt".into(), NEW.as_bytes().to_vec());
    desk.wait_seconds(20);
    assert_eq!(desk.reviews().len(), 1);
}

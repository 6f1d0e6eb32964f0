//! Tests of the core, for timing that real processes cannot reproduce: an answer that crosses another, a slow record, a
//! deadline that passes.

mod absent_editor;
mod agent_writes;
mod cancelled_calls;
mod chats;
mod codex;
mod edits;
mod hooks;
mod late_editor;
mod nexus3_tool;
mod one_question;
mod own_dialect;
mod page;
mod permission_prompts;
mod ppxai;
mod premature_writes;
mod receives;
mod recorded_changes;
mod remembered_grants;
mod rename;
mod repeated_edits;
mod review_expiry;
mod review_show;
mod streams;
mod support;
mod two_path_diffs;
mod undo;
mod undo_checks;
mod undo_unsaved;
mod unfinished_writes;
mod unsaved_text;
mod watchers;
mod window_close;
mod window_return;

use linkspan_review::AgentId;
use serde_json::{Value, json};

use super::harness::CoreHarness;
use super::{ConnectionId, Event};
use support::{COMMAND, EDITOR};

const OLD: &[u8] = b"one\ntwo\n";
const NEW: &str = "one\n2\n";

/// An editor that shows reviews, and an agent of that dialect.
fn hub_and_agent(dialect: &str) -> (CoreHarness, AgentId) {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "reviews": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    let agent = hub.connect(1, dialect);
    (hub, agent)
}

fn first_text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

fn outcome(hub: &CoreHarness, connection: ConnectionId, id: i64) -> &str {
    hub.response_to(connection, id).and_then(|answer| answer["result"]["kind"].as_str()).unwrap_or("none")
}

#[test]
fn a_proposal_is_not_shown_before_it_is_recorded() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.hold_records = true;
    hub.propose(agent, 1, NEW);
    assert!(hub.shown().is_empty());
    hub.release_records(Ok(()));
    assert_eq!(hub.shown().len(), 1);
}

#[test]
fn a_decision_is_not_delivered_before_it_is_recorded() {
    for dialect in ["claude", "nexus3"] {
        let (mut hub, agent) = hub_and_agent(dialect);
        hub.propose(agent, 1, NEW);
        hub.hold_records = true;
        let decision = hub.decide(COMMAND, "accept");
        assert!(hub.answers(agent, 1).is_empty() && hub.response_to(COMMAND, decision).is_none());
        assert_eq!((hub.file(), hub.writes), (OLD, 0));
        hub.hold_records = false;
        hub.release_records(Ok(()));
        assert_eq!(outcome(&hub, COMMAND, decision), "taken");
        assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
        assert_eq!(hub.writes, usize::from(dialect == "nexus3"), "{dialect}");
    }
}

#[test]
fn a_decision_that_cannot_be_recorded_is_refused_and_the_review_goes_on() {
    let (mut hub, agent) = hub_and_agent("nexus3");
    hub.propose(agent, 1, NEW);
    hub.hold_records = true;
    let refused = hub.decide(COMMAND, "accept");
    hub.release_records(Err("disk full".into()));
    assert_eq!(outcome(&hub, COMMAND, refused), "refused");
    assert!(hub.answers(agent, 1).is_empty());
    assert_eq!(hub.file(), OLD);
    hub.hold_records = false;
    let taken = hub.decide(COMMAND, "accept");
    assert_eq!(outcome(&hub, COMMAND, taken), "taken");
    assert_eq!(hub.file(), NEW.as_bytes());
}

#[test]
fn a_write_that_was_answered_in_time_has_no_deadline_left() {
    let (mut hub, agent) = hub_and_agent("nexus3");
    hub.propose(agent, 1, NEW);
    hub.decide(COMMAND, "accept");
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
    hub.hold_reads = true;
    hub.wait_seconds(25);
    assert!(hub.take_reads().is_empty());
}

#[test]
fn a_proposal_that_cannot_be_recorded_is_an_error_for_its_agent_and_not_shown() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.hold_records = true;
    hub.propose(agent, 1, NEW);
    hub.release_records(Err("disk full".into()));
    let message = hub.answers(agent, 1)[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("disk full"), "{message}");
    assert!(hub.shown().is_empty() && hub.reviews().is_empty());
}

#[test]
fn an_answer_that_may_not_have_arrived_is_given_again_to_the_same_question() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 1, NEW);
    hub.decide(COMMAND, "accept");
    assert_eq!(hub.answers(agent, 1).len(), 1);
    // A frame that the agent sent before it read the answer says nothing about the answer.
    hub.frame(agent, &json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }));
    hub.disconnect(agent);
    let again = hub.connect(2, "claude");
    hub.propose(again, 1, NEW);
    assert_eq!(first_text(hub.answers(again, 1)[0]), "FILE_SAVED");
    assert_eq!(hub.shown().len(), 1, "the user is not asked twice");
}

#[test]
fn a_pong_of_an_earlier_ping_does_not_confirm_a_later_answer() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 1, NEW);
    hub.wait_seconds(30);
    let earlier = hub.pings[0].1;
    hub.decide(COMMAND, "accept");
    hub.event(Event::AgentPong { agent, number: Some(earlier) });
    hub.event(Event::AgentPong { agent, number: None });
    assert_eq!(hub.reviews().len(), 1, "still to be delivered");
    hub.pong(agent);
    assert!(hub.reviews().is_empty(), "delivered, and done with");
}

#[test]
fn an_answer_that_arrived_is_not_given_to_a_new_question() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 1, NEW);
    hub.decide(COMMAND, "accept");
    hub.pong(agent);
    hub.disconnect(agent);
    let again = hub.connect(2, "claude");
    hub.propose(again, 1, NEW);
    assert!(hub.answers(again, 1).is_empty());
    assert_eq!(hub.shown().len(), 2);
}

#[test]
fn a_decision_outlives_the_hub_and_is_delivered_once_to_the_agent_that_asks_again() {
    for dialect in ["claude", "nexus3"] {
        let (mut before, agent) = hub_and_agent(dialect);
        before.propose(agent, 1, NEW);
        before.decide(COMMAND, "accept");
        let mut hub = before.restart();
        hub.attach(EDITOR, json!({ "reviews": true }));
        let again = hub.connect(2, dialect);
        hub.propose(again, 1, NEW);
        assert_eq!(hub.answers(again, 1).len(), 1, "{dialect}");
        assert_eq!(first_text(hub.answers(again, 1)[0]), "FILE_SAVED");
        assert_eq!((hub.shown().len(), hub.writes), (0, 0), "{dialect}");
        hub.pong(again);
        assert!(hub.reviews().is_empty());
    }
}

#[test]
fn a_hub_killed_between_record_and_write_writes_when_the_window_is_back() {
    let (mut before, agent) = hub_and_agent("nexus3");
    before.propose(agent, 1, NEW);
    before.decide(COMMAND, "accept");
    let mut hub = before.restart_at_the_decision(OLD);
    assert_eq!((hub.file(), hub.writes), (OLD, 0), "the editor may hold unsaved text");
    hub.attach(EDITOR, json!({ "reviews": true }));
    assert_eq!((hub.file(), hub.writes), (NEW.as_bytes(), 1));
    let again = hub.connect(2, "nexus3");
    hub.propose(again, 1, NEW);
    assert_eq!(first_text(hub.answers(again, 1)[0]), "FILE_SAVED");
    assert_eq!((hub.shown().len(), hub.writes), (0, 1));
}

#[test]
fn a_decision_counts_though_its_command_is_gone_before_the_file_was_read() {
    let (mut hub, agent) = hub_and_agent("nexus3");
    hub.propose(agent, 1, NEW);
    hub.hold_reads = true;
    hub.decide(COMMAND, "accept");
    hub.event(Event::ConnectionClosed { connection: COMMAND });
    hub.release_reads();
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
    assert_eq!(hub.file(), NEW.as_bytes());
}

#[test]
fn of_two_decisions_on_one_connection_each_gets_its_own_answer() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 1, NEW);
    hub.hold_records = true;
    let first = hub.decide(COMMAND, "accept");
    let second = hub.decide(COMMAND, "reject");
    assert_eq!(outcome(&hub, COMMAND, second), "alreadyDecided");
    hub.release_records(Ok(()));
    assert_eq!(outcome(&hub, COMMAND, first), "taken");
    assert_eq!(hub.answers(agent, 1).len(), 1);
}

#[test]
fn a_change_withdrawn_while_its_file_is_read_is_not_shown() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.hold_reads = true;
    hub.propose(agent, 1, NEW);
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    hub.frame(agent, &cancelled);
    hub.propose(agent, 2, NEW);
    hub.call(agent, 3, "close_tab", json!({ "tab_name": "tab" }));
    hub.release_reads();
    assert!(hub.shown().is_empty() && hub.reviews().is_empty());
    assert!(hub.answers(agent, 1).is_empty(), "a cancelled request has no answer");
    assert!(hub.answers(agent, 2)[0]["error"].is_object());
    assert_eq!(first_text(hub.answers(agent, 3)[0]), "TAB_CLOSED");
}

#[test]
fn a_label_is_shown_shortened_and_told_and_closed_by_its_whole() {
    let (mut hub, agent) = hub_and_agent("claude");
    let tab = |last: &str| format!("{}{last}", "é".repeat(5_000));
    for (id, file, tab) in [(1, "/ws/a.txt", tab("1")), (2, "/ws/b.txt", tab("2"))] {
        let change = json!({
            "old_file_path": file, "new_file_path": file, "new_file_contents": NEW, "tab_name": tab,
        });
        hub.call(agent, id, "openDiff", change);
    }
    let shown = hub.shown()[0]["params"]["label"].as_str().unwrap();
    assert!(shown.chars().count() < 500 && shown.starts_with("ééé") && shown.ends_with('…'), "{shown}");
    assert!(hub.reviews().iter().all(|review| review.label.len() < 2_000));
    hub.call(agent, 3, "close_tab", json!({ "tab_name": tab("2") }));
    let left: Vec<_> = hub.reviews().iter().map(|review| review.path.clone()).collect();
    assert_eq!(left, [std::path::PathBuf::from("/ws/a.txt")], "the other is left alone");
    hub.decide(COMMAND, "reject");
    let told = &hub.answers(agent, 1)[0]["result"]["content"];
    assert_eq!((&told[0]["text"], &told[1]["text"]), (&json!("DIFF_REJECTED"), &json!(tab("1"))));
}

#[test]
fn an_agent_that_stays_away_loses_its_review_but_not_before_its_time() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.editor_answers.insert("ping", json!({}));
    hub.propose(agent, 1, NEW);
    hub.disconnect(agent);
    hub.wait_seconds(599);
    assert_eq!(hub.reviews().len(), 1);
    hub.wait_seconds(1);
    assert!(hub.reviews().is_empty());
    let hidden = hub.requests_to_editor("review/hide");
    assert_eq!(hidden[0]["params"]["reason"]["kind"], "withdrawn");
}

#[test]
fn an_agent_that_came_back_in_time_keeps_its_review_when_the_first_grace_would_end() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.editor_answers.insert("ping", json!({}));
    hub.propose(agent, 1, NEW);
    hub.disconnect(agent);
    hub.wait_seconds(590);
    let again = hub.connect(2, "claude");
    hub.propose(again, 1, NEW);
    hub.pong(again);
    hub.wait_seconds(20);
    assert_eq!(hub.reviews().len(), 1);
}

#[test]
fn a_window_that_stays_away_is_closed_and_its_agents_with_it() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    for _ in 0..12 {
        assert_eq!(hub.closed_ports, 0);
        hub.wait_seconds(10);
        hub.pong(agent);
    }
    assert_eq!((hub.closed_ports, &hub.closed_agents), (1, &vec![agent]));
    assert!(!hub.stopped, "a command is still connected");
}

#[test]
fn two_editors_that_claim_one_waiting_window_at_once_get_two() {
    let (mut hub, _) = hub_and_agent("claude");
    hub.event(Event::ConnectionClosed { connection: EDITOR });
    hub.attach_both(ConnectionId(3), ConnectionId(4));
    let windows: Vec<&Value> =
        [3, 4].iter().map(|connection| hub.attached_window(ConnectionId(*connection))).collect();
    assert_ne!(windows[0], windows[1]);
}

#[test]
fn silence_after_a_ping_is_the_end_of_an_agent() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.editor_answers.insert("ping", json!({}));
    hub.wait_seconds(30);
    assert!(hub.closed_agents.is_empty());
    hub.wait_seconds(30);
    assert_eq!(hub.closed_agents, [agent]);
}

#[test]
fn status_waits_for_signs_of_life_and_leaves_out_who_gives_none() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.editor_answers.insert("ping", json!({}));
    let quick = hub.request(COMMAND, "hub/status", json!({}));
    assert!(hub.response_to(COMMAND, quick).is_none(), "the agent has not answered yet");
    hub.pong(agent);
    let status = &hub.response_to(COMMAND, quick).unwrap()["result"]["windows"][0];
    assert_eq!((status["attached"].clone(), status["agents"].as_array().unwrap().len()), (json!(true), 1));

    hub.editor_answers.clear();
    let slow = hub.request(COMMAND, "hub/status", json!({}));
    hub.wait_seconds(1);
    let status = &hub.response_to(COMMAND, slow).unwrap()["result"]["windows"][0];
    assert_eq!((status["attached"].clone(), status["agents"].as_array().unwrap().len()), (json!(false), 0));
}

#[test]
fn windows_are_told_without_waiting_for_agents_but_not_without_their_editor() {
    let (mut hub, _silent_agent) = hub_and_agent("claude");
    let asked = hub.request(COMMAND, "hub/windows", json!({}));
    assert!(hub.response_to(COMMAND, asked).is_none(), "the editor has not answered yet");
    hub.wait_seconds(1);
    let away = &hub.response_to(COMMAND, asked).unwrap()["result"]["windows"][0];
    assert_eq!((&away["attached"], &away["agents"]), (&json!(false), &json!([])));

    hub.editor_answers.insert("ping", json!({}));
    let asked = hub.request(COMMAND, "hub/windows", json!({}));
    let there = &hub.response_to(COMMAND, asked).unwrap()["result"]["windows"][0];
    assert_eq!((&there["attached"], &there["agents"]), (&json!(true), &json!([])));
}

/// An editor that has `a.txt` open with unsaved text.
fn with_unsaved_text(text: &str) -> (CoreHarness, AgentId) {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "reviews": true, "documents": true, "edits": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    let live = json!({ "open": true, "dirty": true, "version": 5, "text": text });
    hub.editor_answers.insert("document/text", live);
    let agent = hub.connect(1, "nexus3");
    (hub, agent)
}

#[test]
fn an_open_document_is_changed_by_its_editor_and_the_disk_is_left_alone() {
    let (mut hub, agent) = with_unsaved_text("zero\none\ntwo\n");
    hub.editor_answers.insert("edits/apply", json!({ "applied": true, "version": 6 }));
    hub.propose(agent, 1, "zero\none\n2\n");
    hub.decide(COMMAND, "accept");
    let applied = hub.requests_to_editor("edits/apply");
    assert_eq!(applied.len(), 1);
    assert_eq!(applied[0]["params"]["edits"]["text"], "zero\none\n2\n");
    assert_eq!(applied[0]["params"]["version"], 5);
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
    assert_eq!((hub.file(), hub.writes), (OLD, 0));
}

#[test]
fn a_write_whose_window_does_not_come_back_is_carried_out_all_the_same() {
    let (mut before, agent) = hub_and_agent("nexus3");
    before.propose(agent, 1, NEW);
    before.decide(COMMAND, "accept");
    let mut hub = before.restart_at_the_decision(OLD);
    hub.wait_seconds(crate::config::Config::default().window_grace_seconds);
    assert_eq!((hub.file(), hub.writes), (NEW.as_bytes(), 1));
}

#[test]
fn a_hub_killed_before_the_editor_changed_unsaved_text_asks_the_editor_again() {
    let (mut before, agent) = with_unsaved_text("zero\none\ntwo\n");
    before.propose(agent, 1, "zero\none\n2\n");
    before.decide(COMMAND, "accept");
    let mut hub = before.restart_at_the_decision(OLD);
    let live = json!({ "open": true, "dirty": true, "version": 9, "text": "zero\none\ntwo\n" });
    hub.editor_answers.insert("document/text", live);
    hub.editor_answers.insert("edits/apply", json!({ "applied": true, "version": 10 }));
    hub.attach(EDITOR, json!({ "reviews": true, "documents": true, "edits": true }));
    let applied = hub.requests_to_editor("edits/apply");
    assert_eq!(applied.len(), 1);
    assert_eq!(applied[0]["params"]["edits"]["text"], "zero\none\n2\n");
    assert_eq!((hub.file(), hub.writes), (OLD, 0));
}

#[test]
fn a_document_that_could_not_be_saved_is_not_told_as_saved() {
    let (mut hub, agent) = with_unsaved_text("one\ntwo\n");
    let clean = json!({ "open": true, "dirty": false, "version": 5, "text": "one\ntwo\n" });
    hub.editor_answers.insert("document/text", clean);
    hub.editor_answers.insert("edits/apply", json!({ "applied": true, "version": 6, "saved": false }));
    hub.propose(agent, 1, "one\n2\n");
    hub.decide(COMMAND, "accept");
    assert!(hub.answers(agent, 1)[0]["error"]["message"].as_str().unwrap().contains("could not save"));
}

#[test]
fn an_editor_that_formats_what_it_saves_has_the_time_for_it() {
    let (mut hub, agent) = with_unsaved_text("one\ntwo\n");
    let clean = json!({ "open": true, "dirty": false, "version": 5, "text": "one\ntwo\n" });
    hub.editor_answers.insert("document/text", clean);
    hub.propose(agent, 1, NEW);
    hub.decide(COMMAND, "accept");
    hub.wait_seconds(29);
    assert!(hub.answers(agent, 1).is_empty());
    let apply = hub.requests_to_editor("edits/apply")[0]["id"].clone();
    hub.respond(EDITOR, &apply, json!({ "applied": true, "saved": true }));
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
}

#[test]
fn what_the_file_cannot_hold_was_not_saved_whatever_the_editor_says() {
    let (mut hub, agent) = with_unsaved_text("");
    hub.files.insert("/ws/a.txt".into(), b"caf\xe9\n".to_vec());
    let clean = json!({ "open": true, "dirty": false, "version": 5, "text": "caf\u{e9}\n" });
    hub.editor_answers.insert("document/text", clean);
    let impossible = json!({ "applied": true, "saved": true, "text": "\u{2603}\n" });
    hub.editor_answers.insert("edits/apply", impossible);
    hub.propose(agent, 1, "caf\u{e9}s\n");
    hub.decide(COMMAND, "accept");
    let error = hub.answers(agent, 1)[0]["error"]["message"].as_str().unwrap();
    assert!(error.contains("cannot hold"), "{error}");
}

#[test]
fn an_edit_that_could_not_be_recorded_is_not_said_to_be_taken() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 1, NEW);
    hub.hold_records = true;
    let edited = json!({ "review": "r1", "revision": 0, "text": "mine\n" });
    let edit = hub.request(EDITOR, "review/edited", edited);
    hub.release_records(Err("disk full".to_owned()));
    let error = &hub.response_to(EDITOR, edit).unwrap()["error"];
    assert_eq!(error["code"], linkspan_editor_api::errors::INTERNAL);
    assert!(error["message"].as_str().unwrap().contains("disk full"));
}

#[test]
fn an_editor_that_could_not_apply_is_asked_what_it_holds_and_the_user_again() {
    let (mut hub, agent) = with_unsaved_text("zero\none\ntwo\n");
    hub.editor_answers.insert("edits/apply", json!({ "applied": false }));
    hub.propose(agent, 1, "zero\none\n2\n");
    // Between reading and applying, the user typed on the same line.
    hub.hold_records = true;
    let decision = hub.decide(COMMAND, "accept");
    let moved = json!({ "open": true, "dirty": true, "version": 6, "text": "zero\none\nTWO\n" });
    hub.editor_answers.insert("document/text", moved);
    hub.hold_records = false;
    hub.release_records(Ok(()));
    assert_eq!(outcome(&hub, COMMAND, decision), "askAgain");
    assert!(hub.answers(agent, 1).is_empty());
    assert_eq!((hub.file(), hub.writes), (OLD, 0));
    assert_eq!(hub.shown().last().unwrap()["params"]["conflicts"].as_array().unwrap().len(), 1);
}

#[test]
fn an_editor_that_applied_but_whose_answer_was_lost_is_not_asked_to_apply_again() {
    let (mut hub, agent) = with_unsaved_text("zero\none\ntwo\n");
    hub.propose(agent, 1, "zero\none\n2\n");
    hub.decide(COMMAND, "accept");
    assert_eq!(hub.requests_to_editor("edits/apply").len(), 1, "and it never answers");
    let done = json!({ "open": true, "dirty": true, "version": 6, "text": "zero\none\n2\n" });
    hub.editor_answers.insert("document/text", done);
    hub.wait_seconds(5);
    assert_eq!(first_text(hub.answers(agent, 1)[0]), "FILE_SAVED");
    assert_eq!((hub.requests_to_editor("edits/apply").len(), hub.writes), (1, 0));
}

#[test]
fn an_old_accept_that_no_agent_fetched_is_not_taken_for_a_new_one() {
    let grace = crate::config::Config::default().agent_grace_seconds;
    for (away_s, answered) in [(0, 1), (grace + 1, 0)] {
        let (mut before, agent) = hub_and_agent("claude");
        before.propose(agent, 1, NEW);
        before.decide(COMMAND, "accept");
        before.disconnect(agent);
        before.downtime_ms = away_s * 1000;
        let mut hub = before.restart();
        hub.attach(EDITOR, json!({ "reviews": true }));
        let again = hub.connect(2, "claude");
        hub.propose(again, 1, NEW);
        assert_eq!(hub.answers(again, 1).len(), answered, "after {away_s} s");
        assert_eq!(hub.shown().len(), 1 - answered, "after {away_s} s");
    }
}

#[test]
fn an_answer_that_expired_does_not_come_back_after_a_restart() {
    let (mut before, agent) = hub_and_agent("claude");
    before.propose(agent, 1, NEW);
    before.decide(COMMAND, "accept");
    before.disconnect(agent);
    before.wait_seconds(crate::config::Config::default().agent_grace_seconds);
    assert!(before.reviews().is_empty());
    let mut hub = before.restart();
    hub.attach(EDITOR, json!({ "reviews": true }));
    let again = hub.connect(2, "claude");
    hub.propose(again, 1, NEW);
    assert!(hub.answers(again, 1).is_empty());
    assert_eq!(hub.shown().len(), 1);
}

#[test]
fn an_editor_that_never_lets_a_document_be_changed_is_asked_once() {
    let (mut hub, agent) = with_unsaved_text("zero\none\ntwo\n");
    hub.editor_answers.insert("edits/apply", json!({ "applied": false }));
    hub.propose(agent, 1, "zero\none\n2\n");
    hub.decide(COMMAND, "accept");
    assert_eq!(hub.requests_to_editor("edits/apply").len(), 1);
    let error = hub.answers(agent, 1)[0]["error"]["message"].as_str().unwrap();
    assert!(error.contains("does not let the document be changed"), "{error}");
}

#[test]
fn a_disk_that_does_not_answer_is_an_error_for_its_agent() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.hold_reads = true;
    hub.propose(agent, 1, NEW);
    hub.wait_seconds(20);
    assert!(hub.answers(agent, 1)[0]["error"]["message"].as_str().unwrap().contains("did not answer"));
    hub.release_reads();
    assert_eq!((hub.answers(agent, 1).len(), hub.shown().len()), (1, 0));
}

#[test]
fn an_edit_that_comes_too_late_does_not_take_the_answer_of_a_decision() {
    let (mut hub, agent) = hub_and_agent("claude");
    hub.propose(agent, 1, NEW);
    hub.hold_records = true;
    let decision = hub.request(
        EDITOR,
        "review/decided",
        json!({
            "review": "r1", "revision": 0, "decision": { "verdict": { "kind": "accept" } },
        }),
    );
    let edited = json!({ "review": "r1", "revision": 0, "text": "late\n" });
    hub.notify(EDITOR, "review/edited", edited);
    assert!(hub.response_to(EDITOR, decision).is_none());
    hub.hold_records = false;
    hub.release_records(Ok(()));
    assert_eq!(outcome(&hub, EDITOR, decision), "taken");
}

#[test]
fn an_agent_that_asks_again_while_we_write_is_not_asked_about_twice() {
    for is_recorded in [true, false] {
        let (mut hub, agent) = hub_and_agent("nexus3");
        hub.propose(agent, 1, NEW);
        hub.disconnect(agent);
        let again = hub.connect(2, "nexus3");
        // The file is read for the second question, then written for the first one's answer.
        hub.hold_reads = true;
        hub.propose(again, 1, NEW);
        let before_the_write = hub.take_reads();
        hub.hold_reads = false;
        hub.hold_records = !is_recorded;
        hub.decide(COMMAND, "accept");
        // The decision is recorded; that it was written perhaps not yet.
        hub.release_records(Ok(()));
        assert_eq!((hub.file(), hub.writes), (NEW.as_bytes(), 1));
        hub.events(before_the_write);
        hub.release_records(Ok(()));
        assert_eq!(first_text(hub.answers(again, 1)[0]), "FILE_SAVED");
        assert_eq!((hub.shown().len(), hub.writes), (1, 1));
    }
}

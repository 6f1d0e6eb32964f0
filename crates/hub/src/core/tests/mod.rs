//! What real processes cannot time exactly: an answer that crosses another, a record that takes its time, a clock
//! that runs out.

mod already_written;
mod asked_again;
mod away;
mod clients;
mod closing;
mod consenting;
mod desk;
mod editing;
mod forgetting;
mod landing;
mod late_editor;
mod own;
mod own_tool;
mod page;
mod past;
mod ppxai;
mod returning;
mod showing;
mod streaming;
mod two_paths;
mod undoing;
mod unsaved;
mod watching;

use linkspan_review::AgentId;
use serde_json::{Value, json};

use super::{Event, LocalId};
use desk::{COMMAND, Desk, EDITOR};

const OLD: &[u8] = b"one\ntwo\n";
const NEW: &str = "one\n2\n";

/// An editor that shows reviews, and an agent of that dialect.
fn desk(dialect: &str) -> (Desk, AgentId) {
    let mut desk = Desk::new();
    desk.attach(EDITOR, json!({ "reviews": true }));
    desk.event(Event::LocalOpened { local: COMMAND });
    let agent = desk.connect(1, dialect);
    (desk, agent)
}

fn first_text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

fn outcome(desk: &Desk, local: LocalId, id: i64) -> &str {
    desk.answer_to(local, id).and_then(|answer| answer["result"]["kind"].as_str()).unwrap_or("none")
}

#[test]
fn nobody_is_shown_a_proposal_before_it_is_recorded() {
    let (mut desk, agent) = desk("claude");
    desk.hold_records = true;
    desk.propose(agent, 1, NEW);
    assert!(desk.shown().is_empty());
    desk.let_go(Ok(()));
    assert_eq!(desk.shown().len(), 1);
}

#[test]
fn nobody_is_told_of_a_decision_before_it_is_recorded() {
    for dialect in ["claude", "nexus3"] {
        let (mut desk, agent) = desk(dialect);
        desk.propose(agent, 1, NEW);
        desk.hold_records = true;
        let decision = desk.decide(COMMAND, "accept");
        assert!(desk.answers(agent, 1).is_empty() && desk.answer_to(COMMAND, decision).is_none());
        assert_eq!((desk.file(), desk.writes), (OLD, 0));
        desk.hold_records = false;
        desk.let_go(Ok(()));
        assert_eq!(outcome(&desk, COMMAND, decision), "taken");
        assert_eq!(first_text(desk.answers(agent, 1)[0]), "FILE_SAVED");
        assert_eq!(desk.writes, usize::from(dialect == "nexus3"), "{dialect}");
    }
}

#[test]
fn a_decision_that_cannot_be_recorded_is_refused_and_the_review_goes_on() {
    let (mut desk, agent) = desk("nexus3");
    desk.propose(agent, 1, NEW);
    desk.hold_records = true;
    let refused = desk.decide(COMMAND, "accept");
    desk.let_go(Err("disk full".into()));
    assert_eq!(outcome(&desk, COMMAND, refused), "refused");
    assert!(desk.answers(agent, 1).is_empty());
    assert_eq!(desk.file(), OLD);
    desk.hold_records = false;
    let taken = desk.decide(COMMAND, "accept");
    assert_eq!(outcome(&desk, COMMAND, taken), "taken");
    assert_eq!(desk.file(), NEW.as_bytes());
}

#[test]
fn a_write_that_was_answered_in_time_has_no_deadline_left() {
    let (mut desk, agent) = desk("nexus3");
    desk.propose(agent, 1, NEW);
    desk.decide(COMMAND, "accept");
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "FILE_SAVED");
    desk.hold_reads = true;
    desk.wait_seconds(25);
    assert!(desk.take_reads().is_empty());
}

#[test]
fn a_proposal_that_cannot_be_recorded_is_an_error_for_its_agent_and_shown_to_nobody() {
    let (mut desk, agent) = desk("claude");
    desk.hold_records = true;
    desk.propose(agent, 1, NEW);
    desk.let_go(Err("disk full".into()));
    let message = desk.answers(agent, 1)[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("disk full"), "{message}");
    assert!(desk.shown().is_empty() && desk.reviews().is_empty());
}

#[test]
fn an_answer_that_may_not_have_arrived_is_given_again_to_the_same_question() {
    let (mut desk, agent) = desk("claude");
    desk.propose(agent, 1, NEW);
    desk.decide(COMMAND, "accept");
    assert_eq!(desk.answers(agent, 1).len(), 1);
    // A frame that the agent sent before it read the answer says nothing about the answer.
    desk.frame(agent, &json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }));
    desk.lose(agent);
    let again = desk.connect(2, "claude");
    desk.propose(again, 1, NEW);
    assert_eq!(first_text(desk.answers(again, 1)[0]), "FILE_SAVED");
    assert_eq!(desk.shown().len(), 1, "nobody is asked twice");
}

#[test]
fn a_pong_of_an_earlier_ping_does_not_confirm_a_later_answer() {
    let (mut desk, agent) = desk("claude");
    desk.propose(agent, 1, NEW);
    desk.wait_seconds(30);
    let earlier = desk.pings[0].1;
    desk.decide(COMMAND, "accept");
    desk.event(Event::AgentPong { agent, number: Some(earlier) });
    desk.event(Event::AgentPong { agent, number: None });
    assert_eq!(desk.reviews().len(), 1, "still to be delivered");
    desk.pong(agent);
    assert!(desk.reviews().is_empty(), "delivered, and done with");
}

#[test]
fn an_answer_that_arrived_is_not_given_to_a_new_question() {
    let (mut desk, agent) = desk("claude");
    desk.propose(agent, 1, NEW);
    desk.decide(COMMAND, "accept");
    desk.pong(agent);
    desk.lose(agent);
    let again = desk.connect(2, "claude");
    desk.propose(again, 1, NEW);
    assert!(desk.answers(again, 1).is_empty());
    assert_eq!(desk.shown().len(), 2);
}

#[test]
fn a_decision_outlives_the_hub_and_is_told_once_to_the_agent_that_asks_again() {
    for dialect in ["claude", "nexus3"] {
        let (mut before, agent) = desk(dialect);
        before.propose(agent, 1, NEW);
        before.decide(COMMAND, "accept");
        let mut desk = before.restart();
        desk.attach(EDITOR, json!({ "reviews": true }));
        let again = desk.connect(2, dialect);
        desk.propose(again, 1, NEW);
        assert_eq!(desk.answers(again, 1).len(), 1, "{dialect}");
        assert_eq!(first_text(desk.answers(again, 1)[0]), "FILE_SAVED");
        assert_eq!((desk.shown().len(), desk.writes), (0, 0), "{dialect}");
        desk.pong(again);
        assert!(desk.reviews().is_empty());
    }
}

#[test]
fn a_hub_killed_between_record_and_write_writes_when_the_window_is_back() {
    let (mut before, agent) = desk("nexus3");
    before.propose(agent, 1, NEW);
    before.decide(COMMAND, "accept");
    let mut desk = before.restart_at_the_decision(OLD);
    assert_eq!((desk.file(), desk.writes), (OLD, 0), "the editor may hold unsaved text");
    desk.attach(EDITOR, json!({ "reviews": true }));
    assert_eq!((desk.file(), desk.writes), (NEW.as_bytes(), 1));
    let again = desk.connect(2, "nexus3");
    desk.propose(again, 1, NEW);
    assert_eq!(first_text(desk.answers(again, 1)[0]), "FILE_SAVED");
    assert_eq!((desk.shown().len(), desk.writes), (0, 1));
}

#[test]
fn a_decision_counts_though_its_command_is_gone_before_the_file_was_read() {
    let (mut desk, agent) = desk("nexus3");
    desk.propose(agent, 1, NEW);
    desk.hold_reads = true;
    desk.decide(COMMAND, "accept");
    desk.event(Event::LocalClosed { local: COMMAND });
    desk.let_reads_go();
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "FILE_SAVED");
    assert_eq!(desk.file(), NEW.as_bytes());
}

#[test]
fn of_two_decisions_on_one_connection_each_gets_its_own_answer() {
    let (mut desk, agent) = desk("claude");
    desk.propose(agent, 1, NEW);
    desk.hold_records = true;
    let first = desk.decide(COMMAND, "accept");
    let second = desk.decide(COMMAND, "reject");
    assert_eq!(outcome(&desk, COMMAND, second), "alreadyDecided");
    desk.let_go(Ok(()));
    assert_eq!(outcome(&desk, COMMAND, first), "taken");
    assert_eq!(desk.answers(agent, 1).len(), 1);
}

#[test]
fn a_change_taken_back_while_its_file_is_read_is_shown_to_nobody() {
    let (mut desk, agent) = desk("claude");
    desk.hold_reads = true;
    desk.propose(agent, 1, NEW);
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    desk.frame(agent, &cancelled);
    desk.propose(agent, 2, NEW);
    desk.call(agent, 3, "close_tab", json!({ "tab_name": "tab" }));
    desk.let_reads_go();
    assert!(desk.shown().is_empty() && desk.reviews().is_empty());
    assert!(desk.answers(agent, 1).is_empty(), "a cancelled request has no answer");
    assert!(desk.answers(agent, 2)[0]["error"].is_object());
    assert_eq!(first_text(desk.answers(agent, 3)[0]), "TAB_CLOSED");
}

#[test]
fn a_label_is_shown_shortened_and_told_and_closed_by_its_whole() {
    let (mut desk, agent) = desk("claude");
    let tab = |last: &str| format!("{}{last}", "é".repeat(5_000));
    for (id, file, tab) in [(1, "/ws/a.txt", tab("1")), (2, "/ws/b.txt", tab("2"))] {
        let change = json!({
            "old_file_path": file, "new_file_path": file, "new_file_contents": NEW, "tab_name": tab,
        });
        desk.call(agent, id, "openDiff", change);
    }
    let shown = desk.shown()[0]["params"]["label"].as_str().unwrap();
    assert!(shown.chars().count() < 500 && shown.starts_with("ééé") && shown.ends_with('…'), "{shown}");
    assert!(desk.reviews().iter().all(|review| review.label.len() < 2_000));
    desk.call(agent, 3, "close_tab", json!({ "tab_name": tab("2") }));
    let left: Vec<_> = desk.reviews().iter().map(|review| review.path.clone()).collect();
    assert_eq!(left, [std::path::PathBuf::from("/ws/a.txt")], "the other is left alone");
    desk.decide(COMMAND, "reject");
    let told = &desk.answers(agent, 1)[0]["result"]["content"];
    assert_eq!((&told[0]["text"], &told[1]["text"]), (&json!("DIFF_REJECTED"), &json!(tab("1"))));
}

#[test]
fn an_agent_that_stays_away_loses_its_review_but_not_before_its_time() {
    let (mut desk, agent) = desk("claude");
    desk.editor_answers.insert("ping", json!({}));
    desk.propose(agent, 1, NEW);
    desk.lose(agent);
    desk.wait_seconds(599);
    assert_eq!(desk.reviews().len(), 1);
    desk.wait_seconds(1);
    assert!(desk.reviews().is_empty());
    let hidden = desk.asked_of_editor("review/hide");
    assert_eq!(hidden[0]["params"]["reason"]["kind"], "withdrawn");
}

#[test]
fn an_agent_that_came_back_in_time_keeps_its_review_when_the_first_grace_would_end() {
    let (mut desk, agent) = desk("claude");
    desk.editor_answers.insert("ping", json!({}));
    desk.propose(agent, 1, NEW);
    desk.lose(agent);
    desk.wait_seconds(590);
    let again = desk.connect(2, "claude");
    desk.propose(again, 1, NEW);
    desk.pong(again);
    desk.wait_seconds(20);
    assert_eq!(desk.reviews().len(), 1);
}

#[test]
fn a_window_that_stays_away_is_closed_and_its_agents_with_it() {
    let (mut desk, agent) = desk("claude");
    desk.event(Event::LocalClosed { local: EDITOR });
    for _ in 0..12 {
        assert_eq!(desk.ports_closed, 0);
        desk.wait_seconds(10);
        desk.pong(agent);
    }
    assert_eq!((desk.ports_closed, &desk.closed_agents), (1, &vec![agent]));
    assert!(!desk.stopped, "a command is still connected");
}

#[test]
fn two_editors_that_claim_one_waiting_window_at_once_get_two() {
    let (mut desk, _) = desk("claude");
    desk.event(Event::LocalClosed { local: EDITOR });
    desk.attach_both(LocalId(3), LocalId(4));
    let windows: Vec<&Value> = [3, 4].iter().map(|local| desk.attached_window(LocalId(*local))).collect();
    assert_ne!(windows[0], windows[1]);
}

#[test]
fn silence_after_a_ping_is_the_end_of_an_agent() {
    let (mut desk, agent) = desk("claude");
    desk.editor_answers.insert("ping", json!({}));
    desk.wait_seconds(30);
    assert!(desk.closed_agents.is_empty());
    desk.wait_seconds(30);
    assert_eq!(desk.closed_agents, [agent]);
}

#[test]
fn status_waits_for_signs_of_life_and_leaves_out_who_gives_none() {
    let (mut desk, agent) = desk("claude");
    desk.editor_answers.insert("ping", json!({}));
    let quick = desk.ask(COMMAND, "hub/status", json!({}));
    assert!(desk.answer_to(COMMAND, quick).is_none(), "the agent has not answered yet");
    desk.pong(agent);
    let status = &desk.answer_to(COMMAND, quick).unwrap()["result"]["windows"][0];
    assert_eq!((status["attached"].clone(), status["agents"].as_array().unwrap().len()), (json!(true), 1));

    desk.editor_answers.clear();
    let slow = desk.ask(COMMAND, "hub/status", json!({}));
    desk.wait_seconds(1);
    let status = &desk.answer_to(COMMAND, slow).unwrap()["result"]["windows"][0];
    assert_eq!((status["attached"].clone(), status["agents"].as_array().unwrap().len()), (json!(false), 0));
}

#[test]
fn windows_are_told_without_waiting_for_agents_but_not_without_their_editor() {
    let (mut desk, _silent_agent) = desk("claude");
    let asked = desk.ask(COMMAND, "hub/windows", json!({}));
    assert!(desk.answer_to(COMMAND, asked).is_none(), "the editor has not answered yet");
    desk.wait_seconds(1);
    let away = &desk.answer_to(COMMAND, asked).unwrap()["result"]["windows"][0];
    assert_eq!((&away["attached"], &away["agents"]), (&json!(false), &json!([])));

    desk.editor_answers.insert("ping", json!({}));
    let asked = desk.ask(COMMAND, "hub/windows", json!({}));
    let there = &desk.answer_to(COMMAND, asked).unwrap()["result"]["windows"][0];
    assert_eq!((&there["attached"], &there["agents"]), (&json!(true), &json!([])));
}

/// An editor that has `a.txt` open with unsaved text.
fn with_unsaved_text(text: &str) -> (Desk, AgentId) {
    let mut desk = Desk::new();
    desk.attach(EDITOR, json!({ "reviews": true, "documents": true, "edits": true }));
    desk.event(Event::LocalOpened { local: COMMAND });
    let live = json!({ "open": true, "dirty": true, "version": 5, "text": text });
    desk.editor_answers.insert("document/text", live);
    let agent = desk.connect(1, "nexus3");
    (desk, agent)
}

#[test]
fn an_open_document_is_changed_by_its_editor_and_the_disk_is_left_alone() {
    let (mut desk, agent) = with_unsaved_text("zero\none\ntwo\n");
    desk.editor_answers.insert("edits/apply", json!({ "applied": true, "version": 6 }));
    desk.propose(agent, 1, "zero\none\n2\n");
    desk.decide(COMMAND, "accept");
    let applied = desk.asked_of_editor("edits/apply");
    assert_eq!(applied.len(), 1);
    assert_eq!(applied[0]["params"]["edits"]["text"], "zero\none\n2\n");
    assert_eq!(applied[0]["params"]["version"], 5);
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "FILE_SAVED");
    assert_eq!((desk.file(), desk.writes), (OLD, 0));
}

#[test]
fn a_write_whose_window_does_not_come_back_is_carried_out_all_the_same() {
    let (mut before, agent) = desk("nexus3");
    before.propose(agent, 1, NEW);
    before.decide(COMMAND, "accept");
    let mut desk = before.restart_at_the_decision(OLD);
    desk.wait_seconds(crate::config::Config::default().window_grace_seconds);
    assert_eq!((desk.file(), desk.writes), (NEW.as_bytes(), 1));
}

#[test]
fn a_hub_killed_before_the_editor_changed_unsaved_text_asks_the_editor_again() {
    let (mut before, agent) = with_unsaved_text("zero\none\ntwo\n");
    before.propose(agent, 1, "zero\none\n2\n");
    before.decide(COMMAND, "accept");
    let mut desk = before.restart_at_the_decision(OLD);
    let live = json!({ "open": true, "dirty": true, "version": 9, "text": "zero\none\ntwo\n" });
    desk.editor_answers.insert("document/text", live);
    desk.editor_answers.insert("edits/apply", json!({ "applied": true, "version": 10 }));
    desk.attach(EDITOR, json!({ "reviews": true, "documents": true, "edits": true }));
    let applied = desk.asked_of_editor("edits/apply");
    assert_eq!(applied.len(), 1);
    assert_eq!(applied[0]["params"]["edits"]["text"], "zero\none\n2\n");
    assert_eq!((desk.file(), desk.writes), (OLD, 0));
}

#[test]
fn a_document_that_could_not_be_saved_is_not_told_as_saved() {
    let (mut desk, agent) = with_unsaved_text("one\ntwo\n");
    let clean = json!({ "open": true, "dirty": false, "version": 5, "text": "one\ntwo\n" });
    desk.editor_answers.insert("document/text", clean);
    desk.editor_answers.insert("edits/apply", json!({ "applied": true, "version": 6, "saved": false }));
    desk.propose(agent, 1, "one\n2\n");
    desk.decide(COMMAND, "accept");
    assert!(desk.answers(agent, 1)[0]["error"]["message"].as_str().unwrap().contains("could not save"));
}

#[test]
fn an_editor_that_formats_what_it_saves_has_the_time_for_it() {
    let (mut desk, agent) = with_unsaved_text("one\ntwo\n");
    let clean = json!({ "open": true, "dirty": false, "version": 5, "text": "one\ntwo\n" });
    desk.editor_answers.insert("document/text", clean);
    desk.propose(agent, 1, NEW);
    desk.decide(COMMAND, "accept");
    desk.wait_seconds(29);
    assert!(desk.answers(agent, 1).is_empty());
    let apply = desk.asked_of_editor("edits/apply")[0]["id"].clone();
    desk.answer(EDITOR, &apply, json!({ "applied": true, "saved": true }));
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "FILE_SAVED");
}

#[test]
fn what_the_file_cannot_hold_was_not_saved_whatever_the_editor_says() {
    let (mut desk, agent) = with_unsaved_text("");
    desk.files.insert("/ws/a.txt".into(), b"caf\xe9\n".to_vec());
    let clean = json!({ "open": true, "dirty": false, "version": 5, "text": "caf\u{e9}\n" });
    desk.editor_answers.insert("document/text", clean);
    let impossible = json!({ "applied": true, "saved": true, "text": "\u{2603}\n" });
    desk.editor_answers.insert("edits/apply", impossible);
    desk.propose(agent, 1, "caf\u{e9}s\n");
    desk.decide(COMMAND, "accept");
    let error = desk.answers(agent, 1)[0]["error"]["message"].as_str().unwrap();
    assert!(error.contains("cannot hold"), "{error}");
}

#[test]
fn an_edit_that_could_not_be_recorded_is_not_said_to_be_taken() {
    let (mut desk, agent) = desk("claude");
    desk.propose(agent, 1, NEW);
    desk.hold_records = true;
    let edited = json!({ "review": "r1", "revision": 0, "text": "mine\n" });
    let edit = desk.ask(EDITOR, "review/edited", edited);
    desk.let_go(Err("disk full".to_owned()));
    let error = &desk.answer_to(EDITOR, edit).unwrap()["error"];
    assert_eq!(error["code"], linkspan_editor_api::errors::INTERNAL);
    assert!(error["message"].as_str().unwrap().contains("disk full"));
}

#[test]
fn an_editor_that_could_not_apply_is_asked_what_it_holds_and_the_person_again() {
    let (mut desk, agent) = with_unsaved_text("zero\none\ntwo\n");
    desk.editor_answers.insert("edits/apply", json!({ "applied": false }));
    desk.propose(agent, 1, "zero\none\n2\n");
    // Between the reading and the applying she typed on the very line.
    desk.hold_records = true;
    let decision = desk.decide(COMMAND, "accept");
    let moved = json!({ "open": true, "dirty": true, "version": 6, "text": "zero\none\nTWO\n" });
    desk.editor_answers.insert("document/text", moved);
    desk.hold_records = false;
    desk.let_go(Ok(()));
    assert_eq!(outcome(&desk, COMMAND, decision), "askAgain");
    assert!(desk.answers(agent, 1).is_empty());
    assert_eq!((desk.file(), desk.writes), (OLD, 0));
    assert_eq!(desk.shown().last().unwrap()["params"]["conflicts"].as_array().unwrap().len(), 1);
}

#[test]
fn an_editor_that_applied_but_was_not_heard_is_not_asked_to_apply_again() {
    let (mut desk, agent) = with_unsaved_text("zero\none\ntwo\n");
    desk.propose(agent, 1, "zero\none\n2\n");
    desk.decide(COMMAND, "accept");
    assert_eq!(desk.asked_of_editor("edits/apply").len(), 1, "and it never answers");
    let done = json!({ "open": true, "dirty": true, "version": 6, "text": "zero\none\n2\n" });
    desk.editor_answers.insert("document/text", done);
    desk.wait_seconds(5);
    assert_eq!(first_text(desk.answers(agent, 1)[0]), "FILE_SAVED");
    assert_eq!((desk.asked_of_editor("edits/apply").len(), desk.writes), (1, 0));
}

#[test]
fn an_old_yes_that_nobody_fetched_is_not_taken_for_a_new_one() {
    let grace = crate::config::Config::default().agent_grace_seconds;
    for (away_s, answered) in [(0, 1), (grace + 1, 0)] {
        let (mut before, agent) = desk("claude");
        before.propose(agent, 1, NEW);
        before.decide(COMMAND, "accept");
        before.lose(agent);
        before.away_ms = away_s * 1000;
        let mut desk = before.restart();
        desk.attach(EDITOR, json!({ "reviews": true }));
        let again = desk.connect(2, "claude");
        desk.propose(again, 1, NEW);
        assert_eq!(desk.answers(again, 1).len(), answered, "after {away_s} s");
        assert_eq!(desk.shown().len(), 1 - answered, "after {away_s} s");
    }
}

#[test]
fn an_answer_that_expired_does_not_come_back_after_a_restart() {
    let (mut before, agent) = desk("claude");
    before.propose(agent, 1, NEW);
    before.decide(COMMAND, "accept");
    before.lose(agent);
    before.wait_seconds(crate::config::Config::default().agent_grace_seconds);
    assert!(before.reviews().is_empty());
    let mut desk = before.restart();
    desk.attach(EDITOR, json!({ "reviews": true }));
    let again = desk.connect(2, "claude");
    desk.propose(again, 1, NEW);
    assert!(desk.answers(again, 1).is_empty());
    assert_eq!(desk.shown().len(), 1);
}

#[test]
fn an_editor_that_never_lets_a_document_be_changed_is_asked_once() {
    let (mut desk, agent) = with_unsaved_text("zero\none\ntwo\n");
    desk.editor_answers.insert("edits/apply", json!({ "applied": false }));
    desk.propose(agent, 1, "zero\none\n2\n");
    desk.decide(COMMAND, "accept");
    assert_eq!(desk.asked_of_editor("edits/apply").len(), 1);
    let error = desk.answers(agent, 1)[0]["error"]["message"].as_str().unwrap();
    assert!(error.contains("does not let the document be changed"), "{error}");
}

#[test]
fn a_disk_that_does_not_answer_is_an_error_for_its_agent() {
    let (mut desk, agent) = desk("claude");
    desk.hold_reads = true;
    desk.propose(agent, 1, NEW);
    desk.wait_seconds(20);
    assert!(desk.answers(agent, 1)[0]["error"]["message"].as_str().unwrap().contains("did not answer"));
    desk.let_reads_go();
    assert_eq!((desk.answers(agent, 1).len(), desk.shown().len()), (1, 0));
}

#[test]
fn an_edit_that_comes_too_late_does_not_take_the_answer_of_a_decision() {
    let (mut desk, agent) = desk("claude");
    desk.propose(agent, 1, NEW);
    desk.hold_records = true;
    let decision = desk.ask(
        EDITOR,
        "review/decided",
        json!({
            "review": "r1", "revision": 0, "decision": { "verdict": { "kind": "accept" } },
        }),
    );
    let edited = json!({ "review": "r1", "revision": 0, "text": "late\n" });
    desk.tell(EDITOR, "review/edited", edited);
    assert!(desk.answer_to(EDITOR, decision).is_none());
    desk.hold_records = false;
    desk.let_go(Ok(()));
    assert_eq!(outcome(&desk, EDITOR, decision), "taken");
}

#[test]
fn an_agent_that_asks_again_while_we_write_is_not_asked_about_twice() {
    let (mut desk, agent) = desk("nexus3");
    desk.propose(agent, 1, NEW);
    desk.lose(agent);
    let again = desk.connect(2, "nexus3");
    // The file is read for the second question, then written for the first one's answer.
    desk.hold_reads = true;
    desk.propose(again, 1, NEW);
    let before_the_write = desk.take_reads();
    desk.hold_reads = false;
    desk.decide(COMMAND, "accept");
    assert_eq!((desk.file(), desk.writes), (NEW.as_bytes(), 1));
    desk.give(before_the_write);
    assert_eq!(first_text(desk.answers(again, 1)[0]), "FILE_SAVED");
    assert_eq!((desk.shown().len(), desk.writes), (1, 1));
}

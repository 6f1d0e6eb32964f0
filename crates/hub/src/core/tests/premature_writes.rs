//! Clio's `edit_file` writes the file, then proposes what it has written: that is shown, and can be taken back.

use linkspan_review::AgentId;
use serde_json::{Value, json};

use super::edits::{clio, messages_to};
use super::support::{COMMAND, EDITOR};
use super::{hub_and_agent, with_unsaved_text};
use crate::core::Event;
use crate::core::harness::CoreHarness;

/// An edit as `edit_file` sends it: the range is that of the new text.
fn edit(from: (u32, u32), to: (u32, u32), old: &str, new: &str) -> Value {
    let place = |(line, character): (u32, u32)| json!({ "line": line, "character": character });
    json!({ "range": { "start": place(from), "end": place(to) }, "oldText": old, "newText": new })
}

/// The file is written before anybody is asked.
fn writes(hub: &mut CoreHarness, agent: AgentId, file: &str, edits: &[Value]) {
    hub.files.insert("/ws/a.txt".into(), file.into());
    let proposal =
        json!({ "type": "proposeDiff", "file": "/ws/a.txt", "edits": edits, "description": "Edit a.txt" });
    hub.frame(agent, &proposal);
}

fn words(hub: &CoreHarness, agent: AgentId) -> Vec<&str> {
    messages_to(hub, agent).into_iter().map(|frame| frame["type"].as_str().unwrap()).collect()
}

fn file(hub: &CoreHarness) -> &str {
    str::from_utf8(hub.file()).unwrap()
}

fn decide(hub: &mut CoreHarness, review: &str, verdict: Value) -> String {
    let asked = hub.request(
        COMMAND,
        "reviews/decide",
        json!({ "review": review, "decision": { "verdict": verdict } }),
    );
    hub.response_to(COMMAND, asked).unwrap()["result"]["kind"].as_str().unwrap().to_owned()
}

fn reject(hub: &mut CoreHarness, review: &str) -> String {
    decide(hub, review, json!({ "kind": "reject" }))
}

/// `one` became `ONE`.
fn written() -> (CoreHarness, AgentId) {
    let (mut hub, _) = hub_and_agent("nexus3");
    let agent = clio(&mut hub, 7);
    writes(&mut hub, agent, "ONE\ntwo\n", &[edit((0, 0), (0, 3), "one", "ONE")]);
    (hub, agent)
}

#[test]
fn what_was_written_is_shown_in_words_and_with_the_text_before() {
    let (hub, agent) = written();
    assert_eq!(words(&hub, agent), Vec::<&str>::new());
    let shown = &hub.shown()[0]["params"];
    assert_eq!((&shown["base"], &shown["proposed"]), (&json!("one\ntwo\n"), &json!("ONE\ntwo\n")));
    let label = shown["label"].as_str().unwrap();
    assert!(label.contains("Edit a.txt") && label.to_lowercase().contains("already on disk"), "{label}");
}

#[test]
fn accepting_keeps_it() {
    let (mut hub, agent) = written();
    assert_eq!(decide(&mut hub, "r1", json!({ "kind": "accept" })), "taken");
    assert_eq!((file(&hub), hub.writes), ("ONE\ntwo\n", 0));
    assert_eq!(words(&hub, agent), ["diffAccepted"]);
}

#[test]
fn rejecting_puts_the_text_before_back() {
    let (mut hub, agent) = written();
    assert_eq!(reject(&mut hub, "r1"), "taken");
    assert_eq!((file(&hub), hub.writes), ("one\ntwo\n", 1));
    assert_eq!(words(&hub, agent), ["diffRejected"]);
}

#[test]
fn a_deletion_and_an_insertion_can_be_taken_back() {
    for (file_now, edit) in [
        ("two\n", edit((0, 0), (0, 0), "one\n", "")),
        ("zero\none\ntwo\n", edit((0, 0), (1, 0), "", "zero\n")),
        ("\u{1f600} ONE\ntwo\n", edit((0, 2), (0, 5), "one", "ONE")),
    ] {
        let (mut hub, _) = hub_and_agent("nexus3");
        let agent = clio(&mut hub, 7);
        let before = if file_now.contains('\u{1f600}') { "\u{1f600} one\ntwo\n" } else { "one\ntwo\n" };
        writes(&mut hub, agent, file_now, &[edit]);
        reject(&mut hub, "r1");
        assert_eq!(file(&hub), before);
    }
}

#[test]
fn hunks_that_are_left_out_are_taken_back() {
    let (mut hub, _) = hub_and_agent("nexus3");
    let agent = clio(&mut hub, 7);
    let first = edit((0, 0), (0, 1), "a", "A");
    writes(&mut hub, agent, "A\nb\nc\nd\ne\n", std::slice::from_ref(&first));
    // The second comes with all that came before it, and replaces that review.
    let second = edit((4, 0), (4, 1), "e", "E");
    writes(&mut hub, agent, "A\nb\nc\nd\nE\n", &[first, second]);
    let hidden = hub.requests_to_editor("review/hide")[0]["params"].clone();
    assert_eq!((&hidden["review"], &hidden["reason"]["kind"]), (&json!("r1"), &json!("superseded")));
    let shown = &hub.shown().last().unwrap()["params"];
    assert_eq!((&shown["base"], &shown["review"]), (&json!("a\nb\nc\nd\ne\n"), &json!("r2")));
    let hunk = shown["hunks"][1]["id"].clone();
    assert_eq!(decide(&mut hub, "r2", json!({ "kind": "acceptHunks", "hunks": [hunk] })), "taken");
    assert_eq!((file(&hub), hub.writes), ("a\nb\nc\nd\nE\n", 1));
    assert_eq!(words(&hub, agent), ["diffAccepted"]);
}

#[test]
fn what_was_decided_is_not_asked_about_again_with_the_next_edit() {
    for (verdict, now, before) in
        [("accept", "ONE\nTWO\n", "ONE\ntwo\n"), ("reject", "one\nTWO\n", "one\ntwo\n")]
    {
        let (mut hub, agent) = written();
        decide(&mut hub, "r1", json!({ "kind": verdict }));
        let edits = [edit((0, 0), (0, 3), "one", "ONE"), edit((1, 0), (1, 3), "two", "TWO")];
        writes(&mut hub, agent, now, &edits);
        let shown = &hub.shown().last().unwrap()["params"];
        assert_eq!((&shown["base"], &shown["proposed"]), (&json!(before), &json!(now)));
        assert_eq!(reject(&mut hub, "r2"), "taken");
        assert_eq!(file(&hub), before);
    }
}

#[test]
fn what_others_wrote_meanwhile_stays() {
    let (mut hub, _) = written();
    hub.files.insert("/ws/a.txt".into(), b"ONE\ntwo\nthree\n".to_vec());
    assert_eq!(reject(&mut hub, "r1"), "taken");
    assert_eq!(file(&hub), "one\ntwo\nthree\n");
}

#[test]
fn a_place_that_was_changed_again_is_shown_first() {
    let (mut hub, agent) = written();
    hub.files.insert("/ws/a.txt".into(), b"1\ntwo\n".to_vec());
    assert_eq!(reject(&mut hub, "r1"), "askAgain");
    assert_eq!(file(&hub), "1\ntwo\n");
    let shown = &hub.shown().last().unwrap()["params"];
    assert_eq!((&shown["base"], &shown["proposed"]), (&json!("one\ntwo\n"), &json!("1\ntwo\n")));
    assert_eq!(reject(&mut hub, "r1"), "taken");
    assert_eq!((file(&hub), words(&hub, agent)), ("one\ntwo\n", vec!["diffRejected"]));
}

#[test]
fn a_file_that_is_gone_is_not_made_again() {
    let (mut hub, agent) = written();
    hub.files.clear();
    assert_eq!(decide(&mut hub, "r1", json!({ "kind": "accept" })), "refused");
    assert_eq!(reject(&mut hub, "r1"), "taken");
    assert_eq!((hub.files.len(), words(&hub, agent)), (0, vec!["diffRejected"]));
}

#[test]
fn an_agent_that_is_done_leaves_its_review_behind() {
    for said_goodbye in [true, false] {
        let (mut hub, agent) = written();
        hub.event(Event::AgentClosed { agent, said_goodbye });
        hub.editor_answers.insert("ping", json!(null));
        hub.wait_seconds(3600);
        assert_eq!(reject(&mut hub, "r1"), "taken", "{said_goodbye}");
        assert_eq!(file(&hub), "one\ntwo\n");
    }
}

#[test]
fn a_hub_that_dies_after_the_no_puts_the_text_back_when_it_is_back() {
    let (mut before, _) = written();
    reject(&mut before, "r1");
    let mut hub = before.restart_at_the_decision(b"ONE\ntwo\n");
    hub.attach(EDITOR, json!({ "reviews": true }));
    hub.wait_seconds(crate::config::Config::default().window_grace_seconds);
    assert_eq!((file(&hub), hub.writes), ("one\ntwo\n", 1));
}

#[test]
fn an_open_document_is_changed_back_by_its_editor() {
    let (mut hub, _) = with_unsaved_text("");
    let live = json!({ "open": true, "dirty": false, "version": 5, "text": "ONE\ntwo\n" });
    hub.editor_answers.insert("document/text", live);
    let saved = json!({ "applied": true, "saved": true, "version": 6, "text": "one\ntwo\n\n" });
    hub.editor_answers.insert("edits/apply", saved);
    let agent = clio(&mut hub, 7);
    writes(&mut hub, agent, "ONE\ntwo\n", &[edit((0, 0), (0, 3), "one", "ONE")]);
    assert_eq!(reject(&mut hub, "r1"), "taken");
    let applied = &hub.requests_to_editor("edits/apply")[0]["params"];
    assert_eq!(applied["edits"]["text"], "one\ntwo\n");
    assert_eq!(words(&hub, agent), ["diffRejected"], "whatever its rules for saving made of it");
}

#[test]
fn edits_that_are_neither_to_be_made_nor_made_are_stale() {
    let (mut hub, _) = hub_and_agent("nexus3");
    let agent = clio(&mut hub, 7);
    writes(&mut hub, agent, "two\n", &[edit((0, 0), (0, 3), "one", "ONE")]);
    assert_eq!(messages_to(&hub, agent)[0]["code"], "STALE_EDIT");
    assert!(hub.shown().is_empty());
}

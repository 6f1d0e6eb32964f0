//! Conversations that are continued from their records, after any of them was the last.

use std::collections::BTreeSet;

use serde_json::json;

use super::stage::*;
use crate::conversation::*;
use crate::message::ChatMessage;
use crate::permissions::PermissionMode;

fn restored(records: &[Record]) -> TestConversation {
    let mut stage = TestConversation::new();
    stage.conversation = AgentConversation::restore(settings(), records.to_vec());
    stage.records = records.to_vec();
    let actions = stage.conversation.resume(stage.now);
    stage.take(actions);
    stage
}

/// A turn with one call of this tool, killed while it runs.
fn killed_in(tool: &str, mode: PermissionMode) -> TestConversation {
    let mut stage = TestConversation::new();
    stage.event(Event::Mode(mode));
    stage.prompt("go");
    stage.answer("Let me.", [call("a", tool, json!({ "path": "x" }))]);
    assert_eq!(stage.runs(), ["a"]);
    restored(&stage.records)
}

#[test]
fn a_finished_conversation_is_the_same_and_does_nothing() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    stage.answer("", [call("a", "read_file", json!({})), call("b", "read_file", json!({}))]);
    stage.done("b", "2");
    stage.done("a", "1");
    stage.answer("done", []);
    let again = restored(&stage.records);
    assert_eq!(again.conversation.messages(), stage.conversation.messages());
    assert_eq!(again.conversation.usage(), stage.conversation.usage());
    assert_eq!(again.actions, []);
    assert!(!again.conversation.is_busy());
}

#[test]
fn after_a_kill_reads_and_changes_run_again() {
    for tool in ["read_file", "edit_file"] {
        let mut stage = killed_in(tool, PermissionMode::Trusted);
        assert_eq!(stage.runs(), ["a"]);
        assert_eq!(stage.actions.first(), Some(&ConversationAction::Show(TurnEvent::Started)));
        stage.done("a", "text");
        stage.request();
    }
}

#[test]
fn after_a_kill_a_change_that_nobody_reviews_is_not_made_twice() {
    for mode in [PermissionMode::Yolo, PermissionMode::Sandboxed] {
        let stage = killed_in("edit_file", mode);
        assert_eq!(stage.runs(), [""; 0]);
        assert!(stage.results()[0].text.starts_with("interrupted: "));
    }
}

#[test]
fn after_a_kill_a_command_is_not_run_again_and_the_model_learns_why() {
    let stage = killed_in("run_command", PermissionMode::Yolo);
    assert_eq!(stage.runs(), [""; 0]);
    assert!(stage.results()[0].text.starts_with("interrupted: the agent was stopped while it ran"));
    let (_, body) = stage.request();
    assert!(matches!(body.messages.last(), Some(ChatMessage::Tools { .. })));
}

#[test]
fn a_change_that_was_asked_about_is_asked_about_again_with_the_same_text() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    stage.answer("", [call("a", "edit_file", json!({ "path": "x" }))]);
    let proposed = Record::Proposed { call_id: "a".into(), path: "/w/x".into(), text: "new".into() };
    let mut records = stage.records;
    records.push(proposed);
    let mut stage = restored(&records);
    let run = stage.actions.iter().find_map(|action| match action {
        ConversationAction::Run { call, .. } => Some(call.clone()),
        _ => None,
    });
    assert_eq!(run, Some(call("a", "write_file", json!({ "path": "/w/x", "content": "new" }))));
    stage.done("a", "The user accepted it.");
    let result = &stage.results()[0];
    assert_eq!(result.name, "edit_file");
    assert!(result.text.ends_with("was asked about this change. The user accepted it."), "{}", result.text);
}

#[test]
fn a_question_that_was_open_is_asked_again() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    stage.answer("", [call("a", "run_command", json!({}))]);
    stage.question();
    let stage = restored(&stage.records);
    stage.question();
}

#[test]
fn a_request_that_was_not_answered_is_made_again() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    let stage = restored(&stage.records);
    assert_eq!(stage.request().1.messages.len(), 1);
}

#[test]
fn a_compacted_and_a_cleared_conversation_come_back_as_they_were() {
    let mut stage = TestConversation::new();
    stage.prompt("one");
    stage.answer("first", []);
    stage.event(Event::Compact);
    stage.answer("Summary.", []);
    stage.prompt("two");
    stage.answer("second", []);
    let again = restored(&stage.records);
    assert_eq!(again.conversation.messages(), stage.conversation.messages());
    stage.event(Event::Clear);
    assert_eq!(restored(&stage.records).conversation.messages(), []);
}

#[test]
fn ids_of_calls_are_not_reused_after_a_restart() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    stage.answer("", [call("a", "read_file", json!({}))]);
    stage.done("a", "");
    let mut stage = restored(&stage.records);
    stage.answer("", [call("a", "read_file", json!({}))]);
    assert_ne!(stage.runs(), ["a"]);
}

#[test]
fn records_that_make_no_sense_still_give_a_valid_conversation() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    stage.answer("", [call("a", "read_file", json!({})), call("b", "read_file", json!({}))]);
    stage.done("a", "1");
    stage.done("b", "2");
    stage.answer("done", []);
    let records = stage.records;
    for left_out in 0..records.len() {
        let mut damaged = records.clone();
        damaged.remove(left_out);
        damaged.push(Record::Compacted { summary: "s".to_owned(), kept: 3 });
        super::random::assert_valid(restored(&damaged).conversation.messages());
        damaged.reverse();
        super::random::assert_valid(restored(&damaged).conversation.messages());
    }
}

/// Answers whatever is asked until the turn is over.
fn finish(stage: &mut TestConversation) {
    for _ in 0..20 {
        let mut next = None;
        for action in &stage.actions {
            match action {
                ConversationAction::Run { call, .. } => {
                    next = Some(Event::ToolDone { result: result(&call.id, "out") })
                }
                ConversationAction::Ask { question, .. } => {
                    next = Some(Event::Answered { question: *question, answer: Answer::Once });
                }
                _ => continue,
            }
            break;
        }
        if let Some(event) = next {
            let rest: Vec<_> = stage.actions.drain(..).collect();
            let mut rest: Vec<_> = rest
                .into_iter()
                .filter(|action| {
                    matches!(action, ConversationAction::Run { .. } | ConversationAction::Ask { .. })
                })
                .collect();
            rest.remove(0);
            stage.event(event);
            rest.append(&mut stage.actions);
            stage.actions = rest;
        } else if stage.actions.iter().any(|action| matches!(action, ConversationAction::Request { .. })) {
            stage.answer("done", []);
        } else {
            return;
        }
    }
    panic!("the turn does not end");
}

#[test]
fn a_kill_between_any_two_records_leaves_a_conversation_that_can_be_finished() {
    let mut stage = TestConversation::new();
    stage.prompt("one");
    let calls = [
        call("a", "read_file", json!({ "path": "x" })),
        call("b", "read_file", json!({ "path": "y" })),
        call("c", "run_command", json!({ "command": "ls" })),
        call("d", "edit_file", json!({ "path": "x" })),
        call("e", "no_such_tool", json!({})),
    ];
    stage.answer("Let me.", calls);
    finish(&mut stage);
    stage.event(Event::Compact);
    stage.answer("Summary.", []);
    stage.prompt("two");
    stage.answer("", [call("f", "edit_file", json!({ "path": "x" }))]);
    finish(&mut stage);
    assert!(stage.records.len() > 20, "{:#?}", stage.records);
    for cut in 0..=stage.records.len() {
        let before = stage.records[..cut].to_vec();
        let mut again = restored(&before);
        finish(&mut again);
        assert!(!again.conversation.is_busy(), "after {cut} records");
        super::random::assert_valid(again.conversation.messages());
        // And what it recorded since is the same conversation once more.
        let third = AgentConversation::restore(settings(), again.records.clone());
        assert_eq!(third.messages(), again.conversation.messages(), "after {cut} records");
        let results = again.records.iter().filter_map(|record| match record {
            Record::Finished { result } => Some(&result.call_id),
            _ => None,
        });
        let mut seen = BTreeSet::new();
        assert!(results.into_iter().all(|id| seen.insert(id)), "a call has two results after {cut} records");
    }
}

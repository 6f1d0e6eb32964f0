//! What happens in a turn, case by case.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;

use super::stage::*;
use crate::conversation::*;
use crate::message::{CallArguments, ChatMessage, ToolResult, Usage};
use crate::models::{ModelError, ModelEvent, StopReason};
use crate::permissions::PermissionMode;

fn user(text: &str) -> ChatMessage {
    ChatMessage::User { text: text.to_owned(), attachments: Vec::new() }
}

#[test]
fn a_prompt_is_saved_before_it_is_sent_and_its_answer_is_shown_as_it_comes() {
    let mut stage = TestConversation::new();
    stage.prompt("hi");
    let saved = ConversationAction::Save(Record::Message { message: user("hi") });
    let position =
        |wanted: &dyn Fn(&ConversationAction) -> bool| stage.actions.iter().position(wanted).unwrap();
    assert!(
        position(&|action| *action == saved)
            < position(&|action| matches!(action, ConversationAction::Request { .. }))
    );
    let (_, body) = stage.request();
    assert_eq!((body.system.as_str(), &body.messages, body.tools.len()), ("system", &vec![user("hi")], 4));

    stage.answer("Hello.", []);
    assert!(stage.actions.contains(&ConversationAction::Show(TurnEvent::Text("Hello.".to_owned()))));
    let usage = Usage { input: 10, output: 5 };
    let ended = TurnEvent::Ended { end: TurnEnd::Done, text: "Hello.".to_owned(), usage };
    assert_eq!(stage.actions.last(), Some(&ConversationAction::Show(ended)));
    assert!(!stage.conversation.is_busy());
    assert_eq!(stage.conversation.usage(), usage);
}

#[test]
fn a_prompt_that_comes_during_a_turn_goes_with_the_next_request() {
    let mut stage = TestConversation::new();
    stage.prompt("one");
    let (request, _) = stage.request();
    assert_eq!(stage.prompt("two"), []);
    stage.answer_to(request, "", [call("a", "read_file", json!({}))]);
    stage.done("a", "text");
    assert_eq!(stage.request().1.messages.last(), Some(&user("two")));
    stage.answer("done", []);
    assert_eq!(stage.end(), Some(TurnEnd::Done));
}

#[test]
fn a_prompt_that_came_too_late_for_the_turn_starts_the_next_one() {
    let mut stage = TestConversation::new();
    stage.prompt("one");
    let (request, _) = stage.request();
    stage.prompt("two");
    stage.answer_to(request, "first", []);
    assert_eq!(stage.end(), Some(TurnEnd::Done));
    assert_eq!(stage.request().1.messages.last(), Some(&user("two")));
}

#[test]
fn reads_run_at_once_and_their_results_keep_the_models_order() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    stage.answer("", ["a", "b", "c"].map(|id| call(id, "read_file", json!({ "path": id }))));
    assert_eq!(stage.runs(), ["a", "b", "c"]);
    stage.done("c", "3");
    stage.done("a", "1");
    assert!(stage.actions.iter().all(|action| !matches!(action, ConversationAction::Request { .. })));
    stage.done("b", "2");
    let texts: Vec<_> = stage.results().iter().map(|result| (&*result.call_id, &*result.text)).collect();
    assert_eq!(texts, [("a", "1"), ("b", "2"), ("c", "3")]);
    stage.request();
}

#[test]
fn changes_of_one_file_wait_for_each_other_and_a_read_waits_for_both() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    stage.answer(
        "",
        [
            call("a", "edit_file", json!({ "path": "x" })),
            call("b", "edit_file", json!({ "path": "./x" })),
            call("c", "edit_file", json!({ "path": "y" })),
            call("d", "read_file", json!({ "path": "x" })),
        ],
    );
    assert_eq!(stage.runs(), ["a", "c"]);
    stage.done("a", "");
    assert_eq!(stage.runs(), ["b"]);
    stage.done("c", "");
    assert_eq!(stage.runs(), [""; 0]);
    stage.done("b", "");
    assert_eq!(stage.runs(), ["d"]);
}

#[test]
fn only_so_many_calls_run_at_once_and_too_many_are_left_out() {
    let limits = ConversationLimits { calls: 4, calls_at_once: 2, ..ConversationLimits::default() };
    let mut stage = TestConversation::with(Settings { limits, ..settings() });
    stage.prompt("go");
    let ids = ["a", "b", "c", "d", "e"];
    stage.answer("", ids.map(|id| call(id, "read_file", json!({ "path": id }))));
    assert!(stage.lines().contains("5 calls in one answer; the first 4 count"), "{}", stage.lines());
    assert_eq!(stage.runs(), ["a", "b"]);
    for id in ["a", "b", "c", "d"] {
        stage.done(id, "");
    }
    assert_eq!(stage.results().len(), 4);
    stage.request();
}

#[test]
fn an_unknown_tool_and_broken_arguments_are_explained_to_the_model() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    let broken = CallArguments::Broken("{\"path\": ".to_owned());
    let calls = [
        call("a", "readfile", json!({})),
        crate::message::ModelCall { arguments: broken, ..call("b", "read_file", json!({})) },
        call("c", "frobnicate_the_world", json!({})),
    ];
    stage.answer("", calls);
    let texts: Vec<_> = stage.results().iter().map(|result| result.text.clone()).collect();
    assert_eq!(texts[0], "There is no tool `readfile`. Did you mean `read_file`?");
    assert!(texts[1].ends_with("Received: {\"path\": "), "{}", texts[1]);
    assert!(texts[2].contains("The tools are: edit_file,"), "{}", texts[2]);
    assert!(stage.results().iter().all(|result| result.is_error));
    stage.request();
}

#[test]
fn calls_without_an_id_or_with_one_twice_get_their_own() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    stage.answer("", ["", "", "x", "x"].map(|id| call(id, "read_file", json!({}))));
    let runs: BTreeSet<_> = stage.runs().into_iter().collect();
    assert_eq!(runs.len(), 4);
    assert!(!runs.contains(""));
}

#[test]
fn a_command_is_asked_about_and_a_yes_for_the_session_covers_the_same_command_only() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    let run = |id, command: &str| call(id, "run_command", json!({ "command": command }));
    stage.answer("", [run("a", "ls")]);
    assert_eq!(stage.runs(), [""; 0]);
    assert_eq!(stage.conversation.open_questions(), 1);
    let (question, ask) = stage.question();
    assert!(matches!(ask, Question::Permission { why, .. } if why == "trusted mode asks before commands"));
    stage.event(Event::Answered { question, answer: Answer::Session });
    assert!(stage.actions.contains(&ConversationAction::CloseQuestion { question }));
    assert_eq!(stage.runs(), ["a"]);
    stage.event(Event::Answered { question, answer: Answer::Once });
    assert_eq!(stage.actions, []);
    stage.done("a", "");
    stage.answer("", [run("b", "ls"), run("c", "rm x")]);
    assert_eq!(stage.runs(), ["b"]);
    stage.done("b", "");
    let (question, _) = stage.question();
    let reason = Some("use git rm".to_owned());
    stage.event(Event::Answered { question, answer: Answer::No { reason } });
    assert_eq!(stage.results()[1].text, "The user declined this call: use git rm");
    stage.request();
}

#[test]
fn a_call_that_nobody_was_asked_about_is_not_called_declined() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    stage.answer("", [call("a", "run_command", json!({ "command": "ls" }))]);
    let (question, _) = stage.question();
    let why = "there is no terminal".to_owned();
    stage.event(Event::Answered { question, answer: Answer::NotAsked { why } });
    let told = &stage.results()[0];
    assert!(told.is_error);
    assert_eq!(
        told.text,
        "This call needs the user's permission, and the user did not see it: there is no terminal"
    );
}

#[test]
fn another_mode_answers_what_is_still_asked() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    stage.answer("", [call("a", "git_commit", json!({}))]);
    let (question, _) = stage.question();
    stage.event(Event::Mode(PermissionMode::Yolo));
    assert!(stage.actions.contains(&ConversationAction::CloseQuestion { question }));
    assert_eq!(stage.runs(), ["a"]);
    assert!(stage.records.contains(&Record::Mode { mode: PermissionMode::Yolo }));
}

#[test]
fn the_user_is_asked_before_a_call_that_failed_three_times_runs_again() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    let again = |id| call(id, "read_file", json!({ "path": "nowhere" }));
    for id in ["a", "b", "c"] {
        stage.answer("", [again(id)]);
        assert_eq!(stage.runs(), [id]);
        stage.fails(id);
    }
    stage.answer("", [again("d"), call("e", "read_file", json!({}))]);
    assert_eq!(stage.runs(), ["e"]);
    let (question, ask) = stage.question();
    assert!(matches!(ask, Question::Repeated { times: 3, .. }));
    stage.event(Event::Answered { question, answer: Answer::No { reason: None } });
    assert!(stage.actions.contains(&ConversationAction::Stop { call_id: "e".to_owned() }));
    assert!(stage.lines().contains("the turn is stopped"), "{}", stage.lines());
    stage.event(Event::ToolDone { result: ToolResult { cancelled: true, ..result("e", "stopped") } });
    assert_eq!(stage.end(), Some(TurnEnd::Failed));
}

#[test]
fn a_success_in_between_forgives_failures_and_patience_is_kept() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    let again = |id: &str| call(id, "read_file", json!({}));
    for round in 0..3 {
        for id in ["f", "g"] {
            let id = format!("{id}{round}");
            stage.answer("", [again(&id)]);
            stage.fails(&id);
        }
        let id = format!("s{round}");
        stage.answer("", [again(&id)]);
        stage.done(&id, "");
    }
    for id in ["a", "b", "c"] {
        stage.answer("", [again(id)]);
        stage.fails(id);
    }
    stage.answer("", [again("d")]);
    let (question, _) = stage.question();
    stage.event(Event::Answered { question, answer: Answer::Session });
    assert_eq!(stage.runs(), ["d"]);
    stage.fails("d");
    stage.answer("", [again("e")]);
    assert_eq!(stage.runs(), ["e"]);
}

#[test]
fn a_turn_ends_at_the_limit_of_rounds() {
    let limits = ConversationLimits { rounds: 2, ..ConversationLimits::default() };
    let mut stage = TestConversation::with(Settings { limits, ..settings() });
    stage.prompt("go");
    for id in ["a", "b"] {
        stage.answer("", [call(id, "read_file", json!({}))]);
        stage.done(id, "");
    }
    assert_eq!(stage.end(), Some(TurnEnd::Rounds));
    assert!(stage.lines().contains("asked 2 times"), "{}", stage.lines());
}

#[test]
fn a_stream_that_breaks_is_tried_again_and_nothing_is_doubled() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    let (request, _) = stage.request();
    let half = ModelEvent::Text("Half an ".to_owned());
    stage.event(Event::Model { request, event: half.clone() });
    let lost = ModelEvent::Call(call("a", "read_file", json!({})));
    stage.event(Event::Model { request, event: lost });
    stage.event(Event::ModelFailed { request, error: transient("connection reset") });
    assert_eq!(stage.lines(), "the answer broke off: connection reset; attempt 2 of 5 in 1 s\n");
    assert_eq!(stage.actions.last(), Some(&ConversationAction::Wake { after: Duration::from_secs(1) }));
    assert_eq!(stage.after(Duration::from_millis(999)), []);
    stage.after(Duration::from_millis(1));
    let (second, body) = stage.request();
    assert_ne!(second, request);
    assert_eq!(body.messages, [user("go")]);
    // What the first one still sends is not heard.
    assert_eq!(stage.event(Event::Model { request, event: half }), []);
    stage.answer_to(second, "Whole.", []);
    let answer = ChatMessage::Assistant { text: "Whole.".to_owned(), calls: Vec::new() };
    assert_eq!(stage.conversation.messages(), [user("go"), answer]);
}

#[test]
fn the_server_says_how_long_to_wait_and_after_five_attempts_it_is_over() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    let mut pauses = Vec::new();
    for attempt in 1..=5 {
        let (request, _) = stage.request();
        let retry_after = (attempt == 2).then_some(Duration::from_secs(30));
        let error = ModelError::Transient { message: "overloaded".to_owned(), retry_after };
        stage.event(Event::ModelFailed { request, error });
        if let Some(ConversationAction::Wake { after }) = stage.actions.last().cloned() {
            pauses.push(after.as_secs());
            stage.after(after);
        }
    }
    assert_eq!(pauses, [1, 30, 4, 8]);
    assert_eq!(stage.end(), Some(TurnEnd::Failed));
    assert!(stage.lines().contains("overloaded (after 5 attempts)"), "{}", stage.lines());
}

#[test]
fn a_server_that_wants_an_hour_ends_the_turn() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    let (request, _) = stage.request();
    let retry_after = Some(Duration::from_secs(3600));
    let error = ModelError::Transient { message: "quota used".to_owned(), retry_after };
    stage.event(Event::ModelFailed { request, error });
    assert_eq!(stage.end(), Some(TurnEnd::Failed));
    assert!(stage.lines().contains("3600 s"), "{}", stage.lines());
}

#[test]
fn an_empty_answer_is_tried_again_but_fine_after_results() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    stage.answer("", []);
    assert!(stage.lines().contains("the model answered nothing"), "{}", stage.lines());
    stage.after(Duration::from_secs(1));
    stage.answer("", [call("a", "read_file", json!({}))]);
    stage.done("a", "");
    stage.answer("", []);
    assert_eq!(stage.end(), Some(TurnEnd::Done));
    assert!(matches!(stage.conversation.messages().last(), Some(ChatMessage::Tools { .. })));
}

#[test]
fn a_wrong_key_ends_the_turn_and_the_prompt_stays() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    let (request, _) = stage.request();
    let error = ModelError::Permanent { message: "the key is wrong: set X".to_owned(), too_long: false };
    stage.event(Event::ModelFailed { request, error });
    assert_eq!(stage.end(), Some(TurnEnd::Failed));
    assert_eq!(stage.lines(), "the key is wrong: set X\n");
    assert_eq!(stage.conversation.messages(), [user("go")]);
}

#[test]
fn output_that_was_cut_and_a_refusal_have_their_own_ends() {
    for (reason, end) in [(StopReason::Length, TurnEnd::Length), (StopReason::Refusal, TurnEnd::Refused)] {
        let mut stage = TestConversation::new();
        stage.prompt("go");
        let (request, _) = stage.request();
        stage.event(Event::Model { request, event: ModelEvent::Text("so".to_owned()) });
        stage.event(Event::Model { request, event: ModelEvent::Done(reason) });
        assert_eq!(stage.end(), Some(end));
    }
}

#[test]
fn cancelling_a_stream_abandons_it_and_keeps_what_was_said() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    let (request, _) = stage.request();
    stage.event(Event::Model { request, event: ModelEvent::Text("Half".to_owned()) });
    stage.event(Event::Cancel);
    assert!(stage.actions.contains(&ConversationAction::Abandon { request }));
    assert_eq!(stage.end(), Some(TurnEnd::Cancelled));
    let half = ChatMessage::Assistant { text: "Half".to_owned(), calls: Vec::new() };
    assert_eq!(stage.conversation.messages(), [user("go"), half]);
    assert_eq!(stage.event(Event::Cancel), []);
}

#[test]
fn cancelling_a_pause_ends_the_turn_and_the_late_tick_does_nothing() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    let (request, _) = stage.request();
    stage.event(Event::ModelFailed { request, error: transient("x") });
    stage.event(Event::Cancel);
    assert_eq!(stage.end(), Some(TurnEnd::Cancelled));
    assert_eq!(stage.after(Duration::from_secs(60)), []);
}

#[test]
fn cancelling_calls_stops_those_that_run_closes_questions_and_gives_each_a_result() {
    let mut stage = TestConversation::new();
    stage.prompt("go");
    let calls = [
        call("a", "read_file", json!({})),
        call("b", "run_command", json!({ "command": "ls" })),
        call("c", "edit_file", json!({})),
    ];
    stage.answer("", calls);
    stage.event(Event::Cancel);
    assert!(stage.actions.contains(&ConversationAction::Stop { call_id: "a".to_owned() }));
    stage.event(Event::ToolDone { result: ToolResult { cancelled: true, ..result("a", "ended") } });
    assert_eq!(stage.end(), Some(TurnEnd::Cancelled));
    assert_eq!(stage.results().len(), 3);
    assert!(stage.results().iter().all(|result| result.cancelled));
}

#[test]
fn a_tool_that_does_not_end_is_given_up() {
    for twice in [false, true] {
        let mut stage = TestConversation::new();
        stage.prompt("go");
        stage.answer("", [call("a", "read_file", json!({}))]);
        stage.event(Event::Cancel);
        assert_eq!(stage.end(), None);
        if twice {
            stage.event(Event::Cancel);
        } else {
            stage.after(ConversationLimits::default().stop_time);
        }
        assert_eq!(stage.end(), Some(TurnEnd::Cancelled));
        assert_eq!(stage.done("a", "late"), []);
    }
}

#[test]
fn the_prompt_that_waited_is_answered_after_a_cancel() {
    let mut stage = TestConversation::new();
    stage.prompt("one");
    stage.prompt("two");
    stage.event(Event::Cancel);
    assert_eq!(stage.request().1.messages, [user("one"), user("two")]);
}

#[test]
fn the_last_system_prompt_serves_if_a_new_one_takes_too_long() {
    let mut stage = TestConversation::new();
    let event = Event::Prompt { text: "go".to_owned(), attachments: Vec::new() };
    stage.actions = stage.conversation.handle(Duration::ZERO, event);
    assert!(stage.actions.iter().all(|action| !matches!(action, ConversationAction::Request { .. })));
    stage.after(ConversationLimits::default().context_time);
    stage.request();
}

#[test]
fn a_conversation_that_is_too_long_is_compacted_and_goes_on() {
    let mut stage = TestConversation::new();
    stage.prompt("one");
    stage.answer("first", []);
    stage.prompt("two");
    let (request, _) = stage.request();
    let too_long = ModelError::Permanent { message: "It is too long.".to_owned(), too_long: true };
    stage.event(Event::ModelFailed { request, error: too_long.clone() });
    let (request, body) = stage.request();
    assert!(body.tools.is_empty());
    assert_eq!(body.messages.len(), 1);
    // Even a summary may need a second attempt.
    stage.event(Event::ModelFailed { request, error: transient("overloaded") });
    stage.after(Duration::from_secs(1));
    stage.answer("They said one.", []);
    let summary = ChatMessage::Summary { text: "They said one.".to_owned() };
    let (request, body) = stage.request();
    assert_eq!(body.messages.first(), Some(&summary));
    assert_eq!(body.messages.last(), Some(&user("two")));
    stage.event(Event::ModelFailed { request, error: too_long });
    assert_eq!(stage.end(), Some(TurnEnd::Failed));
}

#[test]
fn a_conversation_that_nearly_fills_the_context_is_compacted_before_the_next_request() {
    let limits = ConversationLimits { context_window: Some(1000), ..ConversationLimits::default() };
    let mut stage = TestConversation::with(Settings { limits, ..settings() });
    stage.prompt("one");
    stage.answer("", [call("a", "read_file", json!({}))]);
    assert!(stage.conversation.context_percent() < Some(10));
    stage.done("a", &"x".repeat(3000));
    assert!(stage.lines().contains("compacted"), "{}", stage.lines());
    stage.answer("A summary.", []);
    assert_eq!(stage.request().1.messages, [ChatMessage::Summary { text: "A summary.".to_owned() }]);
    assert!(stage.records.contains(&Record::Compacted { summary: "A summary.".to_owned(), kept: 0 }));
    stage.answer("done", []);
    assert_eq!(stage.end(), Some(TurnEnd::Done));
}

#[test]
fn a_summary_that_fills_the_context_itself_is_not_made_again_and_again() {
    let limits = ConversationLimits { context_window: Some(1000), ..ConversationLimits::default() };
    let mut stage = TestConversation::with(Settings { limits, ..settings() });
    stage.prompt("one");
    stage.answer("", [call("a", "read_file", json!({}))]);
    stage.prompt("two");
    stage.prompt("three");
    stage.done("a", &"x".repeat(5000));
    let mut summaries = 0;
    while stage.request().1.tools.is_empty() {
        summaries += 1;
        assert!(summaries < 3, "the model is asked for summaries without end");
        stage.answer(&"y".repeat(5000), []);
    }
    assert_eq!(summaries, 1);
}

#[test]
fn a_compaction_on_demand_waits_for_the_turn_and_never_splits_calls_from_results() {
    let mut stage = TestConversation::new();
    stage.event(Event::Compact);
    assert!(stage.lines().contains("nothing to compact"));
    stage.prompt("one");
    let (request, _) = stage.request();
    stage.event(Event::Compact);
    stage.answer_to(request, "first", []);
    let (request, _) = stage.request();
    stage.answer_to(request, "Summary.", []);
    assert_eq!(stage.end(), Some(TurnEnd::Done));
    for pair in stage.conversation.messages().windows(2) {
        let splits = matches!(pair, [ChatMessage::Summary { .. }, ChatMessage::Tools { .. }]);
        assert!(!splits, "{pair:?}");
    }
}

#[test]
fn clearing_waits_for_nobody_and_is_refused_in_a_turn() {
    let mut stage = TestConversation::new();
    stage.prompt("one");
    let (request, _) = stage.request();
    stage.event(Event::Clear);
    assert!(stage.lines().contains("Cancel it first"));
    stage.answer_to(request, "x", []);
    stage.event(Event::Clear);
    assert_eq!(stage.conversation.messages(), []);
    assert_eq!(stage.records.last(), Some(&Record::Cleared));
}

#[test]
fn a_result_of_any_size_is_cut() {
    let limits = ConversationLimits { result_bytes: 10, ..ConversationLimits::default() };
    let mut stage = TestConversation::with(Settings { limits, ..settings() });
    stage.prompt("go");
    stage.answer("", [call("a", "read_file", json!({}))]);
    stage.done("a", &"ü".repeat(100));
    assert_eq!(stage.results()[0].text, "üüüüü\n[190 bytes more are left out]");
}

//! Permission requests of kind edit become reviews, and the agent and its model hear what was decided.

use serde_json::{Value, json};

use super::{PROMPT, Session, TEXT};
use crate::support::{eventually, world};

#[test]
fn an_accepted_change_is_written_by_the_agent_and_the_client_is_not_asked() {
    let mut session = Session::new();
    let new = TEXT.replace("two", "2");
    let (prompt, review) = session.wants(&new);
    let accept = session.world.command(&["accept", &review]).spawn().unwrap();
    assert_eq!(session.agent.option(7).as_deref(), Some("yes"));
    assert_eq!(session.world.read_text("a.txt"), TEXT, "the hub wrote nothing");
    session.world.file("a.txt", &new);
    let done = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "e7", "status": "completed" });
    session.agent.update(done);
    session.agent.ends(&prompt, "end_turn");
    assert_eq!(session.client.answer(PROMPT)["result"]["stopReason"], "end_turn");
    assert_eq!(world::finish(accept).code, 0);
    assert!(session.asked_of_client().is_empty());
    eventually("it can be undone", || (session.world.run(&["undo", &review]).code == 0).then_some(()));
    assert_eq!(session.world.read_text("a.txt"), TEXT);
}

#[test]
fn one_hunk_is_written_by_the_hub_and_the_model_is_told_within_the_turn_of_the_client() {
    let mut session = Session::new();
    let (prompt, review) = session.wants(&TEXT.replace("two", "2").replace("eight", "8"));
    let accept = session.world.command(&["accept", &review, "--hunk", "1"]).spawn().unwrap();
    assert_eq!(session.agent.option(7).as_deref(), Some("no"));
    assert_eq!(session.world.read_text("a.txt"), TEXT, "not before the agent knows the no");
    session.failed(7);
    eventually("the hunk is written", || {
        (session.world.read_text("a.txt") == TEXT.replace("two", "2")).then_some(())
    });
    assert_eq!(world::finish(accept).code, 0);
    session.agent.ends(&prompt, "end_turn");
    let (ours, told) = session.agent.prompted();
    assert!(told.contains("1 of 2 hunks accepted and written"), "{told}");
    let shown = session.client.receive("what the model is told", |frame| {
        frame["params"]["update"]["sessionUpdate"] == "user_message_chunk"
    });
    assert_eq!(shown["params"]["update"]["content"]["text"], told);
    let content = json!({ "type": "text", "text": "I see." });
    session.agent.update(json!({ "sessionUpdate": "agent_message_chunk", "content": content }));
    session.agent.ends(&ours, "max_tokens");
    let answer = session.client.answer(PROMPT);
    assert_eq!(answer["result"]["stopReason"], "max_tokens");
    // It sees no answer to a request that it did not send.
    let is_answer = |line: &String| serde_json::from_str::<Value>(line).unwrap()["method"].is_null();
    assert_eq!(session.client.rest().into_iter().filter(is_answer).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn a_reason_and_a_comment_reach_the_model_after_a_no() {
    let mut session = Session::new();
    let (prompt, review) = session.wants(&TEXT.replace("two", "2"));
    session.rejects(&review, json!([{ "line": 2, "text": "not a digit" }]));
    assert_eq!(session.agent.option(7).as_deref(), Some("no"));
    session.failed(7);
    session.agent.ends(&prompt, "end_turn");
    let (ours, told) = session.agent.prompted();
    assert!(told.contains("keep the words") && told.contains("line 2: not a digit"), "{told}");
    session.agent.ends(&ours, "end_turn");
    session.client.answer(PROMPT);
    assert_eq!(session.world.read_text("a.txt"), TEXT);
}

#[test]
fn cancelling_withdraws_the_review_and_no_prompt_follows() {
    let mut session = Session::new();
    let (prompt, _) = session.wants(&TEXT.replace("two", "2"));
    session
        .client
        .send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": "s1" } }));
    session.agent.request("session/cancel");
    assert_eq!(session.agent.answer(7)["result"]["outcome"]["outcome"], "cancelled");
    eventually("the review is withdrawn", || session.world.reviews().is_empty().then_some(()));
    session.agent.wants(8, &session.path.clone(), TEXT, "x");
    assert_eq!(session.agent.answer(8)["result"]["outcome"]["outcome"], "cancelled");
    session.agent.ends(&prompt, "cancelled");
    assert_eq!(session.client.answer(PROMPT)["result"]["stopReason"], "cancelled");
    let next = session.prompt(11, "what now");
    session.agent.ends(&next, "end_turn");
    session.client.answer(11);
    assert_eq!(session.world.read_text("a.txt"), TEXT);
}

#[test]
fn what_was_decided_in_a_cancelled_turn_is_in_front_of_the_next_prompt() {
    let mut session = Session::new();
    let (prompt, review) = session.wants(&TEXT.replace("two", "2"));
    session.rejects(&review, json!([]));
    session.agent.option(7);
    session
        .client
        .send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": "s1" } }));
    session.agent.request("session/cancel");
    session.agent.ends(&prompt, "cancelled");
    session.client.answer(PROMPT);
    let blocks = json!([{ "type": "text", "text": "what now", "_meta": { "x": 1 } }]);
    session.client.request(11, "session/prompt", json!({ "sessionId": "s1", "prompt": blocks }));
    let next = session.agent.request("session/prompt");
    let told = &next["params"]["prompt"];
    assert!(told[0]["text"].as_str().unwrap().contains("keep the words"), "{told}");
    assert_eq!(told[1], blocks[0], "{told}");
}

#[test]
fn a_hub_that_is_killed_is_started_again_and_asks_about_what_waits() {
    let mut session = Session::new();
    let new = TEXT.replace("two", "2");
    let (prompt, _) = session.wants(&new);
    session.world.kill_hub();
    let review = eventually("the review is back", || {
        let reviews = session.world.reviews();
        // Until its agent is back, the hub knows it only from the journal.
        let review = reviews.first().filter(|review| review["ownerGone"] == false)?;
        Some(review["review"].as_str()?.to_owned())
    });
    let accept = session.world.command(&["accept", &review]).spawn().unwrap();
    assert_eq!(session.agent.option(7).as_deref(), Some("yes"));
    session.world.file("a.txt", &new);
    session.agent.ends(&prompt, "end_turn");
    session.client.answer(PROMPT);
    world::finish(accept);
    assert!(session.asked_of_client().is_empty());
    assert_eq!(session.world.reviews().len(), 0);
}

#[test]
fn an_agent_that_is_killed_withdraws_what_it_asked_and_ends_the_proxy() {
    let mut session = Session::new();
    session.wants(&TEXT.replace("two", "2"));
    world::signal(session.agent.pid(), rustix::process::Signal::KILL);
    eventually("the review is withdrawn", || session.world.reviews().is_empty().then_some(()));
    assert_eq!(session.client.exit_code(), Some(128 + 9));
}

#[test]
fn a_killed_proxy_withdraws_what_its_agent_asked() {
    let mut session = Session::new();
    session.wants(&TEXT.replace("two", "2"));
    world::signal(session.client.pid(), rustix::process::Signal::KILL);
    eventually("the review is withdrawn", || session.world.reviews().is_empty().then_some(()));
}

#[test]
fn without_an_editor_a_window_is_opened_and_closed_with_the_proxy() {
    let mut session = Session::without_window();
    let new = TEXT.replace("two", "2");
    let (prompt, review) = session.wants(&new);
    let accept = session.world.command(&["accept", &review]).spawn().unwrap();
    assert_eq!(session.agent.option(7).as_deref(), Some("yes"));
    session.world.file("a.txt", &new);
    session.agent.ends(&prompt, "end_turn");
    session.client.answer(PROMPT);
    world::finish(accept);
    let (code, said) = session.client.finish();
    assert_eq!(code, Some(0), "{said}");
    let windows = session.world.status()["windows"].as_array().cloned().unwrap_or_default();
    assert!(windows.iter().all(|window| window["attached"] != true), "{windows:?}");
}

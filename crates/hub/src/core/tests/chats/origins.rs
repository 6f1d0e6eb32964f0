//! Reviews know their conversation: the turn, the tool call and the words before it; a turn is undone as a whole.

use linkspan_review::{ChangeId, ReviewId, WindowId};

use super::*;
use crate::core::contract::{HistoryAnswer, HistoryQuery, RecordedChange};

impl CoreHarness {
    fn speaks(&mut self, agent: AgentId, text: &str) {
        let content = json!({ "type": "text", "text": text });
        self.says(agent, json!({ "sessionUpdate": "agent_message_chunk", "content": content }));
    }

    fn origin(&mut self, review: &str) -> Value {
        self.chat("reviews/get", json!({ "review": review }))["result"]["shown"]["origin"].clone()
    }
}

#[test]
fn a_review_names_its_turn_and_its_call_and_what_was_said_before() {
    let mut hub = CoreHarness::new();
    hub.hosted_agents = Ok(vec![hosted(Some("/bin/gemini"))]);
    hub.attach(EDITOR, json!({ "reviews": true }));
    hub.event(Event::ConnectionOpened { connection: READER });
    let agent = hub.ready_chat();
    hub.say("hello");
    hub.speaks(agent, "Hello to you");
    hub.ends_turn(agent);
    hub.say(&format!("make it loud {}", "x".repeat(2000)));
    hub.say("not sent yet");
    hub.speaks(agent, "I will shout.");
    hub.wants(agent, 5, edit(&[BOTH]));
    let origin = hub.origin("r1");
    assert_eq!((&origin["chat"], &origin["turn"]), (&json!("t1"), &json!(2)), "{origin}");
    let item = usize::try_from(origin["item"].as_u64().unwrap()).unwrap();
    assert_eq!(hub.items()[item]["reviews"], json!(["r1"]), "the place of its tool call");
    let prompt = origin["prompt"].as_str().unwrap();
    assert!(prompt.starts_with("make it loud") && prompt.len() < 700, "{}", prompt.len());
    assert_eq!(origin["words"], "I will shout.");
    assert_eq!(
        hub.requests_to_editor("review/show")[0]["params"]["origin"],
        origin,
        "the editor is told too"
    );
    assert_eq!(serde_json::to_value(&hub.origins[&ReviewId(1)]).unwrap(), origin, "and the journal");
}

#[test]
fn words_of_an_earlier_turn_are_not_the_reason_of_a_change() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("hello");
    hub.speaks(agent, "Something else");
    hub.ends_turn(agent);
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    assert_eq!(hub.origin("r1")["words"], Value::Null);
    assert_eq!(hub.origin("r1")["prompt"], "go");
}

#[test]
fn a_restarted_hub_still_knows_it_and_a_forgotten_conversation_leaves_no_words() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    let before = hub.origin("r1");
    let mut hub = hub.restart();
    hub.hosted_agents = Ok(vec![hosted(Some("/bin/gemini"))]);
    hub.event(Event::ConnectionOpened { connection: READER });
    assert_eq!(hub.origin("r1"), before);
    hub.chat("chat/close", json!({ "chat": "t1", "forget": true }));
    assert_eq!(hub.origin("r1"), json!({ "chat": "t1", "turn": 1, "item": before["item"] }));
}

#[test]
fn a_turn_that_proposed_something_has_an_end_and_one_that_did_not_has_none() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("hello");
    hub.ends_turn(agent);
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH, ("/ws/b.txt", "", "new\n")]));
    for review in ["r1", "r2"] {
        hub.request(
            EDITOR,
            "reviews/decide",
            json!({ "review": review, "decision": { "verdict": { "kind": "reject" } } }),
        );
    }
    hub.ends_turn(agent);
    let ends: Vec<_> = hub.items().into_iter().filter(|item| item["kind"] == "turnEnd").collect();
    assert_eq!(ends, [json!({ "kind": "turnEnd", "turn": 2, "changes": 2 })]);
}

#[test]
fn what_linkspan_tells_the_agent_afterwards_belongs_to_the_same_turn() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    hub.verdict("r1", json!({ "kind": "reject", "reason": "quieter" }));
    let failed = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "e1", "status": "failed" });
    hub.says(agent, failed);
    hub.ends_turn(agent);
    assert!(hub.items().iter().all(|item| item["kind"] != "turnEnd"), "it goes on: {:?}", hub.items());
    let mut again = edit(&[("/ws/a.txt", "one\ntwo\n", "One\ntwo\n")]);
    again["toolCallId"] = json!("e2");
    hub.wants(agent, 6, again);
    assert_eq!(hub.origin("r2")["turn"], 1);
    assert_eq!(hub.origin("r2")["prompt"], "go", "the user's message, not ours");
}

#[test]
fn a_conversation_is_given_in_pages_from_its_end() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    for turn in 0..6 {
        hub.say(&format!("message {turn}"));
        hub.ends_turn(agent);
    }
    let open = hub.chat("chat/open", json!({ "chat": "t1", "limit": 2 }))["result"].clone();
    assert_eq!(open["first"], 4);
    assert_eq!(open["items"][1]["text"], "message 5");
    let older = hub.chat("chat/items", json!({ "chat": "t1", "before": 4, "limit": 3 }))["result"].clone();
    assert_eq!((&older["first"], &older["items"][0]["text"]), (&json!(1), &json!("message 1")));
    let oldest = hub.chat("chat/items", json!({ "chat": "t1", "before": 1 }))["result"].clone();
    assert_eq!((&oldest["first"], oldest["items"].as_array().unwrap().len()), (&json!(0), 1));
    let none = hub.chat("chat/items", json!({ "chat": "t1", "before": 0 }))["result"].clone();
    assert_eq!(none, json!({ "first": 0, "items": [] }));
    // Large items make small pages.
    for _ in 0..3 {
        hub.say(&"x".repeat(1024 * 1024 - 10));
        hub.speaks(agent, &"y".repeat(1024 * 1024 - 10));
        hub.ends_turn(agent);
    }
    let open = hub.chat("chat/open", json!({ "chat": "t1" }))["result"].clone();
    assert_eq!((&open["first"], open["items"].as_array().unwrap().len()), (&json!(9), 3));
}

fn written(change: u64, path: &str) -> RecordedChange {
    RecordedChange {
        id: Some(ChangeId(change)),
        review: ReviewId(change),
        writer: Writer::Hub,
        window: WindowId(1),
        path: path.into(),
        before: Some(b"old\n".to_vec()),
        after: Some(b"new\n".to_vec()),
        mode: None,
        undone_by: None,
    }
}

fn entry(review: u64, path: &str, ended: Value, undone: bool) -> Value {
    json!({ "review": format!("r{review}"), "window": "w1", "agent": "x", "dialect": "acp", "path": path, "label": "",
        "ended": ended, "proposedAtMs": 0, "endedAtMs": 0, "undoable": true, "undone": undone })
}

#[test]
fn a_turn_is_undone_file_by_file_and_what_cannot_be_undone_says_why() {
    let mut hub = hub();
    let accepted = || json!({ "kind": "accepted", "taken": "all" });
    hub.files.insert("/ws/a.txt".into(), b"new\n".to_vec());
    hub.files.insert("/ws/b.txt".into(), b"changed since\n".to_vec());
    hub.files.insert("/ws/c.txt".into(), b"new\n".to_vec());
    let entries = json!([
        entry(3, "/ws/c.txt", accepted(), false),
        entry(2, "/ws/b.txt", accepted(), false),
        entry(1, "/ws/a.txt", accepted(), false),
        entry(4, "/ws/d.txt", json!({ "kind": "rejected" }), false),
        entry(5, "/ws/e.txt", accepted(), true),
    ]);
    hub.history_answers.push_back(Ok(HistoryAnswer::List(serde_json::from_value(entries).unwrap())));
    for (change, path) in [(3, "/ws/c.txt"), (2, "/ws/b.txt"), (1, "/ws/a.txt")] {
        hub.history_answers.push_back(Ok(HistoryAnswer::Change(Box::new(written(change, path)))));
    }
    let answer = hub.chat("history/undoTurn", json!({ "turn": "t3/2" }));
    let changes = answer["result"]["changes"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let told: Vec<_> =
        changes.iter().map(|it| (it["review"].as_str().unwrap(), it["undone"].is_object())).collect();
    assert_eq!(told, [("r3", true), ("r2", false), ("r1", true)], "{answer}");
    assert!(changes[1]["error"].as_str().unwrap().contains("is not what"), "{answer}");
    let bytes = |path: &str| hub.files.iter().find(|(at, _)| at.ends_with(path)).unwrap().1.clone();
    assert_eq!((bytes("a.txt"), bytes("c.txt")), (b"old\n".to_vec(), b"old\n".to_vec()));
    assert_eq!(bytes("b.txt"), b"changed since\n");
    let HistoryQuery::List(filter) = &hub.history_queries[0] else { panic!("{:?}", hub.history_queries) };
    assert_eq!((filter.chat, filter.turn), (Some(3), Some(2)));
}

#[test]
fn a_turn_with_nothing_to_undo_and_a_name_that_names_none_are_refused() {
    let mut hub = hub();
    for bad in ["t3", "3/2", "t3/x", "r1", ""] {
        let answer = hub.chat("history/undoTurn", json!({ "turn": bad }));
        assert!(answer["error"].is_object(), "{bad}: {answer}");
    }
    assert!(hub.chat("history/list", json!({ "chat": "x" }))["error"].is_object());
    hub.history_answers.push_back(Ok(HistoryAnswer::List(Vec::new())));
    let answer = hub.chat("history/undoTurn", json!({ "turn": "t3/2" }));
    assert!(answer["error"]["message"].as_str().unwrap().contains("t3/2 has no change to undo"), "{answer}");
}

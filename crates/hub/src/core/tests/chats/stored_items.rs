//! What the hub holds of conversations, and what it reads from the journal when somebody wants it.

use super::*;

/// More than is held of a conversation whose agent runs.
const MANY: usize = 300;

impl CoreHarness {
    fn restarted_with_agents(self) -> CoreHarness {
        let mut hub = self.restart();
        hub.hosted_agents = Ok(vec![hosted(Some("/bin/gemini"))]);
        hub.attach(EDITOR, json!({}));
        hub.event(Event::ConnectionOpened { connection: READER });
        hub
    }

    /// Text and thoughts in turn, so that each is an item.
    fn rambles(&mut self, agent: AgentId, count: usize) {
        for number in 0..count {
            let kind = if number % 2 == 0 { "agent_thought_chunk" } else { "agent_message_chunk" };
            let content = json!({ "type": "text", "text": format!("part {number}") });
            self.says(agent, json!({ "sessionUpdate": kind, "content": content }));
        }
    }

    /// A second conversation, which needs no permission; its agent.
    fn start_chat_again(&mut self) -> AgentId {
        self.start_chat();
        self.begins()
    }

    fn page(&mut self, before: u64, limit: u64) -> Value {
        self.chat("chat/items", json!({ "chat": "t1", "before": before, "limit": limit }))["result"].clone()
    }

    /// A conversation that is over: one message, and no answer.
    fn closed_chat(&mut self) {
        let agent = self.ready_chat();
        self.say("go");
        self.ends_turn(agent);
        self.chat("chat/close", json!({ "chat": "t1" }));
    }

    fn opens_slowly(&mut self) -> i64 {
        self.hold_chat_reads = true;
        let id = self.request(READER, "chat/open", json!({ "chat": "t1", "limit": 1000 }));
        assert!(self.response_to(READER, id).is_none(), "it is read from the journal");
        id
    }

    fn journal_answers(&mut self) {
        for read in std::mem::take(&mut self.held_chat_reads) {
            self.event(read);
        }
    }
}

#[test]
fn the_newest_of_a_running_conversation_are_held_and_the_rest_is_read() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.rambles(agent, MANY);
    hub.wait_seconds(1);
    let newest = hub.chat("chat/open", json!({ "chat": "t1", "limit": 100 }))["result"].clone();
    assert_eq!((newest["first"].as_u64(), hub.chat_reads.len()), (Some(201), 0), "the newest are held");
    let older = hub.page(201, 150);
    assert_eq!(older["first"], 51);
    let texts: Vec<_> = older["items"].as_array().unwrap().iter().map(|item| item["text"].clone()).collect();
    let expected: Vec<_> = (50..200).map(|number| json!(format!("part {number}"))).collect();
    assert_eq!(texts, expected);
    // 301 items, of which 200 are held.
    assert_eq!(hub.chat_reads, [(1, 51..101)]);
}

#[test]
fn nothing_is_held_of_a_conversation_that_is_over_and_nothing_is_read_before_it_is_opened() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.rambles(agent, 3);
    hub.ends_turn(agent);
    hub.chat("chat/close", json!({ "chat": "t1" }));
    assert_eq!(hub.items().len(), 4);
    assert_eq!(hub.chat_reads, [(1, 0..4)]);
    let mut hub = hub.restarted_with_agents();
    assert_eq!(hub.chat("chat/list", json!({}))["result"]["chats"][0]["title"], "go");
    assert!(hub.chat_reads.is_empty());
    assert_eq!(hub.items().len(), 4);
}

#[test]
fn what_is_said_while_the_journal_reads_is_in_the_answer_and_comes_after_it() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.rambles(agent, MANY);
    hub.wait_seconds(1);
    let id = hub.opens_slowly();
    hub.rambles(agent, MANY);
    hub.wait_seconds(1);
    hub.journal_answers();
    let open = hub.response_to(READER, id).unwrap()["result"].clone();
    let items = open["items"].as_array().unwrap();
    assert_eq!((open["first"].as_u64(), items.len()), (Some(0), 2 * MANY + 1));
    assert!(items.iter().all(|item| item["kind"] != "notice"), "none is missing");
    assert_eq!(items.last().unwrap()["text"], format!("part {}", MANY - 1));
    hub.hold_chat_reads = false;
    hub.rambles(agent, MANY);
    hub.wait_seconds(1);
    hub.chat_reads.clear();
    hub.page(500, 1000);
    assert_eq!(hub.chat_reads, [(1, 0..500)], "the answer has freed what it needed");
}

#[test]
fn a_reader_that_left_or_a_conversation_that_was_forgotten_leaves_no_read_behind() {
    let mut hub = hub();
    hub.closed_chat();
    let id = hub.opens_slowly();
    hub.chat("chat/close", json!({ "chat": "t1", "forget": true }));
    hub.journal_answers();
    let answer = hub.response_to(READER, id).unwrap();
    assert!(answer["error"]["message"].as_str().unwrap().contains("was removed"), "{answer}");

    let agent = hub.start_chat_again();
    hub.chat("chat/prompt", json!({ "chat": "t2", "text": "go" }));
    hub.ends_turn(agent);
    hub.chat("chat/close", json!({ "chat": "t2" }));
    for _ in 0..8 {
        hub.request(READER, "chat/open", json!({ "chat": "t2" }));
    }
    let answer = hub.chat("chat/open", json!({ "chat": "t2" }));
    assert!(answer["error"]["message"].as_str().unwrap().contains("too many"), "{answer}");
    hub.event(Event::ConnectionClosed { connection: READER });
    let sent = hub.to_connections.len();
    hub.journal_answers();
    assert_eq!(hub.to_connections.len(), sent);
    hub.event(Event::ConnectionOpened { connection: READER });
    hub.request(READER, "chat/open", json!({ "chat": "t2" }));
    assert_eq!(hub.held_chat_reads.len(), 1, "the old ones no longer count");
}

#[test]
fn a_journal_that_cannot_be_read_is_an_error_and_not_an_empty_conversation() {
    let mut hub = hub();
    hub.closed_chat();
    let id = hub.opens_slowly();
    let Some(Event::ChatRead { ticket, .. }) = hub.held_chat_reads.pop() else { panic!("no read") };
    hub.event(Event::ChatRead { ticket, result: Err("disk I/O error".into()) });
    let answer = hub.response_to(READER, id).unwrap();
    assert!(answer["error"]["message"].as_str().unwrap().contains("disk I/O error"), "{answer}");
}

#[test]
fn messages_that_waited_are_sent_once_by_the_next_hub() {
    let mut hub = hub();
    hub.ready_chat();
    for text in ["first", "second", "third"] {
        hub.say(text);
    }
    hub.wait_seconds(1);
    let mut hub = hub.restarted_with_agents();
    assert_eq!(hub.chat("chat/list", json!({}))["result"]["chats"][0]["queued"], 2);
    hub.say("fourth");
    hub.hold_chat_reads = true;
    let agent = hub.begins();
    assert!(hub.told(agent, "session/prompt").is_none());
    hub.say("fifth");
    assert_eq!(hub.held_chat_reads.len(), 1, "it is read once");
    hub.journal_answers();
    hub.hold_chat_reads = false;
    for text in ["second", "third", "fourth", "fifth"] {
        assert_eq!(hub.told(agent, "session/prompt").unwrap()["params"]["prompt"][0]["text"], text);
        hub.ends_turn(agent);
    }
    assert_eq!(hub.state()["kind"], "idle");
    assert!(hub.items().iter().all(|item| item["queued"] != true), "{:?}", hub.items());
}

#[test]
fn a_message_that_waited_and_is_lost_is_named_and_the_next_one_is_sent() {
    let mut hub = hub();
    hub.ready_chat();
    for text in ["first", "second", "third"] {
        hub.say(text);
    }
    hub.wait_seconds(1);
    hub.chats.get_mut(&1).unwrap().1.remove(&1);
    let mut hub = hub.restarted_with_agents();
    hub.say("fourth");
    let agent = hub.begins();
    assert_eq!(hub.told(agent, "session/prompt").unwrap()["params"]["prompt"][0]["text"], "third");
    let items = hub.items();
    assert_eq!(items[1]["text"], "[not in the journal]");
    assert!(
        items.iter().any(|item| item["isError"] == true && item["text"].as_str().unwrap().contains("waited"))
    );
}

#[test]
fn turns_are_counted_on_by_the_next_hub() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("one");
    hub.ends_turn(agent);
    hub.say("two");
    hub.ends_turn(agent);
    hub.wait_seconds(1);
    let mut hub = hub.restarted_with_agents();
    hub.say("three");
    let agent = hub.begins();
    hub.wants(agent, 5, edit(&[BOTH]));
    let origin = hub.chat("reviews/get", json!({ "review": "r1" }))["result"]["shown"]["origin"].clone();
    assert_eq!((&origin["turn"], &origin["prompt"]), (&json!(3), &json!("three")), "{origin}");
}

#[test]
fn the_words_before_a_change_are_known_after_many_silent_calls() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    let content = json!({ "type": "text", "text": "I will shout." });
    hub.says(agent, json!({ "sessionUpdate": "agent_message_chunk", "content": content }));
    for number in 0..MANY {
        let id = format!("look {number}");
        hub.says(
            agent,
            json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": "Look",
            "kind": "read", "status": "completed" }),
        );
    }
    hub.wait_seconds(1);
    hub.page(50, 10);
    assert_eq!(hub.chat_reads.len(), 1, "the words are no longer held");
    hub.wants(agent, 5, edit(&[BOTH]));
    let origin = hub.chat("reviews/get", json!({ "review": "r1" }))["result"]["shown"]["origin"].clone();
    assert_eq!((&origin["words"], &origin["prompt"]), (&json!("I will shout."), &json!("go")), "{origin}");
}

#[test]
fn a_call_that_runs_stays_changeable_however_much_is_said_after_it() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    let call = |kind: &str, status: &str| {
        json!({ "sessionUpdate": kind, "toolCallId": "slow", "title": "Build",
        "kind": "execute", "status": status })
    };
    hub.says(agent, call("tool_call", "in_progress"));
    hub.rambles(agent, MANY);
    hub.wait_seconds(1);
    hub.says(agent, call("tool_call_update", "completed"));
    assert_eq!(hub.page(2, 10)["items"][1]["state"], "done");
    assert!(hub.chat_reads.len() == 1, "the message before it was read: {:?}", hub.chat_reads);
}

#[test]
fn a_conversation_that_the_journal_removed_is_gone_for_every_reader_unless_its_agent_runs() {
    let mut hub = hub();
    hub.ready_chat();
    hub.event(Event::ChatsRemoved { chats: vec![1] });
    assert_eq!(hub.chat("chat/list", json!({}))["result"]["chats"].as_array().unwrap().len(), 1);
    hub.chat("chat/close", json!({ "chat": "t1" }));
    hub.event(Event::ChatsRemoved { chats: vec![1] });
    assert!(hub.updates().contains(&&json!({ "kind": "forgotten" })));
    assert_eq!(hub.chat("chat/list", json!({}))["result"]["chats"], json!([]));
}

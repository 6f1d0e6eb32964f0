//! Conversations that are over: they cost the hub no memory, and are read from the journal, also by the next hub.

use serde_json::{Value, json};

use super::Session;
use crate::support::{ChatClient, World, eventually, world};

const CHATS: usize = 100;
const PARTS: usize = 256;
const PART_BYTES: usize = 4096;

/// What all of them together may add; their texts are 100 MiB.
const GROWN_MOST: u64 = 40 * 1024 * 1024;

fn part(chat: usize, number: usize) -> String {
    let words = format!("part {number} of conversation {chat}. ");
    words.repeat(PART_BYTES.div_ceil(words.len()))
}

/// The agent says about 1 MiB, thoughts and words in turn, and the conversation is closed.
fn held(session: &mut Session, number: usize) {
    let chat = session.chat.clone();
    session.client.prompt(&chat, &format!("question {number}"));
    let (prompt, _) = session.agent.prompted();
    for part_number in 0..PARTS {
        let kind = if part_number % 2 == 0 { "agent_thought_chunk" } else { "agent_message_chunk" };
        let content = json!({ "type": "text", "text": part(number, part_number) });
        session.agent.update(json!({ "sessionUpdate": kind, "content": content }));
    }
    session.agent.ends(&prompt, "end_turn");
    session.client.until("the end of the turn", |client| {
        let now = client.ask("chat/open", json!({ "chat": chat, "limit": 1 }))["result"].clone();
        (now["summary"]["state"]["kind"] == "idle" && now["first"] == PARTS).then_some(())
    });
    let pid = session.agent.pid();
    session.client.ask("chat/close", json!({ "chat": chat }));
    session.client.updates.clear();
    eventually("the agent has ended", || (!world::alive(pid)).then_some(()));
}

/// Everything of a conversation, in pages from its end.
fn whole(client: &mut ChatClient, chat: &str) -> Vec<Value> {
    let open = client.ask("chat/open", json!({ "chat": chat, "limit": 100 }))["result"].clone();
    let mut first = open["first"].as_u64().unwrap();
    let mut items = open["items"].as_array().unwrap().clone();
    while first > 0 {
        let page = client.ask("chat/items", json!({ "chat": chat, "before": first, "limit": 100 }));
        let page = &page["result"];
        assert!(page["first"].as_u64().unwrap() < first, "{page}");
        first = page["first"].as_u64().unwrap();
        items.splice(0..0, page["items"].as_array().unwrap().iter().cloned());
    }
    items
}

fn resident(world: &World) -> u64 {
    world.status()["residentBytes"].as_u64().unwrap()
}

#[test]
fn a_hundred_long_conversations_cost_little_memory_and_old_ones_are_whole() {
    let mut session = Session::new();
    let before = resident(&session.world);
    for number in 1..=CHATS {
        if number > 1 {
            let start = json!({ "agent": crate::support::StandIn::ID, "folder": session.world.workspace() });
            session.chat =
                session.client.ask("chat/start", start)["result"]["chat"].as_str().unwrap().to_owned();
            session.agent.begins();
            session.is("idle");
        }
        held(&mut session, number);
    }
    let grown = resident(&session.world).saturating_sub(before);
    assert!(grown < GROWN_MOST, "the hub grew by {} KiB while they were held", grown >> 10);

    let pid = session.world.status()["pid"].clone();
    session.world.kill_hub();
    eventually("there is another hub", || {
        let status = session.world.run(&["status", "--json"]);
        let status: Value = serde_json::from_str(&status.stdout).ok()?;
        (status["pid"].is_u64() && status["pid"] != pid).then_some(())
    });
    let mut client = ChatClient::connect(&session.world);
    let list = client.ask("chat/list", json!({}))["result"]["chats"].as_array().unwrap().clone();
    assert_eq!(list.len(), CHATS);
    assert!(list.iter().any(|chat| chat["title"] == "question 1"), "{list:?}");
    for number in [1, 2, 57, CHATS] {
        let items = whole(&mut client, &format!("t{number}"));
        assert_eq!(items.len(), PARTS + 1);
        assert_eq!(items[0]["text"], format!("question {number}"));
        for (at, item) in items[1..].iter().enumerate() {
            assert_eq!(item["text"], part(number, at), "item {at} of t{number}");
        }
    }
    let grown = resident(&session.world).saturating_sub(before);
    assert!(grown < GROWN_MOST, "the new hub has {} KiB more than an empty one", grown >> 10);
}

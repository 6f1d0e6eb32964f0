//! Turns with an honest agent: each decision, a queue, cancelling, and kills.

use serde_json::json;

use super::{Session, TEXT};
use crate::support::{ChatClient, World, eventually, world};

#[test]
fn what_the_agent_says_arrives_while_it_says_it() {
    let mut session = Session::new();
    session.client.prompt(&session.chat, "hello");
    let (prompt, text) = session.agent.prompted();
    assert_eq!(text, "hello");
    for part in ["Hel", "lo"] {
        let content = json!({ "type": "text", "text": part });
        session.agent.update(json!({ "sessionUpdate": "agent_message_chunk", "content": content }));
    }
    let chat = session.chat.clone();
    session.client.until("the text", |client| (client.texts(&chat, "agent") == ["Hello"]).then_some(()));
    let came = |update: &serde_json::Value| update["params"]["change"]["text"] == "lo";
    assert!(session.client.updates.iter().any(came), "{:?}", session.client.updates);
    session.agent.ends(&prompt, "end_turn");
    session.is("idle");
}

#[test]
fn an_accepted_change_is_written_by_the_agent_and_can_be_undone() {
    let mut session = Session::new();
    let new = TEXT.replace("two", "2");
    let (prompt, review) = session.wants(&new);
    let world = &session.world;
    // An agent that has its yes writes.
    let accept = world.command(&["accept", &review]).spawn().unwrap();
    assert_eq!(session.agent.option(7).as_deref(), Some("yes"));
    assert_eq!(world.read_text("a.txt"), TEXT, "the hub wrote nothing");
    world.file("a.txt", &new);
    session
        .agent
        .update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "e7", "status": "completed" }));
    session.agent.ends(&prompt, "end_turn");
    assert_eq!(world::finish(accept).code, 0);
    session.is("idle");
    eventually("it can be undone", || (session.world.run(&["undo", &review]).code == 0).then_some(()));
    assert_eq!(session.world.read_text("a.txt"), TEXT);
}

#[test]
fn one_hunk_is_written_and_the_model_is_told_what_the_file_holds() {
    let mut session = Session::new();
    let (prompt, review) = session.wants(&TEXT.replace("two", "2").replace("eight", "8"));
    let accept = session.world.command(&["accept", &review, "--hunk", "1"]).spawn().unwrap();
    assert_eq!(session.agent.option(7).as_deref(), Some("no"));
    session.failed(7);
    eventually("the hunk is written", || {
        (session.world.read_text("a.txt") == TEXT.replace("two", "2")).then_some(())
    });
    session.agent.ends(&prompt, "end_turn");
    let (next, told) = session.agent.prompted();
    assert!(told.contains("1 of 2 hunks accepted and written"), "{told}");
    let items = session.client.open(&session.chat)["items"].clone();
    let by_linkspan = |item: &&serde_json::Value| item["byLinkspan"] == true;
    assert_eq!(items.as_array().unwrap().iter().find(by_linkspan).unwrap()["text"], told);
    session.agent.ends(&next, "end_turn");
    assert_eq!(world::finish(accept).code, 0);
    session.is("idle");
}

#[test]
fn a_reason_and_a_comment_reach_the_model_after_a_no() {
    let mut session = Session::new();
    let (prompt, review) = session.wants(&TEXT.replace("two", "2"));
    let verdict = json!({ "kind": "reject", "reason": "keep the words" });
    let decision = json!({ "verdict": verdict, "comments": [{ "line": 2, "text": "not a digit" }] });
    session.client.ask("reviews/decide", json!({ "review": review, "decision": decision }));
    assert_eq!(session.agent.option(7).as_deref(), Some("no"));
    session.failed(7);
    session.agent.ends(&prompt, "end_turn");
    let (_, told) = session.agent.prompted();
    assert!(told.contains("keep the words") && told.contains("line 2: not a digit"), "{told}");
    assert_eq!(session.world.read_text("a.txt"), TEXT);
}

#[test]
fn cancelling_withdraws_the_review_and_ends_the_turn() {
    let mut session = Session::new();
    let (prompt, _) = session.wants(&TEXT.replace("two", "2"));
    session.client.ask("chat/cancel", json!({ "chat": session.chat }));
    session.agent.request("session/cancel");
    assert_eq!(session.agent.answer(7)["result"]["outcome"]["outcome"], "cancelled");
    eventually("the review is withdrawn", || session.world.reviews().is_empty().then_some(()));
    // It asks once more before it notices.
    session.agent.wants(8, &session.path.clone(), TEXT, "x");
    assert_eq!(session.agent.answer(8)["result"]["outcome"]["outcome"], "cancelled");
    session.agent.ends(&prompt, "cancelled");
    session.is("idle");
    assert!(session.notices().contains("cancelled"));
    assert_eq!(session.world.read_text("a.txt"), TEXT);
}

#[test]
fn a_killed_agent_says_so_and_the_next_message_loads_its_session() {
    let mut session = Session::new();
    session.wants(&TEXT.replace("two", "2"));
    world::signal(session.agent.pid(), rustix::process::Signal::KILL);
    let stopped = session.is("stopped");
    assert!(stopped["summary"]["state"]["why"].as_str().unwrap().contains("ended"), "{stopped}");
    eventually("its review is withdrawn", || session.world.reviews().is_empty().then_some(()));
    session.client.prompt(&session.chat, "again");
    let capabilities = json!({ "loadSession": true });
    session.agent.reply("initialize", json!({ "protocolVersion": 1, "agentCapabilities": capabilities }));
    assert_eq!(session.agent.reply("session/load", json!({}))["params"]["sessionId"], "s1");
    assert_eq!(session.agent.prompted().1, "again");
    assert_eq!(session.world.read_text("a.txt"), TEXT);
}

#[test]
fn a_killed_hub_ends_the_agent_and_keeps_the_conversation() {
    let mut session = Session::new();
    session.client.prompt(&session.chat, "remember this");
    let (prompt, _) = session.agent.prompted();
    let content = json!({ "type": "text", "text": "I will" });
    session.agent.update(json!({ "sessionUpdate": "agent_message_chunk", "content": content }));
    session.agent.ends(&prompt, "end_turn");
    session.is("idle");
    std::thread::sleep(std::time::Duration::from_millis(700));
    let pid = session.agent.pid();
    session.world.kill_hub();
    eventually("the agent has ended", || (!world::alive(pid)).then_some(()));
    let connects = |world: &World| std::os::unix::net::UnixStream::connect(world.socket()).is_ok();
    eventually("there is a hub again", || connects(&session.world).then_some(()));
    session.client = ChatClient::connect(&session.world);
    let chat = session.client.open(&session.chat);
    assert_eq!(chat["summary"]["state"]["kind"], "stopped", "{chat}");
    assert_eq!(session.client.texts(&session.chat.clone(), "agent"), ["I will"]);
    eventually("the window is back", || {
        let windows = session.world.status()["windows"].as_array()?.clone();
        windows.iter().any(|window| window["attached"] == true).then_some(())
    });
    session.client.prompt(&session.chat, "what was it");
    let capabilities = json!({ "loadSession": true });
    session.agent.reply("initialize", json!({ "protocolVersion": 1, "agentCapabilities": capabilities }));
    session.agent.reply("session/load", json!({}));
    assert_eq!(session.agent.prompted().1, "what was it");
}

#[test]
fn a_closed_conversation_ends_its_agent() {
    let mut session = Session::new();
    let pid = session.agent.pid();
    session.client.ask("chat/close", json!({ "chat": session.chat }));
    session.is("stopped");
    eventually("the agent has ended", || (!world::alive(pid)).then_some(()));
}

#[test]
fn a_change_of_a_chat_says_why_and_its_turn_is_listed_and_undone_by_commands() {
    let mut session = Session::new();
    let two = session.world.file("b.txt", "b\n");
    session.client.prompt(&session.chat, "please shout");
    let (prompt, _) = session.agent.prompted();
    let words = json!({ "type": "text", "text": "I will shout." });
    session.agent.update(json!({ "sessionUpdate": "agent_message_chunk", "content": words }));
    let new = TEXT.replace("two", "TWO");
    for (tool, path, old, new) in [(7, session.path.clone(), TEXT, new.as_str()), (8, two, "b\n", "B\n")] {
        session.agent.wants(tool, &path, old, new);
        // The one before may not have received its outcome yet.
        let review = session.world.pending(1).remove(0);
        let shown = session.world.run(&["show", &review]).ok().stdout;
        let why = "from turn t1/1 of a chat: “please shout”; the agent said: “I will shout.”";
        assert!(shown.contains(why), "{shown}");
        let accept = session.world.command(&["accept", &review]).spawn().unwrap();
        assert_eq!(session.agent.option(tool).as_deref(), Some("yes"));
        std::fs::write(&path, new).unwrap();
        let id = format!("e{tool}");
        let done = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed" });
        session.agent.update(done);
        assert_eq!(world::finish(accept).code, 0);
    }
    session.agent.ends(&prompt, "end_turn");
    session.is("idle");
    let count = |args: &[&str]| session.world.json(args)["entries"].as_array().unwrap().len();
    assert_eq!(count(&["history", "--chat", "t1"]), 2);
    assert_eq!((count(&["history", "--chat", "t1/2"]), count(&["history", "--chat", "t2"])), (0, 0));
    let entries = session.world.json(&["history"]);
    let origin = &entries["entries"][0]["origin"];
    assert_eq!(
        (&origin["chat"], &origin["turn"], &origin["prompt"]),
        (&json!("t1"), &json!(1), &json!("please shout"))
    );
    // One of the files was changed since.
    session.world.file("b.txt", "B\nmore\n");
    let undone = session.world.run(&["undo", "t1/1"]);
    assert_eq!(undone.code, 5, "{undone:?}");
    assert!(undone.stdout.starts_with("undid 1 of 2 changes of turn t1/1\n"), "{undone:?}");
    assert!(
        undone.stdout.contains("did not undo r2") && undone.stdout.contains("undid r1 in a.txt"),
        "{undone:?}"
    );
    assert_eq!(session.world.read_text("a.txt"), TEXT);
    assert_eq!(session.world.read_text("b.txt"), "B\nmore\n");
    session.world.file("b.txt", "B\n");
    assert_eq!(session.world.run(&["undo", "t1/1"]).code, 0);
    assert_eq!(session.world.read_text("b.txt"), "b\n");
    let again = session.world.run(&["undo", "t1/1"]);
    assert_eq!(again.code, 4, "{again:?}");
    assert!(again.stderr.contains("turn t1/1 has no change to undo"), "{again:?}");
}

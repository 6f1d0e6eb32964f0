//! Conversations with hosted agents: started only with permission, one turn at a time, every change reviewed, and kept
//! when the agent or the hub is killed.

mod in_doubt;
mod lost_agents;
mod messages;
mod older_texts;
mod origins;
mod starts;
mod stored_items;
mod unsaved;

use linkspan_review::{AgentId, Writer};
use serde_json::{Value, json};

use super::support::{COMMAND, EDITOR};
use crate::core::contract::HostedAgent;
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

const READER: ConnectionId = COMMAND;

fn hosted(program: Option<&str>) -> HostedAgent {
    HostedAgent {
        id: "gemini".into(),
        name: "Gemini CLI".into(),
        command: vec!["gemini".into(), "--acp".into()],
        program: program.map(Into::into),
        env: vec!["GEMINI_*".into()],
        mode: None,
        engine: None,
        hint: Some("install it".into()),
    }
}

fn hub() -> CoreHarness {
    let mut hub = CoreHarness::new();
    hub.hosted_agents = Ok(vec![hosted(Some("/bin/gemini"))]);
    hub.attach(EDITOR, json!({}));
    hub.event(Event::ConnectionOpened { connection: READER });
    hub
}

impl CoreHarness {
    fn chat(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(READER, method, params);
        self.response_to(READER, id).unwrap_or_else(|| panic!("no answer to {method}")).clone()
    }

    fn start_chat(&mut self) -> String {
        let answer = self.chat("chat/start", json!({ "agent": "gemini", "folder": "/ws" }));
        answer["result"]["chat"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// A conversation whose agent waits for a message.
    fn ready_chat(&mut self) -> AgentId {
        let chat = self.start_chat();
        self.chat("chat/open", json!({ "chat": chat }));
        self.allow_all();
        self.begins()
    }

    fn allow_all(&mut self) {
        let asks = self.chat("asks/list", json!({}));
        for ask in asks["result"]["asks"].as_array().unwrap() {
            self.chat("asks/answer", json!({ "ask": ask["ask"], "option": "allowOnce" }));
        }
    }

    /// The newest agent answers what it is asked at its beginning.
    fn begins(&mut self) -> AgentId {
        let agent = self.children.last().unwrap().0;
        let capabilities = json!({ "loadSession": true });
        self.replies(agent, "initialize", json!({ "protocolVersion": 1, "agentCapabilities": capabilities }));
        let begin = if self.told(agent, "session/load").is_some() { "session/load" } else { "session/new" };
        let modes = json!({ "currentModeId": "default", "availableModes": [
            { "id": "default", "name": "Default" }, { "id": "plan", "name": "Plan" }] });
        self.replies(agent, begin, json!({ "sessionId": "s1", "modes": modes }));
        agent
    }

    fn told(&self, agent: AgentId, method: &str) -> Option<&Value> {
        let mut told = self.to_agents.iter().rev();
        told.find(|(to, frame)| *to == agent && frame["method"] == method).map(|(_, frame)| frame)
    }

    fn replies(&mut self, agent: AgentId, method: &str, result: Value) {
        let id =
            self.told(agent, method).unwrap_or_else(|| panic!("no {method}: {:?}", self.to_agents))["id"]
                .clone();
        self.frame(agent, &json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn says(&mut self, agent: AgentId, update: Value) {
        let params = json!({ "sessionId": "s1", "update": update });
        self.frame(agent, &json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    }

    fn wants(&mut self, agent: AgentId, id: u64, tool: Value) {
        let options = json!([
            { "optionId": "always", "name": "Always", "kind": "allow_always" },
            { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
            { "optionId": "no", "name": "No", "kind": "reject_once" },
        ]);
        self.wants_with(agent, id, tool, options);
    }

    fn wants_with(&mut self, agent: AgentId, id: u64, tool: Value, options: Value) {
        let params = json!({ "sessionId": "s1", "toolCall": tool, "options": options });
        self.frame(
            agent,
            &json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params }),
        );
    }

    fn ends_turn(&mut self, agent: AgentId) {
        self.replies(agent, "session/prompt", json!({ "stopReason": "end_turn" }));
    }

    fn option(&self, agent: AgentId, id: i64) -> Option<&str> {
        self.answers(agent, id).last()?["result"]["outcome"]["optionId"].as_str()
    }

    fn items(&mut self) -> Vec<Value> {
        self.chat("chat/open", json!({ "chat": "t1" }))["result"]["items"].as_array().unwrap().clone()
    }

    fn state(&mut self) -> Value {
        self.chat("chat/open", json!({ "chat": "t1" }))["result"]["summary"]["state"].clone()
    }

    fn say(&mut self, text: &str) -> Value {
        self.chat("chat/prompt", json!({ "chat": "t1", "text": text }))
    }

    fn verdict(&mut self, review: &str, verdict: Value) {
        let decision = json!({ "verdict": verdict, "comments": [{ "line": 1, "text": "why so loud" }] });
        self.request(EDITOR, "reviews/decide", json!({ "review": review, "decision": decision }));
    }

    fn updates(&self) -> Vec<&Value> {
        let to_reader =
            self.to_connections.iter().filter(|(to, it)| *to == READER && it["method"] == "chat/update");
        to_reader.map(|(_, it)| &it["params"]["change"]).collect()
    }
}

fn edit(diffs: &[(&str, &str, &str)]) -> Value {
    let diff = |(path, old, new): &(&str, &str, &str)| json!({ "type": "diff", "path": path, "oldText": old, "newText": new });
    json!({ "toolCallId": "e1", "kind": "edit", "title": "Edit a.txt",
        "content": diffs.iter().map(diff).collect::<Vec<_>>() })
}

/// One call that changes `BOTH` and creates these files.
fn edit_and_new(paths: &[&str]) -> Value {
    let new = |path: &&str| json!({ "type": "diff", "path": path, "oldText": null, "newText": "new\n" });
    let mut tool = edit(&[BOTH]);
    tool["content"].as_array_mut().unwrap().extend(paths.iter().map(new));
    tool
}

const BOTH: (&str, &str, &str) = ("/ws/a.txt", "one\ntwo\n", "ONE\ntwo\nthree\n");

#[test]
fn text_arrives_as_it_comes_and_a_second_message_waits_for_the_end_of_the_turn() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("first");
    hub.say("second");
    assert_eq!(hub.told(agent, "session/prompt").unwrap()["params"]["prompt"][0]["text"], "first");
    for text in ["Hel", "lo"] {
        hub.says(
            agent,
            json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }),
        );
    }
    let more = json!({ "kind": "text", "index": 2, "text": "lo" });
    assert!(hub.updates().contains(&&more), "{:?}", hub.updates());
    assert_eq!(hub.items()[1]["queued"], true);
    hub.ends_turn(agent);
    assert_eq!(hub.told(agent, "session/prompt").unwrap()["params"]["prompt"][0]["text"], "second");
    assert_eq!(hub.items()[1]["queued"], false);
    hub.ends_turn(agent);
    assert_eq!(hub.state()["kind"], "idle");
}

#[test]
fn a_long_answer_is_kept_to_its_last_word() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    let long = "x".repeat(600 * 1024);
    for text in [long.as_str(), &long, "the end"] {
        hub.says(
            agent,
            json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }),
        );
    }
    let items = hub.items();
    let said: String = items.iter().skip(1).map(|item| item["text"].as_str().unwrap()).collect();
    assert_eq!(said.len(), 2 * long.len() + "the end".len());
    assert!(said.ends_with("xthe end"));
}

#[test]
fn an_edit_that_is_accepted_as_proposed_is_written_by_the_agent_alone() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    assert_eq!(hub.reviews().len(), 1);
    assert_eq!(hub.reviews()[0].writer, Writer::Agent);
    assert_eq!(hub.items()[1]["reviews"], json!(["r1"]), "the tool call shows its review");
    hub.request(
        EDITOR,
        "reviews/decide",
        json!({ "review": "r1", "decision": { "verdict": { "kind": "accept" } } }),
    );
    assert_eq!(hub.option(agent, 5), Some("yes"));
    assert_eq!(hub.writes, 0);
    hub.files.insert("/ws/a.txt".into(), BOTH.2.into());
    hub.says(
        agent,
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "e1", "status": "completed" }),
    );
    hub.ends_turn(agent);
    assert_eq!(hub.items()[1]["state"], "done");
    assert_eq!(hub.state()["kind"], "idle");
}

#[test]
fn one_hunk_is_written_by_the_hub_after_a_no_and_the_model_is_told() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    let hunk = hub.reviews()[0].hunks()[0].id.to_string();
    hub.verdict("r1", json!({ "kind": "acceptHunks", "hunks": [hunk] }));
    assert_eq!(hub.option(agent, 5), Some("no"));
    assert_eq!(hub.file(), b"one\ntwo\n", "the agent does not know yet");
    hub.says(agent, json!({ "sessionUpdate": "tool_call_update", "toolCallId": "e1", "status": "failed" }));
    assert_eq!(hub.file(), b"ONE\ntwo\n");
    hub.ends_turn(agent);
    let told = hub.told(agent, "session/prompt").unwrap()["params"]["prompt"][0]["text"].as_str().unwrap();
    assert!(told.contains("1 of 2 hunks") && told.contains("why so loud"), "{told}");
    let told = told.to_owned();
    let items = hub.items();
    let item = items.iter().find(|item| item["byLinkspan"] == true).unwrap();
    assert_eq!(item["text"], told, "the user sees what the model is told");
    assert_eq!(hub.state()["kind"], "working");
}

#[test]
fn what_is_accepted_of_an_agent_that_cannot_be_told_yes_is_written_by_the_hub() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    let options = json!([
        { "optionId": "always", "name": "Always", "kind": "allow_always" },
        { "optionId": "no", "name": "No", "kind": "reject_once" },
    ]);
    hub.wants_with(agent, 5, edit(&[BOTH]), options);
    hub.request(
        EDITOR,
        "reviews/decide",
        json!({ "review": "r1", "decision": { "verdict": { "kind": "accept" } } }),
    );
    assert_eq!(hub.option(agent, 5), Some("no"), "a yes for always is never given");
    assert_eq!(hub.file(), b"one\ntwo\n", "the agent does not know yet");
    hub.says(agent, json!({ "sessionUpdate": "tool_call_update", "toolCallId": "e1", "status": "failed" }));
    assert_eq!(hub.file(), BOTH.2.as_bytes());
    hub.ends_turn(agent);
    let told = hub.prompted(agent);
    assert!(told.contains("has written the accepted part itself"), "{told}");
}

#[test]
fn several_files_of_one_call_are_a_set_and_a_partly_accepted_one_is_declined() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit_and_new(&["/ws/b.txt"]));
    assert_eq!(hub.reviews().len(), 2);
    assert!(hub.reviews().iter().all(|review| review.set.is_some()));
    hub.verdict("r1", json!({ "kind": "accept" }));
    assert_eq!(hub.option(agent, 5), None, "the other is not decided");
    hub.verdict("r2", json!({ "kind": "reject", "reason": "no new files" }));
    assert_eq!(hub.option(agent, 5), Some("no"));
    hub.ends_turn(agent);
    assert_eq!(hub.file(), BOTH.2.as_bytes());
    assert!(!hub.files.contains_key(std::path::Path::new("/ws/b.txt")));
    let told = hub.told(agent, "session/prompt").unwrap()["params"]["prompt"][0]["text"].as_str().unwrap();
    assert!(told.contains("no new files"), "{told}");
}

#[test]
fn what_has_no_place_in_the_file_is_shown_as_it_is_and_decided_whole() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[("/ws/a.txt", "elsewhere", "somewhere")]));
    let review = hub.reviews()[0];
    assert_eq!(review.writer, Writer::Nobody);
    assert_eq!((review.base_text(), &*review.proposed), ("elsewhere", "somewhere"));
    hub.request(
        EDITOR,
        "reviews/decide",
        json!({ "review": "r1", "decision": { "verdict": { "kind": "accept" } } }),
    );
    assert_eq!(hub.option(agent, 5), Some("yes"));
}

#[test]
fn a_path_that_no_agent_may_name_is_refused_with_words() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    for (id, path) in [(5, "/ws/own/clients.toml"), (6, "own/new")] {
        hub.wants(
            agent,
            id,
            json!({ "toolCallId": format!("e{id}"), "kind": "edit", "title": "Edit",
            "content": [{ "type": "diff", "path": path, "oldText": "a", "newText": "b" }] }),
        );
        assert_eq!(hub.option(agent, id.cast_signed()), Some("no"), "{path}");
    }
    assert!(hub.reviews().is_empty());
    let notice = |item: &Value| item["kind"] == "notice" && item["isError"] == true;
    assert!(hub.items().iter().any(notice), "the conversation says so");
}

#[test]
fn a_command_is_a_question_in_the_agents_own_words_and_never_remembered() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    let tool = json!({ "toolCallId": "c1", "kind": "execute", "title": "Run tests", "rawInput": { "command": "make" } });
    hub.wants(agent, 5, tool);
    let asks = hub.chat("asks/list", json!({}));
    let ask = asks["result"]["asks"][0].clone();
    assert_eq!(ask["detail"], "Run tests\n\nmake");
    assert_eq!(ask["options"], json!(["allowOnce", "deny"]));
    assert_eq!(hub.items()[1]["ask"], ask["ask"]);
    hub.chat("asks/answer", json!({ "ask": ask["ask"], "option": "allowOnce" }));
    assert_eq!(hub.option(agent, 5), Some("yes"));
    assert_eq!(hub.items()[1]["ask"], Value::Null);
}

#[test]
fn the_agent_reads_unsaved_text() {
    let mut hub = CoreHarness::new();
    hub.hosted_agents = Ok(vec![hosted(Some("/bin/gemini"))]);
    hub.attach(EDITOR, json!({ "documents": true }));
    hub.editor_answers
        .insert("document/text", json!({ "open": true, "dirty": true, "text": "unsaved\n", "version": 1 }));
    hub.event(Event::ConnectionOpened { connection: READER });
    let agent = hub.ready_chat();
    hub.say("go");
    let params = json!({ "sessionId": "s1", "path": "/ws/a.txt" });
    hub.frame(agent, &json!({ "jsonrpc": "2.0", "id": 3, "method": "fs/read_text_file", "params": params }));
    assert_eq!(hub.answers(agent, 3)[0]["result"]["content"], "unsaved\n");
}

#[test]
fn cancelling_withdraws_reviews_and_an_agent_that_does_not_stop_is_stopped() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    hub.chat("chat/cancel", json!({ "chat": "t1" }));
    assert!(hub.told(agent, "session/cancel").is_some());
    assert_eq!(hub.answers(agent, 5)[0]["result"]["outcome"]["outcome"], "cancelled");
    assert!(hub.reviews().is_empty(), "{:?}", hub.reviews());
    hub.wait_seconds(20);
    assert!(hub.closed_agents.contains(&agent));
    assert_eq!(hub.state()["kind"], "stopped");
}

#[test]
fn a_killed_agent_stops_with_a_reason_and_the_next_message_continues_its_session() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    hub.event(Event::ChildEnded { agent, why: "it ended (signal: 9)".into() });
    assert!(hub.reviews().is_empty());
    assert!(hub.state()["why"].as_str().unwrap().contains("signal: 9"));
    let notice = |item: &Value| item["text"].as_str().is_some_and(|text| text.contains("middle of its turn"));
    assert!(hub.items().iter().any(notice));
    hub.say("again");
    let next = hub.begins();
    assert_ne!(next, agent);
    assert_eq!(hub.told(next, "session/load").unwrap()["params"]["sessionId"], "s1");
    assert_eq!(hub.told(next, "session/prompt").unwrap()["params"]["prompt"][0]["text"], "again");
}

impl CoreHarness {
    /// The text of the newest prompt.
    fn prompted(&self, agent: AgentId) -> &str {
        self.told(agent, "session/prompt").unwrap()["params"]["prompt"][0]["text"].as_str().unwrap()
    }
}

#[test]
fn what_was_decided_is_told_with_the_next_message_if_the_agent_or_the_hub_is_killed_in_the_turn() {
    for kills_hub in [false, true] {
        let mut hub = hub();
        let agent = hub.ready_chat();
        hub.say("go");
        hub.wants(agent, 5, edit(&[BOTH]));
        hub.verdict("r1", json!({ "kind": "reject", "reason": "not here" }));
        assert_eq!(hub.option(agent, 5), Some("no"));
        if kills_hub {
            hub = hub.restart();
            hub.hosted_agents = Ok(vec![hosted(Some("/bin/gemini"))]);
            hub.attach(EDITOR, json!({}));
            hub.event(Event::ConnectionOpened { connection: READER });
        } else {
            hub.event(Event::ChildEnded { agent, why: "it ended (signal: 9)".into() });
        }
        hub.say("again");
        let next = hub.begins();
        let told = hub.prompted(next).to_owned();
        assert!(told.contains("not here") && told.contains("why so loud"), "{kills_hub}: {told}");
        assert!(told.ends_with("\n\nagain"), "{told}");
        hub.ends_turn(next);
        hub.say("more");
        assert_eq!(hub.prompted(next), "more", "it is told once");
    }
}

#[test]
fn what_the_model_was_told_at_the_end_of_its_turn_is_not_told_again() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    hub.verdict("r1", json!({ "kind": "reject", "reason": "not here" }));
    hub.ends_turn(agent);
    assert!(hub.prompted(agent).contains("not here"));
    hub.ends_turn(agent);
    hub.say("more");
    assert_eq!(hub.prompted(agent), "more");
}

#[test]
fn a_conversation_that_is_closed_while_its_agent_is_looked_up_stays_closed() {
    let mut hub = hub();
    hub.ready_chat();
    hub.chat("chat/close", json!({ "chat": "t1" }));
    hub.looks_up_slowly = true;
    hub.say("again");
    hub.chat("chat/close", json!({ "chat": "t1" }));
    let ticket = hub.lookups.pop().unwrap();
    hub.event(Event::AgentsFound { ticket, result: Ok(vec![hosted(Some("/bin/gemini"))]) });
    assert_eq!(hub.children.len(), 1, "it was started again");
    assert_eq!(hub.state()["kind"], "stopped");
}

#[test]
fn a_killed_hub_keeps_what_was_said_and_continues_with_the_next_message() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.says(
        agent,
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "Hi" } }),
    );
    hub.wait_seconds(1);
    let mut hub = hub.restart();
    hub.hosted_agents = Ok(vec![hosted(Some("/bin/gemini"))]);
    hub.attach(EDITOR, json!({}));
    hub.event(Event::ConnectionOpened { connection: READER });
    let list = hub.chat("chat/list", json!({}));
    assert_eq!(list["result"]["chats"][0]["title"], "go");
    assert!(hub.state()["why"].as_str().unwrap().contains("restarted"));
    let texts: Vec<_> = hub.items().iter().map(|item| item["text"].clone()).collect();
    assert_eq!(texts, ["go", "Hi"]);
    hub.say("more");
    let agent = hub.begins();
    assert_eq!(hub.told(agent, "session/prompt").unwrap()["params"]["prompt"][0]["text"], "more");
    assert_eq!(hub.start_chat(), "t2", "no number is used again");
}

#[test]
fn a_forgotten_conversation_is_gone_for_every_reader() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.chat("chat/close", json!({ "chat": "t1", "forget": true }));
    assert!(hub.closed_agents.contains(&agent));
    assert!(hub.updates().contains(&&json!({ "kind": "forgotten" })));
    assert!(hub.chat("chat/open", json!({ "chat": "t1" }))["error"].is_object());
    assert!(hub.chats.is_empty());
}

#[test]
fn a_mode_is_set_where_the_agent_has_it() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    assert!(hub.chat("chat/setMode", json!({ "chat": "t1", "mode": "yolo" }))["error"].is_object());
    hub.chat("chat/setMode", json!({ "chat": "t1", "mode": "plan" }));
    hub.replies(agent, "session/set_mode", json!({}));
    assert_eq!(hub.chat("chat/open", json!({ "chat": "t1" }))["result"]["summary"]["mode"], "plan");
}

#[test]
fn nothing_of_a_conversation_that_is_over_is_left() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    hub.chat("chat/close", json!({ "chat": "t1" }));
    hub.wait_seconds(5);
    for (what, count) in hub.core.resource_counts() {
        let expected = match what {
            "connections" => 2,
            "windows" => 1,
            "timers" => count,
            _ => 0,
        };
        assert_eq!(count, expected, "{what}");
    }
}

#[test]
fn garbage_and_silence_of_an_agent_end_only_its_conversation() {
    let mut hub = hub();
    hub.start_chat();
    hub.allow_all();
    let agent = hub.children[0].0;
    for text in
        ["{", "[]", "null", "{\"id\":0}", "{\"id\":0,\"result\":{}}", "\u{0}", "{\"method\":\"x\",\"id\":[]}"]
    {
        hub.event(Event::AgentFrame { agent, text: text.into(), exchange: None });
    }
    assert_eq!(hub.state()["kind"], "stopped", "it speaks no version that we know");
    hub.chat("chat/close", json!({ "chat": "t1" }));
    let chat = hub.start_chat();
    assert_eq!(chat, "t2");
    hub.wait_seconds(130);
    let summary = hub.chat("chat/open", json!({ "chat": "t2" }))["result"]["summary"].clone();
    assert!(summary["state"]["why"].as_str().unwrap().contains("in time"), "{summary}");
}

#[test]
fn a_window_that_closes_ends_the_agents_in_it_and_the_conversation_says_so() {
    let mut hub = hub();
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[BOTH]));
    hub.notify(EDITOR, "detach", json!({}));
    hub.wait_seconds(200);
    assert!(hub.closed_agents.contains(&agent), "its process is ended");
    assert!(hub.state()["why"].as_str().unwrap().contains("window"), "{}", hub.state());
    hub.say("again");
    assert!(hub.state()["why"].as_str().unwrap().contains("no window has the folder"), "{}", hub.state());
}

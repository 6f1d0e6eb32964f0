//! Gemini CLI and Qwen Code, hosted and talked to over the Agent Client Protocol: the content of files after each
//! decision, and what the model received.

use serde_json::{Value, json};

use crate::support::{ChatClient, Model, Serve, Turn, World, eventually, hosted, model};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

struct Session {
    client: ChatClient,
    chat: String,
    model: Model,
    _serve: Serve,
    world: World,
}

impl Session {
    /// The agent is asked to make this of `a.txt`, and its change is pending.
    fn with(agent: &str, proposed: &str) -> (Session, String) {
        let world = World::new();
        let path = world.file("a.txt", TEXT);
        let read = Turn::calls("read_file", json!({ "file_path": path }));
        let tool = if agent == "gemini" { "replace" } else { "edit" };
        let mut arguments = json!({ "file_path": path, "old_string": TEXT, "new_string": proposed });
        if agent == "gemini" {
            arguments["instruction"] = json!("Change numbers.");
        }
        let (model, serve) =
            hosted::real(&world, agent, [read, Turn::calls(tool, arguments), Turn::says("Done.")]);
        let mut client = ChatClient::connect(&world);
        client.patience = model::PATIENCE;
        let chat = client.start(&world, agent);
        client.prompt(&chat, "please change it");
        let review = client.review(&chat);
        (Session { client, chat, model, _serve: serve, world }, review)
    }

    fn decide(&mut self, review: &str, verdict: Value) {
        let comments = json!([{ "line": 2, "text": "a word would do" }]);
        let comments = if verdict["kind"] == "accept" { json!([]) } else { comments };
        let decision = json!({ "verdict": verdict, "comments": comments });
        let answer = self.client.ask("reviews/decide", json!({ "review": review, "decision": decision }));
        assert_eq!(answer["result"]["kind"], "taken", "{answer}");
    }

    fn is_idle(&mut self) {
        self.client.is(&self.chat.clone(), "idle");
    }

    /// The model is told this.
    fn model_hears(&self, words: &str) {
        eventually(&format!("the model hears {words:?}"), || {
            self.model.conversation().last()?.to_string().contains(words).then_some(())
        });
    }
}

#[test]
fn an_accepted_change_is_written_and_the_model_knows() {
    for agent in ["gemini", "qwen"] {
        let proposed = TEXT.replace("two", "2");
        let (mut session, review) = Session::with(agent, &proposed);
        session.decide(&review, json!({ "kind": "accept" }));
        session.is_idle();
        assert_eq!(session.world.read_text("a.txt"), proposed, "{agent}");
        let told = session.model.result(1);
        assert!(!told.is_error, "{agent}: {told:?}");
        assert_eq!(session.client.texts(&session.chat.clone(), "agent").join(""), "Done.", "{agent}");
    }
}

#[test]
fn one_hunk_is_written_and_the_model_is_told_which() {
    for agent in ["gemini", "qwen"] {
        let proposed = TEXT.replace("two", "2").replace("eight", "8");
        let (mut session, review) = Session::with(agent, &proposed);
        let got = session.client.ask("reviews/get", json!({ "review": review }))["result"].clone();
        let hunks = if got["hunks"].is_array() { &got["hunks"] } else { &got["shown"]["hunks"] }.clone();
        session.decide(&review, json!({ "kind": "acceptHunks", "hunks": [hunks[0]["id"]] }));
        session.model_hears("1 of 2 hunks accepted and written");
        session.model_hears("a word would do");
        session.is_idle();
        assert_eq!(session.world.read_text("a.txt"), TEXT.replace("two", "2"), "{agent}");
    }
}

#[test]
fn a_rejected_change_is_not_written_and_the_model_hears_the_reason() {
    for agent in ["gemini", "qwen"] {
        let (mut session, review) = Session::with(agent, &TEXT.replace("two", "2"));
        session.decide(&review, json!({ "kind": "reject", "reason": "keep the words" }));
        session.model_hears("keep the words");
        session.is_idle();
        assert_eq!(session.world.read_text("a.txt"), TEXT, "{agent}");
    }
}

#[test]
fn a_cancelled_turn_writes_nothing_and_the_next_message_is_answered() {
    for agent in ["gemini", "qwen"] {
        let (mut session, _) = Session::with(agent, &TEXT.replace("two", "2"));
        session.client.ask("chat/cancel", json!({ "chat": session.chat }));
        session.is_idle();
        assert!(session.world.reviews().is_empty(), "{agent}");
        assert_eq!(session.world.read_text("a.txt"), TEXT, "{agent}");
        session.client.prompt(&session.chat, "what now");
        session.model_hears("what now");
        session.is_idle();
    }
}

#[test]
fn a_killed_agent_continues_its_session_with_the_next_message() {
    let (mut session, _) = Session::with("gemini", &TEXT.replace("two", "2"));
    let folder = session.world.root();
    let is_agent = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("--acp")
    };
    for pid in session.world.processes().into_iter().filter(is_agent) {
        crate::support::world::signal(pid, rustix::process::Signal::KILL);
    }
    session.client.is(&session.chat.clone(), "stopped");
    assert_eq!(session.world.read_text("a.txt"), TEXT, "{}", folder.display());
    session.client.prompt(&session.chat, "what now");
    session.model_hears("what now");
    session.is_idle();
}

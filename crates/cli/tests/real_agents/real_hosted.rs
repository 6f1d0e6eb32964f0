//! Real agents, hosted and talked to over the Agent Client Protocol: the content of files after each decision, and what
//! the model received.

use serde_json::{Value, json};

use crate::support::{ChatClient, Model, Serve, Turn, World, eventually, hosted, hosted_agents, model};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

/// The same tests for each agent.
macro_rules! agents {
    ($($agent:ident),*) => { $(mod $agent {
        const ID: &str = stringify!($agent);

        #[test]
        fn an_accepted_change_is_written_and_the_model_knows() {
            super::accepted(ID);
        }

        #[test]
        fn one_hunk_is_written_and_the_model_is_told_which() {
            super::one_hunk(ID);
        }

        #[test]
        fn a_rejected_change_is_not_written_and_the_model_hears_the_reason() {
            super::rejected(ID);
        }

        #[test]
        fn a_cancelled_turn_writes_nothing_and_the_next_message_is_answered() {
            super::cancelled(ID);
        }

        #[test]
        fn a_killed_agent_continues_its_session_with_the_next_message() {
            super::killed(ID);
        }
    })* };
}

agents!(claude, gemini, qwen, codex, copilot, opencode, linkspan);

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
        let edits = hosted_agents::edits(agent, &path, TEXT, proposed);
        let script = edits.into_iter().chain([Turn::says("Done.")]);
        let (model, serve) = hosted::real(&world, agent, script);
        let mut client = ChatClient::connect(&world);
        client.patience = model::PATIENCE;
        let chat = client.start(&world, agent);
        client.prompt(&chat, "please change it");
        let review = client.review(&chat);
        assert_eq!(world.reviews().len(), 1, "the user is asked once: {:?}", world.reviews());
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
    #[track_caller]
    fn model_hears(&self, words: &str) {
        eventually(&format!("the model hears {words:?}"), || {
            self.model.conversation().last()?.to_string().contains(words).then_some(())
        });
    }
}

fn accepted(agent: &str) {
    let proposed = TEXT.replace("two", "2");
    let (mut session, review) = Session::with(agent, &proposed);
    session.decide(&review, json!({ "kind": "accept" }));
    session.is_idle();
    assert_eq!(session.world.read_text("a.txt"), proposed);
    let last = session.model.results().pop().expect("no result");
    assert!(!last.is_error, "{last:?}");
    assert_eq!(session.client.texts(&session.chat.clone(), "agent").join(""), "Done.");
    assert!(session.world.reviews().is_empty());
}

fn one_hunk(agent: &str) {
    let proposed = TEXT.replace("two", "2").replace("eight", "8");
    let (mut session, review) = Session::with(agent, &proposed);
    let got = session.client.ask("reviews/get", json!({ "review": review }))["result"].clone();
    let hunks = if got["hunks"].is_array() { &got["hunks"] } else { &got["shown"]["hunks"] }.clone();
    session.decide(&review, json!({ "kind": "acceptHunks", "hunks": [hunks[0]["id"]] }));
    session.model_hears("1 of 2 hunks accepted and written");
    session.model_hears("a word would do");
    session.is_idle();
    assert_eq!(session.world.read_text("a.txt"), TEXT.replace("two", "2"));
}

fn rejected(agent: &str) {
    let (mut session, review) = Session::with(agent, &TEXT.replace("two", "2"));
    session.decide(&review, json!({ "kind": "reject", "reason": "keep the words" }));
    session.model_hears("keep the words");
    session.model_hears("a word would do");
    session.is_idle();
    assert_eq!(session.world.read_text("a.txt"), TEXT);
}

fn cancelled(agent: &str) {
    let (mut session, _) = Session::with(agent, &TEXT.replace("two", "2"));
    session.client.ask("chat/cancel", json!({ "chat": session.chat }));
    session.is_idle();
    assert!(session.world.reviews().is_empty());
    assert_eq!(session.world.read_text("a.txt"), TEXT);
    session.client.prompt(&session.chat, "what now");
    session.model_hears("what now");
    session.is_idle();
}

fn killed(agent: &str) {
    let (mut session, _) = Session::with(agent, &TEXT.replace("two", "2"));
    for pid in hosted_agents::processes(&session.world, agent) {
        crate::support::world::signal(pid, rustix::process::Signal::KILL);
    }
    session.client.is(&session.chat.clone(), "stopped");
    assert_eq!(session.world.read_text("a.txt"), TEXT);
    session.client.prompt(&session.chat, "what now");
    // Our own agent continues its interrupted turn first, and asks again.
    if agent == "linkspan" {
        let again = session.world.one_pending();
        session.decide(&again, json!({ "kind": "reject" }));
    }
    session.model_hears("what now");
    session.is_idle();
    assert_eq!(session.world.read_text("a.txt"), TEXT);
}

//! `linkspan acp` between a client and an agent, both ends held by the test: what passes, what is reviewed, the bytes on
//! disk, and what each side hears.

mod passing;
mod reviews;
mod writes;

use serde_json::{Value, json};

use crate::support::{AcpClient, ChatClient, Serve, StandIn, World};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

/// The id of the client's first prompt.
const PROMPT: u64 = 10;

/// A client, and an agent that waits for a message.
struct Session {
    client: AcpClient,
    agent: StandIn,
    path: String,
    _serve: Option<Serve>,
    world: World,
}

impl Session {
    /// The folder is open in a window.
    fn new() -> Session {
        let world = World::new();
        let serve = world.serve();
        Session::begun(world, Some(serve))
    }

    /// No editor has the folder.
    fn without_window() -> Session {
        Session::begun(World::new(), None)
    }

    fn begun(world: World, serve: Option<Serve>) -> Session {
        let path = world.file("a.txt", TEXT);
        let agent = StandIn::new(&world);
        let client = AcpClient::start(&world, &[agent.program()]);
        let mut session = Session { client, agent, path, _serve: serve, world };
        session.client.request(0, "initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }));
        let info = json!({ "name": "stand-in", "title": "Stand-in", "version": "1" });
        session.agent.reply("initialize", json!({ "protocolVersion": 1, "agentInfo": info }));
        session.client.answer(0);
        let cwd = session.world.workspace();
        session.client.request(1, "session/new", json!({ "cwd": cwd, "mcpServers": [] }));
        session.agent.reply("session/new", json!({ "sessionId": "s1" }));
        session.client.answer(1);
        session
    }

    /// The client sends a message; returns the agent's id of the prompt.
    fn prompt(&mut self, id: u64, words: &str) -> Value {
        let prompt = json!([{ "type": "text", "text": words }]);
        self.client.request(id, "session/prompt", json!({ "sessionId": "s1", "prompt": prompt }));
        self.agent.prompted().0
    }

    /// The agent is asked for something and wants to make this of `a.txt`; returns the prompt and the review.
    fn wants(&mut self, new: &str) -> (Value, String) {
        let prompt = self.prompt(PROMPT, "please change it");
        self.agent.wants(7, &self.path, TEXT, new);
        (prompt, self.world.one_pending())
    }

    fn rejects(&mut self, review: &str, comments: Value) {
        let verdict = json!({ "kind": "reject", "reason": "keep the words" });
        let decision = json!({ "verdict": verdict, "comments": comments });
        let decide = json!({ "review": review, "decision": decision });
        let answer = ChatClient::connect(&self.world).ask("reviews/decide", decide);
        assert_eq!(answer["result"]["kind"], "taken", "{answer}");
    }

    fn failed(&mut self, tool: u64) {
        let id = format!("e{tool}");
        self.agent
            .update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "failed" }));
    }

    /// What the client was asked to decide or to write.
    fn asked_of_client(&mut self) -> Vec<String> {
        let asks = |line: &String| line.contains("request_permission") || line.contains("write_text_file");
        self.client.rest().into_iter().filter(asks).collect()
    }
}

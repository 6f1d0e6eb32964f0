//! Chat with agents that the hub hosts: the bytes on disk, and what the agent is told. The agent is a process whose both
//! ends the test holds.

mod hostile;
mod memory;
mod turns;

use serde_json::json;

use crate::support::{ChatClient, Serve, StandIn, World};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

/// A conversation whose agent waits for a message.
struct Session {
    client: ChatClient,
    agent: StandIn,
    chat: String,
    path: String,
    _serve: Serve,
    world: World,
}

impl Session {
    fn new() -> Session {
        let mut session = Session::starting();
        session.agent.begins();
        session.client.is(&session.chat.clone(), "idle");
        session
    }

    /// Its agent was just started.
    fn starting() -> Session {
        let world = World::new();
        let path = world.file("a.txt", TEXT);
        let agent = StandIn::new(&world);
        let serve = world.serve();
        let mut client = ChatClient::connect(&world);
        let chat = client.start(&world, StandIn::ID);
        Session { client, agent, chat, path, _serve: serve, world }
    }

    /// The agent is asked for something and wants to make this of `a.txt`; returns the prompt and the review.
    fn wants(&mut self, new: &str) -> (serde_json::Value, String) {
        self.client.prompt(&self.chat, "please change it");
        let (prompt, _) = self.agent.prompted();
        self.agent.wants(7, &self.path, TEXT, new);
        (prompt, self.client.review(&self.chat))
    }

    fn is(&mut self, state: &str) -> serde_json::Value {
        self.client.is(&self.chat.clone(), state)
    }

    /// The words that the conversation shows besides those of the user and the agent.
    fn notices(&mut self) -> String {
        self.client.texts(&self.chat.clone(), "notice").join("\n")
    }

    fn failed(&mut self, tool: u64) {
        let id = format!("e{tool}");
        self.agent
            .update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "failed" }));
    }
}

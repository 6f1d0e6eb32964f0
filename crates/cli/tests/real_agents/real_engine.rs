//! Chat with an engine at a URL: `linkspan-agent serve`, started by the test, with a model that follows a script. What the
//! conversation shows, the bytes on disk, and what the model received.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::json;

use crate::support::hosted_agents::{self, HostedProgram};
use crate::support::{ChatClient, Model, Serve, Turn, World, eventually, hosted};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
const TOKEN: &str = "a-token-of-the-test";

struct Session {
    client: ChatClient,
    chat: String,
    model: Model,
    engine: Child,
    serve: Serve,
    world: World,
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.engine.kill();
        let _ = self.engine.wait();
    }
}

impl Session {
    fn with(script: impl FnOnce(&str) -> Vec<Turn>) -> Session {
        let world = World::new();
        let path = world.file("a.txt", TEXT);
        let model = Model::start(script(&path));
        let HostedProgram { program, variables, .. } = hosted_agents::set_up(&world, "linkspan", &model);
        let token = world.root().join("token");
        std::fs::write(&token, TOKEN).unwrap();
        std::fs::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let serve = world.serve_with(&[&world.workspace()], &[("ENGINE_TOKEN", TOKEN)]);
        let mut command = world.program(program);
        command.args(["serve", "--port", "0", "--token-file"]).arg(token).envs(variables);
        let mut engine = command.current_dir(world.home()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(engine.stderr.take().unwrap()).lines();
        let url = loop {
            let line = lines.next().expect("the engine ended").unwrap();
            if let Some(url) = line.strip_prefix("Serving on ") {
                break url.to_owned();
            }
        };
        // Nobody else reads what it says.
        std::thread::spawn(move || lines.for_each(drop));
        hosted::add_engine(&world, "my-engine", &url, "ENGINE_TOKEN");
        let mut client = ChatClient::connect(&world);
        let chat = client.start(&world, "my-engine");
        client.is(&chat, "idle");
        Session { client, chat, model, engine, serve, world }
    }

    fn is_idle(&mut self) {
        self.client.is(&self.chat.clone(), "idle");
    }

    fn texts(&mut self, kind: &str) -> String {
        self.client.texts(&self.chat.clone(), kind).join("\n")
    }
}

#[test]
fn a_message_is_answered_and_a_change_is_reviewed_in_the_folder_of_the_conversation() {
    let proposed = TEXT.replace("two", "2");
    let mut session = Session::with(|path| {
        let edits = hosted_agents::edits("linkspan", path, TEXT, &TEXT.replace("two", "2"));
        edits.into_iter().chain([Turn::says("It is done.")]).collect()
    });
    session.client.prompt(&session.chat, "please change it");
    let review = session.world.one_pending();
    session.world.run(&["accept", &review]).ok();
    session.is_idle();
    assert_eq!(session.world.read_text("a.txt"), proposed);
    assert_eq!(session.texts("agent"), "It is done.");
    let items = session.client.open(&session.chat)["items"].clone();
    let tools: Vec<_> = items.as_array().unwrap().iter().filter(|item| item["kind"] == "tool").collect();
    let states: Vec<_> = tools.iter().map(|tool| tool["state"].as_str().unwrap()).collect();
    assert!(states.iter().all(|state| *state == "done") && states.len() >= 2, "{items:#}");
    assert!(session.model.conversation().first().unwrap().to_string().contains("please change it"));
}

#[test]
fn cancelling_closes_the_stream_and_the_next_message_is_answered() {
    let mut session = Session::with(|path| {
        let edits = hosted_agents::edits("linkspan", path, TEXT, &TEXT.replace("two", "2"));
        edits.into_iter().chain([Turn::says("What now?")]).collect()
    });
    session.client.prompt(&session.chat, "please change it");
    session.world.one_pending();
    session.client.ask("chat/cancel", json!({ "chat": session.chat }));
    session.is_idle();
    eventually("the engine withdraws its change", || session.world.reviews().is_empty().then_some(()));
    assert!(session.texts("notice").contains("cancelled"));
    assert_eq!(session.world.read_text("a.txt"), TEXT);
    // Its turn may still be ending.
    eventually("the next message is answered", || {
        session.client.prompt(&session.chat, "and now");
        session.is_idle();
        session.texts("agent").contains("What now?").then_some(())
    });
}

#[test]
fn an_engine_that_is_gone_is_named_and_the_conversation_stays() {
    let mut session = Session::with(|_| vec![Turn::says("Hello.")]);
    session.engine.kill().unwrap();
    session.engine.wait().unwrap();
    session.client.prompt(&session.chat, "are you there");
    session.is_idle();
    let notices = session.texts("notice");
    assert!(notices.contains("no engine answers at http://127.0.0.1:"), "{notices}");
    assert!(session.serve.pid() > 0);
}

#[test]
fn a_wrong_token_is_said_before_the_first_message() {
    let mut session = Session::with(|_| vec![]);
    let url = session.world.root().join("c/linkspan/agents.toml");
    let file = std::fs::read_to_string(&url).unwrap().replace("ENGINE_TOKEN", "HOME");
    std::fs::write(&url, file).unwrap();
    let folder = session.world.workspace();
    let answer = session.client.ask("chat/start", json!({ "agent": "my-engine", "folder": folder }));
    let chat = answer["result"]["chat"].as_str().unwrap().to_owned();
    let stopped = session.client.is(&chat, "stopped");
    assert!(stopped.to_string().contains("the token is wrong"), "{stopped}");
}

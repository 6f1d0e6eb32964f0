//! `linkspan acp` between acpx, a client of the Agent Client Protocol that was not written here, and real agents: the
//! bytes on disk after each decision, what the model received, and what the client saw. The client allows everything that
//! it is asked.

use std::fs;
use std::process::{Child, Command};

use serde_json::{Value, json};

use crate::support::hosted_agents::{self, HostedProgram};
use crate::support::{
    ChatClient, Model, Serve, Turn, World, agent_programs, eventually, eventually_within, model, paths,
};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

const ACPX: &str = "acpx-0.19.1";

/// The same tests for each agent. Gemini CLI writes through its client, our own agent and Claude Code by themselves.
macro_rules! agents {
    ($($agent:ident),*) => { $(mod $agent {
        const ID: &str = stringify!($agent);

        #[test]
        fn an_accepted_change_is_written_by_the_agent_or_its_client() {
            super::accepted(ID);
        }

        #[test]
        fn one_hunk_is_written_and_the_model_is_told_in_the_same_turn() {
            super::one_hunk(ID);
        }

        #[test]
        fn a_rejected_change_is_not_written_and_the_model_hears_the_reason() {
            super::rejected(ID);
        }
    })* };
}

agents!(gemini, linkspan, claude);

struct Session {
    acpx: Child,
    model: Model,
    review: String,
    _serve: Serve,
    world: World,
}

impl Session {
    /// The agent is asked to make this of `a.txt`, and its change is pending.
    fn with(agent: &str, proposed: &str) -> Session {
        let world = World::new();
        let path = world.file("a.txt", TEXT);
        let serve = world.serve();
        let script = hosted_agents::edits(agent, &path, TEXT, proposed);
        let model = Model::start(script.into_iter().chain([Turn::says("Done.")]));
        let HostedProgram { program, args, variables } = hosted_agents::set_up(&world, agent, &model);
        let linkspan = paths::linkspan();
        let program = [linkspan.to_str().unwrap(), "acp", "--", program.to_str().unwrap()];
        let line: Vec<String> = program.iter().chain(&args).map(|word| format!("'{word}'")).collect();
        let mut acpx: Command = agent_programs::command(&world, ACPX);
        acpx.args(["--agent", &line.join(" "), "--approve-all", "--format", "json", "--cwd"])
            .arg(world.workspace())
            .args(["exec", "please change it"])
            .envs(variables)
            .stdout(fs::File::create(world.root().join("frames")).unwrap());
        let acpx = acpx.spawn().unwrap();
        let mut session = Session { acpx, model, review: String::new(), _serve: serve, world };
        // The client and the agent start one after the other.
        session.review = eventually_within(2 * model::PATIENCE, "a review", || {
            let reviews = session.world.reviews();
            assert!(reviews.len() < 2, "the user is asked once: {reviews:?}");
            Some(reviews.first()?["review"].as_str()?.to_owned())
        });
        session
    }

    fn decide(&self, verdict: Value) {
        let comments = match verdict["kind"] == "accept" {
            true => json!([]),
            false => json!([{ "line": 2, "text": "a word would do" }]),
        };
        let decision = json!({ "verdict": verdict, "comments": comments });
        let decide = json!({ "review": self.review, "decision": decision });
        let answer = ChatClient::connect(&self.world).ask("reviews/decide", decide);
        assert_eq!(answer["result"]["kind"], "taken", "{answer}");
    }

    #[track_caller]
    fn model_hears(&self, words: &str) {
        eventually(&format!("the model hears {words:?}"), || {
            self.model.conversation().last()?.to_string().contains(words).then_some(())
        });
    }

    /// Waits for the end of the client; returns the frames that it saw.
    fn frames(&mut self) -> Vec<Value> {
        self.acpx.wait().unwrap();
        let text = fs::read_to_string(self.world.root().join("frames")).unwrap();
        let frames: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        assert!(!frames.is_empty(), "{text}");
        let asked = |frame: &&Value| frame["method"] == "session/request_permission";
        assert_eq!(frames.iter().find(asked), None, "the client is not asked");
        frames
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.acpx.kill();
        let _ = self.acpx.wait();
        if std::thread::panicking() {
            let frames = fs::read_to_string(self.world.root().join("frames"));
            eprintln!("--- what acpx saw\n{}\n---", frames.unwrap_or_default());
        }
    }
}

/// How often the client saw a prompt end.
fn ends(frames: &[Value]) -> usize {
    frames.iter().filter(|frame| frame["result"]["stopReason"].is_string()).count()
}

fn accepted(agent: &str) {
    let proposed = TEXT.replace("two", "2");
    let mut session = Session::with(agent, &proposed);
    session.decide(json!({ "kind": "accept" }));
    let frames = session.frames();
    assert_eq!(session.world.read_text("a.txt"), proposed);
    assert_eq!(ends(&frames), 1, "{frames:#?}");
}

fn one_hunk(agent: &str) {
    let mut session = Session::with(agent, &TEXT.replace("two", "2").replace("eight", "8"));
    let got = ChatClient::connect(&session.world).ask("reviews/get", json!({ "review": session.review }));
    let got = &got["result"];
    let hunks = if got["hunks"].is_array() { &got["hunks"] } else { &got["shown"]["hunks"] };
    session.decide(json!({ "kind": "acceptHunks", "hunks": [hunks[0]["id"]] }));
    session.model_hears("1 of 2 hunks accepted and written");
    session.model_hears("a word would do");
    let frames = session.frames();
    assert_eq!(session.world.read_text("a.txt"), TEXT.replace("two", "2"));
    assert_eq!(ends(&frames), 1, "{frames:#?}");
}

fn rejected(agent: &str) {
    let mut session = Session::with(agent, &TEXT.replace("two", "2"));
    session.decide(json!({ "kind": "reject", "reason": "keep the words" }));
    session.model_hears("keep the words");
    let frames = session.frames();
    assert_eq!(session.world.read_text("a.txt"), TEXT);
    assert_eq!(ends(&frames), 1, "{frames:#?}");
}

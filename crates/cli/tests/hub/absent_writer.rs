//! The agent should write the accepted text: it is gone before the decision, or it receives it and does nothing. With
//! the real binary: the output of commands, and the content of files.

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::thread;
    use std::time::{Duration, Instant};

    use linkspan_editor_api as api;
    use serde_json::{Value, json};

    use crate::support::*;

    const OLD: &str = "one\r\ntwo\r\n";
    const NEW: &str = "one\r\n2\r\n";

    /// A pending change of `a.txt`.
    fn proposed(world: &World, port: u16) -> (Agent, i64, String) {
        let path = world.file("a.txt", OLD);
        let mut agent = Agent::claude(world, port);
        let call = agent.propose(&path, NEW, "tab");
        let review = world.one_pending();
        (agent, call, review)
    }

    /// Proposes a change and waits for the answer until it is killed.
    fn be_the_agent(home: &Path) {
        let variable = |name: &str| std::env::var(name).unwrap();
        let port: u16 = variable("ABSENT_WRITER_PORT").parse().unwrap();
        let lock = std::fs::read(home.join(format!(".claude/ide/{port}.lock"))).unwrap();
        let lock: Value = serde_json::from_slice(&lock).unwrap();
        let token = lock["authToken"].as_str().unwrap();
        let headers = [(WsDialect::Claude.header(), token), ("Sec-WebSocket-Protocol", "mcp")];
        let mut agent = Agent::open(port, &headers).unwrap();
        agent.introduce(agent::CLAUDE);
        agent.propose(&variable("ABSENT_WRITER_FILE"), NEW, "tab");
        thread::sleep(Duration::from_secs(60));
    }

    /// The hub lists the one review as one without a waiting agent. Asked on one connection, because commands take a
    /// while to start on a busy machine.
    #[track_caller]
    fn is_gone_within_a_second(world: &World) {
        let lost = Instant::now();
        let mut socket = HubSocket::connect(world);
        socket.request("hub/hello", json!({ "version": "1", "protocol": api::PROTOCOL, "role": "tester" }));
        eventually("it is said", || {
            let listed = socket.request("reviews/list", json!({ "all": false }));
            (listed["result"]["reviews"][0]["ownerGone"] == true).then_some(())
        });
        assert!(lost.elapsed() < Duration::from_secs(1), "{:?}", lost.elapsed());
        assert_eq!(world.reviews()[0]["ownerGone"], true);
    }

    /// The newest entry of the history.
    fn newest(world: &World) -> Value {
        world.json(&["history"])["entries"][0].clone()
    }

    #[test]
    fn what_a_lost_agent_does_not_wait_for_is_refused_and_written_if_you_say_so() {
        let world = World::new();
        let serve = world.serve();
        let (agent, _, review) = proposed(&world, serve.port);
        assert_eq!(world.reviews()[0]["ownerGone"], false);
        agent.drop_socket();
        is_gone_within_a_second(&world);
        assert!(world.run(&["reviews"]).ok().stdout.contains("agent gone"));
        let shown = world.run(&["show", &review]).ok().stdout;
        assert!(shown.contains(&format!("linkspan accept {review} --write")), "{shown}");
        eventually("serve says it", || serve.output().contains("agent gone").then_some(()));

        let refused = world.run(&["accept", &review]);
        assert_eq!((refused.code, refused.stdout.as_str()), (5, ""), "{refused:?}");
        assert!(refused.stderr.contains("claude-code no longer waits for the answer"), "{refused:?}");
        assert!(refused.stderr.contains(&format!("linkspan accept {review} --write")), "{refused:?}");
        assert_eq!(world.read("a.txt"), OLD.as_bytes());
        assert_eq!(world.one_pending(), review, "it waits on");
        assert_eq!(world.json(&["history"])["entries"].as_array().map(Vec::len), Some(0));

        let accepted = world.run(&["accept", &review, "--write"]).ok();
        assert!(accepted.stdout.starts_with(&format!("accepted {review} ")), "{accepted:?}");
        assert_eq!(world.read("a.txt"), NEW.as_bytes());
        let entry = newest(&world);
        assert_eq!((&entry["review"], &entry["onDisk"]), (&Value::from(review), &Value::from(true)));
        world.run(&["undo", "--last"]).ok();
        assert_eq!(world.read("a.txt"), OLD.as_bytes());
    }

    #[test]
    fn an_agent_that_asks_again_waits_again() {
        let world = World::new();
        let serve = world.serve();
        let (agent, _, review) = proposed(&world, serve.port);
        agent.drop_socket();
        eventually("it is said", || (world.reviews()[0]["ownerGone"] == true).then_some(()));
        let mut agent = Agent::claude(&world, serve.port);
        let call = agent.propose(&world.path_str("a.txt"), NEW, "tab");
        eventually("it waits again", || (world.reviews()[0]["ownerGone"] == false).then_some(()));
        assert_eq!(world.one_pending(), review);
        eventually("serve says it", || serve.output().contains("waits for the decision again").then_some(()));
        // `--write` changes nothing for an agent that waits.
        world.run(&["accept", &review, "--write"]).ok();
        assert_eq!(agent.texts(call), ["FILE_SAVED", NEW]);
        assert_eq!(world.read("a.txt"), OLD.as_bytes(), "one writer: the agent");
    }

    #[test]
    fn an_agent_that_does_not_write_what_it_was_told_to_is_not_said_to_have() {
        let world = World::new();
        let serve = world.serve();
        let (mut agent, call, review) = proposed(&world, serve.port);
        let accepted = world.run(&["accept", &review]).ok();
        assert!(
            accepted.stdout.contains("not on disk yet: claude-code was told to write it"),
            "{accepted:?}"
        );
        assert_eq!(agent.texts(call), ["FILE_SAVED", NEW]);
        assert_eq!(newest(&world)["onDisk"], false);
        assert!(world.run(&["history"]).ok().stdout.contains("accepted, not on disk"));
        world.file("a.txt", NEW);
        assert_eq!(newest(&world)["onDisk"], true, "it is looked for before anything is said");
        assert!(!world.run(&["history"]).ok().stdout.contains("not on disk"));
        drop(serve);
    }

    #[test]
    fn an_agent_that_writes_is_said_to_have_written() {
        let world = World::new();
        let serve = world.serve();
        let (mut agent, call, review) = proposed(&world, serve.port);
        let path = world.path("a.txt");
        let writes = thread::spawn(move || {
            let told = agent.texts(call);
            std::fs::write(path, &told[1]).unwrap();
            agent
        });
        let accepted = world.run(&["accept", &review]).ok();
        assert!(accepted.stdout.contains("; claude-code wrote it"), "{accepted:?}");
        assert_eq!(world.read("a.txt"), NEW.as_bytes());
        assert_eq!(newest(&world)["onDisk"], true);
        drop((writes.join().unwrap(), serve));
    }

    /// This editor answers `review/waiting` with an error, as editors do that are older than this request.
    #[test]
    fn an_editor_that_does_not_know_of_it_stays_and_reads_why_it_is_refused() {
        let world = World::new();
        let path = world.file("a.txt", OLD);
        let mut editor = Editor::attach(&world);
        editor.open(&path, OLD, false);
        let mut agent = Agent::claude(&world, editor.port());
        agent.propose(&path, NEW, "tab");
        let shown = editor.shown(&path);
        assert_eq!((shown.agent_writes, shown.owner_gone), (true, false));
        agent.drop_socket();
        eventually("it is said", || (world.reviews()[0]["ownerGone"] == true).then_some(()));
        let refused = editor.decide(&shown, api::Verdict::Accept);
        let api::ReviewDecidedResult::Refused { message, can_write_here: true } = refused else {
            panic!("{refused:?}")
        };
        assert!(message.contains("claude-code no longer waits for the answer"), "{message}");
        assert_eq!(world.status()["windows"][0]["attached"], true);
        assert_eq!((world.one_pending(), world.read("a.txt")), (shown.review.clone(), OLD.into()));
        // A newer one repeats the decision: the document is changed by its editor, and saved.
        let (verdict, comments) = (api::Verdict::Accept, Vec::new());
        let decision = api::Decision { verdict, comments, write_here: true };
        let decided =
            api::ReviewDecided { review: shown.review, revision: shown.revision, digest: None, decision };
        assert_eq!(editor.request(&decided).unwrap(), api::ReviewDecidedResult::Taken);
        assert_eq!(editor.document(&path).text, NEW);
        assert_eq!(world.read("a.txt"), NEW.as_bytes());
    }

    /// The agent's process is killed, and sends no goodbye. The agent is this test in another process.
    #[test]
    fn a_killed_agent_is_gone_within_a_second() {
        if let Some(home) = std::env::var_os("ABSENT_WRITER_HOME") {
            return be_the_agent(Path::new(&home));
        }
        let world = World::new();
        let path = world.file("a.txt", OLD);
        let serve = world.serve();
        let program = std::env::current_exe().unwrap();
        let (_, module) = module_path!().split_once("::").unwrap();
        let mut agent = Command::new(program)
            .args([&format!("{module}::a_killed_agent_is_gone_within_a_second"), "--exact"])
            .env("ABSENT_WRITER_HOME", world.home())
            .env("ABSENT_WRITER_PORT", serve.port.to_string())
            .env("ABSENT_WRITER_FILE", &path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let review = world.one_pending();
        assert_eq!(world.reviews()[0]["ownerGone"], false);
        agent.kill().unwrap();
        agent.wait().unwrap();
        is_gone_within_a_second(&world);
        assert_eq!(world.run(&["accept", &review]).code, 5);
        assert_eq!(world.read("a.txt"), OLD.as_bytes());
        world.run(&["accept", &review, "--write"]).ok();
        assert_eq!(world.read("a.txt"), NEW.as_bytes());
    }
}

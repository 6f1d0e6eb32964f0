//! The program with the real hub and an editor. Needs the program `linkspan`, which `cargo build` makes.

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;
    use std::time::Duration;

    use linkspan_editor_api as api;
    use linkspan_testkit::{Editor, World, paths};

    const SOON: Duration = Duration::from_secs(30);

    struct Agent {
        child: Child,
        lines: Receiver<String>,
    }

    impl Agent {
        fn start(world: &World, script: &str, arguments: &[&str]) -> Agent {
            assert!(
                paths::linkspan().exists(),
                "the program `linkspan` is missing: build it with `cargo build`"
            );
            let path = world.root().join("script.toml");
            std::fs::write(&path, script).unwrap();
            let mut command: Command = world.program(env!("CARGO_BIN_EXE_linkspan-agent"));
            command
                .args(["--json", "--model", &format!("script:{}", path.display())])
                .args(arguments)
                .current_dir(world.workspace())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::inherit());
            let mut child = command.spawn().unwrap();
            let stdout = BufReader::new(child.stdout.take().unwrap());
            let (say, lines) = channel();
            thread::spawn(move || {
                for line in stdout.lines().map_while(Result::ok) {
                    let _ = say.send(line);
                }
            });
            Agent { child, lines }
        }

        /// Waits for a line with this in it.
        #[track_caller]
        fn until(&self, wanted: &str) -> String {
            let mut seen = Vec::new();
            loop {
                match self.lines.recv_timeout(SOON) {
                    Ok(line) if line.contains(wanted) => return line,
                    Ok(line) => seen.push(line),
                    Err(_) => panic!("there was no {wanted} in {seen:#?}"),
                }
            }
        }

        fn exit_code(mut self) -> Option<i32> {
            self.child.wait().unwrap().code()
        }
    }

    impl Drop for Agent {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    const EDIT: &str = r#"
[[turn]]
text = "I change it."
calls = [{ tool = "edit_file", arguments = { path = "a.txt", old_string = "two", new_string = "TWO" } }]
[[turn]]
text = "It is done."
[[turn]]
text = "Anything else?"
"#;

    #[test]
    fn a_change_is_decided_in_the_editor_and_the_turn_goes_on() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\ntwo\n");
        let agent = Agent::start(&world, EDIT, &["-p", "go"]);
        let shown = editor.shown(&path);
        agent.until("\"review\"");
        editor.accept(&shown);
        agent.until("It is done.");
        assert_eq!(agent.exit_code(), Some(0));
        assert_eq!(world.read_text("a.txt"), "one\nTWO\n");
    }

    #[test]
    fn a_killed_agent_finds_its_pending_review_again_and_gets_one_answer() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\ntwo\n");
        let mut agent = Agent::start(&world, EDIT, &["-p", "go"]);
        let shown = editor.shown(&path);
        agent.child.kill().unwrap();
        drop(agent);

        let agent = Agent::start(&world, EDIT, &["--continue", "-p", "next"]);
        agent.until("\"review\"");
        thread::sleep(Duration::from_millis(300));
        assert_eq!(world.one_pending(), shown.review.to_string(), "it is another review");
        let decided = editor.decide(&shown, api::Verdict::Accept);
        drop(decided);
        agent.until("It is done.");
        assert_eq!(agent.exit_code(), Some(0));
        assert_eq!(world.read_text("a.txt"), "one\nTWO\n");
        world.pending(0);
    }

    #[test]
    fn a_decision_that_was_made_while_the_agent_was_dead_reaches_the_model() {
        for accepts in [true, false] {
            let world = World::new();
            let mut editor = Editor::attach(&world);
            let path = world.file("a.txt", "one\ntwo\n");
            let mut agent = Agent::start(&world, EDIT, &["-p", "go"]);
            let shown = editor.shown(&path);
            // The record is written at the same time.
            agent.until("\"review\"");
            agent.child.kill().unwrap();
            drop(agent);
            let reject = api::Verdict::Reject { reason: Some("no capitals".into()) };
            editor.decide(&shown, if accepts { api::Verdict::Accept } else { reject });

            let agent = Agent::start(&world, EDIT, &["--continue", "-p", "next"]);
            let result = agent.until("\"tool_result\"");
            let expected = if accepts { "already holds this text" } else { "no capitals" };
            assert!(result.contains("was restarted") && result.contains(expected), "{result}");
            agent.until("It is done.");
            assert_eq!(world.read_text("a.txt"), if accepts { "one\nTWO\n" } else { "one\ntwo\n" });
            world.pending(0);
        }
    }

    #[test]
    fn a_cancelled_turn_withdraws_its_review() {
        let world = World::new();
        let editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\ntwo\n");
        let agent = Agent::start(&world, EDIT, &["-p", "go"]);
        let shown = editor.shown(&path);
        let pid = rustix::process::Pid::from_child(&agent.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert_eq!(editor.hidden(&shown.review), api::HideReason::Withdrawn);
        assert_eq!(agent.exit_code(), Some(130));
        world.pending(0);
        assert_eq!(world.read_text("a.txt"), "one\ntwo\n");
    }
}

//! Commands about the hub and its reviews: effects, exit codes and streams. Their texts are in `transcripts.rs`.

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::process::Stdio;
    use std::time::Duration;

    use serde_json::{Value, json};

    use crate::support::*;

    const COMMANDS: [&[&str]; 8] = [
        &["serve", "/"],
        &["status"],
        &["reviews"],
        &["show", "r99"],
        &["accept", "r99"],
        &["reject", "r99"],
        &["hub", "start"],
        &["hub", "log"],
    ];

    /// A window, an agent, and one pending change.
    struct ReviewFixture {
        agent: Agent,
        call: i64,
        review: String,
        serve: Serve,
        world: World,
    }

    fn fixture() -> ReviewFixture {
        let world = World::new();
        let path = world.file("src/main.rs", "one\ntwo\nthree\n");
        let serve = world.serve();
        let mut agent = Agent::claude(&world, serve.port);
        let call = agent.propose(&path, "one\n2\nthree\nfour\n", "tab");
        let review = world.one_pending();
        ReviewFixture { agent, call, review, serve, world }
    }

    #[test]
    fn the_hub_starts_once_and_stops() {
        let world = World::new();
        let first = world.json(&["hub", "start"]);
        assert_eq!((&first["running"], &first["started"]), (&json!(true), &json!(true)), "{first}");
        let second = world.json(&["hub", "start"]);
        assert_eq!((&second["started"], &second["pid"]), (&json!(false), &first["pid"]), "{second}");
        let text = world.run(&["hub", "start"]).ok().stdout;
        assert!(text.contains("is running") && text.contains(&first["pid"].to_string()), "{text}");
        let pid = world.hub_pid().unwrap();
        assert_eq!(json!(pid), first["pid"]);
        let stopped = world.json(&["hub", "stop"]);
        assert_eq!(stopped, json!({ "stopped": true, "pending": 0 }));
        eventually("the process has ended", || (!world::alive(pid)).then_some(()));
        assert_eq!(world.status(), json!({ "running": false }));
    }

    #[test]
    fn ten_starters_make_one_hub() {
        let world = World::new();
        let start = || world.command(&["hub", "start", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
        let starters: Vec<_> = (0..10).map(|_| start()).collect();
        let said: Vec<Value> = starters.into_iter().map(|child| world::finish(child).ok().json()).collect();
        let pids: BTreeSet<String> = said.iter().map(|said| said["pid"].to_string()).collect();
        assert_eq!(pids, BTreeSet::from([world.hub_pid().unwrap().to_string()]), "{said:?}");
        let socket = world.root();
        assert_eq!(hubs_of(&socket), 1, "processes");
    }

    /// Hub processes whose environment names this world.
    fn hubs_of(root: &std::path::Path) -> usize {
        let home = format!("HOME={}/h", root.display());
        let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        processes
            .filter(|process| {
                let read = |name: &str| std::fs::read(process.join(name)).unwrap_or_default();
                let command = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
                let environment = String::from_utf8_lossy(&read("environ")).into_owned();
                command.trim_end().ends_with("hub run") && environment.split('\0').any(|one| one == home)
            })
            .count()
    }

    #[test]
    fn a_hub_with_nothing_to_do_leaves() {
        let world = World::with_config("idle_exit_seconds = 1\n");
        let pid = world.json(&["hub", "start"])["pid"].as_u64().unwrap();
        let pid = u32::try_from(pid).unwrap();
        eventually("it has left", || (!world::alive(pid)).then_some(()));
        assert!(!world.socket().exists());
        assert_eq!(world.status(), json!({ "running": false }));
    }

    #[test]
    fn a_hub_with_a_window_stays_and_leaves_after_it() {
        let world = World::with_config("idle_exit_seconds = 1\n");
        let serve = world.serve();
        let pid = world.hub_pid().unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        assert!(world::alive(pid), "a window is there");
        drop(serve);
        eventually("it has left", || (!world::alive(pid)).then_some(()));
    }

    #[test]
    fn stopping_asks_before_it_interrupts_a_review() {
        let fixture = fixture();
        let world = &fixture.world;
        let refused = world.run(&["hub", "stop", "--json"]);
        assert_eq!(refused.code, 1, "{refused:?}");
        let said = refused.json();
        assert_eq!((&said["stopped"], &said["pending"]), (&json!(false), &json!(1)), "{said}");
        assert_eq!(said["error"]["code"], "no");
        let before = world.hub_pid();
        let stopped = world.json(&["hub", "stop", "--force"]);
        assert_eq!(stopped, json!({ "stopped": true, "pending": 1 }));
        // The window starts it again, and the review is still there.
        let review = world.one_pending();
        assert_eq!(review, fixture.review);
        assert_ne!(world.hub_pid(), before);
    }

    #[test]
    fn a_hub_that_cannot_be_is_reported_by_every_command_that_needs_one() {
        let world = World::new();
        // A file where the directory should be.
        std::fs::write(world.root().join("r/linkspan"), "").unwrap();
        for args in COMMANDS.iter().filter(|args| **args != ["hub", "log"]) {
            let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
            let ran = world.run(&args);
            assert_eq!(ran.code, 3, "{args:?}: {ran:?}");
            assert_eq!(ran.json()["error"]["code"], "no-hub", "{args:?}");
        }
        std::fs::remove_file(world.root().join("r/linkspan")).unwrap();
    }

    #[test]
    fn the_version_is_printed() {
        let version = World::new().run(&["--version"]).ok().stdout;
        assert_eq!(version.trim(), format!("linkspan {}", env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn a_review_has_three_names() {
        let fixture = fixture();
        let show = |name: &str| fixture.world.run(&["show", name]).ok().stdout;
        let text = show(&fixture.review);
        assert_eq!(show(fixture.review.trim_start_matches('r')), text);
        assert_eq!(show("latest"), text);
    }

    #[test]
    fn colour_is_for_those_who_want_it() {
        let fixture = fixture();
        let show = |variables: &[(&str, &str)]| {
            let mut command = fixture.world.command(&["show", "latest"]);
            command.envs(variables.iter().copied());
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        };
        assert!(show(&[("CLICOLOR_FORCE", "1")]).contains('\u{1b}'));
        assert!(!show(&[("NO_COLOR", "1")]).contains('\u{1b}'));
        assert!(!show(&[]).contains('\u{1b}'));
    }

    #[test]
    fn what_an_agent_sends_cannot_move_the_cursor() {
        let world = World::new();
        let path = world.file("a.txt", "one\n");
        let serve = world.serve();
        let mut agent = Agent::claude(&world, serve.port);
        agent.propose(&path, "\u{1b}[2Jtwo\u{202e}\u{200b}\n", "\u{1b}]0;tab\u{7}");
        let review = world.one_pending();
        for args in [&["show", &review][..], &["reviews"], &["status"]] {
            let text = world.run(args).ok().stdout;
            let bad = ['\u{1b}', '\u{7}', '\u{202e}', '\u{200b}'];
            assert!(!text.contains(bad), "{args:?}: {text:?}");
        }
        eventually("serve tells of it", || serve.output().contains(&review).then_some(()));
        assert!(!serve.output().contains('\u{1b}'));
    }

    #[test]
    fn accept_and_reject_say_what_they_did() {
        let mut fixture = fixture();
        let said = fixture.world.json(&["accept", &fixture.review, "--hunk", "2"]);
        assert_eq!((&said["review"], &said["result"]["kind"]), (&json!(fixture.review), &json!("taken")));
        assert_eq!(fixture.agent.texts(fixture.call), ["FILE_SAVED", "one\ntwo\nthree\nfour\n"]);
        let path = fixture.world.path_str("src/main.rs");
        fixture.agent.propose(&path, "x\n", "tab");
        let review = fixture.world.one_pending();
        let said = fixture.world.run(&["reject", &review]).ok().stdout;
        assert!(said.contains("rejected") && said.contains(&review), "{said}");
    }

    #[test]
    fn a_hunk_can_be_named_by_its_id() {
        let mut fixture = fixture();
        let shown = fixture.world.json(&["show", &fixture.review]);
        let id = shown["shown"]["hunks"][0]["id"].as_str().unwrap();
        fixture.world.run(&["accept", &fixture.review, "--hunk", id]).ok();
        assert_eq!(fixture.agent.texts(fixture.call), ["FILE_SAVED", "one\n2\nthree\n"]);
    }

    #[test]
    fn a_settled_review_is_over() {
        let mut fixture = fixture();
        fixture.world.run(&["accept", &fixture.review]).ok();
        fixture.agent.answer(fixture.call);
        let late = fixture.world.run(&["reject", &fixture.review, "--json"]);
        assert!([1, 4].contains(&late.code), "{late:?}");
    }

    #[test]
    fn an_edited_text_may_come_from_standard_input() {
        use std::io::Write;
        let mut fixture = fixture();
        let mut command = fixture.world.command(&["accept", &fixture.review, "--with", "-"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"mine\n").unwrap();
        world::finish(child).ok();
        assert_eq!(fixture.agent.texts(fixture.call), ["FILE_SAVED", "mine\n"]);
    }

    #[test]
    fn a_reader_who_has_heard_enough_is_no_error() {
        let fixture = fixture();
        let mut child = fixture
            .world
            .command(&["show", "latest"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ran = world::finish(child);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    }

    #[test]
    fn status_shows_only_what_answers() {
        let world = World::new();
        let editor = Editor::attach(&world);
        let agent = Agent::claude(&world, editor.port());
        let look = || {
            let window = world.status()["windows"][0].clone();
            (window["attached"].as_bool().unwrap(), window["agents"].as_array().unwrap().len())
        };
        assert_eq!(look(), (true, 1));
        agent.freeze();
        assert_eq!(look(), (true, 0));
        editor.freeze();
        assert_eq!(look(), (false, 0));
        agent.thaw();
        editor.thaw();
        eventually("both answer again", || (look() == (true, 1)).then_some(()));
    }

    #[test]
    fn a_window_that_comes_back_says_where_it_is_before_what_waits() {
        let ReviewFixture { serve, world, review, agent, .. } = fixture();
        let port = serve.port;
        serve.kill();
        let serve = world.serve();
        assert_eq!(serve.port, port);
        let said = eventually("the review is told of", || {
            Some(serve.output()).filter(|said| said.contains(&review))
        });
        assert!(said.starts_with("window "), "{said}");
        agent.goodbye();
        eventually("nothing waits", || world.reviews().is_empty().then_some(()));
    }

    #[test]
    fn serve_speaks_json_when_asked() {
        use std::io::{BufRead, BufReader};
        let world = World::new();
        let mut child = world.command(&["serve", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(first["folders"], json!([world.workspace()]), "{first}");
        assert!(first["port"].is_u64(), "{first}");
        world::signal(child.id(), rustix::process::Signal::TERM);
        assert_eq!(world::finish(child).code, 0);
        for line in lines.map(Result::unwrap) {
            serde_json::from_str::<Value>(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        }
    }

    #[test]
    fn the_log_can_be_followed() {
        use std::io::{BufRead, BufReader};
        let world = World::new();
        world.run(&["hub", "start"]).ok();
        let mut command = world.command(&["hub", "log", "--follow", "-n", "1"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, received) = std::sync::mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let next = || received.recv_timeout(DEADLINE);
        // The last line so far: new lines follow from here on.
        let last = next();
        world.run(&["hub", "stop"]).ok();
        let mut followed = std::iter::from_fn(|| next().ok());
        let found = followed.any(|line| line.contains("hub stopped"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(last.is_ok_and(|last| !last.contains("hub stopped")) && found);
    }

    #[test]
    fn a_settled_review_whose_agent_has_not_heard_is_among_all() {
        let fixture = fixture();
        fixture.agent.freeze();
        fixture.world.run(&["accept", &fixture.review]).ok();
        assert!(fixture.world.reviews().is_empty());
        let all = fixture.world.json(&["reviews", "--all"]);
        assert_eq!(all["reviews"][0]["phase"], "accepted", "{all}");
        let shown = fixture.world.json(&["show", &fixture.review]);
        assert_eq!(shown["outcome"]["ended"]["kind"], "accepted", "{shown}");
        assert_eq!(shown["outcome"]["delivered"], false, "{shown}");
        let late = fixture.world.run(&["reject", &fixture.review]);
        assert_eq!(late.code, 1, "{late:?}");
        assert!(late.stderr.contains("already decided"), "{late:?}");
    }

    #[test]
    fn serve_leaves_cleanly_when_interrupted() {
        let world = World::new();
        let serve = world.serve();
        assert_eq!(serve.interrupt(), 0);
        eventually("no window is left", || {
            world.status()["windows"].as_array().unwrap().is_empty().then_some(())
        });
        assert!(world.discovery_files().is_empty());
    }

    #[test]
    fn a_goodbye_counts_though_its_sender_heard_nothing_of_what_it_was_told() {
        let world = World::new();
        world.run(&["hub", "start"]).ok();
        let attach = json!({ "jsonrpc": "2.0", "id": 1, "method": "attach", "params": {
            "protocol": 1, "version": "0", "editor": { "name": "Brief", "version": "0" },
            "pid": std::process::id(), "folders": [world.workspace()], "capabilities": {},
        } });
        let ask = json!({ "jsonrpc": "2.0", "id": 2, "method": "hub/status", "params": {} });
        let detach = json!({ "jsonrpc": "2.0", "method": "detach", "params": {} });
        let mut socket = HubSocket::connect(&world);
        let answer = socket.exchange(&attach.to_string()).unwrap();
        assert!(answer["error"].is_null(), "{answer}");
        // More questions than the hub has answered when the goodbye is sent.
        (0..2000).for_each(|_| socket.send(&ask.to_string()));
        socket.send(&detach.to_string());
        drop(socket);
        eventually("no window is left", || {
            world.status()["windows"].as_array().unwrap().is_empty().then_some(())
        });
    }

    #[test]
    fn attach_ends_with_its_editor() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        assert_eq!(editor.close(), 0);
        let window = world.status()["windows"][0].clone();
        assert_eq!(window["attached"], false, "it may come back: {window}");
    }
}

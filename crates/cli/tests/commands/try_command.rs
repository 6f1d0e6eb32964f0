//! `linkspan try`: decisions of its script, decisions of the user, and that it leaves nothing behind.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{BufRead, BufReader, Lines};
    use std::net::TcpListener;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;
    use std::process::{Child, ChildStdout, Stdio};

    use rustix::process::Signal;
    use serde_json::{Value, json};

    use crate::support::world::{finish, signal};
    use crate::support::*;

    /// The sample projects in this world.
    fn projects(world: &World) -> Vec<PathBuf> {
        let entries = fs::read_dir(world.root().join("t")).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.to_string_lossy().contains("linkspan-try-")).collect()
    }

    #[track_caller]
    fn nothing_is_left(world: &World) {
        assert_eq!(projects(world), Vec::<PathBuf>::new());
        assert_eq!(world.reviews(), Vec::<Value>::new());
        assert_eq!(world.status()["windows"], json!([]));
        assert_eq!(world.discovery_files(), Vec::<PathBuf>::new());
    }

    /// A terminal in which the user is asked to decide.
    fn tried(world: &World, variables: &[(&str, &str)]) -> Tty {
        let tty = Tty::run(world, 100, 60, &["try"], variables);
        tty.sees("waiting for you: r1 tea_shop.py, r2 factory.py, r3 prices.csv");
        tty
    }

    #[test]
    fn the_script_decides_and_not_one_byte_is_otherwise() {
        let world = World::new();
        let ran = world.run(&["try", "--auto", "--keep"]).ok();
        assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
        for told in ["accepted in part", "rejected", "one tea shop needs no factory", "still end in CR LF"] {
            assert!(ran.stdout.contains(told), "{told}: {}", ran.stdout);
        }
        let project = projects(&world).remove(0);
        let shop = fs::read_to_string(project.join("tea_shop.py")).unwrap();
        assert!(shop.contains("at least one cup") && shop.contains("\"black\": 3}"), "{shop}");
        assert!(shop.contains("str(price(tea, cups))"), "the hunk that was left: {shop}");
        assert!(!project.join("factory.py").exists());
        let prices = fs::read(project.join("prices.csv")).unwrap();
        assert_eq!(prices, b"tea,price\r\ngreen,3.00\r\nblack,2.75\r\nmint,2.00\r\n");
        fs::remove_dir_all(project).unwrap();
        nothing_is_left(&world);
    }

    #[test]
    fn a_script_reads_what_happens_a_document_a_line() {
        let world = World::new();
        let ran = world.run(&["try", "--auto", "--json"]).ok();
        let events: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
        let expected = "project window context proposed proposed proposed decided decided decided done";
        assert_eq!(names.join(" "), expected);
        let rejected = events.iter().find(|event| event["accepted"] == json!(false)).unwrap();
        assert_eq!(rejected["reason"], json!("one tea shop needs no factory"));
        assert_eq!((&rejected["file"], &rejected["written"]), (&json!("factory.py"), &json!(false)));
        nothing_is_left(&world);
    }

    #[test]
    fn a_person_decides_and_the_agent_does_as_it_is_told() {
        let world = World::new();
        let mut tty = tried(&world, &[]);
        assert!(tty.text().contains("http://127.0.0.1:"), "{}", tty.text());
        world.run(&["accept", "r3"]).ok();
        tty.sees("waiting for you: r1 tea_shop.py, r2 factory.py");
        tty.sees_no("waiting for you: r1 tea_shop.py, r2 factory.py, r3");
        world.run(&["reject", "r2", "--comment", "not today"]).ok();
        tty.sees("“not today”");
        world.run(&["accept", "r1", "--hunk", "2"]).ok();
        tty.sees("press Enter to quit");
        tty.sees_no("waiting for you");
        let project = projects(&world).remove(0);
        let shop = fs::read_to_string(project.join("tea_shop.py")).unwrap();
        assert!(shop.contains(":>6.2f") && !shop.contains("at least one cup"), "{shop}");
        world.run(&["undo", "r1"]).ok();
        tty.types("\r");
        assert_eq!(tty.ends(), 0);
        nothing_is_left(&world);
    }

    #[test]
    fn an_interrupt_takes_everything_back() {
        let world = World::new();
        let mut tty = tried(&world, &[("NO_COLOR", "1")]);
        tty.types("\u{3}");
        assert_eq!(tty.ends(), 130);
        tty.sees("The changes are withdrawn");
        let history = world.json(&["history"])["entries"].as_array().unwrap().clone();
        assert!(history.len() == 3 && history.iter().all(|entry| entry["ended"]["kind"] == "withdrawn"));
        nothing_is_left(&world);
    }

    #[test]
    fn a_hub_that_is_killed_is_back_before_anyone_notices() {
        let world = World::new();
        let mut tty = tried(&world, &[]);
        world.run(&["accept", "r3"]).ok();
        tty.sees("waiting for you: r1 tea_shop.py, r2 factory.py");
        world.kill_hub();
        tty.sees("the agent is connected again");
        world.pending(2);
        world.run(&["accept", "r1"]).ok();
        world.run(&["accept", "r2"]).ok();
        tty.sees("press Enter to quit");
        assert!(projects(&world).remove(0).join("factory.py").exists());
        tty.types("\r");
        assert_eq!(tty.ends(), 0);
        nothing_is_left(&world);
    }

    #[test]
    fn a_window_that_comes_back_on_another_port_is_found_there() {
        let world = World::new();
        let mut tty = tried(&world, &[]);
        let status = world.status();
        let port = u16::try_from(status["windows"][0]["port"].as_u64().unwrap()).unwrap();
        // Held, so that the port is taken before its window can get it back.
        signal(tty.pid(), Signal::STOP);
        signal(u32::try_from(status["pid"].as_u64().unwrap()).unwrap(), Signal::KILL);
        let taken = eventually("the port is free", || TcpListener::bind(("127.0.0.1", port)).ok());
        signal(tty.pid(), Signal::CONT);
        tty.sees("the agent is connected again");
        drop(taken);
        assert_ne!(world.status()["windows"][0]["port"], json!(port));
        for review in world.pending(3) {
            world.run(&["accept", &review]).ok();
        }
        tty.sees("press Enter to quit");
        tty.types("\r");
        assert_eq!(tty.ends(), 0);
        nothing_is_left(&world);
    }

    /// Reads until an event of this name.
    #[track_caller]
    fn event(lines: &mut Lines<BufReader<ChildStdout>>, name: &str) -> Value {
        let mut events = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        events.find(|event| event["event"] == name).unwrap_or_else(|| panic!("no {name}"))
    }

    #[test]
    fn without_a_terminal_it_prints_the_link_waits_and_ends_by_itself() {
        let world = World::new();
        let command = &mut world.command(&["try", "--json"]);
        let mut child: Child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(event(&mut lines, "page")["url"].as_str().unwrap().contains("/#"));
        for review in world.pending(3) {
            world.run(&["accept", &review]).ok();
        }
        assert_eq!(event(&mut lines, "done")["kept"], json!(false));
        assert_eq!(finish(child).code, 0);
        nothing_is_left(&world);
    }

    /// `linkspan try --json` with its output, and the hub's process id.
    fn telling(world: &World) -> (Child, Lines<BufReader<ChildStdout>>, u32) {
        world.run(&["hub", "start"]).ok();
        let hub = world.hub_pid().unwrap();
        let command = &mut world.command(&["try", "--json"]);
        let mut child: Child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        (child, lines, hub)
    }

    #[test]
    fn an_interrupt_before_anything_is_shown_leaves_nothing_either() {
        let world = World::new();
        for told in ["project", "window", "context", "context", "proposed", "page"].repeat(3) {
            let (child, mut lines, _) = telling(&world);
            event(&mut lines, told);
            signal(child.id(), Signal::INT);
            assert_eq!(event(&mut lines, "left")["closed"], json!(true), "after {told}");
            assert_eq!(finish(child).code, 130);
            nothing_is_left(&world);
        }
    }

    #[test]
    fn a_hub_that_is_killed_while_changes_are_proposed_is_asked_for_all_of_them() {
        let world = World::new();
        for told in ["context", "proposed"].repeat(3) {
            let (child, mut lines, hub) = telling(&world);
            event(&mut lines, told);
            signal(hub, Signal::KILL);
            event(&mut lines, "page");
            world.pending(3);
            signal(child.id(), Signal::INT);
            assert_eq!(event(&mut lines, "left")["closed"], json!(true), "after {told}");
            assert_eq!(finish(child).code, 130);
            nothing_is_left(&world);
        }
    }

    #[test]
    fn what_a_hub_does_not_say_is_not_said() {
        let world = World::new();
        let (child, mut lines, hub) = telling(&world);
        event(&mut lines, "page");
        signal(hub, Signal::STOP);
        signal(child.id(), Signal::INT);
        let notice = event(&mut lines, "notice")["message"].as_str().unwrap().to_owned();
        assert!(notice.contains("linkspan status"), "{notice}");
        assert_eq!(event(&mut lines, "left")["closed"], json!(false));
        assert_eq!(finish(child).code, 130);
        signal(hub, Signal::CONT);
        assert_eq!(projects(&world), Vec::<PathBuf>::new());
    }

    #[test]
    fn the_script_decides_and_checks_also_where_nobody_listens() {
        let world = World::new();
        let command = &mut world.command(&["try", "--auto", "--keep"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(finish(child).code, 0);
        let decided = world.json(&["history"])["entries"].as_array().unwrap().clone();
        assert_eq!(decided.len(), 3, "{decided:?}");
        let project = projects(&world).remove(0);
        assert!(fs::read_to_string(project.join("prices.csv")).unwrap().contains("black,2.75"));
        fs::remove_dir_all(project).unwrap();
        nothing_is_left(&world);
    }

    #[test]
    fn a_browser_for_the_terminal_is_not_opened_unasked() {
        let world = World::new();
        let folder = world.folder("openers");
        let (opener, called) = (folder.join("xdg-open"), folder.join("called"));
        fs::write(&opener, format!("#!/bin/sh\n: > {}\n", called.display())).unwrap();
        fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        let mut tty = tried(&world, &[("PATH", &path), ("BROWSER", "w3m")]);
        assert!(tty.text().contains("/#"), "{}", tty.text());
        assert!(!called.exists());
        tty.types("\u{3}");
        assert_eq!(tty.ends(), 130);
        nothing_is_left(&world);
    }

    #[test]
    fn an_agent_that_may_not_come_in_is_explained() {
        let world = World::with_config("dialects_off = [\"claude\"]\n");
        let ran = world.run(&["try", "--auto"]);
        assert_eq!(ran.code, 5, "{ran:?}");
        assert!(ran.stderr.contains("dialects_off"), "{ran:?}");
        nothing_is_left(&world);
        assert_eq!(world.run(&["try", "--auto", "--open"]).code, 2);
    }
}

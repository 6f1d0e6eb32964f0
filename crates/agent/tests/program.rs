//! The program as a user starts it: its exit codes, its sessions, and what is left after a kill.

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::path::PathBuf;
    use std::process::{Child, Command, Output, Stdio};
    use std::time::{Duration, Instant};

    use tempfile::TempDir;

    struct Home {
        folder: TempDir,
    }

    impl Home {
        fn new(script: &str) -> Home {
            let folder = tempfile::tempdir().unwrap();
            for name in ["work", "run", "config/linkspan"] {
                std::fs::create_dir_all(folder.path().join(name)).unwrap();
            }
            let home = Home { folder };
            home.write("script.toml", script);
            home
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            std::fs::write(self.path(name), text).unwrap();
        }

        fn agent(&self, arguments: &[&str]) -> Command {
            let mut command = Command::new(env!("CARGO_BIN_EXE_linkspan-agent"));
            command
                .args(arguments)
                .current_dir(self.path("work"))
                .env_clear()
                .env("PATH", std::env::var_os("PATH").unwrap_or_default())
                .env("HOME", self.folder.path())
                .env("XDG_RUNTIME_DIR", self.path("run"))
                .env("XDG_STATE_HOME", self.path("state"))
                .env("XDG_CONFIG_HOME", self.path("config"))
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            command
        }

        fn run(&self, arguments: &[&str]) -> Output {
            self.agent(arguments).output().unwrap()
        }

        /// With the script as the model, without an editor, as JSON lines.
        fn scripted(&self, arguments: &[&str]) -> Command {
            self.write("config/linkspan/agent.toml", "[ide]\nenabled = false\n");
            let model = format!("script:{}", self.path("script.toml").display());
            let mut command = self.agent(arguments);
            command.args(["--json", "--mode", "yolo", "--model", &model]);
            command
        }
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Reads lines until one has this in it.
    fn until(child: &mut Child, wanted: &str) {
        let stdout = BufReader::new(child.stdout.take().unwrap());
        for line in stdout.lines() {
            if line.unwrap().contains(wanted) {
                return;
            }
        }
        panic!("there was no {wanted}");
    }

    #[test]
    fn the_demonstration_runs_without_a_key_and_leaves_nothing() {
        let home = Home::new("");
        let output = home.run(&["--demo", "--mode", "yolo", "-p", "show me"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("That was one turn"));
        assert!(!home.path("state").exists());
    }

    #[test]
    fn a_missing_key_and_a_wrong_configuration_are_explained() {
        let home = Home::new("");
        let output = home.run(&["-p", "hi"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("set ANTHROPIC_API_KEY or"), "{}", text(&output.stderr));
        home.write("config/linkspan/agent.toml", "[ide]\nauto_conect = true\n");
        let output = home.run(&["-p", "hi"]);
        assert_eq!(output.status.code(), Some(2));
        let stderr = text(&output.stderr);
        assert!(
            stderr.contains("agent.toml:2: unknown key `auto_conect`; did you mean `auto_connect`?"),
            "{stderr}"
        );
        home.write("config/linkspan/agent.toml", "");
        for (arguments, expected) in [
            (["-p", "hi", "--cwd", "nowhere"], "is not a folder"),
            (["-p", "hi", "--resume", "nothing"], "there is no session `nothing`"),
        ] {
            let output = home.run(&arguments);
            assert_eq!(output.status.code(), Some(2));
            assert!(text(&output.stderr).contains(expected), "{}", text(&output.stderr));
        }
        let output = home.run(&["--continue", "-p", "hi"]);
        assert!(text(&output.stderr).contains("start without --continue"), "{}", text(&output.stderr));
    }

    const KILLED: &str = r#"
[[turn]]
text = "I run it."
calls = [{ tool = "run_command", arguments = { command = "echo once >> log; sleep 60" } }]
[[turn]]
text = "I know what happened."
[[turn]]
text = "And now this."
"#;

    #[test]
    fn a_killed_agent_goes_on_where_it_was_and_runs_no_command_twice() {
        let home = Home::new("[[turn]]\ntext = \"Earlier.\"\n");
        // Another conversation of this folder, which is not the one to continue.
        assert_eq!(home.scripted(&["-p", "before"]).output().unwrap().status.code(), Some(0));
        home.write("script.toml", KILLED);
        let mut child = home.scripted(&["-p", "go"]).spawn().unwrap();
        until(&mut child, "run_command");
        let deadline = Instant::now() + Duration::from_secs(20);
        while !home.path("work/log").exists() {
            assert!(Instant::now() < deadline, "the command does not run");
            std::thread::sleep(Duration::from_millis(20));
        }
        // Another agent cannot use the session meanwhile.
        let output = home.scripted(&["--continue", "-p", "me too"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stdout).contains("open in another agent")
                || text(&output.stderr).contains("open in another agent")
        );
        child.kill().unwrap();
        child.wait().unwrap();

        let output = home.scripted(&["--continue", "-p", "next"]).output().unwrap();
        let stdout = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{stdout}{}", text(&output.stderr));
        assert!(stdout.contains("\"happened.\""), "the turn that was interrupted goes on: {stdout}");
        let last = stdout.lines().last().unwrap();
        assert!(last.contains("\"type\":\"end\"") && last.contains("And now this."), "{stdout}");
        assert_eq!(std::fs::read_to_string(home.path("work/log")).unwrap(), "once\n");
        let sessions = std::fs::read_dir(home.path("state/linkspan/agent/sessions")).unwrap();
        let sessions: Vec<_> =
            sessions.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
        assert_eq!(sessions.len(), 2);
        let killed = sessions.iter().find(|session| !session.contains("Earlier.")).unwrap();
        assert!(killed.contains("interrupted: the agent was stopped while it ran"));
    }

    #[test]
    fn the_engine_serves_with_its_token_until_it_is_told_to_end() {
        let home = Home::new("");
        home.write("config/linkspan/agent.toml", "[ide]\nenabled = false\n");
        let token = home.path("token");
        let mut child =
            home.agent(&["serve", "--port", "0", "--token-file", token.to_str().unwrap()]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address =
            line.trim().strip_prefix("Serving on http://").unwrap_or_else(|| panic!("{line}")).to_owned();
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        write!(stream, "GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
        let mut first = String::new();
        BufReader::new(stream).read_line(&mut first).unwrap();
        assert!(first.starts_with("HTTP/1.1 "), "{first}");
        assert_eq!(std::fs::read_to_string(token).unwrap().trim().len(), 64);
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

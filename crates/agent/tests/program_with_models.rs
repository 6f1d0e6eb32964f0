//! The program with a model server that speaks the real protocols, from the key in the environment to the answer: on stdout,
//! and in a pseudo-terminal with real keys.

#[cfg(test)]
mod tests {
    use std::process::{Command, Output, Stdio};

    use linkspan_testkit::World;
    use linkspan_testkit::agent_terminal::{ANTHROPIC, GEMINI, OLLAMA, OPENAI, Provider, quit, start_with};
    use linkspan_testkit::model::{Model, Role, Turn};
    use serde_json::json;

    struct Home {
        folder: tempfile::TempDir,
    }

    impl Home {
        fn new(config: &str) -> Home {
            let folder = tempfile::tempdir().unwrap();
            for name in ["work", "run", "config/linkspan"] {
                std::fs::create_dir_all(folder.path().join(name)).unwrap();
            }
            let config = format!("{config}\n[ide]\nenabled = false\n");
            std::fs::write(folder.path().join("config/linkspan/agent.toml"), config).unwrap();
            std::fs::write(folder.path().join("work/a.txt"), "one\ntwo\n").unwrap();
            Home { folder }
        }

        fn run(&self, key: (&str, &str), arguments: &[&str]) -> Output {
            let mut command = Command::new(env!("CARGO_BIN_EXE_linkspan-agent"));
            command
                .args(arguments)
                .current_dir(self.folder.path().join("work"))
                .env_clear()
                .env("PATH", std::env::var_os("PATH").unwrap_or_default())
                .env("HOME", self.folder.path())
                .env("XDG_RUNTIME_DIR", self.folder.path().join("run"))
                .env("XDG_STATE_HOME", self.folder.path().join("state"))
                .env("XDG_CONFIG_HOME", self.folder.path().join("config"))
                .env(key.0, key.1)
                .stdin(Stdio::null());
            command.output().unwrap()
        }
    }

    /// By name, so that the program resolves it.
    fn named(model: &Model) -> String {
        model.url().replace("127.0.0.1", "localhost")
    }

    #[test]
    fn a_change_goes_from_the_model_to_the_file_and_back() {
        let edit = json!({ "path": "a.txt", "old_string": "two", "new_string": "TWO" });
        let model = Model::start([Turn::calls("edit_file", edit), Turn::says("Changed it.")]);
        let url = named(&model);
        let home = Home::new(&format!("[providers.anthropic]\nbase_url = \"{url}\"\n"));
        let output = home.run(("ANTHROPIC_API_KEY", "secret"), &["-p", "Make it loud", "--mode", "yolo"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "Changed it.");
        let changed = std::fs::read_to_string(home.folder.path().join("work/a.txt")).unwrap();
        assert_eq!(changed, "one\nTWO\n");
        assert!(model.result(0).text.starts_with("Changed a.txt"), "{:?}", model.results());
        let said =
            model.told().into_iter().any(|told| told.role == Role::User && told.text == "Make it loud");
        assert!(said, "{:?}", model.told());
        assert!(!String::from_utf8_lossy(&output.stderr).contains("secret"));
        let state = Command::new("grep").args(["-r", "secret"]).arg(home.folder.path()).output().unwrap();
        assert!(state.stdout.is_empty(), "the key is kept nowhere");
    }

    const PROVIDERS: [Provider; 4] = [ANTHROPIC, OPENAI, GEMINI, OLLAMA];

    #[test]
    fn every_wire_streams_asks_and_hears_what_the_user_decided_in_the_terminal() {
        let key_headers = [
            Some("x-api-key: secret"),
            Some("authorization: Bearer secret"),
            Some("x-goog-api-key: secret"),
            None,
        ];
        for (provider, key) in PROVIDERS.into_iter().zip(key_headers) {
            let world = World::new();
            world.file("a.txt", "one\ntwo\n");
            let edit = json!({ "path": "a.txt", "old_string": "two", "new_string": "TWO" });
            let model = Model::start([
                Turn::calls("edit_file", edit.clone()),
                Turn::calls("edit_file", edit),
                Turn::streams("It is ", "loud now."),
            ]);
            let mut tty = start_with(&world, &model, provider, &[]);
            tty.types("Make it loud\r");
            tty.sees("+TWO");
            tty.looks_and_types("n");
            tty.types("not yet\r");
            let refused = model.result(0).text;
            assert!(refused.contains("rejected") && refused.contains("not yet"), "{provider:?}: {refused}");
            assert_eq!(world.read_text("a.txt"), "one\ntwo\n", "{provider:?}");
            tty.sees("Accept?");
            tty.looks_and_types("y");
            let told = model.result(1).text;
            assert!(told.starts_with("The user accepted the change."), "{provider:?}: {told}");
            assert_eq!(world.read_text("a.txt"), "one\nTWO\n", "{provider:?}");
            // The first piece is on the screen before the second one is sent.
            tty.sees("It is");
            tty.sees_no("loud now.");
            model.go_on();
            tty.sees("It is loud now.");
            assert_eq!(model.keys().first().map(String::as_str), key, "{provider:?}");
            let said =
                model.told().into_iter().any(|told| told.role == Role::User && told.text == "Make it loud");
            assert!(said, "{provider:?}: {:?}", model.told());
            quit(tty);
        }
    }

    #[test]
    fn every_wire_is_tried_again_when_its_server_is_busy() {
        for provider in PROVIDERS {
            let world = World::new();
            let model = Model::start([Turn::refuses(429, "slow down"), Turn::says("At last.")]);
            let mut tty = start_with(&world, &model, provider, &[]);
            tty.types("Hello\r");
            tty.sees(&format!("{} answered 429: slow down; attempt 2 of 5 in 1 s", provider.name));
            tty.sees("At last.");
            assert_eq!(model.conversation().len(), 2);
            quit(tty);
        }
    }

    #[test]
    fn a_key_that_every_wire_rejects_is_named_by_its_variable() {
        let refusals = [
            (ANTHROPIC, 401, "invalid x-api-key"),
            (OPENAI, 401, "Incorrect API key provided: secret"),
            (GEMINI, 400, "API key not valid. Please pass a valid API key."),
            (OLLAMA, 401, "unauthorized"),
        ];
        for (provider, status, message) in refusals {
            let world = World::new();
            let model = Model::start([Turn::refuses(status, message), Turn::says("Hello.")]);
            let mut tty = start_with(&world, &model, provider, &[]);
            tty.types("Hello\r");
            match provider.key {
                Some(variable) => {
                    tty.sees("Put a valid key into");
                    tty.sees(variable);
                }
                None => tty.sees("ollama wants a key"),
            }
            // It was not tried again, and the conversation goes on.
            assert_eq!(model.conversation().len(), 1, "{provider:?}");
            tty.types("Once more\r");
            tty.sees("Hello.");
            quit(tty);
        }
    }
}

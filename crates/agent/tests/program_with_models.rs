//! The program with a model server that speaks a real protocol, from the key in the environment to the answer on stdout.
//! The other wires are tested below the program, because this server knows their requests by tools that we do not have.

#[cfg(test)]
mod tests {
    use std::process::{Command, Output, Stdio};

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
}

//! Commands about the program itself: completions and manual pages, checked by the programs that read them, and the
//! configuration.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::process::{Command, Stdio};

    use serde_json::json;

    use crate::support::*;

    const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

    /// Pipes a text into a program and returns its complaints.
    #[track_caller]
    fn complaints(program: &str, args: &[&str], text: &str) -> String {
        let mut command = prerequisites::program(program);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that stops reading says why.
        let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
        let output = child.wait_with_output().unwrap();
        let mut said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            said += &format!("{program} ended with {}", output.status);
        }
        said
    }

    #[test]
    fn every_shell_gets_a_script_with_all_commands() {
        let world = World::new();
        for shell in SHELLS {
            let script = world.run(&["completions", shell]).ok().stdout;
            for word in ["diagnostics", "wait-settled", "disconnect"] {
                assert!(script.contains(word), "{word} for {shell}");
            }
            assert_eq!(world.json(&["completions", shell]), json!({ "shell": shell, "script": script }));
        }
        let wrong = world.run(&["completions", "cmd"]);
        assert_eq!(wrong.code, 2, "{wrong:?}");
        assert!(wrong.stderr.contains("powershell"), "{wrong:?}");
    }

    #[track_caller]
    fn understands_its_script(shell: &str) {
        let script = World::new().run(&["completions", shell]).ok().stdout;
        assert_eq!(complaints(shell, &["-n"], &script), "");
    }

    #[test]
    fn bash_understands_its_script() {
        understands_its_script("bash");
    }

    mod with_fish {
        #[test]
        fn fish_understands_its_script() {
            super::understands_its_script("fish");
        }
    }

    mod with_zsh {
        #[test]
        fn zsh_understands_its_script() {
            super::understands_its_script("zsh");
        }
    }

    #[test]
    fn bash_completes_commands_and_options() {
        let world = World::new();
        let script = world.run(&["completions", "bash"]).ok().stdout;
        let ask = "COMP_WORDS=(linkspan diag); COMP_CWORD=1; _linkspan linkspan diag linkspan; echo ${COMPREPLY[@]}";
        let output = Command::new("bash").args(["-c", &format!("{script}\n{ask}")]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "diagnostics");
    }

    #[test]
    fn each_command_has_a_page() {
        let world = World::new();
        let dir = world.folder("man");
        let said = world.json(&["man", "--dir", dir.to_str().unwrap()]);
        let files = said["files"].as_array().unwrap();
        let names: Vec<String> = fs::read_dir(&dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(files.len(), names.len());
        for name in ["linkspan.1", "linkspan-open.1", "linkspan-ide-connect.1", "linkspan-config-show.1"] {
            assert!(names.iter().any(|found| found == name), "{name} in {names:?}");
        }
        assert!(!names.iter().any(|name| name == "linkspan-hub-run.1"), "it is not for people");
    }

    mod with_groff {
        use super::*;

        #[test]
        fn groff_reads_each_page_without_a_complaint() {
            let world = World::new();
            let dir = world.folder("man");
            world.run(&["man", "--dir", dir.to_str().unwrap()]).ok();
            for entry in fs::read_dir(&dir).unwrap() {
                let path = entry.unwrap().path();
                let page = fs::read_to_string(&path).unwrap();
                assert_eq!(complaints("groff", &["-ww", "-man", "-Tutf8"], &page), "", "{}", path.display());
            }
        }
    }

    #[test]
    fn one_page_is_printed_by_the_name_of_its_command() {
        let world = World::new();
        let page = world.run(&["man"]).ok().stdout;
        assert!(page.contains("linkspan\\-diagnostics(1)") && page.contains("Exit codes"), "{page}");
        let page = world.run(&["man", "hub", "stop"]).ok().stdout;
        assert!(page.contains("\\-\\-force"), "{page}");
        let said = world.json(&["man", "open"]);
        assert_eq!(said["name"], "linkspan-open.1");
        let wrong = world.run(&["man", "hub", "fly"]);
        assert_eq!(wrong.code, 2, "{wrong:?}");
        assert!(wrong.stderr.contains("start, stop, log"), "{wrong:?}");
        let wrong = world.run(&["man", "--dir", "/dev/null/man"]);
        assert_eq!(wrong.code, 2, "{wrong:?}");
    }

    #[test]
    fn a_package_can_be_built_without_a_home() {
        let world = World::new();
        for args in [&["completions", "bash"], &["man", "open"]] {
            let output = world.command(args).env_remove("HOME").output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
    }

    #[test]
    fn the_configuration_says_where_each_value_comes_from() {
        let world = World::with_config("journal_days = 7\n");
        let workspace = world.file(".linkspan.toml", "deny = [\"secret\"]\n\n[limits]\nfile_mib = 5\n");
        let text = world.run(&["config", "show"]).ok().stdout;
        let user = world.config_file();
        for line in [
            "idle_exit_seconds = 600     # default".to_owned(),
            format!("journal_days = 7            # {}:1", user.display()),
            format!("file_mib = 5                # {workspace}:4"),
        ] {
            assert!(text.contains(&line), "{line} in {text}");
        }
        assert!(text.contains(&format!("# default and {workspace}:1")), "{text}");

        let below = world.path("deep");
        fs::create_dir(&below).unwrap();
        let shown = world.command(&["config", "show", "--json"]).current_dir(&below).output().unwrap();
        let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
        assert_eq!((&shown["user"], &shown["workspace"]), (&json!(user), &json!(workspace)));
        let settings = shown["settings"].as_array().unwrap();
        let limit = settings.iter().find(|setting| setting["key"] == "limits.file_mib").unwrap();
        let from = json!([{ "kind": "workspace", "path": workspace, "line": 4 }]);
        assert_eq!(limit, &json!({ "key": "limits.file_mib", "value": 5, "from": from }));
        let other = world.json(&["config", "show", world.home().to_str().unwrap()]);
        assert_eq!(other["settings"].as_array().unwrap().len(), settings.len());
        assert!(!other.to_string().contains("secret"), "{other}");
    }

    #[test]
    fn mistakes_are_listed_with_their_lines_and_what_was_meant() {
        let world = World::with_config("jornal_days = 7\nidle_exit_seconds = \"x\"\n[limits]\nfile_mb = 1\n");
        let ran = world.run(&["config", "check"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        let user = world.config_file().display().to_string();
        for line in [
            format!("{user}:1: unknown field `jornal_days`; did you mean `journal_days`?"),
            format!("{user}:2: invalid type"),
            format!("{user}:4: unknown field `file_mb`; did you mean `file_mib`?"),
        ] {
            assert!(ran.stdout.contains(&line), "{line} in {}", ran.stdout);
        }
        let said = world.run(&["config", "check", "--json"]).json();
        assert_eq!(said["problems"].as_array().unwrap().len(), 3, "{said}");
        let show = world.run(&["config", "show"]);
        assert_eq!((show.code, show.stdout.as_str()), (1, ""), "{show:?}");
        assert!(show.stderr.contains("linkspan config check"), "{show:?}");

        world.config("journal_days = 7\n");
        assert!(world.run(&["config", "check"]).ok().stdout.contains("no problems in"));
        world.file(".linkspan.toml", "journal_days = 7\n");
        let ran = world.run(&["config", "check"]);
        assert_eq!(ran.code, 1, "a workspace may not say that: {ran:?}");
    }

    #[test]
    fn the_path_of_the_configuration_stands_alone() {
        let world = World::new();
        let path = world.config_file();
        assert_eq!(world.run(&["config", "path"]).ok().stdout, format!("{}\n", path.display()));
        let said = world.json(&["config", "path"]);
        assert_eq!(said, json!({ "path": path, "exists": false, "workspace": null }));
        let wrong = world.run(&["config", "show", "/no/such/folder"]);
        assert_eq!(wrong.code, 2, "{wrong:?}");
        assert!(world.run(&["config", "check"]).ok().stdout.contains("the defaults are used"));
    }
}

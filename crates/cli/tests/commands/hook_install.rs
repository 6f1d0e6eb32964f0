//! `linkspan hook install`, `remove` and `status` with real files in a home of their own.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    use insta::{Settings, assert_snapshot};
    use serde_json::{Value, json};

    use crate::support::transcript::Normalizer;
    use crate::support::*;

    /// As people have it, with a hook of another program.
    const BUSY: &str = r#"{
    "model": "opus",
    "hooks": {
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [{ "type": "command", "command": "guard.sh" }] }
        ]
    }
}
"#;

    fn settings(world: &World) -> PathBuf {
        world.home().join(".claude/settings.json")
    }

    fn write(path: &PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn busy() -> World {
        let world = World::new();
        write(&settings(&world), BUSY);
        world
    }

    fn backup(world: &World) -> PathBuf {
        world.home().join(".claude/settings.json.linkspan-backup")
    }

    fn read(path: PathBuf) -> String {
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn command(program: &str) -> String {
        format!("\"command\": \"{program} hook\"")
    }

    fn linkspan() -> String {
        paths::linkspan().to_str().unwrap().to_owned()
    }

    /// Runs without any agent on PATH.
    fn alone(world: &World, args: &[&str]) -> String {
        let output = world.command(args).env("PATH", world.folder("none")).output().unwrap();
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
        let code = output.status.code().unwrap();
        Normalizer::new(world).text(&format!("$ linkspan {}\n{text}[exit {code}]\n", args.join(" ")))
    }

    #[test]
    fn the_output_was_looked_at() {
        let world = busy();
        write(&world.home().join(".codex/hooks.json"), "{ \"hooks\": { \"Stop\": }\n");
        let mut settings = Settings::clone_current();
        settings.set_snapshot_path("snapshots/output");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        let runs: &[&[&str]] = &[
            &["hook", "install", "claude", "codex", "--dry-run", "--no-context"],
            &["hook", "install", "claude", "--yes", "--no-context", "--require"],
            &["hook", "install", "claude", "--yes", "--no-context", "--require"],
            &["hook", "install", "gemini", "--dry-run", "--json", "--no-context"],
            &["hook", "install", "codex", "--yes"],
            &["hook", "install", "codex", "--yes", "--json"],
            &["hook", "status"],
            &["hook", "status", "claude", "--json"],
            &["hook", "status", "gemini"],
            &["hook", "remove"],
            &["hook", "remove", "--yes"],
            &["hook", "remove", "claude", "--yes"],
        ];
        let transcript: Vec<String> = runs.iter().map(|args| alone(&world, args)).collect();
        settings.bind(|| assert_snapshot!("hook_install", transcript.join("\n")));
    }

    #[test]
    fn every_agent_gets_its_own_file_and_all_of_them_go_again() {
        let world = World::new();
        let said = world
            .json(&["hook", "install", "claude", "codex", "gemini", "qwen", "copilot", "opencode", "--yes"]);
        let paths: Vec<&str> =
            said["agents"].as_array().unwrap().iter().map(|agent| agent["path"].as_str().unwrap()).collect();
        let home = world.home().display().to_string();
        let expect = [
            format!("{home}/.claude/settings.json"),
            format!("{home}/.codex/hooks.json"),
            format!("{home}/.copilot/hooks/linkspan.json"),
            format!("{home}/.gemini/settings.json"),
            format!("{home}/.qwen/settings.json"),
            format!("{}/opencode/plugins/linkspan.js", world.root().join("c").display()),
        ];
        assert_eq!(paths, expect);
        assert!(paths.iter().all(|path| read(path.into()).contains(&linkspan())), "{said}");
        let status = world.run(&["hook", "status", "--json"]);
        assert_eq!(status.code, 1, "Codex does not trust it yet: {status:?}");
        for agent in status.json()["agents"].as_array().unwrap() {
            let problems = usize::from(agent["agent"] == "codex");
            assert_eq!(agent["state"], "installed", "{agent}");
            assert_eq!(agent["problems"].as_array().unwrap().len(), problems, "{agent}");
        }
        world.run(&["hook", "remove", "all", "--yes"]).ok();
        assert!(paths.iter().all(|path| !PathBuf::from(path).exists()), "they were not there before");
        assert!(!world.home().join(".copilot/hooks").exists());
    }

    #[test]
    fn hooks_of_others_stay_and_removing_restores_every_byte() {
        let world = busy();
        fs::set_permissions(settings(&world), fs::Permissions::from_mode(0o600)).unwrap();
        world.run(&["hook", "install", "claude", "--yes"]).ok();
        let text = read(settings(&world));
        assert!(text.contains("}] },\n            {\n                \"matcher\": \"Edit|Write"), "{text}");
        assert!(text.contains(&command(&linkspan())), "{text}");
        for file in [settings(&world), backup(&world)] {
            assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(read(backup(&world)), BUSY);
        let again = world.run(&["hook", "install", "claude"]).ok();
        assert!(again.stdout.contains("installed already"), "{again:?}");
        assert_eq!(read(settings(&world)), text);
        world.run(&["hook", "remove", "claude", "--yes"]).ok();
        assert_eq!(read(settings(&world)), BUSY);
        assert!(!backup(&world).exists(), "it is the file itself again");
    }

    #[test]
    fn installing_again_without_options_keeps_those_of_the_hook_that_is_there() {
        let world = World::new();
        let opencode = world.root().join("c/opencode/plugins/linkspan.js");
        for (agent, file) in [("claude", settings(&world)), ("opencode", opencode)] {
            world.run(&["hook", "install", agent, "--require", "--commands", "--no-context", "--yes"]).ok();
            let text = read(file.clone());
            let again = world.run(&["hook", "install", agent, "--yes"]).ok();
            assert!(again.stdout.contains("kept --require --commands --no-context;"), "{again:?}");
            assert_eq!(read(file.clone()), text);
            // What the user names is what counts.
            world.run(&["hook", "install", agent, "--always", "--yes"]).ok();
            let status = world.run(&["hook", "status", agent, "--json"]).json();
            let command = status["agents"][0]["command"].as_str().unwrap().to_owned();
            assert!(command.ends_with(" hook --always"), "{command}");
        }
    }

    #[test]
    fn the_advice_of_status_has_the_options_of_the_hook() {
        let world = World::new();
        world.run(&["hook", "install", "claude", "--require", "--yes"]).ok();
        let moved = read(settings(&world)).replace(&linkspan(), "/nowhere/linkspan");
        fs::write(settings(&world), moved).unwrap();
        let status = world.run(&["hook", "status", "claude"]);
        assert!(status.stdout.contains("run `linkspan hook install claude --require`"), "{status:?}");
    }

    /// Runs the plugin of opencode with `program` instead of Linkspan, and lets it ask about an edit.
    fn ask_plugin(world: &World, program: &str, options: &[&str]) -> String {
        let install = [&["hook", "install", "opencode", "--yes"], options].concat();
        world.run(&["hook", "remove", "opencode", "--yes"]).ok();
        world.run(&install).ok();
        let text = read(world.root().join("c/opencode/plugins/linkspan.js"));
        let folder = world.folder("plugin");
        let fake = folder.join("fake");
        fs::write(&fake, program).unwrap();
        fs::set_permissions(&fake, fs::Permissions::from_mode(0o700)).unwrap();
        let text = match program {
            "" => text.replace(&linkspan(), "/nowhere/linkspan"),
            _ => text.replace(&linkspan(), fake.to_str().unwrap()),
        };
        fs::write(folder.join("plugin.mjs"), text).unwrap();
        let script = r#"
            const { Linkspan } = await import("./plugin.mjs")
            const hooks = await Linkspan({ client: {}, directory: "/" })
            const call = { tool: "edit", sessionID: "s", callID: "c" }
            const before = hooks["tool.execute.before"](call, { args: {} })
            await before.then(() => console.log("goes on"), (error) => console.log("denied: " + error.message))
            await hooks["tool.execute.after"]({ ...call, args: {} }, { output: "" })
        "#;
        let mut node = std::process::Command::new("node");
        let output = node.args(["--input-type=module", "-e", script]).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn the_plugin_of_opencode_denies_what_the_hook_denies_and_every_failure_if_it_is_required() {
        let world = World::new();
        let denies = "#!/bin/sh\ncat >/dev/null\necho 'ask the user' >&2\nexit 2\n";
        let fails = "#!/bin/sh\ncat >/dev/null\necho 'no hub' >&2\nexit 1\n";
        let silent = "#!/bin/sh\ncat >/dev/null\necho nonsense\n";
        assert_eq!(ask_plugin(&world, denies, &[]), "denied: ask the user\n");
        for program in [fails, silent, ""] {
            assert_eq!(ask_plugin(&world, program, &[]), "goes on\n", "{program}");
            let said = ask_plugin(&world, program, &["--require"]);
            assert!(said.starts_with("denied: ") && said.len() > 20, "{program}: {said}");
        }
        let passes = "#!/bin/sh\ncat >/dev/null\n";
        assert_eq!(ask_plugin(&world, passes, &["--require"]), "goes on\n");
    }

    #[test]
    fn comments_stay_where_the_agent_reads_them_and_are_an_error_where_it_does_not() {
        let world = World::new();
        let commented = "{\n  // The dark one.\n  \"ui\": { \"theme\": \"x\" } // for now\n}\n";
        let gemini = world.home().join(".gemini/settings.json");
        write(&gemini, commented);
        world.run(&["hook", "install", "gemini", "--yes"]).ok();
        let text = read(gemini.clone());
        assert!(
            text.contains("// The dark one.\n  \"ui\": { \"theme\": \"x\" }, // for now\n  \"hooks\": {\n"),
            "{text}"
        );
        world.run(&["hook", "remove", "gemini", "--yes"]).ok();
        assert_eq!(read(gemini), commented);

        write(&settings(&world), commented);
        let ran = world.run(&["hook", "install", "claude", "--yes"]);
        assert_eq!(ran.code, 5, "{ran:?}");
        assert!(
            ran.stderr.contains("settings.json:2:3: Comments are not allowed; Claude Code ignores"),
            "{ran:?}"
        );
        assert_eq!(read(settings(&world)), commented);
    }

    #[test]
    fn another_path_and_other_options_are_updated_in_place() {
        let world = busy();
        world.run(&["hook", "install", "claude", "--yes"]).ok();
        let text = read(settings(&world));
        fs::write(settings(&world), text.replace(&linkspan(), "/old/bin/linkspan")).unwrap();
        let status = world.run(&["hook", "status", "claude"]);
        assert_eq!(status.code, 1, "{status:?}");
        assert!(status.stdout.contains("it runs /old/bin/linkspan, which does not exist"), "{status:?}");
        let doctor = world.run(&["doctor"]).stdout;
        assert!(doctor.contains("/old/bin/linkspan, which does not exist"), "{doctor}");
        let said = world.json(&["hook", "install", "claude", "--yes"]);
        assert_eq!(said["agents"][0]["changes"][0], json!({ "event": "Notification", "change": "updated" }));
        assert_eq!(read(settings(&world)), text);
        assert_eq!(read(backup(&world)), BUSY, "an update does not replace the backup");

        world.run(&["hook", "install", "claude", "--yes", "--always", "--commands"]).ok();
        let text = read(settings(&world));
        assert!(
            text.contains("NotebookEdit|Bash\"") && text.contains(" hook --always --commands\""),
            "{text}"
        );
        world.run(&["hook", "remove", "--yes"]).ok();
        assert_eq!(read(settings(&world)), BUSY);
    }

    #[test]
    fn the_user_is_asked_on_a_terminal_and_needs_a_flag_elsewhere() {
        let world = busy();
        let refused = world.run(&["hook", "install", "claude"]);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stdout.contains("+++ ") && refused.stderr.contains("--yes"), "{refused:?}");
        let refused = world.run(&["hook", "install", "claude", "--json"]);
        assert_eq!((refused.code, &refused.json()["error"]["code"]), (2, &json!("usage")));
        for (answer, code) in [("\r", 1), ("n\r", 1)] {
            let mut tty = Tty::run(&world, 120, 100, &["hook", "install", "claude"], &[]);
            tty.sees("install the hook? [y/N]");
            tty.types(answer);
            assert_eq!(tty.ends(), code);
            assert_eq!(read(settings(&world)), BUSY);
        }
        let mut tty = Tty::run(&world, 120, 100, &["hook", "install", "claude"], &[]);
        tty.sees("install the hook? [y/N]");
        tty.types("y\r");
        assert_eq!(tty.ends(), 0);
        assert!(read(settings(&world)).contains(&command(&linkspan())));
    }

    #[test]
    fn a_file_that_another_program_changes_meanwhile_is_left_as_it_is() {
        let world = busy();
        let mut tty = Tty::run(&world, 120, 100, &["hook", "install", "claude"], &[]);
        tty.sees("install the hook? [y/N]");
        let theirs = BUSY.replace("opus", "sonnet");
        fs::write(settings(&world), &theirs).unwrap();
        tty.types("y\r");
        assert_eq!(tty.ends(), 1);
        tty.sees("was changed by another program meanwhile");
        assert_eq!(read(settings(&world)), theirs);
    }

    #[test]
    fn a_broken_file_is_named_with_line_and_column_and_others_are_written() {
        let world = busy();
        let broken = world.home().join(".gemini/settings.json");
        write(&broken, "{\n  \"ui\": {},\n  \"hooks\": { \"BeforeTool\": [ }\n}\n");
        let ran = world.run(&["hook", "install", "claude", "gemini", "--yes"]);
        assert_eq!(ran.code, 5, "{ran:?}");
        assert!(ran.stderr.contains(&format!("{}:3:30: ", broken.display())), "{ran:?}");
        assert!(read(settings(&world)).contains(&command(&linkspan())));
        assert!(!read(broken).contains("linkspan"));
        let status = world.run(&["hook", "status"]);
        assert_eq!(status.code, 1);
        assert!(status.stdout.contains("unreadable"), "{status:?}");

        fs::write(settings(&world), b"{ \"a\": \"\xff\" }").unwrap();
        let ran = world.run(&["hook", "remove", "claude", "--yes"]);
        assert_eq!(ran.code, 5, "{ran:?}");
        assert!(ran.stderr.contains("settings.json:1:9: Expected UTF-8"), "{ran:?}");
        fs::remove_file(settings(&world)).unwrap();
        fs::create_dir(settings(&world)).unwrap();
        let ran = world.run(&["hook", "install", "claude", "--yes"]);
        assert_eq!(ran.code, 5, "{ran:?}");
        assert!(ran.stderr.contains("is a folder"), "{ran:?}");
    }

    #[test]
    fn a_symlink_is_written_through_and_named() {
        let world = World::new();
        let dotfiles = world.folder("dotfiles").join("claude.json");
        fs::write(&dotfiles, BUSY).unwrap();
        fs::create_dir(world.home().join(".claude")).unwrap();
        symlink(&dotfiles, settings(&world)).unwrap();
        let ran = world.run(&["hook", "install", "claude", "--yes"]).ok();
        assert!(ran.stdout.contains(&format!("leads to {}", dotfiles.display())), "{ran:?}");
        assert!(fs::symlink_metadata(settings(&world)).unwrap().is_symlink());
        assert!(read(dotfiles.clone()).contains(&command(&linkspan())));
        world.run(&["hook", "remove", "claude", "--yes"]).ok();
        assert_eq!(read(dotfiles.clone()), BUSY);

        fs::remove_file(&dotfiles).unwrap();
        let ran = world.run(&["hook", "install", "claude", "--yes"]);
        assert_eq!(ran.code, 5, "{ran:?}");
        assert!(ran.stderr.contains("is a symlink to nothing"), "{ran:?}");
    }

    #[test]
    fn folders_that_variables_name_are_used() {
        let world = World::new();
        let other = world.folder("other");
        let at = |name: &str| other.join(name).display().to_string();
        let agents = ["claude", "codex", "copilot", "gemini", "qwen", "opencode"];
        let args = [&["hook", "install", "--yes", "--json"], &agents[..]].concat();
        let mut command = world.command(&args);
        for (variable, name) in [
            ("CLAUDE_CONFIG_DIR", "claude"),
            ("CODEX_HOME", "codex"),
            ("COPILOT_HOME", "copilot"),
            ("GEMINI_CLI_HOME", "gemini"),
            ("QWEN_HOME", "qwen"),
            ("XDG_CONFIG_HOME", "config"),
        ] {
            command.env(variable, at(name));
        }
        let said: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        let paths: Vec<&str> =
            said["agents"].as_array().unwrap().iter().map(|agent| agent["path"].as_str().unwrap()).collect();
        let expect = [
            "claude/settings.json",
            "codex/hooks.json",
            "copilot/hooks/linkspan.json",
            "gemini/.gemini/settings.json",
            "qwen/settings.json",
            "config/opencode/plugins/linkspan.js",
        ];
        assert_eq!(paths, expect.map(at));
        assert!(fs::read_dir(world.home()).unwrap().next().is_none());
    }

    #[test]
    fn without_a_name_the_agents_of_this_machine_get_the_hook() {
        let world = World::new();
        let none = world.command(&["hook", "install", "--yes"]).env("PATH", "/none").output().unwrap();
        assert_eq!(none.status.code(), Some(1), "{none:?}");
        assert!(String::from_utf8(none.stderr).unwrap().contains("no agent was found"));
        let programs = world.folder("bin");
        fs::write(programs.join("qwen"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(programs.join("qwen"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(world.home().join(".gemini")).unwrap();
        let output =
            world.command(&["hook", "install", "--yes", "--json"]).env("PATH", &programs).output().unwrap();
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        let agents: Vec<&Value> =
            said["agents"].as_array().unwrap().iter().map(|agent| &agent["agent"]).collect();
        assert_eq!(agents, ["gemini", "qwen"]);
    }

    #[test]
    fn a_plugin_of_somebody_else_is_not_replaced() {
        let world = World::new();
        let plugin = world.root().join("c/opencode/plugins/linkspan.js");
        write(&plugin, "export const Mine = async () => ({})\n");
        let ran = world.run(&["hook", "install", "opencode", "--yes"]);
        assert_eq!(ran.code, 5, "{ran:?}");
        world.run(&["hook", "remove", "opencode", "--yes"]).ok();
        assert_eq!(read(plugin), "export const Mine = async () => ({})\n");
    }

    mod as_user {
        use super::*;

        #[test]
        fn a_file_that_may_not_be_written_is_left_alone() {
            prerequisites::unprivileged_user();
            let world = busy();
            fs::set_permissions(settings(&world), fs::Permissions::from_mode(0o400)).unwrap();
            let ran = world.run(&["hook", "install", "claude", "--yes"]);
            assert_eq!(ran.code, 5, "{ran:?}");
            assert!(ran.stderr.contains("cannot write"), "{ran:?}");
            assert_eq!(read(settings(&world)), BUSY);
        }
    }
}

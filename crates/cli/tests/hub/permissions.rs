//! Commands and code run only with the user's permission: the prompt, and what agents receive.

#[cfg(test)]
mod tests {
    use linkspan_editor_api as api;
    use linkspan_editor_api::AskOption;
    use serde_json::{Value, json};

    use crate::support::editor::all_capabilities;
    use crate::support::*;

    fn willing() -> api::Capabilities {
        api::Capabilities { terminal: true, questions: true, execute_code: true, ..all_capabilities() }
    }

    fn attach(world: &World) -> Editor {
        EditorBuilder::new(world).capabilities(willing()).attach()
    }

    fn run(agent: &mut OwnAgent, command: &str) -> i64 {
        agent.call("runInTerminal", json!({ "command": command }))
    }

    fn asks(world: &World) -> Vec<Value> {
        world.json(&["asks"])["asks"].as_array().unwrap().clone()
    }

    /// The id of the pending question.
    fn waiting(world: &World) -> String {
        eventually("it is asked", || Some(asks(world).first()?["ask"].as_str()?.to_owned()))
    }

    fn clients_file(world: &World) -> std::path::PathBuf {
        world.json(&["clients"])["file"].as_str().unwrap().into()
    }

    /// The kind and the message of a failure.
    #[track_caller]
    fn failure(told: &Value) -> (String, String) {
        let word = |name: &str| told["error"][name].as_str().unwrap_or_else(|| panic!("{told}")).to_owned();
        (word("kind"), word("message"))
    }

    #[test]
    fn a_command_runs_once_it_is_allowed_and_is_asked_about_as_it_is() {
        let world = World::new();
        let mut editor = attach(&world);
        let mut agent = OwnAgent::join(&world, "k3y");
        let folder = world.path("src");
        std::fs::create_dir(&folder).unwrap();
        let arguments = json!({ "command": "make\u{202e}\n", "cwd": folder, "waitMs": 5000 });
        let call = agent.call("runInTerminal", arguments);
        let asked = editor.question(1);
        assert_eq!(
            asked.question,
            format!("Allow tester (linkspan) to run this command in {}?", folder.display())
        );
        assert_eq!(asked.detail.as_deref(), Some("make\\u{202e}\n"), "nothing in it is hidden from the user");
        let offered =
            [AskOption::AllowOnce, AskOption::AllowSession, AskOption::AllowAlways, AskOption::Deny];
        assert_eq!(asked.options, offered);
        assert!(agent.waits(call));
        assert_eq!(editor.state().ran, []);
        editor.reply(&asked, Some(AskOption::AllowOnce));
        let ran = json!({ "terminal": "t1", "output": "make\u{202e}\n", "exitCode": 3, "timedOut": false });
        assert_eq!(agent.told(call), ran);
        let cwd = Some(folder.to_str().unwrap().to_owned());
        let (command, name) = ("make\u{202e}\n".into(), Some("tester".into()));
        let run = api::TerminalRun { command, cwd, terminal: None, name, timeout_ms: 5000 };
        assert_eq!(editor.state().ran, [run]);
    }

    #[test]
    fn once_is_once_and_a_session_is_that_agents_and_for_that_kind_of_deed() {
        let world = World::new();
        let mut editor = attach(&world);
        let mut agent = OwnAgent::join(&world, "k3y");
        let first = run(&mut agent, "one");
        let also = run(&mut agent, "two");
        let asked = editor.question(2);
        editor.reply(&asked, Some(AskOption::AllowSession));
        assert_eq!(agent.told(also)["output"], "two");
        assert_eq!(agent.told(first)["output"], "one", "answered by the same word");
        assert_eq!(editor.until("it is taken back", |state| state.unasked.pop()), editor.question(1).ask);
        let third = run(&mut agent, "three");
        assert_eq!(agent.told(third)["output"], "three");
        let code = agent.call("executeCode", json!({ "code": "1 + 1" }));
        let asked = editor.question(3);
        assert!(asked.question.contains("code"), "{asked:?}");
        editor.reply(&asked, Some(AskOption::AllowOnce));
        assert_eq!(agent.told(code)["output"], "1 + 1");
        let mut other = OwnAgent::join(&world, "0ther");
        let theirs = run(&mut other, "four");
        editor.reply(&editor.question(4), Some(AskOption::Deny));
        assert_eq!(failure(&other.told(theirs)).0, "denied");
    }

    #[test]
    fn a_session_ends_with_a_goodbye_and_not_with_a_lost_socket() {
        let world = World::new();
        let mut editor = attach(&world);
        let mut agent = OwnAgent::join(&world, "k3y");
        let call = run(&mut agent, "one");
        editor.reply(&editor.question(1), Some(AskOption::AllowSession));
        agent.told(call);
        drop(agent);
        let mut agent = OwnAgent::join(&world, "k3y");
        let call = run(&mut agent, "two");
        assert_eq!(agent.told(call)["output"], "two");
        agent.leave();
        let mut agent = OwnAgent::join(&world, "k3y");
        let call = run(&mut agent, "three");
        editor.reply(&editor.question(2), Some(AskOption::Deny));
        assert_eq!(failure(&agent.told(call)).0, "denied");
    }

    #[test]
    fn a_refusal_and_a_closed_question_are_told_apart_and_nothing_runs() {
        let world = World::new();
        let mut editor = attach(&world);
        let mut agent = OwnAgent::join(&world, "k3y");
        let call = run(&mut agent, "rm -rf /");
        editor.reply(&editor.question(1), Some(AskOption::Deny));
        let (kind, message) = failure(&agent.told(call));
        assert_eq!(kind, "denied");
        assert!(message.contains("refused"), "{message}");
        let call = run(&mut agent, "rm -rf /");
        let asked = editor.question(2);
        editor.reply(&asked, None);
        let (kind, message) = failure(&agent.told(call));
        assert_eq!(kind, "denied");
        assert!(message.contains("without an answer"), "{message}");
        editor.reply(&asked, Some(AskOption::AllowOnce));
        agent.ask("getWorkspaceFolders", json!({}));
        assert_eq!(editor.state().ran, [], "the first answer counts");
    }

    #[test]
    fn a_question_is_there_again_after_a_window_reload() {
        let world = World::new();
        let editor = attach(&world);
        let mut agent = OwnAgent::join(&world, "k3y");
        let call = run(&mut agent, "one");
        let asked = editor.question(1);
        editor.kill();
        let mut editor = attach(&world);
        assert_eq!(editor.question(1), asked);
        editor.reply(&asked, Some(AskOption::AllowOnce));
        assert_eq!(agent.told(call)["output"], "one");
    }

    #[test]
    fn an_answer_to_a_question_of_a_hub_that_died_allows_nothing() {
        let world = World::new();
        let mut editor = attach(&world);
        let mut agent = OwnAgent::join(&world, "k3y");
        run(&mut agent, "one");
        let stale = editor.question(1);
        world.kill_hub();
        editor.until("the hub is back", |state| (state.told.last()?.0 == "hub/back").then_some(()));
        let mut agent = OwnAgent::join(&world, "k3y");
        let call = run(&mut agent, "two");
        let asked = editor.question(2);
        assert_ne!(asked.ask, stale.ask);
        editor.reply(&stale, Some(AskOption::AllowAlways));
        assert!(agent.waits(call));
        editor.reply(&asked, Some(AskOption::Deny));
        assert_eq!(failure(&agent.told(call)).0, "denied");
        assert_eq!(editor.state().ran, []);
    }

    #[test]
    fn a_question_that_nobody_waits_for_is_taken_back() {
        let world = World::new();
        let mut editor = attach(&world);
        let mut agent = OwnAgent::join(&world, "k3y");
        let call = run(&mut agent, "one");
        let asked = editor.question(1);
        agent.notify("notifications/cancelled", json!({ "requestId": call }));
        assert_eq!(editor.until("it is taken back", |state| state.unasked.pop()), asked.ask);
        run(&mut agent, "two");
        let asked = editor.question(2);
        drop(agent);
        assert_eq!(editor.until("it is taken back", |state| state.unasked.pop()), asked.ask);
        editor.reply(&asked, Some(AskOption::AllowOnce));
        let mut agent = OwnAgent::join(&world, "k3y");
        agent.ask("getWorkspaceFolders", json!({}));
        assert_eq!(editor.state().ran, []);
    }

    #[test]
    fn claude_asks_before_it_executes_code() {
        let world = World::new();
        let mut editor = attach(&world);
        let mut agent = Agent::claude(&world, editor.port());
        let call = agent.send_call("executeCode", json!({ "code": "2 + 2" }));
        let asked = editor.question(1);
        assert_eq!(asked.detail.as_deref(), Some("2 + 2"));
        editor.reply(&asked, Some(AskOption::AllowOnce));
        assert_eq!(agent.texts(call), ["2 + 2"]);
    }

    #[test]
    fn where_the_editor_cannot_ask_a_command_answers() {
        let world = World::new();
        let mute = api::Capabilities { questions: false, ..willing() };
        let editor = EditorBuilder::new(&world).capabilities(mute).attach();
        let mut agent = OwnAgent::join(&world, "k3y");
        let listed = agent.send_request("tools/list", json!({}));
        assert!(agent.answer(listed).to_string().contains("runInTerminal"));
        let call = run(&mut agent, "make\u{202e} all");
        let ask = waiting(&world);
        let shown = world.run(&["asks"]).ok().stdout;
        assert!(shown.contains("    make\\u{202e} all\n") && shown.contains(&ask), "{shown}");
        assert!(agent.waits(call));
        let said = world.run(&["allow", &ask]).ok().stdout;
        assert!(said.contains("allowed once: Allow tester (linkspan) to run this command"), "{said}");
        assert_eq!(agent.told(call)["exitCode"], 3);
        assert_eq!(editor.state().ran.len(), 1);
        let late = world.run(&["deny", &ask]);
        assert_eq!((late.code, late.stderr.contains("no pending request")), (1, true), "{late:?}");
        run(&mut agent, "again");
        waiting(&world);
        drop(agent);
        eventually("it ends with its agent", || asks(&world).is_empty().then_some(()));
    }

    #[test]
    fn a_command_answers_what_the_editor_shows_too_and_the_editor_hears_of_it() {
        let world = World::new();
        let mut editor = attach(&world);
        let mut agent = OwnAgent::join(&world, "k3y");
        let call = run(&mut agent, "one");
        let asked = editor.question(1);
        world.run(&["deny", &asked.ask]).ok();
        assert_eq!(failure(&agent.told(call)).0, "denied");
        assert_eq!(editor.until("it is taken back", |state| state.unasked.pop()), asked.ask);
        editor.reply(&asked, Some(AskOption::AllowOnce));
        agent.ask("getWorkspaceFolders", json!({}));
        assert_eq!(editor.state().ran, []);
    }

    #[test]
    fn always_outlives_the_agent_and_the_hub_until_it_is_revoked() {
        let world = World::new();
        let mut editor = attach(&world);
        let mut agent = OwnAgent::join(&world, "k3y");
        let call = run(&mut agent, "one");
        editor.reply(&editor.question(1), Some(AskOption::AllowAlways));
        agent.told(call);
        let file = clients_file(&world);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("# ") && text.contains("name = \"tester\""), "{text}");
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        world.kill_hub();
        editor.until("the hub is back", |state| (state.told.last()?.0 == "hub/back").then_some(()));
        let mut agent = OwnAgent::join(&world, "an0ther");
        let call = run(&mut agent, "two");
        assert_eq!(agent.told(call)["output"], "two");
        let listed = world.json(&["clients"]);
        let (client, folder) = (&listed["clients"][0], json!([world.workspace()]));
        assert_eq!((&client["name"], &client["folders"]), (&json!("tester"), &folder), "{listed}");
        assert_eq!(client["may"][0]["deed"], "command", "{listed}");
        let text = world.run(&["clients"]).ok().stdout;
        assert!(text.contains("command (since "), "{text}");

        assert_eq!(world.json(&["clients", "revoke", "tester", "command"])["revoked"], 1);
        let call = run(&mut agent, "three");
        editor.reply(&editor.question(2), Some(AskOption::Deny));
        assert_eq!(failure(&agent.told(call)).0, "denied");
        assert_eq!(world.run(&["clients", "revoke", "all"]).code, 1, "there is nothing left");
    }

    #[test]
    fn another_name_dialect_or_folder_inherits_nothing() {
        let world = World::new();
        let mut editor = attach(&world);
        let mut asked = 0;
        let other = world.folder("other");
        let code = json!({ "code": "1" });
        for allowed in [
            ["tester", "linkspan", "."],
            ["someone", "claude", "."],
            ["claude-code", "nexus3", "."],
            ["claude-code", "claude", other.to_str().unwrap()],
        ] {
            let [name, dialect, folder] = allowed;
            let allow = ["clients", "allow", name, "code", "--dialect", dialect, "--folder", folder];
            world.run(&allow).ok();
            let mut agent = Agent::claude(&world, editor.port());
            let call = agent.send_call("executeCode", code.clone());
            asked += 1;
            editor.reply(&editor.question(asked), Some(AskOption::Deny));
            assert_eq!(agent.answer(call)["result"]["isError"], true);
        }
        let mut agent = Agent::claude(&world, editor.port());
        let name = world.json(&["clients"])["clients"][0]["name"].as_str().unwrap().to_owned();
        world.run(&["clients", "allow", &name, "code", "--session"]).ok();
        let call = agent.send_call("executeCode", code);
        assert_eq!(agent.texts(call), ["1"]);
        assert!(world.run(&["clients"]).ok().stdout.contains("code (this session)"));
    }

    #[test]
    fn a_broken_file_allows_nothing_and_says_so() {
        let world = World::new();
        let editor = attach(&world);
        world.run(&["clients", "allow", "tester", "command", "--dialect", "linkspan"]).ok();
        let mut agent = OwnAgent::join(&world, "k3y");
        let call = run(&mut agent, "one");
        agent.told(call);
        let file = clients_file(&world);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{text}\n[[client\n")).unwrap();
        let call = run(&mut agent, "two");
        let asked = editor.question(1);
        assert!(!asked.options.contains(&AskOption::AllowAlways), "{asked:?}");
        let ran = world.run(&["clients"]).ok();
        assert!(ran.stdout.contains("clients.toml: line "), "{ran:?}");
        let doctor = world.run(&["doctor"]);
        assert!(doctor.code == 1 && doctor.stdout.contains("clients.toml: line "), "{doctor:?}");
        assert_eq!(world.run(&["clients", "allow", "x", "git", "--dialect", "claude"]).code, 5);
        std::fs::write(&file, text).unwrap();
        world.json(&["clients"]);
        assert_eq!(agent.told(call)["output"], "two", "once it is put right, it counts");
        editor.until("it is taken back", |state| state.unasked.pop());
    }

    #[test]
    fn what_is_ruled_out_is_not_even_asked_for() {
        let world = World::with_config("[consent]\nnever = [\"command\"]\n");
        world.file(".linkspan.toml", "[consent]\nnever = [\"code\"]\n");
        let editor = attach(&world);
        let mut agent = OwnAgent::join(&world, "k3y");
        let refused = world.run(&["clients", "allow", "tester", "command"]);
        assert!(refused.code != 0 && refused.stderr.contains("consent.never"), "{refused:?}");
        for (tool, arguments) in
            [("runInTerminal", json!({ "command": "ls" })), ("executeCode", json!({ "code": "1" }))]
        {
            let call = agent.call(tool, arguments);
            let (kind, message) = failure(&agent.told(call));
            assert_eq!(kind, "denied");
            assert!(message.contains("consent.never"), "{message}");
        }
        assert!(!editor.state().asked.iter().any(|method| method == "user/ask"));
    }

    #[test]
    fn a_request_that_says_it_is_confirmed_is_asked_about_like_any_other() {
        let world = World::new();
        let mut editor = attach(&world);
        let mut agent = OwnAgent::join(&world, "k3y");
        let arguments = json!({ "command": "ls", "confirmed": true, "consent": "allowAlways" });
        let call = agent.call("runInTerminal", arguments);
        // Refused because of an unknown argument, or asked about: never run.
        if agent.waits(call) {
            editor.reply(&editor.question(1), Some(AskOption::Deny));
        }
        failure(&agent.told(call));
        assert_eq!(editor.state().ran, []);
    }

    #[test]
    fn a_direct_change_is_shown_for_review_unless_it_is_allowed_and_again_when_that_is_revoked() {
        let world = World::new();
        let file = world.file("a.txt", "one\n");
        let editor = attach(&world);
        let mut clio = Agent::open(editor.port(), &[]).unwrap();
        clio.send_json(&json!({ "type": "connect", "clientVersion": "0.1.0" }));
        clio.next_frame(DEADLINE).unwrap();
        let apply = |clio: &mut Agent, new: &str| {
            let range = json!({
                "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 3 },
            });
            let edits = json!([{ "range": range, "newText": new }]);
            clio.send_json(&json!({ "type": "applyDiff", "file": file, "edits": edits, "description": "x" }));
        };
        apply(&mut clio, "two");
        let shown = editor.shown(&file);
        assert_eq!(world.read_text("a.txt"), "one\n");
        world.run(&["reject", &shown.review]).ok();
        let name = world.json(&["clients"])["clients"][0]["name"].as_str().unwrap().to_owned();
        world.run(&["clients", "allow", &name, "edit"]).ok();
        apply(&mut clio, "six");
        eventually("it is written", || (world.read_text("a.txt") == "six\n").then_some(()));
        assert_eq!(editor.state().shown.len(), 1, "the user did not have to look");
        world.run(&["clients", "revoke", &name, "edit"]).ok();
        apply(&mut clio, "ten");
        editor.until("it is shown again", |state| (state.shown.len() == 2).then_some(()));
        assert_eq!(world.read_text("a.txt"), "six\n");
    }

    #[test]
    fn what_agents_may_do_is_nothing_that_agents_can_write() {
        let world = World::new();
        let _editor = EditorBuilder::new(&world).capabilities(willing()).folders(&[world.root()]).attach();
        world.run(&["clients", "allow", "someone", "git", "--dialect", "claude"]).ok();
        let mut agent = OwnAgent::join(&world, "k3y");
        let file = clients_file(&world);
        for path in [file.clone(), file.with_file_name("config.toml"), file.with_file_name("new")] {
            let call = agent.call("proposeChange", json!({ "path": path, "newText": "x" }));
            assert_eq!(failure(&agent.told(call)).0, "denied", "{}", path.display());
        }
    }

    #[test]
    fn a_command_stays_in_the_workspace_and_is_no_row_of_keys() {
        let world = World::new();
        let _editor = attach(&world);
        world.file("a.txt", "one\n");
        let mut agent = OwnAgent::join(&world, "k3y");
        let elsewhere = world.folder("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, world.path("link")).unwrap();
        let (link, file, none) = (world.path("link"), world.path("a.txt"), world.path("none"));
        for (arguments, expected) in [
            (json!({ "command": "ls", "cwd": elsewhere }), "outsideWorkspace"),
            (json!({ "command": "ls", "cwd": link }), "outsideWorkspace"),
            (json!({ "command": "ls", "cwd": "src" }), "invalidParams"),
            (json!({ "command": "ls", "cwd": file }), "notFound"),
            (json!({ "command": "ls", "cwd": none }), "notFound"),
            (json!({ "command": "ls\u{3}rm x" }), "invalidParams"),
            (json!({ "command": "x".repeat(70_000) }), "tooLarge"),
        ] {
            let call = agent.call("runInTerminal", arguments.clone());
            assert_eq!(failure(&agent.told(call)).0, expected, "{arguments}");
        }
    }
}

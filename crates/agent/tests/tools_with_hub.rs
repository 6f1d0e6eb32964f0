//! The tools with the real hub and an editor: what the user decides there, and what the model is told. Needs the program
//! `linkspan`, which `cargo build` makes.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::mpsc::{Receiver, channel};
    use std::sync::{Arc, Mutex};
    use std::thread;
    use std::time::Duration;

    use linkspan_agent::message::{CallArguments, ModelCall, ToolResult};
    use linkspan_agent::permissions::{PermissionMode, ToolKind};
    use linkspan_agent::tools::mcp::ServerConfig;
    use linkspan_agent::tools::{AgentTools, ToolContext, Toolbox, ToolsConfig};
    use linkspan_client::confirm::{Cancellation, ConfirmQuestion, TerminalAnswer, TerminalPrompt};
    use linkspan_client::{AgentInfo, Bridge, BridgeConfig, Surroundings};
    use linkspan_editor_api as api;
    use linkspan_editor_api::Places;
    use linkspan_testkit::editor::all_capabilities;
    use linkspan_testkit::{Editor, EditorBuilder, World, eventually, paths};
    use serde_json::{Value, json};

    const SOON: Duration = Duration::from_secs(30);

    /// A terminal in which nobody answers until a test does.
    #[derive(Default)]
    struct Terminal {
        asked: Mutex<Vec<Option<String>>>,
        answer: Mutex<Option<TerminalAnswer>>,
    }

    impl TerminalPrompt for Terminal {
        fn ask(&self, question: &ConfirmQuestion, cancelled: &Cancellation) -> TerminalAnswer {
            self.asked.lock().unwrap().push(question.note.clone());
            while !cancelled.wait_timeout(Duration::from_millis(5)) {
                if let Some(answer) = self.answer.lock().unwrap().take() {
                    return answer;
                }
            }
            TerminalAnswer::Cancelled
        }
    }

    struct Agent {
        tools: Arc<AgentTools>,
        context: ToolContext,
        terminal: Arc<Terminal>,
    }

    impl Agent {
        fn new(world: &World, mode: PermissionMode) -> Agent {
            Agent::with(world, mode, BTreeMap::new(), BridgeConfig::default())
        }

        fn with(
            world: &World,
            mode: PermissionMode,
            mcp: BTreeMap<String, ServerConfig>,
            config: BridgeConfig,
        ) -> Agent {
            assert!(
                paths::linkspan().exists(),
                "the program `linkspan` is missing: build it with `cargo build`"
            );
            let surroundings = Surroundings {
                cwd: world.workspace(),
                places: Places {
                    home: world.home(),
                    runtime: world.runtime(),
                    state: world.state(),
                    config: world.config_file().parent().unwrap().into(),
                },
                variables: BTreeMap::new(),
                uid: rustix::process::geteuid().as_raw(),
                wsl: None,
            };
            let bridge = Arc::new(Bridge::new(config, AgentInfo::new("agent", "1"), surroundings));
            let mut config = ToolsConfig::new(Arc::clone(&bridge));
            config.mcp = mcp;
            let terminal = Arc::<Terminal>::default();
            let context = ToolContext {
                cwd: world.workspace(),
                agent: "main".to_owned(),
                bridge,
                prompt: terminal.clone(),
                cancelled: Arc::new(Cancellation::new()),
                mode,
                propose: Arc::new(|_| {}),
                output: Arc::new(|_| {}),
            };
            Agent { tools: Arc::new(AgentTools::new(config)), context, terminal }
        }

        fn connected(world: &World) -> Agent {
            let agent = Agent::new(world, PermissionMode::Trusted);
            agent.context.bridge.auto_connect(&world.workspace()).unwrap().expect("no editor found");
            agent
        }

        fn call(&self, tool: &str, arguments: Value) -> Receiver<ToolResult> {
            let (say, heard) = channel();
            let (tools, context) = (Arc::clone(&self.tools), self.context.clone());
            let call = ModelCall {
                id: "1".to_owned(),
                name: tool.to_owned(),
                arguments: CallArguments::Json(arguments),
                opaque: None,
            };
            thread::spawn(move || say.send(tools.run(&call, &context)));
            heard
        }

        #[track_caller]
        fn run(&self, tool: &str, arguments: Value) -> ToolResult {
            end(&self.call(tool, arguments))
        }
    }

    #[track_caller]
    fn end(heard: &Receiver<ToolResult>) -> ToolResult {
        heard.recv_timeout(SOON).expect("the tool hangs")
    }

    const BASE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

    fn both_ends() -> Value {
        json!({ "path": "a.txt", "edits": [
        { "old_string": "one\n", "new_string": "ONE\n" },
        { "old_string": "eight\n", "new_string": "EIGHT\n" },
    ] })
    }

    #[test]
    fn the_model_is_told_word_for_word_what_the_user_decided_in_the_editor() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        let path = world.file("a.txt", BASE);
        let agent = Agent::connected(&world);

        // Rejected, with a reason and a comment.
        let call = agent.call("edit_file", both_ends());
        let shown = editor.shown(&path);
        assert_eq!(shown.label, "main: a.txt");
        let decision = api::Decision {
            verdict: api::Verdict::Reject { reason: Some("no capitals".into()) },
            comments: vec![api::ReviewComment { line: 8, text: "why this?".into() }],
            write_here: false,
        };
        let (review, revision, digest) = (shown.review.clone(), shown.revision, Some(shown.digest.clone()));
        editor.request(&api::ReviewDecided { review, revision, digest, decision }).unwrap();
        let result = end(&call);
        assert!(result.is_error && !result.cancelled);
        assert_eq!(
            result.text,
            "The user rejected the change; a.txt is unchanged.\nTheir reason: no capitals\n\
         Their comments on lines of your proposal:\n  line 8: why this?"
        );
        assert_eq!(world.read_text("a.txt"), BASE);

        // One hunk of two.
        editor.state().shown.clear();
        let call = agent.call("edit_file", both_ends());
        let shown = editor.shown(&path);
        let first = shown.hunks.first().unwrap().id.clone();
        editor.decide(&shown, api::Verdict::AcceptHunks { hunks: vec![first] });
        let result = end(&call);
        assert!(!result.is_error, "{result:?}");
        assert!(
            result.text.starts_with("The user accepted 1 of 2 parts of the change and rejected the rest."),
            "{result:?}"
        );
        assert!(
            result.text.contains("-EIGHT\n+eight\n") && result.text.contains("\n8\teight\n"),
            "{result:?}"
        );
        assert_eq!(world.read_text("a.txt"), BASE.replace("one", "ONE"));

        // Edited.
        editor.state().shown.clear();
        let call =
            agent.call("edit_lines", json!({ "path": "a.txt", "start_line": 2, "new_content": "TWO" }));
        let shown = editor.shown(&path);
        let text = BASE.replace("one", "ONE").replace("two", "zwei");
        editor.decide(&shown, api::Verdict::AcceptEdited { text: text.clone() });
        let result = end(&call);
        assert!(
            result.text.starts_with("The user accepted the change with edits of their own."),
            "{result:?}"
        );
        assert!(result.text.contains("-TWO\n+zwei\n") && result.text.contains("\n2\tzwei\n"), "{result:?}");
        assert_eq!(world.read_text("a.txt"), text);

        // All of it.
        editor.state().shown.clear();
        let call = agent.call("write_file", json!({ "path": "new.txt", "content": "x\n" }));
        let shown = editor.shown(&world.path_str("new.txt"));
        editor.accept(&shown);
        assert_eq!(end(&call).text, "The user accepted the change. Created new.txt: 1 line.");
        assert_eq!(world.read_text("new.txt"), "x\n");
    }

    #[test]
    fn the_first_answer_wins_and_takes_the_question_away_from_the_other_place() {
        let world = World::new();
        let editor = Editor::attach(&world);
        let path = world.file("a.txt", BASE);
        let agent = Agent::connected(&world);
        let call = agent.call("edit_file", both_ends());
        let shown = editor.shown(&path);
        *agent.terminal.answer.lock().unwrap() = Some(TerminalAnswer::Allow);
        let result = end(&call);
        assert!(result.text.starts_with("The user accepted the change."), "{result:?}");
        editor.hidden(&shown.review);
        assert_eq!(world.read_text("a.txt"), BASE.replace("one", "ONE").replace("eight", "EIGHT"));
    }

    #[test]
    fn an_editor_that_dies_leaves_the_question_in_the_terminal() {
        let mut world = World::new();
        world.may_leave_files();
        let editor = Editor::attach(&world);
        let path = world.file("a.txt", BASE);
        let agent = Agent::connected(&world);
        let call = agent.call("edit_file", both_ends());
        editor.shown(&path);
        world.kill_hub();
        editor.kill();
        eventually("it is asked in the terminal", || {
            (!agent.terminal.asked.lock().unwrap().is_empty()).then_some(())
        });
        *agent.terminal.answer.lock().unwrap() =
            Some(TerminalAnswer::Deny { reason: Some("later".into()), comments: vec![] });
        let result = end(&call);
        assert!(result.is_error && result.text.contains("Their reason: later"), "{result:?}");
        assert_eq!(world.read_text("a.txt"), BASE);
    }

    #[test]
    fn a_cancelled_turn_takes_its_review_off_the_screen() {
        let world = World::new();
        let editor = Editor::attach(&world);
        let path = world.file("a.txt", BASE);
        let agent = Agent::connected(&world);
        let call = agent.call("edit_file", both_ends());
        let shown = editor.shown(&path);
        agent.context.cancelled.cancel();
        let result = end(&call);
        assert!(result.cancelled && result.is_error, "{result:?}");
        editor.hidden(&shown.review);
        assert_eq!(world.read_text("a.txt"), BASE);
    }

    #[test]
    fn the_tools_of_the_editor_are_those_of_the_window() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        let path = world.file("src/a.txt", BASE);
        let agent = Agent::connected(&world);

        let info = agent.run("ide.get_workspace_info", json!({}));
        assert!(info.text.contains(world.workspace().to_str().unwrap()), "{info:?}");
        let listed = agent.run("ide.list_files", json!({ "pattern": "**/*.txt" }));
        assert!(!listed.is_error && listed.text.contains("src/a.txt"), "{listed:?}");
        let found = agent.run("ide.search_files", json!({ "query": "three" }));
        assert!(found.text.contains("\"line\": 3"), "{found:?}");

        editor.open(&path, "unsaved\n", true);
        let read = eventually("the unsaved text arrives", || {
            let read = agent.run("ide.read_file", json!({ "path": "src/a.txt", "end_line": null }));
            read.text.contains("unsaved\n").then_some(read)
        });
        assert!(read.text.contains("\"dirty\":true"), "{read:?}");
        let modified = agent.run("ide.is_modified", json!({ "path": "src/a.txt" }));
        assert!(!modified.is_error && modified.text.contains("true"), "{modified:?}");
        let open = agent.run("ide.get_open_files", json!({}));
        assert!(open.text.contains("src/a.txt"), "{open:?}");

        let wrong = agent.run("ide.read_file", json!({ "file": "x" }));
        assert!(wrong.is_error && wrong.text.contains("no argument `file`"), "{wrong:?}");
        let outside = agent.run("ide.read_file", json!({ "path": "/etc/passwd" }));
        assert!(outside.is_error && !outside.text.contains("root:"), "{outside:?}");

        let new = json!({ "path": "src/b.txt", "content": "b\n" });
        let call = agent.call("ide.apply_edit", new);
        let shown = editor.shown(&world.path_str("src/b.txt"));
        assert!(shown.label.starts_with("main: "), "{}", shown.label);
        editor.accept(&shown);
        let applied = end(&call);
        assert!(!applied.is_error && applied.text.contains("\"applied\":true"), "{applied:?}");
        assert_eq!(world.read_text("src/b.txt"), "b\n");

        editor.state().shown.clear();
        let call = agent.call("ide.apply_edit", json!({ "path": "src/b.txt", "content": "c\n" }));
        let shown = editor.shown(&world.path_str("src/b.txt"));
        editor.decide(&shown, api::Verdict::Reject { reason: Some("keep b".into()) });
        let refused = end(&call);
        assert!(refused.is_error && refused.text.contains("keep b"), "{refused:?}");
    }

    #[test]
    fn unsaved_text_of_the_user_is_what_is_read_and_changed() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\r\ntwo\r\n");
        let agent = Agent::connected(&world);
        editor.open(&path, "one\r\nunsaved\r\n", true);
        eventually("the unsaved text arrives", || {
            let read = agent.run("read_file", json!({ "path": "a.txt" })).text;
            (read == "[With the user's unsaved changes in the editor.]\n1\tone\n2\tunsaved\n").then_some(())
        });
        let edit = || json!({ "path": "a.txt", "old_string": "unsaved\n", "new_string": "unsaved\nmore\n" });
        let call = agent.call("edit_file", edit());
        let shown = editor.shown(&path);
        assert_eq!(
            (shown.base.as_str(), shown.proposed.as_str()),
            ("one\r\nunsaved\r\n", "one\r\nunsaved\r\nmore\r\n")
        );
        assert!(agent.terminal.asked.lock().unwrap().is_empty(), "only the editor can write there");
        editor.accept(&shown);
        let result = end(&call);
        assert!(!result.is_error && result.text.contains("1 line added, 0 removed"), "{result:?}");

        editor.open(&path, "one\r\nunsaved\r\n", true);
        let yolo = Agent::new(&world, PermissionMode::Yolo);
        yolo.context.bridge.auto_connect(&world.workspace()).unwrap().unwrap();
        let before = world.read_text("a.txt");
        let refused = yolo.run("edit_file", edit());
        assert!(refused.is_error && refused.text.contains("unsaved changes of the user"), "{refused:?}");
        assert_eq!(world.read_text("a.txt"), before);
    }

    #[test]
    fn text_that_the_user_types_while_they_decide_in_the_terminal_is_not_overwritten() {
        let world = World::new();
        let editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\n");
        let config = BridgeConfig { use_ide_diffs: false, ..BridgeConfig::default() };
        let agent = Agent::with(&world, PermissionMode::Trusted, BTreeMap::new(), config);
        agent.context.bridge.auto_connect(&world.workspace()).unwrap().expect("no editor found");
        editor.open(&path, "one\n", false);
        let call = agent.call("append_file", json!({ "path": "a.txt", "content": "two\n" }));
        let asked = |times: usize| {
            eventually("the terminal asks", || {
                let asked = agent.terminal.asked.lock().unwrap();
                (asked.len() == times).then(|| asked.last().cloned().flatten())
            })
        };
        asked(1);
        editor.open(&path, "typed\none\n", true);
        eventually("the unsaved text arrives", || {
            let read = agent.run("read_file", json!({ "path": "a.txt" })).text;
            read.contains("typed").then_some(())
        });
        *agent.terminal.answer.lock().unwrap() = Some(TerminalAnswer::Allow);
        let why = asked(2).unwrap_or_default();
        assert!(why.contains("You changed the file in the editor"), "{why}");
        assert_eq!(world.read_text("a.txt"), "one\n");
        // The terminal cannot write what is only in the editor.
        *agent.terminal.answer.lock().unwrap() = Some(TerminalAnswer::Allow);
        let result = end(&call);
        assert!(result.is_error && result.text.contains("ask the user to save"), "{result:?}");
        assert_eq!(world.read_text("a.txt"), "one\n");
    }

    #[test]
    fn the_hub_asks_about_commands_in_its_terminals_so_we_do_not() {
        let world = World::new();
        let capabilities = api::Capabilities { questions: true, terminal: true, ..all_capabilities() };
        let mut editor = EditorBuilder::new(&world).capabilities(capabilities).attach();
        let agent = Agent::connected(&world);
        assert_eq!(agent.tools.kind("ide.run_in_terminal"), Some(ToolKind::Editor));
        assert_eq!(agent.tools.kind("ide.git_commit"), Some(ToolKind::Editor));
        assert_eq!(agent.tools.kind("run_command"), Some(ToolKind::Command));
        let call = agent.call("ide.run_in_terminal", json!({ "command": "echo from the hub" }));
        let question = editor.question(1);
        editor.reply(&question, Some(api::AskOption::AllowOnce));
        let result = end(&call);
        assert!(!result.is_error && result.text.contains("from the hub"), "{result:?}");

        let call = agent.call("ide.run_in_terminal", json!({ "command": "echo no" }));
        let question = editor.question(2);
        editor.reply(&question, Some(api::AskOption::Deny));
        assert!(end(&call).is_error);

        let sandboxed = Agent::new(&world, PermissionMode::Sandboxed);
        sandboxed.context.bridge.auto_connect(&world.workspace()).unwrap().unwrap();
        let refused = sandboxed.run("ide.run_in_terminal", json!({ "command": "echo no" }));
        assert!(refused.is_error && refused.text.contains("outside the sandbox"), "{refused:?}");
        assert_eq!(
            Agent::new(&world, PermissionMode::Trusted).tools.kind("ide.run_in_terminal"),
            Some(ToolKind::Command)
        );
    }

    #[test]
    fn problems_that_the_editor_sees_after_a_change_come_with_its_result() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        let path = world.file("a.rs", "fn main() {}\n");
        let agent = Agent::connected(&world);
        editor.open(&path, "fn main() {}\n", false);
        {
            let mut state = editor.state();
            let document = state.documents.get_mut(&path).unwrap();
            let at = api::Position { line: 1, character: 0 };
            document.diagnostics = vec![api::Diagnostic {
                range: api::Range { start: at, end: at },
                severity: api::Severity::Error,
                message: "expected `;`,\nfound `}`".into(),
                source: Some("rustc".into()),
                code: Some("E1".into()),
            }];
        }
        let call = agent.call("append_file", json!({ "path": "a.rs", "content": "}" }));
        let shown = editor.shown(&path);
        editor.accept(&shown);
        let result = end(&call);
        assert!(!result.is_error, "{result:?}");
        assert!(result.text.contains("The editor reports problems in this file"), "{result:?}");
        assert!(result.text.contains(":2: error: expected `;`, found `}` [E1]\n"), "{result:?}");
    }

    #[test]
    fn a_symbol_is_renamed_in_the_files_that_the_user_accepts_and_the_model_is_told_of_each() {
        let world = World::new();
        let capabilities = api::Capabilities { language: true, ..all_capabilities() };
        let mut editor = EditorBuilder::new(&world).capabilities(capabilities).attach();
        let agent = Agent::connected(&world);
        let (first, second) = (world.file("a.ts", "sum(1)\n"), world.file("b.ts", "sum(2)\n"));
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 3 } });
        let edits = json!([{ "range": range, "newText": "add" }]);
        let files =
            json!({ "files": [{ "path": first, "edits": edits }, { "path": second, "edits": edits }] });
        editor.state().scripted.insert("language/rename".to_owned(), files);
        let rename = || json!({ "path": "a.ts", "line": 1, "column": 1, "new_name": "add" });

        let renamed = agent.call("ide.rename_symbol", rename());
        let (of_first, of_second) = (editor.shown(&first), editor.shown(&second));
        let (_, asked) = editor.state().scripted_asked[0].clone();
        assert_eq!((&asked["position"]["line"], &asked["newName"]), (&json!(0), &json!("add")));
        assert_eq!((of_first.label.as_str(), &of_first.set), ("Rename to add", &of_second.set));
        assert!(of_first.set.is_some(), "the files belong together");
        assert_eq!(world.read_text("a.ts"), "sum(1)\n", "nothing is applied without a decision");
        editor.accept(&of_first);
        editor.decide(&of_second, api::Verdict::Reject { reason: Some("not here".to_owned()) });
        let told = end(&renamed);
        assert!(!told.is_error, "{}", told.text);
        let [yes, no] = [&first, &second];
        assert_eq!(
            told.text,
            format!("Accepted as proposed: {yes}; the file is written.\nRejected: {no}: not here")
        );
        assert_eq!([world.read_text("a.ts"), world.read_text("b.ts")], ["add(1)\n", "sum(2)\n"]);

        let none = json!({ "files": [], "message": "You cannot rename this element." });
        editor.state().scripted.insert("language/rename".to_owned(), none);
        let told = agent.run("ide.rename_symbol", rename());
        assert!(told.is_error && told.text.contains("You cannot rename this element"), "{}", told.text);
        let outside = json!({ "files": [{ "path": "/etc/hosts", "edits": edits }] });
        editor.state().scripted.insert("language/rename".to_owned(), outside);
        let told = agent.run("ide.rename_symbol", rename());
        assert!(told.is_error && told.text.contains("/etc/hosts"), "{}", told.text);
    }

    #[test]
    fn our_own_mcp_server_is_one_of_the_agents_servers() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        let path = world.file("a.txt", BASE);
        let command = world.command(&["mcp"]);
        let env: BTreeMap<String, String> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value?.to_str()?.to_owned())))
            .collect();
        let config = ServerConfig {
            command: Some(paths::linkspan().display().to_string()),
            args: vec!["mcp".into()],
            env,
            cwd: Some(world.workspace().display().to_string()),
            ..ServerConfig::default()
        };
        let agent = Agent::with(
            &world,
            PermissionMode::Yolo,
            [("own".to_owned(), config)].into(),
            BridgeConfig::default(),
        );
        let spec = eventually("its tools are there", || {
            agent
                .tools
                .specs()
                .into_iter()
                .find(|spec| spec.name.starts_with("own.") && spec.name.contains("propose"))
        });
        assert_eq!(agent.tools.kind(&spec.name), Some(ToolKind::Foreign));
        let properties = spec.schema["properties"].as_object().unwrap();
        let text = ["new_text", "newText", "content", "text"]
            .into_iter()
            .find(|name| properties.contains_key(*name));
        let arguments = json!({ "path": path, text.expect("no argument for the text"): "new\n" });
        let call = agent.call(&spec.name, arguments);
        let shown = editor.shown(&path);
        editor.accept(&shown);
        let result = end(&call);
        assert!(!result.is_error, "{result:?}");
        assert_eq!(world.read_text("a.txt"), "new\n");
    }
}

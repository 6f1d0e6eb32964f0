//! The dialect of NEXUS3 over the wire: eleven tools, their exact names and the shapes of their results; and a
//! client on the WebSocket library that NEXUS3 itself uses.

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use linkspan_editor_api as api;
    use serde_json::{Value, json};

    use crate::support::agent::texts;
    use crate::support::*;

    const TOOLS: [&str; 11] = [
        "checkDocumentDirty",
        "closeAllDiffTabs",
        "closeTab",
        "getCurrentSelection",
        "getDiagnostics",
        "getLatestSelection",
        "getOpenEditors",
        "getWorkspaceFolders",
        "openDiff",
        "openFile",
        "saveDocument",
    ];

    fn text(agent: &mut Agent, tool: &str, arguments: Value) -> String {
        let mut texts = texts(&agent.call(tool, arguments));
        assert_eq!(texts.len(), 1, "{tool}: {texts:?}");
        texts.remove(0)
    }

    fn value(agent: &mut Agent, tool: &str, arguments: Value) -> Value {
        serde_json::from_str(&text(agent, tool, arguments)).unwrap()
    }

    fn range(start: (u32, u32), end: (u32, u32)) -> api::Range {
        let position = |(line, character)| api::Position { line, character };
        api::Range { start: position(start), end: position(end) }
    }

    #[test]
    fn the_eleven_tools_have_their_exact_names() {
        let world = World::new();
        let serve = world.serve();
        let mut agent = Agent::connect(&world, serve.port, WsDialect::Nexus3);
        let hello = agent.introduce(agent::NEXUS3);
        assert_eq!(hello["result"]["protocolVersion"], "2024-11-05");
        assert_eq!(agent.response.headers().get("Sec-WebSocket-Protocol"), None);
        let list = agent.request("tools/list", json!({}));
        let tools = list["result"]["tools"].as_array().unwrap();
        let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, TOOLS);
        assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"), "{list}");
    }

    #[test]
    fn the_discovery_file_has_its_five_keys_and_the_mark_by_which_we_know_it_as_ours() {
        let world = World::new();
        let serve = world.serve();
        let lock = WsDialect::Nexus3.lock(&world, serve.port);
        let keys: Vec<&str> = lock.as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected = ["pid", "workspaceFolders", "ideName", "transport", "authToken", "linkspan"];
        expected.sort_unstable();
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, expected);
        assert_eq!(lock["pid"], serve.pid());
        assert_eq!(lock["workspaceFolders"], json!([world.workspace()]));
    }

    #[test]
    fn every_tool_answers_in_its_shape() {
        let world = World::new();
        let (a, b) = (world.file("a.txt", "one\ntwo\n"), world.file("b.txt", "b\n"));
        let editor = Editor::attach(&world);
        editor.open(&b, "typed\n", true);
        editor.open(&a, "one\ntwo\n", false);
        let mut agent = Agent::nexus3(&world, editor.port());

        assert_eq!(text(&mut agent, "getCurrentSelection", json!({})), "null");
        assert_eq!(text(&mut agent, "getLatestSelection", json!({})), "null");
        let range = range((1, 0), (1, 3));
        let finding = api::Diagnostic {
            message: "no".into(),
            severity: api::Severity::Warning,
            range,
            source: Some("lint".into()),
            code: None,
        };
        {
            let mut state = editor.state();
            state.selection = Some(api::Selection {
                path: a.clone(),
                text: "two".into(),
                range,
                is_empty: false,
                reversed: false,
            });
            state.documents.get_mut(&a).unwrap().diagnostics = vec![finding];
        }
        let selected = json!({
            "filePath": a, "text": "two",
            "startLine": 2, "startCharacter": 0, "endLine": 2, "endCharacter": 3,
        });
        assert_eq!(value(&mut agent, "getCurrentSelection", json!({})), selected);
        assert_eq!(value(&mut agent, "getLatestSelection", json!({})), selected);

        let found =
            json!([{ "filePath": a, "line": 2, "message": "no", "severity": "warning", "source": "lint" }]);
        assert_eq!(value(&mut agent, "getDiagnostics", json!({})), found);
        assert_eq!(value(&mut agent, "getDiagnostics", json!({ "uri": format!("file://{a}") })), found);
        assert_eq!(value(&mut agent, "getDiagnostics", json!({ "uri": a })), found);
        assert_eq!(value(&mut agent, "getDiagnostics", json!({ "uri": b })), json!([]));

        let open = value(&mut agent, "getOpenEditors", json!({}));
        let expected = json!([
            { "filePath": a, "isActive": true, "isDirty": false, "languageId": "plaintext" },
            { "filePath": b, "isActive": false, "isDirty": true, "languageId": "plaintext" },
        ]);
        assert_eq!(open, expected);
        assert_eq!(value(&mut agent, "getWorkspaceFolders", json!({})), json!([world.workspace()]));

        let dirty =
            |agent: &mut Agent, path: &str| value(agent, "checkDocumentDirty", json!({ "filePath": path }));
        assert_eq!(dirty(&mut agent, &a), json!({ "dirty": false }));
        assert_eq!(dirty(&mut agent, &b), json!({ "dirty": true }));
        assert_eq!(text(&mut agent, "saveDocument", json!({ "filePath": b })), "ok");
        assert_eq!(dirty(&mut agent, &b), json!({ "dirty": false }));
        assert_eq!(world.read_text("b.txt"), "typed\n");

        assert_eq!(text(&mut agent, "openFile", json!({ "filePath": a, "preview": true })), "ok");
        let opened = editor.state().opened.clone();
        assert_eq!((opened.len(), opened[0].path.as_str(), opened[0].preview), (1, a.as_str(), true));

        agent.propose(&a, "changed\n", "tab");
        agent.propose(&b, "changed\n", "tab");
        editor.shown(&a);
        editor.shown(&b);
        assert_eq!(text(&mut agent, "closeTab", json!({ "tabName": "no such tab" })), "ok");
        world.pending(2);
        assert_eq!(text(&mut agent, "closeAllDiffTabs", json!({})), "ok");
        eventually("both are gone", || world.reviews().is_empty().then_some(()));
    }

    #[test]
    fn a_window_without_an_editor_answers_with_what_it_has() {
        let world = World::new();
        let path = world.file("a.txt", "one\n");
        let serve = world.serve();
        let mut agent = Agent::nexus3(&world, serve.port);
        for tool in ["getDiagnostics", "getOpenEditors"] {
            assert_eq!(value(&mut agent, tool, json!({})), json!([]), "{tool}");
        }
        assert_eq!(text(&mut agent, "getCurrentSelection", json!({})), "null");
        assert_eq!(text(&mut agent, "openFile", json!({ "filePath": path })), "ok");
        let dirty = value(&mut agent, "checkDocumentDirty", json!({ "filePath": path }));
        assert_eq!(dirty, json!({ "dirty": false }));
        assert_eq!(text(&mut agent, "saveDocument", json!({ "filePath": path })), "ok", "nothing is unsaved");
        let missing = agent.call("openFile", json!({ "filePath": world.path_str("none.txt") }));
        assert!(missing.get("error").is_some(), "{missing}");
    }

    #[test]
    fn an_answer_is_never_larger_than_the_client_can_take() {
        let world = World::new();
        let mut folder = world.workspace();
        let editor = Editor::attach(&world);
        folder.push("deep");
        for n in 0..12_000 {
            let path = folder.join(format!("{n:0>100}.txt"));
            editor.open(path.to_str().unwrap(), "", false);
        }
        let mut agent = Agent::nexus3(&world, editor.port());
        let answer = agent.call("getOpenEditors", json!({}));
        assert!(answer.to_string().len() <= 1 << 20, "{} bytes", answer.to_string().len());
        agent.is_served();
    }

    /// A file tool of NEXUS3: the text that its REPL proposes, and the effect of the tool on the file.
    enum FileTool {
        Write(&'static str),
        Edit(&'static str, &'static str),
        Append(&'static str),
    }

    impl FileTool {
        /// Its REPL reads the file as text, so that lines end with a line feed; and it puts a line ending before what
        /// is appended even where the file ends with one.
        fn proposes(&self, file: &str) -> String {
            let file = file.replace("\r\n", "\n");
            match self {
                FileTool::Write(content) => (*content).to_owned(),
                FileTool::Edit(old, new) => file.replacen(old, new, 1),
                FileTool::Append(content) => format!("{file}\n{content}"),
            }
        }

        /// The tool's message to the model.
        fn runs(&self, world: &World) -> String {
            let file = world.read_text("a.txt");
            let (now, said) = match self {
                FileTool::Write(content) => ((*content).to_owned(), "Successfully wrote"),
                FileTool::Edit(old, _) if !file.contains(old) => return "String not found in file".into(),
                FileTool::Edit(old, new) => (file.replacen(old, new, 1), "Replaced text"),
                FileTool::Append(content) if file.ends_with('\n') => (file + content, "Appended"),
                FileTool::Append(content) => (format!("{file}\n{content}"), "Appended"),
            };
            world.file("a.txt", now);
            said.to_owned()
        }
    }

    /// NEXUS3's REPL: it asks, runs its tool after `FILE_SAVED` and only then, asks in its terminal after an
    /// error, and shows its model the errors among the diagnostics.
    fn repl(before: &str, tool: &FileTool, decide: &[&str]) -> (String, String, String) {
        let world = World::new();
        let path = world.file("a.txt", before);
        let serve = world.serve();
        let mut agent = Agent::introduced(&world, serve.port, WsDialect::Nexus3, agent::NEXUS3_ITSELF);
        let asked = agent.propose(&path, &tool.proposes(before), "a.txt");
        if let [verb, more @ ..] = decide {
            let review = world.one_pending();
            world.run(&[&[*verb, review.as_str()], more].concat()).ok();
        }
        let answer = agent.answer(asked);
        let result = match answer["result"]["content"][0]["text"].as_str() {
            Some(text) if text.contains("FILE_SAVED") => tool.runs(&world),
            Some(_) => "Action cancelled by user".into(),
            None => "asks in its terminal".into(),
        };
        let findings = value(&mut agent, "getDiagnostics", json!({}));
        let context = findings.as_array().unwrap().iter().filter(|finding| finding["severity"] == "error");
        let context: Vec<&str> = context.map(|finding| finding["message"].as_str().unwrap()).collect();
        (world.read_text("a.txt"), result, context.join("\n"))
    }

    #[test]
    fn its_tools_write_once_what_was_accepted_as_proposed() {
        let old = "one\ntwo\n";
        for (before, tool, after, result) in [
            (old, FileTool::Write("one\n2\n"), "one\n2\n", "Successfully wrote"),
            (old, FileTool::Edit("two", "2"), "one\n2\n", "Replaced text"),
            (old, FileTool::Edit("two", "two\nmore"), "one\ntwo\nmore\n", "Replaced text"),
            // It proposes one more line ending than it writes.
            (old, FileTool::Append("three\n"), "one\ntwo\nthree\n", "Appended"),
            ("one", FileTool::Append("two\n"), "one\ntwo\n", "Appended"),
        ] {
            let expected = (after.to_owned(), result.to_owned(), String::new());
            assert_eq!(repl(before, &tool, &["accept"]), expected);
        }
    }

    #[test]
    fn its_tools_do_not_undo_a_part_or_an_edit_and_its_model_is_told() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let both = FileTool::Write("one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
        let (file, result, context) = repl(before, &both, &["accept", "--hunk", "1", "--comment", "keep 9"]);
        assert_eq!(file, before.replace('1', "one"));
        assert_eq!(result, "Action cancelled by user");
        assert!(context.contains("1 of the 2 parts") && context.contains("keep 9"), "{context}");

        let mine = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(mine.path(), "mine\n").unwrap();
        let with_mine = ["accept", "--with", mine.path().to_str().unwrap()];
        for tool in [both, FileTool::Edit("5", "five"), FileTool::Append("ten\n")] {
            let (file, _, context) = repl(before, &tool, &with_mine);
            assert_eq!(file, "mine\n");
            assert!(context.contains("with edits"), "{context}");
        }
    }

    #[test]
    fn its_tools_do_not_change_line_endings() {
        for tool in [FileTool::Write("one\n2\n"), FileTool::Edit("two", "2")] {
            let (file, _, context) = repl("one\r\ntwo\r\n", &tool, &["accept"]);
            assert_eq!(file, "one\r\n2\r\n");
            assert!(context.contains("It is saved"), "{context}");
        }
    }

    #[test]
    fn its_model_is_told_why_a_change_was_rejected() {
        let tool = FileTool::Edit("two", "2");
        let (file, result, context) = repl("two\n", &tool, &["reject", "--comment", "not now"]);
        assert_eq!((file.as_str(), result.as_str()), ("two\n", "Action cancelled by user"));
        assert_eq!(context, "The user rejected this change. The user says: not now");
    }

    /// Its REPL proposes the unchanged file for a batch of edits: the user could not see what the tool would do.
    #[test]
    fn what_it_cannot_show_is_asked_in_its_terminal() {
        let (file, result, _) = repl("one\n", &FileTool::Edit("", ""), &[]);
        assert_eq!((file.as_str(), result.as_str()), ("one\n", "asks in its terminal"));
    }

    #[test]
    fn closing_the_window_lets_it_ask_in_its_terminal() {
        let world = World::with_config("window_grace_seconds = 0\n");
        let path = world.file("a.txt", "one\n");
        let serve = world.serve();
        let mut agent = Agent::introduced(&world, serve.port, WsDialect::Nexus3, agent::NEXUS3_ITSELF);
        let asked = agent.propose(&path, "two\n", "a.txt");
        let review = world.one_pending();
        eventually("serve says that there is a review", || serve.output().contains(&review).then_some(()));
        let said = serve.interrupt_and_read();
        assert!(said.contains("1 review is still pending") && said.contains("a.txt"), "{said}");
        let answer = agent.answer(asked);
        assert!(answer["error"]["message"].as_str().unwrap().contains("terminal"), "{answer}");
        assert_eq!(agent.end(), Some(1001));
    }

    mod with_python {
        use super::*;

        /// Runs the client script and decides its review with `verb`; returns its output.
        fn run_client(verb: &str) -> (World, Value) {
            let world = World::new();
            let path = world.file("a.txt", "one\r\ntwo\r\n");
            let serve = world.serve();
            let lock = WsDialect::Nexus3.folder(&world).join(format!("{}.lock", serve.port));
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/peers/nexus3_client.py");
            let client = std::process::Command::new(prerequisites::python())
                .arg(script)
                .args([lock.to_str().unwrap(), &path, "one\nTWO\n"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let review = world.one_pending();
            world.run(&[verb, &review]).ok();
            let said = world::finish(client).ok().json();
            drop(serve);
            (world, said)
        }

        #[test]
        fn a_client_on_its_own_library_gets_a_change_accepted() {
            let (world, said) = run_client("accept");
            let expected = json!({
                "protocol": "2024-11-05",
                "tools": TOOLS,
                "folders": [world.workspace()],
                "accepted": true,
            });
            assert_eq!(said, expected);
            assert_eq!(world.read_text("a.txt"), "one\r\nTWO\r\n");
        }

        #[test]
        fn a_client_on_its_own_library_gets_a_change_rejected() {
            let (world, said) = run_client("reject");
            assert_eq!(said["accepted"], false);
            assert_eq!(world.read_text("a.txt"), "one\r\ntwo\r\n");
        }
    }
}

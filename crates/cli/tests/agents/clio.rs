//! The dialect of Clio over the wire: six messages in, four out, one discovery file for all windows.

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;
    use std::process::Stdio;

    use linkspan_editor_api as api;
    use serde_json::{Value, json};

    use crate::support::*;

    fn connect(port: u16) -> Agent {
        let mut clio = Agent::open(port, &[]).unwrap_or_else(|error| panic!("not admitted: {error}"));
        clio.send_json(&json!({ "type": "connect", "clientVersion": "0.1.0" }));
        let connected = hear(&mut clio);
        assert_eq!(connected["type"], "connected");
        clio
    }

    /// The review that is shown after that one.
    fn next(editor: &Editor, before: &api::ReviewShow) -> api::ReviewShow {
        editor.until("another change is shown", |state| {
            state.shown.last().filter(|shown| shown.review != before.review).cloned()
        })
    }

    #[track_caller]
    fn hear(clio: &mut Agent) -> Value {
        clio.next_frame(DEADLINE).expect("an answer")
    }

    /// No message arrived before the answer to this.
    #[track_caller]
    fn nothing_before(clio: &mut Agent) {
        clio.send_json(&json!({ "type": "connect" }));
        assert_eq!(hear(clio)["type"], "connected");
    }

    fn edit(from: (u32, u32), to: (u32, u32), old: Option<&str>, new: &str) -> Value {
        let place = |(line, character)| json!({ "line": line, "character": character });
        let mut edit = json!({ "range": { "start": place(from), "end": place(to) }, "newText": new });
        if let Some(old) = old {
            edit["oldText"] = json!(old);
        }
        edit
    }

    fn edits(kind: &str, file: &str, edits: &[Value]) -> Value {
        json!({ "type": kind, "file": file, "edits": edits, "description": "Fix add()" })
    }

    fn bridge(world: &World) -> Option<Value> {
        let path = world.home().join(".clio/ide/bridge.json");
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }

    fn read(path: &str) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    /// In a terminal with the window's variables, opencode sends no token and speaks MCP.
    #[test]
    fn an_agent_that_speaks_mcp_without_a_token_is_refused_and_never_listed_as_clio() {
        let world = World::new();
        let editor = Editor::attach(&world);
        let mut opencode = Agent::open(editor.port(), &[]).unwrap();
        let client = json!({ "name": "opencode", "version": "0.0.0" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        opencode.send_json(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
        assert_eq!(opencode.next_frame(DEADLINE), None, "it is told nothing");
        assert_eq!(opencode.closed, Some(Some(1008)));
        let status = world.status();
        assert_eq!(status["windows"][0]["agents"], json!([]));
        assert_eq!(status["refused"], json!({ "noToken": 1 }));
        // Clio itself is admitted, even with a wrong message.
        let mut clio = connect(editor.port());
        clio.send_json(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize" }));
        assert_eq!(hear(&mut clio)["code"], "BAD_MESSAGE");
    }

    mod with_python {
        use super::*;

        /// As Clio's own client does it.
        #[test]
        fn clios_own_way_of_asking_gets_a_change_decided_and_applied() {
            let python = prerequisites::python();
            for (accepts, decided, text) in
                [(true, "diffAccepted", "return a + b\n"), (false, "diffRejected", "return a ** b\n")]
            {
                let world = World::new();
                let file = world.file("a.py", "return a ** b\n");
                let mut editor = Editor::attach(&world);
                let edits = json!([edit((0, 9), (0, 11), Some("**"), "+")]).to_string();
                let mut client = world.program(&python);
                let client = client.args([
                    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/peers/clio_client.py"),
                    &file,
                    "return a + b\n",
                    &edits,
                ]);
                let client = client.stdout(Stdio::piped()).spawn().unwrap();
                let shown = editor.shown(&file);
                if accepts {
                    editor.accept(&shown)
                } else {
                    editor.reject(&shown)
                }
                let told = client.wait_with_output().unwrap();
                let told: Value = serde_json::from_slice(&told.stdout).unwrap();
                assert_eq!(
                    told,
                    json!({ "connected": "connected", "ideName": "Test Editor", "decided": decided, "text": text })
                );
            }
        }
    }

    /// Clio's `edit_file`: it writes, then proposes what it has written, with the text before as `oldText` and the range
    /// of the new one; all edits of the file each time. It waits for no answer.
    struct EditFile<'w> {
        world: &'w World,
        clio: Agent,
        edits: Vec<Value>,
    }

    impl EditFile<'_> {
        fn edit(&mut self, file: &str, old: &str, new: &str) {
            let before = read(file);
            let (above, _) = before.split_once(old).unwrap();
            let number = |count: usize| u32::try_from(count).unwrap();
            let place = |text: &str| {
                let last = text.rsplit('\n').next().unwrap();
                (number(text.matches('\n').count()), number(last.chars().count()))
            };
            std::fs::write(file, before.replacen(old, new, 1)).unwrap();
            let end = place(&format!("{above}{new}"));
            self.edits.push(edit(place(above), end, Some(old), new));
            self.clio.send_json(&edits("proposeDiff", file, &self.edits));
        }

        fn verdict(&self, verdict: &str) {
            self.world.run(&[verdict, &self.world.one_pending()]).ok();
        }
    }

    #[test]
    fn what_edit_file_has_written_is_shown_and_can_be_kept_or_taken_back() {
        let world = World::new();
        let before = "def add(a, b):\n    return a ** b\n\n\ndef sub(a, b):\n    return a - b\n";
        let file = world.file("a.py", before);
        let editor = Editor::attach(&world);
        let clio = connect(editor.port());
        let mut tool = EditFile { world: &world, clio, edits: Vec::new() };
        tool.edit(&file, "a ** b", "(\n        a + b\n    )");
        let shown = editor.shown(&file);
        let written = before.replace("a ** b", "(\n        a + b\n    )");
        assert_eq!((shown.base.as_str(), &shown.proposed), (before, &written));
        assert!(shown.label.starts_with("Already on disk"), "{}", shown.label);
        tool.verdict("reject");
        assert_eq!(read(&file), before, "to the byte");
        tool.edit(&file, "a ** b", "a + b");
        tool.verdict("accept");
        let kept = before.replace("a ** b", "a + b");
        assert_eq!(read(&file), kept);
        tool.edit(&file, "return a - b", "return a - b  # difference");
        let shown = next(&editor, &shown);
        tool.verdict("reject");
        assert_eq!(read(&file), kept, "only the last one, of {}", shown.label);
        for _ in 0..3 {
            assert!(
                ["diffAccepted", "diffRejected"].contains(&hear(&mut tool.clio)["type"].as_str().unwrap())
            );
        }
    }

    #[test]
    fn an_agent_that_has_left_can_be_taken_back() {
        let world = World::new();
        let file = world.file("a.py", "a ** b\n");
        let editor = Editor::attach(&world);
        let clio = connect(editor.port());
        let mut tool = EditFile { world: &world, clio, edits: Vec::new() };
        tool.edit(&file, "**", "+");
        editor.shown(&file);
        let EditFile { clio, .. } = tool;
        clio.goodbye();
        eventually("it is gone", || {
            world.status()["windows"][0]["agents"].as_array()?.is_empty().then_some(())
        });
        let review = world.one_pending();
        world.run(&["reject", &review]).ok();
        assert_eq!(read(&file), "a ** b\n");
    }

    #[test]
    fn a_status_is_printed_by_a_window_without_an_editor() {
        use std::io::{BufRead, BufReader};
        let world = World::new();
        let mut serve = world.command(&["serve", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(serve.stdout.take().unwrap()).lines();
        let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
        let listening = next();
        let mut clio = connect(u16::try_from(listening["port"].as_u64().unwrap()).unwrap());
        clio.send_json(&json!({ "type": "status", "message": "Processing", "level": "warning" }));
        let said = next();
        assert_eq!((&said["event"], &said["level"]), (&json!("message"), &json!("warning")));
        assert_eq!(said["text"], "Clio: Processing");
        serve.kill().unwrap();
        serve.wait().unwrap();
    }

    #[test]
    fn hello_says_who_is_there_and_what_it_can() {
        let world = World::new();
        let editor = Editor::attach(&world);
        let mut clio = Agent::open(editor.port(), &[]).unwrap();
        clio.send_json(&json!({ "type": "connect", "clientVersion": "0.1.0" }));
        let connected = hear(&mut clio);
        assert_eq!(connected["capabilities"], json!(["diff", "apply", "status", "proposeDiff"]));
        assert_eq!(connected["ideName"], "Test Editor");
        assert!(connected["serverVersion"].is_string());
    }

    #[test]
    fn a_person_decides_an_open_diff_and_nothing_is_written_by_it() {
        let world = World::new();
        let file = world.file("a.py", "return a ** b\n");
        let mut editor = Editor::attach(&world);
        let mut clio = connect(editor.port());
        let open = |after: &str| {
            json!({ "type": "openDiff", "file": file, "before": "return a ** b\n", "after": after,
                    "description": "Use addition" })
        };
        clio.send_json(&open("return a + b\n"));
        let shown = editor.shown(&file);
        assert!(shown.label.starts_with("Use addition"), "{}", shown.label);
        editor.reject(&shown);
        assert_eq!(hear(&mut clio), json!({ "type": "diffRejected", "file": file }));
        clio.send_json(&open("return a + b + 0\n"));
        editor.accept(&next(&editor, &shown));
        assert_eq!(hear(&mut clio), json!({ "type": "diffAccepted", "file": file }));
        assert_eq!(read(&file), "return a ** b\n");
    }

    #[test]
    fn what_was_accepted_is_applied_without_a_second_question_once() {
        let world = World::new();
        let file = world.file("a.py", "return a ** b\n");
        let mut editor = Editor::attach(&world);
        let mut clio = connect(editor.port());
        let after = "return a + b\n";
        clio.send_json(
            &json!({ "type": "openDiff", "file": file, "before": "return a ** b\n", "after": after }),
        );
        let first = editor.shown(&file);
        editor.accept(&first);
        assert_eq!(hear(&mut clio)["type"], "diffAccepted");
        clio.send_json(&edits("applyDiff", &file, &[edit((0, 9), (0, 11), None, "+")]));
        eventually("it is written", || (read(&file) == after).then_some(()));
        // A repetition is another change, and is shown.
        clio.send_json(&edits("applyDiff", &file, &[edit((0, 9), (0, 10), None, "-")]));
        let second = next(&editor, &first);
        assert_eq!(second.proposed, "return a - b\n");
        editor.accept(&second);
        eventually("it is written", || (read(&file) == "return a - b\n").then_some(()));
        nothing_before(&mut clio);
    }

    #[test]
    fn a_proposal_is_shown_inline_and_written_once_accepted() {
        let world = World::new();
        let file = world.file("a.py", "one\r\nreturn a ** b\r\n");
        let mut editor = Editor::attach(&world);
        let mut clio = connect(editor.port());
        clio.send_json(&edits("proposeDiff", &file, &[edit((1, 7), (1, 13), Some("a ** b"), "(\na + b)")]));
        let shown = editor.shown(&file);
        assert!(shown.inline);
        editor.accept(&shown);
        assert_eq!(hear(&mut clio), json!({ "type": "diffAccepted", "file": file }));
        assert_eq!(read(&file), "one\r\nreturn (\r\na + b)\r\n");
    }

    #[test]
    fn each_error_has_its_code_and_changes_nothing() {
        let world = World::new();
        let file = world.file("a.py", "a ** b\n");
        let (secret, missing) =
            (world.file(".env", "x\n"), format!("{}/none.py", world.workspace().display()));
        let outside = world.home().join("x.py").display().to_string();
        std::fs::write(&outside, "a\n").unwrap();
        let editor = Editor::attach(&world);
        let mut clio = connect(editor.port());
        let at_start = edit((0, 0), (0, 1), None, "b");
        let cases = [
            (edits("proposeDiff", &file, &[edit((0, 0), (0, 6), Some("a + b"), "c")]), "STALE_EDIT"),
            (edits("applyDiff", &file, &[edit((0, 0), (0, 6), Some("a + b"), "c")]), "STALE_EDIT"),
            (edits("proposeDiff", &file, &[edit((9, 0), (9, 0), None, "c")]), "BAD_MESSAGE"),
            (edits("proposeDiff", &missing, std::slice::from_ref(&at_start)), "FILE_NOT_FOUND"),
            (edits("proposeDiff", &outside, std::slice::from_ref(&at_start)), "OUTSIDE_WORKSPACE"),
            (edits("proposeDiff", &secret, &[at_start]), "DENIED"),
            (json!({ "type": "openDiff", "file": outside, "before": "", "after": "x" }), "OUTSIDE_WORKSPACE"),
            (json!({ "type": "openDiff", "file": "a.py", "before": "", "after": "x" }), "BAD_MESSAGE"),
            (json!({ "type": "openDiff", "file": file }), "BAD_MESSAGE"),
            (json!({ "type": "sing" }), "BAD_MESSAGE"),
            (json!([1]), "BAD_MESSAGE"),
        ];
        for (message, code) in cases {
            clio.send_json(&message);
            let answer = hear(&mut clio);
            assert_eq!(
                (&answer["type"], &answer["code"]),
                (&json!("error"), &json!(code)),
                "{message}: {answer}"
            );
        }
        clio.send_text("no JSON");
        assert_eq!(hear(&mut clio)["code"], "BAD_MESSAGE");
        assert_eq!(read(&file), "a ** b\n");
    }

    #[test]
    fn nothing_is_done_before_hello() {
        let world = World::new();
        let file = world.file("a.py", "a\n");
        let editor = Editor::attach(&world);
        let mut clio = Agent::open(editor.port(), &[]).unwrap();
        clio.send_json(&edits("applyDiff", &file, &[edit((0, 0), (0, 1), None, "b")]));
        assert_eq!(hear(&mut clio)["code"], "NOT_CONNECTED");
    }

    #[test]
    fn a_closed_diff_is_taken_back_without_a_word() {
        let world = World::new();
        let file = world.file("a.py", "a\n");
        let editor = Editor::attach(&world);
        let mut clio = connect(editor.port());
        clio.send_json(&json!({ "type": "openDiff", "file": file, "before": "a\n", "after": "b\n" }));
        let shown = editor.shown(&file);
        clio.send_json(&json!({ "type": "closeDiff", "file": file }));
        assert_eq!(editor.hidden(&shown.review), api::HideReason::Withdrawn);
        nothing_before(&mut clio);
    }

    #[test]
    fn a_status_is_a_message_in_the_editor() {
        let world = World::new();
        let can = api::Capabilities { messages: true, ..editor::all_capabilities() };
        let editor = EditorBuilder::new(&world).capabilities(can).attach();
        let mut clio = connect(editor.port());
        clio.send_json(&json!({ "type": "status", "message": "Processing\u{1b}[2J…", "level": "warning" }));
        let told = editor.until("a message", |state| state.messages.first().cloned());
        assert_eq!(told.level, api::MessageLevel::Warning);
        assert!(told.text.starts_with("Clio: Processing") && !told.text.contains('\u{1b}'), "{}", told.text);
        nothing_before(&mut clio);
    }

    #[test]
    fn an_answer_goes_to_the_connection_that_asked() {
        let world = World::new();
        let file = world.file("a.py", "a\n");
        let mut editor = Editor::attach(&world);
        let (mut asks, mut listens) = (connect(editor.port()), connect(editor.port()));
        asks.send_json(&json!({ "type": "openDiff", "file": file, "before": "a\n", "after": "b\n" }));
        editor.accept(&editor.shown(&file));
        assert_eq!(hear(&mut asks)["type"], "diffAccepted");
        nothing_before(&mut listens);
    }

    #[test]
    fn the_discovery_file_follows_the_person_and_falls_back_to_a_window_that_is_there() {
        let world = World::new();
        let other = world.home().join("other");
        std::fs::create_dir_all(&other).unwrap();
        let mut first = Editor::attach(&world);
        let names = |port: u16| {
            eventually(&format!("bridge.json names {port}"), || {
                bridge(&world).filter(|bridge| bridge["port"] == port)
            })
        };
        let found = names(first.port());
        assert_eq!(found["pid"], std::process::id());
        assert_eq!(found["workspaceFolders"], json!([world.workspace()]));
        assert!(found["timestamp"].as_u64().unwrap() > 1_700_000_000_000, "{found}");
        let path = world.home().join(".clio/ide/bridge.json");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

        let second = EditorBuilder::new(&world).folders(&[PathBuf::from(&other)]).attach();
        names(second.port());
        first.send(&api::FocusChanged { focused: true });
        names(first.port());
        second.send(&api::FocusChanged { focused: true });
        names(second.port());
        second.detach();
        names(first.port());
        first.close();
        world.run(&["hub", "stop"]).ok();
        eventually("it is gone", || bridge(&world).is_none().then_some(()));
    }
}

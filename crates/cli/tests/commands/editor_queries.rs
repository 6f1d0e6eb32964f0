//! Commands that query the editor: their requests, their output and their exit codes.

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::Stdio;

    use linkspan_editor_api as api;
    use serde_json::{Value, json};

    use crate::support::*;

    fn range(from: (u32, u32), to: (u32, u32)) -> api::Range {
        let at = |(line, character)| api::Position { line, character };
        api::Range { start: at(from), end: at(to) }
    }

    fn diagnostic(severity: api::Severity, message: &str) -> api::Diagnostic {
        api::Diagnostic {
            message: message.into(),
            severity,
            range: range((2, 4), (2, 9)),
            source: Some("rustc".into()),
            code: Some("E0308".into()),
        }
    }

    fn diagnose(editor: &Editor, path: &str, found: Vec<api::Diagnostic>) {
        editor.state().documents.get_mut(path).unwrap().diagnostics = found;
    }

    fn select(editor: &Editor, path: &str, text: &str) {
        editor.state().selection = Some(api::Selection {
            path: path.into(),
            text: text.into(),
            range: range((0, 0), (1, 3)),
            is_empty: text.is_empty(),
            reversed: false,
        });
    }

    #[track_caller]
    fn check(ran: &CommandResult, code: i32, words: &[&str]) {
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, code, "{ran:?}");
        for word in words {
            assert!(said.contains(word), "{word} in {ran:?}");
        }
    }

    #[test]
    fn a_file_is_opened_at_the_place_that_was_named() {
        let world = World::new();
        let path = world.file("src/main.rs", "fn main() {}\n");
        let odd = world.file("odd:name:3", "");
        let editor = Editor::attach(&world);
        let opened = || editor.state().opened.pop().unwrap();

        check(&world.run(&["open", "src/main.rs:12:3"]), 0, &["opened src/main.rs:12:3"]);
        let asked = opened();
        assert_eq!(asked.path, path);
        let Some(api::OpenTarget::Range { range }) = asked.target else { panic!("{asked:?}") };
        assert_eq!((range.start.line, range.start.character), (11, 2));

        let said = world.json(&["open", "src/main.rs:12", "--preview"]);
        assert_eq!(said, json!({ "path": path, "line": 12, "column": 1 }));
        assert!(opened().preview);

        assert_eq!(world.json(&["open", "./src/../odd:name:3"])["line"], Value::Null);
        assert_eq!(opened().path, odd);
    }

    #[test]
    fn what_cannot_be_opened_is_said_before_anyone_is_asked() {
        let world = World::new();
        world.file("src/main.rs", "");
        check(&world.run(&["open", "none.rs"]), 2, &["there is no file none.rs"]);
        check(&world.run(&["open", "none.rs:3"]), 2, &["there is no file none.rs;"]);
        check(&world.run(&["open", "src"]), 2, &["src is a folder"]);
        check(&world.run(&["diagnostics", "none.rs"]), 2, &["there is no file none.rs"]);
        check(&world.run(&["open", "none.rs", "--json"]), 2, &["\"code\":\"usage\""]);
        assert!(!world.socket().exists());
    }

    #[test]
    fn errors_are_printed_like_a_linters_and_fail() {
        let world = World::new();
        let path = world.file("src/main.rs", "a\nb\nc\n");
        let other = world.file("b.rs", "");
        let editor = Editor::attach(&world);
        editor.open(&path, "a\nb\nc\n", false);
        editor.open(&other, "", false);
        check(&world.run(&["diagnostics"]), 0, &["no problems"]);

        diagnose(&editor, &other, vec![diagnostic(api::Severity::Warning, "unused")]);
        check(&world.run(&["diagnostics"]), 0, &["b.rs:3:5: warning[E0308]: unused (rustc)", "1 warning"]);

        let message = "mismatched\u{1b}[2J types\nexpected `u8`";
        diagnose(&editor, &path, vec![diagnostic(api::Severity::Error, message)]);
        let ran = world.run(&["diagnostics"]);
        check(
            &ran,
            1,
            &["src/main.rs:3:5: error[E0308]: mismatched", "    expected `u8`", "1 error, 1 warning"],
        );
        assert!(!ran.stdout.contains('\u{1b}'), "{ran:?}");
        check(&world.run(&["diagnostics", "b.rs"]), 0, &["1 warning"]);

        let ran = world.run(&["diagnostics", "src/main.rs", "--json", "--wait-settled=1"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        let found = ran.json();
        assert_eq!(
            (&found["errors"], &found["warnings"], &found["settled"]),
            (&json!(1), &json!(0), &json!(true))
        );
        let expected = json!({
            "path": path, "line": 3, "column": 5, "endLine": 3, "endColumn": 10,
            "severity": "error", "message": message, "source": "rustc", "code": "E0308", "settled": true,
        });
        assert_eq!(found["diagnostics"], json!([expected]));
    }

    #[test]
    fn a_selection_goes_into_a_pipe_byte_for_byte() {
        let world = World::new();
        let path = world.file("a.rs", "");
        let editor = Editor::attach(&world);
        for selection in ["selection", "--latest"] {
            let args: Vec<&str> =
                ["selection", selection].into_iter().skip(usize::from(selection == "selection")).collect();
            editor.state().selection = None;
            let ran = world.run(&args);
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (1, "", ""));

            select(&editor, &path, "");
            let ran = world.run(&args);
            assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "a cursor is not a selection");

            let text = "one\u{1b}[31m\n\ttwo";
            select(&editor, &path, text);
            let ran = world.run(&args).ok();
            assert_eq!(ran.stdout, text);
            let said = world.json(&args);
            let expected =
                json!({ "path": path, "line": 1, "column": 1, "endLine": 2, "endColumn": 4, "text": text });
            assert_eq!(said, json!({ "selection": expected }));
        }
    }

    #[test]
    fn documents_and_folders_are_listed() {
        let world = World::new();
        let path = world.file("src/a\u{202e}.rs", "");
        let editor = Editor::attach(&world);
        check(&world.run(&["editors"]), 0, &["no document is open"]);
        editor.open(&path, "new", true);
        let ran = world.run(&["editors"]);
        check(&ran, 0, &["src/a\\u{202e}.rs", "plaintext", "active, unsaved"]);
        let expected = json!({ "path": path, "active": true, "dirty": true, "language": "plaintext" });
        assert_eq!(world.json(&["editors"]), json!({ "editors": [expected] }));
        assert_eq!(world.run(&["folders"]).ok().stdout, format!("{}\n", world.workspace().display()));
        assert_eq!(world.json(&["folders"]), json!({ "folders": [world.workspace()] }));
    }

    #[test]
    fn dirty_is_a_question_and_save_answers_it() {
        let world = World::new();
        let path = world.file("a.txt", "old");
        let editor = Editor::attach(&world);
        editor.open(&path, "new", true);
        check(&world.run(&["dirty", "a.txt"]), 0, &["a.txt has unsaved changes"]);
        assert_eq!(world.json(&["dirty", "a.txt"]), json!({ "path": path, "dirty": true }));
        check(&world.run(&["save", "a.txt"]), 0, &["saved a.txt"]);
        assert_eq!(world.read_text("a.txt"), "new");
        check(&world.run(&["dirty", "a.txt"]), 1, &["a.txt has no unsaved changes"]);
        check(&world.run(&["dirty", "a.text"]), 2, &["there is no file", "a.text"]);
        check(&world.run(&["save", "never-open.txt"]), 5, &["never-open.txt"]);
    }

    #[test]
    fn tools_are_listed_with_their_first_sentence_and_their_schemas() {
        let world = World::new();
        let _editor = Editor::attach(&world);
        check(&world.run(&["tools"]), 0, &["getDiagnostics", "proposeChange"]);
        let tools = world.json(&["tools"])["tools"].as_array().unwrap().clone();
        let open = tools.iter().find(|tool| tool["name"] == "openFile").unwrap();
        assert_eq!(open["inputSchema"]["type"], "object", "{open}");
    }

    #[test]
    fn any_tool_can_be_called_and_its_failure_is_one() {
        let world = World::new();
        let path = world.file("a.txt", "x");
        let editor = Editor::attach(&world);
        editor.open(&path, "x", true);
        let arguments = json!({ "path": path }).to_string();
        let ran = world.run(&["call", "checkDocumentDirty", &arguments]).ok();
        let said: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(said["dirty"], true, "{said}");
        let whole = world.json(&["call", "checkDocumentDirty", &arguments]);
        assert_eq!((&whole["isError"], &whole["structuredContent"]["dirty"]), (&json!(false), &json!(true)));

        let mut child = world.command(&["call", "checkDocumentDirty", "-"]);
        let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(arguments.as_bytes()).unwrap();
        assert_eq!(world::finish(child).ok().stdout, ran.stdout);

        let outside = json!({ "path": "/etc/hostname" }).to_string();
        let ran = world.run(&["call", "checkDocumentDirty", &outside, "--json"]);
        assert_eq!(ran.code, 5, "{ran:?}");
        assert_eq!((&ran.json()["error"]["code"], &ran.json()["isError"]), (&json!("refused"), &json!(true)));
        check(&world.run(&["call", "fly"]), 5, &["fly"]);
        check(&world.run(&["call", "getOpenEditors", "[1]"]), 2, &["not a JSON object"]);
        check(&world.run(&["call", "getOpenEditors", "{"]), 2, &["not a JSON object"]);
    }

    #[test]
    fn a_call_that_needs_the_user_waits_unless_told_otherwise() {
        let world = World::new();
        let path = world.file("a.txt", "old\n");
        let mut editor = Editor::attach(&world);
        let arguments = json!({ "path": path, "newText": "new\n", "label": "tab" }).to_string();
        let mut command = world.command(&["call", "proposeChange", &arguments]);
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        let shown = editor.shown(&path);

        check(&world.run(&["close", "tab"]), 5, &[&shown.review, "linkspan reject"]);
        check(&world.run(&["close", "--all-diffs"]), 5, &[&shown.review]);

        editor.accept(&shown);
        let said: Value = serde_json::from_str(&world::finish(child).ok().stdout).unwrap();
        assert_eq!(said["outcome"], "accepted", "{said}");
        check(&world.run(&["close", "tab"]), 1, &["no change with the label tab"]);
        check(&world.run(&["close", "--all-diffs"]), 0, &["no diff is open"]);

        let arguments = json!({ "path": path, "newText": "newer\n" }).to_string();
        let ran = world.run(&["call", "proposeChange", &arguments, "--timeout", "1"]);
        check(&ran, 7, &["did not answer `proposeChange` within 1 s"]);
        eventually("it is taken back", || world.reviews().is_empty().then_some(()));
    }

    #[test]
    fn the_context_tells_a_model_what_it_may_know() {
        let world = World::with_config("deny = [\"secret.txt\"]\n");
        let path = world.file("src/main.rs", "");
        let secret = world.file("secret.txt", "");
        let editor = Editor::attach(&world);
        let ran = world.run(&["context"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        assert_eq!(world.run(&["context", "--json"]).json(), json!({ "context": null }));

        editor.open(&secret, "", false);
        editor.open(&path, "", false);
        diagnose(&editor, &path, vec![diagnostic(api::Severity::Error, "wrong")]);
        let text = world.run(&["context"]).ok().stdout;
        assert!(text.starts_with("IDE connected: Test Editor\n"), "{text}");
        for word in ["main.rs", "1 error", "main.rs:3: wrong"] {
            assert!(text.contains(word), "{word} in {text}");
        }
        assert!(!text.contains("secret"), "{text}");
        let tabs = world.json(&["context", "--no-diagnostics"])["context"].as_str().unwrap().to_owned();
        assert!(tabs.contains("main.rs") && !tabs.contains("error"), "{tabs}");
        let errors = world.json(&["context", "--no-editors"])["context"].as_str().unwrap().to_owned();
        assert!(!errors.contains("Open tabs") && errors.contains("wrong"), "{errors}");
    }

    #[test]
    fn nothing_is_told_while_the_configuration_is_not_understood() {
        let world = World::new();
        let _editor = Editor::attach(&world);
        world.file(".linkspan.toml", "denny = [\"secret.txt\"]\n");
        check(&world.run(&["context"]), 5, &["did you mean `deny`?"]);
    }

    #[test]
    fn a_foreign_editor_is_asked_the_same_way() {
        let world = World::new();
        let path = world.file("a.rs", "x\n");
        let uri = format!("file://{path}");
        let foreign = ForeignEditor::start(&world, move |tool, _| match tool {
            "getDiagnostics" => {
                let range =
                    json!({ "start": { "line": 2, "character": 4 }, "end": { "line": 2, "character": 5 } });
                let found = json!({ "message": "bad", "severity": "Error", "range": range, "source": "lsp" });
                foreign_editor::text(json!([{ "uri": uri, "diagnostics": [found] }]).to_string())
            }
            "getWorkspaceFolders" => {
                foreign_editor::text(json!({ "success": true, "folders": [] }).to_string())
            }
            _ => json!({ "content": [{ "type": "text", "text": "no such\u{1b}[2J luck" }], "isError": true }),
        });
        let ran = world.run(&["diagnostics", "--json"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        let found = &ran.json()["diagnostics"][0];
        assert_eq!((&found["path"], &found["line"], &found["column"]), (&json!(path), &json!(3), &json!(5)));
        check(&world.run(&["tools"]), 0, &["getDiagnostics  Get diagnostics\n"]);
        let ran = world.run(&["call", "anything", "{\"a\": 1}"]);
        check(&ran, 5, &["no such\\u{1b}[2J luck"]);
        assert_eq!(foreign.called().last().unwrap(), &("anything".to_owned(), json!({ "a": 1 })));
        check(&world.run(&["close", "tab"]), 5, &["no such"]);
        assert!(!world.socket().exists(), "no hub is needed for it");
    }

    #[test]
    fn an_editor_that_does_not_answer_is_not_waited_for_for_ever() {
        let world = World::with_config("[limits]\ncall_seconds = 1\n");
        let editor = Editor::attach(&world);
        editor.state().silent.push("diagnostics/get".into());
        check(&world.run(&["diagnostics"]), 5, &["did not answer"]);
    }

    #[test]
    fn a_file_that_is_not_open_cannot_be_saved_and_that_is_said() {
        let world = World::new();
        world.file("a.txt", "one\n");
        let _window = world.serve();
        let ran = world.run(&["save", "a.txt"]);
        assert_eq!(ran.code, 5, "{ran:?}");
        assert!(ran.stderr.contains("not open in the editor"), "{ran:?}");
    }

    /// A tool that the server does not have.
    fn unknown(tool: &str) -> Value {
        json!({ "content": [{ "type": "text", "text": format!("Unknown tool: {tool}") }], "isError": true })
    }

    #[test]
    fn an_editor_without_a_tool_for_folders_has_those_of_its_lock_file() {
        let world = World::new();
        let _emacs = ForeignEditor::start(&world, |tool, _| unknown(tool));
        let folders = world.json(&["folders"])["folders"].clone();
        assert_eq!(folders, json!([world.workspace()]));
    }

    #[test]
    fn a_context_has_what_there_is_where_a_tool_is_missing() {
        let world = World::new();
        let path = world.file("a.rs", "x\n");
        let uri = format!("file://{path}");
        let _emacs = ForeignEditor::start(&world, move |tool, _| match tool {
            "getDiagnostics" => {
                let range =
                    json!({ "start": { "line": 2, "character": 4 }, "end": { "line": 2, "character": 5 } });
                let found = json!({ "message": "bad", "severity": "Error", "range": range });
                foreign_editor::text(json!([{ "uri": uri, "diagnostics": [found] }]).to_string())
            }
            tool => unknown(tool),
        });
        let ran = world.run(&["context"]).ok();
        assert!(ran.stdout.contains("1 error") && ran.stderr.contains("getOpenEditors"), "{ran:?}");
        let ran = world.run(&["context", "--no-diagnostics"]);
        check(&ran, 5, &["no tool `getOpenEditors`"]);
    }

    /// Servers whose `openFile` takes these arguments, and where each lands.
    #[test]
    fn a_file_is_opened_at_its_place_or_it_is_said_that_the_editor_cannot() {
        let place = json!({ "filePath": {}, "startText": {}, "endText": {} });
        for (properties, argument, said) in [
            (json!({ "filePath": {} }), json!(null), "cannot go to a line"),
            (json!({ "filePath": {}, "startLine": {} }), json!(null), "cannot go to a column"),
            (place.clone(), json!("needle();"), "opened a.rs:2:5\n"),
            // Somewhere above there is the same text.
            (place, json!(null), "cannot go to a line"),
        ] {
            let world = World::new();
            let above = if argument.is_null() { "    needle();\n" } else { "fn main() {\n" };
            world.file("a.rs", format!("{above}    needle();\n"));
            let foreign = ForeignEditor::start(&world, |_, _| foreign_editor::text("Opened file"));
            foreign.offers(json!([{ "name": "openFile", "inputSchema": { "properties": properties } }]));
            let ran = world.run(&["open", "a.rs:2:5"]).ok();
            assert!(ran.stdout.contains(said), "{properties}: {ran:?}");
            let (tool, arguments) = foreign.called().pop().unwrap();
            assert_eq!(tool, "openFile");
            assert_eq!(arguments["startText"], argument, "{arguments}");
            if properties.get("startLine").is_some() {
                assert_eq!(arguments["startLine"], 2);
            }
        }
    }
}

//! All dialects in one window at the same time: each has a pending change, and each gets its own answer in its own form.

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Child, Command, Stdio};
    use std::thread;
    use std::time::Duration;

    use linkspan_editor_api as api;
    use serde_json::{Value, json};

    use crate::support::gemini::{Gemini, request};
    use crate::support::*;

    const BEFORE: &str = "one\n";
    const AFTER: &str = "ONE\n";

    /// Proposes as ppxai does, on a connection of its own.
    fn ppxai(port: u16, path: &str) -> thread::JoinHandle<Value> {
        let call =
            json!({ "id": "p1", "tool": "ide.apply_edit", "args": { "path": path, "content": AFTER } });
        let body = call.to_string();
        let bytes = format!(
            "POST /ide/execute HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        thread::spawn(move || request(port, &bytes).message())
    }

    fn clio(port: u16) -> Agent {
        let mut clio = Agent::open(port, &[]).unwrap();
        clio.send_json(&json!({ "type": "connect" }));
        assert_eq!(clio.next_frame(DEADLINE).unwrap()["type"], "connected");
        clio
    }

    fn propose_as_clio(clio: &mut Agent, path: &str) {
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 3 } });
        let edits = json!([{ "range": range, "oldText": "one", "newText": "ONE" }]);
        clio.send_json(&json!({ "type": "proposeDiff", "file": path, "edits": edits }));
    }

    #[test]
    fn each_is_answered_in_its_own_form_whatever_the_order() {
        for accepts in [true, false] {
            let world = World::new();
            let names = ["claude", "nexus3", "clio", "gemini", "copilot", "ppxai"];
            let [claudes, nexus3s, clios, geminis, copilots, ppxais] =
                names.map(|name| world.file(&format!("{name}.txt"), BEFORE));
            let mut editor = Editor::attach(&world);
            let port = editor.port();

            let (mut claude, mut nexus3) = (Agent::claude(&world, port), Agent::nexus3(&world, port));
            let (mut clio, gemini) = (clio(port), Gemini::ready(&world, port));
            let mut stream = gemini.listen(None);
            let claude_call = claude.propose(&claudes, AFTER, "claude's");
            let nexus3_call = nexus3.propose(&nexus3s, AFTER, "nexus3's");
            propose_as_clio(&mut clio, &clios);
            gemini.open_diff(&geminis, AFTER);
            let copilot = Copilot::ready(&world, "copilots-session");
            let _events = copilot.listen();
            let copilot_call = copilot.open_diff(&copilots, AFTER, "copilot's");
            let ppxai = ppxai(port, &ppxais);

            let all = [&ppxais, &claudes, &copilots, &geminis, &clios, &nexus3s];
            let shown: Vec<api::ReviewShow> = all.iter().map(|path| editor.shown(path)).collect();
            assert_eq!(world.pending(6).len(), 6);
            let mut spoken: Vec<&str> = shown.iter().map(|shown| shown.dialect.as_str()).collect();
            spoken.sort_unstable();
            assert_eq!(spoken, ["claude", "clio", "copilot", "gemini", "nexus3", "ppxai"]);
            for shown in &shown {
                if accepts { editor.accept(shown) } else { editor.reject(shown) }
            }

            let word = |yes: &'static str, no: &'static str| if accepts { yes } else { no };
            assert_eq!(claude.texts(claude_call)[0], word("FILE_SAVED", "DIFF_REJECTED"));
            assert_eq!(nexus3.texts(nexus3_call)[0], word("FILE_SAVED", "DIFF_REJECTED"));
            let answer = clio.next_frame(DEADLINE).unwrap();
            assert_eq!(answer, json!({ "type": word("diffAccepted", "diffRejected"), "file": clios }));
            let told = stream.notification(word("ide/diffAccepted", "ide/diffRejected"));
            assert_eq!(told["params"]["filePath"], geminis);
            assert_eq!(copilot_call.decision().0, word("SAVED", "REJECTED"));
            let answer = ppxai.join().unwrap();
            assert_eq!((&answer["id"], &answer["success"]), (&json!("p1"), &json!(accepts)), "{answer}");
            assert_eq!(answer["result"]["accepted"], accepts, "{answer}");

            // The agents of three dialects write by themselves.
            let by_agents = [&claudes, &geminis, &copilots].map(|path| (path, false));
            let by_the_hub = [&nexus3s, &clios, &ppxais].map(|path| (path, true));
            for (path, written) in by_agents.into_iter().chain(by_the_hub) {
                let expected = if written && accepts { AFTER } else { BEFORE };
                assert_eq!(std::fs::read_to_string(path).unwrap(), expected, "{path}");
            }
            // No agent received the outcome of another.
            for agent in [&mut claude, &mut nexus3, &mut clio] {
                assert_eq!(agent.next_frame(Duration::from_millis(100)), None);
            }
        }
    }

    fn client(world: &World, port: u16, token: Option<&str>) -> Child {
        let mut command: Command = world.program(prerequisites::python());
        let command = command
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/peers/ppxai_client.py"))
            .arg(format!("http://127.0.0.1:{port}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if let Some(token) = token {
            command.env("PPXAI_BRIDGE_TOKEN", token);
        }
        command.spawn().unwrap()
    }

    fn told(client: Child) -> Vec<Value> {
        let output = client.wait_with_output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    mod with_python {
        use super::*;

        /// As ppxai's own client does it.
        #[test]
        fn ppxais_own_way_of_asking_works() {
            let world = World::new();
            let path = world.file("src/main.py", BEFORE);
            let mut editor = Editor::attach(&world);
            editor.open(&path, BEFORE, false);
            let mut client = client(&world, editor.port(), None);
            let mut asks = client.stdin.take().unwrap();
            for (tool, args) in [
                ("ide.get_workspace_info", json!({})),
                ("ide.list_files", json!({ "pattern": "**/*.py", "exclude": "**/node_modules/**" })),
                ("ide.read_file", json!({ "path": "src/main.py" })),
                ("ide.get_selection", json!({})),
                ("ide.open_file", json!({ "path": "src/main.py", "line": 1, "column": null })),
                ("ide.get_diagnostics", json!({ "path": null })),
                ("ide.apply_edit", json!({ "path": "src/main.py", "content": AFTER, "confirmed": true })),
                ("ide.read_file", json!({ "path": "../outside.py" })),
            ] {
                writeln!(asks, "{}", json!({ "tool": tool, "args": args })).unwrap();
            }
            drop(asks);
            editor.accept(&editor.shown(&path));
            let told = told(client);
            assert_eq!(told[0]["status"], 200, "{told:?}");
            assert!(told[0]["capabilities"].as_array().unwrap().contains(&json!("workspace")), "{told:?}");
            let folder = &told[1]["result"]["folders"][0];
            assert_eq!(folder["path"], world.workspace().to_str().unwrap());
            assert_eq!(told[2]["result"], json!(["src/main.py"]));
            assert_eq!(
                (&told[3]["result"]["content"], &told[3]["result"]["language"]),
                (&json!(BEFORE), &json!("python"))
            );
            assert_eq!(told[5]["result"], true);
            assert!(told[6]["result"].is_array(), "{told:?}");
            assert_eq!(told[7]["result"]["applied"], true, "{told:?}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), AFTER);
            assert_eq!(told[8]["code"], "OUTSIDE_WORKSPACE", "{told:?}");
        }
    }

    #[test]
    fn sessions_that_nobody_listens_to_keep_nobody_out_by_any_door() {
        let world = World::with_config("[limits]\nconnections = 3\n");
        let path = world.file("a.txt", "old\n");
        let mut editor = Editor::attach(&world);
        let waits = Gemini::ready(&world, editor.port());
        waits.open_diff(&path, "new\n");
        let silent: Vec<Gemini> = (0..4).map(|_| Gemini::ready(&world, editor.port())).collect();
        let mut claude = Agent::claude(&world, editor.port());
        claude.is_served();
        claude.goodbye();
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        for agent in &silent {
            assert_eq!(agent.post(&ping).status, 200, "an evicted session may come back");
        }
        // A session with a pending review is not evicted.
        let mut stream = waits.listen(None);
        let shown = editor.shown(&path);
        editor.accept(&shown);
        assert_eq!(stream.notification("ide/diffAccepted")["params"]["content"], "new\n");
    }
}

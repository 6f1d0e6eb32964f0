//! Captured conversations of real agents, played against the real hub: each frame of the agent gets an answer
//! of the recorded shape and meaning.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use linkspan_editor_api as api;
    use serde_json::{Value, json};

    use crate::support::agent::{self, texts};
    use crate::support::*;

    const RECORDED_FOLDER: &str = "/w/project";

    /// The frames of one capture, with the workspace in place of the recorded one.
    fn capture(world: &World, name: &str) -> Vec<Value> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wire").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        // The opencode capture was made in another folder than its name says.
        let text = text
            .replace("/w/projectroj", RECORDED_FOLDER)
            .replace(RECORDED_FOLDER, world.workspace().to_str().unwrap());
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Dropped from top to bottom: the world goes last.
    struct Replay {
        agent: Agent,
        /// The agent's requests, by id.
        asked: BTreeMap<i64, Value>,
        editor: Editor,
        world: World,
    }

    /// An editor with the recorded file open, and the recorded agent, connected.
    fn replay() -> Replay {
        let world = World::new();
        let path = world.file("a.txt", "one\ntwo\nthree\n");
        let editor = Editor::attach(&world);
        editor.open(&path, "one\ntwo\nthree\n", false);
        let agent = Agent::connect(&world, editor.port(), WsDialect::Claude);
        Replay { agent, asked: BTreeMap::new(), editor, world }
    }

    impl Replay {
        fn play(&mut self, name: &str) {
            let frames = capture(&self.world, name);
            assert!(frames.iter().any(|frame| frame["msg"].is_object()), "{name} has no messages");
            for frame in &frames {
                let message = &frame["msg"];
                match frame["dir"].as_str() {
                    Some("cli->ide") if message.is_object() => self.agent_says(message),
                    Some("ide->cli") if message.is_object() => self.editor_says(message),
                    _ => {}
                }
            }
        }

        fn agent_says(&mut self, message: &Value) {
            if let Some(id) = message["id"].as_i64() {
                self.asked.insert(id, message.clone());
            }
            self.agent.send_json(message);
            if message["params"]["name"] == "openDiff" {
                // In each of them the user took a while to decide.
                self.editor.shown(message["params"]["arguments"]["new_file_path"].as_str().unwrap());
            }
        }

        fn editor_says(&mut self, recorded: &Value) {
            match recorded["method"].as_str() {
                Some("selection_changed") => {
                    // Everything sent before has been read, so the handshake is complete.
                    self.settle();
                    self.editor.send(&api::SelectionChanged { selection: selection(&recorded["params"]) });
                    assert_eq!(&self.agent.notification("selection_changed"), recorded);
                }
                Some("at_mentioned") => {
                    self.settle();
                    let line = |key: &str| u32::try_from(recorded["params"][key].as_u64().unwrap()).unwrap();
                    let lines = api::LineRange { first: line("lineStart"), last: line("lineEnd") };
                    let path = recorded["params"]["filePath"].as_str().unwrap().to_owned();
                    self.editor.send(&api::Mentioned { path, lines: Some(lines) });
                    assert_eq!(&self.agent.notification("at_mentioned"), recorded);
                }
                Some(other) => panic!("unknown notification {other}"),
                None => self.answer_is_like(recorded),
            }
        }

        /// Any answer to a later request shows that the earlier frames were read.
        fn settle(&mut self) {
            self.agent.send_json(&json!({ "jsonrpc": "2.0", "id": 9000, "method": "ping" }));
            self.agent.answer(9000);
        }

        fn answer_is_like(&mut self, recorded: &Value) {
            let id = recorded["id"].as_i64().unwrap();
            let asked = self.asked.get(&id).unwrap().clone();
            match asked["method"].as_str().unwrap() {
                "initialize" => {
                    let ours = self.agent.answer(id);
                    // Its own extension knew only an older one; the agent takes either.
                    assert!(recorded["result"]["protocolVersion"].is_string());
                    assert_eq!(ours["result"]["protocolVersion"], asked["params"]["protocolVersion"]);
                    assert_eq!(ours["result"]["capabilities"]["tools"]["listChanged"], true);
                    assert_eq!(ours["result"]["serverInfo"]["name"], "linkspan");
                }
                "tools/list" => self.tools_are_like(id, recorded),
                "tools/call" => self.tool_answer_is_like(id, &asked["params"], recorded),
                other => panic!("unknown method {other}"),
            }
        }

        fn tools_are_like(&mut self, id: i64, recorded: &Value) {
            let by_name = |message: &Value| -> BTreeMap<String, Value> {
                let tools = message["result"]["tools"].as_array().unwrap();
                tools.iter().map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool.clone())).collect()
            };
            let (ours, theirs) = (by_name(&self.agent.answer(id)), by_name(recorded));
            let mut expected: Vec<_> = theirs.keys().cloned().collect();
            expected.retain(|name| name != "executeCode");
            assert_eq!(ours.keys().cloned().collect::<Vec<_>>(), expected);
            for (name, tool) in &ours {
                let theirs = theirs[name]["inputSchema"]["properties"].as_object();
                for (argument, schema) in theirs.into_iter().flatten() {
                    let ours = &tool["inputSchema"]["properties"][argument];
                    assert_eq!(ours["type"], schema["type"], "argument {argument} of {name}");
                }
            }
        }

        fn tool_answer_is_like(&mut self, id: i64, call: &Value, recorded: &Value) {
            let theirs = texts(recorded);
            let arguments = &call["arguments"];
            if call["name"] == "openDiff" {
                return self.decide_like(id, arguments, &theirs);
            }
            let ours = self.agent.texts(id);
            if call["name"] == "getDiagnostics" {
                // Editors differ in which files without diagnostics they list; the diagnostics themselves must agree.
                let findings = |texts: &[String]| -> Vec<Value> {
                    let files: Vec<Value> = serde_json::from_str(&texts[0]).unwrap();
                    assert!(files.iter().all(|file| file["uri"].is_string()), "{texts:?}");
                    files.iter().flat_map(|file| file["diagnostics"].as_array().unwrap().clone()).collect()
                };
                assert_eq!(ours.len(), 1);
                assert_eq!(findings(&ours), findings(&theirs));
            } else {
                assert_eq!(ours, theirs, "{call}");
            }
        }

        fn decide_like(&mut self, id: i64, arguments: &Value, theirs: &[String]) {
            // The user decided in the terminal: the tab was closed before the recorded fake editor made up an answer.
            let closed = self.asked.values().any(|asked| asked["params"]["name"] == "close_tab");
            if closed {
                return self.taken_back(id, arguments);
            }
            let path = arguments["new_file_path"].as_str().unwrap();
            let shown = self.editor.shown(path);
            assert_eq!(shown.label, arguments["tab_name"].as_str().unwrap());
            assert_eq!(shown.proposed, arguments["new_file_contents"].as_str().unwrap());
            let verb = if theirs[0] == "FILE_SAVED" { "accept" } else { "reject" };
            self.world.run(&[verb, &shown.review]).ok();
            let mut expected = theirs.to_vec();
            if shown.new_file {
                // This version of the agent takes one newline off a new file.
                expected[1].push('\n');
            }
            assert_eq!(self.agent.texts(id), expected);
            assert!(matches!(self.editor.hidden(&shown.review), api::HideReason::Decided { .. }));
        }

        fn taken_back(&mut self, id: i64, arguments: &Value) {
            let shown = self.editor.shown(arguments["new_file_path"].as_str().unwrap());
            assert_eq!(self.editor.hidden(&shown.review), api::HideReason::Withdrawn);
            assert_ne!(self.world.run(&["accept", &shown.review]).code, 0, "a late decision is refused");
            let answer = self.agent.answer_within(id, std::time::Duration::ZERO);
            let texts = answer.filter(|answer| answer.get("error").is_none());
            assert_eq!(texts, None, "without a decision, no answer may look like one");
        }

        fn bytes_are(&self, name: &str, text: &str) {
            assert_eq!(self.world.read_text(name), text, "in this dialect the agent writes, not we");
        }
    }

    fn selection(params: &Value) -> api::Selection {
        let range = json!({ "start": params["selection"]["start"], "end": params["selection"]["end"] });
        api::Selection {
            path: params["filePath"].as_str().unwrap().to_owned(),
            text: params["text"].as_str().unwrap().to_owned(),
            range: serde_json::from_value(range).unwrap(),
            is_empty: params["selection"]["isEmpty"].as_bool().unwrap(),
            reversed: false,
        }
    }

    #[test]
    fn a_change_accepted_in_the_editor_by_an_older_agent() {
        let mut replay = replay();
        replay.play("claude-2.1.112-accept.jsonl");
        replay.bytes_are("a.txt", "one\ntwo\nthree\n");
    }

    #[test]
    fn a_change_accepted_in_the_editor() {
        let mut replay = replay();
        replay.play("claude-2.1.325-accept.jsonl");
        replay.bytes_are("a.txt", "one\ntwo\nthree\n");
    }

    #[test]
    fn a_change_accepted_in_the_agents_own_extension() {
        replay().play("claude-2.1.325-real-extension-accept.jsonl");
    }

    #[test]
    fn a_change_rejected_in_the_editor() {
        let mut replay = replay();
        replay.play("claude-2.1.325-reject.jsonl");
        replay.bytes_are("a.txt", "one\ntwo\nthree\n");
    }

    #[test]
    fn a_new_file_gets_the_newline_that_the_agent_takes_off() {
        let mut replay = replay();
        replay.play("claude-2.1.325-new-file.jsonl");
        assert!(!replay.world.path("new-newfile.txt").exists(), "the agent writes, not we");
    }

    #[test]
    fn a_change_accepted_in_the_terminal_is_taken_back_in_the_editor() {
        let mut replay = replay();
        replay.play("claude-2.1.325-terminal-accept.jsonl");
        assert!(replay.world.reviews().is_empty());
    }

    #[test]
    fn a_selection_reaches_the_agent() {
        replay().play("claude-2.1.325-selection.jsonl");
    }

    #[test]
    fn a_mention_reaches_the_agent() {
        replay().play("claude-2.1.325-mention.jsonl");
    }

    #[test]
    fn an_agent_without_a_subprotocol_is_served_as_well() {
        let mut replay = replay();
        let token = WsDialect::Claude.lock(&replay.world, replay.editor.port())["authToken"].clone();
        let headers = [("x-claude-code-ide-authorization", token.as_str().unwrap())];
        replay.agent = Agent::open(replay.editor.port(), &headers).unwrap();
        assert_eq!(replay.agent.response.headers().get("Sec-WebSocket-Protocol"), None);
        replay.play("opencode-1.18.33-connect.jsonl");
    }

    #[test]
    fn the_subprotocol_is_echoed_when_it_is_offered() {
        let replay = replay();
        let headers = replay.agent.response.headers();
        assert_eq!(headers.get("Sec-WebSocket-Protocol").unwrap(), "mcp");
        assert_eq!(headers.get("Connection").unwrap(), "Upgrade", "strict clients take nothing else");
        assert_eq!(headers.get("Sec-WebSocket-Extensions"), None, "compression is declined");
    }

    #[test]
    fn a_connection_that_says_nothing_disturbs_nobody() {
        let world = World::new();
        let serve = world.serve();
        // Real agents first check whether the port is open.
        drop(std::net::TcpStream::connect(("127.0.0.1", serve.port)).unwrap());
        Agent::introduced(&world, serve.port, WsDialect::Claude, agent::CLAUDE).is_served();
    }
}

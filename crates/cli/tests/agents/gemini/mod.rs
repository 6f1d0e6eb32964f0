//! Gemini CLI and Qwen Code at the real hub: captures of them replay with the same meaning, and faults on their
//! connections do no harm.

#[cfg(test)]
mod restarts;

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use linkspan_editor_api as api;
    use serde_json::{Value, json};

    use crate::support::gemini::{Gemini, Http, Stream, request};
    use crate::support::raw_http::{self, head};
    use crate::support::*;

    const OLD: &str = "one\ntwo\nthree\n";
    pub(crate) const NEW: &str = "one\nTWO\nthree\n";

    /// Dropped from top to bottom: the world goes last.
    pub(crate) struct GeminiFixture {
        pub(crate) editor: Editor,
        pub(crate) path: String,
        pub(crate) world: World,
    }

    pub(crate) fn fixture() -> GeminiFixture {
        fixture_in(World::new())
    }

    fn fixture_in(world: World) -> GeminiFixture {
        let path = world.file("a.txt", OLD);
        let editor = Editor::attach(&world);
        GeminiFixture { editor, path, world }
    }

    impl GeminiFixture {
        pub(crate) fn agent(&self) -> Gemini {
            Gemini::ready(&self.world, self.editor.port())
        }

        pub(crate) fn decided(&self, method: &str) -> Value {
            let content = (method == "ide/diffAccepted").then_some(NEW);
            let mut params = json!({ "filePath": self.path });
            if let Some(content) = content {
                params["content"] = json!(content);
            }
            json!({ "jsonrpc": "2.0", "method": method, "params": params })
        }
    }

    fn capture(world: &World, name: &str) -> Vec<Value> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wire").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        let text = text.replace("/w/project", world.workspace().to_str().unwrap());
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Replays the messages of the agent, and checks that the answers are those of the capture.
    fn replay(name: &str) {
        let mut fixture = fixture();
        let mut agent = Gemini::find(&fixture.world, fixture.editor.port());
        let (mut stream, mut shown): (Option<Stream>, _) = (None, None);
        let mut answers: Vec<Http> = Vec::new();
        for frame in capture(&fixture.world, name) {
            let (message, first) = (&frame["msg"], frame["http"].as_str().unwrap_or_default());
            if first.starts_with("GET") {
                stream = Some(agent.listen(None));
            } else if frame["dir"] == "cli->ide" && message.is_object() {
                let answer = agent.post(message);
                if let Some(session) = answer.header("mcp-session-id") {
                    agent.session = Some(session.to_owned());
                }
                match message["id"].is_null() {
                    true => assert_eq!((answer.status, answer.body.as_str()), (202, ""), "{name}"),
                    false => answers.push(answer),
                }
                if message["params"]["name"] == "openDiff" {
                    shown = Some(fixture.editor.shown(&fixture.path));
                }
            } else if frame["dir"] == "ide->cli" && message["id"].is_number() {
                same_meaning(&answers.remove(0), message, name);
            } else if frame["dir"] == "ide->cli" && message.is_object() {
                let method = message["method"].as_str().unwrap();
                match method {
                    "ide/diffAccepted" => fixture.editor.accept(shown.as_ref().unwrap()),
                    "ide/diffRejected" => fixture.editor.reject(shown.as_ref().unwrap()),
                    _ => work_in(&fixture.editor, &message["params"]["workspaceState"]["openFiles"]),
                }
                let files = message["params"]["workspaceState"]["openFiles"].as_array();
                let wanted = files.map_or(0, Vec::len);
                let told = eventually(method, || {
                    let told = stream.as_mut().unwrap().notification(method);
                    let files = told["params"]["workspaceState"]["openFiles"].as_array().map_or(0, Vec::len);
                    (files == wanted).then_some(told)
                });
                assert_eq!(without_times(told), without_times(message.clone()), "{name}");
            }
        }
        assert_eq!(stream.unwrap().rest(), Vec::<Value>::new(), "{name}");
        assert_eq!(fixture.world.read_text("a.txt"), OLD, "the agent writes");
    }

    /// Gives the editor the state that is in the capture.
    fn work_in(editor: &Editor, files: &Value) {
        for file in files.as_array().unwrap() {
            let path = file["path"].as_str().unwrap();
            editor.open(path, OLD, false);
            let text = file["selectedText"].as_str().unwrap();
            let start = api::Position { line: 1, character: 0 };
            let range = api::Range { start, end: api::Position { line: 1, character: 3 } };
            let selection = api::Selection {
                path: path.into(),
                text: text.into(),
                range,
                is_empty: false,
                reversed: true,
            };
            editor.state().active = Some(path.to_owned());
            editor.send(&api::SelectionChanged { selection });
        }
    }

    fn without_times(mut message: Value) -> Value {
        if let Some(files) = message.pointer_mut("/params/workspaceState/openFiles") {
            for file in files.as_array_mut().unwrap() {
                assert!(file["timestamp"].as_u64().unwrap() > 1_600_000_000_000, "{file}");
                file["timestamp"] = json!(0);
            }
        }
        message
    }

    #[track_caller]
    fn same_meaning(ours: &Http, theirs: &Value, name: &str) {
        assert_eq!(ours.status, 200, "{name}: {ours:?}");
        let ours = ours.message();
        assert_eq!(ours["id"], theirs["id"], "{name}");
        if theirs["result"]["serverInfo"].is_object() {
            assert_eq!(ours["result"]["protocolVersion"], theirs["result"]["protocolVersion"], "{name}");
        } else if let Some(tools) = theirs["result"]["tools"].as_array() {
            for (ours, theirs) in ours["result"]["tools"].as_array().unwrap().iter().zip(tools) {
                assert_eq!((&ours["name"], &ours["inputSchema"]), (&theirs["name"], &theirs["inputSchema"]));
            }
        } else {
            let inner = |message: &Value| -> Value {
                let content = message["result"]["content"].as_array().unwrap();
                content
                    .first()
                    .map_or(Value::Null, |item| serde_json::from_str(item["text"].as_str().unwrap()).unwrap())
            };
            assert_eq!(inner(&ours), inner(theirs), "{name}");
        }
    }

    #[test]
    fn captured_edits_replay_with_the_same_meaning() {
        replay("gemini-0.61.0-accept.jsonl");
        replay("gemini-0.61.0-reject.jsonl");
        replay("gemini-0.61.0-real-companion-accept.jsonl");
        replay("qwen-0.24.4-accept.jsonl");
    }

    #[test]
    fn what_was_accepted_in_the_terminal_is_taken_back_here_without_a_word() {
        replay("gemini-0.61.0-terminal-accept.jsonl");
    }

    #[test]
    fn where_the_person_is_replays_as_captured() {
        replay("gemini-0.61.0-context.jsonl");
    }

    #[test]
    fn both_forms_of_answers_say_the_same() {
        let fixture = fixture();
        let mut agent = fixture.agent();
        let list = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list" });
        let json_form = agent.post(&list);
        assert_eq!(json_form.header("content-type"), Some("application/json"));
        agent.accept = "text/event-stream".to_owned();
        let events = agent.post(&list);
        assert_eq!(events.header("content-type"), Some("text/event-stream"));
        assert_eq!(events.header("mcp-session-id"), agent.session.as_deref());
        assert_eq!(events.message(), json_form.message());
        agent.accept = "text/html".to_owned();
        assert_eq!(agent.post(&list).status, 406);
    }

    #[test]
    fn a_change_that_the_user_edited_is_reported_as_edited() {
        let mut fixture = fixture();
        let agent = fixture.agent();
        let mut stream = agent.listen(None);
        agent.open_diff(&fixture.path, NEW);
        let shown = fixture.editor.shown(&fixture.path);
        let edited = fixture.editor.edit(&shown, "one\nmine\nthree\n");
        assert_eq!(edited.label, "a.txt");
        let closed = agent.call(8, "closeDiff", json!({ "filePath": fixture.path }));
        let text: Value =
            serde_json::from_str(closed["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text["content"], "one\nmine\nthree\n");
        assert_eq!(
            stream.notification("ide/diffClosed"),
            fixture.decided("ide/diffClosed"),
            "it did not ask for silence"
        );
    }

    #[test]
    fn a_stream_that_broke_goes_on_where_it_was() {
        let mut fixture = fixture();
        let agent = fixture.agent();
        let mut stream = agent.listen(None);
        stream.notification("ide/contextUpdate");
        let last = stream.drop_it().unwrap();
        agent.open_diff(&fixture.path, NEW);
        let shown = fixture.editor.shown(&fixture.path);
        fixture.editor.accept(&shown);
        let mut again = agent.listen_silently(Some(&last));
        assert_eq!(again.notification("ide/diffAccepted"), fixture.decided("ide/diffAccepted"));
        // Messages in flight when the connection broke are sent again, and only those.
        again.drop_it();
        let mut third = agent.listen(Some(&last));
        assert_eq!(third.notification("ide/diffAccepted"), fixture.decided("ide/diffAccepted"));
        let seen = third.last.clone();
        third.drop_it();
        assert_eq!(agent.listen(seen.as_deref()).rest(), Vec::<Value>::new());
    }

    #[test]
    fn the_newest_stream_is_the_one_that_is_served() {
        let mut fixture = fixture();
        let agent = fixture.agent();
        let mut first = agent.listen(None);
        let mut second = agent.listen(None);
        first.ended();
        agent.open_diff(&fixture.path, NEW);
        let shown = fixture.editor.shown(&fixture.path);
        fixture.editor.reject(&shown);
        assert_eq!(second.notification("ide/diffRejected"), fixture.decided("ide/diffRejected"));
    }

    #[test]
    fn two_sessions_that_ask_for_one_path_are_each_told_their_own() {
        let mut fixture = fixture();
        let (one, other) = (fixture.agent(), fixture.agent());
        let (mut to_one, mut to_other) = (one.listen(None), other.listen(None));
        one.open_diff(&fixture.path, NEW);
        let first = fixture.editor.shown(&fixture.path);
        other.open_diff(&fixture.path, NEW);
        let second = fixture.editor.until("the second review", |state| {
            state.shown.iter().find(|shown| shown.review != first.review).cloned()
        });
        fixture.editor.reject(&second);
        assert_eq!(to_other.notification("ide/diffRejected"), fixture.decided("ide/diffRejected"));
        assert_eq!(to_one.rest(), Vec::<Value>::new());
        fixture.editor.accept(&first);
        assert_eq!(to_one.notification("ide/diffAccepted"), fixture.decided("ide/diffAccepted"));
        assert_eq!(to_other.rest(), Vec::<Value>::new());
    }

    /// Waits until the window is there again, at its old port.
    pub(crate) fn back(fixture: &GeminiFixture, port: u16) {
        eventually("the window is back", || {
            let status = fixture.world.status();
            let windows = status["windows"].as_array()?;
            windows.iter().any(|window| window["port"] == port && window["attached"] == true).then_some(())
        });
    }

    #[test]
    fn an_open_diff_is_told_closed_when_its_window_does_not_come_back() {
        let fixture = fixture_in(World::with_config("window_grace_seconds = 0\n"));
        let agent = fixture.agent();
        let mut stream = agent.listen(None);
        agent.open_diff(&fixture.path, NEW);
        fixture.editor.shown(&fixture.path);
        let closed = fixture.decided("ide/diffClosed");
        let GeminiFixture { editor, world, .. } = fixture;
        editor.detach();
        assert_eq!(stream.notification("ide/diffClosed"), closed);
        stream.ended();
        eventually("no review is left", || world.reviews().is_empty().then_some(()));
    }

    #[test]
    fn an_agent_that_leaves_withdraws_its_changes_and_ends_its_session() {
        let fixture = fixture();
        let agent = fixture.agent();
        let mut stream = agent.listen(None);
        agent.open_diff(&fixture.path, NEW);
        let shown = fixture.editor.shown(&fixture.path);
        assert_eq!(agent.delete().status, 200);
        assert_eq!(fixture.editor.hidden(&shown.review), api::HideReason::Withdrawn);
        stream.ended();
        assert_eq!(agent.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).status, 404);
        assert_eq!(agent.delete().status, 404);
    }

    #[test]
    fn a_change_that_cannot_be_shown_is_a_failed_tool() {
        let fixture = fixture();
        let answer =
            fixture.agent().call(1, "openDiff", json!({ "filePath": "/etc/passwd", "newContent": "" }));
        assert_eq!(answer["result"]["isError"], true);
        assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("/etc/passwd"), "{answer}");
    }

    #[test]
    fn the_context_follows_the_person_and_leaves_out_what_is_denied() {
        let fixture = fixture_in(World::with_config("deny = [\"secret.txt\"]\n"));
        let secret = fixture.world.file("secret.txt", "s\n");
        let other = fixture.world.file("b.txt", OLD);
        fixture.editor.open(&fixture.path, OLD, false);
        let agent = fixture.agent();
        let mut stream = agent.listen(None);
        let mut files = || {
            let told = stream.notification("ide/contextUpdate");
            told["params"]["workspaceState"]["openFiles"].as_array().unwrap().clone()
        };
        assert_eq!(files().len(), 1);
        for path in [&other, &secret] {
            fixture.editor.open(path, OLD, false);
        }
        fixture.editor.state().active = Some(other.clone());
        fixture.editor.send(&api::DocumentsChanged {});
        let now = files();
        let paths: Vec<&str> = now.iter().map(|file| file["path"].as_str().unwrap()).collect();
        assert_eq!(paths, [other.as_str(), fixture.path.as_str()], "the newest first, the denied not at all");
        assert_eq!((&now[0]["isActive"], &now[1]["isActive"]), (&json!(true), &json!(false)));
        assert!(now[0]["timestamp"].as_u64() > now[1]["timestamp"].as_u64());
    }

    #[test]
    fn the_files_by_which_it_is_found_are_private_and_go_with_the_window() {
        let fixture = fixture();
        let files = fixture.world.gemini_files();
        assert_eq!(files.len(), 2, "{files:?}");
        for file in &files {
            assert_eq!(std::fs::metadata(file).unwrap().mode() & 0o777, 0o600);
            assert_eq!(std::fs::metadata(file.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
        }
        let environment = &fixture.editor.attached.environment;
        for name in ["GEMINI_CLI_IDE_SERVER_PORT", "QWEN_CODE_IDE_SERVER_PORT"] {
            assert_eq!(environment[name], fixture.editor.port().to_string());
        }
        let token = Gemini::find(&fixture.world, fixture.editor.port()).token;
        assert!(environment.values().all(|value| !value.contains(&token)));
    }

    #[test]
    fn hostile_requests_are_refused_and_counted() {
        let fixture = fixture_in(World::with_config("[limits]\nmessage_mib = 1\n"));
        let agent = fixture.agent();
        let refused = |name: &str| fixture.world.status()["refused"][name].as_u64().unwrap_or(0);
        let check = |status: u16, name: &str, answer: Http| {
            assert_eq!(answer.status, status, "{name}: {answer:?}");
            assert!(!answer.body.contains(&agent.token));
            eventually(name, || (refused(name) > 0).then_some(()));
        };
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        let with = |change: &dyn Fn(&mut Gemini)| {
            let mut other = agent.clone();
            change(&mut other);
            other
        };
        check(401, "wrongToken", with(&|other| other.token = "0".repeat(36)).post(&ping));
        check(403, "fromBrowser", agent.post_text(&ping.to_string(), &["Origin: https://example.com"]));
        check(400, "noSessionId", with(&|other| other.session = None).post(&ping));
        check(404, "unknownSession", with(&|other| other.session = Some("x".into())).post(&ping));
        let forged = |other: &mut Gemini| {
            let session = other.session.as_mut().unwrap();
            let last = if session.pop() == Some('0') { '1' } else { '0' };
            session.push(last);
        };
        check(404, "unknownSession", with(&forged).post(&ping));
        check(
            400,
            "unknownProtocol",
            agent.post_text(&ping.to_string(), &["MCP-Protocol-Version: 1999-01-01"]),
        );
        check(413, "tooLarge", agent.post_text(&"x".repeat(1 << 20 | 1), &[]));
        let get = |lines: &[String]| request(agent.port, &head("GET /mcp HTTP/1.1", lines));
        let accept = "Accept: text/event-stream".to_owned();
        let without = with(&|other| other.session = None).lines();
        check(400, "noSessionId", get(&[without, vec![accept]].concat()));
        check(406, "notAcceptable", get(&[agent.lines(), vec!["Accept: application/json".into()]].concat()));
        check(405, "wrongMethod", request(agent.port, &head("PUT /mcp HTTP/1.1", &agent.lines())));
        let mut form = agent.lines();
        form.extend(["Content-Type: text/plain".to_owned(), "Content-Length: 0".to_owned()]);
        check(415, "notJson", request(agent.port, &head("POST /mcp HTTP/1.1", &form)));
        assert_eq!(agent.post(&ping).message()["result"], json!({}), "the session is as it was");
    }

    #[test]
    fn what_is_no_message_is_told_so_and_batches_are_none() {
        let fixture = fixture();
        let agent = fixture.agent();
        for (body, word) in
            [("[]", "batches"), ("{", "not JSON"), ("{}", "jsonrpc"), ("\"x\"", "one JSON object")]
        {
            let answer = agent.post_text(body, &[]);
            assert_eq!(answer.status, 400, "{body}: {answer:?}");
            let message = answer.message()["error"]["message"].as_str().unwrap().to_owned();
            assert!(message.contains(word), "{body}: {message}");
        }
    }

    #[test]
    fn a_window_takes_no_more_sessions_than_it_may() {
        let fixture = fixture_in(World::with_config("[limits]\nconnections = 2\n"));
        for agent in [fixture.agent(), fixture.agent()] {
            agent.open_diff(&fixture.path, NEW);
        }
        let client = json!({ "name": "third", "version": "1" });
        let params = json!({ "protocolVersion": "2025-06-18", "clientInfo": client });
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let third = Gemini::find(&fixture.world, fixture.editor.port()).post(&hello);
        assert_eq!((third.status, third.header("mcp-session-id")), (503, None));
    }

    #[test]
    fn a_client_that_does_not_read_its_stream_is_evicted() {
        let mut fixture = fixture_in(World::with_config("[limits]\nmessage_mib = 1\n"));
        let agent = fixture.agent();
        let mut lines = agent.lines();
        lines.push("Accept: text/event-stream".to_owned());
        let mut deaf = raw_http::connect(agent.port);
        deaf.write_all(head("GET /mcp HTTP/1.1", &lines).as_bytes()).unwrap();
        let large = |number: usize| format!("{number}\n{}", "x".repeat(900_000));
        // The size of the kernel's buffers is not known, but it is finite.
        let mut count = 0;
        while !fixture.world.log().contains("does not read its stream") {
            assert!(count < 40, "no session is ever evicted");
            let path = fixture.world.file(&format!("b{count}.txt"), "old\n");
            let call = json!({ "filePath": path, "newContent": large(count) });
            let params = json!({ "name": "openDiff", "arguments": call });
            let asked =
                agent.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
            count += 1;
            // It may be evicted at this very moment.
            if asked.status == 200 {
                let shown = fixture.editor.shown(&path);
                fixture.editor.accept(&shown);
            }
        }
        // The others do not notice.
        let other = fixture.agent();
        let mut stream = other.listen(None);
        other.open_diff(&fixture.path, NEW);
        let shown = fixture.editor.shown(&fixture.path);
        fixture.editor.accept(&shown);
        assert_eq!(stream.notification("ide/diffAccepted"), fixture.decided("ide/diffAccepted"));
        drop(deaf);
    }

    #[test]
    fn a_connection_that_is_kept_for_the_next_request_is_not_refused_for_being_slow() {
        let fixture = fixture();
        let agent = fixture.agent();
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
        let mut lines = agent.lines();
        lines.retain(|line| !line.starts_with("Connection"));
        lines.push("Content-Type: application/json".to_owned());
        lines.push(format!("Content-Length: {}", body.len()));
        let mut kept = raw_http::connect(agent.port);
        for _ in 0..2 {
            kept.write_all((head("POST /mcp HTTP/1.1", &lines) + &body).as_bytes()).unwrap();
        }
        let said = raw_http::answer(&mut kept);
        assert_eq!(said.matches("HTTP/1.1 200 OK").count(), 2, "{said}");
        assert_eq!(fixture.world.status()["refused"]["slowHead"], Value::Null);
    }

    mod with_node {
        use super::*;

        /// The client library of both agents: it reconnects by itself, and answers our pings.
        #[test]
        fn the_typescript_sdk_gets_its_decisions_also_from_the_next_hub() {
            let modules = prerequisites::node_modules();
            let mut fixture = fixture();
            let port = fixture.editor.port();
            let token = Gemini::find(&fixture.world, port).token;
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/peers/stream_client.mjs");
            let mut node = fixture.world.program("node");
            node.arg(script).arg(modules).args([&port.to_string(), &token, &fixture.path]);
            node.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            let client = node.spawn().unwrap();
            let shown = fixture.editor.shown(&fixture.path);
            fixture.editor.accept(&shown);
            let second = fixture.editor.until("the second change", |state| state.shown.get(1).cloned());
            fixture.world.kill_hub();
            back(&fixture, port);
            let again = fixture.editor.until("it is shown again", |state| state.shown.get(2).cloned());
            assert_eq!(again.review, second.review);
            eventually("the client is back", || {
                let status = fixture.world.status();
                (status["windows"][0]["returnedAgents"][0]["name"] == "Gemini CLI").then_some(())
            });
            fixture.editor.reject(&again);
            let ran = world::finish(client).ok();
            let said: Vec<Value> =
                ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(said[0]["tools"], json!(["openDiff", "closeDiff"]));
            assert_eq!(said[1]["content"], json!([]));
            assert_eq!(said[2]["method"], "ide/diffAccepted");
            assert_eq!(said[2]["params"]["content"], "two\n");
            assert_eq!((&said[4]["method"], said.len()), (&json!("ide/diffRejected"), 5));
            eventually("it has left", || {
                fixture.world.status()["windows"][0]["agents"].as_array()?.is_empty().then_some(())
            });
        }
    }
}

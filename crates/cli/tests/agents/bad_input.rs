//! Bad input of an agent: it gets the right error in the form of its dialect, its connection stays open where the
//! WebSocket protocol allows that, and the connections of others stay open in any case.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use serde_json::{Value, json};
    use tungstenite::Message;
    use tungstenite::protocol::frame::Frame;
    use tungstenite::protocol::frame::coding::{Data, OpCode};

    use crate::support::agent::diff;
    use crate::support::*;

    const DIALECTS: [WsDialect; 2] = [WsDialect::Claude, WsDialect::Nexus3];

    fn connect(world: &World, dialect: WsDialect, port: u16) -> Agent {
        match dialect {
            WsDialect::Claude => Agent::claude(world, port),
            WsDialect::Nexus3 => Agent::nexus3(world, port),
        }
    }

    fn error_code(answer: &Value) -> Option<i64> {
        answer["error"]["message"].as_str().filter(|message| !message.is_empty())?;
        answer["error"]["code"].as_i64()
    }

    #[test]
    fn a_frame_that_is_no_message_is_answered_with_an_error_and_the_next_one_is_served() {
        let call = |arguments: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{arguments}}}"#)
        };
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let long = "x".repeat(10_000);
        let unreadable: Vec<(String, i64)> = [
            ("", -32700),
            ("{", -32700),
            ("nonsense", -32700),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} trailing", -32700),
            ("{\"a\":\"\\ud800\"", -32700),
            ("42", -32600),
            ("null", -32600),
            ("{}", -32600),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1e400,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600),
        ]
        .map(|(frame, code)| (frame.to_owned(), code))
        .into_iter()
        .chain([
            (format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"ping"}}"#), -32600),
            (deep(100_000), -32600),
            ("[".repeat(100_000), -32700),
        ])
        .collect();
        let answerable: Vec<(String, i64)> = vec![
            (r#"{"jsonrpc":"1.0","id":9,"method":"ping"}"#.into(), -32600),
            (r#"{"id":9,"method":"ping"}"#.into(), -32600),
            (r#"{"jsonrpc":"2.0","id":9,"method":7}"#.into(), -32600),
            (r#"{"jsonrpc":"2.0","id":9}"#.into(), -32600),
            (r#"{"jsonrpc":"2.0","id":9,"method":"no/such"}"#.into(), -32601),
            (format!(r#"{{"jsonrpc":"2.0","id":9,"method":"{long}"}}"#), -32601),
            (r#"{"jsonrpc":"2.0","id":9,"method":"tools/call"}"#.into(), -32602),
            (
                r#"{"jsonrpc":"2.0","id":9,"method":"initialize","params":{"protocolVersion":7}}"#.into(),
                -32602,
            ),
            (call("[]"), -32602),
            (call("7"), -32602),
            (call("{}"), -32602),
            (call(&deep(100_000)), -32602),
            (call(r#"{"name":7}"#), -32602),
            (call(r#"{"name":"noSuchTool","arguments":{}}"#), -32602),
            (call(&format!(r#"{{"name":"{long}","arguments":{{}}}}"#)), -32602),
            (call(r#"{"name":"openDiff"}"#), -32602),
            (call(r#"{"name":"openDiff","arguments":[]}"#), -32602),
            (call(r#"{"name":"openDiff","arguments":{"old_file_path":"/a"}}"#), -32602),
            (
                call(
                    r#"{"name":"openDiff","arguments":{"old_file_path":"/a","new_file_path":7,"new_file_contents":"","tab_name":""}}"#,
                ),
                -32602,
            ),
            (
                call(
                    r#"{"name":"openDiff","arguments":{"old_file_path":"/a","new_file_path":"/a","new_file_contents":null,"tab_name":""}}"#,
                ),
                -32602,
            ),
            (
                call(&format!(r#"{{"name":"openDiff","arguments":{{"old_file_path":{}}}}}"#, deep(100_000))),
                -32602,
            ),
            (call(r#"{"name":"openFile","arguments":{}}"#), -32602),
            (call(r#"{"name":"openFile","arguments":{"filePath":{}}}"#), -32602),
            (call(r#"{"name":"getDiagnostics","arguments":{"uri":"https://example.org/"}}"#), -32602),
        ];
        let world = World::new();
        let serve = world.serve();
        let mut bystander = Agent::claude(&world, serve.port);
        for dialect in DIALECTS {
            let mut agent = connect(&world, dialect, serve.port);
            for (expected_id, frames) in [(Value::Null, &unreadable), (json!(9), &answerable)] {
                for (frame, code) in frames {
                    let shown: String = frame.chars().take(120).collect();
                    agent.send_text(frame.as_str());
                    let answer = agent.next_frame(DEADLINE).unwrap_or_else(|| panic!("no answer: {shown}"));
                    assert_eq!(error_code(&answer), Some(*code), "{dialect:?} {shown}: {answer}");
                    assert_eq!(answer["id"], expected_id, "{dialect:?} {shown}: {answer}");
                    assert!(answer.to_string().len() < 1_000, "an error repeats too much of what was sent");
                }
            }
            agent.is_served();
        }
        bystander.is_served();
        drop((bystander, serve));
    }

    #[test]
    fn notifications_and_answers_nobody_asked_for_are_passed_over_in_silence() {
        let world = World::new();
        let serve = world.serve();
        let mut agent = Agent::claude(&world, serve.port);
        for frame in [
            r#"{"jsonrpc":"2.0","method":"no/such"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#,
            r#"{"jsonrpc":"2.0","method":"ide_connected","params":{"pid":-1}}"#,
            r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":78,"error":{"code":1,"message":"x"}}"#,
        ] {
            agent.send_text(frame);
        }
        agent.is_served();
        assert_eq!(agent.next_frame(Duration::from_millis(50)), None);
        drop((agent, serve));
    }

    #[test]
    fn an_agent_that_did_not_introduce_itself_is_served_all_the_same() {
        let world = World::new();
        let serve = world.serve();
        for dialect in DIALECTS {
            let mut agent = Agent::connect(&world, serve.port, dialect);
            assert!(agent.request("tools/list", json!({}))["result"]["tools"].is_array());
            agent.is_served();
        }
        drop(serve);
    }

    #[test]
    fn a_binary_frame_is_answered_with_an_error() {
        let world = World::new();
        let serve = world.serve();
        for dialect in DIALECTS {
            let mut agent = connect(&world, dialect, serve.port);
            agent.send_message(Message::binary(vec![0, 1, 2])).unwrap();
            let answer = agent.next_frame(DEADLINE).unwrap();
            assert_eq!((error_code(&answer), &answer["id"]), (Some(-32600), &Value::Null));
            agent.is_served();
        }
        drop(serve);
    }

    #[test]
    fn a_message_in_many_frames_is_one_message() {
        let world = World::new();
        let serve = world.serve();
        let mut agent = Agent::claude(&world, serve.port);
        let whole = r#"{"jsonrpc":"2.0","id":"ünï","method":"ping"}"#.as_bytes();
        let last = whole.len() - 1;
        for (at, byte) in whole.iter().enumerate() {
            let opcode = OpCode::Data(if at == 0 { Data::Text } else { Data::Continue });
            agent.send_message(Message::Frame(Frame::message(vec![*byte], opcode, at == last))).unwrap();
            // Control frames may come in between.
            if at == 7 {
                agent.send_message(Message::Ping(Default::default())).unwrap();
            }
        }
        let answer = agent.next_frame(DEADLINE).unwrap();
        assert_eq!((answer["id"].as_str(), answer["result"].is_object()), (Some("ünï"), true));
        drop((agent, serve));
    }

    #[test]
    fn unfinished_messages_of_all_together_take_so_much_room_and_no_more() {
        let world = World::with_config("[limits]\nmessage_mib = 1\nfile_mib = 1\n");
        let serve = world.serve();
        let mut bystander = Agent::nexus3(&world, serve.port);
        let text = |data: &str, kind: Data, last: bool| {
            Message::Frame(Frame::message(data.to_owned(), OpCode::Data(kind), last))
        };
        let mut agents: Vec<Agent> = (0..6).map(|_| Agent::claude(&world, serve.port)).collect();
        let large = "x".repeat(1_000_000);
        for agent in &mut agents {
            agent.send_message(text(&large, Data::Text, false)).unwrap();
        }
        // There is room for four of the largest; a refused agent keeps its share until its connection has ended.
        eventually("two are closed", || {
            (world.log().matches(": too many large messages").count() >= 2).then_some(())
        });
        bystander.is_served();
        let mut told = Vec::new();
        for agent in &mut agents {
            let _ = agent.send_message(text("", Data::Continue, true));
            let answer = agent.next_frame(DEADLINE);
            told.push(answer.as_ref().and_then(error_code));
            match answer {
                Some(_) => agent.is_served(),
                None => assert_eq!(agent.end(), Some(1013)),
            }
        }
        let read = told.iter().filter(|code| **code == Some(-32700)).count();
        let closed = told.iter().filter(|code| code.is_none()).count();
        assert!((1..=4).contains(&read) && read + closed == 6, "{told:?}");
        // Finished messages have made room.
        let mut agent = Agent::claude(&world, serve.port);
        agent.send_text(&large);
        assert_eq!(error_code(&agent.next_frame(DEADLINE).unwrap()), Some(-32700));
        drop((agents, agent, bystander, serve));
    }

    #[test]
    fn what_breaks_the_websocket_protocol_ends_that_connection_and_no_other() {
        let world = World::new();
        let path = world.file("a.txt", "one\n");
        let serve = world.serve();
        let mut bystander = Agent::nexus3(&world, serve.port);
        let waiting = bystander.propose(&path, "two\n", "tab");
        world.one_pending();

        let mut agent = Agent::claude(&world, serve.port);
        let invalid = Frame::message(vec![b'"', 0xff, b'"'], OpCode::Data(Data::Text), true);
        agent.send_message(Message::Frame(invalid)).unwrap();
        assert_eq!(agent.end(), Some(1007));

        let mut agent = Agent::claude(&world, serve.port);
        let astray = Frame::message(vec![b'x'], OpCode::Data(Data::Continue), true);
        agent.send_message(Message::Frame(astray)).unwrap();
        assert_eq!(agent.end(), Some(1002));

        // The hub need not read it all to know that it is too large; the rest may meet a closed socket.
        let mut agent = Agent::claude(&world, serve.port);
        let _ = agent.send_message(Message::text("x".repeat(100 * 1024 * 1024)));
        assert!(matches!(agent.end(), Some(1009) | None));

        bystander.is_served();
        world.run(&["accept", "latest"]).ok();
        assert_eq!(bystander.texts(waiting), ["FILE_SAVED"]);
        assert!(world.status()["residentBytes"].as_u64().unwrap() < 200 * 1024 * 1024);
        drop((bystander, serve));
    }

    #[test]
    fn a_connection_costs_no_more_for_having_sent_a_large_message() {
        let world = World::new();
        let serve = world.serve();
        let mut agents = DIALECTS.map(|dialect| connect(&world, dialect, serve.port));
        let resident = || world.status()["residentBytes"].as_u64().unwrap();
        let before = resident();
        for agent in &mut agents {
            let padding = "x".repeat(50 * 1024 * 1024);
            assert_eq!(agent.request("ping", json!({ "padding": padding }))["result"], json!({}));
            agent.is_served();
        }
        let grown = resident().saturating_sub(before);
        assert!(grown < 10 * 1024 * 1024, "{grown} bytes are still held for two messages of 50 MiB");
        drop((agents, serve));
    }

    /// A path, and a word of its error.
    fn bad_paths(world: &World) -> Vec<(String, &'static str)> {
        let outside = world.folder("outside");
        fs::write(outside.join("secret"), "secret\n").unwrap();
        std::os::unix::fs::symlink(&outside, world.path("out")).unwrap();
        std::os::unix::fs::symlink(outside.join("none"), world.path("dangling")).unwrap();
        std::os::unix::fs::symlink(world.path("loop"), world.path("loop")).unwrap();
        fs::create_dir(world.path("folder")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            world.path("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        world.file("large.txt", "x".repeat(1024 * 1024 + 1));
        world.file("binary.bin", [0, 159, 146, 150]);
        world.file(".env", "KEY=1\n");
        let inside = |name: &str| world.path_str(name);
        vec![
            (String::new(), "absolute"),
            ("a.txt".into(), "absolute"),
            ("./a.txt".into(), "absolute"),
            ("/etc/passwd".into(), "outside"),
            ("/proc/self/mem".into(), "outside"),
            ("/".into(), "outside"),
            (inside("../outside/secret"), "outside"),
            (inside("folder/../../outside/secret"), "outside"),
            (inside("nowhere/../../outside/secret"), "outside"),
            (inside("out/secret"), "outside"),
            (inside("out/new"), "outside"),
            (inside("dangling"), "symlink to nothing"),
            (format!("{}-twin/a", world.workspace().display()), "outside"),
            (inside("a\u{0}b"), "NUL"),
            (inside("loop"), "loop"),
            (inside(&"n".repeat(5_000)), "long"),
            (inside("folder"), "folder"),
            (inside("pipe"), "regular"),
            (inside("large.txt/below"), "directory"),
            (inside(".env"), "deny"),
        ]
    }

    #[test]
    fn a_path_that_may_not_be_had_is_an_error_in_the_words_of_the_dialect() {
        let world = World::with_config("[limits]\nfile_mib = 1\n");
        let paths = bad_paths(&world);
        are_refused(&world, &paths, &[("large.txt", "MiB"), ("binary.bin", "binary")]);
        assert_eq!(fs::read_to_string(world.root().join("outside/secret")).unwrap(), "secret\n");
        assert!(!world.root().join("outside/new").exists());
    }

    mod as_user {
        use super::*;

        #[test]
        fn a_file_without_permission_is_an_error_in_the_words_of_the_dialect() {
            prerequisites::unprivileged_user();
            let world = World::new();
            let locked = world.file("locked", "x");
            fs::set_permissions(&locked, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
            are_refused(&world, &[(locked, "permission")], &[]);
        }
    }

    /// Each path is refused by every tool with an error that has its word in it; the unreadable ones by `openDiff`.
    #[track_caller]
    fn are_refused(world: &World, paths: &[(String, &str)], unreadable: &[(&str, &str)]) {
        let serve = world.serve();
        let mut bystander = Agent::claude(world, serve.port);
        for dialect in DIALECTS {
            let mut agent = connect(world, dialect, serve.port);
            let unreadable = unreadable.iter().map(|(name, word)| (world.path_str(name), *word));
            for (path, word) in paths.iter().cloned().chain(unreadable) {
                let answer = agent.call("openDiff", diff(&path, "text\n", "tab"));
                assert!(error_code(&answer).is_some(), "{dialect:?} {path}: {answer}");
                let message = answer["error"]["message"].as_str().unwrap();
                assert!(
                    message.to_lowercase().contains(&word.to_lowercase()),
                    "{dialect:?} {path}: {message}"
                );
            }
            for (path, word) in paths {
                for tool in ["openFile", "saveDocument", "checkDocumentDirty"] {
                    let answer = agent.call(tool, json!({ "filePath": path }));
                    let message = match dialect {
                        // No file of that name can be: the call itself is at fault.
                        WsDialect::Claude if ["absolute", "NUL"].contains(word) => {
                            assert_eq!(error_code(&answer), Some(-32602), "{tool} {path}: {answer}");
                            answer["error"]["message"].as_str().unwrap()
                        }
                        WsDialect::Claude => {
                            assert_eq!(answer["result"]["isError"], true, "{tool} {path}: {answer}");
                            answer["result"]["content"][0]["text"].as_str().unwrap()
                        }
                        WsDialect::Nexus3 => {
                            assert!(error_code(&answer).is_some(), "{tool} {path}: {answer}");
                            answer["error"]["message"].as_str().unwrap()
                        }
                    };
                    assert!(
                        message.to_lowercase().contains(&word.to_lowercase()),
                        "{tool} {path}: {message}"
                    );
                }
            }
            agent.is_served();
        }
        bystander.is_served();
        assert_eq!(world.reviews(), Vec::<Value>::new());
        drop((bystander, serve));
    }

    #[test]
    fn a_flood_of_proposals_is_bounded_and_each_gets_an_answer() {
        let world = World::new();
        let path = world.file("a.txt", "one\n");
        let serve = world.serve();
        let mut agent = Agent::claude(&world, serve.port);
        let calls: Vec<i64> =
            (0..300).map(|n| agent.propose(&path, &format!("{n}\n"), &format!("t{n}"))).collect();
        for _ in 256..300 {
            let refused = agent.next_frame(DEADLINE).unwrap();
            assert!(refused["error"]["message"].as_str().unwrap().contains("256"), "{refused}");
        }
        assert_eq!(world.pending(256).len(), 256);
        let closed = agent.send_call("closeAllDiffTabs", json!({}));
        for _ in 0..256 {
            let withdrawn = agent.next_frame(DEADLINE).unwrap();
            assert!(withdrawn["error"].is_object() || withdrawn["id"] == closed, "{withdrawn}");
            assert!(withdrawn["id"] == closed || calls.contains(&withdrawn["id"].as_i64().unwrap()));
        }
        assert_eq!(world.pending(0).len(), 0);
        drop((agent, serve));
    }
}

//! Agents on the hub's own socket, with the real binary: from the proposal to the answer, through lost sockets and
//! killed hubs.

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use linkspan_editor_api as api;
    use linkspan_editor_api::errors;
    use serde_json::{Value, json};

    use crate::support::own_agent::join;
    use crate::support::*;

    const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
    /// Three hunks differ.
    const NEW: &str = "ONE\ntwo\nthree\nFOUR\nfive\nsix\nSEVEN\n";

    #[test]
    fn an_accepted_change_is_written_by_the_hub_and_told_in_full() {
        let world = World::new();
        let path = world.file("a.txt", OLD);
        let serve = world.serve();
        let mut agent = OwnAgent::join(&world, "k3y");
        let call = agent.propose(&path, NEW);
        let review = world.one_pending();
        let listed = &world.reviews()[0];
        assert_eq!((&listed["agent"], &listed["dialect"]), (&json!("tester"), &json!("linkspan")));
        world.run(&["accept", &review]).ok();
        assert_eq!(
            agent.told(call),
            json!({
                "outcome": "accepted", "review": review, "path": path, "text": NEW, "newFile": false,
                "written": true, "taken": "all", "comments": [],
            })
        );
        assert_eq!(world.read_text("a.txt"), NEW);
        drop(serve);
    }

    #[test]
    fn an_agent_that_writes_itself_is_given_the_text() {
        let world = World::new();
        let (path, new) = (world.file("a.txt", OLD), world.path_str("new.txt"));
        let serve = world.serve();
        let mut agent = OwnAgent::join(&world, "k3y");
        for (path, text, new_file) in [(&path, NEW, false), (&new, "new\n", true)] {
            let arguments = json!({ "path": path, "newText": text, "writer": "agent" });
            let call = agent.call("proposeChange", arguments);
            world.run(&["accept", &world.one_pending()]).ok();
            let told = agent.told(call);
            assert_eq!((&told["written"], &told["text"]), (&json!(false), &json!(text)));
            assert_eq!(told["newFile"], new_file);
        }
        assert_eq!(world.read_text("a.txt"), OLD);
        assert!(!world.path("new.txt").exists());
        drop(serve);
    }

    #[test]
    fn two_texts_are_compared_and_nothing_is_read_or_written() {
        let world = World::new();
        let path = world.file("a.txt", "neither\n");
        let serve = world.serve();
        let mut agent = OwnAgent::join(&world, "k3y");
        let texts = json!({ "path": path, "oldText": OLD, "newText": NEW, "label": "HEAD~1" });
        let call = agent.call("compareTexts", texts);
        let review = world.one_pending();
        let shown = world.run(&["show", &review]).ok().stdout;
        assert!(shown.contains("-one") && shown.contains("+ONE") && !shown.contains("neither"), "{shown}");
        world.run(&["accept", &review]).ok();
        let told = agent.told(call);
        assert_eq!((&told["outcome"], &told["written"]), (&json!("accepted"), &json!(false)));
        assert_eq!(world.read_text("a.txt"), "neither\n");
        let gone = json!({ "path": world.path_str("none.txt"), "oldText": "a\n", "newText": "b\n" });
        let call = agent.call("compareTexts", gone);
        world.run(&["reject", &world.one_pending()]).ok();
        assert_eq!(agent.told(call)["outcome"], "rejected");
        assert!(!world.path("none.txt").exists());
        drop(serve);
    }

    #[test]
    fn a_rejection_brings_its_reason_and_the_comments_with_their_lines() {
        let world = World::new();
        let path = world.file("a.txt", OLD);
        let mut editor = Editor::attach(&world);
        let mut agent = OwnAgent::join(&world, "k3y");
        let call = agent.propose(&path, NEW);
        let shown = editor.shown(&path);
        let comment = |line, text: &str| api::ReviewComment { line, text: text.into() };
        let verdict = api::Verdict::Reject { reason: Some("too loud".into()) };
        let comments = vec![comment(1, "why?"), comment(7, "no")];
        let decision = api::Decision { verdict, comments, write_here: false };
        let decided = api::ReviewDecided {
            review: shown.review,
            revision: shown.revision,
            digest: Some(shown.digest),
            decision,
        };
        assert_eq!(editor.request(&decided).unwrap(), api::ReviewDecidedResult::Taken);
        let told = agent.told(call);
        assert_eq!((&told["outcome"], &told["reason"]), (&json!("rejected"), &json!("too loud")));
        let said = json!([{ "line": 1, "text": "why?" }, { "line": 7, "text": "no" }]);
        assert_eq!((&told["comments"], &told["text"]), (&said, &Value::Null));
        assert_eq!(world.read_text("a.txt"), OLD);
    }

    #[test]
    fn two_hunks_of_three_are_named() {
        let world = World::new();
        let path = world.file("a.txt", OLD);
        let serve = world.serve();
        let mut agent = OwnAgent::join(&world, "k3y");
        let call = agent.propose(&path, NEW);
        let review = world.one_pending();
        world.run(&["accept", &review, "--hunk", "1", "--hunk", "3", "--comment", "not 4"]).ok();
        let told = agent.told(call);
        let result = NEW.replace("FOUR", "four");
        assert_eq!((&told["taken"], &told["text"]), (&json!("some"), &json!(result)));
        let hunks = told["hunks"].as_array().unwrap();
        let taken: Vec<_> = hunks.iter().map(|hunk| (&hunk["beforeStart"], &hunk["taken"])).collect();
        assert_eq!(taken, [(&json!(0), &json!(true)), (&json!(3), &json!(false)), (&json!(6), &json!(true))]);
        assert!(told["personDiff"].as_str().unwrap().contains("-FOUR\n+four\n"), "{told}");
        assert_eq!(told["comments"][0]["text"], "not 4");
        assert_eq!(world.read_text("a.txt"), result);
        drop(serve);
    }

    #[test]
    fn changes_under_one_word_are_one_set() {
        let world = World::new();
        let (a, b) = (world.file("a.txt", OLD), world.file("b.txt", OLD));
        let serve = world.serve();
        let mut agent = OwnAgent::join(&world, "k3y");
        for path in [&a, &b] {
            agent.call("proposeChange", json!({ "path": path, "newText": NEW, "set": "rename" }));
        }
        world.pending(2);
        let reviews = world.reviews();
        assert!(reviews[0]["set"].is_string(), "{reviews:?}");
        assert_eq!(reviews[0]["set"], reviews[1]["set"]);
        drop(serve);
    }

    #[test]
    fn cancelling_and_leaving_take_back_and_a_lost_socket_does_not() {
        let world = World::new();
        let path = world.file("a.txt", OLD);
        let serve = world.serve();
        let mut agent = OwnAgent::join(&world, "k3y");
        let call = agent.propose(&path, NEW);
        world.one_pending();
        agent.notify("notifications/cancelled", json!({ "requestId": call }));
        world.pending(0);
        agent.propose(&path, NEW);
        world.one_pending();
        agent.leave();
        world.pending(0);
        let mut agent = OwnAgent::join(&world, "k3y");
        agent.propose(&path, NEW);
        let review = world.one_pending();
        drop(agent);
        eventually("its agent is gone", || (world.reviews()[0]["ownerGone"] == true).then_some(()));
        assert_eq!(world.one_pending(), review);
        drop(serve);
    }

    #[test]
    fn after_a_killed_hub_the_same_session_gets_the_answer_and_another_does_not() {
        let mut world = World::new();
        world.may_leave_files();
        let path = world.file("a.txt", OLD);
        let editor = Editor::attach(&world);
        let mut agent = OwnAgent::join(&world, "k3y");
        let arguments = json!({ "path": path, "newText": NEW, "writer": "agent" });
        agent.call("proposeChange", arguments.clone());
        let review = world.one_pending();
        // It no longer reads, so it does not receive the decision; then it disconnects.
        world.run(&["accept", &review]).ok();
        let dead = world.hub_pid();
        world.kill_hub();
        drop(agent);
        eventually("the window is back", || {
            let ran = world.run(&["status", "--json"]);
            let status = (ran.code == 0).then(|| ran.json()).filter(|status| status["pid"] != json!(dead))?;
            (status["windows"][0]["attached"] == true).then_some(())
        });
        let mut stranger = OwnAgent::join(&world, "other");
        let call = stranger.call("proposeChange", arguments.clone());
        assert!(stranger.waits(call), "an answer that was another's");
        let mut agent = OwnAgent::join(&world, "k3y");
        let call = agent.call("proposeChange", arguments);
        let told = agent.told(call);
        assert_eq!((&told["outcome"], &told["review"]), (&json!("accepted"), &json!(review)));
        stranger.leave();
        drop((agent, editor));
    }

    #[test]
    fn what_may_not_be_spoken_of_is_refused_by_kind() {
        let world = World::new();
        let secret = world.file(".env", "secret\n");
        std::os::unix::fs::symlink(&secret, world.path("alias.txt")).unwrap();
        let outside = world.folder("elsewhere").join("a.txt").to_str().unwrap().to_owned();
        let serve = world.serve();
        let mut agent = OwnAgent::join(&world, "k3y");
        for (path, kind) in [
            (secret, "denied"),
            (world.path_str("alias.txt"), "denied"),
            (outside, "outsideWorkspace"),
            (world.path_str("../elsewhere/a.txt"), "outsideWorkspace"),
            ("a.txt".to_owned(), "invalidParams"),
        ] {
            for (tool, arguments) in [
                ("proposeChange", json!({ "path": path, "newText": "x" })),
                ("compareTexts", json!({ "path": path, "oldText": "", "newText": "x" })),
                ("openFile", json!({ "path": path })),
                ("getDiagnostics", json!({ "path": path })),
            ] {
                let call = agent.call(tool, arguments);
                let answer = agent.answer(call);
                let error = &answer["result"]["structuredContent"]["error"];
                assert_eq!(
                    (&answer["result"]["isError"], &error["kind"]),
                    (&json!(true), &json!(kind)),
                    "{tool} {path}"
                );
            }
        }
        world.pending(0);
        drop(serve);
    }

    #[test]
    fn a_join_that_cannot_be_says_why() {
        let world = World::new();
        world.file(".linkspan.toml", "dialects_off = [\"linkspan\"]\n");
        world.run(&["hub", "start"]).ok();
        let mut socket = HubSocket::connect(&world);
        let refused = |socket: &mut HubSocket, params: Value| {
            let error = socket.request("agent/join", params)["error"].clone();
            (
                error["code"].as_i64().unwrap_or_default(),
                error["message"].as_str().unwrap_or_default().to_owned(),
            )
        };
        let (code, message) = refused(&mut socket, join("w1", "k3y"));
        assert_eq!(code, errors::UNKNOWN_WINDOW);
        assert!(message.contains("linkspan serve"), "{message}");
        let serve = world.serve();
        let workspace = world.workspace().display().to_string();
        let (code, message) = refused(&mut socket, join("nonsense", "k3y"));
        assert!(code == errors::UNKNOWN_WINDOW && message.contains(&workspace), "{message}");
        assert_eq!(refused(&mut socket, json!({ "window": 3 })).0, errors::INVALID_PARAMS);
        let window = world.status()["windows"][0]["window"].as_str().unwrap().to_owned();
        assert_eq!(refused(&mut socket, join(&window, "not a word")).0, errors::INVALID_PARAMS);
        let (code, message) = refused(&mut socket, join(&window, "k3y"));
        assert!(code == errors::DENIED && message.contains("dialects_off"), "{message}");
        drop(serve);
    }

    #[test]
    fn bad_arguments_unknown_tools_and_broken_frames_are_errors_and_the_next_call_is_served() {
        let world = World::new();
        let serve = world.serve();
        let mut agent = OwnAgent::join(&world, "k3y");
        for (method, params, code) in [
            ("tools/call", json!({ "name": "proposeChange", "arguments": { "path": "/a" } }), -32602),
            ("tools/call", json!({ "name": "noSuchTool" }), -32602),
            ("hub/status", json!({}), -32601),
        ] {
            let id = agent.send_request(method, params);
            assert_eq!(agent.answer(id)["error"]["code"], code, "{method}");
        }
        let id = agent.send_request("ping", json!({}));
        assert_eq!(agent.answer(id)["result"], json!({}));
        assert_eq!(agent.ask("getWorkspaceFolders", json!({})), json!({ "folders": [world.workspace()] }));
        drop(serve);
    }

    #[test]
    fn status_lists_those_who_answer_its_pings_by_the_name_they_joined_with() {
        let world = World::new();
        let serve = world.serve();
        let agent = OwnAgent::join(&world, "k3y");
        let silent = world.status();
        assert_eq!(
            silent["windows"][0]["agents"],
            json!([]),
            "it answers nothing while the agent does not read"
        );
        let is_listed = Arc::new(AtomicBool::new(false));
        let enough = Arc::clone(&is_listed);
        let reading = std::thread::spawn(move || {
            let mut agent = agent;
            let id = agent.send_request("no/such", json!({}));
            agent.answer(id);
            while !enough.load(Ordering::Relaxed) {
                assert!(agent.waits(0));
            }
            agent
        });
        let listed = eventually("it is listed", || {
            let status = world.status();
            let agents = status["windows"][0]["agents"].as_array()?;
            agents.first().cloned()
        });
        is_listed.store(true, Ordering::Relaxed);
        let agent = reading.join().unwrap();
        assert!(agent.pings > 0);
        assert_eq!((&listed["name"], &listed["dialect"]), (&json!("tester"), &json!("linkspan")));
        assert_eq!((&listed["version"], &listed["pid"]), (&json!("1"), &json!(std::process::id())));
        assert_eq!(listed["agent"], agent.joined["agent"]);
        drop(serve);
    }

    #[test]
    fn sixty_four_calls_at_a_time_are_each_answered() {
        let world = World::new();
        let paths: Vec<String> = (0..64).map(|n| world.file(&format!("{n}.txt"), OLD)).collect();
        let serve = world.serve();
        let mut agent = OwnAgent::join(&world, "k3y");
        let calls: Vec<i64> = paths.iter().map(|path| agent.propose(path, NEW)).collect();
        let folders: Vec<i64> = (0..64).map(|_| agent.call("getWorkspaceFolders", json!({}))).collect();
        for id in folders {
            assert!(agent.told(id)["folders"].is_array());
        }
        world.pending(64);
        let mut socket = HubSocket::connect(&world);
        for review in world.reviews() {
            let decision = json!({ "verdict": { "kind": "accept" } });
            let decide = json!({ "review": review["review"], "decision": decision });
            assert_eq!(socket.request("reviews/decide", decide)["result"]["kind"], "taken");
        }
        for (call, path) in calls.into_iter().zip(&paths) {
            let told = agent.told(call);
            assert_eq!((&told["outcome"], &told["path"]), (&json!("accepted"), &json!(path)));
        }
        assert!((0..64).all(|n| world.read_text(&format!("{n}.txt")) == NEW));
        drop(serve);
    }

    #[test]
    fn what_happens_in_the_editor_is_told_in_its_own_shapes() {
        let world = World::new();
        let path = world.file("a.txt", OLD);
        let editor = Editor::attach(&world);
        let mut agent = OwnAgent::join(&world, "k3y");
        agent.ask("getWorkspaceFolders", json!({}));
        let lines = Some(api::LineRange { first: 1, last: 2 });
        editor.send(&api::Mentioned { path: path.clone(), lines });
        let told = agent.notification("at_mentioned");
        assert_eq!(told["params"], json!({ "path": path, "lines": { "first": 1, "last": 2 } }));
        editor.open(&path, OLD, false);
        assert_eq!(agent.ask("openFile", json!({ "path": path, "line": 2, "character": 1 }))["path"], path);
        let target = editor.state().opened.last().unwrap().target.clone();
        let at = api::Position { line: 2, character: 1 };
        assert_eq!(target, Some(api::OpenTarget::Range { range: api::Range { start: at, end: at } }));
        let dirty = json!({ "path": path, "open": true, "dirty": false, "untitled": false });
        assert_eq!(agent.ask("checkDocumentDirty", json!({ "path": path })), dirty);
        let files = agent.ask("getDiagnostics", json!({ "path": path, "waitMs": 1 }))["files"].clone();
        assert_eq!(files, json!([{ "path": path, "version": 1, "settled": true, "diagnostics": [] }]));
    }

    #[test]
    fn what_is_sent_behind_a_goodbye_leaves_nobody_there() {
        let world = World::new();
        let serve = world.serve();
        let mut socket = HubSocket::connect(&world);
        let request = |id: u32, method: &str, params: Value| {
            api::encode(
                json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
                    .to_string()
                    .as_bytes(),
            )
        };
        let leave = api::encode(br#"{"jsonrpc":"2.0","method":"agent/leave"}"#);
        let again = [request(2, "agent/join", join("w1", "k3y")), request(3, "hub/watch", json!({}))];
        let at_once = [request(1, "agent/join", join("w1", "k3y")), leave, again.concat()].concat();
        std::io::Write::write_all(&mut socket.stream, &at_once).unwrap();
        let joined = socket.receive().expect("no answer to the first");
        assert_eq!(joined["id"], 1, "{joined}");
        assert_eq!(socket.receive(), None, "nothing more is said");
        assert_eq!(world.status()["windows"][0]["agents"], json!([]));
        drop(serve);
    }

    #[test]
    fn an_agent_sends_no_faster_than_it_may_and_others_are_not_held_up() {
        let world = World::with_config("[limits]\nmessages_per_second = 20\n");
        let serve = world.serve();
        let mut agent = OwnAgent::join(&world, "k3y");
        let mut command = HubSocket::connect(&world);
        let begun = std::time::Instant::now();
        let ids: Vec<i64> = (0..60).map(|_| agent.send_request("ping", json!({}))).collect();
        for _ in 0..60 {
            assert!(command.request("ping", json!({}))["error"].is_null());
        }
        let held_up = begun.elapsed();
        for id in ids {
            assert!(agent.answer(id)["error"].is_null());
        }
        let took = begun.elapsed();
        assert!(took.as_millis() > 1_500 && held_up < took / 2, "{took:?}, others {held_up:?}");
        drop(serve);
    }
}

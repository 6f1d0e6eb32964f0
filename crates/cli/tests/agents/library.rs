//! The client library against the real hub, over each wire that it speaks.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use linkspan_client::bridge::{Bridge, BridgeConfig};
    use linkspan_client::connection::{AcceptedPart, ChangeWriter, OpenAt, Severity};
    use linkspan_client::discover::{CandidateVerdict, FoundBy, Secret, Wire};
    use linkspan_client::{
        AgentInfo, CallError, Candidate, Change, Connection, DiffOutcome, EditorEvent, Surroundings, discover,
    };
    use linkspan_editor_api as api;
    use linkspan_editor_api::Places;
    use serde_json::json;

    use crate::support::*;

    const WIRES: [&str; 3] = ["linkspan", "claude", "nexus3"];

    fn places(world: &World) -> Places {
        Places {
            home: world.home(),
            runtime: world.runtime(),
            state: world.state(),
            config: world.config_file().parent().unwrap().into(),
        }
    }

    fn surroundings(world: &World) -> Surroundings {
        Surroundings {
            cwd: world.workspace(),
            places: places(world),
            variables: BTreeMap::new(),
            uid: rustix::process::geteuid().as_raw(),
            wsl: None,
        }
    }

    fn candidate(world: &World, editor: &Editor, wire: &str) -> Candidate {
        let port = editor.port();
        let token = |dialect: WsDialect| {
            let lock = dialect.lock(world, port);
            Some(Secret::new(lock["authToken"].as_str().unwrap()))
        };
        let wire = match wire {
            "linkspan" => Wire::Hub { window: editor.attached.window.clone(), port },
            "claude" => Wire::Claude { port, token: token(WsDialect::Claude) },
            _ => Wire::Nexus3 { port, token: token(WsDialect::Nexus3) },
        };
        Candidate {
            editor: "Test Editor".into(),
            wire,
            folders: vec![world.workspace()],
            pid: None,
            found: FoundBy::Given,
            matched: None,
            verdict: CandidateVerdict::Usable,
        }
    }

    fn connect(world: &World, editor: &Editor, wire: &str) -> Connection {
        let agent = AgentInfo::new("library", "1.0");
        Connection::open(&candidate(world, editor, wire), &agent, &places(world)).unwrap()
    }

    fn diagnostic(message: &str) -> api::Diagnostic {
        let at = |character| api::Position { line: 1, character };
        api::Diagnostic {
            message: message.into(),
            severity: Severity::Warning,
            range: api::Range { start: at(2), end: at(5) },
            source: Some("lint".into()),
            code: None,
        }
    }

    #[test]
    fn every_tool_answers_over_every_wire() {
        for wire in WIRES {
            let world = World::new();
            let editor = Editor::attach(&world);
            let path = world.file("a.txt", "one\ntwo\n");
            let file = Path::new(&path);
            editor.open(&path, "one\ntwo changed\n", true);
            {
                let mut state = editor.state();
                state.documents.get_mut(&path).unwrap().diagnostics = vec![diagnostic("hm")];
                let start = api::Position { line: 0, character: 1 };
                let end = api::Position { line: 1, character: 2 };
                state.selection = Some(api::Selection {
                    path: path.clone(),
                    text: "ne\ntw".into(),
                    range: api::Range { start, end },
                    is_empty: false,
                    reversed: false,
                });
            }
            let library = connect(&world, &editor, wire);
            assert!(library.is_connected(), "{wire}");
            assert!(library.tools().unwrap().len() >= 11, "{wire}");

            library.open_file(file, Some(OpenAt { line: 1, ..OpenAt::default() }), true).unwrap();
            assert!(
                editor.state().opened.iter().any(|opened| opened.path == path && opened.preview),
                "{wire}"
            );
            let found = library.diagnostics(Some(file), None).unwrap();
            assert_eq!((found[0].line, found[0].severity), (1, Severity::Warning), "{wire}");
            assert_eq!(found[0].file_path, file);
            for selection in [library.current_selection(), library.latest_selection()] {
                let selection = selection.unwrap().unwrap();
                assert_eq!((selection.start_character, selection.end_line), (1, 1), "{wire}");
                assert_eq!(selection.text, "ne\ntw");
            }
            let editors = library.open_editors().unwrap();
            assert_eq!((editors[0].file_path.as_path(), editors[0].is_dirty), (file, true), "{wire}");
            assert_eq!(library.workspace_folders().unwrap(), [world.workspace()], "{wire}");
            assert_eq!(library.is_dirty(file), Ok(true), "{wire}");
            library.save(file).unwrap();
            assert_eq!(library.is_dirty(file), Ok(false), "{wire}");
            assert_eq!(world.read_text("a.txt"), "one\ntwo changed\n");
            library.close_tab("none of ours").unwrap();
            library.close_all_diffs().unwrap();
            let unknown = library.call("noSuchTool", &json!({}));
            assert!(matches!(unknown, Err(CallError::Unsupported { .. })), "{wire}: {unknown:?}");
            let outside = library.save(Path::new("/etc/hostname")).unwrap_err();
            assert!(matches!(outside, CallError::Tool { .. }), "{wire}: {outside:?}");

            let events = library.events();
            editor.send(&api::Mentioned {
                path: path.clone(),
                lines: Some(api::LineRange { first: 1, last: 2 }),
            });
            if wire != "nexus3" {
                let mentioned = EditorEvent::Mentioned { path: file.into(), lines: Some((1, 2)) };
                let heard = events.recv_timeout(DEADLINE).unwrap();
                assert_eq!(heard, mentioned, "{wire}");
            }
            library.close();
        }
    }

    #[test]
    fn a_yes_a_no_and_a_part_come_back_over_every_wire() {
        for wire in WIRES {
            let world = World::new();
            let mut editor = Editor::attach(&world);
            let before: String = (0..30).map(|line| format!("line {line}\n")).collect();
            let after = before.replace("line 2\n", "LINE 2\n").replace("line 25\n", "LINE 25\n");
            let part = before.replace("line 2\n", "LINE 2\n");
            let path = world.file("a.txt", &before);
            let library = connect(&world, &editor, wire);
            let change = Change::new(&path, after.clone());

            let pending = library.propose(&change).unwrap();
            let shown = editor.shown(&path);
            assert_eq!(pending.wait_timeout(Duration::from_millis(50)), None, "not decided yet");
            editor.reject(&shown);
            let rejected = pending.wait().unwrap();
            assert_eq!((rejected.outcome, rejected.text), (DiffOutcome::DiffRejected, None), "{wire}");
            assert_eq!(world.read_text("a.txt"), before);

            editor.state().shown.clear();
            let pending = library.propose(&change).unwrap();
            let shown = editor.shown(&path);
            let hunks = vec![shown.hunks[0].id.clone()];
            editor.decide(&shown, api::Verdict::AcceptHunks { hunks });
            let accepted = pending.wait().unwrap();
            assert!(accepted.is_accepted(), "{wire}");
            match wire {
                "linkspan" => {
                    assert_eq!((accepted.written, accepted.taken), (true, Some(AcceptedPart::Some)));
                    let taken: Vec<bool> = accepted.hunks.iter().map(|hunk| hunk.taken).collect();
                    assert_eq!(taken, [true, false]);
                    assert_eq!(accepted.review.as_deref(), Some(shown.review.as_str()));
                }
                "claude" => assert!(!accepted.written),
                _ => assert!(accepted.written),
            }
            if accepted.written {
                assert_eq!(world.read_text("a.txt"), part, "{wire}");
            } else {
                assert_eq!(accepted.text.as_deref(), Some(part.as_str()), "{wire}");
                world.file("a.txt", accepted.text.unwrap());
            }

            editor.state().shown.clear();
            let pending = library.propose(&change).unwrap();
            let shown = editor.shown(&path);
            editor.accept(&shown);
            assert!(pending.wait().unwrap().is_accepted(), "{wire}");
            library.close();
        }
    }

    #[test]
    fn a_change_that_is_taken_back_leaves_the_screen_over_every_wire() {
        for wire in WIRES {
            let world = World::new();
            let editor = Editor::attach(&world);
            let path = world.file("a.txt", "one\n");
            let library = connect(&world, &editor, wire);
            let pending = library.propose(&Change::new(&path, "two\n")).unwrap();
            let shown = editor.shown(&path);
            pending.withdraw();
            assert_eq!(pending.wait(), Err(CallError::Withdrawn), "{wire}");
            editor.hidden(&shown.review);
            assert_eq!(world.read_text("a.txt"), "one\n");
            library.close();
        }
    }

    #[test]
    fn the_caller_writes_if_it_wants_to_and_two_texts_need_no_writer() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\n");
        let library = connect(&world, &editor, "linkspan");
        let change = Change { writer: ChangeWriter::Caller, ..Change::new(&path, "two\n") };
        let pending = library.propose(&change).unwrap();
        let shown = editor.shown(&path);
        editor.accept(&shown);
        let accepted = pending.wait().unwrap();
        assert_eq!((accepted.written, accepted.text.as_deref()), (false, Some("two\n")));
        assert_eq!(world.read_text("a.txt"), "one\n");

        editor.state().shown.clear();
        let compare = Change { old_text: Some("x\n".into()), ..Change::new(&path, "y\n") };
        let pending = library.propose(&compare).unwrap();
        let shown = editor.shown(&path);
        editor.accept(&shown);
        assert_eq!(pending.wait().unwrap().text.as_deref(), Some("y\n"));
        assert_eq!(world.read_text("a.txt"), "one\n");
        library.close();
    }

    #[test]
    fn an_answer_comes_though_the_hub_was_killed_while_the_person_thought() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\n");
        let bridge =
            Bridge::new(BridgeConfig::default(), AgentInfo::new("library", "1.0"), surroundings(&world));
        let connection = bridge.auto_connect(&world.workspace()).unwrap().expect("no editor found");
        assert!(connection.is_hub());
        assert_eq!(
            discover(&surroundings(&world)).best().map(|best| &best.wire),
            Some(&connection.candidate().wire)
        );
        let bridge = Arc::new(bridge);
        let (decided_in, decided) = channel();
        {
            let (bridge, change) = (Arc::clone(&bridge), Change::new(&path, "two\n"));
            thread::spawn(move || drop(decided_in.send(bridge.review(&change))));
        }
        editor.shown(&path);
        editor.state().shown.clear();
        world.kill_hub();
        let shown = editor.shown(&path);
        editor.accept(&shown);
        let decided = decided.recv_timeout(Duration::from_secs(20)).expect("no answer").unwrap();
        assert!(decided.is_accepted() && decided.written);
        assert_eq!(world.read_text("a.txt"), "two\n");
        eventually("the bridge is up again", || bridge.is_connected().then_some(()));
    }

    #[test]
    fn a_decision_made_while_nobody_listened_is_heard_after_the_return() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\n");
        let agent = AgentInfo::new("library", "1.0");
        let open =
            || Connection::open(&candidate(&world, &editor, "linkspan"), &agent, &places(&world)).unwrap();
        let change = Change::new(&path, "two\n");
        let pending = open().propose(&change).unwrap();
        let shown = editor.shown(&path);
        // Gone without a goodbye, as when the process is killed.
        drop(pending);
        eventually("the hub has lost the agent", || {
            world.status()["windows"][0]["agents"].as_array()?.is_empty().then_some(())
        });
        let again = open();
        editor.accept(&shown);
        let decided = again.open_diff(&change).unwrap();
        assert!(decided.is_accepted());
        assert_eq!(decided.review, Some(shown.review), "it is the same question");
        assert_eq!(world.read_text("a.txt"), "two\n");
        again.close();
    }
}

//! The client library over the protocols of Gemini CLI, Clio and ppxai, against the real hub.

#[cfg(test)]
mod tests {
    use std::path::Path;

    use linkspan_client::discover::{CandidateVerdict, FoundBy, Secret, Wire};
    use linkspan_client::http::LoopbackUrl;
    use linkspan_client::{AgentInfo, CallError, Candidate, Change, Connection};
    use linkspan_editor_api::Places;

    use crate::support::*;

    fn connect(world: &World, wire: Wire) -> Connection {
        let candidate = Candidate {
            editor: "Test Editor".into(),
            wire,
            folders: vec![world.workspace()],
            pid: None,
            found: FoundBy::Given,
            matched: None,
            verdict: CandidateVerdict::Usable,
        };
        let places = Places {
            home: world.home(),
            runtime: world.runtime(),
            state: world.state(),
            config: world.config_file().parent().unwrap().into(),
        };
        Connection::open(&candidate, &AgentInfo::new("library", "1.0"), &places).unwrap()
    }

    fn gemini(world: &World, editor: &Editor) -> Connection {
        let port = editor.port();
        let lock = world.home().join(format!(".qwen/ide/{port}.lock"));
        let lock = eventually("the lock is there", || std::fs::read(&lock).ok());
        let lock: serde_json::Value = serde_json::from_slice(&lock).unwrap();
        connect(world, Wire::Gemini { port, token: Some(Secret::new(lock["authToken"].as_str().unwrap())) })
    }

    #[test]
    fn a_yes_and_a_no_come_back_over_geminis_wire_and_the_agent_writes() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\n");
        let library = gemini(&world, &editor);
        assert!(library.is_connected());
        for yes in [true, false] {
            let pending = library.propose(&Change::new(&path, format!("{yes}\n"))).unwrap();
            let shown = editor.until("the change is shown", |state| {
                state.shown.iter().find(|shown| shown.proposed == format!("{yes}\n")).cloned()
            });
            match yes {
                true => editor.accept(&shown),
                false => editor.reject(&shown),
            }
            let decided = pending.wait().unwrap();
            assert_eq!((decided.is_accepted(), decided.written), (yes, false));
            assert_eq!(decided.text.as_deref(), yes.then_some("true\n"));
        }
        assert_eq!(world.read_text("a.txt"), "one\n");
        library.close();
    }

    #[test]
    fn a_change_taken_back_over_geminis_wire_leaves_the_screen() {
        let world = World::new();
        let editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\n");
        let library = gemini(&world, &editor);
        let pending = library.propose(&Change::new(&path, "two\n")).unwrap();
        let shown = editor.shown(&path);
        pending.withdraw();
        editor.hidden(&shown.review);
        assert_eq!(pending.wait(), Err(CallError::Withdrawn));
        let pending = library.propose(&Change::new(&path, "three\n")).unwrap();
        editor.until("the other is shown", |state| {
            state.shown.iter().find(|shown| shown.proposed == "three\n").cloned()
        });
        library.close();
        assert_eq!(pending.wait(), Err(CallError::Withdrawn), "leaving takes back what waits");
    }

    #[test]
    fn a_yes_and_a_no_come_back_over_ppxais_wire_and_the_hub_writes() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\n");
        let library =
            connect(&world, Wire::Ppxai { bridge: LoopbackUrl::of_port(editor.port()), token: None });
        assert!(library.is_connected());
        assert_eq!(library.workspace_folders().unwrap(), [world.workspace()]);
        for (text, yes) in [("two\n", false), ("three\n", true)] {
            let pending = library.propose(&Change::new(&path, text)).unwrap();
            let shown = editor.until("the change is shown", |state| {
                state.shown.iter().find(|shown| shown.proposed == text).cloned()
            });
            match yes {
                true => editor.accept(&shown),
                false => editor.reject(&shown),
            }
            let decided = pending.wait().unwrap();
            assert_eq!((decided.is_accepted(), decided.written), (yes, yes));
        }
        assert_eq!(world.read_text("a.txt"), "three\n");
    }

    #[test]
    fn a_yes_and_a_no_come_back_over_clios_wire_and_the_hub_writes() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\n");
        let library = connect(&world, Wire::Clio { port: editor.port() });
        assert!(library.is_connected());
        let pending = library.propose(&Change::new(&path, "two\n")).unwrap();
        let shown = editor.shown(&path);
        editor.reject(&shown);
        assert!(!pending.wait().unwrap().is_accepted());
        let pending = library.propose(&Change::new(&path, "three\n")).unwrap();
        let shown = editor.until("the other is shown", |state| {
            state.shown.iter().find(|shown| shown.proposed == "three\n").cloned()
        });
        editor.accept(&shown);
        let decided = pending.wait().unwrap();
        assert!(decided.is_accepted() && decided.written);
        assert_eq!(world.read_text("a.txt"), "three\n");
        let outside = library.open_diff(&Change::new(Path::new("/etc/hosts"), "x")).unwrap_err();
        assert!(matches!(&outside, CallError::Tool { .. }), "{outside}");
    }
}

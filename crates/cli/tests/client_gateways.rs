//! The client library as an agent of Clio's kind, against the real hub.

#[cfg(test)]
mod support;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use linkspan_client::discover::{Found, Verdict, Wire};
    use linkspan_client::{AgentInfo, CallError, Candidate, Change, Connection};
    use linkspan_editor_api::Places;

    use crate::support::*;

    fn connect(world: &World, wire: Wire) -> Connection {
        let candidate = Candidate {
            editor: "Test Editor".into(),
            wire,
            folders: vec![world.workspace()],
            pid: None,
            found: Found::Given,
            matched: None,
            verdict: Verdict::Usable,
        };
        let places = Places {
            home: world.home(),
            runtime: world.runtime(),
            state: world.state(),
            config: world.config_file().parent().unwrap().into(),
        };
        Connection::open(&candidate, &AgentInfo::new("library", "1.0"), &places).unwrap()
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
        let shown = editor.until("the other is shown", |desk| {
            desk.shown.iter().find(|shown| shown.proposed == "three\n").cloned()
        });
        editor.accept(&shown);
        let decided = pending.wait().unwrap();
        assert!(decided.is_accepted() && decided.written);
        assert_eq!(world.read_text("a.txt"), "three\n");
        let outside = library.open_diff(&Change::new(Path::new("/etc/hosts"), "x")).unwrap_err();
        assert!(matches!(&outside, CallError::Tool { .. }), "{outside}");
    }
}

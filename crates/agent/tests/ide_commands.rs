//! `/ide`, `/status -a` and `/agents` with the real hub, keys typed in a pseudo-terminal, and an editor. Needs the
//! program `linkspan`, which `cargo build` makes.

#[cfg(test)]
mod tests {
    use linkspan_editor_api as api;
    use linkspan_testkit::agent_terminal::{quit, start, writes};
    use linkspan_testkit::{Editor, EditorBuilder, Model, Turn, World, paths};

    fn world() -> World {
        assert!(paths::linkspan().exists(), "the program `linkspan` is missing: build it with `cargo build`");
        World::new()
    }

    #[test]
    fn the_status_names_the_address_and_the_folders_and_an_address_connects() {
        let world = world();
        let docs = world.folder("docs");
        let folders = [world.workspace(), docs];
        let editor = EditorBuilder::new(&world).folders(&folders).attach();
        let model = Model::start([]);
        let mut tty = start(&world, &model, &[]);
        tty.sees("IDE connected: Test Editor");
        let address = format!("http://127.0.0.1:{}", editor.port());
        tty.types("/ide status\r");
        tty.sees(&format!("{address} (linkspan), 2 folders"));
        for folder in &folders {
            tty.sees(&format!("  {}", folder.display()));
        }

        tty.types("/ide disconnect\r");
        tty.sees("IDE disconnected; /ide connect connects again");
        tty.types("/ide\r");
        tty.sees("No editor connected");
        // The screen still has the first of these lines.
        tty.types("\u{c}");
        tty.types(&format!("/ide connect {address}\r"));
        tty.sees("IDE connected: Test Editor");
        tty.types("/ide connect http://192.0.2.1:80\r");
        tty.sees("http://192.0.2.1:80 cannot be an editor");
        quit(tty);
    }

    #[test]
    fn the_whole_status_shows_the_errors_that_the_editor_reports() {
        let world = world();
        let editor = Editor::attach(&world);
        let path = world.file("broken.py", "def f(:\n");
        editor.open(&path, "def f(:\n", false);
        let place = api::Position { line: 0, character: 6 };
        editor.state().documents.get_mut(&path).unwrap().diagnostics = vec![api::Diagnostic {
            range: api::Range { start: place, end: place },
            severity: api::Severity::Error,
            message: "invalid syntax here".to_owned(),
            source: Some("pyright".to_owned()),
            code: None,
        }];
        let model = Model::start([]);
        let mut tty = start(&world, &model, &[]);
        tty.sees("IDE connected: Test Editor");
        tty.types("/status\r");
        tty.sees("Test Editor");
        tty.sees_no("invalid syntax here");
        tty.types("/status -a\r");
        tty.sees("invalid syntax here");
        quit(tty);
    }

    #[test]
    fn two_agents_have_a_change_each_in_one_editor_and_each_hears_its_own_decision() {
        let world = world();
        let mut editor = Editor::attach(&world);
        let (first, second) = (world.file("first.txt", "one\n"), world.file("second.txt", "two\n"));
        let model = Model::start([
            writes("first.txt", "ONE\n"),
            writes("second.txt", "TWO\n"),
            Turn::says("The second is done."),
            Turn::says("The first is done."),
        ]);
        let mut tty = start(&world, &model, &[]);
        tty.sees("IDE connected: Test Editor");
        tty.types("change the first\r");
        let of_first = editor.shown(&first);
        tty.types("/agents new helper\r");
        tty.sees("── agent helper ──");
        tty.types("change the second\r");
        let of_second = editor.shown(&second);
        // A review says whose it is.
        assert_eq!(of_second.label, "helper: second.txt");
        assert!(
            of_first.label.ends_with("first.txt") && !of_first.label.contains("helper"),
            "{}",
            of_first.label
        );
        assert_ne!(of_first.review, of_second.review);

        editor.decide(&of_second, api::Verdict::Reject { reason: Some("leave it".to_owned()) });
        tty.sees("The second is done.");
        assert_eq!(world.read_text("second.txt"), "two\n");
        let [heard] = &model.results()[..] else { panic!("{:?}", model.results()) };
        assert!(heard.text.contains("leave it"), "{}", heard.text);

        editor.accept(&of_first);
        model.asked(4);
        let [heard] = &model.results()[..] else { panic!("{:?}", model.results()) };
        assert!(heard.text.contains("accepted"), "{}", heard.text);
        assert_eq!(world.read_text("first.txt"), "ONE\n");
        quit(tty);
    }
}

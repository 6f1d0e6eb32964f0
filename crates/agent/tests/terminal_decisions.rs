//! What the user decides in the agent's terminal, or allows by a mode: what the model is told, and what the hub has in its
//! history and can undo. Needs the program `linkspan`, which `cargo build` makes.

#[cfg(test)]
mod tests {
    use linkspan_editor_api as api;
    use linkspan_testkit::agent_terminal::{quit, start, writes};
    use linkspan_testkit::{Editor, Model, Turn, World, eventually, paths};
    use serde_json::{Value, json};

    const BASE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
    const BOTH: &str = "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\nEIGHT\n";

    fn world() -> World {
        assert!(paths::linkspan().exists(), "the program `linkspan` is missing: build it with `cargo build`");
        World::new()
    }

    /// The newest first.
    fn history(world: &World) -> Vec<Value> {
        world.json(&["history"])["entries"].as_array().unwrap().clone()
    }

    #[test]
    fn comments_on_lines_reach_the_model_with_a_yes_and_with_a_no() {
        let world = World::new();
        world.file("a.txt", BASE);
        let model = Model::start([writes("a.txt", BOTH), writes("a.txt", BOTH), Turn::says("That is all.")]);
        let mut tty = start(&world, &model, &[]);
        tty.types("please\r");
        tty.sees("Accept? [y]es  [h]unks  [e]dit  [c]omment  [n]o");
        tty.looks_and_types("c");
        tty.sees("Comment on line 1?");
        tty.types("8\r");
        tty.sees("Your comment on line 8.");
        tty.types("why so loud?\r");
        tty.sees("↳ why so loud?");
        tty.types("c");
        tty.sees("Comment on line 1?");
        tty.types("\u{1b}[B\u{1b}[B\rand here?\r");
        tty.sees("↳ and here?");
        // It is taken back.
        tty.types("c3x");
        tty.sees_no("↳ and here?");
        tty.types("\u{1b}");
        tty.sees("Accept?");
        tty.types("n");
        tty.sees("Why not?");
        tty.types("lower case\r");
        assert_eq!(
            model.result(0).text,
            "The user rejected the change; a.txt is unchanged.\nTheir reason: lower case\n\
             Their comments on lines of your proposal:\n  line 8: why so loud?"
        );
        tty.sees("Accept?");
        tty.looks_and_types("c\rfine, for once\r");
        tty.sees("↳ fine, for once");
        tty.types("y");
        assert_eq!(
            model.result(1).text,
            "The user accepted the change. Changed a.txt: 2 lines added, 2 removed.\n\
             Their comments on lines of your proposal:\n  line 1: fine, for once"
        );
        tty.sees("That is all.");
        assert_eq!(world.read_text("a.txt"), BOTH);
        quit(tty);
    }

    #[test]
    fn an_answer_in_the_terminal_is_a_decision_of_the_hub_which_writes_records_and_undoes_it() {
        let world = world();
        let editor = Editor::attach(&world);
        let path = world.file("a.txt", BASE);
        let model =
            Model::start([writes("a.txt", "no\n"), writes("a.txt", BOTH), Turn::says("That is all.")]);
        let mut tty = start(&world, &model, &[]);
        tty.sees("IDE connected: Test Editor");
        tty.types("please\r");
        let first = editor.shown(&path);
        tty.sees("Accept?");
        tty.looks_and_types("c\rwhat?\rn");
        tty.sees("Why not?");
        tty.types("not this\r");
        let told = model.result(0).text;
        assert!(told.contains("Their reason: not this") && told.ends_with("line 1: what?"), "{told}");
        let by = "the agent's terminal".to_owned();
        let hidden = api::HideReason::Decided { by, verdict: api::VerdictKind::Reject };
        assert_eq!(editor.hidden(&first.review), hidden);

        let second = eventually("the next is shown", || {
            let shown = editor.state().shown.last().cloned();
            shown.filter(|shown| shown.review != first.review)
        });
        tty.sees("[h]unks");
        tty.looks_and_types("h");
        tty.sees("Take hunk 1 of 2?");
        tty.types("y");
        tty.sees("Take hunk 2 of 2?");
        tty.types("n");
        let told = model.result(1).text;
        assert!(told.starts_with("The user accepted 1 of 2 parts of the change"), "{told}");
        let half = BASE.replace("one", "ONE");
        assert_eq!(world.read_text("a.txt"), half);
        tty.sees("That is all.");

        let entries = history(&world);
        let [accepted, rejected] = &entries[..] else { panic!("{entries:?}") };
        assert_eq!((&accepted["review"], &rejected["review"]), (&json!(second.review), &json!(first.review)));
        for entry in [accepted, rejected] {
            assert_eq!(entry["decidedBy"], "the agent's terminal", "{entry}");
        }
        assert_eq!(
            (&accepted["ended"]["kind"], &accepted["ended"]["taken"]),
            (&json!("accepted"), &json!("some"))
        );
        assert_eq!((&accepted["onDisk"], &accepted["undoable"]), (&json!(true), &json!(true)));
        assert_eq!(rejected["ended"], json!({ "kind": "rejected", "reason": "not this" }));
        assert_eq!(rejected["comments"], json!([{ "line": 1, "text": "what?" }]));
        let shown = world.run(&["history"]).ok().stdout;
        assert!(shown.contains("in the agent's terminal"), "{shown}");
        world.run(&["undo", "--last"]).ok();
        assert_eq!(world.read_text("a.txt"), BASE);
        quit(tty);
    }

    #[test]
    fn what_a_mode_allows_is_in_the_history_and_undone_like_any_other_change() {
        for (mode, place) in [("yolo", "yolo mode"), ("sandboxed", "sandboxed mode")] {
            let world = world();
            let editor = Editor::attach(&world);
            world.file("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n");
            let edit = json!({ "path": "a.txt", "old_string": "two", "new_string": "2" });
            let model = Model::start([
                Turn::calls("edit_file", edit),
                writes("new.txt", "fresh\n"),
                Turn::says("That is all."),
            ]);
            let mut tty = start(&world, &model, &["--mode", mode]);
            tty.sees("IDE connected: Test Editor");
            tty.types("please\r");
            tty.sees("That is all.");
            assert_eq!(world.read("a.txt"), b"\xef\xbb\xbfone\r\n2\r\n");
            let entries = eventually("both are on disk", || {
                let entries = history(&world);
                let seen = entries.iter().filter(|entry| entry["onDisk"] == true).count();
                (seen == 2).then_some(entries)
            });
            for entry in &entries {
                assert_eq!(
                    (&entry["decidedBy"], &entry["undoable"]),
                    (&json!(place), &json!(true)),
                    "{entry}"
                );
                assert_eq!(entry["ended"], json!({ "kind": "accepted", "taken": "all" }));
            }
            assert!(editor.state().shown.is_empty(), "nobody is asked");
            tty.types("/ide undo\r");
            tty.sees("which removed new.txt");
            assert!(!world.path("new.txt").exists());
            world.run(&["undo", "--last"]).ok();
            assert_eq!(world.read("a.txt"), b"\xef\xbb\xbfone\r\ntwo\r\n");
            quit(tty);
        }
    }

    #[test]
    fn a_hub_that_does_not_answer_delays_no_write_for_long() {
        let mut world = world();
        world.may_leave_files();
        let editor = Editor::attach(&world);
        world.file("a.txt", "one\n");
        let model = Model::start([writes("a.txt", "two\n"), Turn::says("That is all.")]);
        let mut tty = start(&world, &model, &["--mode", "yolo"]);
        tty.sees("IDE connected: Test Editor");
        world.kill_hub();
        editor.kill();
        tty.types("please\r");
        tty.sees("That is all.");
        assert_eq!(world.read_text("a.txt"), "two\n");
        quit(tty);
    }
}

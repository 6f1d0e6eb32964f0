//! `/ide history` and `/ide undo` with the real hub: what was accepted is listed, and taken back byte by byte. Needs the
//! program `linkspan`, which `cargo build` makes.

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use linkspan_testkit::agent_terminal::{quit, start, writes};
    use linkspan_testkit::{Editor, Model, Turn, World, eventually, paths};
    use serde_json::json;

    const OLD: &[u8] = b"\xef\xbb\xbfone\r\ntwo\nthree\r\nno newline";

    /// A world with an editor in which everything is accepted.
    struct Scene {
        editor: Editor,
        /// Last, because it stops the hub: an editor that is still attached would start it again.
        world: World,
    }

    impl Scene {
        fn new() -> Scene {
            assert!(
                paths::linkspan().exists(),
                "the program `linkspan` is missing: build it with `cargo build`"
            );
            let world = World::new();
            let editor = Editor::attach(&world);
            Scene { world, editor }
        }

        fn accepts(&mut self, path: &str) -> String {
            let shown = self.editor.shown(path);
            self.editor.accept(&shown);
            self.editor.state().shown.clear();
            shown.review.to_string()
        }
    }

    #[test]
    fn an_accepted_change_is_listed_and_its_undo_restores_every_byte() {
        let mut scene = Scene::new();
        let path = scene.world.file("a.txt", OLD);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o751)).unwrap();
        let edit = json!({ "path": "a.txt", "old_string": "two", "new_string": "2" });
        let model = Model::start([Turn::calls("edit_file", edit), Turn::says("That is all.")]);
        let mut tty = start(&scene.world, &model, &[]);
        tty.sees("IDE connected: Test Editor");
        tty.types("/ide history\r");
        tty.sees("nothing was decided in this folder yet");
        tty.types("/ide undo\r");
        tty.sees("there is nothing to undo in this folder");

        tty.types("please\r");
        let review = scene.accepts(&path);
        tty.sees("That is all.");
        assert_eq!(scene.world.read("a.txt"), b"\xef\xbb\xbfone\r\n2\nthree\r\nno newline");
        tty.types("/ide history\r");
        tty.sees(&format!("{review:6}"));
        tty.sees("accepted");

        tty.types("/ide undo\r");
        tty.sees(&format!("undid {review} in a.txt"));
        assert_eq!(scene.world.read("a.txt"), OLD);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o751);
        tty.types("/ide history\r");
        tty.sees(&format!("undo of {review}"));
        tty.sees("accepted, undone");
        quit(tty);
    }

    #[test]
    fn undo_takes_back_the_newest_change_first_and_removes_a_file_that_was_new() {
        let mut scene = Scene::new();
        let (old, new) = (scene.world.file("old.txt", "one\n"), scene.world.path_str("deep/new.txt"));
        let model = Model::start([
            writes("old.txt", "two\n"),
            writes("deep/new.txt", "fresh\n"),
            Turn::says("That is all."),
        ]);
        let mut tty = start(&scene.world, &model, &[]);
        tty.sees("IDE connected: Test Editor");
        tty.types("please\r");
        let first = scene.accepts(&old);
        let second = scene.accepts(&new);
        tty.sees("That is all.");
        eventually("both are written", || {
            (scene.world.path("deep/new.txt").exists() && scene.world.read_text("old.txt") == "two\n")
                .then_some(())
        });
        tty.types("/ide undo\r");
        tty.sees(&format!("undid {second} which removed deep/new.txt"));
        assert!(!scene.world.path("deep/new.txt").exists());
        assert_eq!(scene.world.read_text("old.txt"), "two\n");
        tty.types("/ide undo\r");
        tty.sees(&format!("undid {first} in old.txt"));
        assert_eq!(scene.world.read_text("old.txt"), "one\n");

        quit(tty);
    }

    #[test]
    fn a_file_that_was_changed_since_is_left_alone_and_the_reason_is_said() {
        let mut scene = Scene::new();
        let path = scene.world.file("a.txt", "one\n");
        let model = Model::start([writes("a.txt", "two\n"), Turn::says("That is all.")]);
        let mut tty = start(&scene.world, &model, &[]);
        tty.sees("IDE connected: Test Editor");
        tty.types("please\r");
        scene.accepts(&path);
        tty.sees("That is all.");
        scene.world.file("a.txt", "somebody else's\n");
        tty.types("/ide undo\r");
        tty.sees("is not what");
        assert_eq!(scene.world.read_text("a.txt"), "somebody else's\n");
        quit(tty);
    }
}

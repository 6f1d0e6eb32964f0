//! `linkspan diff` with the real binary: the review, the writer, the output for scripts, and that the outcome arrives
//! whatever happens to the hub.

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    use crate::support::world::{finish, signal};
    use crate::support::*;
    use linkspan_editor_api::{ReviewComment, Verdict};
    use rustix::process::Signal;
    use serde_json::{Value, json};

    /// A command that waits for the user.
    fn begin(world: &World, args: &[&str]) -> Child {
        spawn(world.command(args).current_dir(world.workspace()).stdin(Stdio::null()))
    }

    fn spawn(command: &mut Command) -> Child {
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn an_accepted_change_is_written_and_the_exit_code_is_zero() {
        let world = World::new();
        let path = world.file("a.txt", "one\r\ntwo\r\n");
        let new = world.file("new.txt", "one\nTWO\n");
        let mut editor = Editor::attach(&world);
        let asked = begin(&world, &["diff", "a.txt", "--new", &new, "--label", "louder"]);
        let shown = editor.shown(&path);
        assert_eq!(shown.label, "louder");
        editor.accept(&shown);
        let ran = finish(asked).ok();
        assert!(ran.stdout.contains("accepted a.txt"), "{ran:?}");
        assert_eq!(world.read("a.txt"), b"one\r\nTWO\r\n");
    }

    #[test]
    fn a_rejection_is_exit_code_one_with_the_reason_and_the_comments() {
        let world = World::new();
        let path = world.file("a.txt", "one\n");
        let new = world.file("new.txt", "two\n");
        let editor = Editor::attach(&world);
        let asked = begin(&world, &["--json", "diff", "a.txt", "--new", &new]);
        let shown = editor.shown(&path);
        let review = &shown.review;
        world.run(&["reject", review, "--comment", "not now", "--at", "a.txt:1"]);
        let ran = finish(asked);
        assert_eq!(ran.code, 1, "{ran:?}");
        let document = ran.json();
        assert_eq!(document["outcome"], "rejected");
        assert_eq!(document["review"], review.as_str());
        let comments: Vec<ReviewComment> = serde_json::from_value(document["comments"].clone()).unwrap();
        assert!(comments.iter().any(|comment| comment.line == 1 && comment.text == "not now"), "{document}");
        assert_eq!(world.read("a.txt"), b"one\n");
    }

    #[test]
    fn some_hunks_are_told_as_such() {
        let world = World::new();
        let before: String = (0..30).map(|line| format!("line {line}\n")).collect();
        let path = world.file("a.txt", &before);
        let new =
            world.file("new.txt", before.replace("line 3\n", "three\n").replace("line 20\n", "twenty\n"));
        let mut editor = Editor::attach(&world);
        let asked = begin(&world, &["--json", "diff", "a.txt", "--new", &new]);
        let shown = editor.shown(&path);
        let second = vec![shown.hunks[1].id.clone()];
        editor.decide(&shown, Verdict::AcceptHunks { hunks: second });
        let document = finish(asked).ok().json();
        assert_eq!(document["taken"], "some");
        let taken: Vec<bool> = document["hunks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hunk| hunk["taken"].as_bool().unwrap())
            .collect();
        assert_eq!(taken, [false, true]);
        assert_eq!(world.read_text("a.txt"), before.replace("line 20\n", "twenty\n"));
    }

    #[test]
    fn print_gives_the_final_text_and_writes_nothing() {
        let world = World::new();
        let path = world.file("a.txt", "one\n");
        let new = world.file("new.txt", "two\n");
        let mut editor = Editor::attach(&world);
        let asked = begin(&world, &["diff", "a.txt", "--new", &new, "--print"]);
        let shown = editor.shown(&path);
        editor.decide(&shown, Verdict::AcceptEdited { text: "three".into() });
        assert_eq!(finish(asked).ok().stdout, "three");
        assert_eq!(world.read("a.txt"), b"one\n");
    }

    #[test]
    fn the_new_text_comes_from_a_pipe() {
        let world = World::new();
        let path = world.path_str("fresh/new.txt");
        let mut editor = Editor::attach(&world);
        let new = world.file("text", "hello\n");
        let mut command = world.command(&["diff", "fresh/new.txt"]);
        let input = std::fs::File::open(new).unwrap();
        let asked = spawn(command.current_dir(world.workspace()).stdin(input));
        let shown = editor.shown(&path);
        assert!(shown.new_file);
        editor.accept(&shown);
        finish(asked).ok();
        assert_eq!(world.read("fresh/new.txt"), b"hello\n");
    }

    #[test]
    fn no_difference_asks_nobody() {
        let world = World::new();
        world.file("a.txt", "one\n");
        let same = world.file("same.txt", "one\n");
        let ran = finish(begin(&world, &["diff", "a.txt", "--new", &same])).ok();
        assert!(ran.stdout.contains("already has this content"), "{ran:?}");
        assert!(!world.socket().exists(), "there was nothing to ask a hub about");
    }

    #[test]
    fn what_is_no_text_is_refused_by_name() {
        let world = World::new();
        world.file("a.bin", b"\0\x01\x02");
        let new = world.file("new.bin", b"\0\x01\x03");
        let ran = finish(begin(&world, &["diff", "a.bin", "--new", &new]));
        assert_eq!(ran.code, 5);
        assert!(ran.stderr.contains("a.bin") && ran.stderr.contains("binary"), "{ran:?}");
        let missing = finish(begin(&world, &["diff", "a.bin", "--new", "nowhere"]));
        assert_eq!(missing.code, 2);
        assert!(missing.stderr.contains("nowhere"), "{missing:?}");
    }

    #[test]
    fn a_folder_is_one_set_and_a_single_no_is_a_no() {
        let world = World::new();
        let (one, two) = (world.file("src/one.txt", "1\n"), world.file("src/deep/two.txt", "2\n"));
        world.file("src/same.txt", "same\n");
        world.file("src/only-here.txt", "stays\n");
        world.file("new/one.txt", "eins\n");
        world.file("new/deep/two.txt", "zwei\n");
        world.file("new/same.txt", "same\n");
        world.file("new/picture.bin", b"\0\x01");
        let mut editor = Editor::attach(&world);
        let asked = begin(&world, &["--json", "diff", "src", "--dir", "--new", "new"]);
        let (first, second) = (editor.shown(&one), editor.shown(&two));
        assert!(first.set.is_some() && first.set == second.set, "{first:?} {second:?}");
        editor.accept(&first);
        editor.reject(&second);
        let ran = finish(asked);
        assert_eq!(ran.code, 1, "{ran:?}");
        let document = ran.json();
        assert_eq!(document["changes"].as_array().unwrap().len(), 2);
        assert_eq!(document["skipped"][0]["path"], "picture.bin");
        assert_eq!(document["leftAlone"], 1);
        assert_eq!(world.read("src/one.txt"), b"eins\n");
        assert_eq!(world.read("src/deep/two.txt"), b"2\n");
        assert_eq!(world.read("src/only-here.txt"), b"stays\n");
    }

    fn git(world: &World, args: &[&str]) -> Command {
        let mut git = Command::new("git");
        let program = Path::new(env!("CARGO_BIN_EXE_linkspan")).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        let settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "difftool.prompt=false"];
        for (name, value) in world.command(&["status"]).get_envs() {
            git.env(name, value.unwrap_or_default());
        }
        git.args(settings).args(args).env("PATH", path).current_dir(world.workspace()).stdin(Stdio::null());
        git
    }

    #[test]
    fn git_difftool_shows_both_sides_and_writes_nothing() {
        let world = World::new();
        let path = world.file("a.txt", "committed\n");
        for args in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "first"]] {
            assert!(git(&world, args).status().unwrap().success());
        }
        world.file("a.txt", "in the work tree\n");
        let mut editor = Editor::attach(&world);
        let tool = "difftool.linkspan.cmd=linkspan diff \"$MERGED\" --old \"$LOCAL\" --new \"$REMOTE\"";
        let asked = spawn(&mut git(&world, &["-c", tool, "difftool", "--tool=linkspan"]));
        let shown = editor.shown(&path);
        assert_eq!((shown.base.as_str(), shown.proposed.as_str()), ("committed\n", "in the work tree\n"));
        editor.decide(&shown, Verdict::AcceptEdited { text: "something else\n".into() });
        finish(asked).ok();
        assert_eq!(world.read("a.txt"), b"in the work tree\n");

        let tool = "difftool.linkspan.cmd=linkspan diff --dir . --old \"$LOCAL\" --new \"$REMOTE\"";
        let asked = spawn(&mut git(&world, &["-c", tool, "difftool", "--tool=linkspan", "--dir-diff"]));
        let again = editor.until("the comparison of folders", |state| {
            state.shown.iter().find(|other| other.path == path && other.review != shown.review).cloned()
        });
        assert_eq!((again.base.as_str(), again.proposed.as_str()), ("committed\n", "in the work tree\n"));
        editor.accept(&again);
        finish(asked).ok();
        assert_eq!(world.read("a.txt"), b"in the work tree\n");
    }

    #[test]
    fn an_interrupt_takes_the_question_back() {
        let world = World::new();
        let path = world.file("a.txt", "one\n");
        let new = world.file("new.txt", "two\n");
        let editor = Editor::attach(&world);
        let asked = begin(&world, &["diff", "a.txt", "--new", &new]);
        let shown = editor.shown(&path);
        signal(asked.id(), Signal::INT);
        editor.hidden(&shown.review);
        assert_eq!(finish(asked).code, 130);
        assert_eq!(world.read("a.txt"), b"one\n");
    }

    #[test]
    fn the_answer_comes_although_the_hub_was_killed_under_the_question() {
        let world = World::new();
        let path = world.file("a.txt", "one\n");
        let new = world.file("new.txt", "two\n");
        let mut editor = Editor::attach(&world);
        let asked = begin(&world, &["diff", "a.txt", "--new", &new]);
        let first = editor.shown(&path);
        world.kill_hub();
        editor.state().shown.clear();
        let again = editor.shown(&path);
        assert_eq!(again.review, first.review, "it is the same question");
        editor.accept(&again);
        let ran = finish(asked).ok();
        assert!(ran.stdout.contains("accepted a.txt"), "{ran:?}");
        assert_eq!(world.read("a.txt"), b"two\n");
    }

    #[test]
    fn without_an_editor_the_change_waits_for_the_terminal() {
        let world = World::new();
        world.file("a.txt", "one\n");
        let new = world.file("new.txt", "two\n");
        let asked = begin(&world, &["diff", "a.txt", "--new", &new]);
        let review = world.one_pending();
        world.run(&["accept", &review]).ok();
        let ran = finish(asked).ok();
        assert!(ran.stderr.contains("linkspan review"), "{ran:?}");
        assert_eq!(world.read("a.txt"), b"two\n");
    }

    #[test]
    fn without_a_new_text_it_says_what_is_missing() {
        let world = World::new();
        world.folder("src");
        let ran = finish(begin(&world, &["diff", "src", "--dir"]));
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains("--new FOLDER"), "{ran:?}");
    }

    #[test]
    fn a_change_of_form_alone_is_not_asked_about() {
        let world = World::new();
        world.file("dos.txt", "one\r\ntwo\r\n");
        let unix = world.file("unix.txt", "one\ntwo\n");
        let ran = finish(begin(&world, &["diff", "dos.txt", "--new", &unix]));
        assert_eq!(ran.code, 5, "{ran:?}");
        assert!(ran.stderr.contains("line endings"), "{ran:?}");
        let wide = world.file("wide.txt", b"\xff\xfea\0\n\0");
        let ran = finish(begin(&world, &["diff", "fresh.txt", "--new", &wide]));
        assert_eq!(ran.code, 5, "{ran:?}");
        assert!(ran.stderr.contains("UTF-8"), "{ran:?}");
    }

    #[test]
    fn a_pipe_is_no_file_to_change() {
        let world = World::new();
        let pipe = world.path("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
            .unwrap();
        let new = world.file("new.txt", "x");
        let ran = finish(begin(&world, &["diff", "pipe", "--new", &new]));
        assert_eq!(ran.code, 5, "{ran:?}");
    }

    #[test]
    fn a_reader_who_has_heard_enough_does_not_turn_a_no_into_a_yes() {
        let world = World::new();
        let path = world.file("a.txt", "one\n");
        let new = world.file("new.txt", "two\n");
        let mut editor = Editor::attach(&world);
        let mut asked = begin(&world, &["diff", "a.txt", "--new", &new]);
        drop(asked.stdout.take());
        let shown = editor.shown(&path);
        editor.reject(&shown);
        assert_eq!(finish(asked).code, 1);
    }

    #[test]
    fn an_interrupted_call_takes_its_change_back() {
        let world = World::new();
        let path = world.file("a.txt", "one\n");
        let editor = Editor::attach(&world);
        let arguments = serde_json::json!({ "path": path, "newText": "two\n" }).to_string();
        let asked = begin(&world, &["call", "proposeChange", &arguments]);
        let shown = editor.shown(&path);
        signal(asked.id(), Signal::INT);
        editor.hidden(&shown.review);
        assert_eq!(finish(asked).code, 130);
    }

    #[test]
    fn an_editor_of_somebody_elses_leaves_the_writing_to_us_and_one_failure_stops_no_other() {
        let world = World::new();
        for name in ["1.txt", "2.txt", "3.txt"] {
            world.file(&format!("src/{name}"), "old\r\n");
            world.file(&format!("new/{name}"), "new\n");
        }
        let _editor = ForeignEditor::start(&world, |tool, arguments| {
            let text = |text: &str| serde_json::json!({ "type": "text", "text": text });
            let content = match (tool, arguments["new_file_path"].as_str()) {
                ("openDiff", Some(path)) if path.ends_with("1.txt") => vec![text("TAB_CLOSED")],
                ("openDiff", _) => vec![text("FILE_SAVED"), text("decided\n")],
                _ => Vec::new(),
            };
            serde_json::json!({ "content": content })
        });
        let ran = finish(begin(&world, &["--json", "diff", "--dir", "src", "--new", "new"]));
        assert!(ran.code > 1, "{ran:?}");
        let document = ran.json();
        let outcomes: Vec<&str> =
            (0..3).map(|at| document["changes"][at]["outcome"].as_str().unwrap()).collect();
        assert_eq!(outcomes, ["failed", "accepted", "accepted"]);
        assert_eq!(world.read("src/1.txt"), b"old\r\n");
        assert_eq!(world.read("src/2.txt"), b"decided\r\n");
        assert_eq!(world.read("src/3.txt"), b"decided\r\n");
    }

    #[test]
    fn a_foreign_editor_is_told_to_close_the_tab_once_nobody_waits_for_it() {
        for interrupted in [true, false] {
            let world = World::new();
            world.file("a.txt", "one\n");
            let new = world.file("new.txt", "two\n");
            let foreign = ForeignEditor::start(&world, move |tool, _| match tool {
                "openDiff" if interrupted => Value::Null,
                "openDiff" => json!({ "content": [
                    { "type": "text", "text": "FILE_SAVED" }, { "type": "text", "text": "two\n" },
                ] }),
                _ => foreign_editor::text("TAB_CLOSED"),
            });
            let asked = begin(&world, &["diff", "a.txt", "--new", &new]);
            let called = |tool: &str| -> Vec<Value> {
                let called = foreign.called().into_iter().filter(|(name, _)| name == tool);
                called.map(|(_, arguments)| arguments["tab_name"].clone()).collect()
            };
            let shown = eventually("the change is shown", || called("openDiff").pop());
            if interrupted {
                signal(asked.id(), Signal::INT);
            }
            assert_eq!(finish(asked).code, if interrupted { 130 } else { 0 });
            assert_eq!(called("close_tab"), [shown], "interrupted: {interrupted}");
            assert_eq!(world.read_text("a.txt"), if interrupted { "one\n" } else { "two\n" });
        }
    }
}

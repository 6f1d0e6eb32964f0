//! The program in a pseudo-terminal, with real keys: what a user sees, and what is on disk afterwards. The model is a
//! script; the tests with an editor need the program `linkspan`, which `cargo build` makes.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use linkspan_testkit::tty::Tty;
    use linkspan_testkit::{Editor, World, eventually, paths};
    use serde_json::{Value, json};

    const AGENT: &str = env!("CARGO_BIN_EXE_linkspan-agent");
    const SOON: Duration = Duration::from_secs(30);

    /// One turn of the model.
    fn turn(text: &str, calls: &[(&str, Value)]) -> String {
        let calls: Vec<_> =
            calls.iter().map(|(tool, arguments)| json!({ "tool": tool, "arguments": arguments })).collect();
        json!({ "text": text, "calls": calls }).to_string()
    }

    struct Typist {
        world: World,
        variables: Vec<(&'static str, String)>,
        arguments: Vec<String>,
    }

    impl Typist {
        fn new(turns: &[String]) -> Typist {
            let world = World::new();
            let script = world.root().join("script.jsonl");
            fs::write(&script, turns.join("\n")).unwrap();
            let arguments = vec!["--model".to_owned(), format!("script:{}", script.display())];
            Typist { world, variables: Vec::new(), arguments }
        }

        fn with(mut self, name: &'static str, value: impl Into<String>) -> Typist {
            self.variables.push((name, value.into()));
            self
        }

        fn start_in(&self, columns: u16, rows: u16) -> Tty {
            let mut command = self.world.program(AGENT);
            command.args(&self.arguments);
            command.envs(self.variables.iter().map(|(name, value)| (*name, value.as_str())));
            let tty = Tty::start(&command, columns, rows, SOON);
            tty.sees("› ");
            tty
        }

        fn start(&self) -> Tty {
            self.start_in(100, 40)
        }

        fn file(&self, name: &str, text: &str) {
            fs::write(self.world.workspace().join(name), text).unwrap();
        }

        fn read(&self, name: &str) -> String {
            fs::read_to_string(self.world.workspace().join(name)).unwrap()
        }
    }

    #[track_caller]
    fn quits(mut tty: Tty) {
        tty.types("/quit\r");
        assert_eq!(tty.ends(), 0);
        tty.is_as_before();
    }

    const OLD: &str = "a\nb\nc\nd\ne\n";
    const NEW: &str = "A\nb\nC\nd\nE\n";

    fn rewrites() -> Vec<String> {
        vec![
            turn("I change it.", &[("write_file", json!({ "path": "f.txt", "content": NEW }))]),
            turn("That is *all*.", &[]),
        ]
    }

    #[test]
    fn a_change_is_shown_and_accepted() {
        let case = Typist::new(&rewrites());
        case.file("f.txt", OLD);
        let mut tty = case.start();
        tty.types("please\r");
        tty.sees("› please");
        tty.sees("write_file changes");
        tty.sees("+C");
        tty.sees("Accept? [y]es  [h]unks  [e]dit  [c]omment  [n]o");
        assert_eq!(case.read("f.txt"), OLD);
        tty.looks_and_types("y");
        tty.sees("That is all.");
        tty.sees("(done, ");
        assert_eq!(case.read("f.txt"), NEW);
        // Colours, and the answer's Markdown. What was on the screen before is not cleared.
        let raw = String::from_utf8_lossy(&tty.raw()).into_owned();
        assert!(!raw.contains("\u{1b}[2J"), "{raw:?}");
        assert!(raw.contains("\u{1b}[32m+C") && raw.contains("\u{1b}[3mall"), "{raw:?}");
        // The call can be opened, with what the model was told.
        tty.types("\u{f}");
        tty.sees("The user accepted the change.");
        quits(tty);
    }

    #[test]
    fn some_hunks_are_taken() {
        let case = Typist::new(&rewrites());
        case.file("f.txt", OLD);
        let mut tty = case.start();
        tty.types("please\r");
        tty.sees("[h]unks");
        tty.looks_and_types("h");
        tty.sees("Take hunk 1 of 3?");
        tty.types("y");
        tty.sees("Take hunk 2 of 3?");
        tty.types("n");
        tty.sees("Take hunk 3 of 3?");
        tty.types("y");
        tty.sees("That is all.");
        assert_eq!(case.read("f.txt"), "A\nb\nc\nd\nE\n");
        tty.types("\u{f}");
        tty.sees("accepted 2 of 3 parts of the change");
        quits(tty);
    }

    #[test]
    fn a_change_is_edited_in_the_users_editor() {
        let case = Typist::new(&rewrites());
        case.file("f.txt", OLD);
        let editor = case.world.root().join("editor");
        fs::write(&editor, "#!/bin/sh\necho editing\nread answer\nsed -i s/C/mine/ \"$1\"\n").unwrap();
        fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
        let case = case.with("EDITOR", editor.display().to_string());
        let mut tty = case.start();
        tty.types("please\r");
        tty.sees("[e]dit");
        tty.looks_and_types("e");
        tty.sees("editing");
        // These keys are the editor's, and it has the terminal as it was.
        tty.types("y\r");
        tty.sees("Accept your text?");
        tty.sees("+mine");
        tty.looks_and_types("y");
        tty.sees("That is all.");
        assert_eq!(case.read("f.txt"), "A\nb\nmine\nd\nE\n");
        tty.types("\u{f}");
        tty.sees("with edits of their own");
        quits(tty);
    }

    #[test]
    fn a_rejection_tells_the_model_why() {
        let case = Typist::new(&rewrites());
        case.file("f.txt", OLD);
        let mut tty = case.start();
        tty.types("please\r");
        tty.sees("[n]o");
        tty.looks_and_types("n");
        tty.sees("Why not?");
        tty.types("no capitals\r");
        tty.sees("That is all.");
        assert_eq!(case.read("f.txt"), OLD);
        tty.types("\u{f}");
        tty.sees("Their reason: no capitals");
        quits(tty);
    }

    #[test]
    fn a_command_is_asked_about_and_escape_ends_it() {
        let command = json!({ "command": "echo begun; sleep 100; echo never > late" });
        let case = Typist::new(&[turn("I wait.", &[("run_command", command)]), turn("later", &[])]);
        let mut tty = case.start();
        tty.types("go\r");
        tty.sees("May it run?");
        tty.looks_and_types("y");
        tty.sees("  begun");
        tty.sees("Esc cancels");
        tty.types("\u{1b}");
        tty.sees("(cancelled, ");
        tty.sees_no("Esc cancels");
        assert!(!case.world.workspace().join("late").exists());
        // The next turn works.
        tty.types("again\r");
        tty.sees("later");
        quits(tty);
    }

    #[test]
    fn what_is_pasted_is_not_sent_before_the_user_does() {
        let case = Typist::new(&[turn("Thank you.", &[])]);
        let mut tty = case.start();
        tty.types("\u{1b}[200~first\nsecond\u{1b}[201~");
        tty.sees("› first\n  second");
        std::thread::sleep(Duration::from_millis(300));
        assert!(!tty.text().contains("Thank you."));
        tty.types("\r");
        tty.sees("Thank you.");
        // The history knows it in the next session, too.
        quits(tty);
        let mut tty = case.start();
        tty.types("\u{1b}[A\u{1b}[A\u{1b}[A");
        tty.sees("› first\n  second");
        tty.types("\u{3}");
        quits(tty);
    }

    #[test]
    fn commands_are_completed_and_carried_out() {
        let case = Typist::new(&[turn("x", &[])]);
        case.file("notes.md", "x\n");
        let mut tty = case.start_in(100, 60);
        tty.types("/mo\t");
        tty.sees("/mode  /model");
        tty.types(" yolo\r");
        tty.sees("the mode is yolo now");
        tty.sees("yolo · script:");
        tty.types("/tools\r");
        tty.sees("regex_replace  ");
        tty.types("/status\r");
        tty.sees("session ");
        tty.types("/agents new helper\r");
        tty.sees("── agent helper ──");
        tty.types("/agents switch no\r");
        tty.sees("there is no agent no");
        tty.types("/agents close helper\r");
        tty.sees("agent helper is closed");
        tty.types("see @no\t");
        tty.sees("› see @notes.md");
        tty.types("\u{3}");
        quits(tty);
    }

    #[test]
    fn a_narrow_terminal_that_changes_its_size_stays_readable() {
        let words = "some words that fill a line ".repeat(8);
        let case = Typist::new(&[turn(&words, &[])]);
        let mut tty = case.start_in(30, 12);
        tty.types("go\r");
        tty.sees("(done, ");
        for (columns, rows) in [(20, 8), (90, 30), (40, 10)] {
            tty.resizes(columns, rows);
            tty.sees_that("the status in one line at the bottom", |screen| {
                let last = screen.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
                let inputs = screen.lines().filter(|line| line.trim_end() == "›").count();
                last.starts_with("trusted") && inputs == 1
            });
        }
        quits(tty);
    }

    #[test]
    fn without_colours_there_are_none() {
        let case = Typist::new(&rewrites()).with("NO_COLOR", "1");
        case.file("f.txt", OLD);
        let mut tty = case.start();
        tty.types("please\r");
        tty.sees("+C");
        tty.looks_and_types("y");
        tty.sees("(done, ");
        let raw = String::from_utf8_lossy(&tty.raw()).into_owned();
        let is_style =
            |sequence: &str| sequence.trim_start_matches(|c: char| !c.is_alphabetic()).starts_with('m');
        assert!(!raw.split("\u{1b}[").skip(1).any(is_style), "{raw:?}");
        quits(tty);
    }

    #[test]
    fn control_c_twice_ends_it_and_a_hangup_does_too() {
        let case = Typist::new(&[turn("x", &[])]);
        let mut tty = case.start();
        tty.types("\u{3}");
        tty.sees("once more");
        tty.types("\u{3}");
        assert_eq!(tty.ends(), 0);
        tty.is_as_before();
        let mut tty = case.start();
        let pid = rustix::process::Pid::from_raw(i32::try_from(tty.pid()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
        assert_eq!(tty.ends(), 0);
    }

    #[test]
    fn one_prompt_is_asked_about_line_by_line_and_control_c_cancels_it() {
        let command = json!({ "command": "sleep 86399" });
        let mut case = Typist::new(&[turn("I wait.", &[("run_command", command)]), turn("later", &[])]);
        case.arguments.extend(["-p".to_owned(), "go".to_owned()]);
        let mut command = case.world.program(AGENT);
        command.args(&case.arguments);
        let mut tty = Tty::start(&command, 80, 24, SOON);
        tty.sees("Allow? [y]es, [n]o");
        std::thread::sleep(Duration::from_millis(200));
        tty.types("y\r");
        eventually("the command runs", || {
            let children = std::process::Command::new("pgrep").args(["-f", "^sleep 86399"]).output().unwrap();
            (!children.stdout.is_empty()).then_some(())
        });
        tty.types("\u{3}");
        assert_eq!(tty.ends(), 130);
    }

    #[test]
    fn a_session_that_is_continued_shows_where_it_was() {
        let mut case = Typist::new(&[turn("The *first* answer.", &[]), turn("The second.", &[])]);
        let mut tty = case.start();
        tty.types("remember me\r");
        tty.sees("(done, ");
        tty.types("/save work\r");
        tty.sees("saved as work");
        quits(tty);
        case.arguments.extend(["--resume".to_owned(), "work".to_owned()]);
        let mut tty = case.start();
        tty.sees("› remember me\nThe first answer.");
        tty.types("more\r");
        tty.sees("The second.");
        quits(tty);
    }

    #[test]
    fn a_demonstration_needs_nothing() {
        let mut case = Typist::new(&[]);
        case.arguments = vec!["--demo".to_owned()];
        let mut tty = case.start();
        tty.sees("No editor connected");
        tty.types("hello\r");
        tty.sees("[n]o");
        tty.looks_and_types("y");
        tty.sees("This agent follows a script");
        quits(tty);
    }

    #[test]
    fn the_first_answer_counts_in_the_editor_and_in_the_terminal() {
        assert!(paths::linkspan().exists(), "the program `linkspan` is missing: build it with `cargo build`");
        let again = turn("", &[("write_file", json!({ "path": "f.txt", "content": OLD }))]);
        let case = Typist::new(&[
            turn("", &[("write_file", json!({ "path": "f.txt", "content": NEW }))]),
            turn("One.", &[]),
            again,
            turn("Two.", &[]),
        ]);
        case.file("f.txt", OLD);
        let mut editor = Editor::attach(&case.world);
        let mut tty = case.start();
        tty.sees("IDE connected: ");
        tty.types("please\r");
        let path = case.world.path_str("f.txt");
        let shown = editor.shown(&path);
        tty.sees("Accept?");
        editor.accept(&shown);
        tty.sees("One.");
        tty.sees_no("Accept?");
        assert_eq!(case.read("f.txt"), NEW);

        editor.state().shown.clear();
        tty.types("and back\r");
        let shown = editor.shown(&path);
        tty.sees("Accept?");
        tty.looks_and_types("y");
        tty.sees("Two.");
        editor.hidden(&shown.review);
        eventually("the file is as before", || (case.read("f.txt") == OLD).then_some(()));

        // What was decided in the editor can be listed and taken back here.
        tty.types("/ide history\r");
        tty.sees("accepted");
        quits(tty);
    }
}

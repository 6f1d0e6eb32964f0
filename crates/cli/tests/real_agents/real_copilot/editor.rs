//! Copilot CLI connected to a window by its own protocol: the content of files after each decision, and what the model
//! received.

use std::time::{Duration, Instant};

use linkspan_editor_api as api;
use serde_json::json;

use crate::support::real_agent::EditorProtocol;
use crate::support::{Editor, RealAgent, Turn, World, eventually};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
const ASKS: &str = "Do you want to";
const REJECTED: &str = "The user rejected this tool call.";

/// Copilot CLI leaves before the window does.
struct CopilotSession {
    copilot: RealAgent,
    editor: Editor,
    path: String,
    world: World,
}

impl CopilotSession {
    /// Connected by itself, and not asked for anything yet.
    #[track_caller]
    fn connected(text: &str, edits: &[(&str, &str)]) -> CopilotSession {
        let world = World::new();
        let path = world.file("a.txt", text);
        let editor = Editor::attach(&world);
        editor.open(&path, text, false);
        let edit = |(old, new): &(&str, &str)| {
            Turn::calls("edit", json!({ "path": path, "old_str": old, "new_str": new }))
        };
        let view = Turn::calls("view", json!({ "path": path }));
        let script = std::iter::once(view).chain(edits.iter().map(edit));
        let copilot = RealAgent::copilot(&world, EditorProtocol::On, script.collect::<Vec<_>>());
        copilot.is_connected(&world);
        CopilotSession { copilot, editor, path, world }
    }

    /// Its change is pending, and the terminal asks, too.
    #[track_caller]
    fn asking(text: &str, old: &str, new: &str) -> CopilotSession {
        let mut session = CopilotSession::connected(text, &[(old, new)]);
        session.copilot.prompt("please change it");
        session.copilot.tty.sees(ASKS);
        session.world.one_pending();
        session
    }

    /// What the model was told about its change, in the next turn.
    #[track_caller]
    fn told(&self) -> String {
        self.copilot.model.result(1).text
    }

    #[track_caller]
    fn settled(&self) {
        eventually("the decision is delivered", || {
            self.world.json(&["reviews", "--all"])["reviews"].as_array()?.is_empty().then_some(())
        });
        self.copilot.tty.sees_no(ASKS);
    }
}

#[test]
fn an_accepted_change_is_written_by_copilot_and_the_model_knows() {
    let session = CopilotSession::asking(TEXT, "two", "2");
    let review = session.world.one_pending();
    session.world.run(&["accept", &review]).ok();
    assert_eq!(session.told(), format!("File {} updated with changes.", session.path));
    assert_eq!(session.world.read_text("a.txt"), TEXT.replace("two", "2"));
    session.settled();
    session.world.run(&["undo", &review]).ok();
    assert_eq!(session.world.read_text("a.txt"), TEXT);
    assert_eq!(session.copilot.model.outside(), [""; 0], "it must use nothing but the model of the test");
}

#[test]
fn a_rejected_change_is_not_written_and_ends_the_turn() {
    let mut session = CopilotSession::asking(TEXT, "two", "2");
    session.world.run(&["reject", &session.world.one_pending()]).ok();
    session.settled();
    assert_eq!(session.world.read_text("a.txt"), TEXT);
    assert_eq!(session.copilot.model.conversation().len(), 2, "the model is not asked to go on");
    session.copilot.prompt("what now");
    assert_eq!(session.told(), REJECTED);
}

#[test]
fn some_hunks_are_written_by_the_hub_and_copilot_writes_nothing_over_them() {
    let middle = "two\nthree\nfour\nfive\nsix\nseven\neight";
    let mut session = CopilotSession::asking(TEXT, middle, &middle.replace("two", "2").replace("eight", "8"));
    session.world.run(&["accept", &session.world.one_pending(), "--hunk", "1"]).ok();
    session.settled();
    session.copilot.prompt("what now");
    assert_eq!(session.told(), REJECTED);
    assert_eq!(session.world.read_text("a.txt"), TEXT.replace("two", "2"));
}

#[test]
fn an_edited_text_is_written_by_the_hub_and_copilot_writes_nothing_over_it() {
    let mut session = CopilotSession::asking(TEXT, "two", "2");
    let shown = session.editor.shown(&session.path);
    let mine = TEXT.replace("two", "zwei");
    let shown = session.editor.edit(&shown, &mine);
    session.editor.accept(&shown);
    session.settled();
    session.copilot.prompt("what now");
    assert_eq!(session.told(), REJECTED);
    assert_eq!(session.world.read_text("a.txt"), mine);
}

#[test]
fn line_endings_and_the_byte_order_mark_stay() {
    let text = format!("\u{feff}{}", TEXT.replace('\n', "\r\n"));
    let session = CopilotSession::asking(&text, "two", "2");
    let review = session.world.one_pending();
    session.world.run(&["accept", &review]).ok();
    assert_eq!(session.told(), format!("File {} updated with changes.", session.path));
    assert_eq!(session.world.read_text("a.txt"), text.replace("two", "2"));
    session.world.run(&["undo", &review]).ok();
    assert_eq!(session.world.read_text("a.txt"), text);
}

#[test]
fn a_change_that_is_decided_in_the_terminal_is_withdrawn() {
    let mut session = CopilotSession::asking(TEXT, "two", "2");
    let review = session.world.one_pending();
    session.copilot.answers(ASKS, "\r");
    assert_eq!(session.editor.hidden(&review), api::HideReason::Withdrawn);
    assert_eq!(session.told(), format!("File {} updated with changes.", session.path));
    assert_eq!(session.world.read_text("a.txt"), TEXT.replace("two", "2"));
    assert_ne!(session.world.run(&["reject", &review]).code, 0, "a late decision is refused");
}

#[test]
fn the_selection_reaches_the_model_with_the_next_prompt() {
    let mut session = CopilotSession::connected(TEXT, &[]);
    let at = |character| api::Position { line: 1, character };
    let selection = api::Selection {
        path: session.path.clone(),
        text: "two".into(),
        range: api::Range { start: at(0), end: at(3) },
        is_empty: false,
        reversed: false,
    };
    session.editor.send(&api::SelectionChanged { selection });
    session.copilot.tty.sees("a.txt:2");
    session.copilot.prompt("what is selected");
    session.copilot.model.asked(1);
    let request = session.copilot.model.conversation().remove(0);
    let prompts = request["messages"].as_array().unwrap().iter().filter(|said| said["role"] == "user");
    let prompts = prompts.map(|said| said["content"].to_string()).collect::<String>();
    for part in ["what is selected", "ide_selection", "a.txt", "two"] {
        assert!(prompts.contains(part), "{part} in {prompts}");
    }
}

#[test]
fn a_copilot_whose_hub_is_killed_while_it_waits_asks_the_next_hub() {
    let session = CopilotSession::asking(TEXT, "two", "2");
    session.world.kill_hub();
    session.copilot.is_connected(&session.world);
    // It proposes the change up to three times and withdraws the earlier ones; only the last is answered.
    let mut last = (String::new(), Instant::now());
    let review = eventually("it asks again, and for the last time", || {
        let reviews = session.world.reviews();
        let [review] = reviews.as_slice() else { return None };
        let id = review["review"].as_str().filter(|_| review["ownerGone"] == false)?;
        if last.0 != id {
            last = (id.to_owned(), Instant::now());
        }
        (last.1.elapsed() > Duration::from_secs(2)).then(|| id.to_owned())
    });
    assert_eq!(session.world.read_text("a.txt"), TEXT, "a lost socket is not a decision");
    session.world.run(&["accept", &review]).ok();
    assert_eq!(session.told(), format!("File {} updated with changes.", session.path));
    assert_eq!(session.world.read_text("a.txt"), TEXT.replace("two", "2"));
    session.settled();
}

#[test]
fn a_copilot_that_runs_already_finds_a_window_that_opens() {
    let world = World::new();
    world.file("a.txt", TEXT);
    // The folder is there, so that it can be watched.
    std::fs::create_dir_all(world.home().join(".copilot/ide")).unwrap();
    let copilot = RealAgent::copilot(&world, EditorProtocol::On, []);
    copilot.tty.sees("/ commands");
    let serve = world.serve();
    copilot.is_connected(&world);
    drop((copilot, serve));
}

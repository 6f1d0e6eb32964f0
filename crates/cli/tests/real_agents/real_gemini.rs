//! Gemini CLI: what the files hold after each decision, and what the model was told.

use serde_json::json;

use crate::support::{RealAgent, Serve, Turn, World};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

/// Gemini CLI leaves before the window does.
struct Desk {
    gemini: RealAgent,
    _serve: Serve,
    world: World,
}

impl Desk {
    /// Gemini CLI is asked to replace all of `a.txt`, and its change waits.
    #[track_caller]
    fn with(proposed: &str) -> Desk {
        let world = World::new();
        let path = world.file("a.txt", TEXT);
        let serve = world.serve();
        let read = Turn::calls("read_file", json!({ "file_path": path }));
        let arguments = json!({
            "file_path": path, "instruction": "Change numbers.", "old_string": TEXT, "new_string": proposed,
        });
        let gemini = RealAgent::gemini(&world, [read, Turn::calls("replace", arguments)]);
        gemini.is_connected(&world);
        let mut desk = Desk { gemini, _serve: serve, world };
        desk.gemini.prompt("please change it");
        desk
    }

    /// The id of the one review that waits, once the terminal asks, too.
    #[track_caller]
    fn review(&self) -> String {
        self.gemini.tty.sees("Apply this change?");
        self.world.one_pending()
    }
}

#[test]
fn an_accepted_change_is_written_and_the_model_knows() {
    let proposed = TEXT.replace("two", "2");
    let desk = Desk::with(&proposed);
    let review = desk.review();
    desk.world.run(&["accept", &review]).ok();
    let told = desk.gemini.model.result(1);
    assert!(!told.is_error && told.text.contains("Successfully modified"), "{told:?}");
    assert_eq!(desk.world.read_text("a.txt"), proposed);
    desk.world.run(&["undo", &review]).ok();
    assert_eq!(desk.world.read_text("a.txt"), TEXT);
}

#[test]
fn the_byte_order_mark_stays_whether_gemini_sends_it_or_not() {
    let text = format!("\u{feff}{TEXT}");
    for tool in ["replace", "write_file"] {
        let world = World::new();
        let path = world.file("a.txt", &text);
        let serve = world.serve();
        let read = Turn::calls("read_file", json!({ "file_path": path }));
        let change = match tool {
            "replace" => json!({
                "file_path": path, "instruction": "Change it.", "old_string": "two", "new_string": "2",
            }),
            _ => json!({ "file_path": path, "content": TEXT.replace("two", "2") }),
        };
        let gemini = RealAgent::gemini(&world, [read, Turn::calls(tool, change)]);
        gemini.is_connected(&world);
        let mut desk = Desk { gemini, _serve: serve, world };
        desk.gemini.prompt("please change it");
        let review = desk.review();
        desk.world.run(&["accept", &review]).ok();
        let told = desk.gemini.model.result(1);
        assert!(!told.is_error, "{told:?}");
        assert_eq!(desk.world.read_text("a.txt"), text.replace("two", "2"), "{tool}");
        desk.world.run(&["undo", &review]).ok();
        assert_eq!(desk.world.read_text("a.txt"), text, "{tool}");
    }
}

#[test]
fn a_rejected_change_is_not_written_and_ends_the_turn() {
    let mut desk = Desk::with(&TEXT.replace("two", "2"));
    let review = desk.review();
    desk.world.run(&["reject", &review]).ok();
    desk.gemini.tty.sees_no("Apply this change?");
    assert_eq!(desk.world.read_text("a.txt"), TEXT);
    desk.gemini.tty.sees("Request cancelled");
    // Gemini CLI takes the change out of what it tells the model next.
    desk.gemini.prompt("what now");
    desk.gemini.model.asked(3);
    let told = desk.gemini.model.conversation()[2]["contents"].to_string();
    assert!(told.contains("what now") && !told.contains("replace"), "{told}");
    assert_eq!(desk.world.read_text("a.txt"), TEXT);
}

#[test]
fn some_hunks_are_written_and_the_model_is_told_the_text() {
    let desk = Desk::with(&TEXT.replace("two", "2").replace("eight", "8"));
    let review = desk.review();
    desk.world.run(&["accept", &review, "--hunk", "1"]).ok();
    let told = desk.gemini.model.result(1);
    assert!(!told.is_error && told.text.contains("modified the `new_string` content"), "{told:?}");
    assert_eq!(desk.world.read_text("a.txt"), TEXT.replace("two", "2"));
    let entry = &desk.world.json(&["history"])["entries"][0];
    assert_eq!((&entry["ended"]["kind"], &entry["ended"]["taken"]), (&"accepted".into(), &"some".into()));
}

//! Gemini CLI: the content of files after each decision, and what the model received.

use serde_json::json;

use crate::support::real_agent::EditorProtocol;
use crate::support::{RealAgent, Serve, Turn, World, eventually};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

/// Gemini CLI leaves before the window does.
struct GeminiSession {
    gemini: RealAgent,
    _serve: Serve,
    world: World,
}

impl GeminiSession {
    /// Gemini CLI is asked to replace all of `a.txt`; its change is pending.
    #[track_caller]
    fn with(proposed: &str) -> GeminiSession {
        let world = World::new();
        let path = world.file("a.txt", TEXT);
        let serve = world.serve();
        let read = Turn::calls("read_file", json!({ "file_path": path }));
        let arguments = json!({
            "file_path": path, "instruction": "Change numbers.", "old_string": TEXT, "new_string": proposed,
        });
        let gemini = RealAgent::gemini(&world, EditorProtocol::On, [read, Turn::calls("replace", arguments)]);
        gemini.is_connected(&world);
        let mut session = GeminiSession { gemini, _serve: serve, world };
        session.gemini.prompt("please change it");
        session
    }

    /// The id of the one pending review, once the terminal asks, too.
    #[track_caller]
    fn review(&self) -> String {
        self.gemini.tty.sees("Apply this change?");
        self.world.one_pending()
    }
}

#[test]
fn an_accepted_change_is_written_and_the_model_knows() {
    let proposed = TEXT.replace("two", "2");
    let session = GeminiSession::with(&proposed);
    let review = session.review();
    session.world.run(&["accept", &review]).ok();
    let told = session.gemini.model.result(1);
    assert!(!told.is_error && told.text.contains("Successfully modified"), "{told:?}");
    assert_eq!(session.world.read_text("a.txt"), proposed);
    session.world.run(&["undo", &review]).ok();
    assert_eq!(session.world.read_text("a.txt"), TEXT);
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
        let gemini = RealAgent::gemini(&world, EditorProtocol::On, [read, Turn::calls(tool, change)]);
        gemini.is_connected(&world);
        let mut session = GeminiSession { gemini, _serve: serve, world };
        session.gemini.prompt("please change it");
        let review = session.review();
        session.world.run(&["accept", &review]).ok();
        let told = session.gemini.model.result(1);
        assert!(!told.is_error, "{told:?}");
        assert_eq!(session.world.read_text("a.txt"), text.replace("two", "2"), "{tool}");
        session.world.run(&["undo", &review]).ok();
        assert_eq!(session.world.read_text("a.txt"), text, "{tool}");
    }
}

#[test]
fn a_rejected_change_is_not_written_and_ends_the_turn() {
    let mut session = GeminiSession::with(&TEXT.replace("two", "2"));
    let review = session.review();
    session.world.run(&["reject", &review]).ok();
    session.gemini.tty.sees_no("Apply this change?");
    assert_eq!(session.world.read_text("a.txt"), TEXT);
    session.gemini.tty.sees("Request cancelled");
    // Gemini CLI omits the change from its next request to the model.
    session.gemini.prompt("what now");
    session.gemini.model.asked(3);
    let told = session.gemini.model.conversation()[2]["contents"].to_string();
    assert!(told.contains("what now") && !told.contains("replace"), "{told}");
    assert_eq!(session.world.read_text("a.txt"), TEXT);
}

#[test]
fn a_change_decided_in_the_terminal_is_withdrawn() {
    let proposed = TEXT.replace("two", "2");
    let mut session = GeminiSession::with(&proposed);
    session.review();
    session.gemini.answers("Apply this change?", "\r");
    let told = session.gemini.model.result(1);
    assert!(!told.is_error && told.text.contains("Successfully modified"), "{told:?}");
    assert_eq!(session.world.read_text("a.txt"), proposed);
    eventually("the review is withdrawn", || {
        let entry = &session.world.json(&["history"])["entries"][0];
        (entry["ended"]["kind"] == "withdrawn").then_some(())
    });
}

#[test]
fn some_hunks_are_written_and_the_model_is_told_the_text() {
    let session = GeminiSession::with(&TEXT.replace("two", "2").replace("eight", "8"));
    let review = session.review();
    session.world.run(&["accept", &review, "--hunk", "1"]).ok();
    let told = session.gemini.model.result(1);
    assert!(!told.is_error && told.text.contains("modified the `new_string` content"), "{told:?}");
    assert_eq!(session.world.read_text("a.txt"), TEXT.replace("two", "2"));
    let entry = &session.world.json(&["history"])["entries"][0];
    assert_eq!((&entry["ended"]["kind"], &entry["ended"]["taken"]), (&"accepted".into(), &"some".into()));
}

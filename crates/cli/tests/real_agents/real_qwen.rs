//! Qwen Code in a terminal without variables of an editor: it connects, its change is decided here, and `linkspan
//! status` is right about it when the hub is killed.

use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::support::real_agent::{EditorProtocol, listed};
use crate::support::{RealAgent, Serve, Turn, World, eventually};

const TEXT: &str = "one\ntwo\nthree\n";

/// Qwen Code leaves before the window does.
struct QwenSession {
    qwen: RealAgent,
    _serve: Serve,
    world: World,
}

impl QwenSession {
    /// Qwen Code is connected, and will change `a.txt` when it is asked.
    #[track_caller]
    fn new() -> QwenSession {
        let world = World::new();
        let path = world.file("a.txt", TEXT);
        let serve = world.serve();
        let read = Turn::calls("read_file", json!({ "file_path": path }));
        let arguments = json!({ "file_path": path, "old_string": "two\n", "new_string": "2\n" });
        let qwen = RealAgent::qwen(&world, EditorProtocol::On, [read, Turn::calls("edit", arguments)]);
        qwen.is_connected(&world);
        QwenSession { qwen, _serve: serve, world }
    }

    /// Qwen Code is asked, and its change is accepted.
    #[track_caller]
    fn changes_the_file(&mut self) {
        self.qwen.prompt("please change it");
        self.qwen.tty.sees("Apply this change?");
        let review = self.world.one_pending();
        self.world.run(&["accept", &review]).ok();
        let told = self.qwen.model.result(1);
        assert!(told.text.contains("has been updated"), "{told:?}");
        assert_eq!(self.world.read_text("a.txt"), TEXT.replace("two", "2"));
    }
}

#[test]
fn it_connects_from_an_ordinary_terminal_and_an_accepted_change_is_written() {
    QwenSession::new().changes_the_file();
}

#[test]
fn a_change_decided_in_the_terminal_is_withdrawn() {
    let mut session = QwenSession::new();
    session.qwen.prompt("please change it");
    session.qwen.tty.sees("Apply this change?");
    session.world.one_pending();
    session.qwen.answers("Apply this change?", "\r");
    let told = session.qwen.model.result(1);
    assert!(told.text.contains("has been updated"), "{told:?}");
    assert_eq!(session.world.read_text("a.txt"), TEXT.replace("two", "2"));
    eventually("the review is withdrawn", || {
        let entry = &session.world.json(&["history"])["entries"][0];
        (entry["ended"]["kind"] == "withdrawn").then_some(())
    });
}

#[test]
fn a_killed_hub_leaves_it_disconnected_and_status_says_so_until_the_user_reconnects_it() {
    let mut session = QwenSession::new();
    session.world.kill_hub();
    // Its stream reconnects by itself if the next hub is quick; Qwen Code considers itself disconnected either way.
    session
        .qwen
        .tty
        .sees_that("the window is back", |_| session.world.status()["windows"][0]["attached"] == true);
    for _ in 0..10 {
        assert!(listed(&session.world.status(), "agents").is_empty());
        thread::sleep(Duration::from_millis(300));
    }
    session.qwen.prompt("/ide enable");
    session.qwen.is_connected(&session.world);
    let status = session.world.status();
    assert_eq!(listed(&status, "agents"), ["Qwen Code"]);
    assert!(listed(&status, "returnedAgents").is_empty(), "{status}");
    session.changes_the_file();
}

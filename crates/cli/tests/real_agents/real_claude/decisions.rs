//! A change that is accepted, accepted in part, or rejected: the bytes on disk, and what the model was told.

use super::{ClaudeSession, ClaudeVersion, edit, with_each_version};
use crate::support::eventually;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

with_each_version! {
    an_accepted_edit_is_written_and_can_be_undone
    some_hunks_are_written_and_the_model_knows
    a_rejected_edit_is_not_written_and_the_model_knows
    a_change_decided_in_the_terminal_is_withdrawn
}

fn an_accepted_edit_is_written_and_can_be_undone(version: ClaudeVersion) {
    let session = ClaudeSession::with(version, TEXT.as_bytes(), |path| edit(path, "two\n", "2\n"));
    let review = session.review();
    session.world.run(&["accept", &review]).ok();

    let told = session.claude.model.result(1);
    assert!(!told.is_error && told.text.contains("has been updated"), "{told:?}");
    assert!(!told.text.contains("user modified"), "{told:?}");
    assert_eq!(session.world.read_text("a.txt"), TEXT.replace("two", "2"));
    assert_eq!(session.newest_entry()["ended"]["kind"], "accepted");
    session.is_on_disk();

    session.world.run(&["undo", &review]).ok();
    assert_eq!(session.world.read_text("a.txt"), TEXT);
    if version == ClaudeVersion::Newest {
        assert_eq!(
            session.claude.model.outside(),
            [""; 0],
            "Claude Code must use nothing but the model of the test"
        );
    }
}

fn some_hunks_are_written_and_the_model_knows(version: ClaudeVersion) {
    let proposed = TEXT.replace("two", "2").replace("eight", "8");
    let session = ClaudeSession::with(version, TEXT.as_bytes(), |path| edit(path, TEXT, &proposed));
    let review = session.review();
    session.world.run(&["accept", &review, "--hunk", "1"]).ok();

    let told = session.claude.model.result(1);
    // The old line has no sentence for it, but shows the model what the file holds now.
    let knows = match version {
        ClaudeVersion::V1_0_128 => "8→eight",
        ClaudeVersion::Newest | ClaudeVersion::V2_1_112 => "user modified your proposed",
    };
    assert!(!told.is_error && told.text.contains(knows), "{told:?}");
    assert_eq!(session.world.read_text("a.txt"), TEXT.replace("two", "2"));
    let entry = session.newest_entry();
    assert_eq!((&entry["ended"]["kind"], &entry["ended"]["taken"]), (&"accepted".into(), &"some".into()));
    session.is_on_disk();
}

fn a_rejected_edit_is_not_written_and_the_model_knows(version: ClaudeVersion) {
    let mut session = ClaudeSession::with(version, TEXT.as_bytes(), |path| edit(path, "two\n", "2\n"));
    let review = session.review();
    session.world.run(&["reject", &review]).ok();
    session.claude.tty.sees_no("Opened changes in");

    // Claude Code ends its turn: the model hears of it with the next prompt.
    session.claude.prompt("what now");
    let told = session.claude.model.result(1);
    assert!(told.is_error && told.text.contains("NOT written to the file"), "{told:?}");
    assert_eq!(session.world.read_text("a.txt"), TEXT);
    assert_eq!(session.newest_entry()["ended"]["kind"], "rejected");
}

fn a_change_decided_in_the_terminal_is_withdrawn(version: ClaudeVersion) {
    let mut session = ClaudeSession::with(version, TEXT.as_bytes(), |path| edit(path, "two\n", "2\n"));
    session.review();
    session.claude.answers("1");

    let told = session.claude.model.result(1);
    assert!(!told.is_error && told.text.contains("has been updated"), "{told:?}");
    assert_eq!(session.world.read_text("a.txt"), TEXT.replace("two", "2"));
    eventually("the review is withdrawn", || {
        (session.newest_entry()["ended"]["kind"] == "withdrawn").then_some(())
    });
    assert!(session.world.pending(0).is_empty());
}

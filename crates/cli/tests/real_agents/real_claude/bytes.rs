//! Bytes that a text does not show: the file keeps them when a change is accepted, and `linkspan undo` gives all back.

use serde_json::json;

use super::{ClaudeVersion, Desk, edit, with_each_version};
use crate::support::Turn;

with_each_version! {
    a_byte_order_mark_stays
    crlf_stays
    a_write_over_a_file_can_be_undone
    a_new_file_can_be_undone
}

fn a_byte_order_mark_stays(version: ClaudeVersion) {
    let before = "\u{feff}one\ntwo\nthree\n";
    accepted_and_undone(version, before, "\u{feff}one\n2\nthree\n", |path| edit(path, "two\n", "2\n"));
}

fn crlf_stays(version: ClaudeVersion) {
    let before = "one\r\ntwo\r\nthree\r\n";
    accepted_and_undone(version, before, "one\r\n2\r\nthree\r\n", |path| edit(path, "two\n", "2\n"));
}

/// Claude Code drops the final newline of a file that exists when its `Write` is accepted in an editor, whatever the
/// editor answers.
fn a_write_over_a_file_can_be_undone(version: ClaudeVersion) {
    accepted_and_undone(version, "one\ntwo\nthree\n", "one\n2\nthree", |path| {
        Turn::calls("Write", json!({ "file_path": path, "content": "one\n2\nthree\n" }))
    });
}

#[track_caller]
fn accepted_and_undone(version: ClaudeVersion, before: &str, after: &str, change: impl FnOnce(&str) -> Turn) {
    let desk = Desk::with(version, before.as_bytes(), change);
    let review = desk.review();
    desk.world.run(&["accept", &review]).ok();

    let told = desk.claude.model.result(1);
    assert!(!told.is_error && told.text.contains("has been updated"), "{told:?}");
    assert!(!told.text.contains("user modified"), "the user took all of it: {told:?}");
    assert_eq!(desk.world.read_text("a.txt"), after);
    desk.is_on_disk();

    desk.world.run(&["undo", &review]).ok();
    assert_eq!(desk.world.read_text("a.txt"), before);
}

fn a_new_file_can_be_undone(version: ClaudeVersion) {
    let mut new = String::new();
    let desk = Desk::with(version, b"one\n", |path| {
        new = path.replace("a.txt", "new.txt");
        Turn::calls("Write", json!({ "file_path": new, "content": "one\ntwo\n" }))
    });
    let review = desk.review();
    desk.world.run(&["accept", &review]).ok();

    let told = desk.claude.model.result(1);
    assert!(!told.is_error && told.text.contains("created successfully"), "{told:?}");
    // The older ones drop the final newline; so does the newest, but for what our answer makes up for.
    let written = if version == ClaudeVersion::Newest { "one\ntwo\n" } else { "one\ntwo" };
    assert_eq!(desk.world.read_text("new.txt"), written);
    desk.is_on_disk();

    desk.world.run(&["undo", &review]).ok();
    assert!(!desk.world.path("new.txt").exists(), "{new}");
}

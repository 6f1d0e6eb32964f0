//! What Claude Code makes of the byte order mark, the line endings and the final newline of a file, and that `linkspan
//! undo` finds it.

use serde_json::json;

use super::{ClaudeSession, ClaudeVersion, edit, with_each_version};
use crate::support::Turn;

with_each_version! {
    an_edit_keeps_the_byte_order_mark_and_the_encoding
    a_file_that_is_written_anew_keeps_its_mark_and_loses_its_final_newline
    an_edit_keeps_crlf
    a_new_file_can_be_undone
}

fn utf8(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

fn utf16le(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn write(path: &str, content: &str) -> Turn {
    Turn::calls("Write", json!({ "file_path": path, "content": content }))
}

/// Accepts the change; returns its id and the result that the model received, after the file is written.
#[track_caller]
fn accept(session: &ClaudeSession) -> (String, String) {
    let review = session.review();
    session.world.run(&["accept", &review]).ok();
    let told = session.claude.model.result(1);
    assert!(!told.is_error, "{told:?}");
    session.is_on_disk();
    (review, told.text)
}

fn an_edit_keeps_the_byte_order_mark_and_the_encoding(version: ClaudeVersion) {
    for encode in [utf8, utf16le] {
        let before = encode("\u{feff}one\ntwo\nthree\n");
        let session = ClaudeSession::with(version, &before, |path| edit(path, "two", "2"));
        let (review, told) = accept(&session);
        assert!(!told.contains("user modified"), "{told}");
        assert_eq!(session.world.read("a.txt"), encode("\u{feff}one\n2\nthree\n"));
        session.world.run(&["undo", &review]).ok();
        assert_eq!(session.world.read("a.txt"), before);
    }
}

fn a_file_that_is_written_anew_keeps_its_mark_and_loses_its_final_newline(version: ClaudeVersion) {
    for encode in [utf8, utf16le] {
        let before = encode("\u{feff}one\ntwo\nthree\n");
        let session = ClaudeSession::with(version, &before, |path| write(path, "one\n2\nthree\n"));
        let (review, told) = accept(&session);
        // This version puts the mark there only if the answer has it, and takes it for a change of the user.
        assert_eq!(told.contains("user modified"), version == ClaudeVersion::V2_1_112, "{told}");
        assert_eq!(session.world.read("a.txt"), encode("\u{feff}one\n2\nthree"));
        session.world.run(&["undo", &review]).ok();
        assert_eq!(session.world.read("a.txt"), before);
    }
}

fn an_edit_keeps_crlf(version: ClaudeVersion) {
    let before = "one\r\ntwo\r\nthree\r\n";
    let session = ClaudeSession::with(version, before.as_bytes(), |path| edit(path, "two\n", "2\n"));
    let (review, told) = accept(&session);
    assert!(!told.contains("user modified"), "{told}");
    assert_eq!(session.world.read_text("a.txt"), "one\r\n2\r\nthree\r\n");
    session.world.run(&["undo", &review]).ok();
    assert_eq!(session.world.read_text("a.txt"), before);
}

fn a_new_file_can_be_undone(version: ClaudeVersion) {
    let session =
        ClaudeSession::with(version, b"one\n", |path| write(&path.replace("a.txt", "new.txt"), "one\ntwo\n"));
    let (review, told) = accept(&session);
    assert!(told.contains("created successfully"), "{told}");
    // The older ones drop the final newline; so does the newest, but for what our answer makes up for.
    let written = if version == ClaudeVersion::Newest { "one\ntwo\n" } else { "one\ntwo" };
    assert_eq!(session.world.read_text("new.txt"), written);
    session.world.run(&["undo", &review]).ok();
    assert!(!session.world.path("new.txt").exists());
}

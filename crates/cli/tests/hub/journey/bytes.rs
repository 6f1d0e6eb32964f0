//! Not one byte outside the accepted hunks changes.

use crate::support::*;

/// Proposes in a dialect whose files the hub writes, accepts, and returns the bytes on disk.
fn written(before: &[u8], proposed: &str) -> Vec<u8> {
    let world = World::new();
    let path = world.file("file", before);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, proposed, "tab");
    let review = world.one_pending();
    world.run(&["accept", &review]).ok();
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    world.read("file")
}

/// Proposes in a dialect whose agent writes, accepts, and returns the text that the agent receives.
fn told(before: &[u8], proposed: &str) -> String {
    let world = World::new();
    let path = world.file("file", before);
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    let call = agent.propose(&path, proposed, "tab");
    let review = world.one_pending();
    world.run(&["accept", &review]).ok();
    assert_eq!(world.read("file"), before, "the agent writes, not we");
    agent.texts(call).remove(1)
}

fn utf16le(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn a_crlf_file_keeps_its_endings_when_the_agent_speaks_lf() {
    assert_eq!(written(b"one\r\ntwo\r\nthree\r\n", "one\nTWO\nthree\n"), b"one\r\nTWO\r\nthree\r\n");
    assert_eq!(told(b"one\r\ntwo\r\nthree\r\n", "one\nTWO\nthree\n"), "one\nTWO\nthree\n");
}

#[test]
fn each_untouched_line_of_a_mixed_file_keeps_its_own_ending() {
    assert_eq!(
        written(b"one\r\ntwo\nthree\r\nfour\n", "one\ntwo\nTHREE\nfour\n"),
        b"one\r\ntwo\nTHREE\r\nfour\n"
    );
}

#[test]
fn a_missing_final_newline_stays_missing() {
    assert_eq!(written(b"one\ntwo", "ONE\ntwo"), b"ONE\ntwo");
}

#[test]
fn a_bom_stays_and_is_not_doubled() {
    assert_eq!(written(b"\xEF\xBB\xBFone\ntwo\n", "one\nTWO\n"), b"\xEF\xBB\xBFone\nTWO\n");
    assert_eq!(written(b"\xEF\xBB\xBFone\ntwo\n", "\u{FEFF}one\nTWO\n"), b"\xEF\xBB\xBFone\nTWO\n");
}

#[test]
fn an_agent_that_writes_is_told_the_mark_it_sent_and_undo_finds_what_it_wrote() {
    fn utf8(text: &str) -> Vec<u8> {
        text.as_bytes().to_vec()
    }
    for encode in [utf8, utf16le] {
        for (before, proposed) in [("one\ntwo\n", "one\n2\n"), ("\u{feff}one\n", "\u{feff}1\n")] {
            let before = encode(&format!("\u{feff}{before}"));
            let world = World::new();
            let path = world.file("file", &before);
            let serve = world.serve();
            let mut agent = Agent::claude(&world, serve.port);
            let proposed = format!("\u{feff}{proposed}");
            let call = agent.propose(&path, &proposed, "tab");
            world.run(&["accept", &world.one_pending()]).ok();
            let told = agent.texts(call).remove(1);
            assert_eq!(told, proposed);
            // Claude Code's `Write` leaves out the final newline.
            let written = encode(told.trim_end());
            std::fs::write(&path, &written).unwrap();
            let undone = world.json(&["undo", "--last"]);
            assert_eq!(world.read("file"), before);
            world.run(&["undo", undone["redo"].as_str().unwrap()]).ok();
            assert_eq!(world.read("file"), written);
        }
    }
}

#[test]
fn a_utf_16_file_stays_one() {
    let before = utf16le("\u{feff}ein Übel\r\nzwei 😀\r\n");
    assert_eq!(written(&before, "ein Übel\nDREI 😀\n"), utf16le("\u{feff}ein Übel\r\nDREI 😀\r\n"));
}

#[test]
fn a_latin_1_file_stays_one() {
    let before = b"Caf\xE9 cr\xE8me, d\xE9j\xE0 vu, \xE0 la carte\nplus tard\n";
    let after = b"Caf\xE9 cr\xE8me, d\xE9j\xE0 vu, \xE0 la carte\nplus t\xF4t\n";
    assert_eq!(written(before, "Café crème, déjà vu, à la carte\nplus tôt\n"), after);
}

#[test]
fn what_the_files_encoding_cannot_say_is_refused_and_nothing_changes() {
    let world = World::new();
    let before = b"Caf\xE9 cr\xE8me, d\xE9j\xE0 vu, \xE0 la carte\n";
    let path = world.file("file", before);
    let serve = world.serve();
    for dialect in [WsDialect::Claude, WsDialect::Nexus3] {
        let mut agent = Agent::introduced(&world, serve.port, dialect, agent::CLAUDE);
        let call = agent.propose(&path, "Café 漢字\n", "tab");
        let answer = agent.answer(call);
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("漢"), "{answer}");
        agent.is_served();
    }
    assert_eq!(world.read("file"), before);
    assert!(world.reviews().is_empty());
}

#[test]
fn the_mode_stays_and_a_symlink_stays_a_symlink() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let world = World::new();
    let path = world.file("real.sh", "one\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    symlink("real.sh", world.path("link.sh")).unwrap();
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&world.path_str("link.sh"), "two\n", "tab");
    let review = world.one_pending();
    world.run(&["accept", &review]).ok();
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert!(world.path("link.sh").is_symlink());
    assert_eq!(world.read_text("real.sh"), "two\n");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o750);
}

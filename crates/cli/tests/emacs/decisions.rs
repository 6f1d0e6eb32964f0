//! One change, one decision: the keys, the file's contents, the agent's answer.

use crate::support::*;

#[test]
fn accepting() {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "one\n2\n", "tab");
    emacs.looks_at_review();
    assert!(emacs.text().contains("\n one\n-two\n+2\n"), "{}", emacs.text());
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "one\n2\n");
    emacs.sees_no_review();
}

#[test]
fn the_agent_writes_what_was_accepted_if_it_wants_to() {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut claude = emacs.claude();
    let call = claude.propose(&path, "one\n2\n", "tab");
    emacs.looks_at_review();
    emacs.presses("a");
    assert_eq!(claude.texts(call), ["FILE_SAVED", "one\n2\n"]);
    assert_eq!(world.read_text("a.txt"), "one\ntwo\n", "one writer: the agent");
    emacs.sees_no_review();
}

#[test]
fn a_reason_reaches_the_agent() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    emacs.looks_at_review();
    emacs.types("Rthree is better\r");
    assert_eq!(nexus3.texts(call), ["DIFF_REJECTED", "three is better"]);
    assert_eq!(world.read_text("a.txt"), "one\n");
    emacs.sees_no_review();
}

#[test]
fn a_closed_buffer_leaves_the_review_pending() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    emacs.looks_at_review();
    emacs.presses("q");
    emacs.sees("no buffer", "(not (get-buffer \"*linkspan a.txt*\"))");
    assert_eq!(nexus3.answer_within(call, std::time::Duration::from_millis(500)), None);
    world.one_pending();
    assert_eq!(emacs.lisp("(linkspan-status)"), " Linkspan 1");
    emacs.looks_at_review();
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
    emacs.sees_no_review();
    assert_eq!(emacs.lisp("(linkspan-status)"), " Linkspan");
}

#[test]
fn the_edited_text_is_accepted() {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "one\n2\n", "tab");
    emacs.looks_at_review();
    emacs.presses("e");
    emacs.sees("the proposed text", "(eq linkspan--kind 'edit)");
    emacs.presses("M-> and SPC mine RET");
    emacs.sees("the text", "(string-suffix-p \"and mine\\n\" (buffer-string))");
    // Text that was not taken must not be lost.
    emacs.runs("linkspan-accept");
    emacs.says("Not decided: you are editing a.txt");
    emacs.presses("C-c C-c");
    emacs.sees("the diff", "(eq linkspan--kind 'review)");
    assert!(emacs.text().contains("+2\n+and mine\n"), "{}", emacs.text());
    emacs.presses("a");
    let received = nexus3.texts(call);
    assert_eq!(received[0], "FILE_SAVED");
    assert!(received[1].contains("+and mine"), "{received:?}");
    assert_eq!(world.read_text("a.txt"), "one\n2\nand mine\n");
    emacs.sees_no_review();
}

#[test]
fn a_text_made_in_ediff_is_accepted() {
    let world = World::new();
    let path = world.file("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let config = "(setq ediff-window-setup-function #'ediff-setup-windows-plain)";
    let mut emacs = Emacs::builder(&world).config(config).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "one\n2\n3\n4\n5\n6\n7\n8\nnine\n", "tab");
    emacs.looks_at_review();
    emacs.presses("E");
    emacs.tty().sees("Ediff Control Panel");
    // The first difference stays as it was in the file.
    emacs.presses("na");
    emacs.sees(
        "the old line",
        "(with-current-buffer \"*linkspan edit a.txt*\" (string-prefix-p \"1\\n\" (buffer-string)))",
    );
    emacs.presses("qy");
    emacs.tty().sees_no("Ediff Control Panel");
    emacs.types("\u{18}b*linkspan edit a.txt*\r\u{3}\u{3}");
    emacs.sees("the diff", "(eq linkspan--kind 'review)");
    emacs.presses("a");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    emacs.sees_no_review();
}

#[test]
fn a_comment_stays_with_its_line() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "one\ntwo\nthree\n", "tab");
    emacs.looks_at_review();
    emacs.goes_to("+two");
    emacs.types("cwhy two?\r");
    emacs.tty().sees("» why two?");
    emacs.presses("e");
    emacs.sees("the proposed text", "(eq linkspan--kind 'edit)");
    emacs.presses("M-< zero RET C-c C-c");
    emacs.sees("the diff", "(and (eq linkspan--kind 'review) (string-search \"+zero\" (buffer-string)))");
    emacs.presses("r");
    assert_eq!(nexus3.texts(call), ["DIFF_REJECTED", "line 3: why two?"]);
    assert_eq!(world.read_text("a.txt"), "one\n");
    emacs.sees_no_review();
}

#[test]
fn a_new_file_is_created_on_accept() {
    let world = World::new();
    let path = world.path_str("deep/new.txt");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "fresh\n", "tab");
    emacs.looks_at_review();
    assert!(emacs.text().starts_with("--- /dev/null\n+++ new.txt\n@@ -0,0 +1,1 @@"), "{}", emacs.text());
    assert!(!world.path("deep/new.txt").exists());
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("deep/new.txt"), "fresh\n");
    emacs.sees_no_review();
}

#[test]
fn line_endings_are_kept() {
    let world = World::new();
    let path = world.file("a.txt", "\u{feff}one\r\ntwo\r\nthree");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "one\n2\nthree", "tab");
    emacs.looks_at_review();
    emacs.presses("e");
    emacs.sees("the proposed text", "(eq linkspan--kind 'edit)");
    emacs.presses("M-< zero RET C-c C-c");
    emacs.sees("the diff", "(and (eq linkspan--kind 'review) (string-search \"+zero\" (buffer-string)))");
    emacs.presses("a");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read("a.txt"), "\u{feff}zero\r\none\r\n2\r\nthree".as_bytes());
    emacs.sees_no_review();
}

#[test]
fn the_hub_writes_for_an_agent_that_is_gone() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut claude = emacs.claude();
    claude.propose(&path, "two\n", "tab");
    emacs.looks_at_review();
    claude.drop_socket();
    emacs.tty().sees("the agent is gone");
    emacs.presses("a");
    emacs.says("Press w in its buffer");
    assert_eq!(world.read("a.txt"), b"one\n", "nothing is decided yet");
    assert_eq!(world.reviews()[0]["phase"], "pending");
    emacs.presses("w");
    emacs.sees_no_review();
    assert_eq!(world.read("a.txt"), b"two\n");
    assert_eq!(world.json(&["history"])["entries"][0]["onDisk"], true);
}

#[test]
fn what_an_agent_will_not_receive_is_said_before_the_user_types() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut claude = emacs.claude();
    claude.propose(&path, "two\n", "tab");
    emacs.looks_at_review();
    let note = emacs.lisp("(linkspan--note linkspan--here :reason)");
    let note = note.as_str().unwrap().trim();
    assert!(!note.is_empty(), "Claude Code receives no reasons");
    emacs.presses("R");
    emacs.sees(
        "the prompt",
        &format!(
            "(string-prefix-p {note:?} (with-selected-window (active-minibuffer-window) (minibuffer-prompt)))"
        ),
    );
    emacs.presses("C-g");
    world.one_pending();
}

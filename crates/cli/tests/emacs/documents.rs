//! Files that are open, edited or changed by others while a review is pending.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::support::*;

#[test]
fn unsaved_text_is_the_base() {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    let mut emacs = Emacs::builder(&world).file("a.txt").start();
    emacs.presses("mine RET");
    emacs.sees("unsaved text", "(buffer-modified-p)");
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "mine\none\ntwo\nthree\nfour\n5\n", "tab");
    emacs.looks_at_review();
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    emacs.sees_no_review();
    emacs.sees("the file", "(equal (buffer-name) \"a.txt\")");
    assert_eq!(emacs.text(), "mine\none\ntwo\nthree\nfour\n5\n");
    assert_eq!(emacs.lisp("(buffer-modified-p)"), true, "only the user saves unsaved text");
    assert_eq!(world.read_text("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
}

#[test]
fn an_accepted_change_of_an_open_file_can_be_undone() {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\n");
    let mut emacs = Emacs::builder(&world).file("a.txt").start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "1\ntwo\n3\n", "tab");
    emacs.looks_at_review();
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    emacs.sees_no_review();
    assert_eq!(world.read_text("a.txt"), "1\ntwo\n3\n", "it was clean before, so it is saved");
    emacs.sees("the file", "(equal (buffer-name) \"a.txt\")");
    assert_eq!(emacs.lisp("(buffer-modified-p)"), json!(null));
    // Both places, as one step.
    emacs.presses("C-_ C-x C-s");
    eventually("the file is as it was", || (world.read_text("a.txt") == "one\ntwo\nthree\n").then_some(()));
}

#[test]
fn an_accepted_change_keeps_markers_and_point() {
    let world = World::new();
    let path = world.file("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let mut emacs = Emacs::builder(&world).file("a.txt").start();
    emacs.goes_to("5");
    emacs.lisp("(progn (setq test-marker (point-marker)) t)");
    emacs.goes_to("7");
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "0\n1\n2\n3\n4\n5\n6\n7\n8\nnine\n", "tab");
    emacs.looks_at_review();
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    emacs.sees_no_review();
    emacs.sees("the file", "(equal (buffer-name) \"a.txt\")");
    assert_eq!(
        emacs.lisp("(list (line-number-at-pos test-marker) (line-number-at-pos (window-point)))"),
        json!([6, 8])
    );
}

#[test]
fn rules_for_saving_are_kept_and_their_text_is_what_was_accepted() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let config = "(add-hook 'before-save-hook #'delete-trailing-whitespace)";
    let mut emacs = Emacs::builder(&world).config(config).file("a.txt").start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "two  \n", "tab");
    emacs.looks_at_review();
    emacs.presses("a");
    let received = nexus3.texts(call);
    assert_eq!(received[0], "FILE_SAVED");
    assert!(received[1].contains("-two  \n+two\n"), "{received:?}");
    assert_eq!(world.read_text("a.txt"), "two\n");
}

#[test]
fn a_change_written_by_the_agent_is_read_again() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).config("(global-auto-revert-mode 1)").file("a.txt").start();
    let mut claude = emacs.claude();
    let call = claude.propose(&path, "two\n", "tab");
    emacs.looks_at_review();
    emacs.presses("a");
    assert_eq!(claude.texts(call)[0], "FILE_SAVED");
    emacs.sees_no_review();
    fs::write(&path, "two\n").unwrap();
    emacs.sees("the new text", "(equal (buffer-string) \"two\\n\")");
}

#[test]
fn a_concurrent_change_is_merged() {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "1\ntwo\nthree\nfour\nfive\n", "tab");
    emacs.looks_at_review();
    fs::write(&path, "one\ntwo\nthree\nfour\n5\n").unwrap();
    emacs.presses("a");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "1\ntwo\nthree\nfour\n5\n");
    emacs.sees_no_review();
}

#[test]
fn a_conflicting_change_needs_a_second_look() {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "one\n2\nthree\n", "tab");
    emacs.looks_at_review();
    fs::write(&path, "one\nzwei\nthree\n").unwrap();
    emacs.presses("a");
    emacs.says("Look at it again");
    assert_eq!(nexus3.answer_within(call, Duration::from_millis(500)), None);
    assert_eq!(world.read_text("a.txt"), "one\nzwei\nthree\n");
    emacs.tty().sees("conflict: the file changed here too");
    emacs.presses("a");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "one\n2\nthree\n", "now the user has seen both");
    emacs.sees_no_review();
}

#[test]
fn what_arrives_does_not_take_the_focus() {
    let world = World::new();
    let (a, b) = (world.file("a.txt", "one\n"), world.file("b.txt", "one\n"));
    let mut emacs = Emacs::builder(&world).file("mine.txt").start();
    let mut agent = OwnAgent::join(&world, "k3y");
    let mut claude = emacs.claude();
    emacs.types("before ");
    claude.propose(&a, "two\n", "first");
    emacs.types(&"x".repeat(20));
    world.pending(1);
    claude.propose(&b, "two\n", "second");
    agent.call("runInTerminal", json!({ "command": "touch ran.txt" }));
    emacs.types(&"y".repeat(20));
    world.pending(2);
    emacs.sees("a question", "(equal (linkspan-status) \" Linkspan 2 ?1\")");
    emacs.types(" after\u{18}\u{13}");
    let expected = format!("before {}{} after", "x".repeat(20), "y".repeat(20));
    eventually("all of it is in the file", || {
        (fs::read_to_string(world.path("mine.txt")).ok()?.trim_end() == expected).then_some(())
    });
    // Nor while a command is being typed.
    emacs.types("\u{1b}xlinkspan-");
    claude.propose(&world.file("c.txt", "one\n"), "two\n", "third");
    emacs.sees("another", "(equal (linkspan-status) \" Linkspan 3 ?1\")");
    emacs.types("status");
    emacs.sees("the command", "(with-current-buffer (window-buffer (active-minibuffer-window)) (equal (minibuffer-contents) \"linkspan-status\"))");
    assert_eq!((world.read_text("a.txt"), world.read_text("b.txt")), ("one\n".into(), "one\n".into()));
    assert_eq!(emacs.lisp("(length (window-list nil 'no-minibuffer))"), 1);
}

#[test]
fn an_open_file_with_windows_line_endings_is_changed_in_place() {
    let world = World::new();
    let path = world.file("a.txt", "\u{feff}one\r\ntwo\r\nthree");
    let mut emacs = Emacs::builder(&world).file("a.txt").start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "one\n2\nthree", "tab");
    emacs.looks_at_review();
    emacs.presses("a");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    emacs.sees_no_review();
    assert_eq!(world.read("a.txt"), "\u{feff}one\r\n2\r\nthree".as_bytes());
    emacs.sees("the file", "(equal (buffer-name) \"a.txt\")");
    assert_eq!(emacs.text(), "one\n2\nthree");
}

#[test]
fn a_file_of_ascii_may_get_other_characters() {
    let world = World::new();
    let path = world.file("a.txt", "one\r\ntwo\r\n");
    let mut emacs = Emacs::builder(&world).file("a.txt").start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "one\r\nzwölf 😀\r\n", "tab");
    emacs.looks_at_review();
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read("a.txt"), "one\r\nzwölf 😀\r\n".as_bytes());
    emacs.sees_no_review();
}

#[test]
fn an_encoding_without_the_new_characters_is_said_and_nothing_is_lost() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).file("a.txt").start();
    emacs.lisp("(progn (set-buffer-file-coding-system 'latin-1-unix) (save-buffer) t)");
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "\u{20ac}\n", "tab");
    emacs.looks_at_review();
    emacs.presses("a");
    emacs.says("does not have every character");
    let answer = nexus3.answer(call).to_string();
    assert!(answer.contains("could not save it"), "{answer}");
    assert_eq!(world.read_text("a.txt"), "one\n");
    emacs.sees("the text", "(equal (with-current-buffer \"a.txt\" (buffer-string)) \"\u{20ac}\\n\")");
}

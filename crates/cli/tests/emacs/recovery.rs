//! Emacsen, programs and hubs that are lost and come back: agents stay connected, reviews come back, decisions count.

use rustix::process::Signal;
use serde_json::json;

use crate::support::world::{alive, signal};
use crate::support::*;

#[test]
fn a_killed_hub_is_restarted() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    nexus3.propose(&path, "two\n", "tab");
    emacs.looks_at_review();
    // A draft that is not sent yet.
    emacs.presses("e");
    emacs.sees("the proposed text", "(eq linkspan--kind 'edit)");
    emacs.presses("M-> mine RET");
    let (review, port) = (world.one_pending(), emacs.port());
    world.kill_hub();
    nexus3.end();
    eventually("a new hub", || (world.status()["windows"][0]["attached"] == json!(true)).then_some(()));
    emacs.is_attached();
    assert_eq!(emacs.port(), port, "it keeps its port");
    assert_eq!(world.one_pending(), review);
    // The agent reconnects and proposes the same change: it is the same review.
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    emacs.presses("C-c C-c");
    emacs.sees("the diff", "(and (eq linkspan--kind 'review) (string-search \"+mine\" (buffer-string)))");
    emacs.presses("a");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "two\nmine\n");
    emacs.sees_no_review();
}

#[test]
fn a_killed_program_is_restarted() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).start();
    let port = emacs.port();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    emacs.looks_at_review();
    let attach = |pid: &u32| {
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        arguments.split(|byte| *byte == 0).any(|argument| argument == b"attach")
    };
    let program = world.processes().into_iter().find(attach).unwrap();
    signal(program, Signal::KILL);
    eventually("the program is dead", || (!alive(program)).then_some(()));
    emacs.sees("it is gone", "(eq linkspan--state 'away)");
    emacs.is_attached();
    assert_eq!(emacs.port(), port);
    nexus3.is_served();
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
    emacs.sees_no_review();
}

#[test]
fn a_killed_emacs_leaves_the_review_to_the_next() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).start();
    let port = emacs.port();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    emacs.looks_at_review();
    emacs.kill();
    eventually("its window is away", || {
        (world.status()["windows"][0]["attached"] == json!(false)).then_some(())
    });
    nexus3.is_served();
    let mut emacs = Emacs::builder(&world).start();
    assert_eq!(emacs.port(), port, "the same window");
    emacs.looks_at_review();
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
}

#[test]
fn quitting_keeps_the_text_that_was_typed_last() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    emacs.looks_at_review();
    emacs.presses("e");
    emacs.sees("the proposed text", "(eq linkspan--kind 'edit)");
    emacs.presses("M-> mine RET C-x C-c");
    eventually("its window is away", || {
        (world.status()["windows"][0]["attached"] == json!(false)).then_some(())
    });
    drop(emacs);
    let mut emacs = Emacs::builder(&world).start();
    emacs.looks_at_review();
    assert!(emacs.text().contains("+two\n+mine\n"), "{}", emacs.text());
    emacs.presses("a");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "two\nmine\n");
}

#[test]
fn an_accepted_change_is_undone_from_the_history() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    emacs.looks_at_review();
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    emacs.runs("linkspan-undo");
    emacs.says("undone: a.txt");
    assert_eq!(world.read_text("a.txt"), "one\n");
    emacs.runs("linkspan-history");
    emacs.sees("the list", "(derived-mode-p 'linkspan-history-mode)");
    emacs.presses("M-< u");
    eventually("it is redone", || (world.read_text("a.txt") == "two\n").then_some(()));
}

#[test]
fn turning_the_mode_off_closes_the_window() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    emacs.looks_at_review();
    emacs.runs("linkspan-mode");
    emacs.sees_no_review();
    // Its agent still waits, so the window may come back.
    eventually("no editor", || (world.status()["windows"][0]["attached"] == json!(false)).then_some(()));
    assert_eq!(emacs.lisp("(getenv \"LINKSPAN_WINDOW\")"), json!(null));
    emacs.runs("linkspan-mode");
    emacs.looks_at_review();
    emacs.presses("r");
    assert_eq!(nexus3.texts(call), ["DIFF_REJECTED"]);
    emacs.sees_no_review();
    emacs.runs("linkspan-mode");
    eventually("no window", || (world.status()["windows"] == json!([])).then_some(()));
}

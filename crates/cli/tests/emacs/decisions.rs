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

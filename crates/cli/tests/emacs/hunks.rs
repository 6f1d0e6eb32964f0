//! Part of a change: two hunks of three, by marks.

use crate::support::*;

const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
const THREE_HUNKS: &str = "one\n2\n3\n4\n5\nsix\n7\n8\n9\n10\n11\ntwelve\n";
const FIRST_AND_THIRD: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve\n";

/// With an agent that writes the file itself and with one that does not.
#[track_caller]
fn check(choose: impl Fn(&mut Emacs<'_>)) {
    let world = World::new();
    let path = world.file("a.txt", BASE);
    let mut emacs = Emacs::builder(&world).start();
    let mut claude = emacs.claude();
    let call = claude.propose(&path, THREE_HUNKS, "tab");
    emacs.looks_at_review();
    choose(&mut emacs);
    assert_eq!(claude.texts(call), ["FILE_SAVED", FIRST_AND_THIRD]);
    emacs.sees_no_review();
    assert_eq!(world.read_text("a.txt"), BASE, "one writer: the agent");

    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, THREE_HUNKS, "tab");
    emacs.looks_at_review();
    choose(&mut emacs);
    let received = nexus3.texts(call);
    assert_eq!(received[0], "FILE_SAVED");
    assert!(received[1].contains("\n-six\n+6\n"), "the hunk that was left out follows: {received:?}");
    assert_eq!(world.read_text("a.txt"), FIRST_AND_THIRD);
    emacs.sees_no_review();
}

#[test]
fn when_every_hunk_is_marked_the_change_is_decided() {
    check(|emacs| {
        // Each mark goes to the next hunk.
        emacs.presses("y");
        emacs.tty().sees("hunk 1 of 3: accepted");
        emacs.presses("x");
        emacs.tty().sees("hunk 2 of 3: left out");
        // Two changes of mind.
        emacs.presses("px");
        emacs.sees("no mark", "(not (string-search \"left out\" (buffer-string)))");
        emacs.presses("xy");
    });
}

#[test]
fn accepting_includes_hunks_without_a_mark() {
    check(|emacs| {
        emacs.presses("nx");
        emacs.tty().sees("hunk 2 of 3: left out");
        emacs.presses("a");
    });
}

#[test]
fn marks_survive_a_hub_that_is_killed() {
    let world = World::new();
    let path = world.file("a.txt", BASE);
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    nexus3.propose(&path, THREE_HUNKS, "tab");
    emacs.looks_at_review();
    emacs.presses("nx");
    emacs.tty().sees("hunk 2 of 3: left out");
    world.kill_hub();
    nexus3.end();
    eventually("a new hub", || (world.status()["windows"][0]["attached"] == true).then_some(()));
    emacs.is_attached();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, THREE_HUNKS, "tab");
    emacs.tty().sees("hunk 2 of 3: left out");
    emacs.runs("linkspan-accept");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), FIRST_AND_THIRD);
}

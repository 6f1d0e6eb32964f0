//! Several reviews at once, from one agent and from two, and the ways to go through them.

use serde_json::json;

use crate::support::*;

#[test]
fn five_files_are_accepted_at_once() {
    let world = World::new();
    let mut emacs = Emacs::builder(&world).start();
    let mut agent = OwnAgent::join(&world, "five");
    let names = ["a.txt", "b.txt", "c/d.txt", "e.txt", "f.txt"];
    let calls = names.map(|name| {
        let path = world.file(name, "one\n");
        agent
            .call("proposeChange", json!({ "path": path, "newText": format!("two {name}\n"), "set": "five" }))
    });
    emacs.sees("five reviews", "(equal (linkspan-status) \" Linkspan 5\")");
    emacs.types("\u{1b}xlinkspan-accept-all\ry");
    for (name, call) in names.into_iter().zip(calls) {
        let result = agent.told(call);
        assert_eq!((&result["outcome"], &result["written"]), (&json!("accepted"), &json!(true)));
        assert_eq!(world.read_text(name), format!("two {name}\n"));
    }
    emacs.sees_no_review();
}

#[test]
fn a_set_is_rejected_and_the_rest_stays() {
    let world = World::new();
    let mut emacs = Emacs::builder(&world).start();
    let mut agent = OwnAgent::join(&world, "set");
    let calls = ["a.txt", "b.txt"].map(|name| {
        let path = world.file(name, "one\n");
        agent.call("proposeChange", json!({ "path": path, "newText": "two\n", "set": "both" }))
    });
    // In this order.
    world.pending(2);
    let other = world.file("c.txt", "one\n");
    let other = agent.call("proposeChange", json!({ "path": other, "newText": "two\n" }));
    emacs.sees("three reviews", "(equal (linkspan-status) \" Linkspan 3\")");
    emacs.looks_at_review();
    emacs.types("\u{15}\u{1b}xlinkspan-reject-all\ry");
    for call in calls {
        assert_eq!(agent.told(call)["outcome"], "rejected");
    }
    emacs.sees("one review", "(equal (linkspan-status) \" Linkspan 1\")");
    emacs.runs("linkspan-accept");
    assert_eq!(agent.told(other)["outcome"], "accepted");
    assert_eq!((world.read_text("a.txt"), world.read_text("c.txt")), ("one\n".into(), "two\n".into()));
}

#[test]
fn each_of_two_agents_receives_its_own_decision() {
    let world = World::new();
    let (a, b) = (world.file("a.txt", "one\n"), world.file("b.txt", "one\n"));
    let mut emacs = Emacs::builder(&world).start();
    let (mut claude, mut nexus3) = (emacs.claude(), emacs.nexus3());
    let of_claude = claude.propose(&a, "two\n", "tab");
    world.pending(1);
    let of_nexus3 = nexus3.propose(&b, "three\n", "tab");
    emacs.sees("two reviews", "(equal (linkspan-status) \" Linkspan 2\")");
    emacs.looks_at_review();
    assert_eq!(emacs.lisp("(buffer-name)"), "*linkspan a.txt*");
    emacs.presses("N");
    emacs.sees("the other one", "(equal (buffer-name) \"*linkspan b.txt*\")");
    emacs.presses("PN");
    emacs.types("Rno\r");
    assert_eq!(nexus3.texts(of_nexus3), ["DIFF_REJECTED", "no"]);
    emacs.sees("one review", "(equal (linkspan-status) \" Linkspan 1\")");
    emacs.runs("linkspan-accept");
    assert_eq!(claude.texts(of_claude), ["FILE_SAVED", "two\n"]);
    assert_eq!((world.read_text("a.txt"), world.read_text("b.txt")), ("one\n".into(), "one\n".into()));
}

#[test]
fn the_list_opens_and_decides() {
    let world = World::new();
    let (a, b) = (world.file("a.txt", "one\n"), world.file("b.txt", "one\n"));
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let first = nexus3.propose(&a, "two\n", "a");
    world.pending(1);
    emacs.runs("linkspan-list");
    emacs.tty().sees("a.txt");
    // The list shows what arrives later.
    let second = nexus3.propose(&b, "three\n", "b");
    emacs.tty().sees("b.txt");
    emacs.goes_to("b.txt");
    emacs.presses("a");
    assert_eq!(nexus3.texts(second), ["FILE_SAVED"]);
    emacs.tty().sees_no("b.txt ");
    emacs.goes_to("a.txt");
    emacs.presses("RET");
    emacs.sees("the diff", "(eq linkspan--kind 'review)");
    emacs.presses("a");
    assert_eq!(nexus3.texts(first), ["FILE_SAVED"]);
    assert_eq!((world.read_text("a.txt"), world.read_text("b.txt")), ("two\n".into(), "three\n".into()));
}

#[test]
fn two_emacsen_on_one_folder_each_have_their_own() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let (first, mut second) = (Emacs::builder(&world).start(), Emacs::builder(&world).start());
    assert_ne!(first.port(), second.port());
    let mut agent = second.nexus3();
    let call = agent.propose(&path, "two\n", "tab");
    second.looks_at_review();
    assert_eq!(first.lisp("(length linkspan--reviews)"), 0);
    second.presses("a");
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
}

#[test]
fn a_hundred_changes_that_arrive_do_not_stop_the_user_from_typing() {
    let world = World::new();
    let mut emacs = Emacs::builder(&world).file("mine.txt").start();
    let mut agent = OwnAgent::join(&world, "many");
    for number in 0..100 {
        let path = world.file(&format!("{number}.txt"), "one\n");
        agent.call("proposeChange", json!({ "path": path, "newText": "two\n" }));
        if number == 50 {
            emacs.types("in the middle ");
        }
    }
    emacs.types("of it");
    emacs.sees("all of them", "(equal (linkspan-status) \" Linkspan 100\")");
    emacs.types(" at the end\u{18}\u{13}");
    eventually("the text is saved", || {
        let text = std::fs::read_to_string(world.path("mine.txt")).ok()?;
        (text.trim_end() == "in the middle of it at the end").then_some(())
    });
}

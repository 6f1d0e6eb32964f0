//! Several reviews at once, from one agent and from two, and the ways to go through them.

use serde_json::json;

use crate::scenarios;
use crate::support::*;

scenarios! {
    five_files_are_accepted_at_once
    a_set_is_rejected_with_one_reason
    each_of_two_agents_receives_its_own_decision
    the_list_has_every_hunk
    a_hundred_changes_that_arrive_do_not_stop_the_user_from_typing
    two_neovims_on_one_folder_each_have_their_own
}

fn five_files_are_accepted_at_once(version: NeovimVersion) {
    let world = World::new();
    let neovim = Neovim::builder(&world, version).start();
    let mut agent = OwnAgent::join(&world, "five");
    let names = ["a.txt", "b.txt", "c/d.txt", "e.txt", "f.txt"];
    let calls = names.map(|name| {
        let path = world.file(name, "one\n");
        agent
            .call("proposeChange", json!({ "path": path, "newText": format!("two {name}\n"), "set": "five" }))
    });
    neovim.sees("five reviews", "return require('linkspan').status() == 'linkspan 5'");
    neovim.runs("Linkspan accept all");
    for (name, call) in names.into_iter().zip(calls) {
        let result = agent.told(call);
        assert_eq!((&result["outcome"], &result["written"]), (&json!("accepted"), &json!(true)));
        assert_eq!(world.read_text(name), format!("two {name}\n"));
    }
    neovim.sees_no_review();
}

fn a_set_is_rejected_with_one_reason(version: NeovimVersion) {
    let world = World::new();
    let neovim = Neovim::builder(&world, version).start();
    let mut agent = OwnAgent::join(&world, "set");
    let calls = ["a.txt", "b.txt"].map(|name| {
        let path = world.file(name, "one\n");
        agent.call("proposeChange", json!({ "path": path, "newText": "two\n", "set": "both" }))
    });
    // In this order.
    world.pending(2);
    let other = world.file("c.txt", "one\n");
    let other = agent.call("proposeChange", json!({ "path": other, "newText": "two\n" }));
    neovim.sees("three reviews", "return require('linkspan').status() == 'linkspan 3'");
    neovim.runs("Linkspan next");
    neovim.runs("Linkspan reject set not now");
    for call in calls {
        let result = agent.told(call);
        assert_eq!(
            (&result["outcome"], &result["reason"]),
            (&json!("rejected"), &json!("not now")),
            "{result}"
        );
    }
    neovim.sees("one review", "return require('linkspan').status() == 'linkspan 1'");
    neovim.runs("Linkspan accept");
    assert_eq!(agent.told(other)["outcome"], "accepted");
    assert_eq!((world.read_text("a.txt"), world.read_text("c.txt")), ("one\n".into(), "two\n".into()));
}

fn each_of_two_agents_receives_its_own_decision(version: NeovimVersion) {
    let world = World::new();
    let (a, b) = (world.file("a.txt", "one\n"), world.file("b.txt", "one\n"));
    let neovim = Neovim::builder(&world, version).start();
    let (mut claude, mut nexus3) = (neovim.claude(), neovim.nexus3());
    let of_claude = claude.propose(&a, "two\n", "tab");
    world.pending(1);
    let of_nexus3 = nexus3.propose(&b, "three\n", "tab");
    neovim.sees("two reviews", "return require('linkspan').status() == 'linkspan 2'");
    neovim.runs("Linkspan previous");
    neovim.sees("the last one", "return vim.api.nvim_buf_get_name(0):find('b.txt', 1, true) ~= nil");
    neovim.presses("]r[r");
    neovim.presses("gRno<CR>");
    assert_eq!(nexus3.texts(of_nexus3), ["DIFF_REJECTED", "no"]);
    neovim.sees("one review", "return require('linkspan').status() == 'linkspan 1'");
    neovim.runs("Linkspan accept");
    assert_eq!(claude.texts(of_claude), ["FILE_SAVED", "two\n"]);
    assert_eq!((world.read_text("a.txt"), world.read_text("b.txt")), ("one\n".into(), "one\n".into()));
}

fn the_list_has_every_hunk(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "one\n2\n3\n4\n5\n6\n7\n8\nnine\n", "tab");
    neovim.sees("a review", "return #require('linkspan.reviews').pending() == 1");
    neovim.runs("Linkspan list");
    neovim.sees("the list", "return vim.bo.buftype == 'quickfix'");
    assert_eq!(neovim.lines().len(), 2);
    neovim.presses("G<CR>");
    neovim.sees(
        "the second hunk",
        "return vim.fn.line('.') == 9 and vim.api.nvim_get_current_line() == 'nine'",
    );
    neovim.presses("-");
    neovim.sees("its mark", "return next(require('linkspan.reviews').pending()[1].marks) ~= nil");
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "one\n2\n3\n4\n5\n6\n7\n8\n9\n");
}

fn two_neovims_on_one_folder_each_have_their_own(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let (first, second) =
        (Neovim::builder(&world, version).start(), Neovim::builder(&world, version).start());
    assert_ne!(first.port(), second.port());
    let mut agent = second.nexus3();
    let call = agent.propose(&path, "two\n", "tab");
    second.looks_at_review();
    assert_eq!(first.lua("return #require('linkspan.reviews').pending()"), 0);
    second.presses("ga");
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
}

fn a_hundred_changes_that_arrive_do_not_stop_the_user_from_typing(version: NeovimVersion) {
    let world = World::new();
    let mut neovim = Neovim::builder(&world, version).in_terminal(80, 24).file("mine.txt").start();
    let mut agent = OwnAgent::join(&world, "many");
    for number in 0..100 {
        let path = world.file(&format!("{number}.txt"), "one\n");
        agent.call("proposeChange", json!({ "path": path, "newText": "two\n" }));
        if number == 50 {
            neovim.tty().types("iin the middle ");
        }
    }
    neovim.tty().types("of it");
    neovim.sees("all of them", "return #require('linkspan.reviews').pending() == 100");
    neovim.tty().types(" at the end\u{1b}:w\r");
    eventually("the text is saved", || {
        let text = std::fs::read_to_string(world.path("mine.txt")).ok()?;
        (text == "in the middle of it at the end\n").then_some(())
    });
    let screen = neovim.tty().text();
    assert!(!screen.contains("Press ENTER"), "{screen}");
}

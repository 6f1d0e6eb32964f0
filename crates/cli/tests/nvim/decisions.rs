//! One change, one decision: the keys, the file's contents, the agent's answer.

use crate::scenarios;
use crate::support::*;

scenarios! {
    accepting_by_writing_the_proposed_side
    accepting_by_a_key
    a_reason_reaches_the_agent
    a_closed_tab_page_leaves_the_review_pending
    the_edited_text_is_accepted
    a_comment_names_its_line
    a_new_file_is_created_on_accept
    line_endings_are_kept
    the_hub_writes_for_an_agent_that_is_gone
}

fn accepting_by_writing_the_proposed_side(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "one\n2\n", "tab");
    neovim.looks_at_review();
    assert_eq!(neovim.lines(), ["one", "2"]);
    assert_eq!(neovim.lua("return #vim.api.nvim_list_tabpages()"), 2);
    neovim.runs("write");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "one\n2\n");
    neovim.sees_no_review();
    neovim.sees("only the first tab page", "return #vim.api.nvim_list_tabpages() == 1");
}

fn accepting_by_a_key(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut claude = neovim.claude();
    let call = claude.propose(&path, "one\n2\n", "tab");
    neovim.looks_at_review();
    neovim.presses("ga");
    assert_eq!(claude.texts(call), ["FILE_SAVED", "one\n2\n"]);
    assert_eq!(world.read_text("a.txt"), "one\ntwo\n", "one writer: the agent");
    neovim.sees_no_review();
}

fn a_reason_reaches_the_agent(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    neovim.looks_at_review();
    neovim.presses("gRthree is better<CR>");
    assert_eq!(nexus3.texts(call), ["DIFF_REJECTED", "three is better"]);
    assert_eq!(world.read_text("a.txt"), "one\n");
    neovim.sees_no_review();
}

fn a_closed_tab_page_leaves_the_review_pending(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    neovim.looks_at_review();
    neovim.runs("quit");
    neovim.sees("only the first tab page", "return #vim.api.nvim_list_tabpages() == 1");
    assert_eq!(nexus3.answer_within(call, std::time::Duration::from_millis(500)), None);
    world.one_pending();
    assert_eq!(neovim.lua("return require('linkspan').status()"), "linkspan 1");
    neovim.looks_at_review();
    neovim.runs("Linkspan accept");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
    neovim.sees_no_review();
    assert_eq!(neovim.lua("return require('linkspan').status()"), "linkspan");
}

fn the_edited_text_is_accepted(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "one\n2\n", "tab");
    neovim.looks_at_review();
    // At once: text that was just typed must not be lost.
    neovim.presses("Goand mine<Esc>:w<CR>");
    let received = nexus3.texts(call);
    assert_eq!(received[0], "FILE_SAVED");
    assert!(received[1].contains("+and mine"), "{received:?}");
    assert_eq!(world.read_text("a.txt"), "one\n2\nand mine\n");
    neovim.sees_no_review();
}

fn a_comment_names_its_line(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "one\ntwo\nthree\n", "tab");
    neovim.looks_at_review();
    neovim.presses("2GgCwhy two?<CR>");
    // The comment stays with its line.
    neovim.presses("ggOzero<Esc>gR<CR>");
    assert_eq!(nexus3.texts(call), ["DIFF_REJECTED", "line 3: why two?"]);
    assert_eq!(world.read_text("a.txt"), "one\n");
    neovim.sees_no_review();
}

fn a_new_file_is_created_on_accept(version: NeovimVersion) {
    let world = World::new();
    let path = world.path_str("deep/new.txt");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "fresh\n", "tab");
    neovim.looks_at_review();
    assert_eq!(neovim.lines(), ["fresh"]);
    assert!(!world.path("deep/new.txt").exists());
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("deep/new.txt"), "fresh\n");
    neovim.sees_no_review();
}

fn line_endings_are_kept(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "\u{feff}one\r\ntwo\r\nthree");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "one\n2\nthree", "tab");
    neovim.looks_at_review();
    neovim.presses("ggOzero<Esc>ga");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read("a.txt"), "\u{feff}zero\r\none\r\n2\r\nthree".as_bytes());
    neovim.sees_no_review();
}

fn the_hub_writes_for_an_agent_that_is_gone(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut claude = neovim.claude();
    claude.propose(&path, "two\n", "tab");
    neovim.looks_at_review();
    claude.drop_socket();
    neovim.sees("agent gone", "return vim.wo.winbar:find('the agent is gone', 1, true) ~= nil");
    neovim.presses("ga");
    neovim.asks();
    assert_eq!(world.read("a.txt"), b"one\n", "nothing is decided yet");
    assert_eq!(world.reviews()[0]["phase"], "pending");
    neovim.presses("1<CR>");
    neovim.sees_no_review();
    assert_eq!(world.read("a.txt"), b"two\n");
    assert_eq!(world.json(&["history"])["entries"][0]["onDisk"], true);
}

//! Files that are open, edited or changed by others while a review is pending.

use std::fs;
use std::time::Duration;

use crate::scenarios;
use crate::support::*;

scenarios! {
    unsaved_text_is_the_base
    an_accepted_change_of_an_open_file_can_be_undone
    an_accepted_change_keeps_marks_and_the_cursor
    a_change_written_by_the_agent_is_read_again
    a_concurrent_change_is_merged
    a_conflicting_change_needs_a_second_look
    a_review_does_not_take_the_cursor
    an_open_file_with_windows_line_endings_is_changed_in_place
}

fn unsaved_text_is_the_base(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    let neovim = Neovim::builder(&world, version).file("a.txt").start();
    neovim.presses("ggOmine<Esc>");
    neovim.sees("unsaved text", "return vim.bo.modified");
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "mine\none\ntwo\nthree\nfour\n5\n", "tab");
    neovim.looks_at_review();
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    neovim.sees_no_review();
    assert_eq!(neovim.lines(), ["mine", "one", "two", "three", "four", "5"]);
    assert_eq!(neovim.lua("return vim.bo.modified"), true, "only the user saves unsaved text");
    assert_eq!(world.read_text("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
}

fn an_accepted_change_of_an_open_file_can_be_undone(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\n");
    let neovim = Neovim::builder(&world, version).file("a.txt").start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "1\ntwo\n3\n", "tab");
    neovim.looks_at_review();
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    neovim.sees_no_review();
    assert_eq!(world.read_text("a.txt"), "1\ntwo\n3\n", "it was clean before, so it is saved");
    assert_eq!(
        neovim.lua("return { vim.fn.expand('%:t'), vim.bo.modified }"),
        serde_json::json!(["a.txt", false])
    );
    // Both places, as one step.
    neovim.presses("u:w<CR>");
    eventually("the file is as it was", || (world.read_text("a.txt") == "one\ntwo\nthree\n").then_some(()));
}

fn an_accepted_change_keeps_marks_and_the_cursor(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let neovim = Neovim::builder(&world, version).file("a.txt").start();
    neovim.presses("5Gma7G");
    neovim.sees("the cursor", "return vim.fn.line('.') == 7");
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "0\n1\n2\n3\n4\n5\n6\n7\n8\nnine\n", "tab");
    neovim.looks_at_review();
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    neovim.sees_no_review();
    assert_eq!(neovim.lua("return { vim.fn.line(\"'a\"), vim.fn.line('.') }"), serde_json::json!([6, 8]));
}

fn a_change_written_by_the_agent_is_read_again(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let neovim = Neovim::builder(&world, version).file("a.txt").start();
    let mut claude = neovim.claude();
    let call = claude.propose(&path, "two\n", "tab");
    neovim.looks_at_review();
    neovim.presses("ga");
    assert_eq!(claude.texts(call)[0], "FILE_SAVED");
    neovim.sees_no_review();
    fs::write(&path, "two\n").unwrap();
    // As when the user comes back from the agent's terminal.
    neovim.runs("doautocmd FocusGained");
    neovim.sees(
        "the new text",
        "vim.cmd('checktime') return vim.api.nvim_buf_get_lines(0, 0, -1, true)[1] == 'two'",
    );
}

fn a_concurrent_change_is_merged(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "1\ntwo\nthree\nfour\nfive\n", "tab");
    neovim.looks_at_review();
    fs::write(&path, "one\ntwo\nthree\nfour\n5\n").unwrap();
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "1\ntwo\nthree\nfour\n5\n");
    neovim.sees_no_review();
}

fn a_conflicting_change_needs_a_second_look(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "one\n2\nthree\n", "tab");
    neovim.looks_at_review();
    fs::write(&path, "one\nzwei\nthree\n").unwrap();
    neovim.presses("ga");
    neovim.says("Look at it again");
    assert_eq!(nexus3.answer_within(call, Duration::from_millis(500)), None);
    assert_eq!(world.read_text("a.txt"), "one\nzwei\nthree\n");
    neovim.sees("the conflict", "return vim.wo.winbar:find('1 conflicts', 1, true) ~= nil");
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "one\n2\nthree\n", "now the user has seen both");
    neovim.sees_no_review();
}

fn a_review_does_not_take_the_cursor(version: NeovimVersion) {
    let world = World::new();
    let (a, b) = (world.file("a.txt", "one\n"), world.file("b.txt", "one\n"));
    let neovim = Neovim::builder(&world, version).file("mine.txt").start();
    neovim.presses("ibefore ");
    let mut claude = neovim.claude();
    claude.propose(&a, "two\n", "first");
    neovim.presses(&"x".repeat(20));
    world.pending(1);
    claude.propose(&b, "two\n", "second");
    neovim.presses(&"y".repeat(20));
    world.pending(2);
    neovim.presses(" after<Esc>:w<CR>");
    let expected = format!("before {}{} after\n", "x".repeat(20), "y".repeat(20));
    eventually("all of it is in the file", || {
        (fs::read_to_string(world.path("mine.txt")).ok()? == expected).then_some(())
    });
    assert_eq!((world.read_text("a.txt"), world.read_text("b.txt")), ("one\n".into(), "one\n".into()));
    assert_eq!(neovim.lua("return #vim.api.nvim_list_tabpages()"), 1);
}

fn an_open_file_with_windows_line_endings_is_changed_in_place(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "\u{feff}one\r\ntwo\r\nthree");
    let neovim = Neovim::builder(&world, version).file("a.txt").start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "one\n2\nthree", "tab");
    neovim.looks_at_review();
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    neovim.sees_no_review();
    assert_eq!(world.read("a.txt"), "\u{feff}one\r\n2\r\nthree".as_bytes());
    assert_eq!(neovim.lines(), ["one", "2", "three"]);
}

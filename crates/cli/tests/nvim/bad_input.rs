//! Unusual conditions: a program that is missing, buffers that disappear, files that are not UTF-8, large, read-only or open
//! elsewhere, a narrow terminal. Each is said once, and no review is lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::json;

use crate::scenarios;
use crate::support::*;

/// Twice as long as a change has to be on the screen before a key decides.
const LOOK: Duration = Duration::from_millis(800);

scenarios! {
    without_the_program_there_is_one_message_and_checkhealth_says_why
    a_program_that_is_not_linkspan_is_said_to_end
    a_buffer_deleted_under_review_is_made_again
    a_read_only_buffer_is_changed_but_not_saved
    a_buffer_that_is_not_utf8_is_changed_in_its_encoding
    a_binary_buffer_does_not_end_the_connection
    a_swap_file_of_another_neovim_asks_nothing
    an_agent_that_saves_does_not_overwrite_what_others_wrote
    a_newer_proposal_does_not_replace_the_users_text
    a_conflict_keeps_text_that_is_not_sent_yet
    a_file_of_many_lines_is_reviewed
    a_narrow_terminal_has_both_texts_and_no_prompt
    the_home_folder_is_not_a_project
}

fn without_the_program_there_is_one_message_and_checkhealth_says_why(version: NeovimVersion) {
    let world = World::new();
    let config = "require('linkspan').setup({ program = '/nowhere/linkspan' })";
    let neovim = Neovim::builder(&world, version).config(config).not_attached().start();
    neovim.says("`program` is /nowhere/linkspan, which cannot be executed");
    neovim.runs("checkhealth linkspan");
    neovim.sees(
        "the report",
        "local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n')
        return text:find('ERROR `program` is /nowhere/linkspan', 1, true) ~= nil",
    );
    let said = neovim.messages();
    assert_eq!(said.matches("error: `program`").count(), 1, "{said}");
}

fn a_program_that_is_not_linkspan_is_said_to_end(version: NeovimVersion) {
    let world = World::new();
    let program = world.path_str("linkspan");
    let config = format!("require('linkspan').setup({{ program = '{program}' }})");
    for (code, why) in [(6, "the running hub has a different version"), (2, "ended with code 2; :LspLog")] {
        fs::write(&program, format!("#!/bin/sh\nexit {code}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let neovim = Neovim::builder(&world, version).config(&config).not_attached().start();
        neovim.says(why);
        assert_eq!(neovim.lua("return require('linkspan').status()"), "linkspan: failed");
    }
}

fn a_buffer_deleted_under_review_is_made_again(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    neovim.looks_at_review();
    neovim.runs("bwipeout!");
    neovim.sees("only the first tab page", "return #vim.api.nvim_list_tabpages() == 1");
    world.one_pending();
    neovim.looks_at_review();
    assert_eq!(neovim.lines(), ["two"]);
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
    neovim.sees_no_review();
}

fn a_read_only_buffer_is_changed_but_not_saved(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let neovim = Neovim::builder(&world, version).file("a.txt").start();
    neovim.lua("vim.bo.readonly = true");
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    neovim.looks_at_review();
    neovim.presses("ga");
    neovim.says("was changed here but not saved: the buffer is read-only");
    let answer = nexus3.answer(call).to_string();
    assert!(answer.contains("could not save it"), "{answer}");
    assert_eq!(world.read_text("a.txt"), "one\n");
    neovim.sees_no_review();
    assert_eq!(neovim.lines(), ["two"]);
    neovim.presses(":w!<CR>");
    eventually("the user saves it", || (world.read_text("a.txt") == "two\n").then_some(()));
}

fn a_buffer_that_is_not_utf8_is_changed_in_its_encoding(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", b"caf\xe9\none\n");
    let neovim = Neovim::builder(&world, version).file("a.txt").start();
    assert_eq!(neovim.lua("return vim.bo.fileencoding"), "latin1");
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "café\ntwo\n", "tab");
    let answer = nexus3.answer_within(call, Duration::from_millis(500));
    if answer.is_none() {
        neovim.looks_at_review();
        neovim.presses("ga");
        assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
        assert_eq!(world.read("a.txt"), b"caf\xe9\ntwo\n");
    } else {
        // The hub does not read this encoding, and says so.
        assert_eq!(world.read("a.txt"), b"caf\xe9\none\n");
    }
    neovim.is_attached();
}

fn a_binary_buffer_does_not_end_the_connection(version: NeovimVersion) {
    let world = World::new();
    world.file("a.txt", b"one \xff\xfe two\n");
    let other = world.file("b.txt", "one\n");
    let neovim = Neovim::builder(&world, version).start();
    neovim.runs("edit ++enc=utf-8 ++bad=keep a.txt");
    let mut claude = neovim.claude();
    neovim.presses("V");
    let found = claude.find(DEADLINE, |message| {
        message["params"]["text"].as_str().is_some_and(|text| text.contains("two"))
    });
    assert!(found.is_some(), "the selection is sent, without the bytes that JSON cannot have");
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&other, "two\n", "tab");
    neovim.presses("<Esc>");
    neovim.looks_at_review();
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
}

fn a_swap_file_of_another_neovim_asks_nothing(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let first = Neovim::builder(&world, version).file("a.txt").start();
    first.presses("oswap<Esc>");
    first.lua("vim.cmd('preserve')");
    let second = Neovim::builder(&world, version).start();
    let mut agent = second.claude();
    let arguments = json!({ "filePath": path, "preview": false, "makeFrontmost": true });
    agent.call("openFile", arguments);
    second.sees("the file", "return vim.fn.expand('%:t') == 'a.txt'");
    assert_eq!(second.lines(), ["one"]);
}

fn an_agent_that_saves_does_not_overwrite_what_others_wrote(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let neovim = Neovim::builder(&world, version).file("a.txt").start();
    let mut claude = neovim.claude();
    neovim.presses("omine<Esc>");
    neovim.sees("a change", "return vim.bo.modified");
    fs::write(&path, "of others, and longer\n").unwrap();
    let answer = claude.call("saveDocument", json!({ "filePath": path })).to_string();
    assert!(answer.contains("changed on disk"), "{answer}");
    assert_eq!(world.read_text("a.txt"), "of others, and longer\n");
    assert_eq!(neovim.lines(), ["one", "mine"]);
    assert_eq!(neovim.lua("return vim.bo.modified"), true);
}

fn a_newer_proposal_does_not_replace_the_users_text(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "one\n2\nthree\nfour\nfive\n", "tab");
    neovim.looks_at_review();
    // What is typed is not sent by itself, as if all of it had been typed a moment ago.
    neovim.lua("vim.defer_fn = function() end");
    neovim.presses("Gomine<Esc>");
    neovim.sees("the text", "return vim.api.nvim_get_current_line() == 'mine'");
    // Somewhere else the user accepts, and finds that the file has changed.
    fs::write(&path, "one\nzwei\nthree\nfour\n5\n").unwrap();
    world.run(&["accept", "latest"]);
    neovim.says("a.txt changed while you were editing it");
    assert_eq!(neovim.lines(), ["one", "2", "three", "four", "five", "mine"]);
    std::thread::sleep(LOOK);
    neovim.presses(":w<CR>");
    neovim.says("`:w!` accepts your text instead");
    assert_eq!(world.read_text("a.txt"), "one\nzwei\nthree\nfour\n5\n");
    neovim.presses(":w!<CR>");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "one\n2\nthree\nfour\nfive\nmine\n");
    neovim.sees_no_review();
}

fn a_conflict_keeps_text_that_is_not_sent_yet(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "one\n2\nthree\n", "tab");
    neovim.looks_at_review();
    neovim.lua("vim.defer_fn = function() end");
    neovim.presses("Gomine<Esc>");
    neovim.sees("the text", "return vim.api.nvim_get_current_line() == 'mine'");
    fs::write(&path, "one\nzwei\nthree\n").unwrap();
    world.run(&["accept", "latest"]);
    neovim.sees("the conflict", "return vim.wo.winbar:find('1 conflicts', 1, true) ~= nil");
    assert_eq!(neovim.lines(), ["one", "2", "three", "mine"]);
    std::thread::sleep(LOOK);
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "one\n2\nthree\nmine\n");
}

fn a_file_of_many_lines_is_reviewed(version: NeovimVersion) {
    let world = World::new();
    let lines = 300_000;
    let before: String = (0..lines).map(|line| format!("{line}\n")).collect();
    let after = before.replace("\n150000\n", "\nhere\n");
    let path = world.file("a.txt", &before);
    let neovim = Neovim::builder(&world, version).file("a.txt").start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, &after, "tab");
    neovim.looks_at_review();
    neovim.sees("the place", "return vim.api.nvim_get_current_line() == 'here'");
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), after);
}

fn a_narrow_terminal_has_both_texts_and_no_prompt(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\n");
    let mut neovim = Neovim::builder(&world, version).in_terminal(40, 16).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "one\nDEUX\n", "tab");
    neovim.tty().sees("Linkspan: a.txt");
    neovim.tty().types(":Linkspan review\r");
    neovim.tty().sees("DEUX");
    neovim.tty().sees("two");
    neovim.tty().sees_no("Press ENTER");
    neovim.tty().looks_and_types("ga");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    neovim.tty().sees_no("DEUX");
}

fn the_home_folder_is_not_a_project(version: NeovimVersion) {
    let world = World::new();
    let neovim = Neovim::builder(&world, version).at(&world.home()).start();
    assert_eq!(world.status()["windows"][0]["folders"], json!([]));
    let project = world.workspace();
    fs::create_dir_all(project.join(".git")).unwrap();
    fs::create_dir_all(project.join("deep/er")).unwrap();
    neovim.runs(&format!("cd {}", project.join("deep/er").display()));
    eventually("the project", || (world.status()["windows"][0]["folders"] == json!([project])).then_some(()));
}

//! Neovims, programs and hubs that are lost and come back: agents stay connected, reviews come back, decisions count.

use rustix::process::Signal;
use serde_json::json;

use crate::scenarios;
use crate::support::world::{alive, signal};
use crate::support::*;

scenarios! {
    a_killed_hub_is_restarted
    a_killed_program_is_restarted
    a_killed_neovim_leaves_the_review_to_the_next
    quitting_keeps_the_text_that_was_typed_last
    an_accepted_change_is_undone_from_the_history
}

/// `:restart` is new in Neovim 0.12.
#[test]
fn a_restarted_neovim_shows_its_review_again() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut neovim = Neovim::builder(&world, NeovimVersion::Newest).in_terminal(100, 30).start();
    let (port, pid) = (neovim.port(), neovim.pid());
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "DEUX\n", "tab");
    world.one_pending();
    neovim.tty().types(":restart\r");
    let restarted = eventually("another Neovim", || {
        let window = &world.status()["windows"][0];
        let is_back =
            window["attached"] == json!(true) && window["editorPid"] != pid && window["port"] == port;
        is_back.then(|| u32::try_from(window["editorPid"].as_u64().unwrap()).unwrap())
    });
    neovim.tty().sees("Linkspan: a.txt");
    neovim.tty().types(":Linkspan review\r");
    neovim.tty().sees("DEUX");
    neovim.tty().looks_and_types("ga");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "DEUX\n");
    // It is not a child of the terminal's program.
    signal(restarted, Signal::KILL);
    eventually("it has ended", || (!alive(restarted)).then_some(()));
}

fn a_killed_hub_is_restarted(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    nexus3.propose(&path, "two\n", "tab");
    neovim.looks_at_review();
    let (review, port) = (world.one_pending(), neovim.port());
    world.kill_hub();
    nexus3.end();
    eventually("a new hub", || (world.status()["windows"][0]["attached"] == json!(true)).then_some(()));
    neovim.is_attached();
    assert_eq!(neovim.port(), port, "it keeps its port");
    assert_eq!(world.one_pending(), review);
    // The agent reconnects and proposes the same change: it is the same review.
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    neovim.looks_at_review();
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
    neovim.sees_no_review();
}

fn a_killed_program_is_restarted(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let neovim = Neovim::builder(&world, version).start();
    let port = neovim.port();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    neovim.looks_at_review();
    let attach = |pid: &u32| {
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        arguments.split(|byte| *byte == 0).any(|argument| argument == b"attach")
    };
    let program = world.processes().into_iter().find(attach).unwrap();
    signal(program, Signal::KILL);
    eventually("the program is dead", || (!alive(program)).then_some(()));
    neovim.sees("it is gone", "return require('linkspan.hub').state.kind == 'away'");
    neovim.is_attached();
    assert_eq!(neovim.port(), port);
    nexus3.is_served();
    neovim.looks_at_review();
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
    neovim.sees_no_review();
}

fn a_killed_neovim_leaves_the_review_to_the_next(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let neovim = Neovim::builder(&world, version).start();
    let port = neovim.port();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    neovim.looks_at_review();
    neovim.kill();
    eventually("its window is away", || {
        (world.status()["windows"][0]["attached"] == json!(false)).then_some(())
    });
    nexus3.is_served();
    let neovim = Neovim::builder(&world, version).start();
    assert_eq!(neovim.port(), port, "the same window");
    neovim.looks_at_review();
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
}

fn quitting_keeps_the_text_that_was_typed_last(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    neovim.looks_at_review();
    neovim.presses("Gomine<Esc>:qa!<CR>");
    eventually("its window is away", || {
        (world.status()["windows"][0]["attached"] == json!(false)).then_some(())
    });
    drop(neovim);
    let neovim = Neovim::builder(&world, version).start();
    neovim.looks_at_review();
    assert_eq!(neovim.lines(), ["two", "mine"]);
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "two\nmine\n");
}

fn an_accepted_change_is_undone_from_the_history(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    neovim.looks_at_review();
    neovim.presses("ga");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    neovim.runs("Linkspan undo");
    neovim.says("undone: a.txt");
    assert_eq!(world.read_text("a.txt"), "one\n");
    neovim.runs("Linkspan history");
    neovim.asks();
    neovim.presses("1<CR>");
    neovim.asks();
    neovim.presses("1<CR>");
    eventually("it is redone", || (world.read_text("a.txt") == "two\n").then_some(()));
}

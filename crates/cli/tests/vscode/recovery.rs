//! Windows, programs and hubs that are lost and come back: agents stay connected, reviews are restored, decisions count.

use rustix::process::Signal;

use crate::runner::{Scenarios, scenarios};
use crate::support::world::{alive, signal};
use crate::support::*;

pub(crate) const SCENARIOS: Scenarios = scenarios! { InOneWindow:
    a_reloaded_window_restores_its_review_and_its_agent
    a_killed_program_is_restarted
    a_killed_hub_is_restarted
};

const REVIEW: &str = "a.txt ←";

fn a_reloaded_window_restores_its_review_and_its_agent(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\n");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    window.workbench.look_at(REVIEW);
    window.workbench.go_to_line(1);
    window.workbench.comment("kept");
    let review = window.world.one_pending();
    let before = window.vscode.processes("attach");
    window.workbench.reload();
    eventually("the old program is gone and a new one runs", || {
        let now = window.vscode.processes("attach");
        (!now.is_empty() && now.iter().all(|program| !before.contains(program))).then_some(())
    });
    assert_eq!(window.workbench.attached(window.world), window.port);
    nexus3.is_served();
    assert_eq!(window.world.one_pending(), review);
    window.workbench.look_at(REVIEW);
    window.workbench.shows(REVIEW, "two");
    window.workbench.click_title(REVIEW, "Reject Change");
    assert_eq!(nexus3.texts(call), ["DIFF_REJECTED", "line 1: kept"]);
    assert_eq!(window.world.read_text("a.txt"), "one\n");
    window.workbench.sees_no_tab(REVIEW);
}

fn a_killed_program_is_restarted(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\n");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    window.workbench.look_at(REVIEW);
    let before = window.vscode.processes("attach");
    assert_eq!(before.len(), 1, "one program for one window");
    signal(before[0], Signal::KILL);
    eventually("the program is dead", || (!alive(before[0])).then_some(()));
    let after = eventually("it is restarted", || window.vscode.processes("attach").first().copied());
    assert_ne!(before[0], after);
    assert_eq!(window.workbench.attached(window.world), window.port);
    nexus3.is_served();
    window.workbench.look_at(REVIEW);
    window.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(window.world.read_text("a.txt"), "two\n");
    window.workbench.sees_no_tab(REVIEW);
}

fn a_killed_hub_is_restarted(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\n");
    let mut nexus3 = window.nexus3();
    nexus3.propose(&path, "two\n", "tab");
    window.workbench.look_at(REVIEW);
    let review = window.world.one_pending();
    window.world.kill_hub();
    nexus3.end();
    assert_eq!(window.workbench.attached(window.world), window.port, "it keeps its port");
    assert_eq!(window.world.one_pending(), review);
    // The agent reconnects and proposes the same change: it is the same review.
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    window.workbench.look_at(REVIEW);
    window.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(window.world.read_text("a.txt"), "two\n");
    window.workbench.sees_no_tab(REVIEW);
    assert!(window.world.reviews().is_empty());
}

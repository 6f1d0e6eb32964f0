//! What is lost on the way and comes back: windows, programs, hubs. Agents stay, reviews come back, decisions count.

use rustix::process::Signal;

use crate::on_both;
use crate::person::*;
use crate::support::world::{alive, signal};
use crate::support::*;

on_both! {
    a_reloaded_window_has_its_review_and_its_agent_again
    a_killed_program_is_started_again
    a_killed_hub_is_started_again
}

const REVIEW: &str = "a.txt ←";

fn a_reloaded_window_has_its_review_and_its_agent_again(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let path = desk.world.file("a.txt", "one\n");
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    desk.workbench.look_at(REVIEW);
    desk.workbench.go_to_line(1);
    desk.workbench.comment("kept");
    let review = desk.world.one_pending();
    let before = desk.vscode.processes("attach");
    desk.workbench.reload();
    eventually("the program of before is gone and another is there", || {
        let now = desk.vscode.processes("attach");
        (!now.is_empty() && now.iter().all(|program| !before.contains(program))).then_some(())
    });
    assert_eq!(desk.workbench.attached(&desk.world), desk.port);
    nexus3.is_served();
    assert_eq!(desk.world.one_pending(), review);
    desk.workbench.look_at(REVIEW);
    desk.workbench.shows(REVIEW, "two");
    desk.workbench.click_title(REVIEW, "Reject Change");
    assert_eq!(nexus3.texts(call), ["DIFF_REJECTED", "line 1: kept"]);
    assert_eq!(desk.world.read_text("a.txt"), "one\n");
    desk.workbench.sees_no_tab(REVIEW);
}

fn a_killed_program_is_started_again(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let path = desk.world.file("a.txt", "one\n");
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    desk.workbench.look_at(REVIEW);
    let before = desk.vscode.processes("attach");
    assert_eq!(before.len(), 1, "one program for one window");
    signal(before[0], Signal::KILL);
    eventually("the program is dead", || (!alive(before[0])).then_some(()));
    let after = eventually("it is started again", || desk.vscode.processes("attach").first().copied());
    assert_ne!(before[0], after);
    assert_eq!(desk.workbench.attached(&desk.world), desk.port);
    nexus3.is_served();
    desk.workbench.look_at(REVIEW);
    desk.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(desk.world.read_text("a.txt"), "two\n");
    desk.workbench.sees_no_tab(REVIEW);
}

fn a_killed_hub_is_started_again(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let path = desk.world.file("a.txt", "one\n");
    let mut nexus3 = desk.nexus3();
    nexus3.propose(&path, "two\n", "tab");
    desk.workbench.look_at(REVIEW);
    let review = desk.world.one_pending();
    desk.world.kill_hub();
    nexus3.end();
    assert_eq!(desk.workbench.attached(&desk.world), desk.port, "its port stays its port");
    assert_eq!(desk.world.one_pending(), review);
    // The agent connects again and asks the same: it is the same review.
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    desk.workbench.look_at(REVIEW);
    desk.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(desk.world.read_text("a.txt"), "two\n");
    desk.workbench.sees_no_tab(REVIEW);
    assert!(desk.world.reviews().is_empty());
}

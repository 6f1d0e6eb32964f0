//! One change, one decision: what is clicked, what the file holds, what the agent hears.

use crate::in_one_window;
use crate::person::*;
use crate::support::*;

in_one_window! {
    accepting_by_click
    rejecting_by_click
    a_reason_is_told
    a_closed_tab_leaves_the_review_pending
    what_she_edits_is_what_she_accepts
    a_comment_stands_at_its_line
    a_new_file_is_made_when_it_is_accepted
    line_endings_stay_what_they_are
    what_its_agent_no_longer_waits_for_is_written_here
}

const REVIEW: &str = "a.txt ←";

fn accepting_by_click(desk: &Desk) {
    let Desk { workbench, world, port, .. } = desk;
    let path = world.file("a.txt", "one\ntwo\n");
    let (mut claude, mut nexus3) = (Agent::claude(world, *port), Agent::nexus3(world, *port));
    let call = claude.propose(&path, "one\n2\n", "tab");
    workbench.look_at(REVIEW);
    workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(claude.texts(call), ["FILE_SAVED", "one\n2\n"]);
    workbench.sees_no_tab(REVIEW);
    assert_eq!(world.read_text("a.txt"), "one\ntwo\n", "one writer: the agent");

    let call = nexus3.propose(&path, "one\n2\n", "tab");
    workbench.look_at(REVIEW);
    workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "one\n2\n");
    workbench.sees_no_tab(REVIEW);
}

fn rejecting_by_click(desk: &Desk) {
    let path = desk.world.file("a.txt", "one\n");
    let mut claude = desk.claude();
    let call = claude.propose(&path, "two\n", "its own name");
    desk.workbench.look_at(REVIEW);
    desk.workbench.click_title(REVIEW, "Reject Change");
    assert_eq!(claude.texts(call), ["DIFF_REJECTED", "its own name"]);
    desk.workbench.sees_no_tab(REVIEW);
    assert_eq!(desk.world.read_text("a.txt"), "one\n");
}

fn a_reason_is_told(desk: &Desk) {
    let path = desk.world.file("a.txt", "one\n");
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    desk.workbench.look_at(REVIEW);
    desk.workbench.run("Linkspan: Reject Change with a Reason");
    desk.workbench.answer("three is better");
    assert_eq!(nexus3.texts(call), ["DIFF_REJECTED", "three is better"]);
    desk.workbench.sees_no_tab(REVIEW);
    assert_eq!(desk.world.read_text("a.txt"), "one\n");
}

fn a_closed_tab_leaves_the_review_pending(desk: &Desk) {
    let workbench = &desk.workbench;
    let path = desk.world.file("a.txt", "one\n");
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    workbench.sees_tab(REVIEW);
    workbench.close_tab(REVIEW);
    workbench.sees_no_tab(REVIEW);
    assert_eq!(nexus3.answer_within(call, std::time::Duration::from_millis(500)), None);
    assert_eq!(desk.world.one_pending(), desk.world.reviews()[0]["review"].as_str().unwrap());
    assert_eq!(workbench.badge(), "1");
    workbench.open_reviews();
    workbench.click_row("a.txt");
    workbench.look_at(REVIEW);
    workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(desk.world.read_text("a.txt"), "two\n");
    workbench.sees_no_row("a.txt");
    assert_eq!(workbench.badge(), "");
}

fn what_she_edits_is_what_she_accepts(desk: &Desk) {
    let path = desk.world.file("a.txt", "one\ntwo\n");
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "one\n2\n", "tab");
    desk.workbench.look_at(REVIEW);
    desk.workbench.press("Control+End");
    desk.workbench.types("and hers\n");
    // At once: what is typed is not lost on its way.
    desk.workbench.click_title(REVIEW, "Accept Change");
    let told = nexus3.texts(call);
    assert_eq!(told[0], "FILE_SAVED");
    assert!(told[1].contains("+and hers"), "{told:?}");
    assert_eq!(desk.world.read_text("a.txt"), "one\n2\nand hers\n");
    desk.workbench.sees_no_tab(REVIEW);
}

fn a_comment_stands_at_its_line(desk: &Desk) {
    let path = desk.world.file("a.txt", "one\n");
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "one\ntwo\nthree\n", "tab");
    desk.workbench.look_at(REVIEW);
    desk.workbench.go_to_line(2);
    desk.workbench.comment("why two?");
    desk.workbench.click_title(REVIEW, "Reject Change");
    assert_eq!(nexus3.texts(call), ["DIFF_REJECTED", "line 2: why two?"]);
    assert_eq!(desk.world.read_text("a.txt"), "one\n");
    desk.workbench.sees_no_tab(REVIEW);
}

fn a_new_file_is_made_when_it_is_accepted(desk: &Desk) {
    let path = desk.world.path_str("deep/new.txt");
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "fresh\n", "tab");
    desk.workbench.look_at("new.txt ←");
    desk.workbench.shows("new.txt ←", "fresh");
    assert!(!desk.world.path("deep/new.txt").exists());
    desk.workbench.click_title("new.txt ←", "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(desk.world.read_text("deep/new.txt"), "fresh\n");
    desk.workbench.sees_no_tab("new.txt ←");
}

fn line_endings_stay_what_they_are(desk: &Desk) {
    let path = desk.world.file("a.txt", "\u{feff}one\r\ntwo\r\nthree");
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "one\n2\nthree", "tab");
    desk.workbench.look_at(REVIEW);
    desk.workbench.press("Control+Home");
    desk.workbench.types("zero\n");
    desk.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(desk.world.read("a.txt"), "\u{feff}zero\r\none\r\n2\r\nthree".as_bytes());
    desk.workbench.sees_no_tab(REVIEW);
}

fn what_its_agent_no_longer_waits_for_is_written_here(desk: &Desk) {
    let Desk { workbench, world, .. } = desk;
    let path = world.file("a.txt", "one\n");
    let mut claude = desk.claude();
    claude.propose(&path, "two\n", "tab");
    workbench.look_at(REVIEW);
    workbench.open_reviews();
    workbench.sees_row("a.txt");
    assert!(!workbench.rows().join("").contains("agent gone"), "{:?}", workbench.rows());
    claude.drop_socket();
    workbench.sees_row("agent gone");
    workbench.look_at(REVIEW);
    workbench.click_title(REVIEW, "Accept Change");
    workbench.is_told("claude-code no longer waits for the answer");
    assert_eq!(world.read("a.txt"), b"one\n", "nothing is decided yet");
    assert_eq!(world.reviews()[0]["phase"], "pending");
    workbench.click_notification("no longer waits", "Write it here");
    workbench.sees_no_tab(REVIEW);
    assert_eq!(world.read("a.txt"), b"two\n");
    assert_eq!(world.json(&["history"])["entries"][0]["onDisk"], true);
}

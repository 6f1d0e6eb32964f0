//! Files that are open, edited or changed by others while a review is pending.

use std::fs;

use crate::runner::{Scenarios, scenarios};
use crate::support::*;

pub(crate) const SCENARIOS: Scenarios = scenarios! { InOneWindow:
    unsaved_text_is_the_base
    an_accepted_change_of_an_open_file_can_be_undone
    a_concurrent_change_is_merged
    a_conflicting_change_needs_a_second_look
    a_review_does_not_take_the_cursor
};

const REVIEW: &str = "a.txt ←";

fn unsaved_text_is_the_base(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    window.workbench.open_file("a.txt");
    window.workbench.types("mine\n");
    assert!(window.workbench.sees_tab("a.txt").dirty);
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "mine\none\ntwo\nthree\nfour\n5\n", "tab");
    window.workbench.look_at(REVIEW);
    window.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    window.workbench.sees_no_tab(REVIEW);
    window.workbench.shows("a.txt", "mine\none\ntwo\nthree\nfour\n5");
    let tab = window.workbench.sees_tab("a.txt");
    assert!(tab.dirty, "only the user saves unsaved text");
    assert_eq!(window.world.read_text("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
}

fn an_accepted_change_of_an_open_file_can_be_undone(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\ntwo\n");
    window.workbench.open_file("a.txt");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "one\n2\n", "tab");
    window.workbench.look_at(REVIEW);
    window.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    window.workbench.sees_no_tab(REVIEW);
    assert_eq!(window.world.read_text("a.txt"), "one\n2\n", "it was clean before, so it is saved");
    window.workbench.look_at("a.txt");
    assert!(!window.workbench.sees_tab("a.txt").dirty);
    window.workbench.press("Control+Z");
    window.workbench.shows("a.txt", "one\ntwo");
    window.workbench.press("Control+S");
    eventually("the file is as it was", || (window.world.read_text("a.txt") == "one\ntwo\n").then_some(()));
}

fn a_concurrent_change_is_merged(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "1\ntwo\nthree\nfour\nfive\n", "tab");
    window.workbench.look_at(REVIEW);
    fs::write(&path, "one\ntwo\nthree\nfour\n5\n").unwrap();
    window.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(window.world.read_text("a.txt"), "1\ntwo\nthree\nfour\n5\n");
    window.workbench.sees_no_tab(REVIEW);
}

fn a_conflicting_change_needs_a_second_look(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\ntwo\nthree\n");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "one\n2\nthree\n", "tab");
    window.workbench.look_at(REVIEW);
    fs::write(&path, "one\nzwei\nthree\n").unwrap();
    window.workbench.click_title(REVIEW, "Accept Change");
    window.workbench.sees_notification("Review it again");
    assert_eq!(nexus3.answer_within(call, std::time::Duration::from_millis(500)), None);
    assert_eq!(window.world.read_text("a.txt"), "one\nzwei\nthree\n");
    window.workbench.shows(REVIEW, "2");
    window.workbench.look_at(REVIEW);
    window.workbench.click_title(REVIEW, "Accept Change");
    window.workbench.sees_notification("take the agent's text or keep yours in 1 conflict");
    assert_eq!(window.world.read_text("a.txt"), "one\nzwei\nthree\n");
    window.workbench.sees_lens(REVIEW, "Keep Mine");
    window.workbench.click_lens(REVIEW, "Take the Agent's", 1);
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(window.world.read_text("a.txt"), "one\n2\nthree\n", "now the user has chosen");
}

fn a_review_does_not_take_the_cursor(window: &EditorWindow<'_>) {
    let (a, b) = (window.world.file("a.txt", "one\n"), window.world.file("b.txt", "one\n"));
    window.world.file("mine.txt", "");
    window.workbench.open_file("mine.txt");
    window.workbench.types("before ");
    let mut claude = window.claude();
    claude.propose(&a, "two\n", "first");
    for _ in 0..20 {
        window.workbench.types("x");
    }
    window.workbench.sees_tab(REVIEW);
    claude.propose(&b, "two\n", "second");
    for _ in 0..20 {
        window.workbench.types("y");
    }
    window.workbench.sees_tab("b.txt ←");
    window.workbench.types(" after");
    window.workbench.press("Control+S");
    let expected = format!("before {}{} after", "x".repeat(20), "y".repeat(20));
    eventually("all of it is in the file", || (window.world.read_text("mine.txt") == expected).then_some(()));
    assert_eq!(
        (window.world.read_text("a.txt"), window.world.read_text("b.txt")),
        ("one\n".into(), "one\n".into())
    );
}

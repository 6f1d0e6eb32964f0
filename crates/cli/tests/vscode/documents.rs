//! Files that are open, edited or changed by others while a change of them waits.

use std::fs;

use crate::on_both;
use crate::person::*;
use crate::support::*;

on_both! {
    her_unsaved_text_is_the_base
    an_accepted_change_of_an_open_file_can_be_undone
    what_others_wrote_meanwhile_is_merged
    what_others_wrote_in_the_same_place_is_asked_about
    typing_goes_on_where_she_types
}

const REVIEW: &str = "a.txt ←";

fn her_unsaved_text_is_the_base(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let path = desk.world.file("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    desk.workbench.open_file("a.txt");
    desk.workbench.types("hers\n");
    assert!(desk.workbench.sees_tab("a.txt").dirty);
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "hers\none\ntwo\nthree\nfour\n5\n", "tab");
    desk.workbench.look_at(REVIEW);
    desk.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    desk.workbench.sees_no_tab(REVIEW);
    desk.workbench.shows("a.txt", "hers\none\ntwo\nthree\nfour\n5");
    let tab = desk.workbench.sees_tab("a.txt");
    assert!(tab.dirty, "her text is hers to save");
    assert_eq!(desk.world.read_text("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
}

fn an_accepted_change_of_an_open_file_can_be_undone(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let path = desk.world.file("a.txt", "one\ntwo\n");
    desk.workbench.open_file("a.txt");
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "one\n2\n", "tab");
    desk.workbench.look_at(REVIEW);
    desk.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    desk.workbench.sees_no_tab(REVIEW);
    assert_eq!(desk.world.read_text("a.txt"), "one\n2\n", "it was clean before, so it is saved");
    desk.workbench.look_at("a.txt");
    assert!(!desk.workbench.sees_tab("a.txt").dirty);
    desk.workbench.press("Control+Z");
    desk.workbench.shows("a.txt", "one\ntwo");
    desk.workbench.press("Control+S");
    eventually("the file is as it was", || (desk.world.read_text("a.txt") == "one\ntwo\n").then_some(()));
}

fn what_others_wrote_meanwhile_is_merged(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let path = desk.world.file("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "1\ntwo\nthree\nfour\nfive\n", "tab");
    desk.workbench.look_at(REVIEW);
    fs::write(&path, "one\ntwo\nthree\nfour\n5\n").unwrap();
    desk.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(desk.world.read_text("a.txt"), "1\ntwo\nthree\nfour\n5\n");
    desk.workbench.sees_no_tab(REVIEW);
}

fn what_others_wrote_in_the_same_place_is_asked_about(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let path = desk.world.file("a.txt", "one\ntwo\nthree\n");
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "one\n2\nthree\n", "tab");
    desk.workbench.look_at(REVIEW);
    fs::write(&path, "one\nzwei\nthree\n").unwrap();
    desk.workbench.click_title(REVIEW, "Accept Change");
    desk.workbench.is_told("Look again");
    assert_eq!(nexus3.answer_within(call, std::time::Duration::from_millis(500)), None);
    assert_eq!(desk.world.read_text("a.txt"), "one\nzwei\nthree\n");
    desk.workbench.shows(REVIEW, "2");
    desk.workbench.look_at(REVIEW);
    desk.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(desk.world.read_text("a.txt"), "one\n2\nthree\n", "now she has seen both");
}

fn typing_goes_on_where_she_types(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let (a, b) = (desk.world.file("a.txt", "one\n"), desk.world.file("b.txt", "one\n"));
    desk.world.file("mine.txt", "");
    desk.workbench.open_file("mine.txt");
    desk.workbench.types("before ");
    let mut claude = desk.claude();
    claude.propose(&a, "two\n", "first");
    for _ in 0..20 {
        desk.workbench.types("x");
    }
    desk.workbench.sees_tab(REVIEW);
    claude.propose(&b, "two\n", "second");
    for _ in 0..20 {
        desk.workbench.types("y");
    }
    desk.workbench.sees_tab("b.txt ←");
    desk.workbench.types(" after");
    desk.workbench.press("Control+S");
    let expected = format!("before {}{} after", "x".repeat(20), "y".repeat(20));
    eventually("all of it is in her file", || (desk.world.read_text("mine.txt") == expected).then_some(()));
    assert_eq!(
        (desk.world.read_text("a.txt"), desk.world.read_text("b.txt")),
        ("one\n".into(), "one\n".into())
    );
}

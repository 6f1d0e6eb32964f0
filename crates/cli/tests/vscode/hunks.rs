//! Some of a change: two hunks of three, by each of the ways there are.

use crate::in_one_window;
use crate::person::*;
use crate::support::*;

in_one_window! {
    two_hunks_of_three_by_lens
    two_hunks_of_three_in_the_list
    two_hunks_of_three_at_the_cursor
}

const REVIEW: &str = "a.txt ←";
const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
const THREE_HUNKS: &str = "one\n2\n3\n4\n5\nsix\n7\n8\n9\n10\n11\ntwelve\n";
const FIRST_AND_THIRD: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve\n";

/// Both the agent that writes itself and the one that does not.
fn check(desk: &Desk, choose: impl Fn(&Workbench)) {
    let path = desk.world.file("a.txt", BASE);
    let mut claude = desk.claude();
    let call = claude.propose(&path, THREE_HUNKS, "tab");
    desk.workbench.look_at(REVIEW);
    choose(&desk.workbench);
    assert_eq!(claude.texts(call), ["FILE_SAVED", FIRST_AND_THIRD]);
    desk.workbench.sees_no_tab(REVIEW);
    assert_eq!(desk.world.read_text("a.txt"), BASE, "one writer: the agent");

    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, THREE_HUNKS, "tab");
    desk.workbench.look_at(REVIEW);
    choose(&desk.workbench);
    let told = nexus3.texts(call);
    assert_eq!(told[0], "FILE_SAVED");
    assert!(told[1].contains("\n-six\n+6\n"), "what she left out is told behind it: {told:?}");
    assert_eq!(desk.world.read_text("a.txt"), FIRST_AND_THIRD);
    desk.workbench.sees_no_tab(REVIEW);
}

fn two_hunks_of_three_by_lens(desk: &Desk) {
    check(desk, |workbench| {
        workbench.click_lens(REVIEW, "Accept Hunk", 3);
        workbench.sees_lens(REVIEW, "Accepted");
        workbench.click_lens(REVIEW, "Reject Hunk", 2);
        workbench.sees_lens(REVIEW, "Rejected");
        workbench.click_lens(REVIEW, "Accept Hunk", 1);
    });
}

fn two_hunks_of_three_in_the_list(desk: &Desk) {
    check(desk, |workbench| {
        workbench.open_reviews();
        workbench.expand_row("a.txt");
        workbench.click_in_row("twelve", "Accept Hunk");
        workbench.click_in_row("six", "Reject Hunk");
        workbench.sees_row("2 of 3 hunks marked");
        workbench.click_in_row("one", "Accept Hunk");
    });
}

fn two_hunks_of_three_at_the_cursor(desk: &Desk) {
    check(desk, |workbench| {
        workbench.go_to_line(1);
        workbench.press("Control+K");
        workbench.press("y");
        workbench.sees_lens(REVIEW, "Accepted");
        workbench.go_to_line(6);
        workbench.press("Control+K");
        workbench.press("n");
        workbench.sees_lens(REVIEW, "Rejected");
        // What is left is taken with the rest.
        workbench.press("Control+K");
        workbench.press("Control+Y");
    });
}

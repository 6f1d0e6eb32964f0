//! Part of a change: two hunks of three, in each of the ways to choose them.

use crate::runner::{Scenarios, scenarios};
use crate::support::*;

pub(crate) const SCENARIOS: Scenarios = scenarios! { InOneWindow:
    two_hunks_of_three_by_lens
    two_hunks_of_three_in_the_list
    two_hunks_of_three_at_the_cursor
};

const REVIEW: &str = "a.txt ←";
const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
const THREE_HUNKS: &str = "one\n2\n3\n4\n5\nsix\n7\n8\n9\n10\n11\ntwelve\n";
const FIRST_AND_THIRD: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve\n";

/// With an agent that writes the file itself and with one that does not.
fn check(window: &EditorWindow<'_>, choose: impl Fn(&Workbench)) {
    let path = window.world.file("a.txt", BASE);
    let mut claude = window.claude();
    let call = claude.propose(&path, THREE_HUNKS, "tab");
    window.workbench.look_at(REVIEW);
    choose(&window.workbench);
    assert_eq!(claude.texts(call), ["FILE_SAVED", FIRST_AND_THIRD]);
    window.workbench.sees_no_tab(REVIEW);
    assert_eq!(window.world.read_text("a.txt"), BASE, "one writer: the agent");

    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, THREE_HUNKS, "tab");
    window.workbench.look_at(REVIEW);
    choose(&window.workbench);
    let received = nexus3.texts(call);
    assert_eq!(received[0], "FILE_SAVED");
    assert!(received[1].contains("\n-six\n+6\n"), "the rejected hunk follows: {received:?}");
    assert_eq!(window.world.read_text("a.txt"), FIRST_AND_THIRD);
    window.workbench.sees_no_tab(REVIEW);
}

fn two_hunks_of_three_by_lens(window: &EditorWindow<'_>) {
    check(window, |workbench| {
        workbench.click_lens(REVIEW, "Accept Hunk", 3);
        workbench.sees_lens(REVIEW, "Accepted");
        workbench.click_lens(REVIEW, "Reject Hunk", 2);
        workbench.sees_lens(REVIEW, "Rejected");
        workbench.click_lens(REVIEW, "Accept Hunk", 1);
    });
}

fn two_hunks_of_three_in_the_list(window: &EditorWindow<'_>) {
    check(window, |workbench| {
        workbench.open_reviews();
        workbench.expand_row("a.txt");
        workbench.click_in_row("twelve", "Accept Hunk");
        workbench.click_in_row("six", "Reject Hunk");
        workbench.sees_row("2 of 3 hunks marked");
        workbench.click_in_row("one", "Accept Hunk");
    });
}

fn two_hunks_of_three_at_the_cursor(window: &EditorWindow<'_>) {
    check(window, |workbench| {
        workbench.go_to_line(1);
        workbench.press("Control+K");
        workbench.press("y");
        workbench.sees_lens(REVIEW, "Accepted");
        workbench.go_to_line(6);
        workbench.press("Control+K");
        workbench.press("n");
        workbench.sees_lens(REVIEW, "Rejected");
        // Accepting the change includes the hunk without a mark.
        workbench.press("Control+K");
        workbench.press("Control+Y");
    });
}

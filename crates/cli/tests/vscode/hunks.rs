//! Part of a change: two hunks of three, in each of the ways to choose them.

use serde_json::json;

use crate::runner::{Scenarios, scenarios};
use crate::support::*;

pub(crate) const SCENARIOS: Scenarios = scenarios! { InOneWindow:
    two_hunks_of_three_by_lens
    two_hunks_of_three_in_the_list
    two_hunks_of_three_at_the_cursor
    typing_leaves_the_buttons_where_their_hunks_are
    a_decided_hunk_looks_decided_and_both_sides_stay_aligned
};

const REVIEW: &str = "a.txt ←";
const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
const THREE_HUNKS: &str = "one\n2\n3\n4\n5\nsix\n7\n8\n9\n10\n11\ntwelve\n";
const FIRST_AND_THIRD: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve\n";

/// Of the proposed side: what stands in the margin, and how visible the text of a line is.
const LOOKS: &str = "(() => {
  const icons = [...document.querySelectorAll('.editor.modified .margin *')].flatMap((icon) => {
    return /(accepted|rejected)\\.svg/.exec(getComputedStyle(icon).backgroundImage)?.[1] ?? [];
  });
  const opacity = (text) => {
    const line = [...document.querySelectorAll('.editor.modified .view-line')].find((each) => each.textContent === text);
    return [...line.querySelectorAll('span')].map((span) => getComputedStyle(span).opacity).sort()[0];
  };
  return {
    icons,
    accepted: opacity('one'),
    rejected: opacity('six'),
  };
})()";

/// How far apart the two sides of the unchanged tenth line are, in pixels.
const APART: &str = "(() => {
  const [left, right] = ['original', 'modified'].map((side) => {
    const numbers = [...document.querySelectorAll(`.editor.${side} .line-numbers`)];
    return numbers.find((each) => each.textContent === '10').getBoundingClientRect().top;
  });
  return Math.abs(left - right);
})()";

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
        workbench.press("Alt+Y");
        workbench.sees_lens(REVIEW, "Accepted");
        // The cursor is in the second hunk now.
        workbench.press("Alt+N");
        workbench.sees_lens(REVIEW, "Rejected");
        workbench.page.sees(".editor.modified .view-line span[style*='0.45'], .editor.modified .view-line span[class*='ced-']");
        // Accepting the change includes the hunk without a mark.
        workbench.press("Control+K");
        workbench.press("Control+Y");
    });
}

fn typing_leaves_the_buttons_where_their_hunks_are(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    let path = world.file("a.txt", BASE);
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, THREE_HUNKS, "tab");
    workbench.look_at(REVIEW);
    workbench.sees_lens(REVIEW, "nexus3-client · 3 hunks");
    let buttons = || workbench.lenses(REVIEW).iter().filter(|lens| *lens == "Accept Hunk").count();
    assert_eq!(buttons(), 3);
    workbench.go_to_line(3);
    workbench.press("End");
    workbench.types(" mine");
    // The line that was typed in is a hunk of its own, without a save.
    workbench.page.waits("four hunks", |_| (buttons() == 4).then_some(()));
    assert!(workbench.sees_tab(REVIEW).dirty);
    workbench.press("Alt+N");
    workbench.sees_lens(REVIEW, "Rejected");
    workbench.press("Control+K");
    workbench.press("Control+Y");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    workbench.sees_no_tab(REVIEW);
    assert_eq!(world.read_text("a.txt"), THREE_HUNKS);
}

fn a_decided_hunk_looks_decided_and_both_sides_stay_aligned(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    let path = world.file("a.txt", BASE);
    let mut claude = window.claude();
    let call = claude.propose(&path, THREE_HUNKS, "tab");
    workbench.look_at(REVIEW);
    workbench.sees_lens(REVIEW, "claude-code · 3 hunks");
    workbench.page.waits("both sides are aligned", |page| (page.evaluate(APART) == json!(0)).then_some(()));
    workbench.go_to_line(1);
    workbench.press("Alt+Y");
    workbench.sees_lens(REVIEW, "Accepted");
    workbench.press("Alt+N");
    workbench.sees_lens(REVIEW, "Rejected");
    let looks = json!({ "icons": ["accepted", "rejected"], "accepted": "1", "rejected": "0.45" });
    workbench.page.waits("the marks", |page| (page.evaluate(LOOKS) == looks).then_some(()));
    assert_eq!(workbench.page.evaluate(APART), json!(0));
    workbench.press("Alt+Y");
    assert_eq!(claude.texts(call), ["FILE_SAVED", FIRST_AND_THIRD]);
}

//! Past decisions: the diff that was decided, with what was said about it, and the undo of one change and of a set.

use serde_json::json;

use crate::runner::{Scenarios, scenarios};
use crate::support::*;

pub(crate) const SCENARIOS: Scenarios = scenarios! { InOneWindow:
    a_rejected_change_is_shown_again_with_reason_and_comment
    a_set_is_undone_from_the_history
    why_an_undo_fails_is_short_and_names_the_file_in_the_workspace
};

/// The newest decision.
const NEWEST: &str = ":nth-match(.quick-input-list .monaco-list-row, 1)";

fn show_history(workbench: &Workbench, name: &str) {
    workbench.run("Linkspan: Show History");
    workbench.page.sees(&format!("{NEWEST}:has-text('{name}')"));
}

/// Clicks a button that the newest decision shows under the mouse.
fn click_newest(workbench: &Workbench, action: &str) {
    workbench.page.hover(NEWEST);
    workbench.page.click(&format!("{NEWEST} a.action-label[aria-label='{action}']"));
}

fn a_rejected_change_is_shown_again_with_reason_and_comment(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    let path = world.file("decided.txt", "one\ntwo\nthree\n");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "one\n2\nthree\n", "tab");
    let review = "decided.txt ←";
    workbench.look_at(review);
    workbench.go_to_line(2);
    workbench.comment("spell it out");
    workbench.run("Linkspan: Reject Change with a Reason");
    workbench.answer("digits are for code");
    assert_eq!(nexus3.texts(call)[0], "DIFF_REJECTED");
    workbench.sees_no_tab(review);
    // What is shown is what was decided, not what the file holds now.
    world.file("decided.txt", "another text\n");

    show_history(workbench, "decided.txt");
    workbench.page.sees(&format!("{NEWEST}:has-text('digits are for code'):has-text('1 comment')"));
    workbench.press("Enter");
    let past = review;
    workbench.page.sees(".tab.active:has-text('decided.txt ← nexus3-client (rejected)')");
    workbench.shows(past, "one\n2\nthree");
    workbench.page.says(".editor-group-container.active .editor.original .view-lines", "two");
    workbench.sees_lens(past, "Reason: “digits are for code”");
    workbench.sees_lens(past, "Comment: “spell it out”");
    let lenses = workbench.lenses(past);
    assert!(lenses[0].starts_with("Rejected · "), "where it was decided comes first: {lenses:?}");
    workbench.close_tab(past);
}

fn a_set_is_undone_from_the_history(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    let mut agent = OwnAgent::join(world, "set");
    let names = ["first.txt", "second.txt"];
    let calls = names.map(|name| {
        let path = world.file(name, "one\n");
        agent.call("proposeChange", json!({ "path": path, "newText": "two\n", "set": "both" }))
    });
    let alone = world.file("alone.txt", "one\n");
    let call = agent.call("proposeChange", json!({ "path": alone, "newText": "two\n" }));
    for review in world.pending(3) {
        world.json(&["accept", &review]);
    }
    assert!(calls.into_iter().chain([call]).all(|call| agent.told(call)["written"] == true));

    workbench.run("Linkspan: Show History");
    let in_set = ".quick-input-list .monaco-list-row:has-text('first.txt')";
    workbench.page.hover(in_set);
    workbench.page.click(&format!("{in_set} a.action-label[aria-label='Undo the Change Set']"));
    workbench.sees_notification("Undone 2 changes.");
    assert_eq!(names.map(|name| world.read_text(name)), ["one\n", "one\n"]);
    assert_eq!(world.read_text("alone.txt"), "two\n", "it is not in the set");
}

fn why_an_undo_fails_is_short_and_names_the_file_in_the_workspace(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    let path = world.file("src/changed.txt", "one\n");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    let review = "changed.txt ←";
    workbench.look_at(review);
    workbench.click_title(review, "Accept Change");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    workbench.sees_no_tab(review);
    world.file("src/changed.txt", "three\n");
    show_history(workbench, "changed.txt");
    click_newest(workbench, "Undo This Change");
    let message = workbench.sees_notification("src/changed.txt is not what the change made it");
    let folder = world.path_str("");
    assert!(message.starts_with("src/changed.txt") && !message.contains(&folder), "{message}");
    assert_eq!(world.read_text("src/changed.txt"), "three\n");
}

//! One change, one decision: the click, the file's contents, the agent's response.

use crate::runner::{Scenarios, scenarios};
use crate::support::*;

pub(crate) const SCENARIOS: Scenarios = scenarios! { InOneWindow:
    accepting_by_click
    rejecting_by_click
    a_reason_reaches_the_agent
    what_the_agent_will_not_receive_is_said_before_the_user_types
    a_closed_tab_leaves_the_review_pending
    the_edited_text_is_accepted
    a_comment_names_its_line
    a_diff_without_the_focus_is_decided_on_its_first_line
    the_next_review_is_one_key_away_from_the_terminal
    the_title_and_the_status_bar_say_what_is_true
    a_new_file_is_created_on_accept
    line_endings_are_kept
    the_hub_writes_for_an_agent_that_is_gone
};

const REVIEW: &str = "a.txt ←";

fn accepting_by_click(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    let path = world.file("a.txt", "one\ntwo\n");
    let (mut claude, mut nexus3) = (window.claude(), window.nexus3());
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

fn rejecting_by_click(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\n");
    let mut claude = window.claude();
    let call = claude.propose(&path, "two\n", "its own name");
    window.workbench.look_at(REVIEW);
    window.workbench.click_title(REVIEW, "Reject Change");
    assert_eq!(claude.texts(call), ["DIFF_REJECTED", "its own name"]);
    window.workbench.sees_no_tab(REVIEW);
    assert_eq!(window.world.read_text("a.txt"), "one\n");
}

fn a_reason_reaches_the_agent(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\n");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    window.workbench.look_at(REVIEW);
    window.workbench.run("Linkspan: Reject Change with a Reason");
    window.workbench.answer("three is better");
    assert_eq!(nexus3.texts(call), ["DIFF_REJECTED", "three is better"]);
    window.workbench.sees_no_tab(REVIEW);
    assert_eq!(window.world.read_text("a.txt"), "one\n");
}

fn what_the_agent_will_not_receive_is_said_before_the_user_types(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\n");
    let mut claude = window.claude();
    let call = claude.propose(&path, "two\n", "tab");
    let workbench = &window.workbench;
    workbench.look_at(REVIEW);
    let note = "Claude Code receives only yes or no, not your reason, your comments, your choice of hunks or your \
                edits. To change that, run `linkspan hook install claude`.";
    workbench.sees_lens(REVIEW, note);
    workbench.go_to_line(1);
    workbench.comment("why two?");
    workbench.sees_comment_label("Kept in history; claude-code cannot receive it");
    workbench.page.hover(".review-widget .review-comment");
    workbench.page.sees(".review-widget .review-comment a.action-label[aria-label^='Copy Comment']");
    assert!(!workbench.lenses(REVIEW).iter().any(|lens| lens.contains("Reason")), "it is not offered");
    workbench.run("Linkspan: Reject Change with a Reason");
    workbench.sees_prompt("Kept in history; claude-code cannot receive it");
    workbench.page.sees(".quick-input-widget a.action-label[aria-label='Copy the Reason']");
    workbench.answer("three is better");
    assert_eq!(claude.texts(call), ["DIFF_REJECTED", "tab"]);
    workbench.sees_no_tab(REVIEW);
}

fn a_closed_tab_leaves_the_review_pending(window: &EditorWindow<'_>) {
    let workbench = &window.workbench;
    let path = window.world.file("a.txt", "one\n");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    workbench.sees_tab(REVIEW);
    workbench.close_tab(REVIEW);
    workbench.sees_no_tab(REVIEW);
    assert_eq!(nexus3.answer_within(call, std::time::Duration::from_millis(500)), None);
    assert_eq!(window.world.one_pending(), window.world.reviews()[0]["review"].as_str().unwrap());
    workbench.sees_badge("1");
    workbench.open_reviews();
    workbench.click_row("a.txt");
    workbench.look_at(REVIEW);
    workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(window.world.read_text("a.txt"), "two\n");
    workbench.sees_no_row("a.txt");
    workbench.sees_badge("");
}

fn the_edited_text_is_accepted(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\ntwo\n");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "one\n2\n", "tab");
    window.workbench.look_at(REVIEW);
    window.workbench.press("Control+End");
    window.workbench.types("and mine\n");
    // At once: text that was just typed must not be lost.
    window.workbench.click_title(REVIEW, "Accept Change");
    let received = nexus3.texts(call);
    assert_eq!(received[0], "FILE_SAVED");
    assert!(received[1].contains("+and mine"), "{received:?}");
    assert_eq!(window.world.read_text("a.txt"), "one\n2\nand mine\n");
    window.workbench.sees_no_tab(REVIEW);
}

/// VS Code shows no buttons in the title of a tab in another group.
fn a_diff_without_the_focus_is_decided_on_its_first_line(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    world.file("mine.txt", "mine\n");
    workbench.open_file("mine.txt");
    let path = world.file("a.txt", "one\ntwo\n");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "1\ntwo\n", "tab");
    workbench.sees_lens(REVIEW, "nexus3-client · 1 hunk");
    std::thread::sleep(workbench::LOOK);
    workbench.types("still ");
    workbench.click_lens(REVIEW, "Reject with Reason…", 1);
    workbench.answer("two is right");
    assert_eq!(nexus3.texts(call), ["DIFF_REJECTED", "two is right"]);
    let call = nexus3.propose(&path, "1\ntwo\n", "tab");
    workbench.sees_lens(REVIEW, "nexus3-client · 1 hunk");
    std::thread::sleep(workbench::LOOK);
    workbench.click_lens(REVIEW, "Accept", 1);
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    workbench.sees_no_tab(REVIEW);
    workbench.shows("mine.txt", "still mine");
}

fn the_next_review_is_one_key_away_from_the_terminal(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    let (a, b) = (world.file("a.txt", "one\n"), world.file("b.txt", "one\n"));
    let mut nexus3 = window.nexus3();
    nexus3.propose(&a, "two\n", "tab");
    workbench.sees_tab(REVIEW);
    nexus3.propose(&b, "two\n", "tab");
    workbench.sees_tab("b.txt ←");
    workbench.sees_status("Linkspan: 2");
    workbench.open_terminal();
    workbench.press("Control+K");
    workbench.press("Control+G");
    workbench.page.sees(".editor-group-container.active .monaco-editor.focused");
    assert!(workbench.sees_tab(REVIEW).active);
    workbench.press("Control+K");
    workbench.press("Control+G");
    workbench.page.waits("the next one", |_| workbench.sees_tab("b.txt ←").active.then_some(()));
    workbench.page.click(".part.statusbar .statusbar-item:has-text('Linkspan: 2') a");
    workbench.page.waits("the first one again", |_| workbench.sees_tab(REVIEW).active.then_some(()));
    workbench.run("Terminal: Kill the Active Terminal Instance");
}

fn the_title_and_the_status_bar_say_what_is_true(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    let path = world.file("src/a.txt", "one\n");
    let mut nexus3 = window.nexus3();
    nexus3.propose(&path, "two\n", "tab");
    workbench.look_at(REVIEW);
    workbench.sees_status("UTF-8");
    assert!(!workbench.status_bar().iter().any(|item| item.contains("BOM")), "{:?}", workbench.status_bar());
    let crumbs = workbench.page.texts(".breadcrumbs-control .monaco-breadcrumb-item");
    let folder = world.workspace().file_name().unwrap().to_str().unwrap().to_owned();
    let crumbs: Vec<&str> =
        crumbs.iter().map(|crumb| crumb.trim()).filter(|crumb| !crumb.is_empty()).collect();
    assert_eq!(crumbs[..3], [folder.as_str(), "src", "a.txt"], "no id of a review, no path from the root");
    // VS Code has its own for the next and the previous change, and the tab's is the only ✕.
    for (icon, count) in [("check", 1), ("circle-slash", 1), ("arrow-circle-down", 0), ("close", 0)] {
        let own = format!(".editor-group-container.active .title .editor-actions a.codicon-{icon}");
        assert_eq!(workbench.page.count(&own), count, "{icon}");
    }
    workbench.run("Linkspan: Show Bridge Status");
    workbench.sees_notification(&format!("Linkspan runs on http://127.0.0.1:{}", window.port));
}

fn a_comment_names_its_line(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\n");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "one\ntwo\nthree\n", "tab");
    window.workbench.look_at(REVIEW);
    window.workbench.go_to_line(2);
    window.workbench.comment("why two?");
    window.workbench.click_title(REVIEW, "Reject Change");
    assert_eq!(nexus3.texts(call), ["DIFF_REJECTED", "line 2: why two?"]);
    assert_eq!(window.world.read_text("a.txt"), "one\n");
    window.workbench.sees_no_tab(REVIEW);
}

fn a_new_file_is_created_on_accept(window: &EditorWindow<'_>) {
    let path = window.world.path_str("deep/new.txt");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "fresh\n", "tab");
    window.workbench.look_at("new.txt ←");
    window.workbench.shows("new.txt ←", "fresh");
    assert!(!window.world.path("deep/new.txt").exists());
    window.workbench.click_title("new.txt ←", "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(window.world.read_text("deep/new.txt"), "fresh\n");
    window.workbench.sees_no_tab("new.txt ←");
}

fn line_endings_are_kept(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "\u{feff}one\r\ntwo\r\nthree");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "one\n2\nthree", "tab");
    window.workbench.look_at(REVIEW);
    window.workbench.press("Control+Home");
    window.workbench.types("zero\n");
    window.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(window.world.read("a.txt"), "\u{feff}zero\r\none\r\n2\r\nthree".as_bytes());
    window.workbench.sees_no_tab(REVIEW);
}

fn the_hub_writes_for_an_agent_that_is_gone(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    let path = world.file("a.txt", "one\n");
    let mut claude = window.claude();
    claude.propose(&path, "two\n", "tab");
    workbench.look_at(REVIEW);
    workbench.open_reviews();
    workbench.sees_row("a.txt");
    assert!(!workbench.rows().join("").contains("agent gone"), "{:?}", workbench.rows());
    claude.drop_socket();
    workbench.sees_row("agent gone");
    workbench.look_at(REVIEW);
    workbench.click_title(REVIEW, "Accept Change");
    workbench.sees_notification("claude-code no longer waits for the answer");
    assert_eq!(world.read("a.txt"), b"one\n", "nothing is decided yet");
    assert_eq!(world.reviews()[0]["phase"], "pending");
    workbench.click_notification("no longer waits", "Keep it pending");
    workbench.page.waits("the message is closed", |_| workbench.notifications().is_empty().then_some(()));
    workbench.sees_badge("1");
    assert_eq!((world.read("a.txt"), world.pending(1).len()), (b"one\n".to_vec(), 1), "kept");
    workbench.click_title(REVIEW, "Accept Change");
    workbench.click_notification("no longer waits", "Write it here");
    workbench.sees_no_tab(REVIEW);
    assert_eq!(world.read("a.txt"), b"two\n");
    assert_eq!(world.json(&["history"])["entries"][0]["onDisk"], true);
}

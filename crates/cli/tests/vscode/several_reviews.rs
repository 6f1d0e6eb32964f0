//! Several reviews at once, from one agent and from two, and where they appear.

use serde_json::json;

use crate::runner::{Scenarios, scenarios};
use crate::support::*;

pub(crate) const SCENARIOS: Scenarios = scenarios! { InOneWindow:
    five_files_are_accepted_at_once
    each_of_two_agents_receives_its_own_decision
    a_set_is_one_editor
    two_sessions_of_one_agent_are_two_rows
};
pub(crate) const SETTINGS: Scenarios = scenarios! { InOwnWindows:
    in_the_background_nothing_on_screen_moves
    only_in_the_list
};

fn five_files_are_accepted_at_once(window: &EditorWindow<'_>) {
    let mut agent = OwnAgent::join(window.world, "five");
    let names = ["a.txt", "b.txt", "c/d.txt", "e.txt", "f.txt"];
    let calls = names.map(|name| {
        let path = window.world.file(name, "one\n");
        agent
            .call("proposeChange", json!({ "path": path, "newText": format!("two {name}\n"), "set": "five" }))
    });
    window.world.pending(5);
    window.workbench.open_reviews();
    for name in names {
        window.workbench.sees_row(name.rsplit('/').next().unwrap());
    }
    window.workbench.sees_badge("5");
    std::thread::sleep(workbench::LOOK);
    window.workbench.sees_row("five");
    window.workbench.sees_row("+1 −1");
    window.workbench.click_in_view("Accept All Changes");
    let asked = ".monaco-dialog-box";
    let text = window.workbench.page.says(asked, "Accept 5 changes?");
    assert!(names.iter().all(|name| text.contains(name.rsplit('/').next().unwrap())), "{text}");
    assert!(text.contains("You have not opened 4 of them."), "{text}");
    window.workbench.page.click(".monaco-dialog-box .monaco-button:has-text('Accept All')");
    for (name, call) in names.into_iter().zip(calls) {
        let result = agent.told(call);
        assert_eq!((&result["outcome"], &result["written"]), (&json!("accepted"), &json!(true)));
        assert_eq!(window.world.read_text(name), format!("two {name}\n"));
    }
    window.workbench.sees_no_row("a.txt");
    window.workbench.sees_no_tab("a.txt ←");
    window.workbench.sees_badge("");
    window.workbench.click_notification("Accepted 5 changes", "Undo All");
    window.workbench.sees_notification("Undone 5 changes");
    assert!(names.iter().all(|name| window.world.read_text(name) == "one\n"));
}

fn a_set_is_one_editor(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    let mut agent = OwnAgent::join(world, "set");
    for name in ["a.txt", "b.txt"] {
        let path = world.file(name, "one\n");
        agent.call(
            "proposeChange",
            json!({ "path": path, "newText": format!("two {name}\n"), "set": "both" }),
        );
    }
    world.pending(2);
    workbench.open_reviews();
    workbench.click_in_row("both", "Open All Changes");
    workbench.page.sees(".multiDiffEntry:has-text('two a.txt'), .multi-diff-editor:has-text('two a.txt')");
    workbench.page.waits("both files", |page| {
        let text = page.texts(".editor-group-container.active .view-line").join("\n").replace('\u{a0}', " ");
        (text.contains("two a.txt") && text.contains("two b.txt")).then_some(())
    });
}

fn two_sessions_of_one_agent_are_two_rows(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    let path = world.file("a.txt", "one\n");
    workbench.open_reviews();
    workbench.run("Linkspan: Focus on Agents View");
    let (mut first, mut second) = (window.claude(), window.claude());
    workbench.page.waits("two rows", |_| {
        let rows = workbench.rows();
        let sessions = rows.iter().filter(|row| row.contains("claude-code") && row.contains("session"));
        (sessions.count() == 2).then_some(())
    });
    workbench.sees_row("asks before it runs anything");
    workbench.open_file("a.txt");
    workbench.run("Linkspan: Send to Agent");
    workbench.quick_pick("All", "All agents");
    assert_eq!(first.notification("at_mentioned")["params"]["filePath"], path);
    assert_eq!(second.notification("at_mentioned")["params"]["filePath"], path);
    workbench.sees_status("Sent a.txt to claude-code");
}

fn each_of_two_agents_receives_its_own_decision(window: &EditorWindow<'_>) {
    let (a, b) = (window.world.file("a.txt", "one\n"), window.world.file("b.txt", "one\n"));
    let (mut claude, mut nexus3) = (window.claude(), window.nexus3());
    let of_claude = claude.propose(&a, "two\n", "tab");
    window.workbench.sees_tab("a.txt ←");
    let of_nexus3 = nexus3.propose(&b, "three\n", "tab");
    window.workbench.sees_tab("b.txt ←");
    window.workbench.open_reviews();
    window.workbench.sees_row("nexus3");
    window.workbench.click_in_row("b.txt", "Reject Change");
    assert_eq!(nexus3.texts(of_nexus3)[0], "DIFF_REJECTED");
    window.workbench.sees_no_row("b.txt");
    window.workbench.look_at("a.txt ←");
    window.workbench.click_title("a.txt ←", "Accept Change");
    assert_eq!(claude.texts(of_claude), ["FILE_SAVED", "two\n"]);
    assert_eq!(
        (window.world.read_text("a.txt"), window.world.read_text("b.txt")),
        ("one\n".into(), "one\n".into())
    );
}

fn in_the_background_nothing_on_screen_moves(session: &VsCodeSession) {
    let window = session.open_with(&json!({ "linkspan.review.open": "background" }));
    let path = window.world.file("a.txt", "one\n");
    window.world.file("mine.txt", "mine\n");
    window.workbench.open_file("mine.txt");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    assert!(!window.workbench.sees_tab("a.txt ←").active);
    assert!(window.workbench.sees_tab("mine.txt").active);
    window.workbench.look_at("a.txt ←");
    window.workbench.click_title("a.txt ←", "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(window.world.read_text("a.txt"), "two\n");
}

fn only_in_the_list(session: &VsCodeSession) {
    let window = session.open_with(&json!({ "linkspan.review.open": "list" }));
    let path = window.world.file("a.txt", "one\n");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    window.workbench.sees_badge("1");
    assert_eq!(window.workbench.tabs(), []);
    window.workbench.open_reviews();
    window.workbench.click_in_row("a.txt", "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(window.world.read_text("a.txt"), "two\n");
    assert_eq!(window.workbench.tabs(), []);
}

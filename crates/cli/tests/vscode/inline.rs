//! The inline style: one editor with the proposed text, which the user can edit.

use serde_json::json;

use crate::runner::{Scenarios, scenarios};
use crate::support::*;

pub(crate) const SCENARIOS: Scenarios =
    scenarios! { InOneWindow: a_change_whose_agent_asks_for_it_is_one_editor };
pub(crate) const INLINE_STYLE: Scenarios =
    scenarios! { InOwnWindows: a_change_is_one_editor_and_decided_by_hunk };

const BASE: &str = "1\n2\n3\n4\n5\n6\n";

fn a_change_is_one_editor_and_decided_by_hunk(session: &VsCodeSession) {
    let window = session.open_with(&json!({ "linkspan.review.style": "inline" }));
    let EditorWindow { workbench, world, .. } = &window;
    let path = world.file("a.txt", BASE);
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "one\n2\n3\n4\n5\nsix\n", "tab");
    workbench.sees_tab("a.txt");
    workbench.shows("a.txt", "six");
    // It is not part of the text.
    workbench.page.until(
        "[...document.querySelectorAll('.view-line span')] \
           .some((span) => getComputedStyle(span, '::after').content.includes('− 6'))",
    );
    assert!(!workbench.page.shows(".editor.modified"), "it is not a diff");
    workbench.look_at("a.txt");
    workbench.page.sees("a.action-label[aria-label^='Accept Change']");
    workbench.go_to_line(6);
    workbench.press("Alt+N");
    workbench.sees_lens("a.txt", "Rejected");
    workbench.press("Alt+Y");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "one\n2\n3\n4\n5\n6\n");
    workbench.sees_no_tab("a.txt");
}

fn a_change_whose_agent_asks_for_it_is_one_editor(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    let path = world.file("a.txt", BASE);
    let mut clio = Agent::open(window.port, &[]).unwrap();
    clio.send_json(&json!({ "type": "connect" }));
    assert_eq!(clio.next_frame(DEADLINE).unwrap()["type"], "connected");
    let range = json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 1 } });
    let edits = json!([{ "range": range, "oldText": "2", "newText": "two" }]);
    clio.send_json(&json!({ "type": "proposeDiff", "file": path, "edits": edits }));
    workbench.sees_lens("a.txt", "Accept Hunk");
    workbench.shows("a.txt", "two");
    std::thread::sleep(workbench::LOOK);
    workbench.click_lens("a.txt", "Accept Hunk", 1);
    assert_eq!(clio.next_frame(DEADLINE).unwrap()["type"], "diffAccepted");
    workbench.sees_no_tab("a.txt");
    assert_eq!(world.read_text("a.txt"), BASE.replace('2', "two"));
}

//! The inline style: a change shown in the file itself.

use serde_json::json;

use crate::runner::{Scenarios, scenarios};
use crate::support::*;

pub(crate) const SCENARIOS: Scenarios =
    scenarios! { InOneWindow: a_change_whose_agent_asks_for_it_is_shown_in_the_file };
pub(crate) const INLINE_STYLE: Scenarios =
    scenarios! { InOwnWindows: a_change_is_shown_in_the_file_and_decided_by_hunk };

const BASE: &str = "1\n2\n3\n4\n5\n6\n";

fn a_change_is_shown_in_the_file_and_decided_by_hunk(session: &VsCodeSession) {
    let window = session.open_with(&json!({ "linkspan.review.style": "inline" }));
    let path = window.world.file("a.txt", BASE);
    window.workbench.open_file("a.txt");
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&path, "one\n2\n3\n4\n5\nsix\n", "tab");
    window.workbench.sees_lens("a.txt", "Accept Hunk");
    window.workbench.page.sees(".review-widget:has-text('six')");
    assert_eq!(window.workbench.tabs().len(), 1, "only the file itself");
    assert!(!window.workbench.sees_tab("a.txt").dirty, "the proposal is not in the file");
    std::thread::sleep(workbench::LOOK);
    window.workbench.click_lens("a.txt", "Reject Hunk", 2);
    window.workbench.sees_lens("a.txt", "Rejected");
    window.workbench.click_lens("a.txt", "Accept Hunk", 1);
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    let expected = "one\n2\n3\n4\n5\n6\n";
    assert_eq!(window.world.read_text("a.txt"), expected);
    window.workbench.shows("a.txt", expected.trim_end());
    window.workbench.page.sees_no(".review-widget");
    a_new_file_is_still_shown_as_a_diff(&window);
}

fn a_new_file_is_still_shown_as_a_diff(window: &EditorWindow<'_>) {
    let mut nexus3 = window.nexus3();
    let call = nexus3.propose(&window.world.path_str("new.txt"), "fresh\n", "tab");
    window.workbench.look_at("new.txt ←");
    window.workbench.click_title("new.txt ←", "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(window.world.read_text("new.txt"), "fresh\n");
}

fn a_change_whose_agent_asks_for_it_is_shown_in_the_file(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", BASE);
    window.workbench.open_file("a.txt");
    let mut clio = Agent::open(window.port, &[]).unwrap();
    clio.send_json(&json!({ "type": "connect" }));
    assert_eq!(clio.next_frame(DEADLINE).unwrap()["type"], "connected");
    let range = json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 1 } });
    let edits = json!([{ "range": range, "oldText": "2", "newText": "two" }]);
    clio.send_json(&json!({ "type": "proposeDiff", "file": path, "edits": edits }));
    window.workbench.sees_lens("a.txt", "Accept Hunk");
    window.workbench.page.sees(".review-widget:has-text('two')");
    std::thread::sleep(workbench::LOOK);
    window.workbench.click_lens("a.txt", "Accept Hunk", 1);
    assert_eq!(clio.next_frame(DEADLINE).unwrap()["type"], "diffAccepted");
    window.workbench.shows("a.txt", "1\ntwo\n3\n4\n5\n6");
    assert_eq!(window.world.read_text("a.txt"), BASE.replace('2', "two"));
}

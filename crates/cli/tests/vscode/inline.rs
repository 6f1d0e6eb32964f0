//! The other presentation: a change shown in the file itself.

use serde_json::json;

use crate::on_both;
use crate::person::*;
use crate::support::*;

on_both! {
    a_change_is_shown_in_the_file_and_taken_by_hunk
    a_change_whose_agent_asks_for_it_is_shown_in_the_file
}

const BASE: &str = "1\n2\n3\n4\n5\n6\n";

fn a_change_is_shown_in_the_file_and_taken_by_hunk(version: Version) {
    let Some(desk) = Desk::with(version, &json!({ "linkspan.review.style": "inline" })) else { return };
    let path = desk.world.file("a.txt", BASE);
    desk.workbench.open_file("a.txt");
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "one\n2\n3\n4\n5\nsix\n", "tab");
    desk.workbench.sees_lens("a.txt", "Accept Hunk");
    desk.workbench.page.sees(".review-widget:has-text('six')");
    assert_eq!(desk.workbench.tabs().len(), 1, "nothing but the file itself");
    assert!(!desk.workbench.sees_tab("a.txt").dirty, "what is shown is not in the file");
    std::thread::sleep(LOOK);
    desk.workbench.click_lens("a.txt", "Reject Hunk", 2);
    desk.workbench.sees_lens("a.txt", "Rejected");
    desk.workbench.click_lens("a.txt", "Accept Hunk", 1);
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    let expected = "one\n2\n3\n4\n5\n6\n";
    assert_eq!(desk.world.read_text("a.txt"), expected);
    desk.workbench.shows("a.txt", expected.trim_end());
    desk.workbench.page.sees_no(".review-widget");
    a_new_file_is_shown_as_a_diff_all_the_same(&desk);
}

fn a_new_file_is_shown_as_a_diff_all_the_same(desk: &Desk) {
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&desk.world.path_str("new.txt"), "fresh\n", "tab");
    desk.workbench.look_at("new.txt ←");
    desk.workbench.click_title("new.txt ←", "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(desk.world.read_text("new.txt"), "fresh\n");
}

fn a_change_whose_agent_asks_for_it_is_shown_in_the_file(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let path = desk.world.file("a.txt", BASE);
    desk.workbench.open_file("a.txt");
    let mut clio = Agent::open(desk.port, &[]).unwrap();
    clio.send_json(&json!({ "type": "connect" }));
    assert_eq!(clio.next_frame(DEADLINE).unwrap()["type"], "connected");
    let range = json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 1 } });
    let edits = json!([{ "range": range, "oldText": "2", "newText": "two" }]);
    clio.send_json(&json!({ "type": "proposeDiff", "file": path, "edits": edits }));
    desk.workbench.sees_lens("a.txt", "Accept Hunk");
    desk.workbench.page.sees(".review-widget:has-text('two')");
    std::thread::sleep(LOOK);
    desk.workbench.click_lens("a.txt", "Accept Hunk", 1);
    assert_eq!(clio.next_frame(DEADLINE).unwrap()["type"], "diffAccepted");
    desk.workbench.shows("a.txt", "1\ntwo\n3\n4\n5\n6");
    assert_eq!(desk.world.read_text("a.txt"), BASE.replace('2', "two"));
}

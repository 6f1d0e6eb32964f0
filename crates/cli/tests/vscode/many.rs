//! Many changes at once, of one agent and of several, and where they appear.

use serde_json::json;

use crate::on_both;
use crate::person::*;
use crate::support::*;

on_both! {
    five_files_are_accepted_at_once
    two_agents_hear_each_its_own
    in_the_background_nothing_on_screen_moves
    only_in_the_list
}

fn five_files_are_accepted_at_once(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let mut agent = OwnAgent::join(&desk.world, "five");
    let names = ["a.txt", "b.txt", "c/d.txt", "e.txt", "f.txt"];
    let calls = names.map(|name| {
        let path = desk.world.file(name, "one\n");
        agent
            .call("proposeChange", json!({ "path": path, "newText": format!("two {name}\n"), "set": "five" }))
    });
    desk.world.pending(5);
    desk.workbench.open_reviews();
    for name in names {
        desk.workbench.sees_row(name.rsplit('/').next().unwrap());
    }
    assert_eq!(desk.workbench.badge(), "5");
    std::thread::sleep(LOOK);
    desk.workbench.click_in_view("Accept All Changes");
    for (name, call) in names.into_iter().zip(calls) {
        let told = agent.told(call);
        assert_eq!((&told["outcome"], &told["written"]), (&json!("accepted"), &json!(true)));
        assert_eq!(desk.world.read_text(name), format!("two {name}\n"));
    }
    desk.workbench.sees_no_row("a.txt");
    desk.workbench.sees_no_tab("a.txt ←");
    assert_eq!(desk.workbench.badge(), "");
}

fn two_agents_hear_each_its_own(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let (a, b) = (desk.world.file("a.txt", "one\n"), desk.world.file("b.txt", "one\n"));
    let (mut claude, mut nexus3) = (desk.claude(), desk.nexus3());
    let of_claude = claude.propose(&a, "two\n", "tab");
    desk.workbench.sees_tab("a.txt ←");
    let of_nexus3 = nexus3.propose(&b, "three\n", "tab");
    desk.workbench.sees_tab("b.txt ←");
    desk.workbench.open_reviews();
    desk.workbench.sees_row("nexus3");
    desk.workbench.click_in_row("b.txt", "Reject Change");
    assert_eq!(nexus3.texts(of_nexus3)[0], "DIFF_REJECTED");
    desk.workbench.sees_no_row("b.txt");
    desk.workbench.look_at("a.txt ←");
    desk.workbench.click_title("a.txt ←", "Accept Change");
    assert_eq!(claude.texts(of_claude), ["FILE_SAVED", "two\n"]);
    assert_eq!(
        (desk.world.read_text("a.txt"), desk.world.read_text("b.txt")),
        ("one\n".into(), "one\n".into())
    );
}

fn in_the_background_nothing_on_screen_moves(version: Version) {
    let Some(desk) = Desk::with(version, &json!({ "linkspan.review.open": "background" })) else { return };
    let path = desk.world.file("a.txt", "one\n");
    desk.world.file("mine.txt", "mine\n");
    desk.workbench.open_file("mine.txt");
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    assert!(!desk.workbench.sees_tab("a.txt ←").active);
    assert!(desk.workbench.sees_tab("mine.txt").active);
    desk.workbench.look_at("a.txt ←");
    desk.workbench.click_title("a.txt ←", "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(desk.world.read_text("a.txt"), "two\n");
}

fn only_in_the_list(version: Version) {
    let Some(desk) = Desk::with(version, &json!({ "linkspan.review.open": "list" })) else { return };
    let path = desk.world.file("a.txt", "one\n");
    let mut nexus3 = desk.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    desk.workbench.page.waits("the badge", |_| (desk.workbench.badge() == "1").then_some(()));
    assert_eq!(desk.workbench.tabs(), []);
    desk.workbench.open_reviews();
    desk.workbench.click_in_row("a.txt", "Accept Change");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(desk.world.read_text("a.txt"), "two\n");
    assert_eq!(desk.workbench.tabs(), []);
}

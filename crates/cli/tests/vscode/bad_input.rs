//! What a window meets that it was not made for: files too large, documents that vanish, a folder that nobody trusts,
//! an extension that is switched off. It is said once, and nothing is lost: what waits goes on waiting.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::on_both;
use crate::person::*;
use crate::support::*;

on_both! {
    a_file_over_the_limit_is_refused_and_said_once
    a_document_closed_under_its_review_is_written_all_the_same
    a_document_thrown_away_under_its_review_leaves_what_is_on_disk
    an_extension_that_is_off_keeps_what_waits
    a_folder_that_is_not_trusted_has_reviews_but_runs_nothing
}

const REVIEW: &str = "a.txt ←";

fn a_file_over_the_limit_is_refused_and_said_once(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let large = "x".repeat(51 * 1024 * 1024);
    let path = desk.world.file("large.txt", &large);
    let mut agent = desk.claude();
    let call = agent.propose(&path, "small\n", "tab");
    let message = desk.workbench.is_told("large.txt");
    assert!(message.contains("limits.file_mib"), "{message}");
    let answer = agent.answer(call).to_string();
    assert!(answer.contains("large.txt"), "{answer}");

    desk.workbench.close_notification("large.txt");
    let again = agent.propose(&path, "small\n", "tab");
    let answer = agent.answer(again).to_string();
    assert!(answer.contains("large.txt"), "{answer}");
    sleep(Duration::from_secs(1));
    let about = desk.workbench.notifications().into_iter().filter(|said| said.contains("large.txt")).count();
    assert_eq!(about, 0, "it is said again");
    assert!(desk.world.reviews().is_empty());
    assert_eq!(desk.world.read("large.txt").len(), large.len());
}

fn a_document_closed_under_its_review_is_written_all_the_same(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let path = desk.world.file("a.txt", "one\n");
    desk.workbench.open_file("a.txt");
    let mut agent = desk.nexus3();
    let call = agent.propose(&path, "two\n", "tab");
    desk.workbench.sees_tab(REVIEW);
    desk.workbench.close_tab("a.txt");
    desk.workbench.look_at(REVIEW);
    desk.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(desk.world.read_text("a.txt"), "two\n");
}

/// Unsaved text was the base. Once it is gone, the change is looked at again with what the file holds.
fn a_document_thrown_away_under_its_review_leaves_what_is_on_disk(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let path = desk.world.file("a.txt", "one\ntwo\nthree\n");
    desk.workbench.open_file("a.txt");
    desk.workbench.types("mine ");
    let mut agent = desk.nexus3();
    // Keys reach extensions later than the screen: the base is to be all of what was typed. NEXUS3 is not told of a bare
    // cursor, Claude Code is.
    let mut claude = desk.claude();
    eventually("all of it is typed", || {
        let told = claude.call("getCurrentSelection", json!({})).to_string();
        told.contains(r#"\"character\":5"#).then_some(())
    });
    let call = agent.propose(&path, "mine one\ntwo\n3\n", "tab");
    desk.workbench.sees_tab(REVIEW);
    desk.workbench.look_at("a.txt");
    desk.workbench.run("File: Revert File");
    desk.workbench.page.waits("her text is gone", |_| {
        desk.workbench.tabs().iter().any(|tab| tab.is("a.txt") && !tab.dirty).then_some(())
    });
    desk.workbench.look_at(REVIEW);
    desk.workbench.click_title(REVIEW, "Accept Change");
    let answer = agent.answer_within(call, Duration::from_secs(5)).unwrap_or_else(|| {
        // She is asked to look again at what the file holds now.
        desk.workbench.look_at(REVIEW);
        desk.workbench.click_title(REVIEW, "Accept Change");
        agent.answer(call)
    });
    assert_eq!(agent::texts(&answer)[0], "FILE_SAVED");
    assert_eq!(desk.world.read_text("a.txt"), "one\ntwo\n3\n");
}

fn an_extension_that_is_off_keeps_what_waits(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let path = desk.world.file("a.txt", "one\n");
    let mut agent = desk.nexus3();
    let call = agent.propose(&path, "two\n", "tab");
    desk.workbench.sees_tab(REVIEW);
    let review = desk.world.one_pending();

    desk.workbench.run("Extensions: Disable All Installed Extensions");
    desk.workbench.reload();
    eventually("the window is gone", || {
        (desk.world.status()["windows"][0]["attached"] == json!(false)).then_some(())
    });
    assert_eq!(desk.world.one_pending(), review);
    assert_eq!(desk.world.read_text("a.txt"), "one\n");
    agent.is_served();

    desk.workbench.run("Extensions: Enable All Extensions");
    desk.workbench.reload();
    assert_eq!(desk.workbench.attached(&desk.world), desk.port);
    assert_eq!(desk.world.one_pending(), review);
    desk.workbench.look_at(REVIEW);
    desk.workbench.shows(REVIEW, "two");
    desk.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(desk.world.read_text("a.txt"), "two\n");
}

fn a_folder_that_is_not_trusted_has_reviews_but_runs_nothing(version: Version) {
    let settings = json!({
        "security.workspace.trust.enabled": true,
        "security.workspace.trust.startupPrompt": "never",
        "security.workspace.trust.banner": "never",
    });
    let Some(desk) = Desk::with(version, &settings) else { return };
    desk.workbench.sees_status("Restricted Mode");
    let mut own = OwnAgent::join(&desk.world, "untrusted");
    let refused = own.call("runInTerminal", json!({ "command": "touch ran" }));
    assert_eq!(own.told(refused)["error"]["kind"], "unsupported");
    assert!(!desk.world.path("ran").exists());

    let path = desk.world.file("a.txt", "one\n");
    let mut agent = desk.nexus3();
    let call = agent.propose(&path, "two\n", "tab");
    desk.workbench.look_at(REVIEW);
    desk.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(desk.world.read_text("a.txt"), "two\n");
}

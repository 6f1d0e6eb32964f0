//! Unusual conditions: files that are too large, documents that disappear, an untrusted folder, a disabled extension. Each
//! is reported once, and no review is lost.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::runner::{Scenarios, scenarios};
use crate::support::*;

pub(crate) const SCENARIOS: Scenarios = scenarios! { InOneWindow:
    a_file_over_the_limit_is_refused_with_one_message
    a_document_closed_during_its_review_is_still_written
    a_document_reverted_during_its_review_keeps_the_text_on_disk
};
pub(crate) const OWN_WINDOWS: Scenarios = scenarios! { InOwnWindows:
    a_disabled_extension_keeps_pending_reviews
    an_untrusted_folder_has_reviews_but_runs_nothing
};

const REVIEW: &str = "a.txt ←";

fn a_file_over_the_limit_is_refused_with_one_message(window: &EditorWindow<'_>) {
    let large = "x".repeat(51 * 1024 * 1024);
    let path = window.world.file("large.txt", &large);
    let mut agent = window.claude();
    let call = agent.propose(&path, "small\n", "tab");
    let message = window.workbench.sees_notification("large.txt");
    assert!(message.contains("limits.file_mib"), "{message}");
    let answer = agent.answer(call).to_string();
    assert!(answer.contains("large.txt"), "{answer}");

    window.workbench.close_notification("large.txt");
    let again = agent.propose(&path, "small\n", "tab");
    let answer = agent.answer(again).to_string();
    assert!(answer.contains("large.txt"), "{answer}");
    sleep(Duration::from_secs(1));
    let about =
        window.workbench.notifications().into_iter().filter(|text| text.contains("large.txt")).count();
    assert_eq!(about, 0, "the message is repeated");
    assert!(window.world.reviews().is_empty());
    assert_eq!(window.world.read("large.txt").len(), large.len());
}

fn a_document_closed_during_its_review_is_still_written(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\n");
    window.workbench.open_file("a.txt");
    let mut agent = window.nexus3();
    let call = agent.propose(&path, "two\n", "tab");
    window.workbench.sees_tab(REVIEW);
    window.workbench.close_tab("a.txt");
    window.workbench.look_at(REVIEW);
    window.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(window.world.read_text("a.txt"), "two\n");
}

/// Unsaved text was the base. Once it is gone, the change is reviewed again on the text of the file.
fn a_document_reverted_during_its_review_keeps_the_text_on_disk(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\ntwo\nthree\n");
    window.workbench.open_file("a.txt");
    window.workbench.types("mine ");
    let mut agent = window.nexus3();
    // Keys reach extensions later than the screen, and the base must be all of the typed text. Claude Code is notified of
    // a bare cursor, NEXUS3 is not.
    let mut claude = window.claude();
    eventually("all of it is typed", || {
        let selection = claude.call("getCurrentSelection", json!({})).to_string();
        selection.contains(r#"\"character\":5"#).then_some(())
    });
    let call = agent.propose(&path, "mine one\ntwo\n3\n", "tab");
    window.workbench.sees_tab(REVIEW);
    window.workbench.look_at("a.txt");
    window.workbench.run("File: Revert File");
    window.workbench.page.waits("the unsaved text is gone", |_| {
        window.workbench.tabs().iter().any(|tab| tab.is("a.txt") && !tab.dirty).then_some(())
    });
    window.workbench.look_at(REVIEW);
    window.workbench.click_title(REVIEW, "Accept Change");
    let answer = agent.answer_within(call, Duration::from_secs(5)).unwrap_or_else(|| {
        // The user is asked to review it again on the current text of the file.
        window.workbench.look_at(REVIEW);
        window.workbench.click_title(REVIEW, "Accept Change");
        agent.answer(call)
    });
    assert_eq!(agent::texts(&answer)[0], "FILE_SAVED");
    assert_eq!(window.world.read_text("a.txt"), "one\ntwo\n3\n");
}

fn a_disabled_extension_keeps_pending_reviews(session: &VsCodeSession) {
    let window = session.open();
    let path = window.world.file("a.txt", "one\n");
    let mut agent = window.nexus3();
    let call = agent.propose(&path, "two\n", "tab");
    window.workbench.sees_tab(REVIEW);
    let review = window.world.one_pending();

    window.workbench.run("Extensions: Disable All Installed Extensions");
    window.workbench.reload();
    eventually("the window is gone", || {
        (window.world.status()["windows"][0]["attached"] == json!(false)).then_some(())
    });
    assert_eq!(window.world.one_pending(), review);
    assert_eq!(window.world.read_text("a.txt"), "one\n");
    agent.is_served();

    window.workbench.run("Extensions: Enable All Extensions");
    window.workbench.reload();
    assert_eq!(window.workbench.attached(window.world), window.port);
    assert_eq!(window.world.one_pending(), review);
    window.workbench.look_at(REVIEW);
    window.workbench.shows(REVIEW, "two");
    window.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(window.world.read_text("a.txt"), "two\n");
}

fn an_untrusted_folder_has_reviews_but_runs_nothing(session: &VsCodeSession) {
    let settings = json!({
        "security.workspace.trust.enabled": true,
        "security.workspace.trust.startupPrompt": "never",
        "security.workspace.trust.banner": "never",
    });
    let window = session.open_with(&settings);
    window.workbench.sees_status("Restricted Mode");
    let mut own = OwnAgent::join(window.world, "untrusted");
    let refused = own.call("runInTerminal", json!({ "command": "touch ran" }));
    assert_eq!(own.told(refused)["error"]["kind"], "unsupported");
    assert!(!window.world.path("ran").exists());

    let path = window.world.file("a.txt", "one\n");
    let mut agent = window.nexus3();
    let call = agent.propose(&path, "two\n", "tab");
    window.workbench.look_at(REVIEW);
    window.workbench.click_title(REVIEW, "Accept Change");
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(window.world.read_text("a.txt"), "two\n");
}

//! What is answered and what is written after each decision: the agent writes its own proposal, the hub anything else.

use std::time::Duration;

use linkspan_editor_api as api;
use serde_json::json;

use super::fixture::{NEW, OLD, TAB, fixture};
use crate::support::copilot::inner;
use crate::support::*;

#[test]
fn an_accepted_change_is_saved_by_the_agent() {
    let mut fixture = fixture();
    let pending = fixture.propose();
    pending.waits();
    let shown = fixture.editor.shown(&fixture.path);
    assert_eq!((shown.label.as_str(), shown.dialect.as_str()), (TAB, "copilot"));
    fixture.editor.accept(&shown);
    let said = inner(&pending.answer());
    assert_eq!(
        (&said["success"], &said["result"], &said["trigger"], &said["tab_name"]),
        (&json!(true), &json!("SAVED"), &json!("accepted_via_button"), &json!(TAB))
    );
    assert_eq!(fixture.world.read_text("a.txt"), OLD, "in this dialect the agent writes, not we");
    fixture.delivered();
}

#[test]
fn a_rejected_change_is_not_written() {
    let mut fixture = fixture();
    let pending = fixture.propose();
    let shown = fixture.editor.shown(&fixture.path);
    let verdict = api::Verdict::Reject { reason: Some("use the helper".into()) };
    assert_eq!(fixture.editor.decide(&shown, verdict), api::ReviewDecidedResult::Taken);
    let (result, message) = pending.decision();
    assert_eq!((result.as_str(), message.contains("use the helper")), ("REJECTED", true), "{message}");
    assert_eq!(fixture.world.read_text("a.txt"), OLD);
    fixture.delivered();
}

#[test]
fn some_hunks_are_written_by_the_hub_and_the_agent_writes_nothing() {
    let fixture = fixture();
    let pending = fixture.propose();
    let review = fixture.world.one_pending();
    fixture.world.run(&["accept", &review, "--hunk", "1"]).ok();
    let (result, message) = pending.decision();
    assert_eq!(result, "REJECTED", "after SAVED the agent would write the other hunk, too");
    assert!(message.contains("only a part") && message.contains("The file is saved"), "{message}");
    assert_eq!(fixture.world.read_text("a.txt"), OLD.replace("two", "TWO"));
    fixture.delivered();
}

#[test]
fn an_edited_text_is_written_by_the_hub_and_the_agent_writes_nothing() {
    let mut fixture = fixture();
    let pending = fixture.propose();
    let shown = fixture.editor.shown(&fixture.path);
    let edited = NEW.replace("TWO", "2");
    let shown = fixture.editor.edit(&shown, &edited);
    fixture.editor.accept(&shown);
    let (result, message) = pending.decision();
    assert_eq!((result.as_str(), message.contains("with edits")), ("REJECTED", true), "{message}");
    assert_eq!(fixture.world.read_text("a.txt"), edited);
    fixture.delivered();
}

#[test]
fn a_change_of_a_file_that_changed_meanwhile_is_merged_and_written_by_the_hub() {
    let mut fixture = fixture();
    let pending = fixture.propose();
    let shown = fixture.editor.shown(&fixture.path);
    fixture.world.file("a.txt", OLD.replace("four", "4"));
    fixture.editor.accept(&shown);
    assert_eq!(pending.decision().0, "REJECTED", "the agent would write over the user's line");
    assert_eq!(fixture.world.read_text("a.txt"), NEW.replace("four", "4"));
}

#[test]
fn a_new_file_is_made_by_the_agent_and_an_edited_one_by_the_hub() {
    let mut fixture = fixture();
    let path = fixture.world.path_str("n.txt");
    let pending = fixture.agent.open_diff(&path, "new\nfile\n", "n");
    let shown = fixture.editor.shown(&path);
    assert!(shown.new_file);
    fixture.editor.accept(&shown);
    assert_eq!(pending.decision().0, "SAVED");
    assert!(!fixture.world.path("n.txt").exists());
    let other = fixture.world.path_str("m.txt");
    let pending = fixture.agent.open_diff(&other, "new\nfile\n", "m");
    let shown = fixture.editor.shown(&other);
    let shown = fixture.editor.edit(&shown, "mine\n");
    fixture.editor.accept(&shown);
    assert_eq!(pending.decision().0, "REJECTED");
    assert_eq!(fixture.world.read_text("m.txt"), "mine\n");
}

#[test]
fn a_change_that_was_decided_in_the_terminal_is_withdrawn() {
    let fixture = fixture();
    let pending = fixture.propose();
    let review = fixture.world.one_pending();
    let closed = fixture.agent.tool("close_diff", json!({ "tab_name": TAB }));
    assert_eq!(
        (&closed["success"], &closed["already_closed"], &closed["tab_name"]),
        (&json!(true), &json!(false), &json!(TAB))
    );
    assert_eq!(fixture.editor.hidden(&review), api::HideReason::Withdrawn);
    assert!(pending.answer()["error"].is_object(), "no answer may look like a decision");
    assert_ne!(fixture.world.run(&["accept", &review]).code, 0, "a late decision is refused");
    let again = fixture.agent.tool("close_diff", json!({ "tab_name": TAB }));
    assert_eq!(again["already_closed"], true);
}

#[test]
fn a_closed_tab_is_not_a_decision() {
    let fixture = fixture();
    let pending = fixture.propose();
    let review = fixture.world.one_pending();
    fixture.editor.send(&api::ReviewClosed { review: review.clone() });
    pending.waits();
    fixture.world.run(&["accept", &review]).ok();
    assert_eq!(pending.decision().0, "SAVED");
}

#[test]
fn changes_of_two_files_are_decided_one_by_one_and_in_any_order() {
    let mut fixture = fixture();
    let other = fixture.world.file("b.txt", "b\n");
    let first = fixture.propose();
    let second = fixture.agent.open_diff(&other, "B\n", "b");
    let shown = fixture.editor.shown(&other);
    fixture.editor.accept(&shown);
    assert_eq!(second.decision().0, "SAVED");
    first.waits();
    let shown = fixture.editor.shown(&fixture.path);
    fixture.editor.reject(&shown);
    assert_eq!(first.decision().0, "REJECTED");
}

#[test]
fn selection_and_diagnostics_reach_the_agent_asked_and_unasked() {
    let mut fixture = fixture();
    let path = fixture.path.clone();
    fixture.editor.open(&path, OLD, false);
    assert_eq!(fixture.agent.tool("get_selection", json!({})), json!(null));
    let at = |character| api::Position { line: 1, character };
    let range = api::Range { start: at(0), end: at(3) };
    let selection =
        api::Selection { path: path.clone(), text: "two".into(), range, is_empty: false, reversed: false };
    fixture.editor.state().selection = Some(selection.clone());
    fixture.editor.send(&api::SelectionChanged { selection });
    let told = fixture.stream.notification("selection_changed");
    let span = json!({ "start": at(0), "end": at(3), "isEmpty": false });
    let url = format!("file://{path}");
    let selected = json!({ "text": "two", "filePath": path, "fileUrl": url, "selection": span });
    assert_eq!(told["params"], selected);
    let mut current = selected;
    current["current"] = json!(true);
    assert_eq!(fixture.agent.tool("get_selection", json!({})), current);

    let finding = api::Diagnostic {
        message: "no".into(),
        severity: api::Severity::Error,
        range,
        source: Some("lint".into()),
        code: None,
    };
    fixture.editor.state().documents.get_mut(&path).unwrap().diagnostics = vec![finding];
    let version = api::DocumentVersion { path: path.clone(), version: None };
    fixture.editor.send(&api::DiagnosticsChanged { files: vec![version] });
    let told = fixture.stream.notification("diagnostics_changed");
    let found = json!([{ "message": "no", "severity": "error", "range": range, "source": "lint" }]);
    assert_eq!(told["params"], json!({ "uris": [{ "uri": url, "diagnostics": found }] }));
    let asked = fixture.agent.tool("get_diagnostics", json!({ "uri": url }));
    assert_eq!(asked, json!([{ "uri": url, "filePath": path, "diagnostics": found }]));

    // One that connects now learns what is selected.
    let late = Copilot::ready(&fixture.world, "late");
    assert_eq!(late.listen().notification("selection_changed")["params"]["text"], "two");
    assert_eq!(fixture.agent.tool("update_session_name", json!({ "name": "x" })), json!({ "success": true }));
    let info = fixture.agent.tool("get_vscode_info", json!({}));
    assert_eq!(info["appName"], "Test Editor", "{info}");
}

#[test]
fn a_denied_file_is_neither_pushed_nor_told() {
    let world = World::with_config("deny = [\"*.secret\"]\n");
    let mut fixture = super::fixture::fixture_in(world);
    let path = fixture.world.file("a.secret", "x\n");
    fixture.editor.open(&path, "x\n", false);
    let version = api::DocumentVersion { path: path.clone(), version: None };
    fixture.editor.send(&api::DiagnosticsChanged { files: vec![version] });
    let answer = fixture.agent.open_diff(&path, "y\n", "t").answer();
    assert!(answer["error"].is_object(), "{answer}");
    assert_eq!(fixture.stream.next_within(Duration::from_millis(300)), None);
}

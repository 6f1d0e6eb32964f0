//! The user decides, and the model receives exactly that.

use std::time::Duration;

use linkspan_editor_api as api;
use serde_json::{Value, json};

use crate::support::mcp::{Client, Era};
use crate::support::*;

/// A pending change of `a.txt`.
fn proposed(client: &mut Client, mut arguments: Value) -> i64 {
    arguments["path"] = json!("a.txt");
    client.start_call("proposeChange", arguments)
}

#[test]
fn an_accepted_change_is_written_once_and_the_model_hears_so() {
    for era in [Era::Handshake("2025-06-18"), Era::Now] {
        let world = World::new();
        let path = world.file("a.txt", "one\ntwo\n");
        let mut editor = Editor::attach(&world);
        let mut client = Client::of(&world, era);
        let call = proposed(&mut client, json!({ "newText": "one\nTWO\n", "label": "shout" }));
        let shown = editor.shown(&path);
        assert_eq!((shown.agent.as_str(), shown.label.as_str()), ("test-agent", "shout"));
        assert_eq!(world.read_text("a.txt"), "one\ntwo\n", "nothing is written before the person says yes");
        editor.accept(&shown);
        let result = client.result(call);
        let decision = &result["structuredContent"];
        assert_eq!(decision["outcome"], "accepted", "{result}");
        assert_eq!(decision["written"], true);
        assert_eq!(decision["taken"], "all");
        assert_eq!(decision["path"], path);
        assert_eq!(decision["review"], shown.review);
        assert!(decision.get("text").is_none(), "the model knows its own text: {decision}");
        assert!(result["content"][0]["text"].as_str().unwrap().contains("Do not write it again"), "{result}");
        assert_eq!(world.read_text("a.txt"), "one\nTWO\n");
    }
}

#[test]
fn a_rejection_comes_with_its_reason_and_comments() {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\n");
    let _editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    let call = proposed(&mut client, json!({ "newText": "one\nTWO\n" }));
    let review = world.one_pending();
    let at = format!("{path}:2");
    world.run(&["reject", &review, "--comment", "too loud", "--at", &at]).ok();
    let result = client.result(call);
    let decision = &result["structuredContent"];
    assert_eq!(decision["outcome"], "rejected", "{result}");
    assert_eq!(decision["written"], false);
    assert_eq!(decision["comments"], json!([{ "line": 2, "text": "too loud" }]), "{decision}");
    let words = result["content"][0]["text"].as_str().unwrap();
    assert!(words.contains("REJECTED") && words.contains("line 2: too loud"), "{words}");
    assert_eq!(world.read_text("a.txt"), "one\ntwo\n");
}

#[test]
fn what_the_person_edited_is_told_as_a_diff() {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\n");
    let mut editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    let call = proposed(&mut client, json!({ "newText": "one\nTWO\n" }));
    let shown = editor.shown(&path);
    editor.decide(&shown, api::Verdict::AcceptEdited { text: "one\nTwo\n".into() });
    let decision = client.result(call)["structuredContent"].clone();
    assert_eq!((&decision["taken"], &decision["written"]), (&json!("edited"), &json!(true)), "{decision}");
    let diff = decision["personDiff"].as_str().unwrap();
    assert!(diff.contains("-TWO") && diff.contains("+Two"), "{diff}");
    assert_eq!(world.read_text("a.txt"), "one\nTwo\n");
}

#[test]
fn hunks_that_were_not_taken_are_told_with_lines_from_one() {
    let world = World::new();
    let before: String = (1..=20).map(|line| format!("{line}\n")).collect();
    let path = world.file("a.txt", &before);
    let mut editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    let after = before.replace("2\n3\n", "2\nthree\n").replace("18\n", "eighteen\n");
    let call = proposed(&mut client, json!({ "newText": after }));
    let shown = editor.shown(&path);
    let first = shown.hunks.first().unwrap().id.clone();
    editor.decide(&shown, api::Verdict::AcceptHunks { hunks: vec![first] });
    let decision = client.result(call)["structuredContent"].clone();
    assert_eq!(decision["taken"], "some", "{decision}");
    let hunks = decision["hunks"].as_array().unwrap();
    let lines: Vec<_> = hunks.iter().map(|hunk| (hunk["afterLine"].clone(), hunk["taken"].clone())).collect();
    assert_eq!(lines, [(json!(3), json!(true)), (json!(18), json!(false))], "{decision}");
}

#[test]
fn edits_and_patches_are_made_to_what_is_on_disk() {
    let world = World::new();
    let path = world.file("a.txt", "one\r\ntwo\r\nthree\r\n");
    let mut editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    let edits =
        json!([{ "oldString": "two", "newString": "TWO" }, { "oldString": "three", "newString": "3" }]);
    let call = proposed(&mut client, json!({ "edits": edits }));
    let shown = editor.shown(&path);
    editor.accept(&shown);
    assert_eq!(client.result(call)["structuredContent"]["taken"], "all");
    assert_eq!(world.read_text("a.txt"), "one\r\nTWO\r\n3\r\n", "the file keeps its line endings");

    let patch = "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-TWO\n+2\n";
    let call = proposed(&mut client, json!({ "patch": patch }));
    let second = editor.until("the second review", |state| state.shown.get(1).cloned());
    editor.accept(&second);
    assert_eq!(client.result(call)["structuredContent"]["written"], true);
    assert_eq!(world.read_text("a.txt"), "one\r\n2\r\n3\r\n");
}

#[test]
fn an_edit_that_cannot_be_made_says_why() {
    let world = World::new();
    world.config("deny = [\"secret.txt\"]\n");
    let path = world.file("a.txt", "one\ntwo\ntwo\n");
    world.file("secret.txt", "the password is tulip\n");
    let editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    let edit = |old: &str| json!([{ "oldString": old, "newString": "x" }]);
    let mut refusal =
        |path: &str, old: &str| client.refusal("proposeChange", json!({ "path": path, "edits": edit(old) }));
    assert!(refusal("a.txt", "four").contains("is not in the file"));
    assert!(refusal("a.txt", "two").contains("2 times"));
    assert!(refusal("none.txt", "two").contains("no such file"));
    let denied = refusal("secret.txt", "the pasword");
    assert!(!denied.contains("tulip"), "a denied file does not leak through an error: {denied}");

    editor.open(&path, "one\ntwo\ntwo, unsaved\n", true);
    let dirty = refusal("a.txt", "one");
    assert!(dirty.contains("unsaved changes") && dirty.contains("saveDocument"), "{dirty}");
    assert!(world.reviews().is_empty(), "the user was not asked");
}

#[test]
fn several_changes_are_one_set_and_each_is_decided_by_itself() {
    let world = World::new();
    let [a, b] = ["a.txt", "b.txt"].map(|name| world.file(name, "one\n"));
    let mut editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    let changes = [("a.txt", "two\n"), ("b.txt", "two\n"), ("new/d.txt", "four\n")];
    let changes = changes.map(|(path, text)| json!({ "path": path, "newText": text }));
    let call = client.start_call("proposeChanges", json!({ "changes": changes }));
    let d = world.path_str("new/d.txt");
    let (shown_a, shown_b, shown_d) = (editor.shown(&a), editor.shown(&b), editor.shown(&d));
    assert!(shown_a.set.is_some() && shown_a.set == shown_b.set && shown_b.set == shown_d.set, "{shown_a:?}");
    editor.accept(&shown_a);
    editor.reject(&shown_b);
    editor.accept(&shown_d);
    let result = client.result(call);
    let outcomes: Vec<_> = result["structuredContent"]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| (change["path"].clone(), change["decision"]["outcome"].clone()))
        .collect();
    let expected = [(a, "accepted"), (b, "rejected"), (d, "accepted")];
    assert_eq!(outcomes, expected.map(|(path, outcome)| (json!(path), json!(outcome))));
    assert_eq!((world.read_text("a.txt"), world.read_text("b.txt")), ("two\n".into(), "one\n".into()));
    assert_eq!(world.read_text("new/d.txt"), "four\n");
}

#[test]
fn two_texts_are_compared_and_nothing_is_written() {
    let world = World::new();
    let path = world.file("a.txt", "on disk\n");
    let mut editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    let texts = json!({ "path": "a.txt", "oldText": "before\n", "newText": "after\n", "label": "which?" });
    let call = client.start_call("compareTexts", texts);
    let shown = editor.shown(&path);
    editor.accept(&shown);
    let decision = client.result(call)["structuredContent"].clone();
    assert_eq!(
        (&decision["outcome"], &decision["written"]),
        (&json!("accepted"), &json!(false)),
        "{decision}"
    );
    assert!(decision.get("text").is_none(), "there is nothing to write: {decision}");
    assert_eq!(world.read_text("a.txt"), "on disk\n");
}

#[test]
fn a_client_that_asks_for_it_hears_where_the_person_should_look() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut editor = Editor::attach(&world);
    for era in [Era::Handshake("2025-11-25"), Era::Now] {
        let mut client = Client::of(&world, era);
        let call = proposed(&mut client, json!({ "newText": format!("{era:?}\n") }));
        let review = world.one_pending();
        let told = eventually("three progress notifications", || {
            Some(client.progress(call)).filter(|told| told.len() >= 3)
        });
        let message = told[1]["message"].as_str().unwrap();
        assert_eq!(message, format!("waiting for your decision on {review} in Test Editor"));
        let steps: Vec<f64> = told.iter().map(|told| told["progress"].as_f64().unwrap()).collect();
        assert!(steps.is_sorted_by(|a, b| a < b), "{steps:?}");
        let shown = editor.until("the review", |state| {
            state.shown.iter().rfind(|shown| shown.path == path && shown.review == review).cloned()
        });
        editor.reject(&shown);
        client.result(call);
    }
}

#[test]
fn a_cancelled_call_takes_the_change_off_the_screen_and_is_not_answered() {
    for era in [Era::Handshake("2025-11-25"), Era::Now] {
        let world = World::new();
        let path = world.file("a.txt", "one\n");
        let editor = Editor::attach(&world);
        let mut client = Client::of(&world, era);
        let call = proposed(&mut client, json!({ "newText": "two\n" }));
        let shown = editor.shown(&path);
        client.cancel(call);
        assert_eq!(editor.hidden(&shown.review), api::HideReason::Withdrawn);
        client.data("getWorkspaceFolders", json!({}));
        assert!(client.heard().iter().all(|message| message["id"] != call), "a cancelled call has no answer");
        assert_eq!(world.read_text("a.txt"), "one\n");
    }
}

#[test]
fn a_large_text_passes() {
    let world = World::new();
    let line = "0123456789 \"quoted\" \\ and \u{1} and ünïcödé\n";
    let text = line.repeat(10 * 1024 * 1024 / line.len());
    let mut client = Client::start(&world);
    // A build without optimisation is slow at each of the copies.
    client.patience = Duration::from_secs(120);
    let call = client.start_call("proposeChange", json!({ "path": "large.txt", "newText": text }));
    let told =
        |told: &Value| told["params"]["message"].as_str().is_some_and(|message| message.contains(" on r"));
    client.until("a review to decide", told);
    // Ten megabytes take a moment to be recorded.
    world.pending(1);
    world.run(&["accept", "latest"]).ok();
    assert_eq!(client.result(call)["structuredContent"]["newFile"], true);
    assert!(world.read("large.txt") == text.as_bytes(), "byte for byte");
}

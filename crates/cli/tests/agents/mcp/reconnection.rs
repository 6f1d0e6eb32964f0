//! The hub, the editor or the client goes away and comes back.

use linkspan_editor_api as api;
use serde_json::json;

use crate::support::mcp::{Client, Era};
use crate::support::*;

fn propose(client: &mut Client, text: &str) -> i64 {
    client.start_call("proposeChange", json!({ "path": "a.txt", "newText": text }))
}

#[test]
fn a_hub_that_dies_while_the_person_thinks_costs_no_answer() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    let call = propose(&mut client, "two\n");
    let shown = editor.shown(&path);
    world.kill_hub();
    let again = editor.until("the same review, shown by the new hub", |state| {
        let times = state.shown.iter().filter(|again| again.review == shown.review).count();
        state.shown.last().filter(|last| times >= 2 && last.review == shown.review).cloned()
    });
    eventually("the agent is back", || {
        let reviews = world.reviews();
        (reviews.len() == 1 && reviews[0]["ownerGone"] == false).then_some(())
    });
    editor.accept(&again);
    assert_eq!(client.result(call)["structuredContent"]["outcome"], "accepted");
    assert_eq!(world.read_text("a.txt"), "two\n");
    assert_eq!(client.data("getWorkspaceFolders", json!({}))["editor"], "Test Editor");
}

#[test]
fn the_end_of_input_withdraws_what_waits_and_is_no_error() {
    for era in [Era::Handshake("2025-11-25"), Era::Now] {
        let world = World::new();
        let path = world.file("a.txt", "one\n");
        let editor = Editor::attach(&world);
        let mut client = Client::of(&world, era);
        propose(&mut client, "two\n");
        let shown = editor.shown(&path);
        assert_eq!(client.hang_up(), 0);
        assert_eq!(editor.hidden(&shown.review), api::HideReason::Withdrawn);
    }
}

#[test]
fn a_signal_withdraws_what_waits_and_is_no_error() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    propose(&mut client, "two\n");
    let shown = editor.shown(&path);
    assert_eq!(client.terminate(), 0);
    assert_eq!(editor.hidden(&shown.review), api::HideReason::Withdrawn);
}

#[test]
fn a_client_that_says_nothing_may_leave_at_once() {
    let world = World::new();
    assert_eq!(Client::silent(&world, &world.workspace()).hang_up(), 0);
    let mut client = Client::silent(&world, &world.workspace());
    client.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    client.answer(1);
    assert_eq!(client.terminate(), 0);
    assert!(world.hub_pid().is_none(), "nothing was asked, so nothing was started");
}

#[test]
fn quick_questions_are_answered_even_if_input_ends_behind_them() {
    let world = World::new();
    let _editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    let call = client.start_call("getWorkspaceFolders", json!({}));
    assert_eq!(client.hang_up(), 0);
    assert_eq!(client.result(call)["structuredContent"]["editor"], "Test Editor");
}

#[test]
fn without_an_editor_changes_wait_in_a_window_of_their_own() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let mut client = Client::start(&world);
    let call = propose(&mut client, "two\n");
    let review = world.one_pending();
    let told = eventually("progress", || client.progress(call).last().cloned());
    let message = told["message"].as_str().unwrap().to_owned();
    assert!(message.contains("linkspan review") && message.contains(&review), "{message}");
    world.run(&["accept", &review]).ok();
    assert_eq!(client.result(call)["structuredContent"]["written"], true);
    assert_eq!(world.read_text("a.txt"), "two\n");
    assert_eq!(world.status()["windows"].as_array().unwrap().len(), 1);
    assert_eq!(client.hang_up(), 0);
    eventually("its window is gone with it", || {
        world.status()["windows"].as_array().unwrap().is_empty().then_some(())
    });
}

#[test]
fn a_window_of_its_own_survives_the_hub_too() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let mut client = Client::start(&world);
    let call = propose(&mut client, "two\n");
    let review = world.one_pending();
    world.kill_hub();
    eventually("the agent is back", || {
        let reviews = world.run(&["reviews", "--json"]);
        let reviews: serde_json::Value = serde_json::from_str(&reviews.stdout).ok()?;
        (reviews["reviews"][0]["ownerGone"] == false).then_some(())
    });
    world.run(&["accept", &review]).ok();
    assert_eq!(client.result(call)["structuredContent"]["outcome"], "accepted");
}

#[test]
fn an_editor_that_appears_later_is_used_from_then_on() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut client = Client::start(&world);
    assert!(client.data("getWorkspaceFolders", json!({}))["editor"].as_str().unwrap().contains("headless"));
    let mut editor = Editor::attach(&world);
    assert_eq!(client.data("getWorkspaceFolders", json!({}))["editor"], "Test Editor");
    let call = propose(&mut client, "two\n");
    let shown = editor.shown(&path);
    editor.accept(&shown);
    assert_eq!(client.result(call)["structuredContent"]["outcome"], "accepted");
    eventually("only the editor's window is left", || {
        (world.status()["windows"].as_array().unwrap().len() == 1).then_some(())
    });
}

#[test]
fn an_editor_that_closes_is_followed_by_a_window_of_our_own() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let editor = Editor::attach(&world);
    let mut client = Client::start(&world);
    assert_eq!(client.data("getWorkspaceFolders", json!({}))["editor"], "Test Editor");
    editor.detach();
    // A change that is sent before the client has heard of it waits for this editor to come back.
    eventually("the client has heard of it", || {
        (client.data("getWorkspaceFolders", json!({}))["editor"] != "Test Editor").then_some(())
    });
    let call = propose(&mut client, "two\n");
    let review = world.one_pending();
    world.run(&["accept", &review]).ok();
    assert_eq!(client.result(call)["structuredContent"]["written"], true);
}

#[test]
fn a_home_or_a_whole_disk_is_not_a_project() {
    let world = World::new();
    let mut client = Client::start_in(&world, &world.home(), Era::Handshake("2025-11-25"), json!({}));
    let refusal = client.refusal("proposeChange", json!({ "path": "a.txt", "newText": "x" }));
    assert!(refusal.contains("linkspan mcp DIR"), "{refusal}");
}

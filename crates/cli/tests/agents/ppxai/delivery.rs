//! Delivery: HTTP does not confirm that a client read an answer, and a decision counts as delivered only once it was.

use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::ppxai::Client;
use crate::support::*;

/// Longer than the hub waits for a next request, or for a client to read its last answer.
const AWAY: Duration = Duration::from_secs(7);

/// A client whose change was accepted, and which has not read that yet.
struct UnreadAnswer {
    editor: Editor,
    client: Client,
    review: String,
    /// Last, because it stops the hub: an editor that is still attached would start it again.
    world: World,
}

fn change() -> Value {
    json!({ "path": "a.txt", "content": "new\n" })
}

fn accepted(headers: &[&str]) -> UnreadAnswer {
    let world = World::new();
    let path = world.file("a.txt", "old\n");
    let mut editor = Editor::attach(&world);
    let mut client = headers.iter().fold(Client::new(editor.port()), |client, header| client.with(header));
    let body = json!({ "id": 1, "tool": "ide.apply_edit", "args": change() });
    client.write("POST /ide/execute", &body.to_string());
    let shown = editor.shown(&path);
    editor.accept(&shown);
    eventually("it is written", || (world.read_text("a.txt") == "new\n").then_some(()));
    UnreadAnswer { world, editor, client, review: shown.review }
}

impl UnreadAnswer {
    /// The kernel ends its connection as it does for a process that is killed.
    fn kill(self) -> (World, Editor, String) {
        let UnreadAnswer { world, editor, client, review } = self;
        drop(client);
        gone(&world);
        (world, editor, review)
    }
}

fn gone(world: &World) {
    eventually("the client is gone", || {
        world.status()["windows"][0]["agents"].as_array()?.is_empty().then_some(())
    });
}

/// A client that repeats its request receives the earlier decision.
#[track_caller]
fn is_told_again(editor: &Editor, review: &str) {
    let told = Client::new(editor.port()).result("ide.apply_edit", change());
    assert_eq!((&told["applied"], &told["review"]), (&json!(true), &json!(review)));
}

/// A client that repeats its request after that means another change, which the user decides.
#[track_caller]
fn was_told(world: &World, editor: &Editor, review: &str) {
    let asking = Client::new(editor.port()).asking("ide.apply_edit", change());
    assert_ne!(world.one_pending(), review);
    assert!(!asking.is_finished());
}

#[test]
fn a_client_that_stands_still_and_is_killed_was_not_told() {
    let untold = accepted(&[]);
    sleep(AWAY);
    let (_world, editor, review) = untold.kill();
    is_told_again(&editor, &review);
}

#[test]
fn a_client_that_wants_the_connection_closed_and_is_killed_was_not_told() {
    let untold = accepted(&["Connection: close"]);
    sleep(Duration::from_millis(300));
    let (_world, editor, review) = untold.kill();
    is_told_again(&editor, &review);
}

#[test]
fn a_client_that_wants_the_connection_closed_and_stands_still_was_not_told() {
    let untold = accepted(&["Connection: close"]);
    sleep(AWAY);
    let (_world, editor, review) = untold.kill();
    is_told_again(&editor, &review);
}

#[test]
fn whoever_has_read_its_answer_was_told_however_the_connection_ends() {
    let closing: &[&str] = &["Connection: close"];
    for (headers, wait) in
        [(&[][..], Duration::ZERO), (&[], AWAY), (closing, Duration::ZERO), (closing, AWAY)]
    {
        let mut untold = accepted(headers);
        let (status, answer) = untold.client.read();
        assert_eq!((status, &answer["result"]["applied"]), (200, &json!(true)), "{answer}");
        sleep(wait);
        let (world, editor, review) = untold.kill();
        was_told(&world, &editor, &review);
    }
}

//! A rename by the editor's language servers: a change of each file, decided by the user.

use serde_json::{Value, json};

use super::own_dialect::{call, join, tool_result};
use super::support::{COMMAND, EDITOR};
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

const AGENT: ConnectionId = ConnectionId(11);

/// An editor that renames `old` at the beginning of each of these files.
fn renaming_hub(files: &[&str]) -> CoreHarness {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "reviews": true, "language": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 3 } });
    let edits = json!([{ "range": range, "newText": "new" }]);
    let edits = files.iter().map(|path| json!({ "path": path, "edits": edits }));
    let answer = json!({ "files": edits.collect::<Vec<_>>() });
    hub.editor_answers.insert("language/rename", answer);
    for path in ["/ws/a.txt", "/ws/b.txt", "/ws/c.txt"] {
        hub.files.insert(path.into(), b"old = 1\n".to_vec());
    }
    join(&mut hub, AGENT, "k3y");
    hub
}

fn rename(hub: &mut CoreHarness) -> i64 {
    call(
        hub,
        AGENT,
        "renameSymbol",
        json!({ "path": "/ws/a.txt", "line": 0, "character": 1, "newName": "new" }),
    )
}

fn file<'a>(hub: &'a CoreHarness, path: &str) -> &'a str {
    std::str::from_utf8(&hub.files[std::path::Path::new(path)]).unwrap()
}

fn decide_of(hub: &mut CoreHarness, path: &str, verdict: &str) {
    let review = hub.reviews().into_iter().find(|review| review.path == std::path::Path::new(path)).unwrap();
    let decision = json!({ "verdict": { "kind": verdict } });
    let decide = json!({ "review": review.id.to_string(), "decision": decision });
    hub.request(COMMAND, "reviews/decide", decide);
}

fn error_of(hub: &CoreHarness, id: i64) -> &Value {
    &tool_result(hub, AGENT, id).unwrap()["error"]
}

#[test]
fn the_files_of_a_rename_are_one_set_and_each_is_written_when_it_is_accepted() {
    let mut hub = renaming_hub(&["/ws/a.txt", "/ws/b.txt", "/ws/c.txt"]);
    let asked = rename(&mut hub);
    let question = &hub.requests_to_editor("language/rename")[0]["params"];
    assert_eq!(
        *question,
        json!({ "path": "/ws/a.txt", "position": { "line": 0, "character": 1 }, "newName": "new" })
    );
    assert_eq!(hub.shown().len(), 3);
    let sets: Vec<_> = hub.shown().iter().map(|shown| shown["params"]["set"].clone()).collect();
    assert!(sets[0].is_string() && sets.iter().all(|set| *set == sets[0]), "{sets:?}");
    assert_eq!(hub.writes, 0, "nothing is written before a decision");

    decide_of(&mut hub, "/ws/a.txt", "accept");
    decide_of(&mut hub, "/ws/b.txt", "reject");
    assert_eq!(tool_result(&hub, AGENT, asked), None, "one file is not decided");
    decide_of(&mut hub, "/ws/c.txt", "accept");
    let told = tool_result(&hub, AGENT, asked).unwrap();
    let outcomes: Vec<_> = told["files"].as_array().unwrap().iter().map(|file| &file["outcome"]).collect();
    assert_eq!(outcomes, ["accepted", "rejected", "accepted"]);
    let texts = ["/ws/a.txt", "/ws/b.txt", "/ws/c.txt"].map(|path| file(&hub, path));
    assert_eq!(texts, ["new = 1\n", "old = 1\n", "new = 1\n"]);
}

#[test]
fn a_rename_of_one_file_has_the_outcome_of_that_file() {
    let mut hub = renaming_hub(&["/ws/a.txt"]);
    let asked = rename(&mut hub);
    hub.decide(COMMAND, "accept");
    let told = tool_result(&hub, AGENT, asked).unwrap();
    assert_eq!((&told["outcome"], &told["written"]), (&json!("accepted"), &json!(true)));
    assert_eq!(file(&hub, "/ws/a.txt"), "new = 1\n");
}

#[test]
fn a_rename_of_which_one_file_cannot_be_changed_is_not_shown_at_all() {
    let mut hub = renaming_hub(&["/ws/a.txt", "/ws/gone.txt"]);
    let asked = rename(&mut hub);
    assert_eq!(error_of(&hub, asked)["kind"], "notFound");
    assert!(hub.shown().is_empty() && hub.reviews().is_empty());
}

#[test]
fn an_editor_that_cannot_rename_says_so() {
    let mut hub = renaming_hub(&[]);
    let asked = rename(&mut hub);
    assert_eq!(error_of(&hub, asked)["kind"], "notFound");
    let why = json!({ "files": [], "message": "You cannot rename this element." });
    hub.editor_answers.insert("language/rename", why);
    let asked = rename(&mut hub);
    let message = error_of(&hub, asked)["message"].as_str().unwrap();
    assert!(message.contains("/ws/a.txt: You cannot rename this element; check"), "{message}");

    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "reviews": true }));
    join(&mut hub, AGENT, "k3y");
    let asked = rename(&mut hub);
    assert_eq!(error_of(&hub, asked)["kind"], "unsupported");
}

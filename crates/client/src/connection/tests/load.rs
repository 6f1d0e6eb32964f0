//! Much at once, and large.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::server::{FakeServer, KINDS, Say, ServerKind, result, texts, tool};
use crate::connection::{CallError, Change};

const LARGE: usize = 10 * 1024 * 1024;
/// A deadlock lasts without end. Copying so much without optimisation takes a minute where every core is busy.
const STUCK: Duration = Duration::from_secs(180);

#[test]
fn ten_megabytes_go_both_ways() {
    for kind in KINDS {
        let server = FakeServer::start(kind, |request| {
            let arguments = &request["params"]["arguments"];
            match tool(request) {
                Some("proposeChange") => vec![result(
                    request,
                    json!({ "structuredContent": { "outcome": "accepted", "text": arguments["newText"] } }),
                )],
                Some("openDiff") => {
                    vec![texts(request, &["FILE_SAVED", arguments["new_file_contents"].as_str().unwrap()])]
                }
                _ => vec![],
            }
        });
        let text = format!("{}ä\n", "x".repeat(61)).repeat(LARGE / 64);
        let decided = server.connect().open_diff(&Change::new("/w/a b/a", text.clone())).unwrap();
        match kind {
            ServerKind::Own | ServerKind::Claude => assert!(decided.text == Some(text), "{kind:?}"),
            ServerKind::Nexus3 | ServerKind::Clio => {
                assert!(decided.reason == Some(text), "what comes behind the word is a remark")
            }
        }
    }
}

#[test]
fn a_server_that_talks_much_before_it_listens_is_no_deadlock() {
    for kind in KINDS {
        let server = FakeServer::start(kind, |request| match tool(request) {
            Some("first") => {
                let noise =
                    json!({ "jsonrpc": "2.0", "method": "noise", "params": { "n": "x".repeat(LARGE) } });
                vec![Say::Json(noise.clone()), Say::Json(noise), texts(request, &["done"])]
            }
            _ => vec![texts(request, &["done"])],
        });
        let editor = server.connect();
        let first = editor.start("first", &json!({})).unwrap();
        let second = editor.start("second", &json!({ "text": "y".repeat(LARGE) })).unwrap();
        for call in [first, second] {
            let answer = call.wait_timeout(STUCK).expect("stuck").unwrap();
            assert_eq!(answer.texts().collect::<Vec<_>>(), ["done"]);
        }
    }
}

#[test]
fn two_hundred_calls_at_once_get_each_its_own_answer_in_any_order() {
    const CALLS: usize = 200;
    for kind in KINDS {
        let mut asked: Vec<Value> = Vec::new();
        let server = FakeServer::start(kind, move |request| {
            if tool(request).is_none() {
                return vec![];
            }
            asked.push(request.clone());
            if asked.len() < CALLS {
                return vec![];
            }
            asked.iter().rev().map(|request| texts(request, &[tool(request).unwrap()])).collect()
        });
        let editor = server.connect();
        let callers: Vec<_> = (0..CALLS)
            .map(|number| {
                let editor = editor.clone();
                thread::spawn(move || {
                    let name = format!("tool{number}");
                    let answer = editor.call(&name, &json!({ "n": number })).unwrap();
                    assert_eq!(answer.texts().collect::<Vec<_>>(), [name]);
                })
            })
            .collect();
        for caller in callers {
            caller.join().unwrap();
        }
    }
}

#[test]
fn what_no_editor_takes_is_not_sent() {
    let server = FakeServer::start(ServerKind::Claude, |_| vec![]);
    let change = Change::new("/w/a b/a", "x".repeat(64 * 1024 * 1024));
    let error = server.connect().propose(&change).unwrap_err();
    assert!(matches!(&error, CallError::TooLarge { tool, .. } if tool == "openDiff"), "{error}");
}

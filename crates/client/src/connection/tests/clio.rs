//! Clio's extension: answers without ids, decisions told to everybody.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::server::{FakeServer, Say, ServerKind};
use crate::connection::{CallError, Change, ChangeWriter, DiffOutcome};

const NEW: &str = "new\n";
const PROPOSES: &[&str] = &["diff", "apply", "status", "proposeDiff"];

fn connected(capabilities: &[&str]) -> Say {
    Say::Json(json!({ "type": "connected", "serverVersion": "0.1.0", "capabilities": capabilities }))
}

/// An extension that says this once it is connected, and then behaves.
fn clio(
    capabilities: &'static [&str],
    mut behave: impl FnMut(&Value) -> Vec<Say> + Send + 'static,
) -> (FakeServer, tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.py").to_str().unwrap().to_owned();
    std::fs::write(&file, "old\n").unwrap();
    let server = FakeServer::start(ServerKind::Clio, move |message| match message["type"].as_str() {
        Some("connect") => vec![connected(capabilities)],
        _ => behave(message),
    });
    (server, folder, file)
}

fn about(kind: &str, file: &Value) -> Say {
    Say::Json(json!({ "type": kind, "file": file }))
}

/// The new text of a question.
fn proposed(message: &Value) -> &Value {
    &message["edits"][0]["newText"]
}

#[test]
fn the_answer_is_the_next_one_about_that_file() {
    for (kind, outcome) in
        [("diffAccepted", DiffOutcome::FileSaved), ("diffRejected", DiffOutcome::DiffRejected)]
    {
        let (server, _folder, file) = clio(PROPOSES, move |message| {
            let other = json!("/somebody/else.py");
            vec![about("diffAccepted", &other), about("diffRejected", &other), about(kind, &message["file"])]
        });
        let editor = server.connect();
        let decided = editor.open_diff(&Change::new(&file, NEW)).unwrap();
        assert_eq!((decided.outcome, decided.written), (outcome, outcome == DiffOutcome::FileSaved));
        assert_eq!(server.hears(|message| message["type"] == "connect")["clientVersion"], "1");
        let held = if outcome == DiffOutcome::FileSaved { NEW } else { "old\n" };
        assert_eq!(std::fs::read_to_string(&file).unwrap(), held, "{kind}");
        let asked = server.hears(|message| message["type"] == "proposeDiff");
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 0 } });
        assert_eq!(asked["edits"], json!([{ "range": range, "oldText": "old\n", "newText": NEW }]));
    }
}

/// Clio's own extension takes its marks away, and has nothing written.
#[test]
fn what_an_editor_accepts_and_does_not_write_is_written_here() {
    for (meanwhile, by_caller, ends) in [
        (None, false, Ok(true)),
        (None, true, Ok(false)),
        (Some(NEW), false, Ok(true)),
        (Some("other\n"), false, Err("changed in the meantime")),
    ] {
        let (server, _folder, file) = clio(PROPOSES, move |message| {
            if let Some(text) = meanwhile {
                std::fs::write(message["file"].as_str().unwrap(), text).unwrap();
            }
            vec![about("diffAccepted", &message["file"])]
        });
        let writer = if by_caller { ChangeWriter::Caller } else { ChangeWriter::Editor };
        let decided = server.connect().open_diff(&Change { writer, ..Change::new(&file, NEW) });
        let held = std::fs::read_to_string(&file).unwrap();
        match ends {
            Ok(written) => {
                let decided = decided.unwrap();
                assert_eq!((decided.is_accepted(), decided.written), (true, written));
                assert_eq!(held, if written { NEW } else { "old\n" });
            }
            Err(why) => {
                let error = decided.unwrap_err().to_string();
                assert!(error.contains(why), "{error}");
                assert_eq!(held, "other\n");
            }
        }
    }
}

#[test]
fn an_editor_that_only_shows_changes_is_not_said_to_have_written_one() {
    let (server, _folder, file) =
        clio(&["diff", "apply", "status"], |message| vec![about("diffAccepted", &message["file"])]);
    let editor = server.connect();
    let refused = editor.open_diff(&Change::new(&file, NEW)).unwrap_err();
    assert!(refused.to_string().contains("`proposeDiff`"), "{refused}");
    assert!(editor.is_connected());
}

#[test]
fn a_decision_that_crosses_a_withdrawal_answers_no_other_question() {
    let (server, _folder, file) = clio(PROPOSES, |message| match message["type"].as_str() {
        // The person was faster than the withdrawal.
        Some("closeDiff") => vec![about("diffAccepted", &message["file"])],
        Some("proposeDiff") if proposed(message) == "second" => {
            vec![about("diffRejected", &message["file"])]
        }
        _ => vec![],
    });
    let editor = server.connect();
    let first = editor.propose(&Change::new(&file, "first")).unwrap();
    let second = editor.propose(&Change::new(&file, "second")).unwrap();
    server.hears(|message| proposed(message) == "first");
    first.withdraw();
    assert_eq!(first.wait(), Err(CallError::Withdrawn));
    assert!(!second.wait().unwrap().is_accepted());
}

#[test]
fn one_question_at_a_time_and_a_withdrawn_one_makes_room() {
    let (server, _folder, file) = clio(PROPOSES, |message| match proposed(message).as_str() {
        Some("third") => vec![about("diffAccepted", &message["file"])],
        _ => vec![],
    });
    let editor = server.connect();
    let first = editor.propose(&Change::new(&file, "first")).unwrap();
    let second = editor.propose(&Change::new(&file, "second")).unwrap();
    let third = editor.propose(&Change::new(&file, "third")).unwrap();
    server.hears(|message| proposed(message) == "first");
    second.withdraw();
    assert_eq!(second.wait(), Err(CallError::Withdrawn));
    assert_eq!(third.wait_timeout(Duration::from_millis(50)), None, "the first is still on the screen");
    first.withdraw();
    assert_eq!(server.hears(|message| message["type"] == "closeDiff")["file"], file);
    assert!(third.wait().unwrap().is_accepted());
    assert_eq!(first.wait(), Err(CallError::Withdrawn));
}

#[test]
fn errors_come_with_their_code_and_end_only_the_question() {
    let (server, _folder, file) = clio(PROPOSES, |message| match message["type"].as_str() {
        Some("proposeDiff") => {
            vec![Say::Json(json!({ "type": "error", "message": "File not found", "code": "FILE_NOT_FOUND" }))]
        }
        _ => vec![],
    });
    let editor = server.connect();
    let error = editor.open_diff(&Change::new(&file, NEW)).unwrap_err();
    assert_eq!(error.to_string(), "File not found (FILE_NOT_FOUND)");
    assert!(editor.is_connected());
    editor.call("status", &json!({ "message": "Processing" })).unwrap();
    assert_eq!(server.hears(|message| message["type"] == "status")["level"], "info");
    let refused = editor.call("applyDiff", &json!({ "file": file, "edits": [] }));
    assert!(matches!(refused, Err(CallError::Unsupported { .. })), "it would write without a person");
}

#[test]
fn what_the_wire_has_no_words_for_is_said() {
    let (server, _folder, _) = clio(&[], |_| vec![]);
    let editor = server.connect();
    let path = Path::new("/w/a");
    assert!(matches!(editor.diagnostics(None, None), Err(CallError::NotOnThisWire(_))));
    assert!(matches!(editor.current_selection(), Err(CallError::NotOnThisWire(_))));
    assert!(matches!(editor.open_editors(), Err(CallError::NotOnThisWire(_))));
    assert!(matches!(editor.open_file(path, None, false), Err(CallError::NotOnThisWire(_))));
    assert!(matches!(editor.is_dirty(path), Err(CallError::NotOnThisWire(_))));
    assert!(matches!(editor.call("nothing", &json!({})), Err(CallError::Unsupported { .. })));
}

#[test]
fn a_lost_extension_decides_nothing() {
    let (server, _folder, file) = clio(PROPOSES, |_| vec![Say::HangUp]);
    let editor = server.connect();
    assert_eq!(editor.open_diff(&Change::new(&file, NEW)), Err(CallError::Closed));
    assert!(!editor.is_connected());
}

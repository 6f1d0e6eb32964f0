//! Bridges of ppxai: one exchange for each tool.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::http_server::{HttpServer, ReceivedRequest, ServerReply};
use crate::connection::{CallError, Change, Connection, DiffOutcome};
use crate::discover::{CandidateVerdict, Reason, Secret, Surroundings, Wire, ppxai_bridge};
use crate::http::LoopbackUrl;

/// A bridge whose tools answer so.
fn bridge(mut answer: impl FnMut(&ReceivedRequest) -> ServerReply + Send + 'static) -> HttpServer {
    HttpServer::start(move |heard| match heard.line.as_str() {
        "GET /status" => ServerReply::json(&json!({ "status": "ok", "version": "1.14.0" })),
        _ => answer(heard),
    })
}

fn result(heard: &ReceivedRequest, result: Value) -> ServerReply {
    ServerReply::json(&json!({ "id": heard.body["id"], "success": true, "result": result }))
}

fn error(heard: &ReceivedRequest, error: &str) -> ServerReply {
    ServerReply::json(&json!({ "id": heard.body["id"], "success": false, "error": error }))
}

fn connect(server: &HttpServer) -> Connection {
    let bridge = LoopbackUrl::of_port(server.port);
    server.connect(Wire::Ppxai { bridge, token: Some(Secret::new("let me in")) }).unwrap()
}

#[test]
fn a_change_is_one_edit_of_all_that_the_bridge_says_the_file_holds() {
    for (answer, outcome) in [
        (json!(true), DiffOutcome::FileSaved),
        (json!({ "applied": true }), DiffOutcome::FileSaved),
        (json!({ "applied": false, "reason": "no" }), DiffOutcome::DiffRejected),
    ] {
        let server = bridge(move |heard| match heard.what() {
            "ide.read_file" => result(heard, json!({ "content": "a\nb", "language": "text" })),
            _ => result(heard, answer.clone()),
        });
        let decided = connect(&server).open_diff(&Change::new("/w/a.txt", "new")).unwrap();
        assert_eq!((decided.outcome, decided.written), (outcome, outcome == DiffOutcome::FileSaved));
        let asked = server.hears("ide.apply_edit");
        assert_eq!(asked.header("x-ppxai-token"), Some("let me in"));
        assert_eq!(asked.header("content-type"), Some("application/json"));
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 1 } });
        let edit = json!({ "range": range, "oldText": "a\nb", "newText": "new" });
        assert_eq!(asked.body["args"], json!({ "files": [{ "path": "/w/a.txt", "edits": [edit] }] }));
    }
}

#[test]
fn a_new_file_is_proposed_and_one_that_cannot_be_read_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let server = bridge(|heard| match heard.what() {
        "ide.read_file" => error(heard, "no such file, or too large"),
        _ => result(heard, json!(true)),
    });
    let editor = connect(&server);
    assert!(editor.open_diff(&Change::new(folder.path().join("new"), "x")).unwrap().is_accepted());
    let there = folder.path().join("there");
    std::fs::write(&there, "bytes").unwrap();
    let refused = editor.open_diff(&Change::new(there, "x")).unwrap_err();
    assert!(refused.to_string().contains("too large"), "{refused}");
}

#[test]
fn a_file_of_which_only_the_beginning_is_told_is_not_changed() {
    for inside in [false, true] {
        let server = bridge(move |heard| match heard.what() {
            "ide.read_file" => {
                let mut answer = json!({
                    "id": heard.body["id"], "success": true, "result": { "content": "the beginning" },
                });
                match inside {
                    true => answer["result"]["truncated"] = json!(true),
                    false => answer["truncated"] = json!(true),
                }
                ServerReply::json(&answer)
            }
            _ => result(heard, json!(true)),
        });
        let refused = connect(&server).open_diff(&Change::new("/w/a.txt", "new")).unwrap_err();
        assert!(refused.to_string().contains("only the beginning of /w/a.txt"), "{refused}");
    }
}

#[test]
fn a_persons_no_is_a_no_and_anything_unclear_is_neither() {
    for (says, rejected) in [
        ("User cancelled", true),
        ("user CANCELLED", true),
        ("the write was rejected by the disk", false),
        ("connection declined", false),
        ("User cancelled the upload of a.txt", false),
        ("disk full", false),
    ] {
        let server = bridge(move |heard| match heard.what() {
            "ide.read_file" => result(heard, json!({ "content": "" })),
            _ => error(heard, says),
        });
        let decided = connect(&server).open_diff(&Change::new("/w/a", "x"));
        match rejected {
            true => assert_eq!(decided.unwrap().outcome, DiffOutcome::DiffRejected),
            false => assert_eq!(decided, Err(CallError::Tool { message: says.into(), kind: None })),
        }
    }
    let server = bridge(move |heard| match heard.what() {
        "ide.read_file" => result(heard, json!({ "content": "" })),
        _ => {
            let result = json!({ "applied": false, "accepted": false, "reason": "no" });
            let id = &heard.body["id"];
            ServerReply::json(&json!({
                "id": id, "success": false, "error": "rejected: no", "code": "REJECTED", "result": result,
            }))
        }
    });
    let decided = connect(&server).open_diff(&Change::new("/w/a", "x")).unwrap();
    assert_eq!((decided.outcome, decided.reason.as_deref()), (DiffOutcome::DiffRejected, Some("no")));
    let unwritten = json!({ "applied": false, "accepted": true });
    for unclear in [json!({}), json!("done"), json!(null), unwritten] {
        let server = bridge(move |heard| match heard.what() {
            "ide.read_file" => result(heard, json!({ "content": "" })),
            _ => result(heard, unclear.clone()),
        });
        assert!(connect(&server).open_diff(&Change::new("/w/a", "x")).is_err(), "never a yes");
    }
}

#[test]
fn the_typed_calls_are_the_bridges_own_tools() {
    let server = bridge(|heard| match heard.what() {
        "ide.get_workspace_info" => {
            result(heard, json!({ "name": "p", "folders": [{ "name": "p", "path": "/w/p" }] }))
        }
        "ide.get_selection" => result(
            heard,
            json!({ "text": "t", "file": "src/a", "start": { "line": 1, "column": 2 }, "end": { "line": 1, "column": 3 } }),
        ),
        "ide.get_open_files" => result(heard, json!([{ "path": "src/a", "active": true, "dirty": true }])),
        "ide.get_diagnostics" => result(
            heard,
            json!([{ "path": "src/a", "severity": "Error", "message": "m", "line": 1, "column": 0 }]),
        ),
        "ide.git_log" => result(heard, json!([{ "hash": "abc" }])),
        "ide.open_file" => result(heard, json!(true)),
        other => error(heard, &format!("Unknown tool: {other}")),
    });
    let editor = connect(&server);
    assert!(editor.is_connected());
    assert_eq!(editor.workspace_folders().unwrap(), [PathBuf::from("/w/p")]);
    let place = PathBuf::from("/w/a b/src/a");
    assert_eq!(editor.current_selection().unwrap().unwrap().file_path, place);
    let open = editor.open_editors().unwrap();
    assert_eq!((&open[0].file_path, open[0].is_dirty), (&place, true));
    assert_eq!(editor.diagnostics(None, None).unwrap()[0].file_path, place);
    editor.open_file(Path::new("/w/a"), None, false).unwrap();
    assert_eq!(editor.tools().unwrap().len(), 26);
    let log = editor.call("ide.git_log", &json!({ "limit": 1 })).unwrap();
    assert_eq!(log.texts().collect::<Vec<_>>(), [r#"[{"hash":"abc"}]"#]);
    assert_eq!(server.hears("ide.git_log").body["args"], json!({ "limit": 1 }));
    assert!(matches!(editor.call("ide.none", &json!({})), Err(CallError::Unsupported { .. })));
    assert!(matches!(editor.save(Path::new("/w/a")), Err(CallError::NotOnThisWire(_))));
}

#[test]
fn a_change_that_is_taken_back_hangs_up() {
    let server = bridge(|heard| match heard.what() {
        "ide.read_file" => result(heard, json!({ "content": "" })),
        _ => ServerReply::Bytes(Vec::new()),
    });
    let editor = connect(&server);
    let pending = editor.propose(&Change::new("/w/a", "x")).unwrap();
    server.hears("ide.apply_edit");
    assert_eq!(pending.wait_timeout(Duration::from_millis(50)), None, "the user may take time");
    pending.withdraw();
    assert_eq!(pending.wait(), Err(CallError::Withdrawn));
    assert!(editor.is_connected());
}

#[test]
fn hostile_answers_harm_nobody() {
    type Case = (&'static str, fn(&ReceivedRequest) -> ServerReply);
    let cases: [Case; 5] = [
        ("invalid response", |_| ServerReply::Whole(200, vec![], "[".repeat(100_000))),
        ("another call", |_| ServerReply::json(&json!({ "id": "0", "success": true, "result": true }))),
        ("HTTP 418", |_| ServerReply::Whole(418, vec![], String::new())),
        ("PPXAI_BRIDGE_TOKEN", |_| ServerReply::Whole(401, vec![], String::new())),
        ("", |_| ServerReply::HangUp),
    ];
    for (says, reply) in cases {
        let server = bridge(reply);
        let error = connect(&server).open_diff(&Change::new("/w/a", "x")).unwrap_err();
        assert!(error.to_string().contains(says), "{says}: {error}");
    }
    let server = bridge(|_| ServerReply::Endless(b"HTTP/1.1 200 OK\r\nx: x\r\n"));
    assert!(connect(&server).call("ide.read_file", &json!({})).is_err());
}

#[test]
fn a_bridge_is_looked_for_only_where_it_was_named_and_wants_its_token() {
    let here = Surroundings::of_this_process(Path::new(".")).unwrap();
    let server = HttpServer::start(|heard| match heard.header("x-ppxai-token") {
        Some("t") => match heard.what() {
            "GET /status" => ServerReply::json(&json!({ "status": "ok" })),
            _ => result(heard, json!({ "folders": [{ "name": "p", "path": "/w/p" }] })),
        },
        _ => ServerReply::Whole(401, vec![], String::new()),
    });
    let url = LoopbackUrl::of_port(server.port);
    let refused = ppxai_bridge(Some(&url), &here);
    assert_eq!(refused.verdict, CandidateVerdict::Not(Reason::WantsToken));
    let mut here = here;
    here.variables.insert("PPXAI_BRIDGE_TOKEN".into(), "t".into());
    let found = ppxai_bridge(Some(&url), &here);
    assert_eq!((found.verdict, found.folders), (CandidateVerdict::Usable, vec![PathBuf::from("/w/p")]));
}

#[test]
fn the_tools_are_those_that_the_bridge_says_it_has() {
    for (capabilities, has, lacks) in [
        (json!(["workspace", "git"]), vec!["ide.read_file", "ide.git_log"], vec!["ide.open_file"]),
        // As the reference bridge names them.
        (json!(["workspace", "editor"]), vec!["ide.apply_edit", "ide.get_hover_info"], vec!["ide.git_log"]),
        (json!(null), vec!["ide.git_log", "ide.run_in_terminal"], vec![]),
    ] {
        let server = HttpServer::start(move |_| {
            let status = json!({ "status": "ok", "version": "1.14.0", "capabilities": capabilities });
            ServerReply::json(&status)
        });
        let tools = connect(&server).tools().unwrap();
        let listed = |name: &&str| tools.iter().any(|tool| tool.name == *name);
        assert!(has.iter().all(listed) && !lacks.iter().any(listed), "{tools:?}");
    }
}

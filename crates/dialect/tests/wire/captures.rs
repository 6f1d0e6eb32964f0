//! What real agents sent is understood, and our answers have the shape of what real editors answered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use linkspan_dialect::{Answer, Failure, FailureKind, Request, Step};
use serde_json::Value;

use crate::support::session;

/// Those with editors that speak `claude`.
fn conversations() -> Vec<(String, Vec<(bool, Value)>)> {
    let mut all = crate::support::conversations();
    all.retain(|(file, _)| !["gemini", "qwen", "copilot"].iter().any(|other| file.starts_with(other)));
    all
}

/// Says in a few words what a step means, so that a whole conversation can be compared.
fn meaning(step: &Step) -> String {
    match step {
        Step::Call { request, .. } => match request {
            Request::Propose { path, proposed, label, .. } => {
                format!("propose {} {proposed:?} as {label}", path.display())
            }
            Request::Diagnostics { path: Some(path), .. } => format!("diagnostics of {}", path.display()),
            Request::Diagnostics { path: None, .. } => "diagnostics".into(),
            Request::CloseTab { label } => format!("close {label}"),
            Request::CloseAllDiffs => "close all".into(),
            other => format!("{other:?}"),
        },
        Step::Introduced { name, version, .. } => format!("{name} {version}"),
        Step::Pid(pid) => format!("pid {pid}"),
        Step::Reply(_) => "reply".into(),
        other => format!("{other:?}"),
    }
}

fn meanings(file: &str) -> Vec<String> {
    let mut session = session("claude");
    let conversations = conversations();
    let (_, frames) = conversations.iter().find(|(name, _)| name == file).unwrap();
    let from_agent = frames.iter().filter(|(from_agent, _)| *from_agent);
    from_agent.map(|(_, frame)| meaning(&session.receive(&frame.to_string()))).collect()
}

#[test]
fn an_accepted_edit_is_understood_from_hello_to_last_diagnostics() {
    let label = "✻ [Claude Code] a.txt (2fe01b) ⧉";
    assert_eq!(
        meanings("claude-2.1.325-accept.jsonl"),
        [
            "claude-code 2.1.325",
            "Nothing",
            "pid 18035",
            "reply",
            "close all",
            &format!(r#"propose /w/project/a.txt "one\nTWO\nthree\n" as {label}"#),
            &format!("close {label}"),
            &format!("close {label}"),
            "diagnostics of /w/project/a.txt",
            "diagnostics",
        ]
    );
}

#[test]
fn an_older_agent_is_understood_as_well() {
    let label = "✻ [Claude Code] a.txt (59a79b) ⧉";
    assert_eq!(
        meanings("claude-2.1.112-accept.jsonl"),
        [
            "claude-code 2.1.112",
            "Nothing",
            "pid 20039",
            "reply",
            "close all",
            "diagnostics",
            &format!(r#"propose /w/project/a.txt "one\nTWO\nthree\n" as {label}"#),
            &format!("close {label}"),
            "diagnostics of /w/project/a.txt",
            "diagnostics",
        ]
    );
}

#[test]
fn an_agent_that_only_says_hello_is_understood() {
    assert_eq!(meanings("opencode-1.18.33-connect.jsonl"), ["opencode 0.0.0", "Nothing"]);
}

#[test]
fn every_captured_request_gets_one_answer_or_is_one_call() {
    for (file, frames) in conversations() {
        let mut session = session("claude");
        for (_, frame) in frames.iter().filter(|(from_agent, _)| *from_agent) {
            let before = session.open_calls().count();
            let step = session.receive(&frame.to_string());
            let opened = session.open_calls().count() - before;
            let is_request = frame.get("id").is_some();
            match step {
                Step::Call { .. } => assert!(is_request && opened == 1, "{file}: {frame}"),
                Step::Reply(_) | Step::Malformed(_) | Step::Introduced { .. } => {
                    assert!(is_request && opened == 0, "{file}: {frame}");
                }
                Step::Pid(_) | Step::Nothing => assert!(!is_request, "{file}: {frame}"),
                Step::NeedsToken => panic!("{file}: it speaks this dialect"),
                Step::Cancelled(_) => panic!("{file}: nothing was cancelled"),
                Step::Thread { .. } | Step::Declined { .. } => panic!("{file}: this is not a daemon"),
                Step::Pong(_) | Step::Goodbye | Step::Chat(_) => {
                    panic!("{file}: nobody was pinged, nobody left")
                }
            }
        }
    }
}

#[test]
fn the_hello_and_the_tools_have_the_shape_that_agents_saw() {
    for (file, frames) in conversations() {
        let answers: BTreeMap<String, &Value> = frames
            .iter()
            .filter(|(from_agent, _)| !from_agent)
            .map(|(_, frame)| (frame["id"].to_string(), frame))
            .collect();
        let mut session = session("claude");
        for (_, frame) in frames.iter().filter(|(from_agent, _)| *from_agent) {
            let step = session.receive(&frame.to_string());
            let Some(theirs) = answers.get(&frame["id"].to_string()) else { continue };
            match (frame["method"].as_str(), step) {
                (Some("initialize"), Step::Introduced { reply, .. }) => {
                    let ours: Value = serde_json::from_str(&reply).unwrap();
                    assert_eq!(
                        ours["result"]["protocolVersion"], frame["params"]["protocolVersion"],
                        "{file}"
                    );
                    assert_eq!(
                        ours["result"]["capabilities"]["tools"],
                        theirs["result"]["capabilities"]["tools"]
                    );
                }
                (Some("tools/list"), Step::Reply(reply)) if frame["jsonrpc"] == "2.0" => {
                    let ours: Value = serde_json::from_str(&reply).unwrap();
                    lists_at_least(&ours["result"]["tools"], &theirs["result"]["tools"], &file);
                }
                _ => {}
            }
        }
    }
}

/// Every tool and argument of theirs is among ours, with the same type.
fn lists_at_least(ours: &Value, theirs: &Value, file: &str) {
    for tool in theirs.as_array().unwrap() {
        let name = &tool["name"];
        let found = ours.as_array().unwrap().iter().find(|ours| ours["name"] == *name);
        let found = found.unwrap_or_else(|| panic!("{file}: {name} is not listed"));
        let Some(properties) = tool["inputSchema"]["properties"].as_object() else { continue };
        for (argument, schema) in properties {
            assert_eq!(found["inputSchema"]["properties"][argument], *schema, "{file}: {name} {argument}");
        }
    }
}

#[test]
fn every_tool_of_the_real_editors_was_seen_in_a_call() {
    let mut seen = BTreeSet::new();
    for (_, frames) in conversations() {
        let mut session = session("claude");
        for (_, frame) in frames.iter().filter(|(from_agent, _)| *from_agent) {
            if let Step::Call { call, .. } = session.receive(&frame.to_string()) {
                seen.insert(frame["params"]["name"].as_str().unwrap().to_owned());
                let answer =
                    Answer::Failed(Failure::new(FailureKind::Unsupported, "not supported by this editor"));
                assert!(session.answer(call, &answer).is_some());
            }
        }
    }
    assert_eq!(seen.len(), 12, "{seen:?}");
}

#[test]
fn a_selected_text_in_a_captured_open_file_is_the_target() {
    let found = conversations().into_iter().flat_map(|(_, frames)| frames).find_map(|(_, frame)| {
        frame["params"]["arguments"]["startText"]
            .is_string()
            .then(|| session("claude").receive(&frame.to_string()))
    });
    let Some(Step::Call { request: Request::OpenFile { path, focus, target, .. }, .. }) = found else {
        panic!("no such frame");
    };
    assert_eq!((path, focus), (PathBuf::from("/w/ws/b.txt"), true));
    assert!(matches!(target, Some(linkspan_dialect::OpenSelection::Text { start, .. }) if start == "two"));
}

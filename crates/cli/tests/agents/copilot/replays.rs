//! Captured conversations of the real Copilot CLI, played against the real hub.

use std::path::Path;

use linkspan_editor_api as api;
use serde_json::{Value, json};

use crate::support::copilot::{Copilot, PendingDiff, inner};
use crate::support::gemini::Stream;
use crate::support::*;

const OLD: &str = "one\ntwo\nthree\n";

fn capture(world: &World, name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wire").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.replace("/w/", &format!("{}/", world.workspace().display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Replays the requests of the agent, each with its own headers, and checks that the answers mean the same.
fn replay(name: &str) -> World {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let editor = Editor::attach(&world);
    editor.open(&path, OLD, false);
    let frames = capture(&world, name);
    let session = frames[0]["headers"]["X-Copilot-Session-Id"].as_str().unwrap();
    let mut agent = Copilot::find(&world, session);
    let (mut stream, mut diff): (Option<Stream>, Option<(Value, PendingDiff)>) = (None, None);
    let mut answers: Vec<Value> = Vec::new();
    for frame in &frames {
        let (message, first) = (&frame["frame"], frame["http"].as_str().unwrap_or_default());
        if frame["headers"].is_object() {
            agent.begun = frame["headers"]["mcp-session-id"] == session;
        }
        if first.starts_with("GET") {
            stream = Some(agent.listen());
        } else if first.starts_with("DELETE") {
            assert_eq!(agent.delete().status, 200, "{name}");
        } else if message["params"]["name"] == "open_diff" {
            let text = |key: &str| message["params"]["arguments"][key].as_str().unwrap();
            let pending =
                agent.open_diff(text("original_file_path"), text("new_file_contents"), text("tab_name"));
            editor.shown(text("original_file_path"));
            diff = Some((message["id"].clone(), pending));
        } else if first.starts_with("POST") {
            let answer = agent.post(message);
            match message["id"].is_null() {
                true => assert_eq!((answer.status, answer.body.as_str()), (202, ""), "{name}"),
                false => answers.push(answer.message()),
            }
        } else if message["method"] == "selection_changed" {
            editor.send(&api::SelectionChanged { selection: selection(&message["params"]) });
            let told = stream.as_mut().unwrap().notification("selection_changed");
            assert_eq!(&told, message, "{name}");
        } else if let Some((_, pending)) = diff.take_if(|(id, _)| *id == message["id"]) {
            let theirs = inner(message);
            let verb = if theirs["result"] == "SAVED" { "accept" } else { "reject" };
            world.run(&[verb, &world.one_pending()]).ok();
            let ours = inner(&pending.answer());
            for key in ["success", "result", "trigger", "tab_name"] {
                assert_eq!(ours[key], theirs[key], "{name}");
            }
        } else if message["id"].is_number() {
            let at = answers.iter().position(|answer| answer["id"] == message["id"]).unwrap();
            same_meaning(answers.remove(at), message.clone(), name);
        }
    }
    let undecided =
        diff.is_some() && frames.iter().all(|frame| frame["frame"]["params"]["name"] != "close_diff");
    world.pending(usize::from(undecided));
    assert_eq!(world.read_text("a.txt"), OLD, "the agent writes");
    drop((diff, stream, editor));
    world
}

fn same_meaning(mut ours: Value, mut theirs: Value, name: &str) {
    if theirs["result"]["content"].is_array() {
        (ours, theirs) = (inner(&ours), inner(&theirs));
        for value in [&mut ours, &mut theirs] {
            value.as_object_mut().unwrap().remove("message");
        }
        assert_eq!(ours, theirs, "{name}");
    } else if let Some(tools) = theirs["result"]["tools"].as_array() {
        let names = |tools: &[Value]| tools.iter().map(|tool| tool["name"].clone()).collect::<Vec<_>>();
        assert_eq!(names(ours["result"]["tools"].as_array().unwrap()), names(tools), "{name}");
    } else if theirs["error"].is_object() {
        assert_eq!(ours["error"]["code"], theirs["error"]["code"], "{name}");
    } else {
        assert_eq!(ours["result"]["protocolVersion"], theirs["result"]["protocolVersion"], "{name}");
        assert_eq!(ours["result"]["capabilities"], theirs["result"]["capabilities"], "{name}");
    }
}

fn selection(params: &Value) -> api::Selection {
    let range = json!({ "start": params["selection"]["start"], "end": params["selection"]["end"] });
    api::Selection {
        path: params["filePath"].as_str().unwrap().to_owned(),
        text: params["text"].as_str().unwrap().to_owned(),
        range: serde_json::from_value(range).unwrap(),
        is_empty: params["selection"]["isEmpty"].as_bool().unwrap(),
        reversed: false,
    }
}

#[test]
fn a_change_accepted_in_the_editor() {
    replay("copilot-1.0.102-ide-accept.jsonl");
}

#[test]
fn a_change_rejected_in_the_editor() {
    replay("copilot-1.0.102-ide-reject.jsonl");
}

#[test]
fn a_new_file_accepted_in_the_editor() {
    let world = replay("copilot-1.0.102-ide-newfile.jsonl");
    assert!(!world.path("n.txt").exists(), "the agent writes");
}

#[test]
fn a_change_decided_in_the_terminal() {
    replay("copilot-1.0.102-ide-terminal.jsonl");
}

#[test]
fn an_agent_whose_editor_died_while_it_waited() {
    replay("copilot-1.0.102-ide-die.jsonl");
}

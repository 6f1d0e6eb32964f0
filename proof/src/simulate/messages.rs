//! What agents say and hear, in the words of each dialect. Knows of no agent what it wants.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::agent::{Ask, Part};

/// What an answer to a call says, in no dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Received {
    Accepted {
        text: Option<String>,
    },
    Rejected,
    Failed(String),
    /// Of each file of a set, as it is named in the answer.
    Set(Vec<(String, Received)>),
    Other,
}

/// The tool by which a change is asked for, and what it is given.
pub(super) fn proposal(dialect: &str, ask: &Ask, number: usize) -> (&'static str, Value) {
    let files: Vec<Value> = ask.parts.iter().map(file).collect();
    let Some(part) = ask.parts.first() else { return ("ide.apply_edit", json!({})) };
    let path = part.path.display().to_string();
    match dialect {
        "linkspan" => {
            let writer = if ask.by_agent { "agent" } else { "hub" };
            let mut change = json!({ "path": path, "newText": part.text, "writer": writer });
            if let (Some(word), Some(change)) = (&ask.set, change.as_object_mut()) {
                change.insert("set".to_owned(), word.as_str().into());
            }
            ("proposeChange", change)
        }
        "gemini" => ("openDiff", json!({ "filePath": path, "newContent": part.text })),
        "ppxai" if ask.parts.len() > 1 => ("ide.apply_edit", json!({ "files": files })),
        "ppxai" => ("ide.apply_edit", file(part)),
        _ => (
            "openDiff",
            json!({
                "old_file_path": path, "new_file_path": path, "new_file_contents": part.text,
                "tab_name": format!("tab {number}"),
            }),
        ),
    }
}

/// One file of an edit: its whole new text, or a line to insert.
fn file(part: &Part) -> Value {
    let path = part.path.display().to_string();
    match part.before_line {
        None => json!({ "path": path, "content": part.text }),
        Some(line) => {
            let place = json!({ "line": line, "character": 0 });
            let range = json!({ "start": place, "end": place });
            json!({ "path": path, "edits": [{ "range": range, "newText": part.text }] })
        }
    }
}

/// A tool is called.
pub(super) fn call(dialect: &str, id: i64, tool: &str, arguments: &Value) -> Value {
    match dialect {
        "ppxai" => json!({ "id": id, "tool": tool, "args": arguments }),
        _ => json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments },
        }),
    }
}

/// Whether a call is for a command.
pub(super) fn wants_to_run(frame: &Value) -> bool {
    frame["tool"] == "ide.run_in_terminal" || frame["params"]["name"] == "runInTerminal"
}

/// Whether a call needs an answer of the editor and nothing else.
pub(super) fn asks_editor_only(frame: &Value) -> bool {
    let tools = ["ide.get_open_files", "ide.get_diagnostics", "getOpenEditors", "getDiagnostics"];
    tools.iter().any(|tool| frame["tool"] == *tool || frame["params"]["name"] == *tool)
}

/// The method of a call, in any dialect; `None`: it is an answer.
pub(super) fn method(frame: &Value) -> Option<&str> {
    frame["method"].as_str().or(frame["tool"].as_str())
}

/// The changes that a call asks for.
pub(super) fn changes(frame: &Value) -> Vec<Part> {
    let one = |of: &Value| {
        let named = |names: &[&str]| names.iter().find_map(|name| of[*name].as_str());
        let path = named(&["new_file_path", "path", "filePath"]);
        let text = named(&["new_file_contents", "newText", "content", "newContent"]);
        let edit = &of["edits"][0];
        let text = text.or(edit["newText"].as_str());
        let line = edit["range"]["start"]["line"].as_u64();
        let before_line = line.and_then(|line| u32::try_from(line).ok());
        path.zip(text).map(|(path, text)| Part { path: path.into(), text: text.to_owned(), before_line })
    };
    let arguments = if frame["tool"].is_string() { &frame["args"] } else { &frame["params"]["arguments"] };
    match arguments["files"].as_array() {
        Some(files) => files.iter().filter_map(one).collect(),
        None => one(arguments).into_iter().collect(),
    }
}

pub(super) fn heard(dialect: &str, frame: &Value) -> Received {
    let result = &frame["result"];
    if dialect == "ppxai" {
        // A rejection is a failure for clients that look no further, and has a result like any decision.
        let decided_at_all = frame["success"] == true || frame["code"] == "REJECTED";
        return match (decided_at_all, result["files"].as_array()) {
            (_, Some(files)) => {
                let name = |file: &Value| file["path"].as_str().unwrap_or_default().to_owned();
                Received::Set(files.iter().map(|file| (name(file), decided(file))).collect())
            }
            (true, None) => decided(result),
            _ => Received::Failed(frame["error"].as_str().unwrap_or_default().to_owned()),
        };
    }
    if let Some(error) = frame.get("error") {
        return Received::Failed(error["message"].as_str().unwrap_or_default().to_owned());
    }
    let structured = &result["structuredContent"];
    match structured["outcome"].as_str() {
        Some("accepted") => {
            return Received::Accepted { text: structured["text"].as_str().map(str::to_owned) };
        }
        Some("rejected") => return Received::Rejected,
        _ => {}
    }
    if result["isError"] == true {
        return Received::Failed(result["content"][0]["text"].as_str().unwrap_or_default().to_owned());
    }
    match result["content"][0]["text"].as_str() {
        Some("FILE_SAVED") => {
            let text = result["content"][1]["text"].as_str().filter(|_| dialect == "claude");
            Received::Accepted { text: text.map(str::to_owned) }
        }
        Some("DIFF_REJECTED") => Received::Rejected,
        _ => Received::Other,
    }
}

/// A notification about a change after its call was answered, and which change.
pub(super) fn told_later(frame: &Value) -> Option<(PathBuf, Received)> {
    let params = &frame["params"];
    let heard = match frame["method"].as_str()? {
        "ide/diffAccepted" => Received::Accepted { text: params["content"].as_str().map(str::to_owned) },
        "ide/diffRejected" => Received::Rejected,
        "ide/diffClosed" => Received::Failed("closed".to_owned()),
        _ => return None,
    };
    Some((params["filePath"].as_str()?.into(), heard))
}

/// One file in ppxai's messages.
fn decided(file: &Value) -> Received {
    match (file["error"].as_str(), file["accepted"].as_bool()) {
        (Some(error), _) => Received::Failed(error.to_owned()),
        (None, Some(true)) => Received::Accepted { text: file["content"].as_str().map(str::to_owned) },
        (None, Some(false)) => Received::Rejected,
        (None, None) => Received::Other,
    }
}

//! What a client shows of a turn: tool calls with their kind, their files and their change as whole texts, and pieces of
//! text. Values only; sends nothing.

use std::path::Path;

use linkspan_client::confirm::ConfirmQuestion;
use linkspan_client::proposal::FILE_TOOLS;
use serde_json::{Map, Value, json};

use crate::call_line::call_line;
use crate::message::{CallArguments, ChatMessage, ModelCall, ToolResult};
use crate::permissions::PermissionMode;
use crate::tools::plan::{StepState, plan_of};

/// A piece of text from somebody.
pub(super) fn chunk(kind: &str, text: &str) -> Value {
    json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } })
}

/// A call that the model made. `diff` is its change, if it is known.
pub(super) fn tool_call(call: &ModelCall, cwd: &Path, diff: Option<Value>) -> Value {
    let mut update = described(call, cwd);
    update.insert("sessionUpdate".to_owned(), json!("tool_call"));
    update.insert("status".to_owned(), json!("pending"));
    update.insert("content".to_owned(), Value::Array(diff.into_iter().collect()));
    Value::Object(update)
}

/// The plan of a call that shows one.
pub(super) fn plan(call: &ModelCall) -> Option<Value> {
    let entry = |(state, step): &(StepState, &str)| {
        let status = match state {
            StepState::Done => "completed",
            StepState::Current => "in_progress",
            StepState::Open => "pending",
        };
        json!({ "content": step, "priority": "medium", "status": status })
    };
    let entries: Vec<Value> = plan_of(call)?.iter().map(entry).collect();
    Some(json!({ "sessionUpdate": "plan", "entries": entries }))
}

/// The call as a permission request shows it.
pub(super) fn asked_call(call: &ModelCall, cwd: &Path, note: Option<&str>) -> Value {
    let mut asked = described(call, cwd);
    asked.insert("status".to_owned(), json!("pending"));
    if let Some(note) = note {
        asked.insert("content".to_owned(), json!([text_block(note)]));
    }
    Value::Object(asked)
}

/// The change of a call as a permission request shows it.
pub(super) fn asked_change(call_id: &str, question: &ConfirmQuestion) -> Value {
    let mut asked = Map::new();
    asked.insert("toolCallId".to_owned(), json!(call_id));
    asked.insert("kind".to_owned(), json!(kind(&question.tool)));
    asked.insert("status".to_owned(), json!("pending"));
    let note = question.note.as_deref().map(text_block);
    if let Some(change) = &question.change {
        asked.insert("title".to_owned(), json!(format!("{} {}", question.tool, change.path.display())));
        asked.insert("locations".to_owned(), json!([{ "path": change.path }]));
    } else {
        asked.insert("title".to_owned(), json!(question.tool));
    }
    let content: Vec<_> = diff(question).into_iter().chain(note).collect();
    asked.insert("content".to_owned(), Value::Array(content));
    Value::Object(asked)
}

/// What a tool returned. A change that was shown stays.
pub(super) fn tool_result(result: &ToolResult, keeps_content: bool) -> Value {
    let status = if result.is_error || result.cancelled { "failed" } else { "completed" };
    let mut update = json!({
        "sessionUpdate": "tool_call_update",
        "toolCallId": result.call_id,
        "status": status,
        "rawOutput": { "text": result.text },
    });
    if !keeps_content && let Some(update) = update.as_object_mut() {
        update.insert("content".to_owned(), json!([text_block(&result.text)]));
    }
    update
}

/// Output of a call that runs.
pub(super) fn output(call_id: &str, text: &str) -> Value {
    json!({
        "sessionUpdate": "tool_call_update",
        "toolCallId": call_id,
        "status": "in_progress",
        "content": [text_block(text)],
    })
}

/// The change that a call would make now, as whole texts. In a mode without questions the tool may already have run, so
/// only tools that notice that are shown. Reads the file.
pub(super) fn diff_of(call: &ModelCall, cwd: &Path, mode: PermissionMode) -> Option<Value> {
    let CallArguments::Json(arguments) = &call.arguments else { return None };
    let notices = matches!(call.name.as_str(), "write_file" | "edit_file" | "patch");
    if !FILE_TOOLS.contains(&call.name.as_str()) || (mode != PermissionMode::Trusted && !notices) {
        return None;
    }
    diff(&ConfirmQuestion::of_call(&call.name, arguments, cwd).ok()?)
}

fn diff(question: &ConfirmQuestion) -> Option<Value> {
    let change = question.change.as_ref().filter(|change| !change.proposed.is_unchanged())?;
    let (old, new) = (change.proposed.base(), change.proposed.text());
    Some(json!({ "type": "diff", "path": change.path, "oldText": old, "newText": new }))
}

/// A conversation so far, as its client would have seen it.
pub(super) fn replay(messages: &[ChatMessage], cwd: &Path) -> Vec<Value> {
    let mut updates = Vec::new();
    for message in messages {
        match message {
            ChatMessage::User { text, .. } => updates.push(chunk("user_message_chunk", text)),
            ChatMessage::Assistant { text, calls } => {
                if !text.is_empty() {
                    updates.push(chunk("agent_message_chunk", text));
                }
                // Its change is history: the file may hold anything by now.
                updates.extend(calls.iter().map(|call| tool_call(call, cwd, None)));
            }
            ChatMessage::Tools { results } => {
                updates.extend(results.iter().map(|result| tool_result(result, false)));
            }
            ChatMessage::Summary { text } => updates.push(chunk("agent_thought_chunk", text)),
        }
    }
    updates
}

fn described(call: &ModelCall, cwd: &Path) -> Map<String, Value> {
    let mut described = Map::new();
    described.insert("toolCallId".to_owned(), json!(call.id));
    described.insert("title".to_owned(), json!(call_line(call)));
    described.insert("kind".to_owned(), json!(kind(&call.name)));
    let raw = match &call.arguments {
        CallArguments::Json(arguments) => arguments.clone(),
        CallArguments::Broken(text) => json!({ "text": text }),
    };
    let path = raw.get("path").or_else(|| raw.get("file_path")).and_then(Value::as_str);
    if let Some(path) = path {
        described.insert("locations".to_owned(), json!([{ "path": cwd.join(path) }]));
    }
    described.insert("rawInput".to_owned(), raw);
    described
}

fn text_block(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

/// ACP's kinds of tools.
fn kind(tool: &str) -> &'static str {
    match tool.strip_prefix("ide.").unwrap_or(tool) {
        tool if FILE_TOOLS.contains(&tool) => "edit",
        "apply_edit" | "insert_text" | "replace_selection" | "format_document" => "edit",
        "read_file" | "get_active_file" | "get_selection" => "read",
        "list_files" | "search_files" | "find_references" => "search",
        "run_command" | "run_in_terminal" | "git_commit" | "git_stage" => "execute",
        "fetch_url" => "fetch",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: Value) -> ModelCall {
        ModelCall {
            id: "c1".into(),
            name: name.into(),
            arguments: CallArguments::Json(arguments),
            opaque: None,
        }
    }

    #[test]
    fn a_change_is_shown_as_two_whole_texts() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f"), "one\ntwo\n").unwrap();
        let edit = call("edit_file", json!({ "path": "f", "old_string": "two", "new_string": "2" }));
        let path = folder.path().join("f");
        let expect = json!({ "type": "diff", "path": path, "oldText": "one\ntwo\n", "newText": "one\n2\n" });
        assert_eq!(diff_of(&edit, folder.path(), PermissionMode::Yolo), Some(expect));
        let new = call("write_file", json!({ "path": "g", "content": "x\n" }));
        assert_eq!(diff_of(&new, folder.path(), PermissionMode::Trusted).unwrap()["oldText"], Value::Null);
        let append = call("append_file", json!({ "path": "f", "content": "x\n" }));
        assert!(diff_of(&append, folder.path(), PermissionMode::Trusted).is_some());
        assert_eq!(diff_of(&append, folder.path(), PermissionMode::Yolo), None);
        let wrong = call("edit_file", json!({ "path": "none" }));
        assert_eq!(diff_of(&wrong, folder.path(), PermissionMode::Trusted), None);
    }

    #[test]
    fn a_call_has_a_kind_a_title_and_a_place() {
        let update = tool_call(&call("read_file", json!({ "path": "a.rs" })), Path::new("/w"), None);
        assert_eq!(
            update,
            json!({ "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "read_file a.rs", "kind": "read",
                "status": "pending", "content": [], "locations": [{ "path": "/w/a.rs" }],
                "rawInput": { "path": "a.rs" } })
        );
        assert_eq!(kind("ide.get_selection"), "read");
        assert_eq!(kind("server.anything"), "other");
    }
}

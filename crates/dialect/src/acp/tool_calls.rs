//! The tool calls of a turn by their ids: updates bring only what changed, and a permission request may have less than
//! the call before it. Knows what a call would change, as far as it says so.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use linkspan_editor_api::ChatToolState;
use serde_json::{Map, Value};

use super::content;
use super::frames::{list, name, text};
use crate::chat::ChatTool;
use crate::patch::{PatchChange, PatchFile, TextEdit};

/// More than a turn has under way. Older ones are forgotten.
const KEPT: usize = 256;

/// Bytes of their texts. Each may have whole files.
const KEPT_BYTES: usize = 64 * 1024 * 1024;

/// Files of one call that are listed.
const LISTED: usize = 64;

/// What is kept of each: with the texts of the files, so nothing else is.
const MEMBERS: [&str; 6] = ["title", "kind", "status", "content", "locations", "rawInput"];

#[derive(Debug, Default)]
pub(super) struct ToolCalls {
    newest: VecDeque<KnownCall>,
}

#[derive(Debug)]
struct KnownCall {
    id: String,
    call: Value,
    bytes: usize,
}

impl ToolCalls {
    /// Adds what this says about a call; returns all that is known about it.
    pub(super) fn merge(&mut self, said: &Value) -> Option<(&str, &Value)> {
        let id = name(said, "toolCallId").filter(|id| !id.is_empty())?;
        let mut at = match self.newest.iter().position(|known| known.id == id) {
            Some(at) => at,
            None => {
                if self.newest.len() >= KEPT {
                    self.newest.pop_front();
                }
                let call = Value::Object(Map::new());
                self.newest.push_back(KnownCall { id: id.to_owned(), call, bytes: 0 });
                self.newest.len() - 1
            }
        };
        let known = self.newest.get_mut(at)?;
        if let Some(object) = known.call.as_object_mut() {
            for member in MEMBERS {
                if let Some(value) = said.get(member).filter(|value| !value.is_null()) {
                    object.insert(member.to_owned(), value.clone());
                }
            }
        }
        known.bytes = bytes(&known.call);
        while self.newest.len() > 1 && self.newest.iter().map(|known| known.bytes).sum::<usize>() > KEPT_BYTES
        {
            let oldest = usize::from(at == 0);
            self.newest.remove(oldest);
            at = at.saturating_sub(1 - oldest);
        }
        self.newest.get(at).map(|known| (known.id.as_str(), &known.call))
    }

    pub(super) fn clear(&mut self) {
        self.newest.clear();
    }
}

/// About how many it takes.
fn bytes(value: &Value) -> usize {
    const VALUE: usize = 64;
    VALUE
        + match value {
            Value::String(text) => text.len(),
            Value::Array(values) => values.iter().map(bytes).sum(),
            Value::Object(members) => members.iter().map(|(name, value)| name.len() + bytes(value)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}

pub(super) fn shown(id: &str, call: &Value) -> ChatTool {
    let state = match text(call, "status") {
        Some("in_progress") => ChatToolState::Running,
        Some("completed") => ChatToolState::Done,
        Some("failed" | "cancelled") => ChatToolState::Failed,
        _ => ChatToolState::Pending,
    };
    let paths = list(call, "locations").filter_map(|place| name(place, "path")).take(LISTED);
    ChatTool {
        id: id.to_owned(),
        title: text(call, "title").unwrap_or("Tool call").to_owned(),
        kind: name(call, "kind").map(str::to_owned),
        state,
        output: content::output(call),
        paths: paths.map(str::to_owned).collect(),
    }
}

/// Whether the call is about files that change.
pub(super) fn is_edit(call: &Value) -> bool {
    matches!(text(call, "kind"), Some("edit")) || diffs(call).next().is_some()
}

fn diffs(call: &Value) -> impl Iterator<Item = &Value> {
    list(call, "content").filter(|block| text(block, "type") == Some("diff"))
}

/// The files that the call would change, each once, in its order. None if it does not say how.
pub(super) fn changes(call: &Value, cwd: &Path) -> Vec<PatchFile> {
    let raw = call.get("rawInput").unwrap_or(&Value::Null);
    let all = raw.get("replace_all").and_then(Value::as_bool).unwrap_or(false);
    let mut files: Vec<(PathBuf, Vec<TextEdit>)> = Vec::new();
    for diff in diffs(call) {
        let (Some(path), Some(new)) = (text(diff, "path"), text(diff, "newText")) else { continue };
        let old = text(diff, "oldText").map(str::to_owned);
        let edit = TextEdit { old, new: new.to_owned(), all };
        let path = cwd.join(path);
        match files.iter_mut().find(|(known, _)| *known == path) {
            Some((_, edits)) => edits.push(edit),
            None => files.push((path, vec![edit])),
        }
    }
    let diff = text(raw, "diff").filter(|diff| diff.contains("@@"));
    // One diff is about one file.
    if files.is_empty()
        && let Some(path) =
            ["fileName", "filepath", "file_path", "path"].iter().find_map(|name| text(raw, name))
        && diff.is_some()
    {
        files.push((cwd.join(path), Vec::new()));
    }
    let diff = diff.filter(|_| files.len() == 1).map(str::to_owned);
    let texts = |(path, edits)| PatchFile { path, change: PatchChange::Texts { edits, diff: diff.clone() } };
    files.into_iter().map(texts).collect()
}

/// What a person reads before the call is allowed: the command, or the agent's title and what it gives to its tool.
pub(super) fn question(call: &Value) -> String {
    let raw = call.get("rawInput").unwrap_or(&Value::Null);
    let title = text(call, "title").unwrap_or("Tool call");
    if let Some(command) = text(raw, "command") {
        return match command == title {
            true => command.to_owned(),
            false => format!("{title}\n\n{command}"),
        };
    }
    let input = match raw {
        Value::Null => None,
        Value::Object(members) if members.is_empty() => None,
        other => serde_json::to_string_pretty(other).ok(),
    };
    let shown = content::output(call);
    let parts = [Some(title.to_owned()), Some(shown).filter(|shown| !shown.is_empty()), input];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_texts_of_older_calls_are_forgotten_before_there_are_too_many_bytes() {
        let mut calls = ToolCalls::default();
        let text = "x".repeat(4 * 1024 * 1024);
        for number in 0..100 {
            let said = json!({ "toolCallId": format!("t{number}"), "content": [{ "type": "diff", "newText": text }] });
            let (id, known) = calls.merge(&said).unwrap();
            assert_eq!(
                (id, known["content"][0]["newText"].as_str()),
                (said["toolCallId"].as_str().unwrap(), Some(&*text))
            );
        }
        let kept: usize = calls.newest.iter().map(|known| known.call.to_string().len()).sum();
        assert!(kept < 100 * 1024 * 1024, "{kept}");
    }
}

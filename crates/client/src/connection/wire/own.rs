//! Our own dialect: positions from 0, answers as data with the types of the editor API, decisions with all details.

use std::path::{Path, PathBuf};
use std::time::Duration;

use linkspan_editor_api as api;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{WireCall, WireCodec, Withdrawal, text_of};
use crate::connection::error::CallError;
use crate::connection::types::{
    AllowedBy, Change, ChangeOutcome, ChangeWriter, DecidedHunk, DiffOutcome, EditorDiagnostic, EditorInfo,
    EditorSelection, OpenAt, OpenPrecision, PermissionAnswer, ToolInfo, ToolResult,
};

pub(in crate::connection) const OWN: Own = Own;

#[derive(Debug)]
pub(in crate::connection) struct Own;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OutcomeData {
    outcome: OutcomeWord,
    #[serde(default)]
    review: Option<String>,
    #[serde(default)]
    text: Option<String>,
    /// The text is in the file, and was too large to be repeated.
    #[serde(default)]
    text_omitted: bool,
    #[serde(default)]
    new_file: bool,
    #[serde(default)]
    written: bool,
    #[serde(default)]
    taken: Option<api::AcceptedPart>,
    #[serde(default)]
    hunks: Vec<DecidedHunk>,
    #[serde(default)]
    person_diff: Option<String>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    comments: Vec<api::ReviewComment>,
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
enum OutcomeWord {
    Accepted,
    Rejected,
}

#[derive(Deserialize)]
struct EditorsData {
    editors: Vec<api::OpenDocument>,
}

#[derive(Deserialize)]
struct FoldersData {
    folders: Vec<PathBuf>,
}

impl WireCodec for Own {
    fn revision(&self) -> &'static str {
        "2025-06-18"
    }

    fn is_hub(&self) -> bool {
        true
    }

    fn propose(&self, change: &Change, _tab: &str) -> Result<WireCall, CallError> {
        let mut arguments = json!({
            "path": text_of(&change.path)?,
            "newText": change.new_text,
            "label": change.label,
        });
        if let Some(set) = &change.set {
            arguments["set"] = json!(set);
        }
        if let Some(old_text) = &change.old_text {
            arguments["oldText"] = json!(old_text);
            return Ok(WireCall::new("compareTexts", arguments));
        }
        arguments["writer"] = json!(match change.writer {
            ChangeWriter::Editor => "hub",
            ChangeWriter::Caller => "agent",
        });
        Ok(WireCall::new("proposeChange", arguments))
    }

    fn record(&self, change: &Change, allowed_by: AllowedBy) -> Result<WireCall, CallError> {
        let arguments = json!({
            "path": text_of(&change.path)?,
            "newText": change.new_text,
            "label": change.label,
            "allowedBy": allowed_by,
        });
        Ok(WireCall::new("recordChange", arguments))
    }

    fn read_decided(&self, _change: &Change, answer: &ToolResult) -> Result<ChangeOutcome, CallError> {
        let outcome: OutcomeData = read("proposeChange", answer)?;
        let accepted = outcome.outcome == OutcomeWord::Accepted;
        if accepted && outcome.text.is_none() && !(outcome.written && outcome.text_omitted) {
            return Err(CallError::protocol("proposeChange", "it reports an accept without the text"));
        }
        Ok(ChangeOutcome {
            outcome: if accepted { DiffOutcome::FileSaved } else { DiffOutcome::DiffRejected },
            text: outcome.text.filter(|_| accepted),
            written: outcome.written,
            review: outcome.review,
            new_file: outcome.new_file,
            taken: outcome.taken,
            hunks: outcome.hunks,
            person_diff: outcome.person_diff,
            reason: outcome.reason,
            comments: outcome.comments,
        })
    }

    fn withdraw(&self, _tab: &str) -> Withdrawal {
        Withdrawal::Cancel
    }

    fn permission(&self, command: &str) -> Result<WireCall, CallError> {
        Ok(WireCall::new("requestPermission", json!({ "command": command })))
    }

    fn read_permission(&self, answer: &ToolResult) -> Result<PermissionAnswer, CallError> {
        read("requestPermission", answer)
    }

    fn open_file(
        &self,
        path: &Path,
        at: Option<(OpenAt, Option<&str>)>,
        preview: bool,
        _tool: Option<&ToolInfo>,
    ) -> Result<(WireCall, OpenPrecision), CallError> {
        let mut arguments = json!({ "path": text_of(path)?, "preview": preview, "focus": true });
        if let Some((at, _)) = at {
            arguments["line"] = json!(at.line);
            arguments["character"] = json!(at.character);
            if let Some(end_line) = at.end_line {
                arguments["endLine"] = json!(end_line);
            }
        }
        Ok((WireCall::new("openFile", arguments), OpenPrecision::Place))
    }

    fn diagnostics(&self, path: Option<&Path>, wait: Option<Duration>) -> Result<WireCall, CallError> {
        let mut arguments = json!({});
        if let Some(path) = path {
            arguments["path"] = json!(text_of(path)?);
        }
        if let Some(wait) = wait {
            arguments["waitMs"] = json!(u32::try_from(wait.as_millis()).unwrap_or(u32::MAX));
        }
        Ok(WireCall::new("getDiagnostics", arguments))
    }

    fn read_diagnostics(&self, answer: &ToolResult) -> Result<Vec<EditorDiagnostic>, CallError> {
        let result: api::DiagnosticsGetResult = read("getDiagnostics", answer)?;
        let diagnostics = result.files.into_iter().flat_map(|file| {
            let (path, settled) = (PathBuf::from(file.path), file.settled);
            file.diagnostics.into_iter().map(move |found| EditorDiagnostic {
                file_path: path.clone(),
                line: found.range.start.line,
                character: found.range.start.character,
                end_line: found.range.end.line,
                end_character: found.range.end.character,
                message: found.message,
                severity: found.severity,
                source: found.source,
                code: found.code,
                settled,
            })
        });
        Ok(diagnostics.collect())
    }

    /// A tool wraps the selection in an object; an event is the selection itself.
    fn selection(&self, value: &Value) -> Result<Option<EditorSelection>, CallError> {
        let value = value.get("selection").unwrap_or(value);
        let selection: Option<api::Selection> = serde_json::from_value(value.clone())
            .map_err(|error| CallError::protocol("getCurrentSelection", error.to_string()))?;
        Ok(selection.map(|selection| EditorSelection {
            file_path: selection.path.into(),
            text: selection.text,
            start_line: selection.range.start.line,
            start_character: selection.range.start.character,
            end_line: selection.range.end.line,
            end_character: selection.range.end.character,
        }))
    }

    fn read_editors(&self, answer: &ToolResult) -> Result<Vec<EditorInfo>, CallError> {
        let EditorsData { editors } = read("getOpenEditors", answer)?;
        let editors = editors.into_iter().map(|editor| EditorInfo {
            file_path: editor.path.into(),
            is_active: editor.active,
            is_dirty: editor.dirty,
            language_id: editor.language,
        });
        Ok(editors.collect())
    }

    fn read_folders(&self, answer: &ToolResult) -> Result<Vec<PathBuf>, CallError> {
        read("getWorkspaceFolders", answer).map(|FoldersData { folders }| folders)
    }

    fn dirty(&self, path: &Path) -> Result<WireCall, CallError> {
        Ok(WireCall::new("checkDocumentDirty", json!({ "path": text_of(path)? })))
    }

    fn read_dirty(&self, answer: &ToolResult) -> Result<bool, CallError> {
        read("checkDocumentDirty", answer).map(|document: api::DocumentDirtyResult| document.dirty)
    }

    fn save(&self, path: &Path) -> Result<WireCall, CallError> {
        Ok(WireCall::new("saveDocument", json!({ "path": text_of(path)? })))
    }

    fn close_tab(&self, label: &str) -> WireCall {
        WireCall::new("closeTab", json!({ "label": label }))
    }
}

fn read<T: DeserializeOwned>(tool: &str, answer: &ToolResult) -> Result<T, CallError> {
    let data = answer.structured.clone().ok_or_else(|| CallError::protocol(tool, "it has no data"))?;
    serde_json::from_value(data).map_err(|error| CallError::protocol(tool, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(structured: Value) -> ToolResult {
        ToolResult { structured: Some(structured), ..ToolResult::default() }
    }

    fn decided(structured: Value) -> Result<ChangeOutcome, CallError> {
        OWN.read_decided(&Change::new("/w/a", "x"), &answer(structured))
    }

    #[test]
    fn a_decision_brings_all_that_the_person_did() {
        let hunk = |id: &str, taken: bool| {
            json!({
                "id": id, "beforeStart": 1, "beforeCount": 2, "afterStart": 1, "afterCount": 3, "taken": taken,
            })
        };
        let accepted = decided(json!({
            "outcome": "accepted", "review": "r12", "path": "/w/a", "text": "t", "newFile": true, "written": true,
            "taken": "some", "hunks": [hunk("h1", true), hunk("h2", false)], "personDiff": "@@",
            "comments": [{ "line": 3, "text": "why?" }],
        }))
        .unwrap();
        assert!(accepted.is_accepted() && accepted.written && accepted.new_file);
        assert_eq!((accepted.text.as_deref(), accepted.taken), (Some("t"), Some(api::AcceptedPart::Some)));
        assert_eq!(accepted.hunks.iter().map(|hunk| hunk.taken).collect::<Vec<_>>(), [true, false]);
        assert_eq!(accepted.comments[0].text, "why?");

        let rejected = decided(json!({ "outcome": "rejected", "reason": "no", "comments": [] })).unwrap();
        assert!(!rejected.is_accepted());
        assert_eq!((rejected.text, rejected.reason.as_deref()), (None, Some("no")));
    }

    #[test]
    fn an_accept_without_a_text_is_none_unless_it_is_written() {
        let omitted =
            |written| decided(json!({ "outcome": "accepted", "written": written, "textOmitted": true }));
        let accepted = omitted(true).unwrap();
        assert!(accepted.is_accepted() && accepted.written && accepted.text.is_none());
        assert!(matches!(omitted(false), Err(CallError::Protocol { .. })));
        assert!(matches!(decided(json!({ "outcome": "accepted" })), Err(CallError::Protocol { .. })));
        assert!(matches!(decided(json!({ "outcome": "perhaps" })), Err(CallError::Protocol { .. })));
        let empty = OWN.read_decided(&Change::new("/w/a", "x"), &ToolResult::default());
        assert!(matches!(empty, Err(CallError::Protocol { .. })));
    }

    #[test]
    fn two_texts_are_compared_and_nobody_writes() {
        let change = Change { old_text: Some("a".into()), set: Some("s".into()), ..Change::new("/w/a", "b") };
        let ask = OWN.propose(&change, "").unwrap();
        let expected = json!({ "path": "/w/a", "oldText": "a", "newText": "b", "label": "a", "set": "s" });
        assert_eq!((ask.tool, ask.arguments), ("compareTexts", expected));
    }

    #[test]
    fn a_selection_is_read_from_a_tool_and_from_an_event() {
        let range = json!({ "start": { "line": 1, "character": 2 }, "end": { "line": 3, "character": 4 } });
        let selection = json!({ "path": "/w/a", "text": "t", "range": range, "isEmpty": false });
        let event = OWN.selection(&selection).unwrap().unwrap();
        assert_eq!((event.start_line, event.end_character), (1, 4));
        assert_eq!(OWN.selection(&json!({ "selection": selection })).unwrap(), Some(event));
        assert_eq!(OWN.selection(&json!({ "selection": null })).unwrap(), None);
    }
}

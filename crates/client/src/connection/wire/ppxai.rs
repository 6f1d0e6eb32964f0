//! A bridge of ppxai as a client: its own tools under its own names. The bridge writes before it answers, as in
//! NEXUS3's protocol. Lines of diagnostics and of positions to open count from 1, those of selections from 0.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::foreign_answer::{self, LineBase};
use super::{NEXUS3, WireCall, WireCodec, Withdrawal, not_comparing, not_on, text_of};
use crate::connection::error::CallError;
use crate::connection::types::{
    Change, ChangeOutcome, EditorDiagnostic, EditorSelection, OpenAt, OpenPrecision, ToolInfo, ToolResult,
};

pub(in crate::connection) const PPXAI: Ppxai = Ppxai;

const NAME: &str = "ppxai's protocol";

#[derive(Debug)]
pub(in crate::connection) struct Ppxai;

impl WireCodec for Ppxai {
    fn revision(&self) -> &'static str {
        "2025-06-18"
    }

    fn plain(&self, tool: &'static str) -> Result<WireCall, CallError> {
        let tool = match tool {
            "getCurrentSelection" | "getLatestSelection" => "ide.get_selection",
            "getOpenEditors" => "ide.get_open_files",
            "getWorkspaceFolders" => "ide.get_workspace_info",
            other => other,
        };
        Ok(WireCall::new(tool, json!({})))
    }

    fn propose(&self, change: &Change, tab: &str) -> Result<WireCall, CallError> {
        not_comparing(change)?;
        let path = text_of(&change.path)?;
        Ok(WireCall::new("openDiff", json!({ "path": path, "newText": change.new_text, "tab_name": tab })))
    }

    fn read_decided(&self, change: &Change, answer: &ToolResult) -> Result<ChangeOutcome, CallError> {
        NEXUS3.read_decided(change, answer)
    }

    fn withdraw(&self, _tab: &str) -> Withdrawal {
        Withdrawal::Cancel
    }

    fn open_file(
        &self,
        path: &Path,
        at: Option<(OpenAt, Option<&str>)>,
        _preview: bool,
        _tool: Option<&ToolInfo>,
    ) -> Result<(WireCall, OpenPrecision), CallError> {
        let mut arguments = json!({ "path": text_of(path)? });
        if let Some((at, _)) = at {
            arguments["line"] = json!(at.line.saturating_add(1));
            arguments["column"] = json!(at.character);
        }
        Ok((WireCall::new("ide.open_file", arguments), OpenPrecision::Place))
    }

    fn diagnostics(&self, path: Option<&Path>, _wait: Option<Duration>) -> Result<WireCall, CallError> {
        let arguments = match path {
            Some(path) => json!({ "path": text_of(path)? }),
            None => json!({}),
        };
        Ok(WireCall::new("ide.get_diagnostics", arguments))
    }

    fn read_diagnostics(&self, answer: &ToolResult) -> Result<Vec<EditorDiagnostic>, CallError> {
        let mut value = foreign_answer::value(answer);
        for entry in value.as_array_mut().into_iter().flatten() {
            call_column_character(entry);
        }
        let answer = ToolResult { structured: Some(value), ..ToolResult::default() };
        foreign_answer::diagnostics(&answer, LineBase::FromOne)
    }

    fn selection(&self, value: &Value) -> Result<Option<EditorSelection>, CallError> {
        let mut value = value.clone();
        if let Some(file) = value.get("file").cloned() {
            value["filePath"] = file;
        }
        for end in ["start", "end"] {
            if let Some(position) = value.get_mut(end) {
                call_column_character(position);
            }
        }
        foreign_answer::selection(&value, LineBase::FromZero)
    }

    fn dirty(&self, _path: &Path) -> Result<WireCall, CallError> {
        Err(not_on(NAME, "unsaved changes"))
    }

    fn save(&self, _path: &Path) -> Result<WireCall, CallError> {
        Err(not_on(NAME, "saving"))
    }

    fn close_tab(&self, tab: &str) -> WireCall {
        WireCall::new("close_tab", json!({ "tab_name": tab }))
    }
}

fn call_column_character(place: &mut Value) {
    if let Some(column) = place.get("column").cloned() {
        place["character"] = column;
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn answer(data: &Value) -> ToolResult {
        let content = vec![json!({ "type": "text", "text": data.to_string() })];
        ToolResult { content, ..ToolResult::default() }
    }

    #[test]
    fn lines_of_diagnostics_count_from_one_and_columns_from_zero() {
        let told = json!([
            { "path": "src/a.py", "severity": "Warning", "message": "m", "line": 3, "column": 4, "source": "mypy" },
        ]);
        let found = PPXAI.read_diagnostics(&answer(&told)).unwrap();
        assert_eq!((found[0].line, found[0].character), (2, 4));
        assert_eq!(found[0].file_path, PathBuf::from("src/a.py"));
        assert!(matches!(PPXAI.read_diagnostics(&answer(&json!("no"))), Err(CallError::Protocol { .. })));
    }

    #[test]
    fn a_selection_is_read_in_the_bridges_own_words() {
        let told = json!({
            "text": "t", "file": "a.py", "start": { "line": 1, "column": 2 }, "end": { "line": 1, "column": 3 },
        });
        let selection = PPXAI.selection(&told).unwrap().unwrap();
        assert_eq!((selection.start_line, selection.start_character, selection.end_character), (1, 2, 3));
        assert_eq!(PPXAI.selection(&Value::Null), Ok(None));
    }

    #[test]
    fn a_place_to_open_counts_lines_from_one() {
        let at = OpenAt { line: 4, character: 2, end_line: None };
        let ask = PPXAI.open_file(Path::new("/w/a"), Some((at, None)), false, None).unwrap().0;
        assert_eq!(ask.arguments, json!({ "path": "/w/a", "line": 5, "column": 2 }));
    }
}

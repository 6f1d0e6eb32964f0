//! The protocol of NEXUS3 as a client: the editor writes before it answers, and the answer does not have the written
//! text.

use std::path::Path;

use linkspan_editor_api::wire_names::diff_answer::{DIFF_REJECTED, FILE_SAVED};
use serde_json::json;

use super::claude::shortened;
use super::foreign_answer::LineBase;
use super::{WireCall, WireCodec, text_of};
use crate::connection::error::CallError;
use crate::connection::types::{
    Change, ChangeOutcome, DiffOutcome, OpenAt, OpenPrecision, ToolInfo, ToolResult,
};

pub(in crate::connection) const NEXUS3: Nexus3 = Nexus3;

#[derive(Debug)]
pub(in crate::connection) struct Nexus3;

impl WireCodec for Nexus3 {
    fn revision(&self) -> &'static str {
        "2024-11-05"
    }

    fn lines(&self) -> LineBase {
        LineBase::FromOne
    }

    /// The texts after the first are the user's comments.
    fn read_decided(&self, change: &Change, answer: &ToolResult) -> Result<ChangeOutcome, CallError> {
        let mut texts = answer.texts();
        let decision = texts.next().map(str::trim);
        let said =
            || Some(texts.map(str::to_owned).collect::<Vec<_>>().join("\n")).filter(|said| !said.is_empty());
        match decision {
            Some(FILE_SAVED) => Ok(ChangeOutcome {
                written: true,
                reason: said(),
                ..ChangeOutcome::bare(DiffOutcome::FileSaved)
            }),
            Some(DIFF_REJECTED) => {
                Ok(ChangeOutcome { reason: said(), ..ChangeOutcome::bare(DiffOutcome::DiffRejected) })
            }
            Some(other) => Err(CallError::protocol(
                "openDiff",
                format!("neither accepted nor rejected {}: {}", change.label, shortened(other)),
            )),
            None => Err(CallError::protocol("openDiff", "it has no text")),
        }
    }

    /// This wire has no positions in files.
    fn open_file(
        &self,
        path: &Path,
        at: Option<(OpenAt, Option<&str>)>,
        preview: bool,
        _tool: Option<&ToolInfo>,
    ) -> Result<(WireCall, OpenPrecision), CallError> {
        let landed = if at.is_some() { OpenPrecision::File } else { OpenPrecision::Place };
        Ok((WireCall::new("openFile", json!({ "filePath": text_of(path)?, "preview": preview })), landed))
    }

    /// NEXUS3's own extension puts a prefix before the name of the tab and compares with that; others do not.
    fn close_diff(&self, tab: &str) -> Vec<WireCall> {
        vec![self.close_tab(&format!("NEXUS3: {tab}")), self.close_tab(tab)]
    }

    fn close_tab(&self, tab: &str) -> WireCall {
        WireCall::new("closeTab", json!({ "tabName": tab }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Withdrawal;
    use super::*;

    fn decided(texts: &[&str]) -> Result<ChangeOutcome, CallError> {
        let content = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
        let answer = ToolResult { content, ..ToolResult::default() };
        NEXUS3.read_decided(&Change::new("/w/a", "x"), &answer)
    }

    #[test]
    fn an_accepted_file_is_written_already() {
        let accepted = decided(&["FILE_SAVED"]).unwrap();
        assert!(accepted.is_accepted() && accepted.written);
        assert_eq!(accepted.text, None);
    }

    #[test]
    fn what_the_person_said_comes_with_the_rejection() {
        let rejected = decided(&["DIFF_REJECTED", "too long", "line 3: why?"]).unwrap();
        assert_eq!(rejected.outcome, DiffOutcome::DiffRejected);
        assert_eq!(rejected.reason.as_deref(), Some("too long\nline 3: why?"));
    }

    #[test]
    fn other_words_decide_nothing() {
        for texts in [&["TAB_CLOSED"][..], &["not FILE_SAVED"], &[]] {
            assert!(matches!(decided(texts), Err(CallError::Protocol { .. })), "{texts:?}");
        }
    }

    #[test]
    fn lines_count_from_one_on_this_wire() {
        let finding =
            json!([{ "filePath": "/w/a", "line": 1, "message": "m", "severity": "error" }]).to_string();
        let answer =
            ToolResult { content: vec![json!({ "type": "text", "text": finding })], ..Default::default() };
        assert_eq!(NEXUS3.read_diagnostics(&answer).unwrap()[0].line, 0);
        let selected = json!({
            "filePath": "/w/a", "text": "x",
            "startLine": 3, "startCharacter": 0, "endLine": 4, "endCharacter": 1,
        });
        let selected = NEXUS3.selection(&selected).unwrap().unwrap();
        assert_eq!((selected.start_line, selected.end_line, selected.end_character), (2, 3, 1));
        assert_eq!(NEXUS3.selection(&json!(null)), Ok(None));
    }

    #[test]
    fn tabs_are_closed_by_this_wires_own_name_for_it() {
        let expected =
            ["NEXUS3: a.rs", "a.rs"].map(|tab| WireCall::new("closeTab", json!({ "tabName": tab })));
        assert_eq!(NEXUS3.withdraw("a.rs"), Withdrawal::Calls(expected.to_vec()));
    }
}

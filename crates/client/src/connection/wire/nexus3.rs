//! The protocol of NEXUS3 as a client: the editor's side writes before it answers, and the answer does not say
//! what was written.

use std::path::Path;

use serde_json::json;

use super::claude::shortened;
use super::shapes::Lines;
use super::{Ask, Dialect, text_of};
use crate::connection::error::CallError;
use crate::connection::types::{Change, Decided, DiffOutcome, Landed, OpenAt, Tool, ToolResult};

pub(in crate::connection) const NEXUS3: Nexus3 = Nexus3;

#[derive(Debug)]
pub(in crate::connection) struct Nexus3;

impl Dialect for Nexus3 {
    fn revision(&self) -> &'static str {
        "2024-11-05"
    }

    fn lines(&self) -> Lines {
        Lines::FromOne
    }

    /// The texts behind the first are what the person said.
    fn read_decided(&self, change: &Change, answer: &ToolResult) -> Result<Decided, CallError> {
        let mut texts = answer.texts();
        let decision = texts.next().map(str::trim);
        let said =
            || Some(texts.map(str::to_owned).collect::<Vec<_>>().join("\n")).filter(|said| !said.is_empty());
        match decision {
            Some("FILE_SAVED") => {
                Ok(Decided { written: true, reason: said(), ..Decided::bare(DiffOutcome::FileSaved) })
            }
            Some("DIFF_REJECTED") => {
                Ok(Decided { reason: said(), ..Decided::bare(DiffOutcome::DiffRejected) })
            }
            Some(other) => Err(CallError::protocol(
                "openDiff",
                format!("neither yes nor no to {}: {}", change.label, shortened(other)),
            )),
            None => Err(CallError::protocol("openDiff", "it holds no text")),
        }
    }

    /// There are no places in files on this wire.
    fn open_file(
        &self,
        path: &Path,
        at: Option<(OpenAt, Option<&str>)>,
        preview: bool,
        _tool: Option<&Tool>,
    ) -> Result<(Ask, Landed), CallError> {
        let landed = if at.is_some() { Landed::File } else { Landed::Place };
        Ok((Ask::new("openFile", json!({ "filePath": text_of(path)?, "preview": preview })), landed))
    }

    /// NEXUS3's own extension puts a word before the name of the tab, and compares with that; others do not.
    fn close_diff(&self, tab: &str) -> Vec<Ask> {
        vec![self.close_tab(&format!("NEXUS3: {tab}")), self.close_tab(tab)]
    }

    fn close_tab(&self, tab: &str) -> Ask {
        Ask::new("closeTab", json!({ "tabName": tab }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Withdrawal;
    use super::*;

    fn decided(texts: &[&str]) -> Result<Decided, CallError> {
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
        let expected = ["NEXUS3: a.rs", "a.rs"].map(|tab| Ask::new("closeTab", json!({ "tabName": tab })));
        assert_eq!(NEXUS3.withdraw("a.rs"), Withdrawal::Calls(expected.to_vec()));
    }
}

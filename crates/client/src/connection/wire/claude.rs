//! The protocol of Claude Code as a client: the caller writes the accepted text, and only an answer that says accepted
//! *and* has the text is an accept.

use std::path::Path;

use linkspan_editor_api::wire_names::diff_answer::{DIFF_REJECTED, FILE_SAVED};
use serde_json::json;

use super::foreign_answer::LineBase;
use super::{WireCall, WireCodec, at_line, text_of};
use crate::connection::error::CallError;
use crate::connection::types::{
    Change, ChangeOutcome, DiffOutcome, OpenAt, OpenPrecision, ToolInfo, ToolResult,
};

/// The name of claude-code-ide.el in its answer to `initialize`. It counts lines from 1 where the others count from 0,
/// and nothing else on the wire reveals that.
pub(super) const CLAUDE_CODE_IDE_SERVER: &str = "claude-code-ide-mcp";

pub(in crate::connection) const CLAUDE: Claude = Claude { lines: LineBase::FromZero };
pub(in crate::connection) const CLAUDE_CODE_IDE: Claude = Claude { lines: LineBase::FromOne };

#[derive(Debug)]
pub(in crate::connection) struct Claude {
    lines: LineBase,
}

impl WireCodec for Claude {
    fn revision(&self) -> &'static str {
        "2025-06-18"
    }

    fn lines(&self) -> LineBase {
        self.lines
    }

    fn read_decided(&self, change: &Change, answer: &ToolResult) -> Result<ChangeOutcome, CallError> {
        let unclear = |reason: &str| Err(CallError::protocol("openDiff", reason));
        let mut texts = answer.texts();
        match (texts.next(), texts.next()) {
            (Some(FILE_SAVED), Some(text)) => Ok(ChangeOutcome {
                text: Some(text.to_owned()),
                new_file: false,
                ..ChangeOutcome::bare(DiffOutcome::FileSaved)
            }),
            (Some(DIFF_REJECTED), _) => Ok(ChangeOutcome::bare(DiffOutcome::DiffRejected)),
            (Some(FILE_SAVED), None) => unclear("it reports an accept without the text"),
            (Some("TAB_CLOSED"), _) => unclear("the tab was closed without a decision"),
            (Some(other), _) => {
                unclear(&format!("neither accepted nor rejected {}: {}", change.label, shortened(other)))
            }
            (None, _) => unclear("it has no text"),
        }
    }

    /// Lines on this wire count from 1. The real extension supports no lines, only a text to search for, and requires
    /// both texts even if they are empty.
    fn open_file(
        &self,
        path: &Path,
        at: Option<(OpenAt, Option<&str>)>,
        preview: bool,
        tool: Option<&ToolInfo>,
    ) -> Result<(WireCall, OpenPrecision), CallError> {
        let mut arguments = json!({ "filePath": text_of(path)?, "preview": preview, "makeFrontmost": true });
        let schema = tool.map(|tool| &tool.input_schema);
        let properties = schema.and_then(|schema| schema.get("properties"));
        let knows_lines = properties.is_none_or(|known| known.get("startLine").is_some());
        let knows_texts = properties.is_some_and(|known| known.get("startText").is_some());
        let landed = match at {
            None => OpenPrecision::Place,
            Some((at, _)) if knows_lines && (at.character == 0 || at.end_line.is_some()) => {
                arguments["startLine"] = json!(at.line.saturating_add(1));
                arguments["endLine"] = json!(at.end_line.unwrap_or(at.line).saturating_add(1));
                at_line(at)
            }
            Some((_, Some(text))) if knows_texts => {
                arguments["startText"] = json!(text);
                OpenPrecision::Place
            }
            Some((at, _)) if knows_lines => {
                arguments["startLine"] = json!(at.line.saturating_add(1));
                arguments["endLine"] = json!(at.line.saturating_add(1));
                at_line(at)
            }
            Some((_, _)) => OpenPrecision::File,
        };
        let required = schema.and_then(|schema| schema.get("required")?.as_array());
        for name in ["startText", "endText"] {
            let required = required.is_some_and(|required| required.iter().any(|required| required == name));
            if required && arguments.get(name).is_none() {
                arguments[name] = json!("");
            }
        }
        Ok((WireCall::new("openFile", arguments), landed))
    }

    fn close_tab(&self, tab: &str) -> WireCall {
        WireCall::new("close_tab", json!({ "tab_name": tab }))
    }
}

/// Enough of a foreign text to recognise it.
pub(super) fn shortened(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn answer(texts: &[&str]) -> ToolResult {
        let content = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
        ToolResult { content, ..ToolResult::default() }
    }

    fn decided(texts: &[&str]) -> Result<ChangeOutcome, CallError> {
        CLAUDE.read_decided(&Change::new("/w/a", "x"), &answer(texts))
    }

    #[test]
    fn an_accept_needs_its_text_and_leaves_the_writing_to_the_caller() {
        let accepted = decided(&["FILE_SAVED", "final\n"]).unwrap();
        assert!(accepted.is_accepted() && !accepted.written);
        assert_eq!(accepted.text.as_deref(), Some("final\n"));
        assert_eq!(decided(&["FILE_SAVED", ""]).unwrap().text.as_deref(), Some(""));
        assert_eq!(decided(&["DIFF_REJECTED", "tab"]).unwrap().outcome, DiffOutcome::DiffRejected);
    }

    #[test]
    fn nothing_else_is_a_decision() {
        for texts in [
            &["FILE_SAVED"][..],
            &["TAB_CLOSED"],
            &["TAB_CLOSED", "text"],
            &["file_saved", "text"],
            &["FILE_SAVED: text"],
            &["I think FILE_SAVED", "text"],
            &[""],
            &[],
        ] {
            assert!(matches!(decided(texts), Err(CallError::Protocol { .. })), "{texts:?}");
        }
    }

    fn opened(schema: Option<Value>, at: OpenAt, text: Option<&str>) -> (Value, OpenPrecision) {
        let tool = schema.map(|input_schema| ToolInfo {
            name: "openFile".into(),
            description: String::new(),
            input_schema,
        });
        let at = Some((at, text));
        let (ask, landed) = CLAUDE.open_file(Path::new("/w/a"), at, false, tool.as_ref()).unwrap();
        (ask.arguments, landed)
    }

    #[test]
    fn the_real_extension_gets_the_texts_it_wants_and_no_lines() {
        let schema = json!({
            "properties": { "filePath": {}, "preview": {}, "startText": {}, "endText": {}, "makeFrontmost": {} },
            "required": ["filePath", "startText", "endText"],
        });
        let at = OpenAt { line: 4, ..OpenAt::default() };
        for (text, landed) in [(None, OpenPrecision::File), (Some("here"), OpenPrecision::Place)] {
            let expected = json!({
                "filePath": "/w/a", "preview": false, "makeFrontmost": true,
                "startText": text.unwrap_or_default(), "endText": "",
            });
            assert_eq!(opened(Some(schema.clone()), at, text), (expected, landed));
        }
    }

    #[test]
    fn others_get_lines_that_count_from_one() {
        let at = OpenAt { line: 4, character: 2, end_line: Some(6) };
        for schema in [None, Some(json!({ "properties": { "startLine": {} }, "required": ["filePath"] }))] {
            let (arguments, landed) = opened(schema, at, Some("not looked for"));
            assert_eq!(landed, OpenPrecision::Line);
            assert_eq!((&arguments["startLine"], &arguments["endLine"]), (&json!(5), &json!(7)));
            assert_eq!(arguments.get("startText"), None);
        }
    }

    #[test]
    fn two_texts_are_not_compared_on_this_wire() {
        let change = Change { old_text: Some(String::new()), ..Change::new("/w/a", "x") };
        assert!(matches!(CLAUDE.propose(&change, "tab"), Err(CallError::NotOnThisWire(_))));
    }
}

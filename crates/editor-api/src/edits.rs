//! Changing the text of a document for the hub. Whether it may be changed is decided elsewhere.

use std::iter::once;

use serde::{Deserialize, Serialize};

use crate::position::{Position, Range};

/// Changes a document's text as one undo step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct EditsApply {
    /// Absolute path of the file.
    pub path: String,
    /// Apply only if the document has this version; if it moved on, nothing is applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// What to change.
    pub edits: Edits,
    /// Save afterwards.
    #[serde(default)]
    pub save: bool,
}

/// What to change in a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Edits {
    /// These ranges, which do not overlap and all refer to the text before. Only with the capability `editRanges`.
    Ranges {
        /// The replacements.
        edits: Vec<TextEdit>,
    },
    /// Everything.
    Text {
        /// The whole new text.
        text: String,
    },
}

impl Edits {
    /// The text that they make of this one, for editors without edits of their own. `None`: a range is not in the text.
    pub fn applied_to(&self, text: &str) -> Option<String> {
        let edits = match self {
            Edits::Ranges { edits } => edits,
            Edits::Text { text } => return Some(text.clone()),
        };
        let starts: Vec<usize> = once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let offset = |at: Position| {
            let start = *starts.get(usize::try_from(at.line).ok()?)?;
            let mut units = 0;
            let line = text.get(start..)?.split('\n').next()?;
            let ends = line.char_indices().map(|(at, c)| (at, c.len_utf16())).chain(once((line.len(), 0)));
            for (byte, length) in ends {
                if units == at.character {
                    return Some(start + byte);
                }
                units += u32::try_from(length).ok()?;
            }
            None
        };
        let mut edits: Vec<&TextEdit> = edits.iter().collect();
        edits.sort_by_key(|edit| edit.range.start);
        let mut made = String::new();
        let mut done = 0;
        for edit in edits {
            let (from, to) = (offset(edit.range.start)?, offset(edit.range.end)?);
            // A range that ends before it starts has no text.
            text.get(from..to)?;
            made.push_str(text.get(done..from)?);
            made.push_str(&edit.new_text);
            done = to;
        }
        made.push_str(text.get(done..)?);
        Some(made)
    }
}

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct TextEdit {
    /// What is replaced; empty to insert.
    pub range: Range,
    /// The new text; empty to delete.
    pub new_text: String,
}

/// The result of the edits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct EditsApplyResult {
    /// The document holds the new text. False when its version had moved on.
    pub applied: bool,
    /// The document's version now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// The file on disk holds it too.
    #[serde(default)]
    pub saved: bool,
    /// The text of the document after saving, if it is not the text that the edits made: the editor's own rules for saving
    /// changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Asks what the editor's formatter would change in a document. Changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentFormat {
    /// Absolute path of the file.
    pub path: String,
    /// Only this part; missing: all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
}

/// What formatting would change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentFormatResult {
    /// The replacements, all referring to the text before; empty when there is nothing to change.
    pub edits: Vec<TextEdit>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    fn edit(start: Position, end: Position, new_text: &str) -> TextEdit {
        TextEdit { range: Range { start, end }, new_text: new_text.to_owned() }
    }

    #[test]
    fn ranges_refer_to_the_text_before_in_any_order() {
        let edits = vec![
            edit(at(2, 0), at(3, 0), ""),
            edit(at(0, 1), at(0, 3), "x"),
            edit(at(3, 0), at(3, 0), "end"),
        ];
        let made = Edits::Ranges { edits }.applied_to("a😀b\nc\nd\n");
        assert_eq!(made.as_deref(), Some("axb\nc\nend"));
    }

    #[test]
    fn ranges_outside_the_text_are_refused() {
        let outside =
            [(at(0, 0), at(9, 0)), (at(0, 9), at(0, 9)), (at(0, 2), at(0, 2)), (at(1, 0), at(0, 0))];
        for (start, end) in outside {
            let edits = Edits::Ranges { edits: vec![edit(start, end, "")] };
            assert_eq!(edits.applied_to("a😀\nb"), None, "{start:?} {end:?}");
        }
        let overlapping = vec![edit(at(0, 0), at(1, 0), ""), edit(at(0, 1), at(1, 1), "")];
        assert_eq!(Edits::Ranges { edits: overlapping }.applied_to("a\nb"), None);
    }
}

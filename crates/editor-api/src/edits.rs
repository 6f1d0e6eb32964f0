//! Changing the text of a document for the hub. Whether it may be changed is decided elsewhere.

use serde::{Deserialize, Serialize};

use crate::position::Range;

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
    /// These ranges, which do not overlap and all refer to the text before.
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
    /// The text of the document after saving, if the editor's own rules for saving changed it.
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

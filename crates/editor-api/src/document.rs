//! Documents an editor holds: which are open, what they hold, and opening, saving and closing them. Changing
//! their text is in `edits`.

use serde::{Deserialize, Serialize};

use crate::position::Range;
use crate::selection::SelectedRange;

/// Asks for the documents that are open, in the order of their tabs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentsList {}

/// The open documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentsListResult {
    /// One entry for each tab that shows a text document.
    pub documents: Vec<OpenDocument>,
}

/// One tab that shows a text document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct OpenDocument {
    /// Absolute path, or the editor's name for a document that has no file yet.
    pub path: String,
    /// The title of the tab.
    pub label: String,
    /// The active document, or the last one that was active.
    #[serde(default)]
    pub active: bool,
    /// It has unsaved changes.
    #[serde(default)]
    pub dirty: bool,
    /// It has no file yet.
    #[serde(default)]
    pub untitled: bool,
    /// The tab is pinned.
    #[serde(default)]
    pub pinned: bool,
    /// The tab is a preview that the next opened file replaces.
    #[serde(default)]
    pub preview: bool,
    /// Language id, as the editor names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Which group of tabs, from 0.
    #[serde(default)]
    pub group_index: u32,
    /// Column of that group, from 1, as VS Code counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_column: Option<u32>,
    /// That group is the active one.
    #[serde(default)]
    pub group_active: bool,
    /// Number of lines, if the document is loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_count: Option<u32>,
    /// Selection in it, if the document is visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<SelectedRange>,
    /// Grows with each change to the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
}

/// The set of open documents changed, or one became dirty or clean.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentsChanged {}

/// Asks for the text that an editor holds for a file, saved or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentText {
    /// Absolute path of the file.
    pub path: String,
}

/// What the editor holds for the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentTextResult {
    /// The editor has the file open. If not, the file on disk counts.
    pub open: bool,
    /// It has unsaved changes.
    #[serde(default)]
    pub dirty: bool,
    /// Grows with each change to the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// Language id, as the editor names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The whole text, with the document's own line endings; missing when it is not open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Asks whether a document has unsaved changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentDirty {
    /// Absolute path of the file.
    pub path: String,
}

/// Whether the document has unsaved changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentDirtyResult {
    /// The editor has the file open.
    pub open: bool,
    /// It has unsaved changes.
    #[serde(default)]
    pub dirty: bool,
    /// It has no file yet.
    #[serde(default)]
    pub untitled: bool,
}

/// Saves a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentSave {
    /// Absolute path of the file.
    pub path: String,
}

/// The result of saving.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentSaveResult {
    /// The editor has the file open.
    pub open: bool,
    /// The file now holds what the document holds.
    pub saved: bool,
    /// Why it could not be saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Closes the tabs of a document. One with unsaved changes stays open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentClose {
    /// Absolute path of the file.
    pub path: String,
}

/// The result of closing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentCloseResult {
    /// No tab shows the document now.
    pub closed: bool,
}

/// Opens a file in a tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentOpen {
    /// Absolute path of the file.
    pub path: String,
    /// Open it as a preview that the next opened file replaces.
    #[serde(default)]
    pub preview: bool,
    /// Give it the focus. Without it, the focus stays where it is.
    #[serde(default)]
    pub focus: bool,
    /// What to select and scroll to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<OpenTarget>,
}

/// What to select in a document that is opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum OpenTarget {
    /// This range.
    Range {
        /// Where.
        range: Range,
    },
    /// From a text up to the end of another one.
    Text {
        /// Selection begins at the first occurrence of this.
        start: String,
        /// Selection ends with the first occurrence of this after `start`; missing: it ends with `start`.
        #[serde(skip_serializing_if = "Option::is_none")]
        end: Option<String>,
        /// Extend the selection to the end of its last line.
        #[serde(default)]
        to_end_of_line: bool,
    },
}

/// The opened document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentOpenResult {
    /// Language id, as the editor names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Number of lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_count: Option<u32>,
    /// What was selected; missing when the target was not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected: Option<Range>,
}

/// Scrolls an open document so that a range is visible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentReveal {
    /// Absolute path of the file.
    pub path: String,
    /// The range to show.
    pub range: Range,
}

/// The result of scrolling.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentRevealResult {
    /// The range is on screen; false when the document is not visible.
    pub revealed: bool,
}

/// Asks which part of a document is on screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentVisibleRange {
    /// Absolute path of the file.
    pub path: String,
}

/// The part of the document on screen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct DocumentVisibleRangeResult {
    /// From the first to the last visible line; missing when the document is not visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
}

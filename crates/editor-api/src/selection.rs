//! The selection, and files that the user pointed agents at.

use serde::{Deserialize, Serialize};

use crate::position::{LineRange, Range};

/// A selection and its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Selection {
    /// Absolute path of the file.
    pub path: String,
    /// The selected text; empty for a bare cursor.
    #[serde(default)]
    pub text: String,
    /// Where it is.
    pub range: Range,
    /// Nothing is selected: `range` is where the cursor is.
    pub is_empty: bool,
    /// The cursor is at the start of the range.
    #[serde(default)]
    pub reversed: bool,
}

/// A selection without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SelectedRange {
    /// Where it is.
    pub range: Range,
    /// The cursor is at the start of the range.
    #[serde(default)]
    pub reversed: bool,
}

/// Asks for the selection in the active document; `null` when none is active.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct SelectionCurrent {}

/// Asks for the last selection made in any document, active or not; `null` when there was none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct SelectionLatest {}

/// The selection in the active document changed. Sent when it has settled, not for each step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct SelectionChanged {
    /// The selection now.
    pub selection: Selection,
}

/// The user pointed the agents at a file, or at some of its lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Mentioned {
    /// Absolute path of the file.
    pub path: String,
    /// Which lines; missing: the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRange>,
}

/// The user points the agents of the window, or one of them, at a file, or at some of its lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AgentsMention {
    /// Absolute path of the file.
    pub path: String,
    /// Which lines; missing: the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRange>,
    /// Id of the connection of one agent, such as `a4`; missing: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Who received it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AgentsMentionResult {
    /// The names of the agents, each as often as it is connected. Empty: nobody did.
    pub agents: Vec<String>,
}

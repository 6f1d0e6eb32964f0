//! What the journal knows of reviews that are over, and how an accepted change is taken back.

use serde::{Deserialize, Serialize};

use crate::decision::ReviewComment;
use crate::reviews::ReviewEnded;

/// Asks for what was decided and done, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HistoryList {
    /// At most so many; missing: 50. Never more than 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Absolute path of a file, or of a folder with all that is in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Id of a window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// Only what can be taken back.
    #[serde(default)]
    pub undoable: bool,
}

/// What was decided and done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HistoryListResult {
    /// Newest first.
    pub entries: Vec<HistoryEntry>,
}

/// One review that is over, or one undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HistoryEntry {
    /// Id of the review; of an undo, that of the change it took back.
    pub review: String,
    /// Id of the change of the file, such as `c17`. Missing where nothing was written, and where the agent
    /// wrote it and it was never taken back: then the review's id names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// The change that this one took back. An undo of an undo is a redo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
    /// Id of the window.
    pub window: String,
    /// Name of the agent.
    pub agent: String,
    /// The protocol it spoke.
    pub dialect: String,
    /// Absolute path of the file.
    pub path: String,
    /// What the agent called it.
    pub label: String,
    /// How the review ended.
    pub ended: ReviewEnded,
    /// What was said about single lines.
    #[serde(default)]
    pub comments: Vec<ReviewComment>,
    /// When it was proposed, in milliseconds since 1970.
    pub proposed_at_ms: u64,
    /// When it was over, or done, in milliseconds since 1970.
    pub ended_at_ms: u64,
    /// Where it was decided, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Number of lines added, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<u32>,
    /// Number of lines removed, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<u32>,
    /// The file did not exist before.
    #[serde(default)]
    pub new_file: bool,
    /// The journal has what is needed to take it back. Whether the file still is what it was made, only
    /// `history/undo` finds out.
    pub undoable: bool,
    /// It was taken back.
    pub undone: bool,
    /// The hub wrote the file, or saw that it holds what was accepted. False: the agent was to write it, and it has
    /// not been seen in the file. Missing where nothing was to be written, and where an older version recorded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_disk: Option<bool>,
}

/// Takes an accepted change back: the file gets the bytes it held before, if and only if it holds exactly those
/// that were accepted, and no editor has unsaved text of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HistoryUndo {
    /// Id of the change (`c17`) or of its review (`r12`), or `last`: the newest that was not taken back.
    pub change: String,
}

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HistoryUndoResult {
    /// Id of the change that was taken back.
    pub change: String,
    /// Id of its review.
    pub review: String,
    /// Absolute path of the file.
    pub path: String,
    /// There was no file before, and there is none now.
    pub removed_file: bool,
    /// Id of the undo itself: taking that back puts the change in again.
    pub redo: String,
}

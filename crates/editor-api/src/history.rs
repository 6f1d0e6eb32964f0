//! Closed reviews in the journal, and undoing an accepted change.

use serde::{Deserialize, Serialize};

use crate::decision::ReviewComment;
use crate::origin::ReviewOrigin;
use crate::reviews::ReviewEnded;

/// Asks for closed reviews and undos, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HistoryList {
    /// At most this many entries. Default 50, at most 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Absolute path of a file, or of a folder, which includes everything in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Id of a window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// Only entries that can be undone.
    #[serde(default)]
    pub undoable: bool,
    /// Only changes of this conversation (`t3`), or of one of its turns (`t3/2`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
}

/// Closed reviews and undos.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HistoryListResult {
    /// Newest first.
    pub entries: Vec<HistoryEntry>,
}

/// One closed review, or one undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HistoryEntry {
    /// Id of the review; for an undo, of the review that it undid.
    pub review: String,
    /// Id of the change of the file, such as `c17`. Missing if nothing was written, and if the agent wrote it and it
    /// was never undone: then use the id of the review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// The change that this one undid. An undo of an undo is a redo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
    /// Id of the set that it was proposed in together with other files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
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
    /// Comments on single lines.
    #[serde(default)]
    pub comments: Vec<ReviewComment>,
    /// When it was proposed, in milliseconds since 1970.
    pub proposed_at_ms: u64,
    /// When the review was closed or the undo was done, in milliseconds since 1970.
    pub ended_at_ms: u64,
    /// Where it was decided, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Number of lines added, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<u32>,
    /// Number of lines removed, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<u32>,
    /// The file did not exist before.
    #[serde(default)]
    pub new_file: bool,
    /// The journal has the bytes to undo it. Whether the file still holds the accepted bytes is only checked by
    /// `history/undo`.
    pub undoable: bool,
    /// It was undone.
    pub undone: bool,
    /// The hub wrote the file, or saw that it holds the accepted text. False: the agent had to write it, and the hub
    /// has not seen it in the file. Missing if nothing had to be written, and in entries of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_disk: Option<bool>,
    /// The conversation that it comes from, if the hub hosted its agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ReviewOrigin>,
}

/// Asks for the texts of a closed review, to show again what was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HistoryShow {
    /// Id of the review (`r12`).
    pub review: String,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HistoryShowResult {
    /// How the review ended, with the reason and the comments.
    pub entry: HistoryEntry,
    /// The text that the change was based on. Missing if the file did not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The accepted text. If it was not accepted, the text that was proposed, with the user's edits.
    pub text: String,
}

/// Undoes an accepted change: restores the bytes that the file held before, if it holds exactly the accepted bytes now
/// and no editor has unsaved changes in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HistoryUndo {
    /// Id of the change (`c17`) or of its review (`r12`), or `last`: the newest that was not undone.
    pub change: String,
}

/// The undone change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HistoryUndoResult {
    /// Id of the change that was undone.
    pub change: String,
    /// Id of its review.
    pub review: String,
    /// Absolute path of the file.
    pub path: String,
    /// The file did not exist before the change, and was removed.
    pub removed_file: bool,
    /// Id of the undo itself. Undoing it applies the change again.
    pub redo: String,
}

/// Undoes every change of one turn of a conversation, the newest first. Each file is restored or left as it is, like by
/// `history/undo`; those that cannot be restored do not keep the others from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HistoryUndoTurn {
    /// The turn, such as `t3/2`.
    pub turn: String,
}

/// What became of each change of the turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct HistoryUndoTurnResult {
    /// In the order in which they were undone.
    pub changes: Vec<TurnUndo>,
}

/// One change of a turn that was to be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct TurnUndo {
    /// Id of its review.
    pub review: String,
    /// Absolute path of the file.
    pub path: String,
    /// What was done; missing if it was not undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone: Option<HistoryUndoResult>,
    /// Why it was not undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

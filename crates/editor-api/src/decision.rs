//! The decision on a review, the same for every surface.

use serde::{Deserialize, Serialize};

/// The decision of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Yes or no, and to what.
    pub verdict: Verdict,
    /// Comments on single lines.
    #[serde(default)]
    pub comments: Vec<ReviewComment>,
    /// If the agent that should write the file no longer waits, the hub writes it instead. Without this, accepting
    /// such a review is refused, with `canWriteHere`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "codegen", ts(as = "Option<bool>"))]
    pub write_here: bool,
}

/// Yes or no, and to what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Verdict {
    /// All of it, as shown.
    Accept,
    /// Only these hunks.
    AcceptHunks {
        /// Ids of the hunks taken; at least one.
        hunks: Vec<String>,
    },
    /// This text instead.
    AcceptEdited {
        /// The whole text that the file will hold.
        text: String,
    },
    /// None of it.
    Reject {
        /// Reason for the agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl Verdict {
    /// The name of this verdict.
    pub fn kind(&self) -> VerdictKind {
        match self {
            Verdict::Accept => VerdictKind::Accept,
            Verdict::AcceptHunks { .. } => VerdictKind::AcceptHunks,
            Verdict::AcceptEdited { .. } => VerdictKind::AcceptEdited,
            Verdict::Reject { .. } => VerdictKind::Reject,
        }
    }
}

/// The name of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum VerdictKind {
    /// All of it.
    Accept,
    /// Some hunks.
    AcceptHunks,
    /// A text that the user edited.
    AcceptEdited,
    /// None of it.
    Reject,
}

/// A comment on one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewComment {
    /// Line number in the proposed side as shown, from 1.
    pub line: u32,
    /// The comment.
    pub text: String,
}

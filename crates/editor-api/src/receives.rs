//! What an agent's model learns of a decision beyond yes or no, and the sentences about it that surfaces print before
//! the user types. The words are in `labels`; which agent receives what, the dialects know.

use serde::{Deserialize, Serialize};

/// What the model of an agent learns of a decision, beyond yes or no.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct Receives {
    /// The reason of a rejection.
    pub reason: bool,
    /// The comments on lines.
    pub comments: bool,
    /// Which hunks were accepted, or the text that they make.
    pub hunks: bool,
    /// The user's own text, or how it differs from the proposal.
    pub edited: bool,
}

impl Receives {
    /// Every word arrives.
    pub const EVERYTHING: Receives = Receives { reason: true, comments: true, hunks: true, edited: true };
    /// Only yes or no arrives.
    pub const NOTHING: Receives = Receives { reason: false, comments: false, hunks: false, edited: false };
}

/// Sentences about what the agent will not receive, ready to print where the user types or chooses. Each is missing if
/// there is nothing to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase", default)]
pub struct ReceivesNotes {
    /// All of it together, with the remedy: for one place next to the change.
    pub all: String,
    /// Where a reason is typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where a comment is typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comments: Option<String>,
    /// Where some hunks are chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunks: Option<String>,
    /// Where the proposed text is edited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited: Option<String>,
    /// What to do so that it receives more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

//! Reviews as `linkspan` commands list, show and decide them.

use serde::{Deserialize, Serialize};

use crate::decision::{Decision, ReviewComment};
use crate::receives::Receives;
use crate::review::ReviewShow;

/// Asks for the reviews.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewsList {
    /// Include decided reviews whose outcome has not been delivered.
    #[serde(default)]
    pub all: bool,
}

/// The reviews.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewsListResult {
    /// Oldest first.
    pub reviews: Vec<ReviewSummary>,
}

/// One line about a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewSummary {
    /// Id of the review.
    pub review: String,
    /// Id of the set it was proposed in together with other files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// Id of the window it belongs to.
    pub window: String,
    /// Name of the agent that proposes it.
    pub agent: String,
    /// The protocol that agent speaks.
    pub dialect: String,
    /// Absolute path of the file.
    pub path: String,
    /// The agent's name for it.
    pub label: String,
    /// Its phase, such as `pending`.
    pub phase: String,
    /// How long ago it was proposed.
    pub age_ms: u64,
    /// Number of hunks.
    pub hunks: u32,
    /// Number of lines added.
    pub added: u32,
    /// Number of lines removed.
    pub removed: u32,
    /// Length of the larger of both texts, in bytes of UTF-8.
    #[serde(default)]
    pub bytes: u64,
    /// Its current revision: a decision on a review that was not fetched names it.
    #[serde(default)]
    pub revision: u32,
    /// Identifies exactly what a decision on it would be about: see `review/show`.
    #[serde(default)]
    pub digest: String,
    /// The file does not exist yet.
    pub new_file: bool,
    /// Number of places that conflict.
    pub conflicts: u32,
    /// Its agent does not wait for the answer: it is gone, away, or reconnected without asking again.
    pub owner_gone: bool,
    /// After an accept the agent writes the file, not the hub.
    #[serde(default)]
    pub agent_writes: bool,
    /// What the agent's model learns of the decision. Missing: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receives: Option<Receives>,
}

/// Asks for one review in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewsGet {
    /// Id of the review, or `latest`.
    pub review: String,
}

/// One review in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewsGetResult {
    /// The review as an editor shows it.
    pub shown: ReviewShow,
    /// Its phase, such as `pending`.
    pub phase: String,
    /// Unified diff from the text before to the text after.
    pub diff: String,
    /// How it ended, once it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ReviewOutcome>,
}

/// How a review ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewOutcome {
    /// The end.
    pub ended: ReviewEnded,
    /// Comments on single lines.
    #[serde(default)]
    pub comments: Vec<ReviewComment>,
    /// The agent received the answer.
    pub delivered: bool,
}

/// The end of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ReviewEnded {
    /// Accepted, in full or in part.
    Accepted {
        /// How much of the proposal.
        taken: AcceptedPart,
        /// Unified diff from the proposal to what was accepted; missing when they are equal.
        #[serde(skip_serializing_if = "Option::is_none")]
        person_diff: Option<String>,
    },
    /// Rejected.
    Rejected {
        /// Reason for the agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Its agent withdrew it.
    Withdrawn,
    /// Its agent proposed something newer.
    Superseded {
        /// Id of the newer review.
        by: String,
    },
    /// It could not be carried out.
    Failed {
        /// Why.
        error: String,
    },
}

/// How much of a proposal was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum AcceptedPart {
    /// All of it.
    All,
    /// Some hunks.
    Some,
    /// With the user's edits.
    Edited,
}

/// Decides a review from the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewsDecide {
    /// Id of the review, or `latest`.
    pub review: String,
    /// The revision that the user saw. Default: the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// The `digest` of what was shown. Default: the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The decision.
    pub decision: Decision,
}

//! Reviews as `linkspan` commands list, show and decide them.

use serde::{Deserialize, Serialize};

use crate::decision::{Decision, ReviewComment};
use crate::review::ReviewShow;

/// Asks for the reviews.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewsList {
    /// Also those that are decided and whose agent has not heard of it yet.
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
    /// What the agent calls it.
    pub label: String,
    /// Where it is in its life, such as `pending`.
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
    /// Which state of it this is: a decision on a review that is not fetched names it.
    #[serde(default)]
    pub revision: u32,
    /// Names exactly what a decision on it would be about: see `review/show`.
    #[serde(default)]
    pub digest: String,
    /// The file does not exist yet.
    pub new_file: bool,
    /// Number of places that conflict.
    pub conflicts: u32,
    /// Its agent does not wait for the answer: it is gone, away, or came back without its question.
    pub owner_gone: bool,
    /// After an accept the agent writes the file, not the hub.
    #[serde(default)]
    pub agent_writes: bool,
}

/// Asks for all of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewsGet {
    /// Id of the review, or `latest`.
    pub review: String,
}

/// All of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewsGetResult {
    /// What an editor would show.
    pub shown: ReviewShow,
    /// Where it is in its life, such as `pending`.
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
    /// What was said about single lines.
    #[serde(default)]
    pub comments: Vec<ReviewComment>,
    /// The agent has the answer.
    pub delivered: bool,
}

/// The end of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ReviewEnded {
    /// Taken, all or in part.
    Accepted {
        /// How much of the proposal.
        taken: Taken,
        /// Unified diff from the proposal to what was accepted; missing when they are equal.
        #[serde(skip_serializing_if = "Option::is_none")]
        person_diff: Option<String>,
    },
    /// Not taken.
    Rejected {
        /// What the agent is told.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Its agent took it back.
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
pub enum Taken {
    /// All of it.
    All,
    /// Some hunks.
    Some,
    /// With the person's own edits.
    Edited,
}

/// Decides a review from the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewsDecide {
    /// Id of the review, or `latest`.
    pub review: String,
    /// The revision the person saw; missing: whatever is current.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// The `digest` of what was shown; missing: whatever is current.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What she decided.
    pub decision: Decision,
}

//! Showing a review to the user and receiving the decision. No request waits for the user: showing is answered at once,
//! and the decision comes back as a separate request.

use serde::{Deserialize, Serialize};

use crate::decision::{Decision, VerdictKind};
use crate::origin::ReviewOrigin;
use crate::position::Range;
use crate::receives::{Receives, ReceivesNotes};

/// Shows a review, or a newer revision of one that is shown. Answered at once, before the user looks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewShow {
    /// Id of the review, such as `r12`.
    pub review: String,
    /// Number of this version of the review. A decision names the revision that it was made on.
    pub revision: u32,
    /// Names exactly what is shown: the review, its file, the text before and the text after. A decision sends it back,
    /// and does not count if it was made on anything else.
    #[serde(default)]
    pub digest: String,
    /// Id of the set it was proposed in together with other files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// The agent's own name of that set; for people, never an identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_label: Option<String>,
    /// Id of the window it belongs to, such as `w3`.
    pub window: String,
    /// Name of the agent that proposes it.
    pub agent: String,
    /// The protocol that agent speaks, such as `claude`.
    pub dialect: String,
    /// Absolute path of the file.
    pub path: String,
    /// The agent's name for it; for people, never an identity.
    pub label: String,
    /// The file does not exist yet.
    #[serde(default)]
    pub new_file: bool,
    /// The text before; empty for a new file.
    pub base: String,
    /// The text after, with the user's edits.
    pub proposed: String,
    /// How the file is encoded, such as `UTF-8` or `UTF-16LE`.
    pub encoding: String,
    /// A note for people about line endings that are not plain LF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_endings: Option<String>,
    /// The differences, in the order of the file.
    pub hunks: Vec<ReviewHunk>,
    /// Where the file changed in the meantime and the user has to look again.
    #[serde(default)]
    pub conflicts: Vec<ReviewConflict>,
    /// Bring it to the front.
    #[serde(default)]
    pub focus: bool,
    /// The texts are too large for a message: `base` and `proposed` are empty and there are no hunks. It can only be
    /// accepted or rejected as a whole, or reviewed elsewhere.
    #[serde(default)]
    pub omitted: bool,
    /// Its agent wants it shown in the file itself, if the editor can do that.
    #[serde(default)]
    pub inline: bool,
    /// After an accept the agent writes the file, not the hub.
    #[serde(default)]
    pub agent_writes: bool,
    /// The agent does not wait for the answer: it is gone, away, or reconnected without asking again. If `agentWrites`
    /// is set too, an accept needs `writeHere`.
    #[serde(default)]
    pub owner_gone: bool,
    /// What the agent's model learns of the decision. Missing: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receives: Option<Receives>,
    /// Sentences about what it will not learn, to show before the user types. Missing: there is nothing to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receives_notes: Option<ReceivesNotes>,
    /// The conversation that it comes from, if the hub hosts its agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ReviewOrigin>,
}

/// One difference, which can be decided separately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewHunk {
    /// Id of the hunk; stays the same while the hunk does.
    pub id: String,
    /// First line in `base`, from 0.
    pub before_start: u32,
    /// Number of lines in `base`.
    pub before_count: u32,
    /// First line in `proposed`, from 0.
    pub after_start: u32,
    /// Number of lines in `proposed`.
    pub after_count: u32,
    /// The words that differ inside these lines; empty when lines were only added or removed.
    #[serde(default)]
    pub words: Vec<ReviewWords>,
}

/// Words that differ inside a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ReviewWords {
    /// Where in `base`.
    pub before: Range,
    /// Where in `proposed`.
    pub after: Range,
}

/// A place that both the agent and another party changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ReviewConflict {
    /// First line in `base`, from 0: what the file holds there now.
    pub before_start: u32,
    /// Number of lines in `base`.
    pub before_count: u32,
    /// First line in `proposed`, from 0: what the agent wants there.
    pub after_start: u32,
    /// Number of lines in `proposed`.
    pub after_count: u32,
}

/// Notifies whether the agent of a shown review still waits for the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewWaiting {
    /// Id of the review.
    pub review: String,
    /// The current value of the member of that name in `review/show`.
    pub owner_gone: bool,
}

/// Removes a review from the screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewHide {
    /// Id of the review.
    pub review: String,
    /// Why.
    pub reason: HideReason,
}

/// Why a review is removed from the screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum HideReason {
    /// It was decided.
    Decided {
        /// Where it was decided, for people.
        by: String,
        /// The decision.
        verdict: VerdictKind,
    },
    /// Its agent withdrew it.
    Withdrawn,
    /// Its agent proposed something newer for the same file.
    Superseded,
    /// It was accepted, but could not be carried out.
    Failed {
        /// Why.
        error: String,
    },
}

/// The review is visible to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewShown {
    /// Id of the review.
    pub review: String,
    /// The revision that is shown.
    pub revision: u32,
}

/// The user closed the tab. That is not a decision: the review stays pending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewClosed {
    /// Id of the review.
    pub review: String,
}

/// The user edited the proposed side without deciding yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewEdited {
    /// Id of the review.
    pub review: String,
    /// The revision that was edited.
    pub revision: u32,
    /// The `digest` of what was edited, as it was shown. Missing from older editors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The whole proposed side as it is now.
    pub text: String,
}

/// The result of an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ReviewEditedResult {
    /// It is the proposed side now, and is recorded.
    Taken {
        /// The revision now: the next edit and the decision name it.
        revision: u32,
        /// The digest now: the next edit and the decision send it back.
        #[serde(default)]
        digest: String,
        /// The differences between `base` and the edited text, in the order of the file.
        hunks: Vec<ReviewHunk>,
    },
    /// It was made on an older revision and was discarded. `review/show` with the current revision follows.
    Stale,
    /// The review is no longer pending, or cannot be edited.
    NotPending,
}

/// Asks for the differences between `base` and a text that the user is typing. Nothing is kept of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewCompare {
    /// Id of the review.
    pub review: String,
    /// The whole proposed side as it is now.
    pub text: String,
}

/// The differences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewCompareResult {
    /// In the order of the file. An id is that of the hunk which the same text has after `review/edited`.
    pub hunks: Vec<ReviewHunk>,
}

/// The user decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewDecided {
    /// Id of the review.
    pub review: String,
    /// The revision that was on the screen.
    pub revision: u32,
    /// The `digest` of what was on the screen. Missing from older editors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The decision.
    pub decision: Decision,
}

/// The result of a decision. After `stale` and `askAgain`, `review/show` with the newer revision follows.
/// After `refused`, the review is still pending unless `review/hide` follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ReviewDecidedResult {
    /// It counts, and is recorded.
    Taken,
    /// It was made on an older revision, or on something that this review does not show. `review/show` with the current
    /// revision follows.
    Stale {
        /// The revision now.
        revision: u32,
    },
    /// Another decision was first.
    AlreadyDecided {
        /// Where it was decided, for people.
        by: String,
    },
    /// The review is no longer pending.
    NotPending,
    /// The file changed in the meantime and does not merge. `review/show` with the conflicts follows.
    AskAgain {
        /// How many places conflict.
        conflicts: u32,
    },
    /// It cannot be carried out.
    Refused {
        /// Why, and what to do.
        message: String,
        /// The agent that should write the file no longer waits. Send the same decision with `writeHere` to make the
        /// hub write it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "codegen", ts(as = "Option<bool>"))]
        can_write_here: bool,
    },
}

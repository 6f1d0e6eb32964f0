//! How a review ended, as reported to its agent.

use crate::{Comment, HunkId, ReviewId, SharedBytes, SharedText, SurfaceId};

/// How much of the proposal was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcceptedPart {
    All,
    Some { taken: Vec<HunkId>, left: Vec<HunkId> },
    Edited,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The final text as the agent would send it: in its line endings, with the byte order mark if it sends that.
    pub text: SharedText,
    /// The exact content of the file.
    pub bytes: SharedBytes,
    pub taken: AcceptedPart,
    /// Unified diff from the proposal to the final text, in the agent's convention; `None` when equal.
    pub person_diff: Option<String>,
    pub new_file: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewEnd {
    Accepted(Accepted),
    Rejected { reason: Option<String> },
    Withdrawn,
    Superseded { by: ReviewId },
    Failed { error: String },
}

impl ReviewEnd {
    /// The user decided it: this must reach the agent.
    pub fn is_by_user(&self) -> bool {
        matches!(self, ReviewEnd::Accepted(_) | ReviewEnd::Rejected { .. })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub ended: ReviewEnd,
    pub comments: Vec<Comment>,
    /// Where it was decided. `None` if no user decided, and after a restart of the hub: surface ids start again, and an
    /// old one would name a different surface.
    pub by: Option<SurfaceId>,
}

impl Outcome {
    /// An end without a decision of the user.
    pub(crate) fn without_decision(ended: ReviewEnd) -> Outcome {
        Outcome { ended, comments: Vec::new(), by: None }
    }
}

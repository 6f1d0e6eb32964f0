//! What the agent is told in the end.

use crate::{Comment, HunkId, ReviewId, SharedBytes, SharedText, SurfaceId};

/// What of the proposal was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    All,
    Some { taken: Vec<HunkId>, left: Vec<HunkId> },
    Edited,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The final text as the agent would send it: in its line endings, with the byte order mark if it sends that.
    pub text: SharedText,
    /// Exactly what the file shall hold.
    pub bytes: SharedBytes,
    pub taken: Taken,
    /// Unified diff from the proposal to the final text, in the agent's convention; `None` when equal.
    pub person_diff: Option<String>,
    pub new_file: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Accepted(Accepted),
    Rejected { reason: Option<String> },
    Withdrawn,
    Superseded { by: ReviewId },
    Failed { error: String },
}

impl Ended {
    /// A person said so: this must reach the agent.
    pub fn by_a_person(&self) -> bool {
        matches!(self, Ended::Accepted(_) | Ended::Rejected { .. })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub ended: Ended,
    pub comments: Vec<Comment>,
    /// Where it was decided. `None` where nobody decided, and after a restart of the hub: surface ids
    /// are minted anew, and an old one would name a stranger.
    pub by: Option<SurfaceId>,
}

impl Outcome {
    /// An end that no person brought about.
    pub(crate) fn unasked(ended: Ended) -> Outcome {
        Outcome { ended, comments: Vec::new(), by: None }
    }
}

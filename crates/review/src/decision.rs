//! The user's decision about a review.

use crate::{HunkId, LineNumber};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything as shown, including the user's draft.
    Accept,
    /// Only these of the shown hunks.
    AcceptHunks(Vec<HunkId>),
    /// This whole text instead.
    AcceptEdited(String),
    Reject {
        reason: Option<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// In the proposed side as shown. A line outside of it is moved to the nearest line: a comment is not refused
    /// because of its line number.
    pub line: LineNumber,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub verdict: Verdict,
    pub comments: Vec<Comment>,
    /// If the agent that should write the file no longer waits, an accept makes the hub write it instead. Without this,
    /// such an accept is refused, because the file would not be written.
    pub write_here: bool,
}

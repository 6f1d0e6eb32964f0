//! What the shell has to do. Effects are carried out in order.

use std::path::PathBuf;

use crate::{AgentId, Digest, Outcome, ReviewId, Revision, SharedBytes, Step, SurfaceId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The first effect of every `Event::Proposed`: this agent's question is that review, new or found
    /// again, and its answer will come under that name. After `Event::OwnerBack`, for each of its questions.
    Bound {
        review: ReviewId,
        agent: AgentId,
    },
    /// Store `state.review(review)` durably as it is now, then say `Recorded` or `RecordFailed`.
    Record {
        review: ReviewId,
        step: Step,
    },
    /// Show the review as it is now, wherever it is shown.
    Show {
        review: ReviewId,
    },
    Hide {
        review: ReviewId,
        reason: HideReason,
    },
    Reply {
        surface: SurfaceId,
        review: ReviewId,
        reply: Reply,
    },
    /// Replace the file by these bytes if it holds `expect` (`None`: if it does not exist), then say
    /// `Written` or `WriteFailed`. A file that holds these bytes already is `Written`.
    Write {
        review: ReviewId,
        path: PathBuf,
        bytes: SharedBytes,
        expect: Option<Digest>,
    },
    Answer {
        review: ReviewId,
        agent: AgentId,
        outcome: Outcome,
    },
    /// The review is over and its answer delivered or unwanted: nothing need be restored.
    Forget {
        review: ReviewId,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HideReason {
    Decided { by: Option<SurfaceId> },
    Withdrawn,
    Superseded { by: ReviewId },
    Failed { error: String },
}

/// To the surface that edited or decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The decision holds, durably.
    Taken,
    /// Something else is shown by now, under this revision.
    Stale {
        revision: Revision,
    },
    AlreadyDecided {
        by: Option<SurfaceId>,
    },
    /// Not shown yet, withdrawn, or unknown.
    NotPending,
    /// The file changed under the decision: it is shown again, with this many conflicts.
    AskAgain {
        conflicts: usize,
    },
    Refused(String),
    /// An accept, but the agent that should write the file no longer waits: the hub can write it, if asked to.
    NobodyWaits,
}

//! What the shell has to do, in order.

use std::path::PathBuf;

use crate::{AgentId, Digest, Outcome, ReviewId, Revision, SharedBytes, Step, SurfaceId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The first effect of every `Event::Proposed`: this agent's request is that review, new or recognised, and its answer
    /// will have that id. After `Event::OwnerBack`, once for each of its reviews.
    Bound {
        review: ReviewId,
        agent: AgentId,
    },
    /// Store `state.review(review)` durably as it is now, then report `Recorded` or `RecordFailed`.
    Record {
        review: ReviewId,
        step: Step,
    },
    /// Show the review as it is now on all surfaces.
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
    /// Replace the file by these bytes if it holds `expect` (`None`: if it does not exist), then report `Written` or
    /// `WriteFailed`. A file that already holds these bytes is `Written`.
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
    /// The review has ended and its answer is delivered or unwanted: it does not have to be restored.
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

/// The reply to the surface that edited or decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The decision is accepted and durable.
    Taken,
    /// A newer revision is shown now.
    Stale {
        revision: Revision,
    },
    AlreadyDecided {
        by: Option<SurfaceId>,
    },
    /// Not shown yet, withdrawn, or unknown.
    NotPending,
    /// The file changed during the decision: the review is shown again, with this many conflicts.
    AskAgain {
        conflicts: usize,
    },
    Refused(String),
    /// An accept, but the agent that should write the file no longer waits: the hub can write it on request.
    AgentNotWaiting,
}

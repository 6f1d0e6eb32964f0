//! What can happen to reviews, as the shell reports it.

use crate::{AgentId, Decision, Digest, Proposal, ReviewId, Revision, SurfaceId, Text, WindowId};

/// Which fact a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Proposed,
    Edited,
    Rebased,
    Decided,
    Written,
    Ended,
    Delivered,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// The file is not what the decision was about; this is what it holds instead.
    BaseMoved(Option<Text>),
    Io(String),
    /// Whoever writes does not say, and it may yet happen.
    Unknown(String),
}

/// Events about unknown reviews, or too late for theirs, change nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Proposed(Proposal),
    /// The answer to `Effect::Record`: each gets exactly one, in the order of the effects.
    Recorded {
        review: ReviewId,
        step: Step,
    },
    RecordFailed {
        review: ReviewId,
        step: Step,
        error: String,
    },
    /// The person changed the proposed side to this text. No decision.
    Edited {
        review: ReviewId,
        surface: SurfaceId,
        revision: Revision,
        /// Of what was edited, where the surface says it.
        digest: Option<Digest>,
        text: String,
    },
    Decided {
        review: ReviewId,
        surface: SurfaceId,
        revision: Revision,
        /// Of what was shown, where the surface says it: `Review::shown_digest`.
        digest: Option<Digest>,
        decision: Decision,
        /// What the file or its live buffer holds at this moment, read just before. Not looked at where nobody
        /// writes: the base is what the agent gave.
        base_now: Option<Text>,
    },
    /// The answer to `Effect::Write`. Also right when the file held the result already.
    Written {
        review: ReviewId,
    },
    /// The same, but the editor's own rules for saving made this of it, in the file's own endings.
    SavedAs {
        review: ReviewId,
        text: String,
    },
    WriteFailed {
        review: ReviewId,
        error: WriteError,
    },
    /// By its agent.
    Withdrawn {
        review: ReviewId,
    },
    Superseded {
        review: ReviewId,
        by: ReviewId,
    },
    /// The agent has shown that it got the answer.
    Delivered {
        review: ReviewId,
    },
    /// Its agent asks something newer in place of this, and would take an answer to this for an answer to that. Withdraws
    /// it. An accept that is being recorded is refused then, unless the agent asks the same again.
    NotAwaited {
        review: ReviewId,
    },
    /// A goodbye is the agent's word and withdraws what it asked; a lost socket is not.
    OwnerGone {
        agent: AgentId,
        said_goodbye: bool,
    },
    /// The agent of this key is there again and still waits for all it asked: it does not ask a second time.
    OwnerBack {
        agent: AgentId,
        key: String,
        window: WindowId,
    },
    WindowGone {
        window: WindowId,
    },
    WindowBack {
        window: WindowId,
    },
    /// A closed tab, a lost editor: no decision.
    SurfaceGone {
        surface: SurfaceId,
    },
    /// The grace time for an owner to come back is over.
    Expired {
        review: ReviewId,
    },
}

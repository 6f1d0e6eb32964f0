//! Events about reviews, as the shell reports them.

use super::Follower;
use crate::{AgentId, Decision, Digest, Proposal, ReviewId, Revision, SurfaceId, Text, WindowId};

/// The fact that a record is about.
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
    /// The file's content is not what the decision was about; this is the current content.
    BaseMoved(Option<Text>),
    /// As `BaseMoved`, but the result may have been written before: then someone has changed it since.
    InDoubt(Option<Text>),
    Io(String),
    /// The writer did not report a result, and the write may still happen.
    Unknown(String),
}

/// Events about unknown reviews, and events that come too late, change nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Proposed(Proposal),
    /// The result of `Effect::Record`: each gets exactly one, in the order of the effects.
    Recorded {
        review: ReviewId,
        step: Step,
    },
    RecordFailed {
        review: ReviewId,
        step: Step,
        error: String,
    },
    /// The user changed the proposed side to this text. Not a decision.
    Edited {
        review: ReviewId,
        surface: SurfaceId,
        revision: Revision,
        /// The digest of the edited state, if the surface sends it.
        digest: Option<Digest>,
        text: String,
    },
    Decided {
        review: ReviewId,
        surface: SurfaceId,
        revision: Revision,
        /// The digest of the shown state, if the surface sends it: `Review::shown_digest`.
        digest: Option<Digest>,
        decision: Decision,
        /// The current content of the file or its open buffer, read just before. Ignored with `Writer::Nobody`: the base
        /// is the text the agent gave.
        base_now: Option<Text>,
    },
    /// The result of `Effect::Write`. Also used if the file already held the result.
    Written {
        review: ReviewId,
    },
    /// Written, but the editor's own rules for saving changed the text to this, in the file's own endings.
    SavedAs {
        review: ReviewId,
        text: String,
    },
    WriteFailed {
        review: ReviewId,
        error: WriteError,
    },
    /// An accepted change that its agent was to write, and that the hub writes instead: the agent was told not to write.
    /// `base_now` is the file's current content.
    WriteHere {
        review: ReviewId,
        base_now: Option<Text>,
    },
    /// Withdrawn by its agent.
    Withdrawn {
        review: ReviewId,
    },
    Superseded {
        review: ReviewId,
        by: ReviewId,
    },
    /// The agent has confirmed that it received the answer.
    Delivered {
        review: ReviewId,
    },
    /// Its agent cancelled it and cannot be answered, or replaced it by a newer request and would mistake an answer to this
    /// for an answer to that. Withdraws it. An accept that is being recorded is then refused, unless the agent repeats the
    /// request.
    NotAwaited {
        review: ReviewId,
    },
    /// A goodbye withdraws the agent's reviews; a lost socket does not.
    OwnerGone {
        agent: AgentId,
        said_goodbye: bool,
    },
    /// The agent of this key is connected again and still waits for all of its reviews: it does not repeat them.
    OwnerBack {
        agent: AgentId,
        key: String,
        window: WindowId,
    },
    /// Another agent asked for the same change, and its review belongs to that one now.
    HandedOver {
        review: ReviewId,
        to: Follower,
        /// It waits for the outcome. If not, it is about to ask.
        waits: bool,
    },
    WindowGone {
        window: WindowId,
    },
    WindowBack {
        window: WindowId,
    },
    /// A closed tab or a lost editor. Not a decision.
    SurfaceGone {
        surface: SurfaceId,
    },
    /// The grace time for an owner to come back is over.
    Expired {
        review: ReviewId,
    },
}

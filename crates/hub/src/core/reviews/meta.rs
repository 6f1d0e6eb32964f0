//! What the hub knows of a review besides the review itself.

use std::cell::Cell;
use std::collections::VecDeque;

use linkspan_editor_api as api;
use linkspan_editor_api::RequestId;
use linkspan_review::{Review, Revision, WindowId};

use crate::core::contract::ConnectionId;
use crate::core::convert::Size;
use crate::core::files::Buffer;
use crate::core::pending::Preapproval;

#[derive(Debug)]
pub(in crate::core) struct ReviewMeta {
    /// Also of a review that the state machine has forgotten, until it is hidden everywhere.
    pub(super) window: WindowId,
    /// In milliseconds since the hub started: negative for reviews of an earlier hub.
    pub(super) proposed_ms: i64,
    pub(super) orphaned_ms: Option<u64>,
    /// How the editor had the file open when the decision was made.
    pub(super) buffer: Option<Buffer>,
    /// The size of the revision that was counted last: lists must not diff large files again and again.
    pub(super) counted: Cell<Option<(Revision, Size)>>,
    /// Edits that are not recorded yet, oldest first.
    pub(super) edits: VecDeque<PendingEdit>,
    /// The texts are too large, so its editor did not receive them.
    pub(super) omitted: bool,
    pub(super) options: ShowOptions,
    /// The conversation that it comes from.
    pub(super) origin: Option<Box<api::ReviewOrigin>>,
    /// It was decided before its hosted agent ended with an earlier hub, and no agent has asked again.
    pub(super) left_over: Option<LeftOver>,
    /// What was decided is among what the next message tells, or was told with one.
    pub(super) told: bool,
    /// The hub reads its file, to write what its agent will not write.
    pub(super) is_taken_over: bool,
    /// Its agent may have written it before it ended with an earlier hub.
    pub(super) may_be_written: bool,
    /// Its agent was told not to write it, or is gone.
    pub(super) is_declined: bool,
}

/// What that agent may have done about it.
#[derive(Debug, Clone, Copy)]
pub(in crate::core) struct LeftOver {
    /// It was to be written, and was not seen in the file.
    pub(super) unseen: bool,
    /// It may have been told to write it.
    pub(super) may_be_written: bool,
}

/// How a change is shown to the user.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::core) struct ShowOptions {
    /// Not at all: the user allowed it before.
    pub(super) preapproved: Option<Preapproval>,
    /// Preferably in the file itself.
    pub(super) inline: bool,
}

/// An edit of the user that is not recorded yet.
#[derive(Debug)]
pub(in crate::core) struct PendingEdit {
    pub(super) connection: ConnectionId,
    pub(super) request: RequestId,
    pub(super) result: api::ReviewEditedResult,
    pub(super) revision: Revision,
}

impl ReviewMeta {
    pub(super) fn new(window: WindowId, now_ms: u64) -> ReviewMeta {
        ReviewMeta {
            window,
            proposed_ms: now_ms.cast_signed(),
            orphaned_ms: None,
            buffer: None,
            counted: Cell::default(),
            edits: VecDeque::new(),
            omitted: false,
            options: ShowOptions::default(),
            origin: None,
            left_over: None,
            told: false,
            is_taken_over: false,
            may_be_written: false,
            is_declined: false,
        }
    }

    pub(super) fn age_ms(&self, now_ms: u64) -> u64 {
        u64::try_from(now_ms.cast_signed().saturating_sub(self.proposed_ms)).unwrap_or_default()
    }

    pub(super) fn size_of(&self, review: &Review) -> Size {
        match self.counted.get() {
            Some((revision, size)) if revision == review.revision => size,
            _ => {
                let size = Size::of(review);
                self.counted.set(Some((review.revision, size)));
                size
            }
        }
    }
}

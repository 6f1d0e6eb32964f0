//! The names of events in the table of transitions, and the review that each is about.

use linkspan_review::{Event, ReviewId, Step, WriteError};

pub(crate) fn name(event: &Event) -> &'static str {
    match event {
        Event::Proposed(_) => "proposed",
        Event::Recorded { step: Step::Proposed, .. } => "recorded Proposed",
        Event::Recorded { step: Step::Edited, .. } => "recorded Edited",
        Event::Recorded { step: Step::Rebased, .. } => "recorded Rebased",
        Event::Recorded { step: Step::Decided, .. } => "recorded Decided",
        Event::Recorded { step: Step::Written, .. } => "recorded Written",
        Event::Recorded { step: Step::Ended, .. } => "recorded Ended",
        Event::Recorded { step: Step::Delivered, .. } => "recorded Delivered",
        Event::RecordFailed { step: Step::Proposed, .. } => "not recorded Proposed",
        Event::RecordFailed { step: Step::Edited, .. } => "not recorded Edited",
        Event::RecordFailed { step: Step::Rebased, .. } => "not recorded Rebased",
        Event::RecordFailed { step: Step::Decided, .. } => "not recorded Decided",
        Event::RecordFailed { step: Step::Written, .. } => "not recorded Written",
        Event::RecordFailed { step: Step::Ended, .. } => "not recorded Ended",
        Event::RecordFailed { step: Step::Delivered, .. } => "not recorded Delivered",
        Event::Edited { .. } => "edited",
        Event::Decided { .. } => "decided",
        Event::Written { .. } => "written",
        Event::SavedAs { .. } => "saved as",
        Event::WriteFailed { error: WriteError::Io(_) | WriteError::Unknown(_), .. } => "not written",
        Event::WriteFailed { error: WriteError::BaseMoved(_) | WriteError::InDoubt(_), .. } => "base moved",
        Event::Withdrawn { .. } | Event::NotAwaited { .. } => "withdrawn",
        Event::WriteHere { .. } => "write here",
        Event::Superseded { .. } => "superseded",
        Event::Delivered { .. } => "delivered",
        Event::OwnerGone { said_goodbye: true, .. } => "goodbye",
        Event::OwnerGone { said_goodbye: false, .. } => "socket lost",
        Event::OwnerBack { .. } => "owner back",
        Event::HandedOver { .. } => "handed over",
        Event::WindowGone { .. } => "window gone",
        Event::WindowBack { .. } => "window back",
        Event::SurfaceGone { .. } => "surface gone",
        Event::Expired { .. } => "expired",
    }
}

/// The review that an event is about, if it is about one.
pub(crate) fn about(event: &Event) -> Option<ReviewId> {
    match event {
        Event::Recorded { review, .. }
        | Event::RecordFailed { review, .. }
        | Event::Edited { review, .. }
        | Event::Decided { review, .. }
        | Event::Written { review }
        | Event::SavedAs { review, .. }
        | Event::WriteFailed { review, .. }
        | Event::WriteHere { review, .. }
        | Event::Withdrawn { review }
        | Event::NotAwaited { review }
        | Event::Superseded { review, .. }
        | Event::Delivered { review }
        | Event::HandedOver { review, .. }
        | Event::Expired { review } => Some(*review),
        Event::Proposed(_)
        | Event::OwnerGone { .. }
        | Event::OwnerBack { .. }
        | Event::WindowGone { .. }
        | Event::WindowBack { .. }
        | Event::SurfaceGone { .. } => None,
    }
}

//! Prevents accidental decisions: a key decides only if the content it decides on has been on the screen, unchanged, for
//! a moment. A change on the screen starts the moment again, and so does a key that comes too early: a key that is held
//! down never decides.

use std::time::Duration;

use super::{Overlay, Screen, Tone};

/// Longer than it takes to press a key that was meant for the previous content.
pub(super) const SETTLE_TIME: Duration = Duration::from_millis(400);

/// The key that decided last may still be held down: it starts to repeat within this time.
const KEY_REPEAT_TIME: Duration = Duration::from_millis(700);

/// What a decision would be about, as shown on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DecisionTarget {
    review: Option<String>,
    revision: Option<u32>,
    /// Its position in the list, which changes when others are added or removed.
    place: Option<usize>,
    /// Which confirmation is shown.
    overlay: u64,
    /// The reviews that one key would decide together.
    together: Vec<(String, Option<u32>)>,
}

#[derive(Debug)]
pub(super) struct MisclickGuard {
    target: DecisionTarget,
    since: Duration,
}

impl Screen {
    fn decision_target(&self) -> DecisionTarget {
        let together = match &self.overlay {
            Overlay::Confirm(super::Confirm::Bulk(bulk)) => bulk
                .reviews
                .iter()
                .map(|review| (review.clone(), self.list.get(review).and_then(|entry| entry.revision)))
                .collect(),
            _ => Vec::new(),
        };
        DecisionTarget {
            review: self.selected.clone(),
            revision: self.document().map(|document| document.shown.revision),
            place: self.selected.as_ref().and_then(|selected| self.list.place(selected)),
            overlay: if matches!(self.overlay, Overlay::None) { 0 } else { self.overlay_count },
            together,
        }
    }

    /// The current content is on the screen.
    pub(super) fn update_misclick_guard(&mut self) {
        let target = self.decision_target();
        if self.misclick_guard.as_ref().is_none_or(|guard| guard.target != target) {
            self.misclick_guard = Some(MisclickGuard { target, since: self.now });
        }
    }

    /// Whether the user had time to see the content to decide on; shows a message if not.
    pub(super) fn confirm_visible(&mut self) -> bool {
        let (now, target) = (self.now, self.decision_target());
        let held = self
            .decided_with
            .is_some_and(|(key, at)| self.pressed == Some(key) && now.saturating_sub(at) < KEY_REPEAT_TIME);
        let guard = self.misclick_guard.as_ref().filter(|guard| guard.target == target);
        let seen = !held && guard.is_some_and(|guard| now.saturating_sub(guard.since) >= SETTLE_TIME);
        if seen {
            self.decided_with = self.pressed.map(|key| (key, now));
        } else {
            if let Some(guard) = &mut self.misclick_guard {
                guard.since = now;
            }
            self.show_message(
                Tone::Warning,
                "key ignored: the content had only just appeared; check it, then press again",
            );
        }
        seen
    }
}

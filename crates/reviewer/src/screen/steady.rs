//! No decision is stolen: a key that decides counts only when what it decides on has been on the screen,
//! unchanged, for a moment. Whatever changes under the person's hands begins the moment anew, and so does a key that
//! came too early: one that is held down never gets its moment.

use std::time::Duration;

use super::{Overlay, Screen, Tone};

/// The moment. Longer than it takes to press a key that was meant for what was there before.
pub(super) const MOMENT: Duration = Duration::from_millis(400);

/// The key that decided may still be held down: it begins to repeat within this time.
const HELD: Duration = Duration::from_millis(700);

/// What a decision would be about, as it is seen.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sight {
    review: Option<String>,
    revision: Option<u32>,
    /// Where it is in the list, which moves when others come or go.
    place: Option<usize>,
    /// Which question is asked.
    overlay: u64,
    /// The reviews that one answer would decide together.
    together: Vec<(String, Option<u32>)>,
}

#[derive(Debug)]
pub(super) struct Steady {
    sight: Sight,
    since: Duration,
}

impl Screen {
    fn sight(&self) -> Sight {
        let together = match &self.overlay {
            Overlay::Confirm(super::Confirm::Bulk(bulk)) => bulk
                .reviews
                .iter()
                .map(|review| (review.clone(), self.list.get(review).and_then(|entry| entry.revision)))
                .collect(),
            _ => Vec::new(),
        };
        Sight {
            review: self.selected.clone(),
            revision: self.document().map(|document| document.shown.revision),
            place: self.selected.as_ref().and_then(|selected| self.list.place(selected)),
            overlay: if matches!(self.overlay, Overlay::None) { 0 } else { self.overlay_count },
            together,
        }
    }

    /// What is there now is before the person's eyes.
    pub(super) fn mark_seen(&mut self) {
        let sight = self.sight();
        if self.steady.as_ref().is_none_or(|steady| steady.sight != sight) {
            self.steady = Some(Steady { sight, since: self.now });
        }
    }

    /// Whether the person has had the time to see what she decides on; says so if not.
    pub(super) fn was_seen(&mut self) -> bool {
        let (now, sight) = (self.now, self.sight());
        let held = self
            .decided_with
            .is_some_and(|(key, at)| self.pressed == Some(key) && now.saturating_sub(at) < HELD);
        let steady = self.steady.as_ref().filter(|steady| steady.sight == sight);
        let seen = !held && steady.is_some_and(|steady| now.saturating_sub(steady.since) >= MOMENT);
        if seen {
            self.decided_with = self.pressed.map(|key| (key, now));
        } else {
            if let Some(steady) = &mut self.steady {
                steady.since = now;
            }
            self.say(
                Tone::Warning,
                "that key was ignored: this has only just appeared; look, then press it again",
            );
        }
        seen
    }
}

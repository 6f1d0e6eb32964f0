//! Changes caused by time alone: old messages expire, ages grow, closed reviews leave the list. Also the time of the
//! next such change, so that the loop can sleep until then.

use std::time::Duration;

use super::Screen;
use crate::list::Entry;

/// How long a review that ended elsewhere stays in the list.
pub(super) const ENDED: Duration = Duration::from_secs(6);
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

impl Screen {
    /// When time alone changes something next, if ever; `Input::Tick` then applies it.
    pub fn next_change(&self) -> Option<Duration> {
        let note = self.note.as_ref().map(|note| note.until);
        let over = self.list.entries.iter().filter(|entry| !self.is_selected(entry));
        let over = over.filter_map(|entry| Some(entry.ended.as_ref()?.1 + ENDED)).min();
        // An age is shown in its largest unit.
        let youngest = self.list.entries.iter().map(|entry| entry.age_ms(self.now)).min();
        let older =
            youngest.map(|age| self.now + if u128::from(age) < MINUTE.as_millis() { SECOND } else { MINUTE });
        let leave = self.is_done().then_some(self.now);
        [note, over, older, leave, self.quit_deadline()].into_iter().flatten().min()
    }

    pub(super) fn tick(&mut self) {
        if self.note.as_ref().is_some_and(|note| note.until <= self.now) {
            self.note = None;
        }
        let (now, selected) = (self.now, self.selected.clone());
        self.list.entries.retain(|entry| {
            let over = entry.ended.as_ref().is_some_and(|(_, since)| *since + ENDED <= now);
            !over || selected.as_deref() == Some(entry.id())
        });
        if self.is_done() {
            self.quit();
        }
    }

    fn is_selected(&self, entry: &Entry) -> bool {
        self.selected.as_deref() == Some(entry.id())
    }

    /// Nothing is pending, and the reviewer runs with `--once`.
    fn is_done(&self) -> bool {
        self.options.once && self.listed && self.list.entries.iter().all(|entry| entry.ended.is_some())
    }
}

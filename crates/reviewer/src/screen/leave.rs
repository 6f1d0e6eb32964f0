//! Leaving: not before the hub has answered what it was told, or the person or the time says that it is enough. What
//! it was not told, or did not take, is said afterwards.

use std::time::Duration;

use super::{Command, Screen, Tone};
use crate::wording::decided;

/// How long a hub that answers nothing is waited for.
pub(super) const TELLING: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Leaving {
    /// When the hub answered last.
    since: Duration,
    at_once: bool,
    over: bool,
    /// What it did not take.
    not_taken: Vec<String>,
}

impl Screen {
    pub(super) fn leave(&mut self) {
        let since = self.now;
        self.leaving.get_or_insert(Leaving { since, at_once: false, over: false, not_taken: Vec::new() });
    }

    /// The key for it: the second time it is meant at once.
    pub(super) fn leave_by_key(&mut self) {
        match &mut self.leaving {
            Some(leaving) => leaving.at_once = true,
            None => self.leave(),
        }
    }

    /// The hub answered one decision.
    pub(super) fn heard_while_leaving(&mut self) {
        let Some(leaving) = &mut self.leaving else { return };
        leaving.since = self.now;
        let warning = self.note.as_ref().filter(|note| note.tone == Tone::Warning);
        leaving.not_taken.extend(warning.map(|note| note.text.clone()));
    }

    pub(super) fn go_on_leaving(&mut self) {
        let sent = self.list.entries.iter().filter(|entry| entry.sent.is_some()).count();
        let left = sent + self.answering;
        let Some(leaving) = self.leaving.as_mut().filter(|leaving| !leaving.over) else { return };
        if left == 0 || leaving.at_once || self.now.saturating_sub(leaving.since) >= TELLING {
            leaving.over = true;
            self.commands.push(Command::Quit);
        } else {
            self.say(Tone::Quiet, format!("telling the hub… {left} to go; q leaves at once"));
        }
    }

    pub(super) fn longest_telling(&self) -> Option<Duration> {
        Some(self.leaving.as_ref()?.since + TELLING)
    }

    /// What the person has to know after she left, if anything.
    pub fn last_words(&self) -> Option<String> {
        let untold = self.list.entries.iter().filter_map(|entry| {
            let word = decided(entry.sent.as_ref()?.kind());
            Some(format!("{} {} ({word})", entry.id(), self.name_of(&entry.summary)))
        });
        let untold: Vec<String> = untold.collect();
        let mut words = self.leaving.as_ref().map(|leaving| leaving.not_taken.clone()).unwrap_or_default();
        if !untold.is_empty() {
            let untold = untold.join(", ");
            words.push(format!(
                "the hub has not answered, so these may still wait: {untold}; look with `linkspan reviews`"
            ));
        }
        (!words.is_empty()).then(|| words.join("; "))
    }
}

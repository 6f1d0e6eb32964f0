//! Quitting: waits until the hub has confirmed all decisions, until a timeout, or until the user presses the key again.
//! Decisions that were not confirmed or not accepted are listed afterwards.

use std::time::Duration;

use super::{Command, Screen, Tone};
use linkspan_editor_api::labels::verdict;

/// How long to wait for a hub that does not respond.
pub(super) const QUIT_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct QuitState {
    /// When the hub responded last.
    since: Duration,
    immediately: bool,
    over: bool,
    /// Messages about decisions that the hub did not accept.
    not_accepted: Vec<String>,
}

impl Screen {
    pub(super) fn quit(&mut self) {
        let since = self.now;
        self.quitting.get_or_insert(QuitState {
            since,
            immediately: false,
            over: false,
            not_accepted: Vec::new(),
        });
    }

    /// The quit key: pressed a second time, it quits immediately.
    pub(super) fn quit_by_key(&mut self) {
        match &mut self.quitting {
            Some(leaving) => leaving.immediately = true,
            None => self.quit(),
        }
    }

    /// The hub responded to one decision.
    pub(super) fn note_answer_while_quitting(&mut self) {
        let Some(leaving) = &mut self.quitting else { return };
        leaving.since = self.now;
        let warning = self.note.as_ref().filter(|note| note.tone == Tone::Warning);
        leaving.not_accepted.extend(warning.map(|note| note.text.clone()));
    }

    pub(super) fn continue_quitting(&mut self) {
        let sent = self.list.entries.iter().filter(|entry| entry.sent.is_some()).count();
        let left = sent + self.answering;
        let Some(leaving) = self.quitting.as_mut().filter(|leaving| !leaving.over) else { return };
        if left == 0 || leaving.immediately || self.now.saturating_sub(leaving.since) >= QUIT_TIMEOUT {
            leaving.over = true;
            self.commands.push(Command::Quit);
        } else {
            self.show_message(Tone::Quiet, format!("sending decisions… {left} left; press q to quit now"));
        }
    }

    pub(super) fn quit_deadline(&self) -> Option<Duration> {
        Some(self.quitting.as_ref()?.since + QUIT_TIMEOUT)
    }

    /// What the user has to know after quitting, if anything.
    pub fn unsent_summary(&self) -> Option<String> {
        let untold = self.list.entries.iter().filter_map(|entry| {
            let word = verdict(entry.sent.as_ref()?.kind());
            Some(format!("{} {} ({word})", entry.id(), self.name_of(&entry.summary)))
        });
        let untold: Vec<String> = untold.collect();
        let mut words =
            self.quitting.as_ref().map(|leaving| leaving.not_accepted.clone()).unwrap_or_default();
        if !untold.is_empty() {
            let untold = untold.join(", ");
            words.push(format!(
                "the hub did not confirm these decisions: {untold}; check with `linkspan reviews`"
            ));
        }
        (!words.is_empty()).then(|| words.join("; "))
    }
}

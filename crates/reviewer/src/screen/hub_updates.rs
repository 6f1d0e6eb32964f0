//! Updates of the hub: reviews arrive, change and end. They never move the selection, except to fill an empty screen or
//! to advance after the user's own decision.

use linkspan_editor_api::{
    AcceptedPart, ReviewDecidedResult, ReviewEnded, ReviewOutcome, ReviewSummary, ReviewsGetResult, Verdict,
    VerdictKind,
};

use super::{Command, Confirm, HubUpdate, Overlay, Screen, Tone};
use crate::document::Document;
use crate::rows::Mode;
use crate::visible;
use linkspan_editor_api::labels::{self, count};

/// The outcome of a review that is missing from the list, until the hub says how it ended.
const NO_LONGER_PENDING: &str = "no longer pending";

/// Whether it ended as this verdict wants it, no matter who decided.
fn matches_verdict(verdict: VerdictKind, outcome: &ReviewOutcome) -> bool {
    match &outcome.ended {
        ReviewEnded::Accepted { taken: AcceptedPart::All, .. } => verdict == VerdictKind::Accept,
        ReviewEnded::Rejected { .. } => verdict == VerdictKind::Reject,
        _ => false,
    }
}

impl Screen {
    pub(super) fn apply_update(&mut self, news: HubUpdate) {
        match news {
            HubUpdate::Listed { reviews, folders } => {
                self.folders.extend(folders);
                self.listed_now(&reviews);
            }
            HubUpdate::Got(got) => self.got(*got),
            HubUpdate::NotGot { review, message } => {
                if let Some(entry) = self.list.get_mut(&review) {
                    entry.fetching = false;
                }
                self.show_message(Tone::Warning, message);
            }
            HubUpdate::Changed { review } => {
                let selected = self.selected.as_deref() == Some(&review);
                if let Some(entry) = self.list.get_mut(&review) {
                    entry.ended = None;
                    if selected || entry.document.is_some() || entry.revision.is_some() {
                        entry.fetching = true;
                        self.commands.push(Command::Get(review));
                    }
                }
                self.commands.push(Command::List);
            }
            HubUpdate::Ended { review, how } => self.ended(&review, how),
            HubUpdate::Failed { review, path, error } => {
                self.ended(&review, labels::NOT_CARRIED_OUT.into());
                let path = visible::name(&path);
                self.show_message(Tone::Warning, format!("{review} {path} could not be written: {error}"));
            }
            HubUpdate::NotOnDisk { review, path } => {
                let path = visible::name(&path);
                let text =
                    format!("{review} {path} is accepted, but not on disk: its agent has not written it");
                self.show_message(Tone::Warning, text);
            }
            HubUpdate::Decided { review, result, outcome } => {
                self.answered_by_hub(&review, result, outcome.as_ref())
            }
            HubUpdate::Asks(asks) => self.asked(asks),
            HubUpdate::AsksChanged => self.commands.push(Command::List),
            HubUpdate::Answered { answer, result } => self.prompt_answered(&answer, result),
            HubUpdate::Lost(why) => self.lost = Some(why),
            HubUpdate::Listening { again } => {
                self.lost = None;
                if again {
                    self.show_message(Tone::Good, "the hub is back");
                }
                self.commands.push(Command::List);
                for entry in &mut self.list.entries {
                    if entry.document.is_some() || entry.revision.is_some() || entry.fetching {
                        entry.fetching = true;
                        self.commands.push(Command::Get(entry.id().to_owned()));
                    }
                }
            }
        }
    }

    fn listed_now(&mut self, reviews: &[ReviewSummary]) {
        let first = !std::mem::replace(&mut self.listed, true);
        let new = self.list.update(reviews, self.now);
        let gone: Vec<String> = self
            .list
            .entries
            .iter()
            .filter(|entry| entry.ended.is_none() && entry.sent.is_none())
            .map(|entry| entry.id().to_owned())
            .filter(|id| !reviews.iter().any(|review| review.review == *id))
            .collect();
        for review in gone {
            // The hub still knows how it ended.
            self.ended(&review, NO_LONGER_PENDING.into());
            self.commands.push(Command::Get(review));
        }
        if !first && let Some(last) = new.last() {
            let name = self.list.get(last).map(|entry| self.name_of(&entry.summary)).unwrap_or_default();
            let text = match new.len() {
                1 => format!("new: {name}"),
                more => format!("new: {name} and {}", count(more as u64 - 1, "other")),
            };
            let quiet = self.note.as_ref().is_none_or(|note| note.tone != Tone::Warning);
            if quiet {
                self.show_message(Tone::Quiet, text);
            }
            for review in &new {
                if let Some(entry) = self.list.get_mut(review) {
                    entry.new = true;
                }
            }
        }
        if self.current().is_none() {
            let wished = self.options.review.take().filter(|review| self.list.get(review).is_some());
            let first =
                || self.list.entries.iter().find(|entry| entry.is_open()).map(|entry| entry.id().to_owned());
            if let Some(review) = wished.or_else(first) {
                self.select(&review);
            }
        }
    }

    fn got(&mut self, got: ReviewsGetResult) {
        let review = got.shown.review.clone();
        let selected = self.selected.as_deref() == Some(&review);
        let Some(entry) = self.list.get_mut(&review) else { return };
        entry.fetching = false;
        entry.summary.phase.clone_from(&got.phase);
        entry.summary.owner_gone = got.shown.owner_gone;
        entry.summary.agent_writes = got.shown.agent_writes;
        let is_back = !entry.needs_writing();
        let known = entry.revision.replace(got.shown.revision);
        let known_digest = entry.digest.replace(got.shown.digest.clone());
        let is_newer = known.is_some_and(|known| known != got.shown.revision)
            || known_digest.is_some_and(|known| known != got.shown.digest);
        match entry.document.take() {
            Some(document)
                if (document.shown.revision, &document.shown.digest)
                    == (got.shown.revision, &got.shown.digest) =>
            {
                entry.document = Some(document);
            }
            Some(document) => entry.document = Some(Box::new(document.renewed(got.shown))),
            // For a decision about many, the revision is enough.
            None if selected => entry.document = Some(Box::new(Document::new(got.shown, Mode::Unified))),
            None => {}
        }
        if let Some(outcome) = got.outcome
            && entry.sent.is_none()
        {
            self.ended(&review, labels::outcome(&outcome.ended).to_owned());
        } else if is_newer && selected {
            let kept = self.document().is_some_and(|document| document.draft.is_some());
            let kept = if kept { "; your text is kept, press e to keep editing" } else { "" };
            // The confirmation was about the old content; a bulk decision is bound to its revisions anyway.
            if matches!(&self.overlay, Overlay::Confirm(confirm) if !matches!(confirm, Confirm::Bulk(_))) {
                self.overlay = Overlay::None;
            }
            self.show_message(
                Tone::Warning,
                format!("{review} changed: check it again before you decide{kept}"),
            );
        } else if selected && is_back && matches!(self.overlay, Overlay::Confirm(Confirm::WriteHere { .. })) {
            self.overlay = Overlay::None;
            self.show_message(
                Tone::Warning,
                format!("not submitted: the agent of {review} is waiting again"),
            );
        }
        self.fit();
    }

    /// It ended elsewhere. It stays visible, because the user may be reading it.
    fn ended(&mut self, review: &str, how: String) {
        let now = self.now;
        let Some(entry) = self.list.get_mut(review).filter(|entry| entry.sent.is_none()) else { return };
        // A text that names who decided replaces one that does not, in whichever order they arrive.
        let better = entry
            .ended
            .as_ref()
            .is_none_or(|(known, _)| how.len() > known.len() || known == NO_LONGER_PENDING);
        if !better {
            return;
        }
        entry.ended = Some((how.clone(), now));
        let summary = entry.summary.clone();
        let name = self.name_of(&summary);
        self.show_message(Tone::Quiet, format!("{review} {name}: {how}"));
    }

    fn answered_by_hub(
        &mut self,
        review: &str,
        result: Result<ReviewDecidedResult, String>,
        outcome: Option<&ReviewOutcome>,
    ) {
        let Some(entry) = self.list.get_mut(review) else { return };
        let sent = entry.sent.take();
        let verdict = sent.as_ref().map(Verdict::kind);
        let summary = entry.summary.clone();
        let warning = match result {
            Ok(ReviewDecidedResult::Taken) => None,
            Ok(ReviewDecidedResult::AlreadyDecided { by }) => {
                let how = outcome.map_or("decided", |outcome| labels::outcome(&outcome.ended));
                let how = format!("{how} in {}", visible::name(&by));
                if verdict
                    .is_some_and(|verdict| outcome.is_some_and(|outcome| matches_verdict(verdict, outcome)))
                {
                    let name = self.name_of(&summary);
                    self.show_message(Tone::Good, format!("{how}: {name}"));
                    return self.advance_after(review);
                }
                self.ended(review, how.clone());
                return self.show_message(Tone::Warning, format!("{review} was already {how}"));
            }
            Ok(ReviewDecidedResult::NotPending) => {
                self.commands.push(Command::List);
                Some(format!("{review} is no longer pending"))
            }
            Ok(ReviewDecidedResult::Stale { .. }) => {
                self.commands.push(Command::Get(review.to_owned()));
                Some(format!("{review} changed while you were deciding: review it again"))
            }
            Ok(ReviewDecidedResult::AskAgain { conflicts }) => {
                self.commands.push(Command::Get(review.to_owned()));
                self.commands.push(Command::List);
                Some(match conflicts {
                    0 => {
                        format!("{review}: the file was created or deleted in the meantime: review it again")
                    }
                    _ => format!(
                        "{review}: the file changed in the meantime, {}: review it again",
                        count(conflicts, "conflict")
                    ),
                })
            }
            Ok(ReviewDecidedResult::Refused { message, can_write_here }) => {
                if can_write_here {
                    entry.summary.owner_gone = true;
                    entry.summary.agent_writes = true;
                    let is_seen = self.selected.as_deref() == Some(review);
                    if let Some(verdict) = sent.filter(|_| is_seen && matches!(self.overlay, Overlay::None)) {
                        return self.show(Overlay::Confirm(Confirm::WriteHere { verdict }));
                    }
                }
                Some(format!("{review}: {message}"))
            }
            Err(message) => Some(format!("{review} was not submitted: {message}")),
        };
        if let Some(warning) = warning {
            return self.show_message(Tone::Warning, warning);
        }
        let (word, name) = (verdict.map_or("decided", labels::verdict), self.name_of(&summary));
        let is_accept = verdict.is_some_and(|verdict| verdict != VerdictKind::Reject);
        let agent_writes = is_accept && summary.agent_writes && !summary.owner_gone;
        let agent = visible::name(&summary.agent);
        let writer = if agent_writes { format!("; {agent} was told to write it") } else { String::new() };
        self.show_message(Tone::Good, format!("{word}: {name}{writer}"));
        self.advance_after(review);
    }

    /// Removes a decided review from the list and selects the next one, or else the previous one.
    fn advance_after(&mut self, review: &str) {
        let Some(place) = self.list.place(review) else { return };
        let was_selected = self.selected.as_deref() == Some(review);
        self.list.entries.remove(place);
        if !was_selected {
            return;
        }
        self.selected = None;
        let (above, below) = self.list.entries.split_at(place.min(self.list.entries.len()));
        let next = below.iter().chain(above.iter().rev()).find(|entry| entry.is_open());
        if let Some(next) = next.map(|entry| entry.id().to_owned()) {
            self.select(&next);
        }
        self.fit();
    }
}

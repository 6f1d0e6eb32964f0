//! Binds an accepted text to the file's current content: exactly, by a clean merge, or not at all, and the user is asked
//! again.

use std::borrow::Cow;

use crate::{
    Accepted, AcceptedPart, Comment, Convention, Effect, Format, Merge, Outcome, Phase, Reply,
    ResolvedDecision, Review, ReviewEnd, SharedBytes, SharedText, Step, SurfaceId, Text, Writer, unified,
};

/// The accepted text, in the file's own endings.
pub(super) struct Acceptance {
    pub(super) text: SharedText,
    pub(super) taken: AcceptedPart,
    pub(super) comments: Vec<Comment>,
    pub(super) by: Option<SurfaceId>,
}

const CONTEXT_LINES: usize = 3;

/// The format of a file; a new file is UTF-8.
pub(super) fn format_of(file: Option<&Text>) -> Format {
    file.map_or(Format::UTF8, |file| file.format)
}

impl Review {
    /// An error says why the file cannot hold this text; the review is then unchanged.
    pub(super) fn accept(
        &mut self,
        acceptance: Acceptance,
        now: Option<Text>,
    ) -> Result<Vec<Effect>, String> {
        let Acceptance { mut text, taken, comments, by } = acceptance;
        let moved = self.base != now;
        if moved {
            let carried = self.carry(&text, now.as_ref());
            // The creation or deletion of the file is never merged: the user decided about the other case. Nor is a change
            // that was shown next to another file's text: the user has not seen this file's content.
            let beside_another = self.left.is_some();
            if beside_another || self.base.is_some() != now.is_some() || !carried.conflicts.is_empty() {
                return Ok(self.ask_about(carried, &taken, by, now));
            }
            text = carried.text.into();
        }
        let format = format_of(now.as_ref());
        let bytes = format.encode_shared(&text).map_err(|error| error.to_string())?;
        if moved {
            self.move_to(now);
        }
        if self.writer == Writer::AgentAsProposed {
            self.written_here |= bytes.digest() != self.original;
        }
        let accepted = self.accepted(&text, bytes, taken);
        let outcome = Outcome { ended: ReviewEnd::Accepted(accepted), comments, by };
        self.phase = Phase::Deciding(Box::new(ResolvedDecision { outcome, text }));
        Ok(vec![Effect::Record { review: self.id, step: Step::Decided }])
    }

    /// The accepted text may have been written, and the file holds something else now. What is missing there may be what
    /// someone took out again: only the user knows.
    pub(super) fn accept_in_doubt(
        &mut self,
        acceptance: Acceptance,
        now: Option<Text>,
    ) -> Result<Vec<Effect>, String> {
        if self.base != now
            && let Some(found) = &now
        {
            let carried = self.carry(&acceptance.text, Some(found));
            if carried.text != *found.text {
                return Ok(self.ask_about(carried, &acceptance.taken, acceptance.by, now));
            }
        }
        self.accept(acceptance, now)
    }

    /// The file moved away from under an accepted text: the user is shown what both make together.
    fn ask_about(
        &mut self,
        carried: Merge,
        taken: &AcceptedPart,
        by: Option<SurfaceId>,
        now: Option<Text>,
    ) -> Vec<Effect> {
        let conflicts = carried.conflicts.len();
        let beside_another = self.left.is_some();
        self.move_to(now);
        // Hunks of a change next to another text are not part of the change that is shown now.
        if !(beside_another && matches!(taken, AcceptedPart::Some { .. })) {
            self.draft = (self.proposed != *carried.text).then(|| carried.text.into());
        }
        self.conflicts = carried.conflicts;
        self.ask_again(by, Reply::AskAgain { conflicts })
    }

    /// The file, as it is now, cannot hold the accepted text.
    pub(super) fn refuse_over(
        &mut self,
        now: Option<Text>,
        by: Option<SurfaceId>,
        why: String,
    ) -> Vec<Effect> {
        self.move_to(now);
        self.ask_again(by, Reply::Refused(why))
    }

    /// The outcome of accepting this text, for the agent.
    pub(super) fn accepted(&self, text: &SharedText, bytes: SharedBytes, taken: AcceptedPart) -> Accepted {
        let person_diff = self.person_diff(self.convention, text);
        let told = match self.as_sent(text) {
            Cow::Borrowed(_) => text.clone(),
            Cow::Owned(told) => told.into(),
        };
        Accepted { text: told, bytes, taken, person_diff, new_file: self.base.is_none() }
    }

    /// How the accepted text differs from the proposal, for an agent of this convention; `None` if it does not.
    pub(super) fn person_diff(&self, convention: Convention, text: &str) -> Option<String> {
        let proposed = convention.for_agent(&self.proposed);
        let told = convention.for_agent(text);
        (told != proposed).then(|| unified(&proposed, &told, "proposed", "accepted", CONTEXT_LINES))
    }

    /// Asks the user again after a rebase; the new state is recorded before it is shown.
    pub(super) fn ask_again(&mut self, by: Option<SurfaceId>, reply: Reply) -> Vec<Effect> {
        self.phase = Phase::Pending;
        self.written_here = false;
        let mut effects = self.reply(by, reply);
        effects.push(Effect::Record { review: self.id, step: Step::Rebased });
        effects
    }

    pub(super) fn reply(&self, to: Option<SurfaceId>, reply: Reply) -> Vec<Effect> {
        to.map(|surface| Effect::Reply { surface, review: self.id, reply }).into_iter().collect()
    }
}

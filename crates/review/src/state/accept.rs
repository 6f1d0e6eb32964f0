//! Binds an accepted text to what the file holds now: to the byte, by a clean merge, or not at all and
//! the person is asked again.

use std::borrow::Cow;

use crate::{
    Accepted, Comment, Decided, Effect, Ended, Format, Outcome, Phase, Reply, Review, SharedBytes,
    SharedText, Step, SurfaceId, Taken, Text, Writer, unified,
};

/// What a person accepted, in the file's own endings.
pub(super) struct Acceptance {
    pub(super) text: SharedText,
    pub(super) taken: Taken,
    pub(super) comments: Vec<Comment>,
    pub(super) by: Option<SurfaceId>,
}

const CONTEXT_LINES: usize = 3;

/// How a file is encoded; one that is not there yet will be UTF-8.
pub(super) fn format_of(file: Option<&Text>) -> Format {
    file.map_or(Format::UTF8, |file| file.format)
}

impl Review {
    /// An error says why this text cannot be the file's; the review is then as it was.
    pub(super) fn accept(
        &mut self,
        acceptance: Acceptance,
        now: Option<Text>,
    ) -> Result<Vec<Effect>, String> {
        let Acceptance { mut text, taken, comments, by } = acceptance;
        let moved = self.base != now;
        if moved {
            let carried = self.carry(&text, now.as_ref());
            // That a file came or went is never merged away: the person decided about the other case. Nor is a change
            // that was shown next to another file's text: the user has not seen what this file holds.
            let beside_another = self.left.is_some();
            if beside_another || self.base.is_some() != now.is_some() || !carried.conflicts.is_empty() {
                let conflicts = carried.conflicts.len();
                self.move_to(now);
                // Some hunks of a change next to another text are no part of the change that is shown now.
                if !(beside_another && matches!(taken, Taken::Some { .. })) {
                    self.draft = (self.proposed != *carried.text).then(|| carried.text.into());
                }
                self.conflicts = carried.conflicts;
                return Ok(self.ask_again(by, Reply::AskAgain { conflicts }));
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
        let outcome = Outcome { ended: Ended::Accepted(accepted), comments, by };
        self.phase = Phase::Deciding(Box::new(Decided { outcome, text }));
        Ok(vec![Effect::Record { review: self.id, step: Step::Decided }])
    }

    /// What the agent is told of this text.
    pub(super) fn accepted(&self, text: &SharedText, bytes: SharedBytes, taken: Taken) -> Accepted {
        let proposed = self.convention.for_agent(&self.proposed);
        let told = self.convention.for_agent(text);
        let person_diff =
            (told != proposed).then(|| unified(&proposed, &told, "proposed", "accepted", CONTEXT_LINES));
        let told = match self.as_sent(text) {
            Cow::Borrowed(_) => text.clone(),
            Cow::Owned(told) => told.into(),
        };
        Accepted { text: told, bytes, taken, person_diff, new_file: self.base.is_none() }
    }

    /// After a move: what is shown next is recorded first.
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

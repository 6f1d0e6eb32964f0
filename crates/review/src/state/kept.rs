//! Decisions about what the agent wrote before it asked: the file holds the proposed side. Accepting keeps it; what
//! the user does not keep is put back as it was.

use crate::{
    Comment, Decided, Effect, Ended, Outcome, Phase, Reply, Review, SharedText, Step, SurfaceId, Taken, Text,
    merge,
};

/// What the user said about it.
pub(super) enum Kept {
    Accepted(Taken),
    Rejected { reason: Option<String> },
}

/// A decision, and what the file shall hold.
pub(super) struct Keeping {
    pub(super) kept: Kept,
    pub(super) text: SharedText,
    pub(super) comments: Vec<Comment>,
    pub(super) by: Option<SurfaceId>,
}

impl Review {
    /// An error says why this cannot be; the review is then as it was.
    pub(super) fn keep(&mut self, keeping: Keeping, now: Option<Text>) -> Result<Vec<Effect>, String> {
        let Keeping { kept, mut text, comments, by } = keeping;
        let ended = match (kept, now) {
            (Kept::Accepted(_), None) => {
                return Err(
                    "the file was deleted after the agent wrote it: there is nothing to keep; reject the \
                            change"
                        .to_owned(),
                );
            }
            // There is nothing to put back. The write that follows finds that out once more.
            (Kept::Rejected { reason }, None) => Ended::Rejected { reason },
            (kept, Some(now)) => {
                let moved = self.held().as_ref() != Some(&now);
                let mut conflicts = 0;
                if moved {
                    let carried = merge(&self.proposed, &now.text, &text);
                    conflicts = carried.conflicts.len();
                    text = carried.text.into();
                }
                let bytes = now.format.encode_shared(&text).map_err(|error| error.to_string())?;
                if moved {
                    conflicts += self.follow(now);
                }
                if conflicts > 0 {
                    return Ok(self.ask_again(by, Reply::AskAgain { conflicts }));
                }
                match kept {
                    Kept::Accepted(taken) => Ended::Accepted(self.accepted(&text, bytes, taken)),
                    Kept::Rejected { reason } => Ended::Rejected { reason },
                }
            }
        };
        self.phase = Phase::Deciding(Box::new(Decided { outcome: Outcome { ended, comments, by }, text }));
        Ok(vec![Effect::Record { review: self.id, step: Step::Decided }])
    }

    /// The write found something else in the file.
    pub(super) fn keep_again(&mut self, decided: Decided, now: Option<Text>) -> Vec<Effect> {
        let Decided { outcome: Outcome { ended, comments, by }, text } = decided;
        let kept = match (ended, &now) {
            (ended @ Ended::Rejected { .. }, None) => {
                self.phase = Phase::Settling(Box::new(Outcome { ended, comments, by }));
                return vec![Effect::Record { review: self.id, step: Step::Written }];
            }
            (Ended::Rejected { reason }, _) => Kept::Rejected { reason },
            (Ended::Accepted(accepted), _) => Kept::Accepted(accepted.taken),
            _ => return Vec::new(),
        };
        let keeping = Keeping { kept, text, comments, by };
        self.keep(keeping, now).unwrap_or_else(|why| self.ask_again(by, Reply::Refused(why)))
    }
}

//! Decisions about a change that the agent wrote before it asked: the file holds the proposed side. An accept keeps it;
//! everything that is not accepted is restored.

use crate::{
    AcceptedPart, Comment, Effect, Outcome, Phase, Reply, ResolvedDecision, Review, ReviewEnd, SharedText,
    Step, SurfaceId, Text, merge,
};

/// The user's verdict.
pub(super) enum KeepVerdict {
    Accepted(AcceptedPart),
    Rejected { reason: Option<String> },
}

/// A decision, and the resulting content of the file.
pub(super) struct KeepDecision {
    pub(super) kept: KeepVerdict,
    pub(super) text: SharedText,
    pub(super) comments: Vec<Comment>,
    pub(super) by: Option<SurfaceId>,
}

impl Review {
    /// An error says why this is not possible; the review is then unchanged.
    pub(super) fn keep(&mut self, keeping: KeepDecision, now: Option<Text>) -> Result<Vec<Effect>, String> {
        let KeepDecision { kept, mut text, comments, by } = keeping;
        let ended = match (kept, now) {
            (KeepVerdict::Accepted(_), None) => {
                return Err(
                    "the file was deleted after the agent wrote it: there is nothing to keep; reject the \
                            change"
                        .to_owned(),
                );
            }
            // There is nothing to restore. The write that follows detects that again.
            (KeepVerdict::Rejected { reason }, None) => ReviewEnd::Rejected { reason },
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
                    KeepVerdict::Accepted(taken) => ReviewEnd::Accepted(self.accepted(&text, bytes, taken)),
                    KeepVerdict::Rejected { reason } => ReviewEnd::Rejected { reason },
                }
            }
        };
        self.phase =
            Phase::Deciding(Box::new(ResolvedDecision { outcome: Outcome { ended, comments, by }, text }));
        Ok(vec![Effect::Record { review: self.id, step: Step::Decided }])
    }

    /// The decided text may have been written, and the file holds something else now, in which it is not whole.
    pub(super) fn is_kept_in_doubt(&self, text: &str, now: Option<&Text>) -> bool {
        now.is_some_and(|now| {
            self.held().as_ref() != Some(now) && merge(&self.proposed, &now.text, text).text != *now.text
        })
    }

    /// The write found different content in the file.
    pub(super) fn keep_again(&mut self, decided: ResolvedDecision, now: Option<Text>) -> Vec<Effect> {
        let ResolvedDecision { outcome: Outcome { ended, comments, by }, text } = decided;
        let kept = match (ended, &now) {
            (ended @ ReviewEnd::Rejected { .. }, None) => {
                self.phase = Phase::Settling(Box::new(Outcome { ended, comments, by }));
                return vec![Effect::Record { review: self.id, step: Step::Written }];
            }
            (ReviewEnd::Rejected { reason }, _) => KeepVerdict::Rejected { reason },
            (ReviewEnd::Accepted(accepted), _) => KeepVerdict::Accepted(accepted.taken),
            _ => return Vec::new(),
        };
        let keeping = KeepDecision { kept, text, comments, by };
        self.keep(keeping, now).unwrap_or_else(|why| self.ask_again(by, Reply::Refused(why)))
    }
}

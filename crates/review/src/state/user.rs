//! The user edits or decides. The first decision on the shown state wins; every other surface gets a refusal with the
//! reason.

use std::collections::HashSet;

use super::accept::Acceptance;
use super::agent_first::{KeepDecision, KeepVerdict};
use crate::{
    AcceptedPart, Comment, Decision, Digest, Effect, HunkId, LineNumber, Outcome, Phase, Reply,
    ResolvedDecision, Review, ReviewEnd, ReviewId, Revision, SharedText, State, Step, SurfaceId, Text,
    Verdict, Writer, compose,
};

impl State {
    pub(super) fn edited(
        &mut self,
        id: ReviewId,
        surface: SurfaceId,
        seen: ShownState,
        text: &str,
    ) -> Vec<Effect> {
        let review = match self.deciding_on(id, seen) {
            Ok(review) => review,
            Err(reply) => return vec![Effect::Reply { surface, review: id, reply }],
        };
        let text = review.side_of(text);
        // An editor that echoes the shown text must not cause another round.
        if text == review.side() {
            return Vec::new();
        }
        review.draft = (review.proposed != *text).then(|| text.into());
        // Their line numbers are outdated, and the user has the conflicts in view.
        review.conflicts.clear();
        review.revision = review.revision.next();
        vec![Effect::Record { review: id, step: Step::Edited }]
    }

    pub(super) fn decided(
        &mut self,
        id: ReviewId,
        surface: SurfaceId,
        seen: ShownState,
        decision: Decision,
        base_now: Option<Text>,
    ) -> Vec<Effect> {
        let reply = |reply| vec![Effect::Reply { surface, review: id, reply }];
        let review = match self.deciding_on(id, seen) {
            Ok(review) => review,
            Err(refusal) => return reply(refusal),
        };
        let (text, taken) = match review.choose(decision.verdict) {
            Ok(Choice::Accept { text, taken }) => (text, taken),
            Ok(Choice::Reject { reason }) if review.writer == Writer::AgentFirst => {
                let comments = within(review.side(), decision.comments);
                let text = review.base.as_ref().map(|base| base.text.clone()).unwrap_or_default();
                let kept = KeepVerdict::Rejected { reason };
                let keeping = KeepDecision { kept, text, comments, by: Some(surface) };
                return review.keep(keeping, base_now).unwrap_or_else(|why| reply(Reply::Refused(why)));
            }
            Ok(Choice::Reject { reason }) => {
                let comments = within(review.side(), decision.comments);
                let outcome = Outcome { ended: ReviewEnd::Rejected { reason }, comments, by: Some(surface) };
                review.phase =
                    Phase::Deciding(Box::new(ResolvedDecision { outcome, text: SharedText::default() }));
                return vec![Effect::Record { review: id, step: Step::Decided }];
            }
            Err(why) => return reply(Reply::Refused(why)),
        };
        let write_here = review.lacks_writer();
        if write_here && !decision.write_here {
            return reply(Reply::AgentNotWaiting);
        }
        let shown = if taken == AcceptedPart::Edited { &text } else { review.side() };
        let comments = within(shown, decision.comments);
        if review.writer == Writer::AgentFirst {
            let keeping =
                KeepDecision { kept: KeepVerdict::Accepted(taken), text, comments, by: Some(surface) };
            return review.keep(keeping, base_now).unwrap_or_else(|why| reply(Reply::Refused(why)));
        }
        let acceptance = Acceptance { text, taken, comments, by: Some(surface) };
        let base_now = if review.writer == Writer::Nobody { review.base.clone() } else { base_now };
        let effects = review.accept(acceptance, base_now).unwrap_or_else(|why| reply(Reply::Refused(why)));
        review.written_here |= write_here && matches!(review.phase, Phase::Deciding(_));
        effects
    }

    /// The review, if it is pending and the surface showed its current state.
    fn deciding_on(&mut self, id: ReviewId, seen: ShownState) -> Result<&mut Review, Reply> {
        let review = self.reviews.get_mut(id).ok_or(Reply::NotPending)?;
        match review.outcome() {
            Some(Outcome { ended: ReviewEnd::Withdrawn | ReviewEnd::Superseded { .. }, .. }) => {
                Err(Reply::NotPending)
            }
            Some(outcome) => Err(Reply::AlreadyDecided { by: outcome.by }),
            None if review.phase != Phase::Pending => Err(Reply::NotPending),
            None if !seen.is(review) => Err(Reply::Stale { revision: review.revision }),
            None => Ok(review),
        }
    }
}

/// The state that a surface showed.
#[derive(Clone, Copy)]
pub(super) struct ShownState {
    pub(super) revision: Revision,
    /// Older surfaces do not send it. An id is never assigned twice, so the revision is enough for those.
    pub(super) digest: Option<Digest>,
}

impl ShownState {
    fn is(self, review: &Review) -> bool {
        self.revision == review.revision && self.digest.is_none_or(|digest| digest == review.shown_digest())
    }
}

enum Choice {
    Accept { text: SharedText, taken: AcceptedPart },
    Reject { reason: Option<String> },
}

impl Review {
    fn choose(&self, verdict: Verdict) -> Result<Choice, String> {
        let text = match verdict {
            Verdict::Reject { reason } => return Ok(Choice::Reject { reason }),
            Verdict::Accept => self.shared_side().clone(),
            Verdict::AcceptEdited(text) => self.to_file_conventions(&text).into(),
            Verdict::AcceptHunks(chosen) => {
                if chosen.is_empty() {
                    return Err("no hunk was chosen: reject the change instead".to_owned());
                }
                let hunks = self.hunks();
                if let Some(id) = chosen.iter().find(|id| !hunks.iter().any(|hunk| hunk.id == **id)) {
                    return Err(format!("there is no hunk {id} in {}: look at the change again", self.id));
                }
                let distinct: HashSet<HunkId> = chosen.iter().copied().collect();
                if distinct.len() < chosen.len() {
                    return Err("a hunk was chosen twice: choose each once".to_owned());
                }
                let (taken, left): (Vec<_>, Vec<_>) =
                    hunks.iter().map(|hunk| hunk.id).partition(|id| distinct.contains(id));
                if !left.is_empty() {
                    let text = compose(self.base_text(), self.side(), &hunks, |id| distinct.contains(id));
                    let text = text.into();
                    return Ok(Choice::Accept { text, taken: AcceptedPart::Some { taken, left } });
                }
                self.shared_side().clone()
            }
        };
        let taken = if text == self.proposed { AcceptedPart::All } else { AcceptedPart::Edited };
        Ok(Choice::Accept { text, taken })
    }
}

/// Comments, each moved to the nearest existing line of the text.
fn within(text: &str, mut comments: Vec<Comment>) -> Vec<Comment> {
    // Most decisions have none, and the text may be large.
    if comments.is_empty() {
        return comments;
    }
    let last = u32::try_from(text.lines().count()).unwrap_or(u32::MAX).max(1);
    for comment in &mut comments {
        comment.line = LineNumber(comment.line.0.clamp(1, last));
    }
    comments
}

//! Results of a write by the hub or its editor.

use super::accept::{Acceptance, format_of};
use crate::{
    AcceptedPart, Effect, Outcome, Phase, Reply, ResolvedDecision, Review, ReviewEnd, ReviewId, SharedText,
    State, Step, Text, WriteError, Writer,
};

impl State {
    /// Bound to the file's content once more, and recorded before it is written.
    pub(super) fn write_here(&mut self, id: ReviewId, base_now: Option<Text>) -> Vec<Effect> {
        let Some(review) = self.reviews.get_mut(id) else { return Vec::new() };
        let Phase::Settled { outcome, delivered: false } = &review.phase else { return Vec::new() };
        let is_agents = review.writer == Writer::Agent && !review.written_here;
        let Some(acceptance) = review.acceptance_of(outcome).filter(|_| is_agents) else {
            return Vec::new();
        };
        let by = acceptance.by;
        let accepted = review.accept(acceptance, base_now.clone());
        let effects = accepted.unwrap_or_else(|why| review.refuse_over(base_now, by, why));
        review.written_here |= matches!(review.phase, Phase::Deciding(_));
        effects
    }

    pub(super) fn written(&mut self, id: ReviewId) -> Vec<Effect> {
        match self.reviews.get_mut(id) {
            Some(Review { phase: phase @ Phase::Writing(_), .. }) => {
                if let Phase::Writing(decided) = std::mem::replace(phase, Phase::Pending) {
                    *phase = Phase::Settling(Box::new(decided.outcome));
                }
                vec![Effect::Record { review: id, step: Step::Written }]
            }
            _ => Vec::new(),
        }
    }

    /// The rules of the user's editor are the user's own: the text they produced is the accepted one. A text that the file
    /// cannot hold cannot be its content, whatever the editor reports: the actual content is still unknown.
    pub(super) fn saved_as(&mut self, id: ReviewId, text: String) -> Vec<Effect> {
        let Some(review) = self.reviews.get_mut(id) else { return Vec::new() };
        let Phase::Writing(decided) = &review.phase else { return Vec::new() };
        let accepted = matches!(decided.outcome.ended, ReviewEnd::Accepted(_));
        if accepted && decided.text != *text {
            let text = SharedText::from(text);
            let Ok(bytes) = format_of(review.base.as_ref()).encode_shared(&text) else { return Vec::new() };
            let Outcome { comments, by, .. } = decided.outcome.clone();
            let ended = ReviewEnd::Accepted(review.accepted(&text, bytes, AcceptedPart::Edited));
            review.phase =
                Phase::Writing(Box::new(ResolvedDecision { outcome: Outcome { ended, comments, by }, text }));
        }
        self.written(id)
    }

    pub(super) fn write_failed(&mut self, id: ReviewId, error: WriteError) -> Vec<Effect> {
        let Some(review) = self.reviews.get_mut(id) else { return Vec::new() };
        let Phase::Writing(decided) = &review.phase else { return Vec::new() };
        let Outcome { ended, comments, by } = decided.outcome.clone();
        let could_not = match ended {
            ReviewEnd::Rejected { .. } => "rejected, but the previous text could not be restored",
            _ => "accepted, but could not be written",
        };
        match (error, ended) {
            (WriteError::InDoubt(now), _)
                if review.writer == Writer::AgentFirst
                    && review.is_kept_in_doubt(&decided.text, now.as_ref()) =>
            {
                let conflicts = now.map_or(0, |now| review.follow(now));
                review.ask_again(by, Reply::AskAgain { conflicts })
            }
            (WriteError::BaseMoved(now) | WriteError::InDoubt(now), _)
                if review.writer == Writer::AgentFirst =>
            {
                let decided = (**decided).clone();
                review.keep_again(decided, now)
            }
            (WriteError::BaseMoved(now), ReviewEnd::Accepted(accepted)) => {
                let acceptance =
                    Acceptance { text: decided.text.clone(), taken: accepted.taken, comments, by };
                let accepted = review.accept(acceptance, now.clone());
                accepted.unwrap_or_else(|why| review.refuse_over(now, by, why))
            }
            (WriteError::InDoubt(now), ReviewEnd::Accepted(accepted)) => {
                let acceptance =
                    Acceptance { text: decided.text.clone(), taken: accepted.taken, comments, by };
                let accepted = review.accept_in_doubt(acceptance, now.clone());
                accepted.unwrap_or_else(|why| review.refuse_over(now, by, why))
            }
            (WriteError::BaseMoved(_) | WriteError::InDoubt(_), _) => Vec::new(),
            (WriteError::Io(error), _) => {
                let ended = ReviewEnd::Failed { error: format!("{could_not}: {error}") };
                review.phase = Phase::Settling(Box::new(Outcome { ended, comments, by }));
                vec![Effect::Record { review: id, step: Step::Ended }]
            }
            (WriteError::Unknown(error), ended) => {
                let decided =
                    if matches!(ended, ReviewEnd::Rejected { .. }) { "rejected" } else { "accepted" };
                let error = format!("{decided}, but it is not known whether the file was written: {error}");
                let outcome = Outcome { ended: ReviewEnd::Failed { error }, comments, by };
                review.phase = Phase::Settling(Box::new(outcome));
                vec![Effect::Record { review: id, step: Step::Ended }]
            }
        }
    }
}

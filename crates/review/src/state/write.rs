//! The editor side wrote the file, or could not.

use super::accept::{Acceptance, format_of};
use crate::{
    Decided, Effect, Ended, Outcome, Phase, Reply, Review, ReviewId, SharedText, State, Step, Taken,
    WriteError, Writer,
};

impl State {
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

    /// Her editor's rules are hers: what they made of the change is what she accepted. A text that the file cannot
    /// hold is not what it holds, whatever the editor says: it is still to be seen what was written.
    pub(super) fn saved_as(&mut self, id: ReviewId, text: String) -> Vec<Effect> {
        let Some(review) = self.reviews.get_mut(id) else { return Vec::new() };
        let Phase::Writing(decided) = &review.phase else { return Vec::new() };
        let accepted = matches!(decided.outcome.ended, Ended::Accepted(_));
        if accepted && decided.text != *text {
            let text = SharedText::from(text);
            let Ok(bytes) = format_of(review.base.as_ref()).encode_shared(&text) else { return Vec::new() };
            let Outcome { comments, by, .. } = decided.outcome.clone();
            let ended = Ended::Accepted(review.accepted(&text, bytes, Taken::Edited));
            review.phase =
                Phase::Writing(Box::new(Decided { outcome: Outcome { ended, comments, by }, text }));
        }
        self.written(id)
    }

    pub(super) fn write_failed(&mut self, id: ReviewId, error: WriteError) -> Vec<Effect> {
        let Some(review) = self.reviews.get_mut(id) else { return Vec::new() };
        let Phase::Writing(decided) = &review.phase else { return Vec::new() };
        let Outcome { ended, comments, by } = decided.outcome.clone();
        let could_not = match ended {
            Ended::Rejected { .. } => "rejected, but the text before could not be put back",
            _ => "accepted, but could not be written",
        };
        match (error, ended) {
            (WriteError::BaseMoved(now), _) if review.writer == Writer::AgentFirst => {
                let decided = (**decided).clone();
                review.keep_again(decided, now)
            }
            (WriteError::BaseMoved(now), Ended::Accepted(accepted)) => {
                let text = decided.text.clone();
                let acceptance = Acceptance { text, taken: accepted.taken, comments, by };
                review.accept(acceptance, now.clone()).unwrap_or_else(|why| {
                    review.move_to(now);
                    review.ask_again(by, Reply::Refused(why))
                })
            }
            (WriteError::BaseMoved(_), _) => Vec::new(),
            (WriteError::Io(error), _) => {
                let ended = Ended::Failed { error: format!("{could_not}: {error}") };
                review.phase = Phase::Settling(Box::new(Outcome { ended, comments, by }));
                vec![Effect::Record { review: id, step: Step::Ended }]
            }
            (WriteError::Unknown(error), ended) => {
                let decided = if matches!(ended, Ended::Rejected { .. }) { "rejected" } else { "accepted" };
                let error = format!("{decided}, but it is not known whether the file was written: {error}");
                let outcome = Outcome { ended: Ended::Failed { error }, comments, by };
                review.phase = Phase::Settling(Box::new(outcome));
                vec![Effect::Record { review: id, step: Step::Ended }]
            }
        }
    }
}

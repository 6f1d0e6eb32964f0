//! Results of the journal: only after a fact is recorded is anyone notified. Also handles failed records.

use crate::{Effect, HideReason, Outcome, Phase, Reply, Review, ReviewEnd, ReviewId, State, Step};

impl State {
    pub(super) fn recorded(&mut self, id: ReviewId, step: Step) -> Vec<Effect> {
        let Some(review) = self.reviews.get_mut(id) else { return Vec::new() };
        // A draft or a rebase recorded while pending needs no phase of its own: nothing was promised.
        let shows = matches!(step, Step::Edited | Step::Rebased) && review.phase == Phase::Pending;
        if !shows && review.waits_for() != Some(step) {
            return Vec::new();
        }
        match std::mem::replace(&mut review.phase, Phase::Pending) {
            Phase::Recording | Phase::Pending => vec![Effect::Show { review: id }],
            Phase::Deciding(decided) | Phase::Writing(decided) => {
                match review.result(&decided).filter(|_| review.will_write(&decided.outcome)) {
                    Some(bytes) => {
                        let (path, expect) = (review.path.clone(), review.held_digest());
                        review.phase = Phase::Writing(decided);
                        vec![Effect::Write { review: id, path, bytes, expect }]
                    }
                    // The agent went away while the decision was recorded. After a restart no surface waits for a reply,
                    // and the agent may ask again.
                    None if decided.is_accepted()
                        && review.lacks_writer()
                        && decided.outcome.by.is_some() =>
                    {
                        review.ask_again(decided.outcome.by, Reply::AgentNotWaiting)
                    }
                    None => self.settle(id, decided.outcome),
                }
            }
            Phase::Settling(outcome) => self.settle(id, *outcome),
            Phase::Settled { .. } => self.forget(id),
        }
    }

    pub(super) fn record_failed(&mut self, id: ReviewId, step: Step, error: &str) -> Vec<Effect> {
        let Some(review) = self.reviews.get_mut(id) else { return Vec::new() };
        let reopen = match &review.phase {
            Phase::Recording if step == Step::Proposed => {
                let error = format!("the proposal could not be recorded: {error}");
                let outcome = Outcome::without_decision(ReviewEnd::Failed { error });
                let mut effects = review.answer(&outcome);
                effects.extend(self.forget(id));
                return effects;
            }
            Phase::Deciding(decided) if step == Step::Decided => {
                Some((decided.outcome.by, format!("the decision could not be recorded: {error}")))
            }
            // The journal still says that the write is in progress, and it would be retried after a restart: the
            // agent must not be notified of a failure.
            Phase::Settling(outcome) if step == Step::Ended => match &outcome.ended {
                ReviewEnd::Failed { error: why } => {
                    Some((outcome.by, format!("{why}; recording the failure also failed: {error}")))
                }
                _ => None,
            },
            _ => None,
        };
        match reopen {
            Some((by, why)) => {
                review.phase = Phase::Pending;
                review.written_here = false;
                let mut effects = review.reply(by, Reply::Refused(why));
                effects.push(Effect::Show { review: id });
                effects
            }
            // No promise depends on these: a draft, a file that is already written, a withdrawal by the agent. A
            // restart would lead to the same result.
            None => self.recorded(id, step),
        }
    }

    fn settle(&mut self, id: ReviewId, outcome: Outcome) -> Vec<Effect> {
        let Some(review) = self.reviews.get_mut(id) else { return Vec::new() };
        let by = outcome.by;
        let (reply, reason) = match &outcome.ended {
            ReviewEnd::Accepted(_) | ReviewEnd::Rejected { .. } => (Reply::Taken, HideReason::Decided { by }),
            ReviewEnd::Failed { error } => {
                (Reply::Refused(error.clone()), HideReason::Failed { error: error.clone() })
            }
            ReviewEnd::Withdrawn => (Reply::NotPending, HideReason::Withdrawn),
            ReviewEnd::Superseded { by } => (Reply::NotPending, HideReason::Superseded { by: *by }),
        };
        let mut effects = review.reply(by, reply);
        effects.push(Effect::Hide { review: id, reason });
        match outcome.ended {
            // Its agent withdrew it, or is gone.
            ReviewEnd::Withdrawn => effects.extend(self.forget(id)),
            ReviewEnd::Superseded { .. } => {
                effects.extend(review.answer(&outcome));
                effects.extend(self.forget(id));
            }
            ReviewEnd::Accepted(_) | ReviewEnd::Rejected { .. } | ReviewEnd::Failed { .. } => {
                effects.extend(review.answer(&outcome));
                review.phase = Phase::Settled { outcome: Box::new(outcome), delivered: false };
            }
        }
        effects
    }
}

impl Review {
    pub(super) fn answer(&self, outcome: &Outcome) -> Vec<Effect> {
        let answer = |agent| Effect::Answer { review: self.id, agent, outcome: outcome.clone() };
        self.owner.map(answer).into_iter().collect()
    }

    /// The record that this phase waits for.
    pub(super) fn waits_for(&self) -> Option<Step> {
        match &self.phase {
            Phase::Recording => Some(Step::Proposed),
            Phase::Deciding(_) => Some(Step::Decided),
            Phase::Settling(outcome) if outcome.ended.is_by_user() => Some(Step::Written),
            Phase::Settling(_) => Some(Step::Ended),
            Phase::Settled { delivered: true, .. } => Some(Step::Delivered),
            Phase::Pending | Phase::Writing(_) | Phase::Settled { delivered: false, .. } => None,
        }
    }

    /// After a restart, ids of connections start again: an old one would name a different connection. A write that was in
    /// progress is requested again.
    pub(super) fn drop_connections(&mut self) {
        self.owner = None;
        let pending = std::mem::replace(&mut self.phase, Phase::Pending);
        self.phase = match pending {
            Phase::Deciding(mut decided) | Phase::Writing(mut decided) => {
                decided.outcome.by = None;
                Phase::Deciding(decided)
            }
            Phase::Settling(mut outcome) => {
                outcome.by = None;
                Phase::Settling(outcome)
            }
            Phase::Settled { mut outcome, delivered } => {
                outcome.by = None;
                Phase::Settled { outcome, delivered }
            }
            open => open,
        };
    }
}

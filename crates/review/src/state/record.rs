//! The journal answers: only now is anybody told. What happens when it cannot record is here too.

use crate::{Effect, Ended, HideReason, Outcome, Phase, Reply, Review, ReviewId, State, Step};

impl State {
    pub(super) fn recorded(&mut self, id: ReviewId, step: Step) -> Vec<Effect> {
        let Some(review) = self.reviews.get_mut(id) else { return Vec::new() };
        // A draft or a move recorded while pending needs no phase of its own: nothing was promised.
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
                    // The agent left while the decision was recorded. After a restart nobody waits for a reply, and the
                    // agent may ask again.
                    None if decided.is_accepted()
                        && review.nobody_would_write()
                        && decided.outcome.by.is_some() =>
                    {
                        review.ask_again(decided.outcome.by, Reply::NobodyWaits)
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
                let outcome = Outcome::unasked(Ended::Failed { error });
                let mut effects = review.answer(&outcome);
                effects.extend(self.forget(id));
                return effects;
            }
            Phase::Deciding(decided) if step == Step::Decided => {
                Some((decided.outcome.by, format!("the decision could not be recorded: {error}")))
            }
            // The journal still says that the write is under way and would try it again after a
            // restart: the agent must not hear that it failed.
            Phase::Settling(outcome) if step == Step::Ended => match &outcome.ended {
                Ended::Failed { error: why } => {
                    Some((outcome.by, format!("{why}; nor could that be recorded: {error}")))
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
            // No promise hangs on these: a draft, a file that is already written, an agent's own word.
            // A restart would come to the same end by a longer way.
            None => self.recorded(id, step),
        }
    }

    fn settle(&mut self, id: ReviewId, outcome: Outcome) -> Vec<Effect> {
        let Some(review) = self.reviews.get_mut(id) else { return Vec::new() };
        let by = outcome.by;
        let (reply, reason) = match &outcome.ended {
            Ended::Accepted(_) | Ended::Rejected { .. } => (Reply::Taken, HideReason::Decided { by }),
            Ended::Failed { error } => {
                (Reply::Refused(error.clone()), HideReason::Failed { error: error.clone() })
            }
            Ended::Withdrawn => (Reply::NotPending, HideReason::Withdrawn),
            Ended::Superseded { by } => (Reply::NotPending, HideReason::Superseded { by: *by }),
        };
        let mut effects = review.reply(by, reply);
        effects.push(Effect::Hide { review: id, reason });
        match outcome.ended {
            // Its agent said so itself, or is gone.
            Ended::Withdrawn => effects.extend(self.forget(id)),
            Ended::Superseded { .. } => {
                effects.extend(review.answer(&outcome));
                effects.extend(self.forget(id));
            }
            Ended::Accepted(_) | Ended::Rejected { .. } | Ended::Failed { .. } => {
                effects.extend(review.answer(&outcome));
                review.phase = Phase::Settled { outcome: Box::new(outcome), delivered: false };
            }
        }
        effects
    }
}

impl Review {
    fn answer(&self, outcome: &Outcome) -> Vec<Effect> {
        let answer = |agent| Effect::Answer { review: self.id, agent, outcome: outcome.clone() };
        self.owner.map(answer).into_iter().collect()
    }

    /// The record that this phase is waiting for.
    pub(super) fn waits_for(&self) -> Option<Step> {
        match &self.phase {
            Phase::Recording => Some(Step::Proposed),
            Phase::Deciding(_) => Some(Step::Decided),
            Phase::Settling(outcome) if outcome.ended.by_a_person() => Some(Step::Written),
            Phase::Settling(_) => Some(Step::Ended),
            Phase::Settled { delivered: true, .. } => Some(Step::Delivered),
            Phase::Pending | Phase::Writing(_) | Phase::Settled { delivered: false, .. } => None,
        }
    }

    /// After a restart ids of connections are minted anew: an old one would name a stranger. A write
    /// that was under way is asked for again.
    pub(super) fn leave_connections_behind(&mut self) {
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

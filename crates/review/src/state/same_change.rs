//! One change that two agents ask for: how it is recognised, and how its review passes from one of them to the other. Who
//! waits for which review is known to the shell.

use super::accept::format_of;
use super::propose::starts_with_the_mark;
use crate::format::MARK;
use crate::{
    Accepted, AgentId, Convention, Digest, Effect, Format, Outcome, Owner, Phase, Proposal, Review,
    ReviewEnd, ReviewId, SharedText, State, Step, Text, Writer, decode, to_file_conventions,
};

/// An agent that asked for the change of another agent's review, and in which form it sends the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follower {
    pub owner: Owner,
    original: Digest,
    convention: Convention,
    marked: bool,
}

impl Follower {
    pub fn of(proposal: &Proposal) -> Follower {
        let base = proposal.base.as_ref();
        Follower {
            owner: proposal.owner.clone(),
            original: proposal.original(),
            convention: to_file_conventions(base, proposal.proposed.as_str()).1,
            marked: starts_with_the_mark(base, &proposal.proposed),
        }
    }

    /// An agent that asked as the owner of the review did.
    pub fn of_owner(review: &Review, agent: AgentId) -> Follower {
        let owner = Owner { agent, key: review.owner_key.clone() };
        let (original, convention, marked) = (review.original, review.convention, review.marked);
        Follower { owner, original, convention, marked }
    }

    /// What was accepted as this agent is told: the text as it would send it, and how that differs from its proposal.
    pub fn accepted(&self, review: &Review, accepted: &Accepted) -> Accepted {
        if (self.convention, self.marked) == (review.convention, review.marked) {
            return accepted.clone();
        }
        let text = review.accepted_file_text(accepted);
        let person_diff = review.person_diff(self.convention, &text);
        let text = self.convention.for_agent(&text);
        let text = match self.marked && format_of(review.base.as_ref()).has_bom() {
            true => format!("{MARK}{text}").into(),
            false => text.into_owned().into(),
        };
        Accepted { text, person_diff, ..accepted.clone() }
    }

    /// The file has a byte order mark that this agent does not send.
    pub fn has_unsent_mark(&self, base: Option<&Text>) -> bool {
        !self.marked && base.is_some_and(|base| base.format.has_bom())
    }
}

impl State {
    /// The newest review in which another agent asked for the same change of the same file, to be written by itself.
    pub fn find_same_change(&self, proposal: &Proposal) -> Option<ReviewId> {
        if proposal.writer != Writer::Agent || proposal.asked.is_some() || proposal.left.is_some() {
            return None;
        }
        let mut latest_first = self.reviews_of_path(&proposal.path).rev();
        latest_first.find(|review| review.is_same_change(proposal)).map(|review| review.id)
    }

    /// The review belongs to another agent that asked for the same. Nothing that the user sees or decided changes. Only an
    /// agent that writes what it is told can take the place of another, and only until the outcome has arrived.
    pub(super) fn handed_over(&mut self, id: ReviewId, to: Follower, waits: bool) -> Vec<Effect> {
        let Some(review) = self.reviews.get_mut(id) else { return Vec::new() };
        let has_arrived = matches!(review.phase, Phase::Settled { delivered: true, .. });
        if has_arrived || review.writer != Writer::Agent {
            return Vec::new();
        }
        let told = review.outcome().and_then(|outcome| match &outcome.ended {
            ReviewEnd::Accepted(accepted) => Some(to.accepted(review, accepted)),
            _ => None,
        });
        if let (Some(told), Some(outcome)) = (told, review.outcome_mut()) {
            outcome.ended = ReviewEnd::Accepted(told);
        }
        review.owner = waits.then_some(to.owner.agent);
        review.owner_key = to.owner.key;
        (review.original, review.convention, review.marked) = (to.original, to.convention, to.marked);
        match &review.phase {
            // After a restart it would belong to the earlier agent otherwise.
            Phase::Recording | Phase::Pending => vec![Effect::Record { review: id, step: Step::Rebased }],
            Phase::Settled { outcome, .. } => review.answer(outcome),
            // The next record of these has the new agent. A second record of a decision would count even if the first
            // fails.
            Phase::Deciding(_) | Phase::Writing(_) | Phase::Settling(_) => Vec::new(),
        }
    }
}

impl Review {
    fn is_same_change(&self, proposal: &Proposal) -> bool {
        let answers = match &self.phase {
            Phase::Recording | Phase::Pending => true,
            // A decision is bound to the content that the user saw.
            Phase::Deciding(_) | Phase::Settled { delivered: false, .. } => self.base == proposal.base,
            Phase::Writing(_) | Phase::Settling(_) | Phase::Settled { delivered: true, .. } => false,
        };
        let is_decided_otherwise =
            self.written_here || self.outcome().is_some_and(|outcome| !outcome.ended.is_by_user());
        answers
            && !is_decided_otherwise
            && self.window == proposal.window
            && self.writer == proposal.writer
            && self.left.is_none()
            && self.owner_key != proposal.owner.key
            && (self.original == proposal.original()
                || (self.base == proposal.base
                    && *self.proposed
                        == *to_file_conventions(proposal.base.as_ref(), proposal.proposed.as_str()).0))
    }

    /// The accepted text as the file holds it.
    pub(super) fn accepted_file_text(&self, accepted: &Accepted) -> SharedText {
        let format = format_of(self.base.as_ref());
        // A mark at the start of such a file is part of its text.
        if format == Format::UTF8
            && let Ok(text) = std::str::from_utf8(&accepted.bytes)
        {
            return text.to_owned().into();
        }
        // A guessed encoding may be guessed differently now.
        let is_same =
            |text: &SharedText| format.encode_shared(text).is_ok_and(|bytes| bytes == accepted.bytes);
        let decoded = decode(&accepted.bytes).ok().map(|decoded| decoded.text).filter(is_same);
        decoded.unwrap_or_else(|| self.to_file_conventions(&accepted.text).into())
    }

    fn outcome_mut(&mut self) -> Option<&mut Outcome> {
        match &mut self.phase {
            Phase::Recording | Phase::Pending => None,
            Phase::Deciding(decided) | Phase::Writing(decided) => Some(&mut decided.outcome),
            Phase::Settling(outcome) | Phase::Settled { outcome, .. } => Some(outcome),
        }
    }
}

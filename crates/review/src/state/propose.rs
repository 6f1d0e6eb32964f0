//! Handles a proposal: it opens a new review, or continues the one that its agent requested before it lost the
//! connection.

use std::borrow::Cow;
use std::path::Path;

use super::accept::Acceptance;
use crate::format::MARK;
use crate::{
    AgentId, Convention, Digest, Effect, Format, Outcome, Phase, Proposal, Reply, Review, ReviewEnd,
    ReviewId, Revision, SharedText, State, Step, Text, WindowId, Writer, adopt_endings,
};

impl State {
    pub(super) fn proposed(&mut self, proposal: Proposal) -> Vec<Effect> {
        let original = proposal.original();
        match self.find_repeated_as(&proposal, original) {
            Some(id) => self.adopt(id, proposal),
            None => self.open(proposal, original),
        }
    }

    /// The review that this proposal repeats, if its agent requested it and lost the connection since.
    pub fn find_repeated(&self, proposal: &Proposal) -> Option<ReviewId> {
        self.find_repeated_as(proposal, proposal.original())
    }

    /// The decided review that this proposal repeats, while it belongs to another connection: that of its agent may be
    /// lost already, and not known to be.
    pub fn find_decided_for_another(&self, proposal: &Proposal) -> Option<ReviewId> {
        let original = proposal.original();
        let mut latest_first = self.reviews_of_path(&proposal.path).rev();
        let is_it = |review: &&Review| {
            review.owner.is_some_and(|owner| owner != proposal.owner.agent)
                && review.identity() == proposal.identity(original)
                && !matches!(
                    review.phase,
                    Phase::Recording | Phase::Pending | Phase::Settled { delivered: true, .. }
                )
        };
        latest_first.find(is_it).map(|review| review.id)
    }

    fn find_repeated_as(&self, proposal: &Proposal, original: Digest) -> Option<ReviewId> {
        // The latest one: an older review of the same request precedes it.
        let mut latest_first = self.reviews_of_path(&proposal.path).rev();
        latest_first.find(|review| review.is_repeated_by(proposal, original)).map(|review| review.id)
    }

    /// Whether its agent reconnected and repeated it before the lost connection was noticed: the user is not asked both. A
    /// review with the user's draft stays.
    pub(super) fn is_repeated_by_another(&self, id: ReviewId, gone: AgentId) -> bool {
        self.review(id).filter(|review| review.draft.is_none()).is_some_and(|review| {
            let others = self.reviews_of_path(&review.path).filter(|other| other.id > id);
            let mut owned = others.filter(|other| other.owner.is_some_and(|owner| owner != gone));
            owned.any(|other| other.identity() == review.identity())
        })
    }

    fn adopt(&mut self, id: ReviewId, proposal: Proposal) -> Vec<Effect> {
        let agent = proposal.owner.agent;
        let now = proposal.held();
        let mut effects = vec![Effect::Bound { review: id, agent }];
        let Some(review) = self.reviews.get_mut(id) else { return effects };
        review.owner = Some(agent);
        review.set = proposal.set;
        review.label = proposal.label;
        match &review.phase {
            Phase::Recording | Phase::Pending if review.held() != now => {
                review.move_to(now);
                effects.push(Effect::Record { review: id, step: Step::Rebased });
            }
            // The other file, whose text is on the left, changed in the meantime.
            Phase::Recording | Phase::Pending if review.left.is_some() => {
                let left = left_side(proposal.left, review.writer, review.base.as_ref(), &review.proposed);
                if review.left != left {
                    review.left = left;
                    review.revision = review.revision.next();
                    effects.push(Effect::Record { review: id, step: Step::Rebased });
                }
            }
            Phase::Settled { outcome, .. } => match review.accepted_for_another_base(outcome, &proposal.base)
            {
                Some(acceptance) => effects.extend(review.accept_again(acceptance, proposal.base)),
                None => effects.push(Effect::Answer { review: id, agent, outcome: (**outcome).clone() }),
            },
            _ => {}
        }
        effects
    }

    fn open(&mut self, proposal: Proposal, original: Digest) -> Vec<Effect> {
        self.last_id += 1;
        let id = ReviewId(self.last_id);
        let agent = proposal.owner.agent;
        let bound = Effect::Bound { review: id, agent };
        let base = proposal.base.as_ref();
        let marked = proposal.writer != Writer::Nobody && starts_with_the_mark(base, &proposal.proposed);
        let (proposed, convention) = match proposal.writer {
            // Both sides are given, and their line endings may be the only difference.
            Writer::Nobody | Writer::AgentFirst => (proposal.proposed, Convention::AsIs),
            Writer::Agent | Writer::AgentAsProposed | Writer::Hub => {
                to_file_conventions(base, proposal.proposed)
            }
        };
        let proposed = SharedText::from(proposed);
        let left = left_side(proposal.left, proposal.writer, base, &proposed);
        let format = proposal.base.as_ref().map_or(Format::UTF8, |base| base.format);
        let encodes = format.encode_shared(&proposed).map_err(|error| error.to_string());
        let restorable = match (proposal.writer, &proposal.base) {
            (Writer::AgentFirst, None) => Err("there is no previous text that could be restored".to_owned()),
            (Writer::AgentFirst, Some(base)) => base.encode().map(|_| ()).map_err(|error| error.to_string()),
            _ => Ok(()),
        };
        if let Err(error) = encodes.and(restorable) {
            let outcome = Outcome::without_decision(ReviewEnd::Failed { error });
            return vec![bound, Effect::Answer { review: id, agent, outcome }];
        }
        let review = Review {
            id,
            set: proposal.set,
            window: proposal.window,
            path: proposal.path,
            label: proposal.label,
            writer: proposal.writer,
            written_here: false,
            owner_key: proposal.owner.key,
            owner: Some(agent),
            base: proposal.base,
            left,
            proposed,
            convention,
            marked,
            original,
            draft: None,
            conflicts: Vec::new(),
            revision: Revision::default(),
            phase: Phase::Recording,
        };
        self.reviews.insert(review);
        vec![bound, Effect::Record { review: id, step: Step::Proposed }]
    }
}

/// The text of another file, as shown next to this change: in the line endings of the change. `None` if it equals the
/// proposed text or the file's own content.
fn left_side(
    left: Option<SharedText>,
    writer: Writer,
    base: Option<&Text>,
    proposed: &SharedText,
) -> Option<SharedText> {
    let left = left.filter(|_| !matches!(writer, Writer::Nobody | Writer::AgentFirst))?;
    let left = if proposed.contains("\r\n") {
        adopt_endings(proposed, &*left).0.into()
    } else {
        match Convention::Lf.for_agent(&left) {
            Cow::Owned(left) => left.into(),
            Cow::Borrowed(_) => left,
        }
    };
    (left != *proposed && base.is_none_or(|base| base.text != left)).then_some(left)
}

/// A complete new text in the file's conventions: without the byte order mark and in its line endings.
pub fn to_file_conventions<'a>(base: Option<&Text>, text: impl Into<Cow<'a, str>>) -> (String, Convention) {
    let mut text = text.into();
    if starts_with_the_mark(base, &text) {
        text = Cow::Owned(text.chars().skip(1).collect());
    }
    adopt_endings(base.map_or("", |base| &base.text), text)
}

/// Whether this text starts with the byte order mark of the file. Marks after the first are part of the text, so a text
/// with no more leading marks than the file's text was sent without the first.
pub(super) fn starts_with_the_mark(base: Option<&Text>, text: &str) -> bool {
    let marks = |text: &str| text.chars().take_while(|character| *character == MARK).count();
    base.is_some_and(|base| base.format.has_bom() && marks(text) > marks(&base.text))
}

/// Two proposals with equal identities are the same request.
#[derive(PartialEq)]
struct ProposalIdentity<'a> {
    original: Digest,
    key: &'a str,
    window: WindowId,
    path: &'a Path,
    writer: Writer,
    /// A given base is part of the request; a file's content is not, because it may change.
    base: Option<Option<&'a Text>>,
}

impl Proposal {
    /// Identifies the proposal, whatever the file holds now.
    pub(super) fn original(&self) -> Digest {
        self.asked.unwrap_or_else(|| Digest::of(self.proposed.as_bytes()))
    }

    fn identity(&self, original: Digest) -> ProposalIdentity<'_> {
        ProposalIdentity {
            original,
            key: &self.owner.key,
            window: self.window,
            path: &self.path,
            writer: self.writer,
            base: (self.writer == Writer::Nobody).then_some(self.base.as_ref()),
        }
    }
}

impl Review {
    /// The user's own text for this review, in the conventions of its file.
    /// What the proposed side is if the user leaves this text in the editor.
    pub fn side_of(&self, text: &str) -> String {
        match self.writer {
            Writer::Nobody => text.to_owned(),
            // An editor with one line ending for a whole document sends LF.
            Writer::Agent | Writer::AgentAsProposed | Writer::Hub | Writer::AgentFirst => {
                self.to_file_conventions(&adopt_endings(self.side(), text).0)
            }
        }
    }

    pub(super) fn to_file_conventions(&self, text: &str) -> String {
        match self.writer {
            Writer::Nobody => text.to_owned(),
            Writer::Agent | Writer::AgentAsProposed | Writer::Hub | Writer::AgentFirst => {
                to_file_conventions(self.base.as_ref(), text).0
            }
        }
    }

    fn identity(&self) -> ProposalIdentity<'_> {
        ProposalIdentity {
            original: self.original,
            key: &self.owner_key,
            window: self.window,
            path: &self.path,
            writer: self.writer,
            base: (self.writer == Writer::Nobody).then_some(self.base.as_ref()),
        }
    }

    fn is_repeated_by(&self, proposal: &Proposal, original: Digest) -> bool {
        // An agent may repeat its edits before they are decided. Afterwards, equal edits are a new request.
        let repeated = proposal.asked.is_some()
            && self.owner == Some(proposal.owner.agent)
            && matches!(self.phase, Phase::Recording | Phase::Pending);
        (self.owner.is_none() || repeated)
            && self.identity() == proposal.identity(original)
            && match &self.phase {
                Phase::Recording | Phase::Pending => true,
                Phase::Deciding(decided) | Phase::Writing(decided) => match &decided.outcome.ended {
                    ReviewEnd::Accepted(_) => self.hub_writes() || self.base == proposal.base,
                    _ => true,
                },
                Phase::Settling(outcome) | Phase::Settled { outcome, delivered: false } => {
                    self.still_answers(outcome, proposal.held().as_ref())
                }
                Phase::Settled { delivered: true, .. } => false,
            }
    }

    /// A decision answers its request, whatever happened to the file since. Only a written change that was reverted since
    /// is a new request: the file holds its previous content again. A text that its agent writes is rebased onto the
    /// file's current content (`accept_again`).
    fn still_answers(&self, outcome: &Outcome, now: Option<&Text>) -> bool {
        match &outcome.ended {
            ReviewEnd::Accepted(accepted) if self.will_write(outcome) => {
                self.base.as_ref() != now || now.is_some_and(|now| now.digest() == accepted.bytes.digest())
            }
            ReviewEnd::Accepted(_) | ReviewEnd::Rejected { .. } => true,
            ReviewEnd::Withdrawn | ReviewEnd::Superseded { .. } | ReviewEnd::Failed { .. } => false,
        }
    }

    /// The accepted text, if its agent writes it and the file has changed since the decision.
    fn accepted_for_another_base(&self, outcome: &Outcome, now: &Option<Text>) -> Option<Acceptance> {
        if !self.writer.is_agent() || self.written_here || self.base == *now {
            return None;
        }
        Some(Acceptance { by: None, ..self.acceptance_of(outcome)? })
    }

    /// What was accepted, to be bound to the file again.
    pub(super) fn acceptance_of(&self, outcome: &Outcome) -> Option<Acceptance> {
        let ReviewEnd::Accepted(accepted) = &outcome.ended else { return None };
        let text = self.accepted_file_text(accepted);
        let comments = outcome.comments.clone();
        Some(Acceptance { text, taken: accepted.taken.clone(), comments, by: outcome.by })
    }

    /// The agent would overwrite changes made by others in the meantime: merge cleanly, or ask the user again.
    fn accept_again(&mut self, acceptance: Acceptance, now: Option<Text>) -> Vec<Effect> {
        self.accept(acceptance, now.clone()).unwrap_or_else(|why| {
            self.move_to(now);
            self.ask_again(None, Reply::Refused(why))
        })
    }
}

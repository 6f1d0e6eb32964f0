//! A proposal comes in: it is a new review, or the one its agent asked for before it lost us.

use std::borrow::Cow;
use std::path::Path;

use super::accept::{Acceptance, format_of};
use crate::format::MARK;
use crate::{
    AgentId, Convention, Digest, Effect, Ended, Format, Outcome, Phase, Proposal, Reply, Review, ReviewId,
    Revision, SharedText, State, Step, Text, WindowId, Writer, adopt_endings, decode,
};

impl State {
    pub(super) fn proposed(&mut self, proposal: Proposal) -> Vec<Effect> {
        let original = proposal.original();
        match self.asked_as(&proposal, original) {
            Some(id) => self.adopt(id, proposal),
            None => self.open(proposal, original),
        }
    }

    /// The review that this proposal asks for again, if its agent asked for it and lost us since.
    pub fn asked_before(&self, proposal: &Proposal) -> Option<ReviewId> {
        self.asked_as(proposal, proposal.original())
    }

    fn asked_as(&self, proposal: &Proposal, original: Digest) -> Option<ReviewId> {
        // The latest: an older one of the same words was asked before it.
        let mut latest_first = self.reviews_of_path(&proposal.path).rev();
        latest_first.find(|review| review.is_asked_again(proposal, original)).map(|review| review.id)
    }

    /// Its agent was back, and asked again, before we knew that it had lost us: a person is not asked both. What she has
    /// made of this one stays.
    pub(super) fn is_asked_by_another(&self, id: ReviewId, gone: AgentId) -> bool {
        self.review(id).filter(|review| review.draft.is_none()).is_some_and(|review| {
            let others = self.reviews_of_path(&review.path).filter(|other| other.id > id);
            let mut owned = others.filter(|other| other.owner.is_some_and(|owner| owner != gone));
            owned.any(|other| other.question() == review.question())
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
            // The other file, whose text is on the left, changed meanwhile.
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
            // Both sides are given, and how their lines end may be the very difference.
            Writer::Nobody | Writer::AgentFirst => (proposal.proposed, Convention::AsIs),
            Writer::Agent | Writer::AgentAsProposed | Writer::Editor => {
                in_the_files_terms(base, proposal.proposed)
            }
        };
        let proposed = SharedText::from(proposed);
        let left = left_side(proposal.left, proposal.writer, base, &proposed);
        let format = proposal.base.as_ref().map_or(Format::UTF8, |base| base.format);
        let encodes = format.encode_shared(&proposed).map_err(|error| error.to_string());
        let restorable = match (proposal.writer, &proposal.base) {
            (Writer::AgentFirst, None) => Err("there is no text before that could be put back".to_owned()),
            (Writer::AgentFirst, Some(base)) => base.encode().map(|_| ()).map_err(|error| error.to_string()),
            _ => Ok(()),
        };
        if let Err(error) = encodes.and(restorable) {
            let outcome = Outcome::unasked(Ended::Failed { error });
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

/// The text of another file, as it is shown next to this change: in the line endings of the change. None where it would
/// show nothing, or what the file holds anyway.
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

/// A whole new text for this file, without the mark that is not part of it and in its line endings.
pub fn in_the_files_terms<'a>(base: Option<&Text>, text: impl Into<Cow<'a, str>>) -> (String, Convention) {
    let mut text = text.into();
    if starts_with_the_mark(base, &text) {
        text = Cow::Owned(text.chars().skip(1).collect());
    }
    adopt_endings(base.map_or("", |base| &base.text), text)
}

/// Whether this text for the file begins with the byte order mark of the file. Marks after the first are part of the
/// text, and a text with no more of them than the file has there came without the first.
fn starts_with_the_mark(base: Option<&Text>, text: &str) -> bool {
    let marks = |text: &str| text.chars().take_while(|character| *character == MARK).count();
    base.is_some_and(|base| base.format.has_bom() && marks(text) > marks(&base.text))
}

/// What makes two questions the same.
#[derive(PartialEq)]
struct Question<'a> {
    original: Digest,
    key: &'a str,
    window: WindowId,
    path: &'a Path,
    writer: Writer,
    /// A given base is part of the question; a file moves under it.
    base: Option<Option<&'a Text>>,
}

impl Proposal {
    /// What identifies it, whatever the file holds by now.
    fn original(&self) -> Digest {
        self.asked.unwrap_or_else(|| Digest::of(self.proposed.as_bytes()))
    }

    fn question(&self, original: Digest) -> Question<'_> {
        Question {
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
    /// A person's own text for this review, in the terms of the file it is for.
    pub(super) fn in_its_terms(&self, text: &str) -> String {
        match self.writer {
            Writer::Nobody => text.to_owned(),
            Writer::Agent | Writer::AgentAsProposed | Writer::Editor | Writer::AgentFirst => {
                in_the_files_terms(self.base.as_ref(), text).0
            }
        }
    }

    fn question(&self) -> Question<'_> {
        Question {
            original: self.original,
            key: &self.owner_key,
            window: self.window,
            path: &self.path,
            writer: self.writer,
            base: (self.writer == Writer::Nobody).then_some(self.base.as_ref()),
        }
    }

    fn is_asked_again(&self, proposal: &Proposal, original: Digest) -> bool {
        // An agent may repeat its edits before they are decided. Once they are, the same edits are made once more.
        let repeated = proposal.asked.is_some()
            && self.owner == Some(proposal.owner.agent)
            && matches!(self.phase, Phase::Recording | Phase::Pending);
        (self.owner.is_none() || repeated)
            && self.question() == proposal.question(original)
            && match &self.phase {
                Phase::Recording | Phase::Pending => true,
                Phase::Deciding(decided) | Phase::Writing(decided) => match &decided.outcome.ended {
                    Ended::Accepted(_) => self.hub_writes() || self.base == proposal.base,
                    _ => true,
                },
                Phase::Settling(outcome) | Phase::Settled { outcome, delivered: false } => {
                    self.still_answers(outcome, proposal.held().as_ref())
                }
                Phase::Settled { delivered: true, .. } => false,
            }
    }

    /// A decision answers its question, whatever became of the file since. Only a written change that was taken back
    /// since is asked anew: the file holds again what it held before. What its agent writes is carried over to what
    /// the file holds now (`accept_again`).
    fn still_answers(&self, outcome: &Outcome, now: Option<&Text>) -> bool {
        match &outcome.ended {
            Ended::Accepted(accepted) if self.will_write(outcome) => {
                self.base.as_ref() != now || now.is_some_and(|now| now.digest() == accepted.bytes.digest())
            }
            Ended::Accepted(_) | Ended::Rejected { .. } => true,
            Ended::Withdrawn | Ended::Superseded { .. } | Ended::Failed { .. } => false,
        }
    }

    /// What was accepted, where its agent writes it and the file is not what the decision was about any more.
    fn accepted_for_another_base(&self, outcome: &Outcome, now: &Option<Text>) -> Option<Acceptance> {
        let Ended::Accepted(accepted) = &outcome.ended else { return None };
        if !self.writer.is_agent() || self.written_here || self.base == *now {
            return None;
        }
        // An encoding that can only be guessed may be guessed otherwise now.
        let format = format_of(self.base.as_ref());
        let is_same =
            |text: &SharedText| format.encode_shared(text).is_ok_and(|bytes| bytes == accepted.bytes);
        let decoded = decode(&accepted.bytes).ok().map(|decoded| decoded.text).filter(is_same);
        let text = decoded.unwrap_or_else(|| self.in_its_terms(&accepted.text).into());
        let comments = outcome.comments.clone();
        Some(Acceptance { text, taken: accepted.taken.clone(), comments, by: None })
    }

    /// The agent would write its text over what others wrote meanwhile: merge cleanly, or ask the user again.
    fn accept_again(&mut self, acceptance: Acceptance, now: Option<Text>) -> Vec<Effect> {
        self.accept(acceptance, now.clone()).unwrap_or_else(|why| {
            self.move_to(now);
            self.ask_again(None, Reply::Refused(why))
        })
    }
}

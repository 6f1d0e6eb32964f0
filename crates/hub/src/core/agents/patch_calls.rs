//! Patches that their agent applies as a whole or not at all: each file is a review of its own. Taken in part, the agent
//! is told not to apply it, and only when it has confirmed that, the hub writes what was accepted. Knows the order of
//! these steps; `reviews::patches` takes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use linkspan_dialect::{Answer, CallId};
use linkspan_review::{AgentId, Digest, Effect, ReviewId};

use crate::core::agents::{Agent, Agents};

/// Writes of parts of patches whose agents have not confirmed that they do not apply them. An agent that is lost may
/// still apply its patch, on top of what the hub would have written. `None`: the write is not ready, or its call has it.
pub(super) type UnconfirmedWrites = BTreeMap<ReviewId, Option<Effect>>;

#[derive(Debug)]
pub(super) struct PatchCall {
    parts: Vec<PatchPart>,
    stage: PatchStage,
}

/// One file of a patch.
#[derive(Debug)]
pub(in crate::core) struct PatchPart {
    path: PathBuf,
    /// Deleted or moved: the hub never does that.
    compared: bool,
    /// What the agent would write, as far as it is known.
    result: Option<Digest>,
    review: Option<ReviewId>,
    answer: Option<PartAnswer>,
    /// The write that waits until the agent has heard that it must not apply the patch.
    held: Option<Effect>,
}

#[derive(Debug)]
struct PartAnswer {
    answer: Answer,
    /// If the agent applies the patch, the file holds exactly what was accepted.
    as_proposed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatchStage {
    Deciding,
    /// The accepted files are being recorded as written by the hub. Their writes are held.
    Holding,
    /// The agent is told not to apply it.
    Declined,
}

/// What comes next for a patch.
#[derive(Debug)]
pub(in crate::core) enum PatchStep {
    Wait,
    /// The hub writes these, after it has recorded that.
    WriteHere(Vec<ReviewId>),
    /// The agent is told not to apply it.
    Decline,
    /// The outcome of each file.
    Answer(Vec<(PathBuf, Answer)>, Vec<ReviewId>),
}

impl PatchPart {
    pub(in crate::core) fn new(path: PathBuf, compared: bool, result: Option<Digest>) -> PatchPart {
        PatchPart { path, compared, result, review: None, answer: None, held: None }
    }

    /// The same for an agent that cannot be told to apply it.
    pub(in crate::core) fn written_here(self) -> PatchPart {
        PatchPart { result: None, ..self }
    }

    /// Accepted here, and nobody has written it.
    fn is_unwritten(&self) -> bool {
        let accepted = |part: &PartAnswer| matches!(&part.answer, Answer::Accepted(it) if !it.written);
        !self.compared && self.review.is_some() && self.answer.as_ref().is_some_and(accepted)
    }
}

impl PatchCall {
    fn next(&mut self) -> PatchStep {
        if self.parts.iter().any(|part| part.answer.is_none() && part.held.is_none()) {
            return PatchStep::Wait;
        }
        let all_as_proposed =
            self.parts.iter().all(|part| part.answer.as_ref().is_some_and(|answer| answer.as_proposed));
        let unwritten = self.parts.iter().any(PatchPart::is_unwritten);
        match self.stage {
            PatchStage::Declined if self.parts.iter().any(|part| part.held.is_some()) => PatchStep::Wait,
            PatchStage::Deciding if all_as_proposed => self.outcome(),
            PatchStage::Deciding | PatchStage::Holding if unwritten => {
                self.stage = PatchStage::Holding;
                let mut here = Vec::new();
                for part in self.parts.iter_mut().filter(|part| part.is_unwritten()) {
                    part.answer = None;
                    here.extend(part.review);
                }
                PatchStep::WriteHere(here)
            }
            PatchStage::Holding if self.parts.iter().any(|part| part.held.is_some()) => {
                self.stage = PatchStage::Declined;
                PatchStep::Decline
            }
            PatchStage::Deciding | PatchStage::Holding | PatchStage::Declined => self.outcome(),
        }
    }

    fn outcome(&mut self) -> PatchStep {
        let parts = std::mem::take(&mut self.parts);
        let reviews = parts.iter().filter_map(|part| part.review).collect();
        let answers = parts.into_iter().filter_map(|part| Some((part.path, part.answer?.answer)));
        PatchStep::Answer(answers.collect(), reviews)
    }
}

impl Agents {
    pub(in crate::core) fn patch_calls(&self) -> usize {
        self.patches.len()
    }

    pub(in crate::core) fn begin_patch(&mut self, id: AgentId, call: CallId, parts: Vec<PatchPart>) {
        self.patches.insert((id, call), PatchCall { parts, stage: PatchStage::Deciding });
    }

    /// The review that a file of a patch became.
    pub(in crate::core) fn attach_review_to_patch(
        &mut self,
        id: AgentId,
        call: CallId,
        review: ReviewId,
        path: &Path,
    ) {
        let Some(patch) = self.patches.get_mut(&(id, call)) else { return };
        if let Some(part) = patch.parts.iter_mut().find(|part| part.review.is_none() && part.path == path) {
            part.review = Some(review);
            // Its agent was lost before it confirmed, and asks again.
            if self.unconfirmed_writes.contains_key(&review) {
                patch.stage = PatchStage::Holding;
            }
        }
    }

    /// The hub is to write this, once its agent has confirmed that it does not apply its patch.
    pub(in crate::core) fn await_confirmation(&mut self, review: ReviewId) {
        self.unconfirmed_writes.entry(review).or_default();
    }

    /// Whether the write has to wait for an agent that was lost.
    pub(in crate::core) fn awaits_confirmation(&self, review: ReviewId) -> bool {
        self.unconfirmed_writes.contains_key(&review)
    }

    /// Keeps the write until the agent is back.
    pub(in crate::core) fn keep_unconfirmed(&mut self, review: ReviewId, write: Effect) {
        self.unconfirmed_writes.insert(review, Some(write));
    }

    /// The write that was kept, which its call has from now on.
    pub(in crate::core) fn take_unconfirmed(&mut self, review: ReviewId) -> Option<Effect> {
        self.unconfirmed_writes.get_mut(&review).and_then(Option::take)
    }

    /// It may be written, or never will be.
    pub(in crate::core) fn end_unconfirmed(&mut self, review: ReviewId) -> Option<Effect> {
        self.unconfirmed_writes.remove(&review).flatten()
    }

    /// `bytes`: what the user accepted. None if that call is not a patch.
    pub(in crate::core) fn patch_part_decided(
        &mut self,
        id: AgentId,
        call: CallId,
        review: ReviewId,
        answer: Answer,
        bytes: Option<Digest>,
    ) -> Option<PatchStep> {
        let patch = self.patches.get_mut(&(id, call))?;
        if let Some(part) = patch.parts.iter_mut().find(|part| part.review == Some(review)) {
            let same = part.compared || bytes.is_some() && bytes == part.result;
            let as_proposed = same && matches!(&answer, Answer::Accepted(told) if told.is_as_proposed());
            part.answer = Some(PartAnswer { answer, as_proposed });
            part.held = None;
        }
        Some(self.patch_step(id, call))
    }

    /// The same for a change that was accepted before, as the agent proposes it. There is no review.
    pub(in crate::core) fn patch_part_known(
        &mut self,
        id: AgentId,
        call: CallId,
        path: &Path,
        answer: Answer,
    ) -> Option<PatchStep> {
        let patch = self.patches.get_mut(&(id, call))?;
        let is_it =
            |part: &&mut PatchPart| part.review.is_none() && part.answer.is_none() && part.path == path;
        if let Some(part) = patch.parts.iter_mut().find(is_it) {
            part.answer = Some(PartAnswer { answer, as_proposed: true });
        }
        Some(self.patch_step(id, call))
    }

    /// Whether the write has to wait, because its agent does not know yet that it must not apply the patch.
    pub(in crate::core) fn holds_write(&self, review: ReviewId) -> bool {
        let is_part = |part: &PatchPart| part.review == Some(review) && part.answer.is_none();
        let mut holding = self.patches.values().filter(|patch| patch.stage == PatchStage::Holding);
        holding.any(|patch| patch.parts.iter().any(is_part))
    }

    /// Keeps that write back.
    pub(in crate::core) fn hold_write(
        &mut self,
        review: ReviewId,
        write: Effect,
    ) -> Option<(AgentId, CallId, PatchStep)> {
        let is_part = |part: &PatchPart| part.review == Some(review) && part.answer.is_none();
        let mut holding = self.patches.iter_mut().filter(|(_, patch)| patch.stage == PatchStage::Holding);
        let ((id, call), part) = holding
            .find_map(|(key, patch)| Some((*key, patch.parts.iter_mut().find(|part| is_part(part))?)))?;
        part.held = Some(write);
        Some((id, call, self.patch_step(id, call)))
    }

    fn patch_step(&mut self, id: AgentId, call: CallId) -> PatchStep {
        let Some(patch) = self.patches.get_mut(&(id, call)) else { return PatchStep::Wait };
        let step = patch.next();
        if matches!(step, PatchStep::Answer(..)) {
            self.patches.remove(&(id, call));
        }
        step
    }

    /// The writes that waited for this call.
    pub(in crate::core) fn release_writes(&mut self, id: AgentId, call: CallId) -> Vec<Effect> {
        let parts = self.patches.get_mut(&(id, call)).into_iter().flat_map(|patch| &mut patch.parts);
        parts.filter_map(|part| part.held.take()).collect()
    }

    /// The call no longer waits. Returns the writes that were held, and the reviews that were decided.
    pub(in crate::core) fn end_patch(&mut self, id: AgentId, call: CallId) -> (Vec<Effect>, Vec<ReviewId>) {
        let Some(mut patch) = self.patches.remove(&(id, call)) else { return (Vec::new(), Vec::new()) };
        let held = patch.parts.iter_mut().filter_map(|part| part.held.take()).collect();
        let decided = patch.parts.iter().filter(|part| part.answer.is_some()).filter_map(|part| part.review);
        (held, decided.collect())
    }

    /// The patches of an agent that cannot apply them once it is gone.
    pub(super) fn patch_calls_of_acp(&self, id: AgentId) -> Vec<CallId> {
        let is_acp = self.get(&id).is_some_and(Agent::is_acp);
        let calls = self.patches.keys().filter(|(of, _)| is_acp && *of == id);
        calls.map(|(_, call)| *call).collect()
    }

    /// The agent is gone, and its calls with it. The writes that were held wait for it to come back.
    pub(super) fn drop_patches(&mut self, id: AgentId) {
        let calls: Vec<CallId> =
            self.patches.keys().filter(|(of, _)| *of == id).map(|(_, call)| *call).collect();
        for write in calls.into_iter().flat_map(|call| self.end_patch(id, call).0).collect::<Vec<_>>() {
            if let Effect::Write { review, .. } = &write {
                self.keep_unconfirmed(*review, write);
            }
        }
    }
}

//! Calls that ask for changes of several files: each is a review of its own, and the call is answered when all are
//! decided.

use std::path::{Path, PathBuf};

use linkspan_dialect::{Answer, CallId};
use linkspan_review::{AgentId, ReviewId};

use crate::core::agents::Agents;
use crate::core::out::Out;

#[derive(Debug, Default)]
pub(super) struct Bundle {
    parts: Vec<BundlePart>,
}

#[derive(Debug)]
struct BundlePart {
    path: PathBuf,
    review: Option<ReviewId>,
    answer: Option<Answer>,
}

impl Agents {
    pub(in crate::core) fn bundles(&self) -> usize {
        self.bundles.len()
    }

    /// The call waits for a change of each of these files.
    pub(in crate::core) fn begin_bundle(
        &mut self,
        id: AgentId,
        call: CallId,
        paths: impl Iterator<Item = PathBuf>,
    ) {
        let parts = paths.map(|path| BundlePart { path, review: None, answer: None });
        self.bundles.insert((id, call), Bundle { parts: parts.collect() });
    }

    /// The review that a part of a bundle became.
    pub(in crate::core) fn attach_review_to_bundle(
        &mut self,
        id: AgentId,
        call: CallId,
        review: ReviewId,
        path: &Path,
    ) {
        let Some(bundle) = self.bundles.get_mut(&(id, call)) else { return };
        let mut open = bundle.parts.iter_mut().filter(|part| part.review.is_none());
        if let Some(part) = open.find(|part| part.path == path) {
            part.review = Some(review);
        }
    }

    /// Answers the call that this review is an answer to, or part of one. Returns the reviews whose outcome was sent.
    pub(in crate::core) fn answer_part(
        &mut self,
        out: &mut Out,
        id: AgentId,
        call: CallId,
        review: ReviewId,
        answer: Answer,
    ) -> Vec<ReviewId> {
        let Some(bundle) = self.bundles.get_mut(&(id, call)) else {
            let frame = self.all.get_mut(&id).and_then(|agent| agent.session.answer(call, &answer));
            if let Some(frame) = frame {
                // Only what goes on the stream has a name there.
                if frame.answers.is_none() {
                    self.name_outcome(out, id, review);
                }
                self.send_frame(out, id, frame);
            }
            return vec![review];
        };
        if let Some(part) = bundle.parts.iter_mut().find(|part| part.review == Some(review)) {
            part.answer = Some(answer);
        }
        if bundle.parts.iter().any(|part| part.answer.is_none()) {
            return Vec::new();
        }
        let parts = self.bundles.remove(&(id, call)).map(|bundle| bundle.parts).unwrap_or_default();
        let reviews: Vec<ReviewId> = parts.iter().filter_map(|part| part.review).collect();
        let set = parts.into_iter().filter_map(|part| Some((part.path, part.answer?))).collect();
        self.answer(out, id, call, &Answer::Set(set));
        reviews
    }

    /// The agent is gone, and its calls with it.
    pub(super) fn drop_bundles(&mut self, id: AgentId) {
        self.bundles.retain(|(of, _), _| *of != id);
    }
}

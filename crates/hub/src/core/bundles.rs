//! One call that asks for changes of several files: each is a review of its own, and the call is answered when all
//! are decided.

use std::path::{Path, PathBuf};

use linkspan_dialect::{Answer, CallId, FailureKind};
use linkspan_review::{AgentId, ReviewId};

use super::Core;
use super::base::Change;

#[derive(Debug, Default)]
pub(super) struct Bundle {
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    path: PathBuf,
    review: Option<ReviewId>,
    answer: Option<Answer>,
}

impl Core {
    /// Proposes each; the call waits for all.
    pub(super) fn enter_all(&mut self, id: AgentId, call: CallId, changes: Vec<Change>) {
        // While the files were read, its agent may have left or taken it back.
        if self.waits_for_change(id, call) {
            let parts =
                changes.iter().map(|change| Part { path: change.path.clone(), review: None, answer: None });
            self.bundles.insert((id, call), Bundle { parts: parts.collect() });
            // All or none: an accept of one that its agent was told is refused would write it all the same.
            if let Err(message) = self.has_room(id, changes.len()) {
                return self.fail(id, call, FailureKind::Denied, message);
            }
        }
        for change in changes {
            self.enter(id, call, change);
        }
    }

    /// The review that a part of a bundle became.
    pub(super) fn bundled(&mut self, id: AgentId, call: CallId, review: ReviewId, path: &Path) {
        let Some(bundle) = self.bundles.get_mut(&(id, call)) else { return };
        let mut open = bundle.parts.iter_mut().filter(|part| part.review.is_none());
        if let Some(part) = open.find(|part| part.path == path) {
            part.review = Some(review);
        }
    }

    /// Answers the call that this review is (part of) the answer to. Once it is sent, a ping follows whose pong says
    /// that all parts of it have arrived.
    pub(super) fn answer_part(&mut self, id: AgentId, call: CallId, review: ReviewId, answer: Answer) {
        let Some(bundle) = self.bundles.get_mut(&(id, call)) else {
            let frame = self.agents.get_mut(&id).and_then(|agent| agent.session.answer(call, &answer));
            if let Some(frame) = frame {
                // Only what goes on the stream has a name there.
                if frame.answers.is_none() {
                    self.name_outcome(id, review);
                }
                self.send_frame(id, frame);
            }
            return self.await_pong(id, &[review]);
        };
        if let Some(part) = bundle.parts.iter_mut().find(|part| part.review == Some(review)) {
            part.answer = Some(answer);
        }
        if bundle.parts.iter().any(|part| part.answer.is_none()) {
            return;
        }
        let parts = self.bundles.remove(&(id, call)).map(|bundle| bundle.parts).unwrap_or_default();
        let reviews: Vec<ReviewId> = parts.iter().filter_map(|part| part.review).collect();
        let set = parts.into_iter().filter_map(|part| Some((part.path, part.answer?))).collect();
        self.answer(id, call, &Answer::Set(set));
        self.await_pong(id, &reviews);
    }

    /// A review that is forgotten already was taken back, and needs no confirmation.
    fn await_pong(&mut self, id: AgentId, reviews: &[ReviewId]) {
        let Some(agent) = self.agents.get_mut(&id) else { return };
        let number = agent.pings + 1;
        let told = reviews.iter().filter(|review| self.state.review(**review).is_some());
        let before = agent.unconfirmed.len();
        agent.unconfirmed.extend(told.map(|review| (number, *review)));
        if agent.unconfirmed.len() > before {
            self.ping_agent(id);
        }
    }
}

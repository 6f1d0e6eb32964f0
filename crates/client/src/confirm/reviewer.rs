//! The editor's side of a question: shows a change and returns the decision.

use linkspan_editor_api::Decision;

use crate::bridge::{Bridge, BridgeError, Contact, ReviewRequest};
use crate::connection::{CallError, Change, ChangeOutcome, Connection, PendingChange};

/// An editor that can be asked.
pub trait Reviewer: Sync {
    /// Shows the change, now or when the caller waits for it.
    fn start(&self, change: &Change) -> Result<Box<dyn PendingReview>, NoDecision>;
}

/// A pending change.
pub trait PendingReview: Send + Sync {
    /// Waits for the decision, without limit, and notifies the caller when the connection is lost and when it is back.
    /// Returns soon after [`withdraw`](PendingReview::withdraw).
    fn wait(&self, tell: &dyn Fn(Contact)) -> Result<ChangeOutcome, NoDecision>;

    /// Removes it from the screen. An earlier decision still counts.
    fn withdraw(&self);

    /// Hands the editor's side a decision that the user made elsewhere about this change over `base`. If it is taken,
    /// that side acts on it, and [`wait`](PendingReview::wait) returns it. Not every editor can take one.
    fn decide(&self, base: Option<&str>, decision: &Decision) -> bool {
        let _ = (base, decision);
        false
    }
}

/// Why there is no decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoDecision {
    /// The change was withdrawn.
    #[error("the change was withdrawn before it was decided")]
    Withdrawn,
    /// The editor is not connected, does not show it, or was lost with it.
    #[error("{0}")]
    Gone(String),
}

impl From<CallError> for NoDecision {
    fn from(error: CallError) -> NoDecision {
        match error {
            CallError::Withdrawn => NoDecision::Withdrawn,
            other => NoDecision::Gone(other.to_string()),
        }
    }
}

impl From<BridgeError> for NoDecision {
    fn from(error: BridgeError) -> NoDecision {
        match error {
            BridgeError::Call(error) => error.into(),
            other => NoDecision::Gone(other.to_string()),
        }
    }
}

/// Proposes again after a lost hub, and takes turns if the editor shows one change at a time.
impl Reviewer for Bridge {
    fn start(&self, change: &Change) -> Result<Box<dyn PendingReview>, NoDecision> {
        Ok(Box::new(self.asking(change)))
    }
}

impl PendingReview for ReviewRequest {
    fn wait(&self, tell: &dyn Fn(Contact)) -> Result<ChangeOutcome, NoDecision> {
        Ok(self.wait_notified(tell)?)
    }

    fn withdraw(&self) {
        ReviewRequest::withdraw(self);
    }

    fn decide(&self, base: Option<&str>, decision: &Decision) -> bool {
        ReviewRequest::decide(self, base, decision)
    }
}

/// One connection, which is not restored after a loss.
impl Reviewer for Connection {
    fn start(&self, change: &Change) -> Result<Box<dyn PendingReview>, NoDecision> {
        Ok(Box::new(self.propose(change)?))
    }
}

impl PendingReview for PendingChange {
    fn wait(&self, _: &dyn Fn(Contact)) -> Result<ChangeOutcome, NoDecision> {
        Ok(PendingChange::wait(self)?)
    }

    fn withdraw(&self) {
        PendingChange::withdraw(self);
    }

    fn decide(&self, base: Option<&str>, decision: &Decision) -> bool {
        PendingChange::decide(self, base, decision)
    }
}

//! The editor side of a question: something that shows a change and tells the decision.

use crate::bridge::{Asking, Bridge, BridgeError, Contact};
use crate::connection::{CallError, Change, Connection, Decided, PendingChange};

/// An editor that can be asked.
pub trait Reviewer: Sync {
    /// Shows the change, now or once someone waits.
    fn start(&self, change: &Change) -> Result<Box<dyn PendingReview>, NoDecision>;
}

/// A change on its way to the person's screen, or on it.
pub trait PendingReview: Send + Sync {
    /// Waits for the decision, without limit, and tells when the connection is lost and when it is back. Returns
    /// soon after [`withdraw`](PendingReview::withdraw).
    fn wait(&self, tell: &dyn Fn(Contact)) -> Result<Decided, NoDecision>;

    /// Takes it off the screen. A decision that came before still counts.
    fn withdraw(&self);
}

/// Why the editor decides nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoDecision {
    /// It was taken back.
    #[error("the change was withdrawn before it was decided")]
    Withdrawn,
    /// The editor is not there, does not show it, or went away with it.
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

/// Asks again after a lost hub, and takes turns where the editor shows one change at a time.
impl Reviewer for Bridge {
    fn start(&self, change: &Change) -> Result<Box<dyn PendingReview>, NoDecision> {
        Ok(Box::new(self.asking(change)))
    }
}

impl PendingReview for Asking {
    fn wait(&self, tell: &dyn Fn(Contact)) -> Result<Decided, NoDecision> {
        Ok(self.wait_told(tell)?)
    }

    fn withdraw(&self) {
        Asking::withdraw(self);
    }
}

/// One connection, which does not come back by itself.
impl Reviewer for Connection {
    fn start(&self, change: &Change) -> Result<Box<dyn PendingReview>, NoDecision> {
        Ok(Box::new(self.propose(change)?))
    }
}

impl PendingReview for PendingChange {
    fn wait(&self, _: &dyn Fn(Contact)) -> Result<Decided, NoDecision> {
        Ok(PendingChange::wait(self)?)
    }

    fn withdraw(&self) {
        PendingChange::withdraw(self);
    }
}

//! The editor side of a question: something that shows a change and tells the decision.

use std::time::Duration;

use crate::connection::{CallError, Change, Connection, Decided, PendingChange};

/// An editor that can be asked.
pub trait Reviewer: Sync {
    /// Shows the change, within the time a machine may take.
    fn start(&self, change: &Change) -> Result<Box<dyn PendingReview>, CallError>;

    /// Asks for the same change again after the connection was lost, so that a decision made meanwhile is heard.
    /// `None`: not connected yet, try later. An error: it never will be. Takes as long as a machine may.
    fn again(&self, change: &Change) -> Result<Option<Box<dyn PendingReview>>, CallError> {
        let _ = change;
        Err(CallError::Closed)
    }
}

/// A change on the person's screen.
pub trait PendingReview: Send + Sync {
    /// Waits for the decision, without limit. Returns soon after [`withdraw`](PendingReview::withdraw).
    fn wait(&self) -> Result<Decided, CallError>;

    /// Waits, but not longer than this; `None`: the person still thinks.
    fn wait_timeout(&self, patience: Duration) -> Option<Result<Decided, CallError>>;

    /// Takes it off the screen. A decision that was made before still counts.
    fn withdraw(&self);
}

impl PendingReview for PendingChange {
    fn wait(&self) -> Result<Decided, CallError> {
        PendingChange::wait(self)
    }

    fn wait_timeout(&self, patience: Duration) -> Option<Result<Decided, CallError>> {
        PendingChange::wait_timeout(self, patience)
    }

    fn withdraw(&self) {
        PendingChange::withdraw(self);
    }
}

/// One connection, which does not come back by itself.
impl Reviewer for Connection {
    fn start(&self, change: &Change) -> Result<Box<dyn PendingReview>, CallError> {
        Ok(Box::new(self.propose(change)?))
    }
}

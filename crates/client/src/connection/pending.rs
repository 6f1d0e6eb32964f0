//! Questions that are asked and not answered yet, as their callers hold them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::calls::{Ended, Waiting};
use super::error::CallError;
use super::types::{Change, Decided, ToolResult};
use super::wire::Withdrawal;
use super::{Connection, DEADLINE, answer};

/// A tool call that is under way. Dropping it changes nothing: its answer is then heard by nobody.
#[derive(Debug, Clone)]
pub struct PendingCall {
    pub(super) connection: Connection,
    pub(super) tool: String,
    pub(super) waiting: Waiting,
}

impl PendingCall {
    /// Waits for the answer, without limit.
    pub fn wait(&self) -> Result<ToolResult, CallError> {
        self.read(self.waiting.wait(), Duration::ZERO)
    }

    /// Waits for the answer, but not longer than this; `None`: it is still under way.
    pub fn wait_timeout(&self, patience: Duration) -> Option<Result<ToolResult, CallError>> {
        Some(self.read(self.waiting.wait_at_most(patience)?, patience))
    }

    /// Tells the server that nobody wants the answer any more. Who waits hears [`CallError::Withdrawn`].
    pub fn cancel(&self) {
        if self.waiting.withdraw() {
            self.tell_cancelled();
        }
    }

    fn tell_cancelled(&self) {
        let params = json!({ "requestId": self.waiting.id, "reason": "the agent took it back" });
        self.connection.inner.session.notify("notifications/cancelled", &params);
    }

    /// Waits as long as a machine may take; after that the answer is not wanted any more.
    pub(super) fn wait_for_machine(&self, extra: Duration) -> Result<ToolResult, CallError> {
        let deadline = DEADLINE.saturating_add(extra);
        self.read(self.waiting.wait_until_deadline(deadline), deadline)
    }

    fn read(&self, ended: Ended, deadline: Duration) -> Result<ToolResult, CallError> {
        answer::read(&self.connection, &self.tool, ended, deadline)
    }
}

/// A change that waits for a person. Dropping it changes nothing: the person still sees it.
#[derive(Debug, Clone)]
pub struct PendingChange {
    pub(super) call: PendingCall,
    pub(super) change: Arc<Change>,
    /// Its name on the screen of a foreign editor.
    pub(super) tab: String,
}

impl PendingChange {
    /// Waits for the decision, without limit.
    pub fn wait(&self) -> Result<Decided, CallError> {
        self.read(self.call.wait())
    }

    /// Waits for the decision, but not longer than this; `None`: the person still thinks.
    pub fn wait_timeout(&self, patience: Duration) -> Option<Result<Decided, CallError>> {
        Some(self.read(self.call.wait_timeout(patience)?))
    }

    /// Takes the change off the person's screen, if she has not decided. Who waits hears
    /// [`CallError::Withdrawn`], or the decision if our hub says that she was first; an answer that comes later is
    /// ignored.
    pub fn withdraw(&self) {
        let connection = &self.call.connection;
        match connection.inner.session.dialect.withdraw(&self.tab) {
            Withdrawal::Cancel => {
                self.call.tell_cancelled();
                if self.call.waiting.wait_at_most(DEADLINE).is_none() {
                    self.call.waiting.withdraw();
                }
            }
            Withdrawal::Calls(_) => {
                if self.call.waiting.withdraw() {
                    connection.close_diff(&self.tab);
                }
            }
        }
    }

    fn read(&self, answered: Result<ToolResult, CallError>) -> Result<Decided, CallError> {
        let answered = answered?;
        // Not every editor closes the tab of a change that was decided.
        self.call.connection.close_diff(&self.tab);
        let answered = answer::succeeded(answered)?;
        self.call.connection.inner.session.dialect.read_decided(&self.change, &answered)
    }
}

//! Pending calls and changes, as their callers hold them.

use std::sync::Arc;
use std::time::Duration;

use linkspan_editor_api::Decision;
use serde_json::json;

use super::calls::{CallEnd, Waiting};
use super::elsewhere::{self, ShownElsewhere};
use super::error::CallError;
use super::types::{Change, ChangeOutcome, PermissionAnswer, ToolResult};
use super::wire::Withdrawal;
use super::{Connection, DEADLINE, answer};
use crate::discover::Wire;

/// A pending tool call. Dropping it does not withdraw it: its answer is then ignored.
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

    /// Waits for the answer, but at most this long; `None`: it is still pending.
    pub fn wait_timeout(&self, patience: Duration) -> Option<Result<ToolResult, CallError>> {
        Some(self.read(self.waiting.wait_at_most(patience)?, patience))
    }

    /// Withdraws the call. Waiting for it then returns [`CallError::Withdrawn`].
    pub fn cancel(&self) {
        if self.waiting.withdraw() {
            self.tell_cancelled();
        }
    }

    fn tell_cancelled(&self) {
        let params = json!({ "requestId": self.waiting.id, "reason": "the agent withdrew it" });
        self.connection.inner.session.notify("notifications/cancelled", &params);
    }

    /// Waits as long as a machine may take; after that the call is withdrawn.
    pub(super) fn wait_for_machine(&self, extra: Duration) -> Result<ToolResult, CallError> {
        let deadline = DEADLINE.saturating_add(extra);
        self.read(self.waiting.wait_until_deadline(deadline), deadline)
    }

    fn read(&self, ended: CallEnd, deadline: Duration) -> Result<ToolResult, CallError> {
        answer::read(&self.connection, &self.tool, ended, deadline)
    }
}

/// A pending question about a command. Dropping it does not withdraw it: the user still sees it.
#[derive(Debug, Clone)]
pub struct PendingPermission {
    pub(super) call: PendingCall,
}

impl PendingPermission {
    /// Waits for the answer, without limit. A question that was closed without one is [`CallError::Withdrawn`].
    pub fn wait(&self) -> Result<PermissionAnswer, CallError> {
        self.read(self.call.wait())
    }

    /// Waits for the answer, but at most this long; `None`: it is still pending.
    pub fn wait_timeout(&self, patience: Duration) -> Option<Result<PermissionAnswer, CallError>> {
        Some(self.read(self.call.wait_timeout(patience)?))
    }

    /// Withdraws the question. Waiting for it then returns [`CallError::Withdrawn`].
    pub fn cancel(&self) {
        self.call.cancel();
    }

    fn read(&self, answered: Result<ToolResult, CallError>) -> Result<PermissionAnswer, CallError> {
        let answered = answer::succeeded(answered?)?;
        self.call.connection.inner.session.dialect.read_permission(&answered)
    }
}

/// A pending change. Dropping it does not withdraw it: the user still sees it.
#[derive(Debug, Clone)]
pub struct PendingChange {
    pub(super) call: PendingCall,
    pub(super) change: Arc<Change>,
    /// Its name on the screen of a foreign editor.
    pub(super) tab: String,
}

impl PendingChange {
    /// Waits for the decision, without limit.
    pub fn wait(&self) -> Result<ChangeOutcome, CallError> {
        self.read(self.call.wait())
    }

    /// Waits for the decision, but at most this long; `None`: it is still pending.
    pub fn wait_timeout(&self, patience: Duration) -> Option<Result<ChangeOutcome, CallError>> {
        Some(self.read(self.call.wait_timeout(patience)?))
    }

    /// Removes the change from the screen, if it is not decided. Waiting for it then returns [`CallError::Withdrawn`],
    /// or the decision if our hub reports that it came first; a later answer is ignored.
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

    /// Hands our hub a decision that the user made elsewhere about this change over `base`. If the hub takes it, the
    /// hub acts on it and it comes back like one that was made there; if not, nothing has changed.
    pub fn decide(&self, base: Option<&str>, decision: &Decision) -> bool {
        let connection = &self.call.connection.inner;
        let Wire::Hub { window, .. } = &connection.candidate.wire else { return false };
        let shown = ShownElsewhere {
            places: &connection.places,
            window,
            agent: &connection.agent,
            change: &self.change,
            base,
        };
        self.change.old_text.is_none() && elsewhere::decide(&shown, decision)
    }

    fn read(&self, answered: Result<ToolResult, CallError>) -> Result<ChangeOutcome, CallError> {
        let answered = answered?;
        // Not every editor closes the tab of a change that was decided.
        self.call.connection.close_diff(&self.tab);
        let answered = answer::succeeded(answered)?;
        self.call.connection.inner.session.dialect.read_decided(&self.change, &answered)
    }
}

//! Deadlines, in one ordered set, so that an idle hub has one deadline and no wake-ups in between.

use std::collections::BTreeMap;

use linkspan_dialect::CallId;
use linkspan_review::{AgentId, ReviewId, WindowId};

use crate::core::contract::Ticket;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// Ping everyone; agents that did not answer the last ping are gone.
    Heartbeat,
    /// An editor, the disk or a job has not answered in time.
    Pending(Ticket),
    /// The same edits were decided for another connection of the agent, which may be lost by now.
    Edit(Ticket),
    /// The disk has not reported whether an accepted change was written.
    Write(ReviewId),
    /// Check whether an agent wrote what was accepted.
    AgentWrite(ReviewId),
    /// The disk has not reported whether a file was restored.
    Restore(Ticket),
    /// Editors of the last hub have had their time to come back.
    Undo(Ticket),
    /// Undos that an earlier hub began are checked, whichever editors are back.
    Doubts,
    /// A session has not opened a stream in time.
    Stream(AgentId),
    /// The user has not moved for a moment.
    Context(WindowId),
    /// A window did not come back.
    Window(WindowId),
    /// An agent does not wait longer for a decision.
    Patience {
        agent: AgentId,
        call: CallId,
    },
    /// A review's agent did not come back.
    Review(ReviewId),
    /// The windows of unfinished writes did not come back.
    Writes,
    /// The agent of this conversation takes too long.
    Chat(u64),
    /// What changed in this conversation is recorded.
    ChatRecord(u64),
    /// Editors and agents have had their time to answer for a status.
    Probes,
    IdleExit,
}

/// Identifies one deadline, so that it can be cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TimerId {
    when_ms: u64,
    sequence: u64,
}

#[derive(Debug, Default)]
pub(super) struct Timers {
    due: BTreeMap<TimerId, Due>,
    sequence: u64,
}

impl Timers {
    pub(super) fn add(&mut self, when_ms: u64, due: Due) -> TimerId {
        self.sequence += 1;
        let id = TimerId { when_ms, sequence: self.sequence };
        self.due.insert(id, due);
        id
    }

    pub(super) fn cancel(&mut self, id: TimerId) {
        self.due.remove(&id);
    }

    pub(super) fn len(&self) -> usize {
        self.due.len()
    }

    pub(super) fn next(&self) -> Option<u64> {
        self.due.first_key_value().map(|(id, _)| id.when_ms)
    }

    pub(super) fn pop(&mut self, now_ms: u64) -> Option<Due> {
        let first = self.due.first_entry()?;
        (first.key().when_ms <= now_ms).then(|| first.remove())
    }
}

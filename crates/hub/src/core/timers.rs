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
    /// The editors of the last hub have had their time to come back.
    Missing,
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

/// In such steps time is counted in which others may come back. By a step that takes longer, the clock jumped: the machine
/// slept, or the hub was stopped, and nobody could come back.
const STEP_MS: u64 = 10_000;

#[derive(Debug, Default)]
pub(super) struct Timers {
    due: BTreeMap<TimerId, Due>,
    /// By the sequence of their first deadline.
    in_steps: BTreeMap<u64, InSteps>,
    sequence: u64,
}

/// A deadline that is reached in steps.
#[derive(Debug)]
struct InSteps {
    next: TimerId,
    /// What is left after the next step.
    left_ms: u64,
}

impl Timers {
    pub(super) fn add(&mut self, when_ms: u64, due: Due) -> TimerId {
        self.sequence += 1;
        let id = TimerId { when_ms, sequence: self.sequence };
        self.due.insert(id, due);
        id
    }

    /// As [`Timers::add`], but time by which the clock jumps does not count.
    pub(super) fn add_in_steps(&mut self, now_ms: u64, delay_ms: u64, due: Due) -> TimerId {
        let step_ms = delay_ms.min(STEP_MS);
        let id = self.add(now_ms + step_ms, due);
        self.in_steps.insert(id.sequence, InSteps { next: id, left_ms: delay_ms - step_ms });
        id
    }

    pub(super) fn cancel(&mut self, id: TimerId) {
        let next = self.in_steps.remove(&id.sequence).map_or(id, |in_steps| in_steps.next);
        self.due.remove(&next);
    }

    pub(super) fn len(&self) -> usize {
        self.due.len()
    }

    pub(super) fn next(&self) -> Option<u64> {
        self.due.first_key_value().map(|(id, _)| id.when_ms)
    }

    pub(super) fn pop(&mut self, now_ms: u64) -> Option<Due> {
        loop {
            let first = self.due.first_entry()?;
            if first.key().when_ms > now_ms {
                return None;
            }
            let (id, due) = first.remove_entry();
            match self.in_steps.get_mut(&id.sequence) {
                Some(in_steps) if in_steps.left_ms > 0 => {
                    let step_ms = in_steps.left_ms.min(STEP_MS);
                    in_steps.left_ms -= step_ms;
                    in_steps.next = TimerId { when_ms: now_ms + step_ms, ..id };
                    self.due.insert(in_steps.next, due);
                }
                _ => {
                    self.in_steps.remove(&id.sequence);
                    return Some(due);
                }
            }
        }
    }
}

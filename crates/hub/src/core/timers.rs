//! What is due when. One ordered set, so that an idle hub has one deadline and no wake-ups in between.

use std::collections::BTreeMap;

use linkspan_dialect::CallId;
use linkspan_review::{AgentId, ReviewId, WindowId};

use super::event::{LocalId, Ticket};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// Ping everyone; those who did not answer the last one are gone.
    Heartbeat,
    /// An editor has not answered a request.
    Call {
        local: LocalId,
        id: i64,
    },
    /// A disk has not answered.
    Read(Ticket),
    /// Something that runs for an agent has not ended.
    Tool(Ticket),
    /// A disk has not said whether an accepted change was written.
    Write(ReviewId),
    /// It is time to look whether an agent wrote what was accepted.
    Landing(ReviewId),
    /// A disk has not said whether a file got back what it held.
    Restore(Ticket),
    /// Editors that lost the last hub had their time to come to this one.
    Undo(Ticket),
    /// Undos of an earlier life are looked at, whoever is back.
    Doubts,
    /// A session has had its time to open a stream.
    Stream(AgentId),
    /// Where the person is has come to rest.
    Context(WindowId),
    /// A window did not come back.
    Window(WindowId),
    /// An agent that waits only so long for a person has waited.
    Patience {
        agent: AgentId,
        call: CallId,
    },
    /// A review's agent did not come back.
    Review(ReviewId),
    /// The windows of unfinished writes did not come back.
    Writes,
    /// Those asked for a status have had their time.
    Probes,
    IdleExit,
}

/// Names one deadline so that it can be taken back.
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

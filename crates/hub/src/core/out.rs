//! What every part of the core may use while it handles an event: the time, the deadlines, what waits for an answer, the
//! actions to carry out, and facts about the hub. It owns nothing of any one part, so that each part can borrow it next
//! to its own fields.

use std::ffi::OsString;

use linkspan_editor_api::{Message, RequestId, RpcError};

use crate::config::Config;
use crate::core::HubInfo;
use crate::core::contract::{Action, ConnectionId, Ticket};
use crate::core::pending::{Continuation, Pending};
use crate::core::timers::{Due, TimerId, Timers};

/// Reads a variable of the environment: where each dialect's discovery files belong depends on some.
pub(super) type Lookup = Box<dyn Fn(&str) -> Option<OsString> + Send>;

pub(super) struct Out {
    /// When the event that is being handled happened, in milliseconds since the hub started.
    pub(super) now_ms: u64,
    timers: Timers,
    pub(super) pending: Pending,
    actions: Vec<Action>,
    next_ticket: u64,
    pub(super) config: Config,
    pub(super) info: HubInfo,
    pub(super) lookup: Lookup,
}

impl Out {
    pub(super) fn new(info: HubInfo, config: Config, lookup: Lookup) -> Out {
        let (timers, pending, actions) = (Timers::default(), Pending::default(), Vec::new());
        Out { now_ms: 0, timers, pending, actions, next_ticket: 0, config, info, lookup }
    }

    /// Adds an action, to be carried out when the event has been handled.
    pub(super) fn push(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// Returns the actions since the last call.
    pub(super) fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    pub(super) fn send(&mut self, connection: ConnectionId, message: &Message) {
        self.push(Action::SendMessage { connection, body: message.to_bytes() });
    }

    pub(super) fn refuse(
        &mut self,
        connection: ConnectionId,
        request: RequestId,
        code: i64,
        message: String,
    ) {
        self.send(connection, &Message::error(Some(request), RpcError::new(code, message)));
    }

    pub(super) fn ticket(&mut self) -> Ticket {
        self.next_ticket += 1;
        Ticket(self.next_ticket)
    }

    pub(super) fn at(&mut self, when_ms: u64, due: Due) -> TimerId {
        self.timers.add(when_ms, due)
    }

    pub(super) fn after(&mut self, delay_ms: u64, due: Due) -> TimerId {
        self.timers.add(self.now_ms + delay_ms, due)
    }

    /// As [`Out::after`], for what others need time for: time by which the clock jumps does not count.
    pub(super) fn after_in_steps(&mut self, delay_ms: u64, due: Due) -> TimerId {
        self.timers.add_in_steps(self.now_ms, delay_ms, due)
    }

    pub(super) fn cancel(&mut self, timer: TimerId) {
        self.timers.cancel(timer);
    }

    /// Stores what to do with an answer; the ticket belongs to the question.
    pub(super) fn wait(&mut self, continuation: Continuation) -> Ticket {
        let ticket = self.ticket();
        self.pending.insert(ticket, continuation, None);
        ticket
    }

    /// As [`Out::wait`], with a deadline.
    pub(super) fn wait_for(&mut self, delay_ms: u64, continuation: Continuation) -> Ticket {
        let ticket = self.ticket();
        let timer = self.after(delay_ms, Due::Pending(ticket));
        self.pending.insert(ticket, continuation, Some(timer));
        ticket
    }

    /// Gives it more time, now that its deadline has passed.
    pub(super) fn wait_longer(&mut self, ticket: Ticket, delay_ms: u64) {
        let timer = self.after(delay_ms, Due::Pending(ticket));
        self.pending.set_timer(ticket, timer);
    }

    /// Takes out what waits under this ticket, if it still does, and cancels its deadline.
    pub(super) fn resume(&mut self, ticket: Ticket) -> Option<Continuation> {
        let (continuation, timer) = self.pending.remove(ticket)?;
        if let Some(timer) = timer {
            self.timers.cancel(timer);
        }
        Some(continuation)
    }

    /// Takes out everything that is meant, and cancels its deadlines.
    pub(super) fn take_pending(&mut self, is_meant: impl Fn(&Continuation) -> bool) -> Vec<Continuation> {
        let meant = self.pending.iter().filter(|(_, waiting)| is_meant(waiting)).map(|(ticket, _)| ticket);
        let meant: Vec<Ticket> = meant.collect();
        meant.into_iter().filter_map(|ticket| self.resume(ticket)).collect()
    }

    /// Removes and returns the next deadline that has passed.
    pub(super) fn next_due(&mut self) -> Option<Due> {
        self.timers.pop(self.now_ms)
    }

    pub(super) fn next_deadline(&self) -> Option<u64> {
        self.timers.next()
    }

    /// No deadline is handled from now on: the hub stops.
    pub(super) fn drop_deadlines(&mut self) {
        self.timers = Timers::default();
    }

    pub(super) fn timers(&self) -> usize {
        self.timers.len()
    }

    /// The time of the event that is being handled, in milliseconds since 1970.
    pub(super) fn unix_ms(&self) -> u64 {
        self.info.started_at_ms + self.now_ms
    }
}

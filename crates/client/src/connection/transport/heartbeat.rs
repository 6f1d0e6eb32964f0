//! When to ping a peer, and when to give it up. Reads no clock; the time is passed in.

use std::time::{Duration, Instant};

/// Detects a peer that is gone without closing the connection.
#[derive(Debug)]
pub(super) struct Heartbeat {
    every: Duration,
    deadline: Duration,
    /// When the next ping is due or, once it is sent, when its answer is due.
    due: Instant,
    waiting: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Beat {
    Ping,
    Wait,
    Dead,
}

impl Heartbeat {
    pub(super) fn new(every: Duration, deadline: Duration) -> Heartbeat {
        Heartbeat { every, deadline, due: Instant::now() + every, waiting: false }
    }

    pub(super) fn heard(&mut self) {
        if self.waiting {
            self.waiting = false;
            self.due = Instant::now() + self.every;
        }
    }

    pub(super) fn beat(&mut self, now: Instant) -> Beat {
        if now < self.due {
            return Beat::Wait;
        }
        if self.waiting {
            return Beat::Dead;
        }
        self.waiting = true;
        self.due = now + self.deadline;
        Beat::Ping
    }

    pub(super) fn next(&self, now: Instant) -> Duration {
        // Rounded up, so that nothing is checked a moment too early.
        self.due.saturating_duration_since(now) + Duration::from_millis(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_peer_is_pinged_and_then_given_up() {
        let (every, deadline) = (Duration::from_secs(30), Duration::from_secs(10));
        let mut heartbeat = Heartbeat::new(every, deadline);
        let start = heartbeat.due;
        assert_eq!(heartbeat.beat(start - Duration::from_secs(1)), Beat::Wait);
        assert_eq!(heartbeat.beat(start), Beat::Ping);
        assert_eq!(heartbeat.beat(start + Duration::from_secs(9)), Beat::Wait);
        assert_eq!(heartbeat.beat(start + deadline), Beat::Dead);
    }

    #[test]
    fn any_word_of_the_peer_is_life() {
        let mut heartbeat = Heartbeat::new(Duration::from_secs(30), Duration::from_secs(10));
        assert_eq!(heartbeat.beat(heartbeat.due), Beat::Ping);
        heartbeat.heard();
        assert_eq!(heartbeat.beat(Instant::now() + Duration::from_secs(20)), Beat::Wait);
    }
}

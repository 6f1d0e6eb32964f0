//! How fast a peer may send. Knows nothing about what it sends.

use std::time::Duration;

use tokio::time::Instant;

/// Slows down a peer that sends faster than it may: no message is refused or lost, and other peers are not affected.
#[derive(Debug)]
pub(crate) struct RateLimit {
    per_second: u32,
    sent: u32,
    since: Instant,
}

impl RateLimit {
    pub(crate) fn new(per_second: u32) -> RateLimit {
        RateLimit { per_second, sent: 0, since: Instant::now() }
    }

    pub(crate) async fn wait(&mut self) {
        if self.per_second == 0 {
            return;
        }
        self.sent += 1;
        if self.sent < self.per_second {
            return;
        }
        let second = Duration::from_secs(1);
        let taken = self.since.elapsed();
        if taken < second {
            tokio::time::sleep(second - taken).await;
        }
        *self = RateLimit::new(self.per_second);
    }
}

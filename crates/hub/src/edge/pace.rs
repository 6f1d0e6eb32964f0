//! How fast a peer may send. Knows nothing of what it sends.

use std::time::Duration;

use tokio::time::Instant;

/// Slows a peer down that sends more than it may: nothing is refused, nothing is lost, and the others go on.
#[derive(Debug)]
pub(crate) struct Pace {
    per_second: u32,
    sent: u32,
    since: Instant,
}

impl Pace {
    pub(crate) fn new(per_second: u32) -> Pace {
        Pace { per_second, sent: 0, since: Instant::now() }
    }

    pub(crate) async fn step(&mut self) {
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
        *self = Pace::new(self.per_second);
    }
}

//! How long to wait before trying again: longer each time, and never quite the same for two who lost the same peer.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Backoff {
    next: Duration,
}

impl Backoff {
    pub(super) fn new() -> Backoff {
        Backoff { next: FIRST }
    }

    /// The next pause: three quarters of its length up to all of it.
    pub(super) fn pause(&mut self) -> Duration {
        let full = self.next;
        self.next = (full * 2).min(LONGEST);
        let jitter = u32::from(getrandom::u32().unwrap_or_default().to_be_bytes()[0]);
        full - full / 4 * jitter / u32::from(u8::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut backoff = Backoff::new();
        for expected in [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000] {
            let (pause, full) = (backoff.pause(), Duration::from_millis(expected));
            assert!(pause <= full && pause >= full * 3 / 4, "{pause:?} of {full:?}");
        }
    }
}

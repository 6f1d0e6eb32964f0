//! How long to wait before trying again: twice as long after each failure up to a limit, and never quite the same for
//! two clients that lost the same peer.

use std::time::Duration;

/// The pauses between attempts to reach one peer.
#[derive(Debug, Clone)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    /// Pauses that start with `first` and double up to `longest`.
    pub fn new(first: Duration, longest: Duration) -> Backoff {
        Backoff { first, longest, next: first }
    }

    /// For the hub, which somebody usually starts again at once.
    pub fn to_hub() -> Backoff {
        Backoff::new(Duration::from_millis(50), Duration::from_secs(2))
    }

    /// For an editor, which may be gone for good.
    pub fn to_editor() -> Backoff {
        Backoff::new(Duration::from_millis(100), Duration::from_secs(10))
    }

    /// Starts from the first pause again, after an attempt that succeeded.
    pub fn reset(&mut self) {
        self.next = self.first;
    }

    /// The next pause, at three quarters of its length up to its full length.
    pub fn pause(&mut self) -> Duration {
        let full = self.next;
        self.next = (full * 2).min(self.longest);
        let jitter = u32::from(getrandom::u32().unwrap_or_default().to_be_bytes()[0]);
        full - full / 4 * jitter / u32::from(u8::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_start_again_after_a_reset() {
        let mut backoff = Backoff::to_editor();
        let mut check = |expected: u64| {
            let (pause, full) = (backoff.pause(), Duration::from_millis(expected));
            assert!(pause <= full && pause >= full * 3 / 4, "{pause:?} of {full:?}");
        };
        [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000].into_iter().for_each(&mut check);
        backoff.reset();
        assert!(backoff.pause() <= Duration::from_millis(100));
    }
}

//! Limits the bytes of messages that are not complete yet, across all connections that share a budget. Knows no
//! sockets and no messages.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of each connection that are not counted: most messages are smaller, and cost nothing here.
pub(crate) const UNCOUNTED_BYTES: usize = 64 * 1024;

/// The budget, in messages of the largest size.
const LARGEST_MESSAGES: usize = 4;

#[derive(Debug)]
pub(crate) struct InflightBudget {
    capacity: usize,
    reserved: AtomicUsize,
}

impl InflightBudget {
    pub(crate) fn new(largest_message: usize) -> Arc<InflightBudget> {
        Arc::new(InflightBudget {
            capacity: largest_message.saturating_mul(LARGEST_MESSAGES),
            reserved: AtomicUsize::new(0),
        })
    }

    /// For a connection that outlives the borrow of the budget.
    pub(crate) fn reserve(self: &Arc<InflightBudget>) -> Reservation<Arc<InflightBudget>> {
        Reservation::new(Arc::clone(self))
    }

    fn take(&self, bytes: usize) -> bool {
        let fits = self.reserved.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= self.capacity;
        if !fits {
            self.give_back(bytes);
        }
        fits
    }

    fn give_back(&self, bytes: usize) {
        self.reserved.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The bytes of a message that one connection has sent so far.
#[derive(Debug)]
pub(crate) struct Reservation<R: Deref<Target = InflightBudget>> {
    budget: R,
    received: usize,
}

impl<R: Deref<Target = InflightBudget>> Reservation<R> {
    pub(crate) fn new(budget: R) -> Reservation<R> {
        Reservation { budget, received: 0 }
    }

    /// False if the budget has no room for this many more bytes.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let received = self.received.saturating_add(bytes);
        let more = counted(received) - counted(self.received);
        let fits = more == 0 || self.budget.take(more);
        if fits {
            self.received = received;
        }
        fits
    }

    pub(crate) fn is_counted(&self) -> bool {
        counted(self.received) > 0
    }

    pub(crate) fn release(&mut self) {
        if self.is_counted() {
            self.budget.give_back(counted(self.received));
        }
        self.received = 0;
    }
}

impl<R: Deref<Target = InflightBudget>> Drop for Reservation<R> {
    fn drop(&mut self) {
        self.release();
    }
}

fn counted(received: usize) -> usize {
    received.saturating_sub(UNCOUNTED_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_connections_share_the_budget_and_a_finished_message_releases_its_part() {
        let budget = InflightBudget::new(1_000_000);
        let mut reservations: Vec<_> = (0..5).map(|_| budget.reserve()).collect();
        let grown = reservations.iter_mut().map(|reservation| reservation.grow(1_000_000));
        let grown: Vec<bool> = grown.collect();
        assert_eq!(grown, [true, true, true, true, false]);
        reservations[0].release();
        assert!(reservations[4].grow(1_000_000) && !reservations[0].grow(1_000_000));
        reservations.remove(1);
        assert!(reservations[0].grow(1_000_000));
        drop(reservations);
        assert_eq!(budget.reserved.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_small_message_always_fits() {
        let budget = InflightBudget::new(UNCOUNTED_BYTES);
        let mut large = budget.reserve();
        while large.grow(UNCOUNTED_BYTES) {}
        let mut small = budget.reserve();
        assert!(small.grow(UNCOUNTED_BYTES) && !small.grow(1));
        assert!(!small.is_counted() && large.is_counted());
    }
}

//! How much may be on its way to the hub at once: what has come of messages that are not finished, over all connections
//! that share a room. Knows no socket and no message.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So much of each connection is not counted: most messages are smaller, and cost nothing here.
pub(crate) const FREE: usize = 64 * 1024;

/// Of the largest messages, so many at once.
const MESSAGES: usize = 4;

#[derive(Debug)]
pub(crate) struct Room {
    most: usize,
    taken: AtomicUsize,
}

impl Room {
    pub(crate) fn new(largest_message: usize) -> Arc<Room> {
        Arc::new(Room { most: largest_message.saturating_mul(MESSAGES), taken: AtomicUsize::new(0) })
    }

    /// For a connection that stays.
    pub(crate) fn share(self: &Arc<Room>) -> Share<Arc<Room>> {
        Share::of(Arc::clone(self))
    }

    fn take(&self, bytes: usize) -> bool {
        let there_is = self.taken.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= self.most;
        if !there_is {
            self.give_back(bytes);
        }
        there_is
    }

    fn give_back(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// What one connection has sent of a message.
#[derive(Debug)]
pub(crate) struct Share<R: Deref<Target = Room>> {
    room: R,
    came: usize,
}

impl<R: Deref<Target = Room>> Share<R> {
    pub(crate) fn of(room: R) -> Share<R> {
        Share { room, came: 0 }
    }

    /// False: there is no room for so much more.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let came = self.came.saturating_add(bytes);
        let more = counted(came) - counted(self.came);
        let there_is = more == 0 || self.room.take(more);
        if there_is {
            self.came = came;
        }
        there_is
    }

    pub(crate) fn is_counted(&self) -> bool {
        counted(self.came) > 0
    }

    pub(crate) fn finished(&mut self) {
        if self.is_counted() {
            self.room.give_back(counted(self.came));
        }
        self.came = 0;
    }
}

impl<R: Deref<Target = Room>> Drop for Share<R> {
    fn drop(&mut self) {
        self.finished();
    }
}

fn counted(came: usize) -> usize {
    came.saturating_sub(FREE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn together_they_get_so_much_and_what_ends_makes_room() {
        let room = Room::new(1_000_000);
        let mut shares: Vec<_> = (0..5).map(|_| room.share()).collect();
        let grown = shares.iter_mut().map(|share| share.grow(1_000_000));
        let grown: Vec<bool> = grown.collect();
        assert_eq!(grown, [true, true, true, true, false]);
        shares[0].finished();
        assert!(shares[4].grow(1_000_000) && !shares[0].grow(1_000_000));
        shares.remove(1);
        assert!(shares[0].grow(1_000_000));
        drop(shares);
        assert_eq!(room.taken.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_is_small_always_finds_room() {
        let room = Room::new(FREE);
        let mut large = room.share();
        while large.grow(FREE) {}
        let mut small = room.share();
        assert!(small.grow(FREE) && !small.grow(1));
        assert!(!small.is_counted() && large.is_counted());
    }
}

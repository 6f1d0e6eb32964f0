//! Cancelling a wait: as a flag, as a condition to wait for, and as a descriptor to poll.

use std::io::{PipeReader, PipeWriter, pipe};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

/// Whether an answer is still wanted.
#[derive(Debug, Default)]
pub struct Cancellation {
    state: Mutex<CancelState>,
    changed: Condvar,
    /// Ends when it is cancelled. `None` if the system had no descriptors left.
    ended: Option<PipeReader>,
    is_never: bool,
}

#[derive(Debug, Default)]
struct CancelState {
    cancelled: bool,
    /// Held open until it is cancelled.
    writer: Option<PipeWriter>,
}

impl Cancellation {
    /// Not cancelled, until [`cancel`](Cancellation::cancel).
    pub fn new() -> Cancellation {
        let (ended, writer) = pipe().ok().unzip();
        let state = Mutex::new(CancelState { cancelled: false, writer });
        Cancellation { state, changed: Condvar::new(), ended, is_never: false }
    }

    /// For a question that is never cancelled.
    pub(super) fn never() -> Cancellation {
        Cancellation { is_never: true, ..Cancellation::default() }
    }

    /// Whether it is more than a placeholder.
    pub(super) fn can_be_cancelled(&self) -> bool {
        !self.is_never
    }

    /// Cancels: the answer is no longer wanted.
    pub fn cancel(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.cancelled = true;
        state.writer = None;
        self.changed.notify_all();
    }

    /// Whether it is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).cancelled
    }

    /// Waits until it is cancelled, but at most this long; returns whether it is.
    pub fn wait_timeout(&self, patience: Duration) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(state, patience, |state| !state.cancelled);
        waited.unwrap_or_else(PoisonError::into_inner).0.cancelled
    }

    /// Waits until this or the other one is cancelled; returns whether this one is.
    pub(super) fn wait_for_either(&self, other: &Cancellation) -> bool {
        const LOOK: Duration = Duration::from_millis(100);
        while !self.is_cancelled() && !other.is_cancelled() {
            let (Some(one), Some(two)) = (self.as_fd(), other.as_fd()) else {
                self.wait_timeout(LOOK);
                continue;
            };
            let mut files =
                [PollFd::from_borrowed_fd(one, PollFlags::IN), PollFd::from_borrowed_fd(two, PollFlags::IN)];
            // An error is an interruption: it is looked again.
            let _ = poll(&mut files, None);
        }
        self.is_cancelled()
    }

    /// Readable, at its end, once it is cancelled. `None`: poll [`is_cancelled`](Cancellation::is_cancelled).
    pub fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.ended.as_ref().map(AsFd::as_fd)
    }
}

//! "Never mind", for someone who waits: as a flag, as something to wait for, and as a descriptor to poll.

use std::io::{PipeReader, PipeWriter, pipe};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Whether an answer is still wanted.
#[derive(Debug, Default)]
pub struct Cancelled {
    state: Mutex<State>,
    changed: Condvar,
    /// Ends when it is cancelled. `None` where the system had no descriptors left.
    ended: Option<PipeReader>,
}

#[derive(Debug, Default)]
struct State {
    cancelled: bool,
    /// Held open until then.
    writer: Option<PipeWriter>,
}

impl Cancelled {
    /// Wanted, until [`cancel`](Cancelled::cancel).
    pub fn new() -> Cancelled {
        let (ended, writer) = pipe().ok().unzip();
        let state = Mutex::new(State { cancelled: false, writer });
        Cancelled { state, changed: Condvar::new(), ended }
    }

    /// For a question that nobody takes back.
    pub(super) fn never() -> Cancelled {
        Cancelled::default()
    }

    /// The answer is not wanted any more.
    pub fn cancel(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.cancelled = true;
        state.writer = None;
        self.changed.notify_all();
    }

    /// Whether the answer is not wanted any more.
    pub fn is_cancelled(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).cancelled
    }

    /// Waits until it is cancelled, but not longer than this; says whether it is.
    pub fn wait_timeout(&self, patience: Duration) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(state, patience, |state| !state.cancelled);
        waited.unwrap_or_else(PoisonError::into_inner).0.cancelled
    }

    /// Readable, at its end, once it is cancelled. `None`: ask [`is_cancelled`](Cancelled::is_cancelled) now and then.
    pub fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.ended.as_ref().map(AsFd::as_fd)
    }
}

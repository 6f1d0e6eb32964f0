//! Waiting for a person: changes are proposed, proposed again when the hub went away meanwhile, and taken back
//! when nobody waits for the answer any more. Blocking, but for telling the client that we still wait.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::{CallError, Change, Decided, PendingChange};

use super::desk::{Caller, Desk, Seated};

/// A hub that is not back after this time is not coming.
const HUB_PATIENCE: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Takes changes back, from another thread than the one that waits.
#[derive(Debug, Default)]
pub(super) struct Withdrawal(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    withdrawn: bool,
    waiting: Vec<Arc<PendingChange>>,
}

impl Withdrawal {
    pub(super) fn now(&self) {
        let waiting = {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            state.withdrawn = true;
            std::mem::take(&mut state.waiting)
        };
        for pending in waiting {
            pending.withdraw();
        }
    }

    fn is_withdrawn(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).withdrawn
    }

    /// From now on these are what would be taken back.
    fn hold(&self, pending: &[Arc<PendingChange>]) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting = pending.to_vec();
        let late = state.withdrawn;
        drop(state);
        if late {
            self.now();
        }
    }
}

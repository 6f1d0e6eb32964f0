//! Waiting for a person: changes are proposed, proposed again when the hub went away meanwhile, and taken back
//! when nobody waits for the answer any more. Blocking; knows nothing of MCP.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::connection::{CallError, Change, Decided, PendingChange};

use super::desk::{Caller, Desk, Seated};

/// A hub that is not back after this time is not coming.
const HUB_PATIENCE: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Takes changes back, from another thread than the one that waits.
#[derive(Debug, Default)]
pub(super) struct Withdrawal(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    withdrawn: bool,
    pending: Vec<PendingChange>,
}

impl Withdrawal {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) {
        let pending = {
            let mut held = self.held();
            held.withdrawn = true;
            std::mem::take(&mut held.pending)
        };
        pending.iter().for_each(PendingChange::withdraw);
    }

    fn is_withdrawn(&self) -> bool {
        self.held().withdrawn
    }

    /// From now on this one would be taken back too; at once, if that was said before.
    fn hold(&self, change: &PendingChange) {
        let late = {
            let mut held = self.held();
            held.pending.push(change.clone());
            held.withdrawn
        };
        if late {
            self.now();
        }
    }
}

/// What the person says to each of the changes, in their order.
pub(super) fn decisions(
    desk: &Arc<Desk>,
    caller: &Caller,
    changes: &[Change],
    withdrawal: &Withdrawal,
) -> Vec<Result<Decided, String>> {
    let _stay = desk.stay();
    let mut settled: Vec<Option<Result<Decided, String>>> = changes.iter().map(|_| None).collect();
    let mut lost: Option<Loss> = None;
    while settled.iter().any(Option::is_none) {
        let seated = if withdrawal.is_withdrawn() {
            Err(CallError::Withdrawn.to_string())
        } else {
            desk.sit_down(caller)
        };
        let seated = match seated {
            Ok(seated) => seated,
            Err(error) => {
                if lost.as_mut().is_some_and(|loss| !withdrawal.is_withdrawn() && loss.pause()) {
                    continue;
                }
                return all(settled, &error);
            }
        };
        if round(&seated, desk, changes, &mut settled, withdrawal) {
            lost = None;
        } else {
            desk.lost(&seated);
            if !lost.get_or_insert_with(Loss::now).pause() {
                return all(settled, GONE);
            }
        }
    }
    all(settled, GONE)
}

const GONE: &str = "the hub went away and does not come back: look at `linkspan doctor`. Nothing was decided as far \
     as is known; propose the same change again, and a decision made meanwhile is the answer";

/// Asks about everything that has no answer yet; `false` when the connection ended before all had one.
fn round(
    seated: &Seated,
    desk: &Desk,
    changes: &[Change],
    settled: &mut [Option<Result<Decided, String>>],
    withdrawal: &Withdrawal,
) -> bool {
    // Where only one is shown at a time, the next would close the one before.
    let one_at_a_time = !seated.connection.is_hub();
    let _turn = one_at_a_time.then(|| desk.turn());
    let mut asked = Vec::new();
    for (change, answer) in changes.iter().zip(settled).filter(|(_, answer)| answer.is_none()) {
        let pending = match seated.connection.propose(change) {
            Ok(pending) => pending,
            Err(CallError::Closed) => return false,
            Err(error) => {
                *answer = Some(Err(error.to_string()));
                continue;
            }
        };
        withdrawal.hold(&pending);
        if one_at_a_time {
            if !take(&pending, answer) {
                return false;
            }
        } else {
            asked.push((pending, answer));
        }
    }
    // All are waited for, so that no answer that came is asked for again.
    asked.into_iter().fold(true, |all, (pending, answer)| take(&pending, answer) && all)
}

/// `false`: the connection ended first.
fn take(pending: &PendingChange, answer: &mut Option<Result<Decided, String>>) -> bool {
    match pending.wait() {
        Err(CallError::Closed) => return false,
        decided => *answer = Some(decided.map_err(|error| error.to_string())),
    }
    true
}

fn all(settled: Vec<Option<Result<Decided, String>>>, error: &str) -> Vec<Result<Decided, String>> {
    settled.into_iter().map(|answer| answer.unwrap_or_else(|| Err(error.to_owned()))).collect()
}

/// The time since the connection was lost, and how long to wait before the next attempt.
#[derive(Debug)]
struct Loss {
    since: Instant,
    pause: Duration,
}

impl Loss {
    fn now() -> Loss {
        Loss { since: Instant::now(), pause: FIRST_PAUSE }
    }

    /// Waits a while before the next attempt; `false` when there should be none.
    fn pause(&mut self) -> bool {
        if self.since.elapsed() > HUB_PATIENCE {
            return false;
        }
        thread::sleep(self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        true
    }
}

//! Pending calls. Each is resumed exactly once: by its answer, its deadline, its withdrawal or the end of the
//! connection, whichever is first. Does not know sockets.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use linkspan_editor_api::RpcError;
use serde_json::value::RawValue;

/// How a call ended.
#[derive(Debug, Clone)]
pub(super) enum CallEnd {
    Answered(Result<Arc<RawValue>, RpcError>),
    TimedOut,
    Withdrawn,
    Closed,
}

/// All calls of one connection.
#[derive(Debug, Default)]
pub(super) struct Calls {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    closed: bool,
    last_id: i64,
    waiting: BTreeMap<i64, Arc<Slot>>,
}

#[derive(Debug, Default)]
struct Slot {
    ended: Mutex<Option<CallEnd>>,
    changed: Condvar,
}

impl Slot {
    fn end(&self, how: CallEnd) {
        let mut ended = locked(&self.ended);
        if ended.is_none() {
            *ended = Some(how);
            self.changed.notify_all();
        }
    }
}

/// One pending call. Dropping it does not withdraw it; its answer is then ignored.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) id: i64,
    slot: Arc<Slot>,
    calls: Arc<Calls>,
}

impl Calls {
    /// For a connection on which ids up to this one were used before.
    pub(super) fn after(last_id: i64) -> Calls {
        Calls { table: Mutex::new(Table { last_id, ..Table::default() }) }
    }

    /// A new call. After the end of the connection it has already ended.
    pub(super) fn ask(self: &Arc<Calls>) -> Waiting {
        let mut table = locked(&self.table);
        table.last_id += 1;
        let (id, slot) = (table.last_id, Arc::new(Slot::default()));
        if table.closed {
            slot.end(CallEnd::Closed);
        } else {
            table.waiting.insert(id, Arc::clone(&slot));
        }
        Waiting { id, slot, calls: Arc::clone(self) }
    }

    /// An answer to an unknown or finished call is ignored.
    pub(super) fn answered(&self, id: i64, answer: Result<Arc<RawValue>, RpcError>) {
        self.end(id, CallEnd::Answered(answer));
    }

    /// Ends all pending calls, and every later one, because the connection is closed.
    pub(super) fn close(&self) {
        let waiting = {
            let mut table = locked(&self.table);
            table.closed = true;
            std::mem::take(&mut table.waiting)
        };
        for slot in waiting.into_values() {
            slot.end(CallEnd::Closed);
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        locked(&self.table).closed
    }

    fn end(&self, id: i64, how: CallEnd) {
        let slot = locked(&self.table).waiting.remove(&id);
        if let Some(slot) = slot {
            slot.end(how);
        }
    }
}

impl Waiting {
    /// Waits for the end, without limit.
    pub(super) fn wait(&self) -> CallEnd {
        let mut ended = locked(&self.slot.ended);
        loop {
            if let Some(how) = &*ended {
                return how.clone();
            }
            ended = self.slot.changed.wait(ended).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for the end, but at most this long; none: it has not ended.
    pub(super) fn wait_at_most(&self, patience: Duration) -> Option<CallEnd> {
        let until = Instant::now().checked_add(patience);
        let Some(until) = until else { return Some(self.wait()) };
        let mut ended = locked(&self.slot.ended);
        loop {
            if let Some(how) = &*ended {
                return Some(how.clone());
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            ended = self.slot.changed.wait_timeout(ended, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits for the end; if it does not come in time, the call ends with a timeout.
    pub(super) fn wait_until_deadline(&self, deadline: Duration) -> CallEnd {
        self.wait_at_most(deadline).unwrap_or_else(|| {
            self.calls.end(self.id, CallEnd::TimedOut);
            self.wait()
        })
    }

    /// Withdraws the call; `false` if it had already ended.
    pub(super) fn withdraw(&self) -> bool {
        self.calls.end(self.id, CallEnd::Withdrawn);
        matches!(self.wait_at_most(Duration::ZERO), Some(CallEnd::Withdrawn) | None)
    }
}

/// A thread that panicked while it held the lock left valid values: none is changed in several steps.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const SOON: Duration = Duration::from_millis(20);

    fn raw(text: &str) -> Arc<RawValue> {
        RawValue::from_string(text.into()).unwrap().into()
    }

    fn answer_of(ended: &CallEnd) -> &str {
        match ended {
            CallEnd::Answered(Ok(raw)) => raw.get(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_first_end_is_the_end() {
        let calls = Arc::new(Calls::default());
        let answered = calls.ask();
        calls.answered(answered.id, Ok(raw("1")));
        calls.answered(answered.id, Ok(raw("2")));
        assert!(!answered.withdraw());
        calls.close();
        assert_eq!(answer_of(&answered.wait()), "1");

        let late = Arc::new(Calls::default()).ask();
        assert!(matches!(late.wait_until_deadline(SOON), CallEnd::TimedOut));
        late.calls.answered(late.id, Ok(raw("3")));
        assert!(matches!(late.wait(), CallEnd::TimedOut));

        let taken_back = Arc::new(Calls::default()).ask();
        assert!(taken_back.withdraw());
        taken_back.calls.answered(taken_back.id, Ok(raw("4")));
        assert!(matches!(taken_back.wait(), CallEnd::Withdrawn));
    }

    #[test]
    fn patience_running_out_ends_nothing() {
        let calls = Arc::new(Calls::default());
        let waiting = calls.ask();
        assert!(waiting.wait_at_most(SOON).is_none());
        calls.answered(waiting.id, Ok(raw("1")));
        assert_eq!(answer_of(&waiting.wait_at_most(SOON).unwrap()), "1");
    }

    #[test]
    fn everyone_hears_of_the_end_of_the_connection() {
        let calls = Arc::new(Calls::default());
        let waiting: Vec<Waiting> = (0..20).map(|_| calls.ask()).collect();
        let waiters: Vec<_> =
            waiting.iter().cloned().map(|waiting| thread::spawn(move || waiting.wait())).collect();
        calls.close();
        for waiter in waiters {
            assert!(matches!(waiter.join().unwrap(), CallEnd::Closed));
        }
        assert!(matches!(calls.ask().wait(), CallEnd::Closed));
        assert!(calls.is_closed());
    }
}

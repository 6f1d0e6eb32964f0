//! Questions that wait for their answers. Each is resumed exactly once: by its answer, its deadline, its
//! withdrawal or the end of the connection, whichever is first. Knows no sockets.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use linkspan_editor_api::RpcError;
use serde_json::value::RawValue;

/// How a question ended.
#[derive(Debug, Clone)]
pub(super) enum Ended {
    Answered(Result<Arc<RawValue>, RpcError>),
    TimedOut,
    Withdrawn,
    Closed,
}

/// All questions of one connection.
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
    ended: Mutex<Option<Ended>>,
    changed: Condvar,
}

impl Slot {
    fn end(&self, how: Ended) {
        let mut ended = locked(&self.ended);
        if ended.is_none() {
            *ended = Some(how);
            self.changed.notify_all();
        }
    }
}

/// One question. Forgetting it does not take it back; its answer is then heard by nobody.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) id: i64,
    slot: Arc<Slot>,
    calls: Arc<Calls>,
}

impl Calls {
    /// Of a connection where ids up to this one were used before.
    pub(super) fn after(last_id: i64) -> Calls {
        Calls { table: Mutex::new(Table { last_id, ..Table::default() }) }
    }

    /// A new question. After the end of the connection it has ended already.
    pub(super) fn ask(self: &Arc<Calls>) -> Waiting {
        let mut table = locked(&self.table);
        table.last_id += 1;
        let (id, slot) = (table.last_id, Arc::new(Slot::default()));
        if table.closed {
            slot.end(Ended::Closed);
        } else {
            table.waiting.insert(id, Arc::clone(&slot));
        }
        Waiting { id, slot, calls: Arc::clone(self) }
    }

    /// An answer to nobody, or to one that has its answer, is none.
    pub(super) fn answered(&self, id: i64, answer: Result<Arc<RawValue>, RpcError>) {
        self.end(id, Ended::Answered(answer));
    }

    /// Everyone who waits hears that the connection is over, and so does everyone who asks later.
    pub(super) fn close(&self) {
        let waiting = {
            let mut table = locked(&self.table);
            table.closed = true;
            std::mem::take(&mut table.waiting)
        };
        for slot in waiting.into_values() {
            slot.end(Ended::Closed);
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        locked(&self.table).closed
    }

    fn end(&self, id: i64, how: Ended) {
        let slot = locked(&self.table).waiting.remove(&id);
        if let Some(slot) = slot {
            slot.end(how);
        }
    }
}

impl Waiting {
    /// Waits for the end, for ever.
    pub(super) fn wait(&self) -> Ended {
        let mut ended = locked(&self.slot.ended);
        loop {
            if let Some(how) = &*ended {
                return how.clone();
            }
            ended = self.slot.changed.wait(ended).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for the end, but not longer than this; none: it has not ended.
    pub(super) fn wait_at_most(&self, patience: Duration) -> Option<Ended> {
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

    /// Waits for the end; when it does not come in time, that is the end.
    pub(super) fn wait_until_deadline(&self, deadline: Duration) -> Ended {
        self.wait_at_most(deadline).unwrap_or_else(|| {
            self.calls.end(self.id, Ended::TimedOut);
            self.wait()
        })
    }

    /// Takes the question back; `false` when it had ended before.
    pub(super) fn withdraw(&self) -> bool {
        self.calls.end(self.id, Ended::Withdrawn);
        matches!(self.wait_at_most(Duration::ZERO), Some(Ended::Withdrawn) | None)
    }
}

/// A thread that panicked while it held the lock left whole values behind: none is changed in steps.
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

    fn answer_of(ended: &Ended) -> &str {
        match ended {
            Ended::Answered(Ok(raw)) => raw.get(),
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
        assert!(matches!(late.wait_until_deadline(SOON), Ended::TimedOut));
        late.calls.answered(late.id, Ok(raw("3")));
        assert!(matches!(late.wait(), Ended::TimedOut));

        let taken_back = Arc::new(Calls::default()).ask();
        assert!(taken_back.withdraw());
        taken_back.calls.answered(taken_back.id, Ok(raw("4")));
        assert!(matches!(taken_back.wait(), Ended::Withdrawn));
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
            assert!(matches!(waiter.join().unwrap(), Ended::Closed));
        }
        assert!(matches!(calls.ask().wait(), Ended::Closed));
        assert!(calls.is_closed());
    }
}

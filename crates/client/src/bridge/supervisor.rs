//! The thread that passes an editor's events on and goes back to it after a loss.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::backoff::Backoff;
use super::{Inner, State, is_same_editor, locked};
use crate::connection::EditorEvent;

/// For so long after a loss only the same editor will do: what was asked there is shown there again.
const FAITHFUL: Duration = Duration::from_secs(5);

pub(super) fn start(inner: Arc<Inner>, choice: u64, events: Receiver<EditorEvent>) {
    let supervisor = Supervisor { inner, choice };
    // Without a thread there are no events and no reconnecting, but calls still work.
    let _ = thread::Builder::new().name("linkspan-bridge".into()).spawn(move || supervisor.run(events));
}

struct Supervisor {
    inner: Arc<Inner>,
    choice: u64,
}

impl Supervisor {
    fn run(&self, mut events: Receiver<EditorEvent>) {
        loop {
            for event in events {
                self.inner.events.tell(&event);
            }
            {
                let mut state = self.inner.locked();
                if !self.is_mine(&state) {
                    return;
                }
                state.connection = None;
                self.inner.changed.notify_all();
            }
            let Some(again) = self.reconnect() else { return };
            events = again;
        }
    }

    fn is_mine(&self, state: &State) -> bool {
        state.wanted && state.choice == self.choice
    }

    /// Tries until it works; none when nobody wants it any more.
    fn reconnect(&self) -> Option<Receiver<EditorEvent>> {
        let lost_at = Instant::now();
        let mut backoff = Backoff::new();
        loop {
            self.pause(backoff.pause())?;
            let _one = locked(&self.inner.connecting);
            let last = {
                let state = self.inner.locked();
                if !self.is_mine(&state) {
                    return None;
                }
                state.last.clone()
            };
            let faithful = lost_at.elapsed() < FAITHFUL;
            let will_do = |now: &_| !faithful || last.as_ref().is_none_or(|last| is_same_editor(now, last));
            let Ok(Some(connection)) = self.inner.find(&self.inner.last_cwd(), will_do) else { continue };

            let events = connection.events();
            let mut state = self.inner.locked();
            if !self.is_mine(&state) {
                drop(state);
                connection.close();
                return None;
            }
            state.last = Some(connection.candidate().clone());
            state.connection = Some(connection.clone());
            self.inner.changed.notify_all();
            drop(state);
            self.inner.take_back(&connection);
            return Some(events);
        }
    }

    /// Waits; none when nobody wants an editor any more.
    fn pause(&self, pause: Duration) -> Option<()> {
        let until = Instant::now() + pause;
        let mut state = self.inner.locked();
        loop {
            if !self.is_mine(&state) {
                return None;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Some(());
            }
            state = self.inner.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

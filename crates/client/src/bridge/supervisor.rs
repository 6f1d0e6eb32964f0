//! The thread that passes an editor's events on and reconnects to it after a loss.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::review_request::SOUND_LIFE;
use super::{BridgeShared, BridgeState, locked};
use crate::backoff::Backoff;
use crate::connection::EditorEvent;
use crate::discover::Wire;

/// For this long after a loss only the same editor is used, even if no change is pending and the caller did not name
/// it.
const FAITHFUL: Duration = Duration::from_secs(5);
/// After this many losses, each soon after connecting, a foreign editor is left alone: some serve one agent at a time,
/// and two agents that both reconnect would disconnect each other forever.
const MOST_QUICK_LOSSES: u32 = 4;

pub(super) fn start(inner: Arc<BridgeShared>, choice: u64, events: Receiver<EditorEvent>) {
    let supervisor = Supervisor { inner, choice };
    // Without a thread there are no events and no reconnecting, but calls still work.
    let _ = thread::Builder::new().name("linkspan-bridge".into()).spawn(move || supervisor.run(events));
}

struct Supervisor {
    inner: Arc<BridgeShared>,
    choice: u64,
}

impl Supervisor {
    fn run(&self, mut events: Receiver<EditorEvent>) {
        let (mut backoff, mut quick_losses) = (Backoff::to_editor(), 0);
        loop {
            let connected_at = Instant::now();
            for event in events {
                self.inner.events.notify(&event);
            }
            let is_hub = {
                let mut state = self.inner.locked();
                if !self.is_mine(&state) {
                    return;
                }
                state.connection = None;
                self.inner.changed.notify_all();
                state.last.as_ref().is_some_and(|last| matches!(last.wire, Wire::Hub { .. }))
            };
            quick_losses += 1;
            if connected_at.elapsed() > SOUND_LIFE {
                (backoff, quick_losses) = (Backoff::to_editor(), 0);
            } else if !is_hub && quick_losses >= MOST_QUICK_LOSSES {
                if self.until_asked().is_none() {
                    return;
                }
                (backoff, quick_losses) = (Backoff::to_editor(), 0);
            }
            let Some(again) = self.reconnect(&mut backoff) else { return };
            events = again;
        }
    }

    fn is_mine(&self, state: &BridgeState) -> bool {
        state.wanted && state.choice == self.choice
    }

    /// Tries until it succeeds; none once the connection is no longer wanted.
    fn reconnect(&self, backoff: &mut Backoff) -> Option<Receiver<EditorEvent>> {
        let lost_at = Instant::now();
        loop {
            self.pause(backoff.pause())?;
            let _one = locked(&self.inner.connecting);
            let (last, is_bound) = {
                let state = self.inner.locked();
                if !self.is_mine(&state) {
                    return None;
                }
                (state.last.clone(), state.bound().is_some() || lost_at.elapsed() < FAITHFUL)
            };
            let back = last.as_ref().and_then(|last| self.inner.back_to(last).ok()?);
            let found = match back {
                None if !is_bound => self.inner.find(&self.inner.last_cwd(), |_| true).ok().flatten(),
                back => back,
            };
            let Some(connection) = found else { continue };

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

    /// Waits until a change is proposed; none once the connection is no longer wanted.
    fn until_asked(&self) -> Option<()> {
        let mut state = self.inner.locked();
        while self.is_mine(&state) {
            if state.asked > 0 {
                return Some(());
            }
            state = self.inner.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// Waits; none once the connection is no longer wanted.
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

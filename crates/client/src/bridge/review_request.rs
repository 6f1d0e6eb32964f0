//! One review of a change, across the loss of a hub, and one at a time for editors that can show only one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use linkspan_editor_api::Decision;

use super::{BridgeError, BridgeShared, is_same_editor, locked};
use crate::connection::{CallError, Change, ChangeOutcome, Connection, PendingChange};

/// How long to wait for an editor that is being reconnected before a change is proposed.
const CONNECT_PATIENCE: Duration = Duration::from_secs(1);
/// How long a hub that is lost while a change is pending has to come back.
const RETURN_PATIENCE: Duration = Duration::from_secs(60);
/// A connection that lived at least this long counts as a success, not as one more failure.
pub(super) const SOUND_LIFE: Duration = Duration::from_secs(5);

/// A change to be decided. [`wait`](ReviewRequest::wait) shows it; another thread may
/// [`withdraw`](ReviewRequest::withdraw) it.
#[derive(Debug)]
pub struct ReviewRequest {
    inner: Arc<BridgeShared>,
    change: Change,
    shown: Mutex<ShownChange>,
}

/// A change of the connection while a change is pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contact {
    /// It is lost and being restored. The change may still be on the screen.
    Lost,
    /// It is restored, and the change is proposed again.
    Back,
}

#[derive(Debug, Default)]
struct ShownChange {
    withdrawn: bool,
    pending: Option<PendingChange>,
}

impl ReviewRequest {
    pub(super) fn new(inner: Arc<BridgeShared>, change: Change) -> ReviewRequest {
        ReviewRequest { inner, change, shown: Mutex::default() }
    }

    /// Shows the change and waits for the decision, without limit.
    pub fn wait(&self) -> Result<ChangeOutcome, BridgeError> {
        self.wait_notified(&|_| {})
    }

    /// The same as [`ReviewRequest::wait`], and notifies the caller when the hub is lost and when it is back.
    pub fn wait_notified(&self, tell: &dyn Fn(Contact)) -> Result<ChangeOutcome, BridgeError> {
        let _asked = OpenRequestCount::new(&self.inner);
        let mut connection = self.connection(None, Instant::now() + CONNECT_PATIENCE)?;
        let mut lost_at = None;
        loop {
            let asked_at = Instant::now();
            let _turn = if connection.is_hub() { None } else { Some(self.turn()?) };
            if connection.is_closed() && lost_at.is_none() {
                // Lost before the change was proposed, perhaps while another change was shown.
                connection = self.connection(Some(&connection), Instant::now() + CONNECT_PATIENCE)?;
                continue;
            }
            match self.ask(&connection) {
                Err(CallError::Closed) if connection.is_hub() => tell(Contact::Lost),
                Err(CallError::Closed) => return Err(BridgeError::Lost),
                decided => return Ok(decided?),
            }
            if asked_at.elapsed() > SOUND_LIFE {
                lost_at = None;
            }
            let until = *lost_at.get_or_insert_with(Instant::now) + RETURN_PATIENCE;
            let again = self.connection(Some(&connection), until).map_err(|error| {
                self.inner.leave_behind(&self.change, &connection);
                match error {
                    BridgeError::NotConnected => BridgeError::Lost,
                    other => other,
                }
            })?;
            // Another editor does not know the change, and it may have been decided in this one.
            if !is_same_editor(again.candidate(), connection.candidate()) {
                return Err(BridgeError::Lost);
            }
            connection = again;
            tell(Contact::Back);
        }
    }

    /// Removes the change from the screen, if it is not decided. [`ReviewRequest::wait`] then returns
    /// [`CallError::Withdrawn`].
    pub fn withdraw(&self) {
        let pending = {
            let mut shown = locked(&self.shown);
            shown.withdrawn = true;
            shown.pending.take()
        };
        if let Some(pending) = pending {
            pending.withdraw();
        }
        // Take the lock, so that no thread is between checking and waiting.
        let _state = self.inner.locked();
        self.inner.changed.notify_all();
    }

    /// Hands our hub a decision that the user made elsewhere: see [`PendingChange::decide`].
    pub fn decide(&self, base: Option<&str>, decision: &Decision) -> bool {
        let pending = locked(&self.shown).pending.clone();
        pending.is_some_and(|pending| pending.decide(base, decision))
    }

    fn ask(&self, connection: &Connection) -> Result<ChangeOutcome, CallError> {
        let pending = {
            let mut shown = locked(&self.shown);
            if shown.withdrawn {
                return Err(CallError::Withdrawn);
            }
            let pending = connection.propose(&self.change)?;
            shown.pending = Some(pending.clone());
            pending
        };
        let decided = pending.wait();
        locked(&self.shown).pending = None;
        decided
    }

    fn is_withdrawn(&self) -> bool {
        locked(&self.shown).withdrawn
    }

    /// A connection other than the lost one.
    fn connection(&self, lost: Option<&Connection>, until: Instant) -> Result<Connection, BridgeError> {
        let mut state = self.inner.locked();
        loop {
            if self.is_withdrawn() {
                return Err(CallError::Withdrawn.into());
            }
            if let Some(connection) = &state.connection
                && lost.is_none_or(|lost| !lost.is_same(connection))
            {
                return Ok(connection.clone());
            }
            let left = until.saturating_duration_since(Instant::now());
            if !state.wanted || left.is_zero() {
                return Err(BridgeError::NotConnected);
            }
            state = self.inner.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The right to be the one change that is shown.
    fn turn(&self) -> Result<ShowingTurn<'_>, BridgeError> {
        let mut state = self.inner.locked();
        loop {
            if self.is_withdrawn() {
                return Err(CallError::Withdrawn.into());
            }
            if !state.showing {
                state.showing = true;
                return Ok(ShowingTurn { inner: &self.inner });
            }
            state = self.inner.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// While it exists, the bridge stays with its editor.
struct OpenRequestCount<'a> {
    inner: &'a BridgeShared,
}

impl OpenRequestCount<'_> {
    fn new(inner: &BridgeShared) -> OpenRequestCount<'_> {
        inner.locked().asked += 1;
        inner.changed.notify_all();
        OpenRequestCount { inner }
    }
}

impl Drop for OpenRequestCount<'_> {
    fn drop(&mut self) {
        self.inner.locked().asked -= 1;
    }
}

struct ShowingTurn<'a> {
    inner: &'a BridgeShared,
}

impl Drop for ShowingTurn<'_> {
    fn drop(&mut self) {
        self.inner.locked().showing = false;
        self.inner.changed.notify_all();
    }
}

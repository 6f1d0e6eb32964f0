//! One change on its way to a person and back, over the loss of a hub, and one at a time where the editor can show
//! only one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{BridgeError, Inner, is_same_editor, locked};
use crate::connection::{CallError, Change, Connection, Decided, PendingChange};

/// A question is not put to an editor that is only just being reconnected for longer than this.
const CONNECT_PATIENCE: Duration = Duration::from_secs(1);
/// A hub that is lost while a person thinks has so long to come back.
const RETURN_PATIENCE: Duration = Duration::from_secs(60);
/// A connection that lived so long was a return, and not one more failure.
pub(super) const SOUND_LIFE: Duration = Duration::from_secs(5);

/// A change to be decided. [`wait`](Asking::wait) shows it; another thread may [`withdraw`](Asking::withdraw) it.
#[derive(Debug)]
pub struct Asking {
    inner: Arc<Inner>,
    change: Change,
    shown: Mutex<Shown>,
}

/// What happened to the connection while a person thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contact {
    /// It is lost, and looked for. The change may still be on the screen.
    Lost,
    /// It is back, and the change is asked for again.
    Back,
}

#[derive(Debug, Default)]
struct Shown {
    withdrawn: bool,
    pending: Option<PendingChange>,
}

impl Asking {
    pub(super) fn new(inner: Arc<Inner>, change: Change) -> Asking {
        Asking { inner, change, shown: Mutex::default() }
    }

    /// Shows the change and waits for the person, without limit.
    pub fn wait(&self) -> Result<Decided, BridgeError> {
        self.wait_told(&|_| {})
    }

    /// The same, and tells when the hub is lost and when it is back.
    pub fn wait_told(&self, tell: &dyn Fn(Contact)) -> Result<Decided, BridgeError> {
        let _asked = Asked::new(&self.inner);
        let mut connection = self.connection(None, Instant::now() + CONNECT_PATIENCE)?;
        let mut lost_at = None;
        loop {
            let asked_at = Instant::now();
            let _turn = if connection.is_hub() { None } else { Some(self.turn()?) };
            if connection.is_closed() && lost_at.is_none() {
                // Lost before it was asked, perhaps while another change was shown.
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
            // Another editor knows nothing of the change, and a decision may have been made in this one.
            if !is_same_editor(again.candidate(), connection.candidate()) {
                return Err(BridgeError::Lost);
            }
            connection = again;
            tell(Contact::Back);
        }
    }

    /// Takes the change off the person's screen, if she has not decided. Who waits hears
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
        // The lock, so that nobody is between looking and waiting.
        let _state = self.inner.locked();
        self.inner.changed.notify_all();
    }

    fn ask(&self, connection: &Connection) -> Result<Decided, CallError> {
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
    fn turn(&self) -> Result<Turn<'_>, BridgeError> {
        let mut state = self.inner.locked();
        loop {
            if self.is_withdrawn() {
                return Err(CallError::Withdrawn.into());
            }
            if !state.showing {
                state.showing = true;
                return Ok(Turn { inner: &self.inner });
            }
            state = self.inner.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// While it lives, the bridge goes to no other editor.
struct Asked<'a> {
    inner: &'a Inner,
}

impl Asked<'_> {
    fn new(inner: &Inner) -> Asked<'_> {
        inner.locked().asked += 1;
        inner.changed.notify_all();
        Asked { inner }
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.inner.locked().asked -= 1;
    }
}

struct Turn<'a> {
    inner: &'a Inner,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.inner.locked().showing = false;
        self.inner.changed.notify_all();
    }
}

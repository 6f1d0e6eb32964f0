//! A connection of an agent to an editor that survives losses: finds the editor, reconnects to it, and repeats a
//! pending question to the hub. Owns which editor the agent belongs to; must not know any wire format.
//!
//! One thread per bridge passes events on and reconnects; it ends with [`Bridge::disconnect`].

mod config;
mod context;
mod review_request;
mod supervisor;

use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::connection::{
    AgentInfo, CallError, Change, ChangeOutcome, Connection, EditorEvent, OpenError, Subscribers,
};
use crate::discover::{Candidate, Surroundings, Wire, discover};

pub use config::BridgeConfig;
pub use review_request::{Contact, ReviewRequest};

/// Each holds a whole text. The hub withdraws a dropped one itself once its agent has been away too long.
const LEFT_BEHIND: usize = 32;

/// Why an editor was not reached, or gave no decision.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// There is none.
    #[error(
        "no editor is connected: open this folder in an editor, or run `linkspan doctor` to see what is missing"
    )]
    NotConnected,
    /// The editor was found, but rejects us.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The connection was lost with the question: whether it was decided there is not known.
    #[error(
        "the connection to the editor was lost while the change was shown there: it is not known what was \
         decided, so decide here"
    )]
    Lost,
    /// The editor answered, but not with a decision.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// A connection to an editor that survives losses.
#[derive(Debug)]
pub struct Bridge {
    inner: Arc<BridgeShared>,
}

#[derive(Debug)]
struct BridgeShared {
    config: BridgeConfig,
    agent: AgentInfo,
    surroundings: Surroundings,
    state: Mutex<BridgeState>,
    /// Anything in the state changed.
    changed: Condvar,
    /// Held while connecting, so that two threads do not connect at once.
    connecting: Mutex<()>,
    events: Subscribers,
}

#[derive(Debug, Default)]
struct BridgeState {
    connection: Option<Connection>,
    /// The last editor, to reconnect to.
    last: Option<Candidate>,
    cwd: Option<PathBuf>,
    /// The caller wants to be connected: set by connecting, cleared by disconnecting.
    wanted: bool,
    /// Increases with each editor that is chosen; the supervisor of an older one stops.
    choice: u64,
    /// The caller named the editor: no other one is used.
    named: bool,
    /// Number of pending changes. They are at the last editor, so no other one is used.
    asked: usize,
    /// A foreign editor is showing a change.
    showing: bool,
    /// Changes that a lost hub may still show although they are no longer pending, each with its editor.
    left_behind: Vec<(Candidate, Change)>,
}

impl BridgeState {
    /// The editor to reconnect to, if no other one may be used.
    fn bound(&self) -> Option<&Candidate> {
        self.last.as_ref().filter(|_| self.named || self.asked > 0)
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.disconnect();
    }
}

impl Bridge {
    /// A bridge that is not connected yet.
    pub fn new(config: BridgeConfig, agent: AgentInfo, surroundings: Surroundings) -> Bridge {
        Bridge {
            inner: Arc::new(BridgeShared {
                config,
                agent,
                surroundings,
                state: Mutex::default(),
                changed: Condvar::new(),
                connecting: Mutex::default(),
                events: Subscribers::default(),
            }),
        }
    }

    /// Which parts of an editor are used.
    pub fn config(&self) -> &BridgeConfig {
        &self.inner.config
    }

    /// Connects to the best editor for a working directory; `None` if there is none, or if the configuration disables
    /// it. Between editors that fit equally well, our hub's windows come first, then the lowest port. To ask the user
    /// instead, use [`discover`] and [connect](Bridge::connect) to one. While a change is pending, the editor that
    /// shows it is used, whatever the working directory.
    pub fn auto_connect(&self, cwd: &Path) -> Result<Option<Connection>, BridgeError> {
        if !self.inner.config.enabled || !self.inner.config.auto_connect {
            return Ok(None);
        }
        self.connect_by(cwd, |state| state.last.as_ref().filter(|_| state.asked > 0))
    }

    /// Connects to this editor, and leaves the previous one. After a loss it reconnects to this one only.
    pub fn connect(&self, candidate: &Candidate) -> Result<Connection, BridgeError> {
        let _one = locked(&self.inner.connecting);
        let connection = self.inner.open(candidate)?;
        self.adopt(connection.clone(), None, true);
        Ok(connection)
    }

    /// Disconnects, and does not reconnect by itself.
    pub fn disconnect(&self) {
        let connection = {
            let mut state = self.inner.locked();
            state.wanted = false;
            state.choice += 1;
            state.last = None;
            state.left_behind.clear();
            state.named = false;
            self.inner.changed.notify_all();
            state.connection.take()
        };
        if let Some(connection) = connection {
            connection.close();
        }
    }

    /// Connects again if the editor does not answer: to the one that was named or shows a change, else to the best one
    /// for the working directory, or the last working directory if none is given. `true` if an editor is connected now.
    pub fn reconnect_if_dead(&self, cwd: Option<&Path>) -> bool {
        if self.is_connected() {
            return true;
        }
        let cwd = cwd.map_or_else(|| self.inner.last_cwd(), Path::to_owned);
        self.inner.config.enabled && matches!(self.connect_by(&cwd, BridgeState::bound), Ok(Some(_)))
    }

    /// The current connection; a lost one is replaced automatically.
    pub fn connection(&self) -> Option<Connection> {
        self.inner.locked().connection.clone()
    }

    /// Whether an editor answers right now.
    pub fn is_connected(&self) -> bool {
        self.connection().is_some_and(|connection| connection.is_connected())
    }

    /// Events of the editor, across losses and new connections: after [`EditorEvent::Closed`] more may follow.
    pub fn events(&self) -> Receiver<EditorEvent> {
        self.inner.events.subscribe()
    }

    /// Shows a change and waits for the decision. If our hub is lost in the meantime, the same change is proposed
    /// again, and a decision that was made in between is received. Foreign editors show one change at a time, and their
    /// loss is [`BridgeError::Lost`].
    pub fn review(&self, change: &Change) -> Result<ChangeOutcome, BridgeError> {
        self.asking(change).wait()
    }

    /// The same as [`Bridge::review`] for a caller that may have to withdraw the change. Nothing is shown before
    /// [`ReviewRequest::wait`].
    pub fn asking(&self, change: &Change) -> ReviewRequest {
        ReviewRequest::new(Arc::clone(&self.inner), change.clone())
    }

    fn connect_by(
        &self,
        cwd: &Path,
        only: impl Fn(&BridgeState) -> Option<&Candidate>,
    ) -> Result<Option<Connection>, BridgeError> {
        let _one = locked(&self.inner.connecting);
        if self.inner.locked().cwd.as_deref() == Some(cwd)
            && let Some(connection) = self.connection().filter(Connection::is_connected)
        {
            return Ok(Some(connection));
        }
        let (only, named) = {
            let state = self.inner.locked();
            let only = only(&state).cloned();
            (only.clone(), only.is_some() && state.named)
        };
        let found = match &only {
            Some(only) => self.inner.back_to(only)?,
            None => self.inner.find(cwd, |_| true)?,
        };
        let Some(connection) = found else { return Ok(None) };
        self.adopt(connection.clone(), only.is_none().then_some(cwd), named);
        Ok(Some(connection))
    }

    fn adopt(&self, connection: Connection, cwd: Option<&Path>, named: bool) {
        let events = connection.events();
        let (before, choice) = {
            let mut state = self.inner.locked();
            state.wanted = true;
            state.choice += 1;
            state.named = named;
            state.last = Some(connection.candidate().clone());
            if let Some(cwd) = cwd {
                state.cwd = Some(cwd.to_owned());
            }
            self.inner.changed.notify_all();
            (state.connection.replace(connection), state.choice)
        };
        if let Some(before) = before {
            before.close();
        }
        supervisor::start(Arc::clone(&self.inner), choice, events);
    }
}

impl BridgeShared {
    /// Notes a change that was proposed on this connection before it was lost and is no longer pending.
    fn leave_behind(&self, change: &Change, lost: &Connection) {
        let mut state = self.locked();
        if !state.wanted {
            return;
        }
        if state.left_behind.len() == LEFT_BEHIND {
            state.left_behind.remove(0);
        }
        state.left_behind.push((lost.candidate().clone(), change.clone()));
        let back = state.connection.clone().filter(|now| !now.is_same(lost));
        drop(state);
        if let Some(connection) = back {
            self.take_back(&connection);
        }
    }

    /// Proposes changes that were left behind here once more, and withdraws them at once.
    fn take_back(&self, connection: &Connection) {
        let here = |(place, _): &mut (Candidate, Change)| is_same_editor(connection.candidate(), place);
        let left: Vec<_> = self.locked().left_behind.extract_if(.., here).collect();
        for (_, change) in left {
            if let Ok(pending) = connection.propose(&change) {
                pending.withdraw();
            }
        }
    }

    fn locked(&self) -> MutexGuard<'_, BridgeState> {
        locked(&self.state)
    }

    fn last_cwd(&self) -> PathBuf {
        self.locked().cwd.clone().unwrap_or_else(|| self.surroundings.cwd.clone())
    }

    fn open(&self, candidate: &Candidate) -> Result<Connection, OpenError> {
        Connection::open(candidate, &self.agent, &self.surroundings.places)
    }

    /// Reconnects to the last editor. A window of our hub keeps its id and is not searched for; the server of a foreign
    /// editor may have a new port.
    fn back_to(&self, last: &Candidate) -> Result<Option<Connection>, OpenError> {
        match last.wire {
            Wire::Hub { .. } => self.open(last).map(Some),
            _ => self.find(&self.last_cwd(), |now| is_same_editor(now, last)),
        }
    }

    /// Connects to the best acceptable editor. If one rejects us, the next one is tried.
    fn find(
        &self,
        cwd: &Path,
        will_do: impl Fn(&Candidate) -> bool,
    ) -> Result<Option<Connection>, OpenError> {
        let mut surroundings = self.surroundings.clone();
        if surroundings.cwd != cwd {
            cwd.clone_into(&mut surroundings.cwd);
            // It names the other one.
            surroundings.variables.remove("PWD");
        }
        let mut refused = None;
        for candidate in discover(&surroundings).candidates {
            if candidate.is_usable() && will_do(&candidate) {
                match self.open(&candidate) {
                    Ok(connection) => return Ok(Some(connection)),
                    Err(error) => refused = refused.or(Some(error)),
                }
            }
        }
        refused.map_or(Ok(None), Err)
    }
}

/// Whether this is the same editor, perhaps after a restart of its server. Two windows of our hub may have the same
/// folders, and only one of them shows the change.
fn is_same_editor(now: &Candidate, before: &Candidate) -> bool {
    match (&now.wire, &before.wire) {
        (Wire::Hub { window, .. }, Wire::Hub { window: before, .. }) => window == before,
        (Wire::Hub { .. }, _) | (_, Wire::Hub { .. }) => false,
        _ => now.folders == before.folders && now.editor == before.editor,
    }
}

/// A thread that panicked while it held the lock left valid values: none is changed in several steps.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;

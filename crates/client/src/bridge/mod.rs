//! An agent's bond to whatever editor is there: finds it, goes back to it by itself after a loss, and asks it.
//!
//! One thread per bridge passes events on and reconnects; it ends with [`Bridge::disconnect`].

mod asking;
mod backoff;
mod config;
mod context;
mod supervisor;

use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::connection::{
    AgentInfo, CallError, Change, Connection, Decided, EditorEvent, OpenError, Subscribers,
};
use crate::discover::{Candidate, Surroundings, Wire, discover};

pub use asking::{Asking, Contact};
pub use config::BridgeConfig;

/// Each holds a whole text. What is dropped here the hub itself withdraws once its agent has stayed away too long.
const LEFT_BEHIND: usize = 32;

/// Why an editor was not reached, or not asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// There is none.
    #[error("no editor is connected: open this folder in one, and `linkspan doctor` tells what is missing")]
    NotConnected,
    /// The editor was found, and does not let us in.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The editor went away with the question: what was decided there, if anything, is not known.
    #[error(
        "the connection to the editor was lost while the change was shown there: it is not known what was \
         decided, so decide here"
    )]
    Lost,
    /// The editor answered, and not with a decision.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// An agent's bond to an editor.
#[derive(Debug)]
pub struct Bridge {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    config: BridgeConfig,
    agent: AgentInfo,
    surroundings: Surroundings,
    state: Mutex<State>,
    /// Anything in the state changed.
    changed: Condvar,
    /// Held by whoever connects, so that two do not do it at once.
    connecting: Mutex<()>,
    events: Subscribers,
}

#[derive(Debug, Default)]
struct State {
    connection: Option<Connection>,
    /// The editor we were with last, to go back to.
    last: Option<Candidate>,
    cwd: Option<PathBuf>,
    /// Somebody asked for an editor, and nobody has sent it away since.
    wanted: bool,
    /// Grows with each editor that somebody chose; a supervisor of an older one has nothing to do any more.
    choice: u64,
    /// Somebody named the editor: no other one will do.
    named: bool,
    /// Changes that somebody waits for. They are at the last editor, so we go nowhere else.
    asked: usize,
    /// A foreign editor shows a change.
    showing: bool,
    /// Changes that a lost hub may still show and nobody waits for, each with where it was asked.
    left_behind: Vec<(Candidate, Change)>,
}

impl State {
    /// The editor to go back to, where another one would be wrong.
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
    /// A bridge to nowhere yet.
    pub fn new(config: BridgeConfig, agent: AgentInfo, surroundings: Surroundings) -> Bridge {
        Bridge {
            inner: Arc::new(Inner {
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

    /// What of an editor is used.
    pub fn config(&self) -> &BridgeConfig {
        &self.inner.config
    }

    /// Connects to the best editor for a working directory; `None` when there is none, or when the configuration
    /// does not want one. Between editors that fit equally well, our hub's windows come first, and then the lowest
    /// port: who wants to ask the person instead looks at [`discover`] and [connects](Bridge::connect) to one.
    /// While a change waits for a decision, it is the editor that shows it, whatever the working directory.
    pub fn auto_connect(&self, cwd: &Path) -> Result<Option<Connection>, BridgeError> {
        if !self.inner.config.enabled || !self.inner.config.auto_connect {
            return Ok(None);
        }
        self.connect_by(cwd, |state| state.last.as_ref().filter(|_| state.asked > 0))
    }

    /// Connects to this editor, and leaves the one before. After a loss it goes back to this one and no other.
    pub fn connect(&self, candidate: &Candidate) -> Result<Connection, BridgeError> {
        let _one = locked(&self.inner.connecting);
        let connection = self.inner.open(candidate)?;
        self.adopt(connection.clone(), None, true);
        Ok(connection)
    }

    /// Leaves the editor, and does not come back by itself.
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

    /// Connects again if the editor does not answer: to the one that was named or shows a change, else to the best
    /// for the working directory, by the last one if none is given. `true` when an editor is there now.
    pub fn reconnect_if_dead(&self, cwd: Option<&Path>) -> bool {
        if self.is_connected() {
            return true;
        }
        let cwd = cwd.map_or_else(|| self.inner.last_cwd(), Path::to_owned);
        self.inner.config.enabled && matches!(self.connect_by(&cwd, State::bound), Ok(Some(_)))
    }

    /// The connection as it is now; a lost one is replaced by itself.
    pub fn connection(&self) -> Option<Connection> {
        self.inner.locked().connection.clone()
    }

    /// Whether an editor answers right now.
    pub fn is_connected(&self) -> bool {
        self.connection().is_some_and(|connection| connection.is_connected())
    }

    /// What happens in the editor, over losses and new connections: after [`EditorEvent::Closed`] more may come.
    pub fn events(&self) -> Receiver<EditorEvent> {
        self.inner.events.subscribe()
    }

    /// Shows a change and waits for the person. Our hub may be lost meanwhile: the same change is asked for again,
    /// and a decision made in between is heard. Foreign editors show one change at a time, and a loss is
    /// [`BridgeError::Lost`].
    pub fn review(&self, change: &Change) -> Result<Decided, BridgeError> {
        self.asking(change).wait()
    }

    /// The same, for who may have to take the question back. Nothing is shown before someone waits.
    pub fn asking(&self, change: &Change) -> Asking {
        Asking::new(Arc::clone(&self.inner), change.clone())
    }

    fn connect_by(
        &self,
        cwd: &Path,
        only: impl Fn(&State) -> Option<&Candidate>,
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

impl Inner {
    /// Nobody waits any more for what was asked on this connection before it was lost.
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

    /// Asks for what was left behind here once more, and takes it back at once.
    fn take_back(&self, connection: &Connection) {
        let here = |(place, _): &mut (Candidate, Change)| is_same_editor(connection.candidate(), place);
        let left: Vec<_> = self.locked().left_behind.extract_if(.., here).collect();
        for (_, change) in left {
            if let Ok(pending) = connection.propose(&change) {
                pending.withdraw();
            }
        }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    fn last_cwd(&self) -> PathBuf {
        self.locked().cwd.clone().unwrap_or_else(|| self.surroundings.cwd.clone())
    }

    fn open(&self, candidate: &Candidate) -> Result<Connection, OpenError> {
        Connection::open(candidate, &self.agent, &self.surroundings.places)
    }

    /// Connects to the editor we were with. A window of our hub keeps its id, and needs no looking for; the server
    /// of another editor may have a new port.
    fn back_to(&self, last: &Candidate) -> Result<Option<Connection>, OpenError> {
        match last.wire {
            Wire::Hub { .. } => self.open(last).map(Some),
            _ => self.find(&self.last_cwd(), |now| is_same_editor(now, last)),
        }
    }

    /// Connects to the best editor that will do. One that does not let us in is passed over for the next.
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

/// Whether this is the editor we were with, perhaps after a restart of its server. Two windows of our hub may have
/// the same folders, and only one of them shows what was asked there.
fn is_same_editor(now: &Candidate, before: &Candidate) -> bool {
    match (&now.wire, &before.wire) {
        (Wire::Hub { window, .. }, Wire::Hub { window: before, .. }) => window == before,
        (Wire::Hub { .. }, _) | (_, Wire::Hub { .. }) => false,
        _ => now.folders == before.folders && now.editor == before.editor,
    }
}

/// A thread that panicked while it held the lock left whole values behind: none is changed in steps.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;

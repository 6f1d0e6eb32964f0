//! The one window that the agent uses. Connects when a tool first needs it, opens a temporary window when no editor has
//! the project open, and moves to an editor that appears later. The bridge reconnects after a loss.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::bridge::{Bridge, BridgeConfig, ReviewRequest};
use linkspan_client::connection::{CallError, Change, Connection, EditorEvent};
use linkspan_client::{AgentInfo, Candidate, Surroundings};
use linkspan_editor_api::{DenyGlobs, ReviewSummary, ReviewsList};
use tokio::sync::watch;

use super::guard::Guard;
use crate::cli::context::CliContext;
use crate::cli::temporary_window::TemporaryWindow;
use crate::cli::window::{Choice, WindowOptions, choose};
use crate::commands::editor::context::config_for;

/// If a lost window is not back within this time, another one is used.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(6);
const RECONNECT_PAUSE: Duration = Duration::from_millis(20);
/// The hub's name for our protocol.
const DIALECT: &str = "linkspan";

#[derive(Debug)]
pub(super) struct EditorSession {
    cli: CliContext,
    window: WindowOptions,
    state: Mutex<SessionState>,
    /// Calls that wait for a decision; as long as there are any, the window is kept. Not behind the lock, which may be
    /// held for seconds.
    waiting: AtomicUsize,
    /// The names of the tools of the current window.
    offered: watch::Sender<BTreeSet<String>>,
}

#[derive(Debug, Default)]
struct SessionState {
    bridge: Option<Arc<Bridge>>,
    temporary: Option<TemporaryWindow>,
    /// The folders that the window was chosen for.
    folders: Vec<PathBuf>,
    is_closed: bool,
}

impl SessionState {
    fn disconnect(&mut self) {
        self.bridge.take().into_iter().for_each(|bridge| bridge.disconnect());
        self.temporary.take().into_iter().for_each(TemporaryWindow::close);
    }
}

/// The agent that calls, and its folders.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) folders: Vec<PathBuf>,
}

impl EditorSession {
    pub(super) fn new(cli: CliContext, window: WindowOptions) -> EditorSession {
        EditorSession {
            cli,
            window,
            state: Mutex::default(),
            waiting: AtomicUsize::new(0),
            offered: watch::Sender::new(BTreeSet::new()),
        }
    }

    fn state(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn offered(&self) -> watch::Receiver<BTreeSet<String>> {
        self.offered.subscribe()
    }

    /// Connects if there is an editor; starts and opens nothing.
    pub(super) fn connect_if_available(self: &Arc<EditorSession>, caller: &Caller) {
        let mut state = self.state();
        if !state.is_closed
            && state.bridge.is_none()
            && let Ok(Some(candidate)) = self.choose(caller)
        {
            let _ = self.connect_to(&mut state, &candidate, caller);
        }
    }

    /// The connection to the current window. Blocks while a window is searched, and other callers with it.
    pub(super) fn connect(self: &Arc<EditorSession>, caller: &Caller) -> Result<Connection, String> {
        let mut state = self.state();
        if state.is_closed {
            return Err("the server is shutting down".into());
        }
        if state.folders != caller.folders && !self.is_waiting() {
            state.disconnect();
        }
        if let Some(connection) = state.bridge.as_deref().and_then(reconnected) {
            let Some(better) = self.better(&state, caller) else { return Ok(connection) };
            let moved = self.connect_to(&mut state, &better, caller)?;
            state.temporary.take().into_iter().for_each(TemporaryWindow::close);
            return Ok(moved);
        }
        if state.bridge.is_some() && self.is_waiting() {
            return Err(
                "the editor that shows a pending change is not connected, and no other editor is used before it is back \
                 or the change is withdrawn; try again later"
                    .into(),
            );
        }
        if let Some(found) = self.choose(caller)? {
            return self.connect_to(&mut state, &found, caller);
        }
        let temporary = match state.temporary.take() {
            Some(temporary) => temporary,
            None => TemporaryWindow::open(&self.cli, &caller.folders).map_err(|failure| failure.message)?,
        };
        let candidate = temporary.candidate().clone();
        state.temporary = Some(temporary);
        self.connect_to(&mut state, &candidate, caller)
    }

    fn connect_to(
        self: &Arc<EditorSession>,
        state: &mut SessionState,
        candidate: &Candidate,
        caller: &Caller,
    ) -> Result<Connection, String> {
        let bridge = match &state.bridge {
            Some(bridge) => Arc::clone(bridge),
            None => self.bridge(caller)?,
        };
        let connection = bridge.connect(candidate).map_err(|error| error.to_string())?;
        state.bridge = Some(bridge);
        state.folders.clone_from(&caller.folders);
        self.update_tools(&connection);
        Ok(connection)
    }

    /// The window of the first folder that has one, unless the user named another.
    fn choose(&self, caller: &Caller) -> Result<Option<Candidate>, String> {
        for folder in &caller.folders {
            match choose(&self.window, &self.cli, folder).map_err(|failure| failure.message)? {
                Choice::Window(chosen) => return Ok(Some(chosen.candidate)),
                Choice::NoneFits(_) => {}
            }
        }
        Ok(None)
    }

    /// An editor to move to, while a temporary window is used and no change is pending there.
    fn better(&self, state: &SessionState, caller: &Caller) -> Option<Candidate> {
        let temporary = state.temporary.as_ref().filter(|_| !self.is_waiting())?;
        self.choose(caller).ok()?.filter(|found| !temporary.is(found))
    }

    fn is_waiting(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// The files that are kept from agents, for editors where the hub does not check that.
    pub(super) fn deny(&self, caller: &Caller) -> Result<DenyGlobs, String> {
        let folder = caller.folders.first().map_or(Path::new("."), PathBuf::as_path);
        let config = config_for(&self.cli, folder).map_err(|failure| failure.message)?;
        Ok(config.deny_globs())
    }

    /// Which files may be used with the current editor.
    pub(super) fn guard(self: &Arc<EditorSession>, caller: &Caller) -> Result<Guard, String> {
        let editor = self.connect(caller)?;
        if editor.is_hub() {
            return Ok(Guard::Hub);
        }
        let known = &editor.candidate().folders;
        let folders = if known.is_empty() { &caller.folders } else { known };
        Ok(Guard::Here { folders: folders.clone(), deny: self.deny(caller)? })
    }

    fn bridge(self: &Arc<EditorSession>, caller: &Caller) -> Result<Arc<Bridge>, String> {
        let agent = AgentInfo::new(&caller.name, &caller.version);
        let folder = caller.folders.first().map_or(Path::new("."), PathBuf::as_path);
        let surroundings = Surroundings::of_this_process(folder).map_err(|error| error.to_string())?;
        let bridge = Arc::new(Bridge::new(BridgeConfig::default(), agent, surroundings));
        let (session, events) = (Arc::downgrade(self), bridge.events());
        thread::spawn(move || {
            for event in events {
                let Some(session) = session.upgrade() else { return };
                if event == EditorEvent::ToolsChanged
                    && let Some(connection) = session.connection()
                {
                    session.update_tools(&connection);
                }
            }
        });
        Ok(bridge)
    }

    fn connection(&self) -> Option<Connection> {
        self.state().bridge.as_ref().and_then(|bridge| bridge.connection())
    }

    fn update_tools(&self, connection: &Connection) {
        let names: BTreeSet<_> =
            connection.tools().unwrap_or_default().into_iter().map(|tool| tool.name).collect();
        self.offered.send_if_modified(|known| std::mem::replace(known, names.clone()) != names);
    }

    /// Calls the editor; again if the connection was closed.
    pub(super) fn ask<T>(
        self: &Arc<EditorSession>,
        caller: &Caller,
        question: impl Fn(&Connection) -> Result<T, CallError>,
    ) -> Result<T, String> {
        let answer = match question(&self.connect(caller)?) {
            Err(CallError::Closed) => question(&self.connect(caller)?),
            answer => answer,
        };
        answer.map_err(|error| error.to_string())
    }

    /// Proposes these changes. The window is kept until the returned value is dropped.
    pub(super) fn propose(
        self: &Arc<EditorSession>,
        caller: &Caller,
        changes: &[Change],
    ) -> Result<PendingChanges, String> {
        self.connect(caller)?;
        let state = self.state();
        let Some(bridge) = &state.bridge else { return Err("the server is shutting down".into()) };
        let changes = changes.iter().map(|change| Arc::new(bridge.asking(change))).collect();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        Ok(PendingChanges { changes, session: Arc::clone(self) })
    }

    /// Where the user finds the pending changes of these files.
    pub(super) fn where_to_look(&self, paths: &[PathBuf]) -> String {
        let Some(connection) = self.connection() else {
            return "waiting for the editor to reconnect".into();
        };
        let headless =
            self.state().temporary.as_ref().is_some_and(|window| window.is(connection.candidate()));
        let reviews = self.pending_reviews(paths);
        let what = match reviews.as_slice() {
            [] => String::new(),
            some => format!(" on {}", some.join(", ")),
        };
        if headless {
            let review = reviews.first().map_or("latest", String::as_str);
            return format!(
                "waiting for your decision{what}: run `linkspan review` in a terminal, or `linkspan accept {review}`"
            );
        }
        format!("waiting for your decision{what} in {}", connection.candidate().editor)
    }

    /// The ids of the pending reviews of these files; none if the editor is not attached to the hub.
    fn pending_reviews(&self, paths: &[PathBuf]) -> Vec<String> {
        let listed = || {
            let mut control = self.cli.connect().ok()?;
            control.hello("mcp").ok()?;
            Some(control.request(&ReviewsList { all: false }).ok()?.reviews)
        };
        let ours = |review: &ReviewSummary| {
            review.dialect == DIALECT && paths.iter().any(|path| path == Path::new(&review.path))
        };
        listed().unwrap_or_default().into_iter().filter(ours).map(|review| review.review).collect()
    }

    /// Disconnects; pending changes are withdrawn.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        state.disconnect();
    }
}

/// Proposed changes that are not decided yet.
#[derive(Debug)]
pub(super) struct PendingChanges {
    pub(super) changes: Vec<Arc<ReviewRequest>>,
    session: Arc<EditorSession>,
}

impl PendingChanges {
    pub(super) fn withdraw(&self) {
        self.changes.iter().for_each(|change| change.withdraw());
    }
}

impl Drop for PendingChanges {
    fn drop(&mut self) {
        self.session.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The connection of a bridge; waits if it is reconnecting.
fn reconnected(bridge: &Bridge) -> Option<Connection> {
    let until = Instant::now() + RECONNECT_TIMEOUT;
    loop {
        // A lost one stays for a moment, until the bridge replaces it.
        let connection = bridge.connection().filter(|connection| !connection.is_closed());
        if connection.is_some() || Instant::now() > until {
            return connection;
        }
        thread::sleep(RECONNECT_PAUSE);
    }
}

//! Becoming the hub: private folders, the one lock, the socket; and the signals that end it.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use linkspan_dialect::discovery_folders;
use linkspan_editor_api::{PORT_SPACE_BOOT, PORT_SPACE_NETWORK, Places, PlacesError, port_space};
use linkspan_workspace::descriptors;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Edge;
use super::discovery::{private_contents, private_folder};
use super::doorstep::Doorstep;
use super::locks::{Locks, Taken};
use crate::config::{Config, ConfigError};
use crate::core::{Event, Identity};
use crate::files;
use crate::journal::JournalError;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Places(#[from] PlacesError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{what} {}: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("the runtime directory {} {why}: remove it, or set XDG_RUNTIME_DIR", path.display())]
    RuntimeDir { path: PathBuf, why: String },
    #[error("the hub's runtime cannot start: {0}")]
    Runtime(io::Error),
}

/// Who this hub is, for those who ask.
pub(super) fn identity(places: &Places, socket: &Path) -> Identity {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let started_at_ms = u64::try_from(since.as_millis()).unwrap_or_default();
    Identity {
        version: env!("CARGO_PKG_VERSION"),
        pid: std::process::id(),
        started_at_ms,
        life: getrandom::u32().map_or_else(|_| format!("{started_at_ms:x}"), |word| format!("{word:08x}")),
        socket: socket.display().to_string(),
        resident_bytes,
        port_space: own_port_space(),
        clients_file: places.clients_file().display().to_string(),
        own_places: own_places(places),
    }
}

/// Each agent, window and command takes one, and each file that is read: far more than the usual 1,024.
const DESCRIPTORS: u64 = 65_536;

/// Linkspan's own files and the tokens of all windows, by each name that they have: paths are checked with links
/// followed, and as editors name them.
fn own_places(places: &Places) -> Vec<PathBuf> {
    let Places { runtime, state, config, .. } = places.clone();
    let named = [runtime, state, config, places.config_file(), places.clients_file()].into_iter();
    let named: Vec<PathBuf> = named.chain(discovery_folders(|name| std::env::var_os(name))).collect();
    let anywhere = [PathBuf::from("/")];
    // Those that are not there yet, too.
    let real: Vec<PathBuf> = named.iter().filter_map(|place| files::resolve(&anywhere, place).ok()).collect();
    named.into_iter().chain(real).collect()
}

/// Runs the hub in the foreground until it is stopped or idle. Returns at once if there is one already.
pub fn run(places: &Places) -> Result<(), RunError> {
    let config = Config::load(&places.config_file())?;
    ours_alone(&places.runtime)?;
    for folder in [&places.runtime, &places.state] {
        private_folder(folder).map_err(|source| RunError::Io {
            what: "cannot make",
            path: folder.clone(),
            source,
        })?;
    }
    if let Err(error) = private_contents(&places.state) {
        tracing::warn!("others may be able to read what is in {}: {error}", places.state.display());
    }
    let locks = match Locks::take(places)? {
        Taken::Ours(locks) => locks,
        Taken::StateHeld(hub) => {
            let state = places.state.display();
            match hub {
                Some(hub) => tracing::info!(
                    "not started: the hub with pid {} has {state} and listens on {}",
                    hub.pid,
                    hub.socket.display()
                ),
                None => tracing::info!("not started: another hub has {state}"),
            }
            return Ok(());
        }
        Taken::RuntimeHeld => {
            tracing::info!("not started: another hub has {}", places.runtime.display());
            return Ok(());
        }
    };
    if let Err(error) = descriptors::raise(DESCRIPTORS) {
        tracing::warn!("the limit of open files cannot be raised: {error}");
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // Files are few and short; idle threads would only cost memory.
        .max_blocking_threads(16)
        .build()
        .map_err(RunError::Runtime)?;
    runtime.block_on(async {
        let socket = places.socket()?;
        let (doorstep, listener) = Doorstep::make(places, socket.clone(), locks)
            .map_err(|source| RunError::Io { what: "cannot listen on", path: socket.clone(), source })?;
        tracing::info!(
            "hub {} (pid {}) listens on {}",
            env!("CARGO_PKG_VERSION"),
            std::process::id(),
            socket.display()
        );
        // As a task: the future that a runtime blocks on is woken by a detour through the system.
        let doorstep = Arc::new(Mutex::new(doorstep));
        let living = tokio::spawn(super::live(places.clone(), config, Arc::clone(&doorstep), listener));
        let result = living.await.unwrap_or_else(|error| Err(RunError::Runtime(error.into())));
        // The locks are held until here, however the hub ended.
        doorstep.lock().unwrap_or_else(PoisonError::into_inner).leave();
        tracing::info!("hub leaves");
        result
    })
}

/// Whoever owns the runtime directory could pose as the hub, and through a symlink it may be anyone's.
pub(super) fn ours_alone(runtime: &Path) -> Result<(), RunError> {
    let why = match std::fs::symlink_metadata(runtime) {
        Err(_) => return Ok(()),
        Ok(found) if !found.is_dir() => "is no directory of its own".to_owned(),
        Ok(found) if found.uid() != rustix::process::getuid().as_raw() => {
            format!("belongs to user {}", found.uid())
        }
        Ok(_) => return Ok(()),
    };
    Err(RunError::RuntimeDir { path: runtime.to_owned(), why })
}

fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * u64::try_from(rustix::param::page_size()).ok()?)
}

fn own_port_space() -> Option<String> {
    let boot = std::fs::read_to_string(PORT_SPACE_BOOT).ok()?;
    port_space(&boot, &std::fs::read_link(PORT_SPACE_NETWORK).ok()?)
}

pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// Caught so that it does nothing: the terminal that started the hub may go away.
    _hangup: Signal,
}

impl Signals {
    pub(super) fn new() -> Result<Signals, RunError> {
        let listen = |kind| signal(kind).map_err(RunError::Runtime);
        Ok(Signals {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            _hangup: listen(SignalKind::hangup())?,
        })
    }

    pub(super) async fn watch(mut self, edge: Edge) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => {}
                _ = self.interrupt.recv() => {}
            }
            edge.tell(Event::StopRequested).await;
        }
    }
}

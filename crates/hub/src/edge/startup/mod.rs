//! Becoming the hub: private folders, the locks (`hub_lock`), the socket (`socket_file`), and the signals that end
//! it.
//!
//! Must not know windows, agents or reviews. Invariant: one hub for each state directory and each runtime directory,
//! and only the holder of both locks touches the socket file.

mod hub_lock;
pub(super) mod socket_file;

use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use linkspan_dialect::discovery_folders;
use linkspan_editor_api::{PORT_SPACE_BOOT, PORT_SPACE_NETWORK, Places, PlacesError, port_space};
use linkspan_workspace::descriptors;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::{Config, ConfigError};
use crate::core::{Event, HubInfo};
use crate::edge::Edge;
use crate::edge::disk as files;
use crate::edge::disk::{make_contents_private, make_private_folder};
use crate::edge::journal::JournalError;
use crate::edge::startup::hub_lock::{HubLocks, LockOutcome};
use crate::edge::startup::socket_file::SocketFile;

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
    #[error("cannot start the hub's runtime: {0}")]
    Runtime(io::Error),
}

/// What clients can ask about this hub.
pub(crate) fn identity(places: &Places, socket: &Path) -> HubInfo {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let started_at_ms = u64::try_from(since.as_millis()).unwrap_or_default();
    HubInfo {
        version: env!("CARGO_PKG_VERSION"),
        pid: std::process::id(),
        started_at_ms,
        instance_id: getrandom::u32()
            .map_or_else(|_| format!("{started_at_ms:x}"), |word| format!("{word:08x}")),
        socket: socket.display().to_string(),
        resident_bytes,
        port_space: own_port_space(),
        clients_file: places.clients_file().display().to_string(),
        private_dirs: private_dirs(places),
    }
}

/// Each agent, window and command takes one, and each file while it is read: far more than the usual 1,024.
const DESCRIPTORS: u64 = 65_536;

/// Linkspan's own files and the tokens of all windows, under each name that they have: paths are checked both with
/// symlinks followed and as editors name them.
fn private_dirs(places: &Places) -> Vec<PathBuf> {
    let Places { runtime, state, config, .. } = places.clone();
    let named = [runtime, state, config, places.config_file(), places.clients_file()].into_iter();
    let named: Vec<PathBuf> = named.chain(discovery_folders(|name| std::env::var_os(name))).collect();
    let anywhere = [PathBuf::from("/")];
    // Also those that do not exist yet.
    let real: Vec<PathBuf> = named.iter().filter_map(|place| files::resolve(&anywhere, place).ok()).collect();
    named.into_iter().chain(real).collect()
}

/// Runs the hub in the foreground until it is stopped or idle. Returns at once if there already is one.
pub fn run(places: &Places) -> Result<(), RunError> {
    let config = Config::load(&places.config_file())?;
    check_runtime_dir(&places.runtime)?;
    for folder in [&places.runtime, &places.state] {
        make_private_folder(folder).map_err(|source| RunError::Io {
            what: "cannot make",
            path: folder.clone(),
            source,
        })?;
    }
    if let Err(error) = make_contents_private(&places.state) {
        tracing::warn!("other users may be able to read files in {}: {error}", places.state.display());
    }
    let locks = match HubLocks::take(places)? {
        LockOutcome::Acquired(locks) => locks,
        LockOutcome::StateHeld(hub) => {
            let state = places.state.display();
            match hub {
                Some(hub) => tracing::info!(
                    "not started: the hub with pid {} uses {state} and listens on {}",
                    hub.pid,
                    hub.socket.display()
                ),
                None => tracing::info!("not started: another hub uses {state}"),
            }
            return Ok(());
        }
        LockOutcome::RuntimeHeld => {
            tracing::info!("not started: another hub uses {}", places.runtime.display());
            return Ok(());
        }
    };
    remove_stale_sockets(&places.agent_sockets());
    if let Err(error) = descriptors::raise(DESCRIPTORS) {
        tracing::warn!("cannot raise the limit of open files: {error}");
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // Files are few and short; idle threads would only cost memory.
        .max_blocking_threads(16)
        .build()
        .map_err(RunError::Runtime)?;
    runtime.block_on(async {
        let socket = places.socket()?;
        let (socket_file, listener) = SocketFile::create(places, socket.clone(), locks)
            .map_err(|source| RunError::Io { what: "cannot listen on", path: socket.clone(), source })?;
        tracing::info!(
            "hub {} (pid {}) listens on {}",
            env!("CARGO_PKG_VERSION"),
            std::process::id(),
            socket.display()
        );
        // As a task: the future that a runtime blocks on is woken by way of a system call.
        let socket_file = Arc::new(Mutex::new(socket_file));
        let running =
            tokio::spawn(crate::edge::run_loop(places.clone(), config, Arc::clone(&socket_file), listener));
        let result = running.await.unwrap_or_else(|error| Err(RunError::Runtime(error.into())));
        // The locks are held until here, however the hub ended.
        socket_file.lock().unwrap_or_else(PoisonError::into_inner).remove();
        tracing::info!("hub stopped");
        result
    })
}

/// A hub that was killed could not remove the sockets of its windows. We hold its locks, so no one listens there.
fn remove_stale_sockets(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        if entry.file_type().is_ok_and(|kind| kind.is_socket()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The owner of the runtime directory could pose as the hub, and through a symlink that may be any user.
pub(crate) fn check_runtime_dir(runtime: &Path) -> Result<(), RunError> {
    let why = match std::fs::symlink_metadata(runtime) {
        Err(_) => return Ok(()),
        Ok(found) if !found.is_dir() => "is not a directory (or is a symlink)".to_owned(),
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

pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// Caught so that it does nothing: the terminal that started the hub may be closed.
    _hangup: Signal,
}

impl Signals {
    pub(crate) fn new() -> Result<Signals, RunError> {
        let listen = |kind| signal(kind).map_err(RunError::Runtime);
        Ok(Signals {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            _hangup: listen(SignalKind::hangup())?,
        })
    }

    pub(crate) async fn watch(mut self, edge: Edge) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => {}
                _ = self.interrupt.recv() => {}
            }
            edge.send_event(Event::StopRequested).await;
        }
    }
}

//! The locks that make a process the one hub: one in its state directory, one in its runtime directory.
//!
//! The system releases them when the process ends, however it ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use linkspan_editor_api::{HubLock, Places};
use rustix::fs::FlockOperation;

use super::socket_file::FileId;
use crate::edge::startup::RunError;

/// Held until the hub ends: of ten processes that start at once, one becomes the hub.
pub(crate) struct HubLocks {
    state: File,
    runtime: File,
}

/// The result of trying to become the hub.
pub(crate) enum LockOutcome {
    Acquired(HubLocks),
    /// Another process holds the state directory; where it listens, if it has written that already.
    StateHeld(Option<HubLock>),
    RuntimeHeld,
}

impl HubLocks {
    pub(crate) fn take(places: &Places) -> Result<LockOutcome, RunError> {
        // The state first: what two hubs would mix there cannot be separated again.
        let state_path = places.state_lock();
        let Some(state) = lock(&state_path)? else {
            return Ok(LockOutcome::StateHeld(
                read(&state_path).ok().and_then(|bytes| HubLock::from_bytes(&bytes)),
            ));
        };
        // What the last hub wrote there is no longer valid.
        state.set_len(0).map_err(failed("cannot write", &state_path))?;
        let Some(runtime) = lock(&places.lock())? else { return Ok(LockOutcome::RuntimeHeld) };
        Ok(LockOutcome::Acquired(HubLocks { state, runtime }))
    }

    /// Writes down where we listen, for clients with another runtime directory.
    pub(crate) fn announce(&mut self, socket: &Path) -> io::Result<()> {
        let lock = HubLock { pid: std::process::id(), socket: socket.to_owned() };
        let bytes = lock.to_bytes().map_err(io::Error::other)?;
        self.state.set_len(0)?;
        self.state.seek(SeekFrom::Start(0))?;
        self.state.write_all(&bytes)
    }

    /// The runtime directory was removed and created again. False: another process holds the new one.
    pub(crate) fn retake_runtime(&mut self, path: &Path) -> Result<bool, RunError> {
        let Some(runtime) = lock(path)? else { return Ok(false) };
        self.runtime = runtime;
        Ok(true)
    }

    /// Whether the locked file is still the one that other processes would lock.
    pub(crate) fn holds_runtime(&self, path: &Path) -> bool {
        FileId::of_file(&self.runtime) == FileId::of(path)
    }

    /// No client should look for this hub from now on.
    pub(crate) fn clear(&self) {
        let _ = self.state.set_len(0);
    }
}

fn lock(path: &Path) -> Result<Option<File>, RunError> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(path)
        .map_err(failed("cannot open the lock", path))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(failed("cannot lock", path)(error.into())),
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    crate::edge::disk::open_regular(path)?.take(HubLock::LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RunError + use<> {
    let path: PathBuf = path.to_owned();
    move |source| RunError::Io { what, path, source }
}

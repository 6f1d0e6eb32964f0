//! The locks that make a process the one hub: of its state directory, and of its runtime directory.
//!
//! The system releases them when the process ends, however it ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use linkspan_editor_api::{HubLock, Places};
use rustix::fs::FlockOperation;

use super::startup::RunError;

/// Held for the life of the hub: ten starters make one.
pub(super) struct Locks {
    state: File,
    runtime: File,
}

/// What becomes of a process that wants to be the hub.
pub(super) enum Taken {
    Ours(Locks),
    /// Another process holds the state directory; where it listens, if it has said so already.
    StateHeld(Option<HubLock>),
    RuntimeHeld,
}

impl Locks {
    pub(super) fn take(places: &Places) -> Result<Taken, RunError> {
        // First the state: what two hubs would mix there can not be taken apart again.
        let state_path = places.state_lock();
        let Some(state) = lock(&state_path)? else {
            return Ok(Taken::StateHeld(
                read(&state_path).ok().and_then(|bytes| HubLock::from_bytes(&bytes)),
            ));
        };
        // What the last hub wrote there does not hold any more.
        state.set_len(0).map_err(failed("cannot write", &state_path))?;
        let Some(runtime) = lock(&places.lock())? else { return Ok(Taken::RuntimeHeld) };
        Ok(Taken::Ours(Locks { state, runtime }))
    }

    /// Says where we listen, for those who have another runtime directory.
    pub(super) fn announce(&mut self, socket: &Path) -> io::Result<()> {
        let lock = HubLock { pid: std::process::id(), socket: socket.to_owned() };
        let bytes = lock.to_bytes().map_err(io::Error::other)?;
        self.state.set_len(0)?;
        self.state.seek(SeekFrom::Start(0))?;
        self.state.write_all(&bytes)
    }

    /// The runtime directory was removed and made anew; false: somebody else holds the new one.
    pub(super) fn retake_runtime(&mut self, path: &Path) -> Result<bool, RunError> {
        let Some(runtime) = lock(path)? else { return Ok(false) };
        self.runtime = runtime;
        Ok(true)
    }

    /// Whether the file that is locked is still the one that others would lock.
    pub(super) fn holds_runtime(&self, path: &Path) -> bool {
        super::doorstep::Identity::of_file(&self.runtime) == super::doorstep::Identity::of(path)
    }

    /// Nobody shall look for us any more.
    pub(super) fn leave(&self) {
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
    crate::files::open_regular(path)?.take(HubLock::LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RunError + use<> {
    let path: PathBuf = path.to_owned();
    move |source| RunError::Io { what, path, source }
}

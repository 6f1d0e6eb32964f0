//! The file of the hub's socket: created, checked from time to time, created again if it was removed, and removed by
//! us only while it is ours.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use linkspan_editor_api::Places;
use tokio::net::UnixListener;

use crate::edge::disk::make_private_folder;
use crate::edge::startup::check_runtime_dir;
use crate::edge::startup::hub_lock::HubLocks;

/// How often to check. A cleaner of temporary files, or the end of a login session, may remove the socket of a
/// running hub, and no other hub could start because this one holds the journal.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Tells a file from another one with the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId(u64, u64);

impl FileId {
    pub(crate) fn of(path: &Path) -> Option<FileId> {
        fs::symlink_metadata(path).ok().as_ref().map(FileId::new)
    }

    pub(crate) fn of_file(file: &File) -> Option<FileId> {
        file.metadata().ok().as_ref().map(FileId::new)
    }

    fn new(found: &Metadata) -> FileId {
        FileId(found.dev(), found.ino())
    }
}

pub(crate) struct SocketFile {
    places: Places,
    socket: PathBuf,
    id: Option<FileId>,
    locks: HubLocks,
    error_logged: bool,
}

impl SocketFile {
    /// We hold the locks, so an existing socket is no longer in use.
    pub(crate) fn create(
        places: &Places,
        socket: PathBuf,
        mut locks: HubLocks,
    ) -> io::Result<(SocketFile, UnixListener)> {
        let listener = bind(&socket)?;
        if let Err(error) = locks.announce(&socket) {
            tracing::warn!("clients with another runtime directory will not find this hub: {error}");
        }
        let id = FileId::of(&socket);
        Ok((SocketFile { places: places.clone(), socket, id, locks, error_logged: false }, listener))
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Whether the socket is there, and ours. If not, the runtime directory may belong to another hub by now.
    pub(crate) fn is_ours(&self) -> bool {
        self.id.is_some() && FileId::of(&self.socket) == self.id
    }

    /// A new listener if the socket was removed; `None` if it is there, or cannot be created now.
    pub(crate) fn restore_if_removed(&mut self) -> Option<UnixListener> {
        if self.is_ours() {
            return None;
        }
        match self.recreate() {
            Ok(listener) => {
                tracing::warn!("the socket {} was removed; created it again", self.socket.display());
                self.error_logged = false;
                Some(listener)
            }
            Err(error) => {
                if !std::mem::replace(&mut self.error_logged, true) {
                    tracing::error!(
                        "the socket {} was removed and cannot be created again: {error}",
                        self.socket.display()
                    );
                }
                None
            }
        }
    }

    fn recreate(&mut self) -> io::Result<UnixListener> {
        check_runtime_dir(&self.places.runtime).map_err(io::Error::other)?;
        make_private_folder(&self.places.runtime)?;
        let lock = self.places.lock();
        if !self.locks.holds_runtime(&lock) && !self.locks.retake_runtime(&lock).map_err(io::Error::other)? {
            return Err(io::Error::other("a hub with another state directory has replaced this one"));
        }
        let listener = bind(&self.socket)?;
        self.id = FileId::of(&self.socket);
        Ok(listener)
    }

    /// Removes the socket before the locks are released: after that, the next hub may have created its own at this
    /// path.
    pub(crate) fn remove(&mut self) {
        if self.is_ours() {
            let _ = fs::remove_file(&self.socket);
        }
        self.locks.clear();
    }
}

/// Replaces what is there: only the holder of the hub's locks may call this.
pub(crate) fn bind(socket: &Path) -> io::Result<UnixListener> {
    match fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(socket)?;
    fs::set_permissions(socket, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

//! The place of the hub's socket in the file system: made, looked at from time to time, made again if somebody removed it,
//! and removed by us only while it is ours.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use linkspan_editor_api::Places;
use tokio::net::UnixListener;

use super::discovery::private_folder;
use super::locks::Locks;
use super::startup::ours_alone;

/// A cleaner of temporary files, or the end of a login, may remove the socket of a hub that runs. Nobody could start
/// another one, because this one holds the journal.
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_secs(2);

/// What tells one file from another that has its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity(u64, u64);

impl Identity {
    pub(super) fn of(path: &Path) -> Option<Identity> {
        fs::symlink_metadata(path).ok().as_ref().map(Identity::new)
    }

    pub(super) fn of_file(file: &File) -> Option<Identity> {
        file.metadata().ok().as_ref().map(Identity::new)
    }

    fn new(found: &Metadata) -> Identity {
        Identity(found.dev(), found.ino())
    }
}

pub(super) struct Doorstep {
    places: Places,
    socket: PathBuf,
    made: Option<Identity>,
    locks: Locks,
    said: bool,
}

impl Doorstep {
    /// We hold the locks, so a socket that is there belongs to nobody.
    pub(super) fn make(
        places: &Places,
        socket: PathBuf,
        mut locks: Locks,
    ) -> io::Result<(Doorstep, UnixListener)> {
        let listener = bind(&socket)?;
        if let Err(error) = locks.announce(&socket) {
            tracing::warn!("who has another runtime directory will not find this hub: {error}");
        }
        let made = Identity::of(&socket);
        Ok((Doorstep { places: places.clone(), socket, made, locks, said: false }, listener))
    }

    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    /// A new listener where the socket is gone; `None` while all is well, or where it can not be helped now.
    pub(super) fn look(&mut self) -> Option<UnixListener> {
        if self.made.is_some() && Identity::of(&self.socket) == self.made {
            return None;
        }
        match self.make_again() {
            Ok(listener) => {
                tracing::warn!("the socket {} was removed, and is there again", self.socket.display());
                self.said = false;
                Some(listener)
            }
            Err(error) => {
                if !std::mem::replace(&mut self.said, true) {
                    tracing::error!("the socket {} is gone: {error}", self.socket.display());
                }
                None
            }
        }
    }

    fn make_again(&mut self) -> io::Result<UnixListener> {
        ours_alone(&self.places.runtime).map_err(io::Error::other)?;
        private_folder(&self.places.runtime)?;
        let lock = self.places.lock();
        if !self.locks.holds_runtime(&lock) && !self.locks.retake_runtime(&lock).map_err(io::Error::other)? {
            return Err(io::Error::other("a hub with another state directory has taken its place"));
        }
        let listener = bind(&self.socket)?;
        self.made = Identity::of(&self.socket);
        Ok(listener)
    }

    /// The socket goes before the locks do: once they are free, the next hub may have made its own in the same place.
    pub(super) fn leave(&mut self) {
        if self.made.is_some() && Identity::of(&self.socket) == self.made {
            let _ = fs::remove_file(&self.socket);
        }
        self.locks.leave();
    }
}

fn bind(socket: &Path) -> io::Result<UnixListener> {
    match fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(socket)?;
    fs::set_permissions(socket, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

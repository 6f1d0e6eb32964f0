//! The directory of the hub's socket and locks: only our user may access it, or it is not used. Anyone who can write
//! there could impersonate the hub.

use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use linkspan_editor_api::HubLock;

/// Why the runtime directory is not used.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeDirError {
    /// It could not be created or checked.
    #[error("the runtime directory {} cannot be used: {error}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// It is a symlink, a file, or something else.
    #[error(
        "the runtime directory {} is not a directory: remove it, or set XDG_RUNTIME_DIR",
        path.display()
    )]
    NotADirectory {
        /// Which.
        path: PathBuf,
    },
    /// It belongs to another user.
    #[error(
        "the runtime directory {} belongs to user {owner}: set XDG_RUNTIME_DIR to a directory of yours",
        path.display()
    )]
    Foreign {
        /// Which.
        path: PathBuf,
        /// Whose.
        owner: u32,
    },
    /// Other users can access it, and that cannot be changed.
    #[error(
        "the runtime directory {} is accessible to other users: set XDG_RUNTIME_DIR to a private directory",
        path.display()
    )]
    Open {
        /// Which.
        path: PathBuf,
    },
}

/// Creates the directory if it does not exist, and makes sure that only we can access it.
pub(crate) fn ensure(path: &Path) -> Result<(), RuntimeDirError> {
    // Parents too: XDG_RUNTIME_DIR may not exist yet, and the specification requires 0700.
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => RuntimeDirError::NotADirectory { path: path.into() },
        _ => RuntimeDirError::Io { path: path.into(), error },
    })?;
    check(path).map(|_| ())
}

/// Makes sure that only we can access the directory; `false` if there is none.
pub(crate) fn check(path: &Path) -> Result<bool, RuntimeDirError> {
    let io_error = |error| RuntimeDirError::Io { path: path.into(), error };
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found.map_err(io_error)?,
    };
    if !found.is_dir() {
        return Err(RuntimeDirError::NotADirectory { path: path.into() });
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(RuntimeDirError::Foreign { path: path.into(), owner: found.uid() });
    }
    if open_to_others(&found) {
        let tightened = fs::set_permissions(path, Permissions::from_mode(0o700));
        if tightened.is_err() || open_to_others(&fs::symlink_metadata(path).map_err(io_error)?) {
            return Err(RuntimeDirError::Open { path: path.into() });
        }
    }
    Ok(true)
}

/// Whether this is a directory of ours that no one else can access. Changes nothing: it may not belong to Linkspan.
pub(crate) fn is_ours_alone(path: &Path) -> bool {
    let ours = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_dir() && found.uid() == ours && !open_to_others(&found))
}

/// The hub that holds this lock, as it reports itself; a file of another user is not trusted.
pub(crate) fn holder(lock: &Path) -> Option<HubLock> {
    let ours = rustix::process::geteuid().as_raw();
    let found = fs::symlink_metadata(lock).ok()?;
    if !found.is_file() || found.uid() != ours || found.len() > HubLock::LARGEST {
        return None;
    }
    HubLock::from_bytes(&fs::read(lock).ok()?)
}

fn open_to_others(found: &Metadata) -> bool {
    found.mode() & 0o077 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn a_directory_that_is_missing_is_made_for_us_alone() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("run/linkspan");
        ensure(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
    }

    #[test]
    fn a_directory_open_to_others_is_closed() {
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
        ensure(place.path()).unwrap();
        assert_eq!(mode(place.path()), 0o700);
    }

    #[test]
    fn a_symlink_is_refused_even_to_a_directory_of_ours() {
        let place = tempfile::tempdir().unwrap();
        let link = place.path().join("link");
        std::os::unix::fs::symlink(place.path(), &link).unwrap();
        assert!(matches!(ensure(&link), Err(RuntimeDirError::NotADirectory { .. })));
    }

    #[test]
    fn a_file_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(matches!(ensure(&file), Err(RuntimeDirError::NotADirectory { .. })));
    }

    #[test]
    fn looking_for_a_directory_does_not_make_it() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("none");
        assert!(!check(&path).unwrap());
        assert!(!path.exists());
    }
}

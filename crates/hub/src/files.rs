//! Files of a workspace: which paths belong to it, reading them, replacing them whole.
//!
//! Blocking; the edge calls it on a thread of its own. Knows no reviews, only bytes and digests.

mod replace;

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use linkspan_workspace::{descriptors, open_straight};
pub use replace::{Removal, Replacement, Restoration, WriteError, remove, replace, restore, sweep};
use rustix::fs::{FileType, OFlags};

use crate::held::Held;

/// What stands at a path that may be shown to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// Symlinks followed, inside one of the folders.
    pub path: PathBuf,
    /// If not, its place is inside the workspace all the same.
    pub exists: bool,
    /// Empty where it does not exist, or only its place was asked for.
    pub bytes: Vec<u8>,
}

/// How much of a file is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    Place,
    /// The same, of a folder.
    Folder,
    Bytes {
        limit_mib: usize,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("{0} is not an absolute path; send the full path of the file")]
    Relative(String),
    #[error("{0:?} holds a NUL character, which no path can; send the path as it is on disk")]
    Nul(String),
    #[error("{0} is outside the workspace folders of this window; open its folder in the editor first")]
    Outside(String),
    #[error("{0} is a symlink to nothing; create its target or remove it")]
    Dangling(String),
    #[error("{0} is a folder, not a file")]
    Folder(String),
    #[error("{0} is a file, not a folder")]
    NoFolder(String),
    #[error("{0} is not a regular file (a device, socket or pipe)")]
    Special(String),
    #[error("{path} has {mib} MiB; files over {limit} MiB are not reviewed (limits.file_mib in config.toml)")]
    TooLarge { path: String, mib: u64, limit: usize },
    #[error(
        "{path} has {links} names (hard links), and replacing it would leave the others with the old text, so it was \
         not touched; open it in an editor that is attached and try again, or make it a file of its own first"
    )]
    Linked { path: String, links: u64 },
    #[error(
        "{path} was not touched, because you may not give {what} to the file that takes its place; open it in an \
         editor that is attached and try again"
    )]
    NotKept { path: String, what: String },
    #[error("{path}: {error}")]
    Io { path: String, error: String },
}

impl FileError {
    fn io(path: &Path, error: &io::Error) -> FileError {
        let hint = match error.kind() {
            io::ErrorKind::PermissionDenied => "; check the permissions of the file and its folder",
            io::ErrorKind::StorageFull => "; free some space and try again",
            _ if descriptors::are_none_left(error) => {
                "; close windows or agents that are not needed, or start the hub with a larger `ulimit -n`, and try again"
            }
            _ => "",
        };
        FileError::Io { path: path.display().to_string(), error: format!("{error}{hint}") }
    }
}

/// Follows symlinks as far as the path exists and checks that the place lies inside `folders`
/// (which are canonical). A path that does not exist yet is fine if its nearest existing parent is inside.
pub fn resolve(folders: &[PathBuf], path: &Path) -> Result<PathBuf, FileError> {
    let shown = || path.display().to_string();
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(FileError::Nul(shown()));
    }
    if !path.is_absolute() {
        return Err(FileError::Relative(shown()));
    }
    // Whatever does not exist cannot be followed, so `..` behind it could lead anywhere later.
    let mut existing = path;
    let mut missing = Vec::new();
    let canonical = loop {
        match fs::canonicalize(existing) {
            Ok(canonical) => break canonical,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A dangling symlink exists as an entry: writing through it would leave the workspace.
                if fs::symlink_metadata(existing).is_ok() {
                    return Err(FileError::Dangling(shown()));
                }
                match existing.components().next_back() {
                    Some(Component::Normal(name)) => missing.push(name),
                    _ => return Err(FileError::Outside(shown())),
                }
                existing = existing.parent().ok_or_else(|| FileError::Outside(shown()))?;
            }
            Err(error) => return Err(FileError::io(path, &error)),
        }
    };
    let mut place = canonical;
    for name in missing.into_iter().rev() {
        place.push(name);
    }
    if folders.iter().any(|folder| place.starts_with(folder)) {
        Ok(place)
    } else {
        Err(FileError::Outside(shown()))
    }
}

/// Resolves, and reads as much as is wanted. Only regular files can be had.
pub fn look(folders: &[PathBuf], path: &Path, want: Want) -> Result<FileState, FileError> {
    let place = resolve(folders, path)?;
    match want {
        Want::Place => Ok(FileState { exists: regular(&place)?.is_some(), path: place, bytes: Vec::new() }),
        Want::Folder => match fs::symlink_metadata(&place) {
            Ok(metadata) if !metadata.is_dir() => Err(FileError::NoFolder(place.display().to_string())),
            found => Ok(FileState { exists: found.is_ok(), path: place, bytes: Vec::new() }),
        },
        Want::Bytes { limit_mib } => {
            let bytes = read_regular(&place, limit_mib)?;
            Ok(FileState { exists: bytes.is_some(), path: place, bytes: bytes.unwrap_or_default() })
        }
    }
}

/// The size of a regular file; `None` where there is nothing.
fn regular(place: &Path) -> Result<Option<u64>, FileError> {
    match fs::symlink_metadata(place) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
        Ok(metadata) if metadata.is_dir() => Err(FileError::Folder(place.display().to_string())),
        Ok(_) => Err(FileError::Special(place.display().to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::io(place, &error)),
    }
}

/// Without waiting for the other end of a pipe that someone put there a moment ago.
pub fn open_regular(place: &Path) -> io::Result<File> {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let file = fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(place)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("not a regular file")),
    }
}

/// `place` is real: a symlink that was put in its way since is not followed.
fn read_regular(place: &Path, limit_mib: usize) -> Result<Option<Vec<u8>>, FileError> {
    let Some(size) = regular(place)? else { return Ok(None) };
    if size > bytes_of(limit_mib) {
        return Err(too_large(place, size, limit_mib));
    }
    let file = open_straight(place, OFlags::RDONLY).map_err(|error| FileError::io(place, &error))?;
    read_file(place, file.into(), limit_mib).map(Some)
}

/// The same from a folder that is held.
fn read_held(held: &Held, place: &Path, limit_mib: usize) -> Result<Option<Vec<u8>>, FileError> {
    let io_error = |error| FileError::io(place, &error);
    match held.kind().map_err(io_error)? {
        None => Ok(None),
        Some(FileType::RegularFile) => read_file(place, held.open().map_err(io_error)?, limit_mib).map(Some),
        Some(FileType::Directory) => Err(FileError::Folder(place.display().to_string())),
        Some(_) => Err(FileError::Special(place.display().to_string())),
    }
}

fn read_file(place: &Path, file: File, limit_mib: usize) -> Result<Vec<u8>, FileError> {
    let io_error = |error| FileError::io(place, &error);
    let about = file.metadata().map_err(io_error)?;
    if !about.is_file() {
        return Err(FileError::Special(place.display().to_string()));
    }
    let limit = bytes_of(limit_mib);
    if about.len() > limit {
        return Err(too_large(place, about.len(), limit_mib));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or_default());
    // The file may grow while it is read.
    file.take(limit + 1).read_to_end(&mut bytes).map_err(io_error)?;
    if bytes.len() as u64 > limit {
        return Err(too_large(place, bytes.len() as u64, limit_mib));
    }
    Ok(bytes)
}

fn bytes_of(limit_mib: usize) -> u64 {
    limit_mib as u64 * 1024 * 1024
}

fn too_large(place: &Path, size: u64, limit: usize) -> FileError {
    FileError::TooLarge { path: place.display().to_string(), mib: size.div_ceil(1024 * 1024), limit }
}

#[cfg(test)]
mod tests {
    use super::replace::tests::workspace;
    use super::*;

    #[test]
    fn a_symlink_that_leaves_the_workspace_is_outside() {
        let ws = workspace();
        fs::write(ws.outside.join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(&ws.outside, ws.root.join("link")).unwrap();
        std::os::unix::fs::symlink(ws.outside.join("none"), ws.root.join("dangling")).unwrap();
        for path in ["link/secret", "link/new", "../other/secret", "nowhere/../../other/secret"] {
            let error = resolve(&ws.folders(), &ws.root.join(path)).unwrap_err();
            assert!(matches!(error, FileError::Outside(_)), "{path}: {error:?}");
        }
        let dangling = resolve(&ws.folders(), &ws.root.join("dangling"));
        assert!(matches!(dangling, Err(FileError::Dangling(_))));
        assert!(matches!(resolve(&ws.folders(), Path::new("a.txt")), Err(FileError::Relative(_))));
        assert!(matches!(resolve(&ws.folders(), Path::new("/proc/self/mem")), Err(FileError::Outside(_))));
        // A folder whose name merely begins like the workspace's is not inside it.
        let twin = ws.root.with_file_name("ws-twin");
        fs::create_dir(&twin).unwrap();
        assert!(resolve(&ws.folders(), &twin.join("a")).is_err());
    }

    #[test]
    fn only_regular_files_of_bearable_size_are_read() {
        let ws = workspace();
        let read = |name: &str| look(&ws.folders(), &ws.root.join(name), Want::Bytes { limit_mib: 1 });
        fs::create_dir(ws.root.join("dir")).unwrap();
        assert!(matches!(read("dir"), Err(FileError::Folder(_))));
        rustix::fs::mknodat(rustix::fs::CWD, ws.root.join("pipe"), FileType::Fifo, rustix::fs::Mode::RUSR, 0)
            .unwrap();
        assert!(matches!(read("pipe"), Err(FileError::Special(_))));
        fs::write(ws.root.join("big"), vec![b'x'; 1024 * 1024 + 1]).unwrap();
        assert!(matches!(read("big"), Err(FileError::TooLarge { .. })));
        assert!(!read("none").unwrap().exists);
        let place = look(&ws.folders(), &ws.root.join("big"), Want::Place).unwrap();
        assert!(place.exists && place.bytes.is_empty(), "asking for the place of a large file is fine");
    }
}

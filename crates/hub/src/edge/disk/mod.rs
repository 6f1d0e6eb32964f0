//! Files of a workspace: which paths belong to it, reading them, replacing them as a whole; and private files of our
//! own.
//!
//! Blocking: called on threads where that is fine. Must not know reviews, windows or agents, only paths, bytes and
//! digests.
//!
//! Invariants: nothing outside the given folders is read or written, whatever symlinks do in the meantime; a file
//! holds all of the old bytes or all of the new; a replaced file keeps its owner, mode, access control list and
//! extended attributes, or is not touched.

mod attributes;
mod parent_dir;
mod private_file;
mod replace;

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

pub use crate::core::contract::{FileError, FileState, Removal, Replacement, Restoration, Want, WriteError};
use linkspan_workspace::{descriptors, open_nofollow};
pub(crate) use private_file::{make_contents_private, make_private_folder, write_private_file};
pub use replace::{remove, remove_leftovers, replace, restore};
use rustix::fs::{FileType, OFlags};

use parent_dir::ParentDir;

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

/// Follows symlinks as far as the path exists, and checks that the result lies inside `folders` (which are
/// canonical). A path that does not exist yet is fine if its nearest existing parent is inside.
pub fn resolve(folders: &[PathBuf], path: &Path) -> Result<PathBuf, FileError> {
    let shown = || path.display().to_string();
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(FileError::Nul(shown()));
    }
    if !path.is_absolute() {
        return Err(FileError::Relative(shown()));
    }
    // A component that does not exist cannot be followed, so a `..` behind it could lead anywhere later.
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

/// Resolves the path, and reads as much as is wanted. Only regular files are read.
pub fn look(folders: &[PathBuf], path: &Path, want: Want) -> Result<FileState, FileError> {
    let place = resolve(folders, path)?;
    match want {
        Want::FilePath => {
            Ok(FileState { exists: regular(&place)?.is_some(), path: place, bytes: Vec::new() })
        }
        Want::FolderPath => match fs::symlink_metadata(&place) {
            Ok(metadata) if !metadata.is_dir() => Err(FileError::NoFolder(place.display().to_string())),
            found => Ok(FileState { exists: found.is_ok(), path: place, bytes: Vec::new() }),
        },
        Want::Bytes { limit_mib } => {
            let bytes = read_regular(&place, limit_mib)?;
            Ok(FileState { exists: bytes.is_some(), path: place, bytes: bytes.unwrap_or_default() })
        }
    }
}

/// The size of a regular file; `None` if nothing exists there.
fn regular(place: &Path) -> Result<Option<u64>, FileError> {
    match fs::symlink_metadata(place) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
        Ok(metadata) if metadata.is_dir() => Err(FileError::Folder(place.display().to_string())),
        Ok(_) => Err(FileError::Special(place.display().to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::io(place, &error)),
    }
}

/// Opens a regular file, without waiting for the other end of a pipe that may have been put there a moment ago.
pub fn open_regular(place: &Path) -> io::Result<File> {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let file = fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(place)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("not a regular file")),
    }
}

/// `place` is canonical: a symlink that was put in its way since then is not followed.
fn read_regular(place: &Path, limit_mib: usize) -> Result<Option<Vec<u8>>, FileError> {
    let Some(size) = regular(place)? else { return Ok(None) };
    if size > bytes_of(limit_mib) {
        return Err(too_large(place, size, limit_mib));
    }
    let file = open_nofollow(place, OFlags::RDONLY).map_err(|error| FileError::io(place, &error))?;
    read_file(place, file.into(), limit_mib).map(Some)
}

/// Reads the file in a folder that is held open.
fn read_in(dir: &ParentDir, place: &Path, limit_mib: usize) -> Result<Option<Vec<u8>>, FileError> {
    let io_error = |error| FileError::io(place, &error);
    match dir.kind().map_err(io_error)? {
        None => Ok(None),
        Some(FileType::RegularFile) => read_file(place, dir.open().map_err(io_error)?, limit_mib).map(Some),
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
    fn only_regular_files_within_the_size_limit_are_read() {
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
        let place = look(&ws.folders(), &ws.root.join("big"), Want::FilePath).unwrap();
        assert!(place.exists && place.bytes.is_empty(), "resolving the path of a large file is fine");
    }
}

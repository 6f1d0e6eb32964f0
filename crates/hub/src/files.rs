//! Files of a workspace: which paths belong to it, reading them, replacing them whole.
//!
//! Blocking; the edge calls it on a thread of its own. Knows no reviews, only bytes and digests.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use linkspan_review::{Digest, ReviewId, SharedBytes};
use linkspan_workspace::{descriptors, open_straight};
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteError {
    /// The file is no longer what the decision was about.
    BaseMoved(Option<Vec<u8>>),
    Failed(FileError),
}

impl From<FileError> for WriteError {
    fn from(error: FileError) -> WriteError {
        WriteError::Failed(error)
    }
}

/// One whole replacement of one file.
#[derive(Debug, Clone)]
pub struct Replacement {
    /// Names the temporary file, so that a second attempt finds what a first one left behind.
    pub review: ReviewId,
    pub folders: Vec<PathBuf>,
    /// As resolved when the review began; if it resolves elsewhere now, nothing is written.
    pub path: PathBuf,
    pub bytes: SharedBytes,
    /// Digest of the bytes the decision was about; `None`: the file must not exist.
    pub expect: Option<Digest>,
    /// Of a file that is not there, if it had one.
    pub mode: Option<u32>,
    pub limit_mib: usize,
}

/// The removal of one file.
#[derive(Debug, Clone)]
pub struct Removal {
    pub folders: Vec<PathBuf>,
    pub path: PathBuf,
    /// Digest of the bytes it must hold.
    pub expect: Digest,
    pub limit_mib: usize,
}

/// How a file gets back what it held.
#[derive(Debug, Clone)]
pub enum Restoration {
    Replace(Replacement),
    Remove(Removal),
}

/// Gives the mode of a file that was removed.
pub fn restore(order: &Restoration) -> Result<Option<u32>, WriteError> {
    match order {
        Restoration::Replace(replacement) => replace(replacement).map(|()| None),
        Restoration::Remove(removal) => remove(removal).map(Some),
    }
}

/// All of the old bytes or all of the new, whatever happens in between: a synced temporary file beside the
/// target, renamed over it, and the folder synced. Already holding the result counts as written.
pub fn replace(order: &Replacement) -> Result<(), WriteError> {
    let path = &order.path;
    let io_error = |error: io::Error| WriteError::Failed(FileError::io(path, &error));
    if resolve(&order.folders, path)? != *path {
        return Err(FileError::Outside(path.display().to_string()).into());
    }
    let held = Held::of(path).map_err(io_error)?;
    let read = |held: &Held| read_held(held, path, order.limit_mib);
    let identity = held.as_ref().and_then(Held::identity);
    let now = held.as_ref().map(read).transpose()?.flatten();
    if now.as_deref() == Some(&order.bytes[..]) {
        return Ok(());
    }
    if now.as_deref().map(Digest::of) != order.expect {
        return Err(WriteError::BaseMoved(now));
    }
    let held = match held {
        Some(held) => held,
        None => Held::making_folders(path).map_err(io_error)?,
    };
    // A rename would replace what the person may not write.
    if now.is_some() {
        held.is_writable().map_err(io_error)?;
    }
    let name = temporary_name(order.review);
    // Left by a hub that was killed just here.
    held.remove_beside(&name);
    let mut temporary = held.temporary(&name).map_err(io_error)?;
    temporary.file.write_all(&order.bytes).map_err(io_error)?;
    keep_mode(&held, &temporary.file, order.mode).map_err(io_error)?;
    temporary.file.sync_all().map_err(io_error)?;
    let alone = one_at_a_time();
    // Someone may have written while we did; the window left is the rename itself.
    if held.identity() != identity {
        return Err(WriteError::BaseMoved(read(&held)?));
    }
    if order.expect.is_some() {
        temporary.replace().map_err(io_error)?;
    } else if let Err(error) = temporary.appear() {
        return match read(&held)? {
            Some(bytes) => Err(WriteError::BaseMoved(Some(bytes))),
            None => Err(io_error(error)),
        };
    }
    drop(alone);
    held.sync().map_err(io_error)
}

/// Of all that this process writes: whoever has seen that a file is as expected also replaces it before another looks.
static WRITING: Mutex<()> = Mutex::new(());

fn one_at_a_time() -> impl Drop {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn temporary_name(review: ReviewId) -> String {
    format!(".linkspan-{}-{review}", rustix::process::getuid().as_raw())
}

/// Clears away what a hub left beside the file that was killed while it replaced it.
pub fn sweep(folders: &[PathBuf], path: &Path, review: ReviewId) {
    if let Some(held) = resolve(folders, path).ok().and_then(|path| Held::of(&path).ok().flatten()) {
        held.remove_beside(&temporary_name(review));
    }
}

/// Removes the file if it holds what is expected; gives its mode.
pub fn remove(order: &Removal) -> Result<u32, WriteError> {
    let path = &order.path;
    let io_error = |error: io::Error| WriteError::Failed(FileError::io(path, &error));
    if resolve(&order.folders, path)? != *path {
        return Err(FileError::Outside(path.display().to_string()).into());
    }
    let Some(held) = Held::of(path).map_err(io_error)? else { return Err(WriteError::BaseMoved(None)) };
    let identity = held.identity();
    let now = read_held(&held, path, order.limit_mib)?;
    let alone = one_at_a_time();
    if now.as_deref().map(Digest::of) != Some(order.expect) || held.identity() != identity {
        return Err(WriteError::BaseMoved(now));
    }
    let Some((_, _, mode)) = held.ownership().map_err(io_error)? else {
        return Err(WriteError::BaseMoved(None));
    };
    held.remove().map_err(io_error)?;
    drop(alone);
    held.sync().map_err(io_error)?;
    Ok(mode & 0o777)
}

/// An existing file keeps mode and owner; a new one gets the mode it had before, else what the user's umask says.
fn keep_mode(held: &Held, temporary: &File, before: Option<u32>) -> io::Result<()> {
    match held.ownership()? {
        Some((uid, gid, mode)) => {
            let new = temporary.metadata()?;
            if (uid, gid) != (new.uid(), new.gid()) {
                // Only root may give files away; anyone else keeps at least the mode.
                let _ = std::os::unix::fs::fchown(temporary, Some(uid), Some(gid));
            }
            temporary.set_permissions(fs::Permissions::from_mode(mode & 0o7777))
        }
        None => {
            let mode = match before {
                Some(mode) => mode & 0o777,
                None => 0o666 & !umask()?,
            };
            temporary.set_permissions(fs::Permissions::from_mode(mode))
        }
    }
}

/// Read rather than set and restored: other threads create files too. The usual one where the system does not tell;
/// where it would and cannot be asked, that is an error, because a guess may show others what she keeps to herself.
fn umask() -> io::Result<u32> {
    let status = match fs::read_to_string("/proc/self/status") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    Ok(line.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o022))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Workspace {
        _home: tempfile::TempDir,
        root: PathBuf,
        outside: PathBuf,
    }

    fn workspace() -> Workspace {
        let home = tempfile::tempdir().unwrap();
        let base = home.path().canonicalize().unwrap();
        let (root, outside) = (base.join("ws"), base.join("other"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&outside).unwrap();
        Workspace { _home: home, root, outside }
    }

    impl Workspace {
        fn folders(&self) -> Vec<PathBuf> {
            vec![self.root.clone()]
        }

        fn order(&self, name: &str, bytes: &[u8], expect: Option<&[u8]>) -> Replacement {
            Replacement {
                review: ReviewId(7),
                folders: self.folders(),
                path: self.root.join(name),
                bytes: bytes.to_vec().into(),
                expect: expect.map(Digest::of),
                mode: None,
                limit_mib: 1,
            }
        }
    }

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
    fn a_symlink_inside_is_followed_and_its_target_written() {
        let ws = workspace();
        fs::write(ws.root.join("real"), "old").unwrap();
        std::os::unix::fs::symlink("real", ws.root.join("link")).unwrap();
        let state = look(&ws.folders(), &ws.root.join("link"), Want::Place).unwrap();
        assert_eq!(state.path, ws.root.join("real"));
        replace(&ws.order("real", b"new", Some(b"old"))).unwrap();
        assert_eq!(fs::read(ws.root.join("link")).unwrap(), b"new");
        assert!(fs::symlink_metadata(ws.root.join("link")).unwrap().is_symlink());
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

    #[test]
    fn the_mode_survives_and_no_temporary_file_stays() {
        let ws = workspace();
        fs::write(ws.root.join("run.sh"), "old").unwrap();
        fs::set_permissions(ws.root.join("run.sh"), fs::Permissions::from_mode(0o751)).unwrap();
        replace(&ws.order("run.sh", b"new", Some(b"old"))).unwrap();
        assert_eq!(fs::metadata(ws.root.join("run.sh")).unwrap().mode() & 0o7777, 0o751);
        replace(&ws.order("deep/er/new.txt", b"fresh", None)).unwrap();
        let mode = fs::metadata(ws.root.join("deep/er/new.txt")).unwrap().mode() & 0o7777;
        assert_eq!(mode, 0o666 & !umask().unwrap());
        assert_eq!(fs::read_dir(&ws.root).unwrap().count(), 2);
    }

    #[test]
    fn what_a_killed_hub_left_behind_is_cleared_away() {
        let ws = workspace();
        fs::write(ws.root.join("a"), "old").unwrap();
        let left = format!(".linkspan-{}-r7", rustix::process::getuid().as_raw());
        fs::write(ws.root.join(left), "ne").unwrap();
        replace(&ws.order("a", b"new", Some(b"old"))).unwrap();
        assert_eq!(fs::read(ws.root.join("a")).unwrap(), b"new");
        assert_eq!(fs::read_dir(&ws.root).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_changed_or_appeared_is_not_overwritten() {
        let ws = workspace();
        fs::write(ws.root.join("a"), "theirs").unwrap();
        let moved = replace(&ws.order("a", b"new", Some(b"old"))).unwrap_err();
        assert_eq!(moved, WriteError::BaseMoved(Some(b"theirs".to_vec())));
        let appeared = replace(&ws.order("a", b"new", None)).unwrap_err();
        assert_eq!(appeared, WriteError::BaseMoved(Some(b"theirs".to_vec())));
        let gone = replace(&ws.order("b", b"new", Some(b"old"))).unwrap_err();
        assert_eq!(gone, WriteError::BaseMoved(None));
        assert_eq!(fs::read(ws.root.join("a")).unwrap(), b"theirs");
    }

    #[test]
    fn only_a_file_that_holds_what_is_expected_is_removed() {
        let ws = workspace();
        let path = ws.root.join("a");
        let order =
            Removal { folders: ws.folders(), path: path.clone(), expect: Digest::of(b"new"), limit_mib: 1 };
        assert_eq!(remove(&order), Err(WriteError::BaseMoved(None)));
        fs::write(&path, "theirs").unwrap();
        assert_eq!(remove(&order), Err(WriteError::BaseMoved(Some(b"theirs".to_vec()))));
        fs::write(&path, "new").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o710)).unwrap();
        assert_eq!((remove(&order), path.exists()), (Ok(0o710), false));
        replace(&Replacement { mode: Some(0o710), ..ws.order("a", b"new", None) }).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o710, "it comes back as it was");
    }

    #[test]
    fn whoever_replaces_a_file_sees_what_another_wrote_just_before() {
        let ws = workspace();
        let (path, temporary) = (ws.root.join("a"), ws.root.join(temporary_name(ReviewId(7))));
        fs::write(&path, "old").unwrap();
        let order = ws.order("a", b"new", Some(b"old"));
        let other = one_at_a_time();
        let moved = std::thread::scope(|scope| {
            let writer = scope.spawn(|| replace(&order));
            while !writer.is_finished() && fs::read(&temporary).unwrap_or_default() != b"new" {
                std::thread::yield_now();
            }
            // Long enough to be first, if it did not wait.
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert_eq!(fs::read(&path).unwrap(), b"old");
            fs::write(&path, "theirs").unwrap();
            drop(other);
            writer.join().unwrap()
        });
        assert_eq!(moved, Err(WriteError::BaseMoved(Some(b"theirs".to_vec()))));
    }

    #[test]
    fn what_was_left_beside_a_file_is_swept_away_and_nothing_else() {
        let ws = workspace();
        fs::write(ws.root.join("a"), "mine").unwrap();
        for place in [&ws.root, &ws.outside] {
            fs::write(place.join(temporary_name(ReviewId(7))), "ha").unwrap();
        }
        sweep(&ws.folders(), &ws.root.join("a"), ReviewId(7));
        sweep(&ws.folders(), &ws.outside.join("a"), ReviewId(7));
        assert_eq!(fs::read_dir(&ws.root).unwrap().count(), 1);
        assert_eq!(fs::read_dir(&ws.outside).unwrap().count(), 1, "not ours");
    }

    #[test]
    fn a_write_that_already_happened_is_not_done_twice() {
        let ws = workspace();
        fs::write(ws.root.join("a"), "new").unwrap();
        let before = Held::of(&ws.root.join("a")).unwrap().unwrap().identity();
        replace(&ws.order("a", b"new", Some(b"old"))).unwrap();
        assert_eq!(Held::of(&ws.root.join("a")).unwrap().unwrap().identity(), before);
    }
}

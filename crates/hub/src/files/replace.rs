//! Replacing and removing files whole: what a decision was about is there, or nothing is touched.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use linkspan_review::{Digest, ReviewId, SharedBytes};

use super::{FileError, read_held, resolve};
use crate::held::{Held, Temporary};
use crate::keeping::{Attributes, NotGiven};

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
    let attributes = match now {
        Some(_) => {
            held.is_writable().map_err(io_error)?;
            Some(attributes_of(&held, path)?)
        }
        None => None,
    };
    let name = temporary_name(order.review);
    // Left by a hub that was killed just here.
    held.remove_beside(&name);
    let is_private = attributes.is_some() || order.mode.is_some();
    let mut temporary = held.temporary(&name, is_private).map_err(io_error)?;
    write_temporary(&mut temporary, order, attributes.as_ref())?;
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
    let Some(mode) = held.mode().map_err(io_error)? else {
        return Err(WriteError::BaseMoved(None));
    };
    held.remove().map_err(io_error)?;
    drop(alone);
    held.sync().map_err(io_error)?;
    Ok(mode & 0o777)
}

/// What the file has besides its bytes, for the one that takes its place. A file with several names is left alone: to
/// write into it would leave half of the change there if we are killed, and to replace it would part the names.
fn attributes_of(held: &Held, path: &Path) -> Result<Attributes, WriteError> {
    let io_error = |error: io::Error| WriteError::Failed(FileError::io(path, &error));
    let file = held.open().map_err(io_error)?;
    let links = file.metadata().map_err(io_error)?.nlink();
    if links > 1 {
        return Err(FileError::Linked { path: path.display().to_string(), links }.into());
    }
    Attributes::of(&file).map_err(io_error)
}

/// A new file gets what the system gives to every new file of that folder, or the mode it had before.
fn write_temporary(
    temporary: &mut Temporary<'_>,
    order: &Replacement,
    attributes: Option<&Attributes>,
) -> Result<(), WriteError> {
    let io_error = |error: io::Error| WriteError::Failed(FileError::io(&order.path, &error));
    temporary.file.write_all(&order.bytes).map_err(io_error)?;
    match (attributes, order.mode) {
        (Some(attributes), _) => {
            attributes.give_to(&temporary.file).map_err(|not_given| match not_given {
                NotGiven::NotKept(what) => {
                    FileError::NotKept { path: order.path.display().to_string(), what }.into()
                }
                NotGiven::Io(error) => io_error(error),
            })?
        }
        (None, Some(mode)) => {
            let mode = fs::Permissions::from_mode(mode & 0o777);
            temporary.file.set_permissions(mode).map_err(io_error)?;
        }
        (None, None) => {}
    }
    temporary.file.sync_all().map_err(io_error)
}

#[cfg(test)]
pub(super) mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{XattrFlags, getxattr, setxattr};

    use super::super::{Want, look};
    use super::*;

    pub(crate) struct Workspace {
        _home: tempfile::TempDir,
        pub(crate) root: PathBuf,
        pub(crate) outside: PathBuf,
    }

    pub(crate) fn workspace() -> Workspace {
        let home = tempfile::tempdir().unwrap();
        let base = home.path().canonicalize().unwrap();
        let (root, outside) = (base.join("ws"), base.join("other"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&outside).unwrap();
        Workspace { _home: home, root, outside }
    }

    impl Workspace {
        pub(crate) fn folders(&self) -> Vec<PathBuf> {
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
    fn a_symlink_inside_is_followed_and_its_target_written() {
        let ws = workspace();
        fs::write(ws.root.join("real"), "old").unwrap();
        symlink("real", ws.root.join("link")).unwrap();
        let state = look(&ws.folders(), &ws.root.join("link"), Want::Place).unwrap();
        assert_eq!(state.path, ws.root.join("real"));
        replace(&ws.order("real", b"new", Some(b"old"))).unwrap();
        assert_eq!(fs::read(ws.root.join("link")).unwrap(), b"new");
        assert!(fs::symlink_metadata(ws.root.join("link")).unwrap().is_symlink());
    }

    #[test]
    fn the_mode_survives_and_no_temporary_file_stays() {
        let ws = workspace();
        fs::write(ws.root.join("run.sh"), "old").unwrap();
        fs::set_permissions(ws.root.join("run.sh"), fs::Permissions::from_mode(0o751)).unwrap();
        replace(&ws.order("run.sh", b"new", Some(b"old"))).unwrap();
        assert_eq!(fs::metadata(ws.root.join("run.sh")).unwrap().mode() & 0o7777, 0o751);
        replace(&ws.order("deep/er/new.txt", b"fresh", None)).unwrap();
        let mode = |name: &str| fs::metadata(ws.root.join(name)).unwrap().mode();
        fs::write(ws.root.join("deep/er/other.txt"), "").unwrap();
        assert_eq!(mode("deep/er/new.txt"), mode("deep/er/other.txt"));
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

    const ACL: &str = "system.posix_acl_access";
    const DEFAULT_ACL: &str = "system.posix_acl_default";

    /// An access control list as Linux keeps it: user rw-, user 1234 rw-, group r--, mask rw-, other ---.
    fn access_control_list() -> Vec<u8> {
        let entries: [(u16, u16, u32); 5] =
            [(1, 6, u32::MAX), (2, 6, 1234), (4, 4, u32::MAX), (16, 6, u32::MAX), (32, 0, u32::MAX)];
        let entry = |(tag, permissions, id): (u16, u16, u32)| {
            [&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &id.to_le_bytes()].concat()
        };
        [2_u32.to_le_bytes().to_vec()].into_iter().chain(entries.map(entry)).flatten().collect()
    }

    fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
        let mut value = [0; 256];
        getxattr(path, name, &mut value[..]).ok().map(|length| value[..length].to_vec())
    }

    #[test]
    fn the_access_control_list_and_extended_attributes_survive() {
        let ws = workspace();
        let path = ws.root.join("a");
        fs::write(&path, "old").unwrap();
        setxattr(&path, ACL, &access_control_list(), XattrFlags::empty()).unwrap();
        setxattr(&path, "user.origin", b"here", XattrFlags::empty()).unwrap();
        replace(&ws.order("a", b"new", Some(b"old"))).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(attribute(&path, ACL), Some(access_control_list()));
        assert_eq!(attribute(&path, "user.origin").as_deref(), Some(&b"here"[..]));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o660);
    }

    #[test]
    fn a_file_without_a_list_gets_none_from_its_folder_and_a_new_one_gets_it() {
        let ws = workspace();
        let (old, new, made) = (ws.root.join("a"), ws.root.join("b"), ws.root.join("c"));
        fs::write(&old, "old").unwrap();
        fs::set_permissions(&old, fs::Permissions::from_mode(0o640)).unwrap();
        setxattr(&ws.root, DEFAULT_ACL, &access_control_list(), XattrFlags::empty()).unwrap();
        replace(&ws.order("a", b"new", Some(b"old"))).unwrap();
        assert_eq!((attribute(&old, ACL), fs::metadata(&old).unwrap().mode() & 0o7777), (None, 0o640));
        replace(&ws.order("b", b"new", None)).unwrap();
        fs::write(&made, "new").unwrap();
        assert_eq!(attribute(&new, ACL), attribute(&made, ACL));
        assert_eq!(fs::metadata(&new).unwrap().mode(), fs::metadata(&made).unwrap().mode());
    }

    #[test]
    fn a_file_with_several_names_is_refused_and_keeps_them() {
        let ws = workspace();
        fs::write(ws.root.join("a"), "old").unwrap();
        fs::hard_link(ws.root.join("a"), ws.root.join("b")).unwrap();
        let refused = replace(&ws.order("a", b"new", Some(b"old"))).unwrap_err();
        let WriteError::Failed(error) = refused else { panic!("{refused:?}") };
        assert!(error.to_string().contains("2 names (hard links)"), "{error}");
        assert_eq!(fs::read(ws.root.join("b")).unwrap(), b"old");
        assert_eq!(fs::metadata(ws.root.join("a")).unwrap().nlink(), 2);
        assert_eq!(fs::read_dir(&ws.root).unwrap().count(), 2, "no temporary file stays");
        fs::remove_file(ws.root.join("b")).unwrap();
        replace(&ws.order("a", b"new", Some(b"old"))).unwrap();
    }
}

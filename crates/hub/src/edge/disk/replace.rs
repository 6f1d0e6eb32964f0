//! Replaces and removes whole files, only if they hold the bytes that the decision was about; otherwise nothing is
//! touched.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use linkspan_review::{Digest, ReviewId};

use super::attributes::{Attributes, CopyError};
use super::parent_dir::{ParentDir, Temporary};
use super::{FileError, Removal, Replacement, Restoration, WriteError, read_in, resolve};

/// Returns the mode of a file that was removed.
pub fn restore(order: &Restoration) -> Result<Option<u32>, WriteError> {
    match order {
        Restoration::Replace(replacement) => replace(replacement).map(|()| None),
        Restoration::Remove(removal) => remove(removal).map(Some),
    }
}

/// All of the old bytes or all of the new, whatever happens in between: a synced temporary file next to the target,
/// renamed over it, and the folder synced. A file that already holds the result counts as written.
pub fn replace(order: &Replacement) -> Result<(), WriteError> {
    let path = &order.path;
    let io_error = |error: io::Error| WriteError::Failed(FileError::io(path, &error));
    if resolve(&order.folders, path)? != *path {
        return Err(FileError::Outside(path.display().to_string()).into());
    }
    let dir = ParentDir::of(path).map_err(io_error)?;
    let read = |dir: &ParentDir| read_in(dir, path, order.limit_mib);
    let version = dir.as_ref().and_then(ParentDir::version);
    let now = dir.as_ref().map(read).transpose()?.flatten();
    if now.as_deref() == Some(&order.bytes[..]) {
        return Ok(());
    }
    if now.as_deref().map(Digest::of) != order.expect {
        return Err(WriteError::BaseMoved(now));
    }
    let dir = match dir {
        Some(dir) => dir,
        None => ParentDir::create_all(path).map_err(io_error)?,
    };
    // A rename would replace a file that the user may not write.
    let attributes = match now {
        Some(_) => {
            dir.is_writable().map_err(io_error)?;
            Some(attributes_of(&dir, path)?)
        }
        None => None,
    };
    let name = temporary_file_name(order.review);
    // Left by a hub that was killed at this point.
    dir.remove_sibling(&name);
    let is_private = attributes.is_some() || order.mode.is_some();
    let mut temporary = dir.temporary(&name, is_private).map_err(io_error)?;
    write_temporary(&mut temporary, order, attributes.as_ref())?;
    let lock = write_lock();
    // The file may have been written in the meantime; the remaining window is the rename itself.
    if dir.version() != version {
        return Err(WriteError::BaseMoved(read(&dir)?));
    }
    if order.expect.is_some() {
        temporary.replace().map_err(io_error)?;
    } else if let Err(error) = temporary.create() {
        return match read(&dir)? {
            Some(bytes) => Err(WriteError::BaseMoved(Some(bytes))),
            None => Err(io_error(error)),
        };
    }
    drop(lock);
    dir.sync().map_err(io_error)
}

/// Taken for the last check and the rename: between a writer's check and its rename, no other writer of this process
/// renames.
static WRITE_LOCK: Mutex<()> = Mutex::new(());

fn write_lock() -> impl Drop {
    WRITE_LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn temporary_file_name(review: ReviewId) -> String {
    format!(".linkspan-{}-{review}", rustix::process::getuid().as_raw())
}

/// Removes the temporary file of a hub that was killed while it replaced this file.
pub fn remove_leftovers(folders: &[PathBuf], path: &Path, review: ReviewId) {
    if let Some(dir) = resolve(folders, path).ok().and_then(|path| ParentDir::of(&path).ok().flatten()) {
        dir.remove_sibling(&temporary_file_name(review));
    }
}

/// Removes the file if it holds the expected bytes; returns its mode.
pub fn remove(order: &Removal) -> Result<u32, WriteError> {
    let path = &order.path;
    let io_error = |error: io::Error| WriteError::Failed(FileError::io(path, &error));
    if resolve(&order.folders, path)? != *path {
        return Err(FileError::Outside(path.display().to_string()).into());
    }
    let Some(dir) = ParentDir::of(path).map_err(io_error)? else { return Err(WriteError::BaseMoved(None)) };
    let version = dir.version();
    let now = read_in(&dir, path, order.limit_mib)?;
    let lock = write_lock();
    if now.as_deref().map(Digest::of) != Some(order.expect) || dir.version() != version {
        return Err(WriteError::BaseMoved(now));
    }
    let Some(mode) = dir.mode().map_err(io_error)? else {
        return Err(WriteError::BaseMoved(None));
    };
    dir.remove().map_err(io_error)?;
    drop(lock);
    dir.sync().map_err(io_error)?;
    Ok(mode & 0o777)
}

/// The attributes of a file, for its replacement. A file with several hard links is refused: writing into it would
/// leave half of the change there if we are killed, and replacing it would separate the links.
fn attributes_of(dir: &ParentDir, path: &Path) -> Result<Attributes, WriteError> {
    let io_error = |error: io::Error| WriteError::Failed(FileError::io(path, &error));
    let file = dir.open().map_err(io_error)?;
    let links = file.metadata().map_err(io_error)?.nlink();
    if links > 1 {
        return Err(FileError::Linked { path: path.display().to_string(), links }.into());
    }
    Attributes::of(&file).map_err(io_error)
}

/// A new file gets what the system gives to every new file of that folder, or the mode that it had before.
fn write_temporary(
    temporary: &mut Temporary<'_>,
    order: &Replacement,
    attributes: Option<&Attributes>,
) -> Result<(), WriteError> {
    let io_error = |error: io::Error| WriteError::Failed(FileError::io(&order.path, &error));
    temporary.file.write_all(&order.bytes).map_err(io_error)?;
    match (attributes, order.mode) {
        (Some(attributes), _) => attributes.copy_to(&temporary.file).map_err(|error| match error {
            CopyError::NotKept(what) => {
                FileError::NotKept { path: order.path.display().to_string(), what }.into()
            }
            CopyError::Io(error) => io_error(error),
        })?,
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
        let state = look(&ws.folders(), &ws.root.join("link"), Want::FilePath).unwrap();
        assert_eq!(state.path, ws.root.join("real"));
        replace(&ws.order("real", b"new", Some(b"old"))).unwrap();
        assert_eq!(fs::read(ws.root.join("link")).unwrap(), b"new");
        assert!(fs::symlink_metadata(ws.root.join("link")).unwrap().is_symlink());
    }

    #[test]
    fn the_mode_survives_and_no_temporary_file_is_left() {
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
    fn the_temporary_file_of_a_killed_hub_is_removed() {
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
    fn only_a_file_with_the_expected_bytes_is_removed() {
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
    fn a_replacement_sees_what_another_writer_wrote_just_before() {
        let ws = workspace();
        let (path, temporary) = (ws.root.join("a"), ws.root.join(temporary_file_name(ReviewId(7))));
        fs::write(&path, "old").unwrap();
        let order = ws.order("a", b"new", Some(b"old"));
        let other = write_lock();
        let moved = std::thread::scope(|scope| {
            let writer = scope.spawn(|| replace(&order));
            while !writer.is_finished() && fs::read(&temporary).unwrap_or_default() != b"new" {
                std::thread::yield_now();
            }
            // Long enough for the writer to be first if it did not wait.
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert_eq!(fs::read(&path).unwrap(), b"old");
            fs::write(&path, "theirs").unwrap();
            drop(other);
            writer.join().unwrap()
        });
        assert_eq!(moved, Err(WriteError::BaseMoved(Some(b"theirs".to_vec()))));
    }

    #[test]
    fn only_our_temporary_file_next_to_a_file_is_removed() {
        let ws = workspace();
        fs::write(ws.root.join("a"), "mine").unwrap();
        for place in [&ws.root, &ws.outside] {
            fs::write(place.join(temporary_file_name(ReviewId(7))), "ha").unwrap();
        }
        remove_leftovers(&ws.folders(), &ws.root.join("a"), ReviewId(7));
        remove_leftovers(&ws.folders(), &ws.outside.join("a"), ReviewId(7));
        assert_eq!(fs::read_dir(&ws.root).unwrap().count(), 1);
        assert_eq!(fs::read_dir(&ws.outside).unwrap().count(), 1, "not ours");
    }

    #[test]
    fn a_write_that_already_happened_is_not_done_twice() {
        let ws = workspace();
        fs::write(ws.root.join("a"), "new").unwrap();
        let before = ParentDir::of(&ws.root.join("a")).unwrap().unwrap().version();
        replace(&ws.order("a", b"new", Some(b"old"))).unwrap();
        assert_eq!(ParentDir::of(&ws.root.join("a")).unwrap().unwrap().version(), before);
    }

    const ACL: &str = "system.posix_acl_access";
    const DEFAULT_ACL: &str = "system.posix_acl_default";

    /// An access control list as Linux stores it: user rw-, user 1234 rw-, group r--, mask rw-, other ---.
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
    fn a_file_with_several_hard_links_is_refused_and_keeps_them() {
        let ws = workspace();
        fs::write(ws.root.join("a"), "old").unwrap();
        fs::hard_link(ws.root.join("a"), ws.root.join("b")).unwrap();
        let refused = replace(&ws.order("a", b"new", Some(b"old"))).unwrap_err();
        let WriteError::Failed(error) = refused else { panic!("{refused:?}") };
        assert!(error.to_string().contains("2 names (hard links)"), "{error}");
        assert_eq!(fs::read(ws.root.join("b")).unwrap(), b"old");
        assert_eq!(fs::metadata(ws.root.join("a")).unwrap().nlink(), 2);
        assert_eq!(fs::read_dir(&ws.root).unwrap().count(), 2, "no temporary file is left");
        fs::remove_file(ws.root.join("b")).unwrap();
        replace(&ws.order("a", b"new", Some(b"old"))).unwrap();
    }
}

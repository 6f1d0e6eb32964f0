//! Replaces a whole file: all of the old bytes or all of the new, whatever happens in between, with its mode, owner and
//! extended attributes. Only if it still holds the bytes that were looked at.

use std::ffi::CStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use linkspan_client::proposal::LARGEST_FILE;
use linkspan_workspace::open_nofollow;
use rustix::fs::{OFlags, XattrFlags, fgetxattr, flistxattr, fsetxattr};
use tempfile::Builder;

/// Why nothing was written.
#[derive(Debug)]
pub(super) enum ReplaceError {
    /// It holds other bytes by now.
    Moved,
    /// It has this many hard links.
    Links(u64),
    Io(io::Error),
}

impl From<io::Error> for ReplaceError {
    fn from(error: io::Error) -> ReplaceError {
        ReplaceError::Io(error)
    }
}

/// Without waiting for a pipe or a device, and without following a link: the path is real.
fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default()).open(path)
}

/// The bytes of a file; `None` if it does not exist.
pub(super) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match open(OpenOptions::new().read(true), path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    // One byte more, to notice a file that is too large.
    file.take(LARGEST_FILE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// `path` is real. Folders on the way that do not exist are created.
pub(super) fn replace(path: &Path, expected: Option<&[u8]>, bytes: &[u8]) -> Result<(), ReplaceError> {
    let parts = path.parent().zip(path.file_name());
    let (folder, name) = parts.ok_or_else(|| io::Error::other("it is not the path of a file"))?;
    fs::create_dir_all(folder)?;
    let held = HeldFolder::open(folder)?;
    let (folder, path) = (held.path(), held.path().join(name));
    let path = path.as_path();
    let original = match expected {
        Some(_) => Some(open(OpenOptions::new().read(true).write(true), path)?),
        None => None,
    };
    if let Some(links) = original.as_ref().map(File::metadata).transpose()?.map(|about| about.nlink())
        && links > 1
    {
        return Err(ReplaceError::Links(links));
    }
    let mode = if original.is_some() { 0o600 } else { 0o666 };
    let mut temporary = Builder::new()
        .prefix(".linkspan-agent-")
        .permissions(fs::Permissions::from_mode(mode))
        .tempfile_in(folder)?;
    temporary.write_all(bytes)?;
    if let Some(original) = &original {
        copy_attributes(original, temporary.as_file())?;
    }
    temporary.as_file().sync_all()?;
    // The remaining window is the rename itself.
    if read(path)?.as_deref() != expected {
        return Err(ReplaceError::Moved);
    }
    match expected {
        Some(_) => temporary.persist(path).map_err(|error| error.error)?,
        None => temporary.persist_noclobber(path).map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => ReplaceError::Moved,
            _ => ReplaceError::Io(error.error),
        })?,
    };
    // Some file systems cannot sync a folder; the file is renamed all the same.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// A folder held open: a link that is put on its path after that path was checked leads nowhere else.
struct HeldFolder {
    path: PathBuf,
    _descriptor: OwnedFd,
}

impl HeldFolder {
    fn open(folder: &Path) -> io::Result<HeldFolder> {
        let descriptor = open_nofollow(folder, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let held = PathBuf::from(format!("/proc/self/fd/{}", descriptor.as_raw_fd()));
        // Elsewhere than on Linux the path itself has to do.
        let path = if held.exists() { held } else { folder.to_owned() };
        Ok(HeldFolder { path, _descriptor: descriptor })
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

fn copy_attributes(from: &File, to: &File) -> io::Result<()> {
    let about = from.metadata()?;
    let is_same_owner = fchown(to, Some(about.uid()), Some(about.gid())).is_ok()
        || fchown(to, None, Some(about.gid())).is_ok();
    let mut names = vec![0; 64 * 1024];
    // A file system without extended attributes has none to copy.
    let length = flistxattr(from, &mut names).unwrap_or(0);
    for name in names.get(..length).unwrap_or_default().split_inclusive(|byte| *byte == 0) {
        let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
        let mut value = vec![0; 64 * 1024];
        if let Ok(length) = fgetxattr(from, name, &mut value) {
            // Some belong to the system, which sets them itself.
            let _ = fsetxattr(to, name, value.get(..length).unwrap_or_default(), XattrFlags::empty());
        }
    }
    // The permissions of one group must not go to another.
    let mode = about.mode() & if is_same_owner { 0o7777 } else { 0o700 };
    to.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_file_is_replaced_with_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("run.sh");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        let before = fs::metadata(&path).unwrap().ino();
        replace(&path, Some(b"old"), b"new").unwrap();
        let about = fs::metadata(&path).unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), about.mode() & 0o7777), (&b"new"[..], 0o751));
        assert_ne!(about.ino(), before);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file is left");
    }

    #[test]
    fn a_new_file_gets_its_folders_and_the_usual_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("a/b/c");
        replace(&path, None, b"x").unwrap();
        let usual = folder.path().join("usual");
        fs::write(&usual, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode();
        assert_eq!(mode(&path), mode(&usual));
    }

    #[test]
    fn a_file_that_is_not_what_was_looked_at_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("f");
        fs::write(&path, "theirs").unwrap();
        for expected in [Some(&b"old"[..]), None] {
            assert!(matches!(replace(&path, expected, b"new"), Err(ReplaceError::Moved)));
        }
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        fs::hard_link(&path, folder.path().join("g")).unwrap();
        assert!(matches!(replace(&path, Some(b"theirs"), b"new"), Err(ReplaceError::Links(2))));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_link_that_is_put_on_the_way_is_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        fs::create_dir_all(home.join("outside")).unwrap();
        fs::write(home.join("outside/f"), "old").unwrap();
        std::os::unix::fs::symlink("outside", home.join("link")).unwrap();
        std::os::unix::fs::symlink("outside/f", home.join("f")).unwrap();
        for path in ["link/f", "f"] {
            let result = replace(&home.join(path), Some(b"old"), b"new");
            assert!(matches!(result, Err(ReplaceError::Io(_))), "{path}: {result:?}");
        }
        assert!(replace(&home.join("link/g"), None, b"new").is_err());
        assert_eq!(fs::read(home.join("outside/f")).unwrap(), b"old");
        assert_eq!(fs::read_dir(home.join("outside")).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_may_not_be_written_is_not_replaced() {
        if rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("f");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        assert!(matches!(replace(&path, Some(b"old"), b"new"), Err(ReplaceError::Io(_))));
    }
}

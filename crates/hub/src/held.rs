//! The folder of a file, held open: what is done beside or to the file is done there, whatever its path leads to by
//! then. Knows names and descriptors, not what is written.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;

use linkspan_workspace::open_straight;
use rustix::fs::{
    Access, AtFlags, FileType, Mode, OFlags, accessat, linkat, mkdirat, openat, statat, unlinkat,
};
use rustix::io::Errno;

#[derive(Debug)]
pub(crate) struct Held {
    folder: File,
    name: OsString,
}

/// Inode, size and time of change: differs when anyone wrote or replaced the file.
pub(crate) type Identity = [i128; 4];

impl Held {
    /// `path` is real. `None` where its folder is missing.
    pub(crate) fn of(path: &Path) -> io::Result<Option<Held>> {
        let (folder, name) = split(path)?;
        match open_straight(folder, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(folder) => Ok(Some(Held { folder: folder.into(), name: name.to_owned() })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The same, with every folder on the way that is missing.
    pub(crate) fn making_folders(path: &Path) -> io::Result<Held> {
        if let Some(held) = Held::of(path)? {
            return Ok(held);
        }
        let (folder, name) = split(path)?;
        let above = Held::making_folders(folder)?;
        match mkdirat(&above.folder, &above.name, Mode::from_raw_mode(0o777)) {
            Err(Errno::EXIST) => {}
            made => made?,
        }
        above.sync()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(&above.folder, &above.name, flags, Mode::empty())?;
        Ok(Held { folder: folder.into(), name: name.to_owned() })
    }

    pub(crate) fn identity(&self) -> Option<Identity> {
        let about = statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some([about.st_ino.into(), about.st_size.into(), about.st_ctime.into(), about.st_ctime_nsec.into()])
    }

    /// `None` where there is nothing.
    pub(crate) fn kind(&self) -> io::Result<Option<FileType>> {
        match statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(about) => Ok(Some(FileType::from_raw_mode(about.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn open(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(openat(&self.folder, &self.name, flags, Mode::empty())?.into())
    }

    /// `None` where there is nothing.
    pub(crate) fn mode(&self) -> io::Result<Option<u32>> {
        match statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(about) => Ok(Some(about.st_mode)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the person may write to it.
    pub(crate) fn is_writable(&self) -> io::Result<()> {
        Ok(accessat(&self.folder, &self.name, Access::WRITE_OK, AtFlags::empty())?)
    }

    /// An empty file beside it; gone when dropped. Only its owner can read a private one; others can read any other as
    /// they can read all new files of that folder.
    pub(crate) fn temporary(&self, name: &str, is_private: bool) -> io::Result<Temporary<'_>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if is_private { 0o600 } else { 0o666 };
        let file = openat(&self.folder, name, flags, Mode::from_raw_mode(mode))?;
        Ok(Temporary { held: self, name: name.to_owned(), file: file.into() })
    }

    pub(crate) fn remove(&self) -> io::Result<()> {
        Ok(unlinkat(&self.folder, &self.name, AtFlags::empty())?)
    }

    /// Another file of the same folder, if it is there.
    pub(crate) fn remove_beside(&self, name: &str) {
        let _ = unlinkat(&self.folder, name, AtFlags::empty());
    }

    /// Some file systems cannot, and what was renamed is renamed all the same.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let cannot = |error: &io::Error| {
            Errno::from_io_error(error).is_some_and(|errno| [Errno::INVAL, Errno::NOTSUP].contains(&errno))
        };
        match self.folder.sync_all() {
            Err(error) if !cannot(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Temporary<'h> {
    held: &'h Held,
    name: String,
    pub(crate) file: File,
}

impl Temporary<'_> {
    /// Takes the place of the file.
    pub(crate) fn replace(self) -> io::Result<()> {
        let Held { folder, name } = self.held;
        Ok(rustix::fs::renameat(folder, &self.name, folder, name)?)
    }

    /// Takes the place if nothing is there.
    pub(crate) fn appear(self) -> io::Result<()> {
        let Held { folder, name } = self.held;
        match self.rename_to_nothing() {
            // This file system cannot: a second name for it, then, and the first goes.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                Ok(linkat(folder, &self.name, folder, name, AtFlags::empty())?)
            }
            renamed => Ok(renamed?),
        }
    }

    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    fn rename_to_nothing(&self) -> rustix::io::Result<()> {
        let Held { folder, name } = self.held;
        rustix::fs::renameat_with(folder, &self.name, folder, name, rustix::fs::RenameFlags::NOREPLACE)
    }

    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    fn rename_to_nothing(&self) -> rustix::io::Result<()> {
        Err(Errno::NOSYS)
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        self.held.remove_beside(&self.name);
    }
}

fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    path.parent().zip(path.file_name()).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_written_stays_in_the_folder_that_was_held() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let (inside, outside, moved) = (home.join("in"), home.join("out"), home.join("moved"));
        fs::create_dir(&outside).unwrap();
        let held = Held::making_folders(&inside.join("deep/new.txt")).unwrap();
        fs::rename(inside.join("deep"), &moved).unwrap();
        symlink(&outside, inside.join("deep")).unwrap();
        let mut temporary = held.temporary(".t", true).unwrap();
        temporary.file.write_all(b"text").unwrap();
        temporary.appear().unwrap();
        assert_eq!(fs::read(moved.join("new.txt")).unwrap(), b"text");
        assert_eq!(fs::read_dir(&moved).unwrap().count(), 1);
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        assert!(held.temporary(".t", true).unwrap().appear().is_err(), "it is there already");
        assert!(Held::of(&inside.join("deep/new.txt")).is_err(), "a symlink is not followed");
        assert!(Held::making_folders(&inside.join("deep/er/new.txt")).is_err());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }
}

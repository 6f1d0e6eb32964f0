//! The folder of a file, held open: whatever is done to the file, or to files next to it, happens in that folder, no
//! matter where its path leads by then. Knows names and descriptors, not what is written.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;

use linkspan_workspace::open_nofollow;
use rustix::fs::{
    Access, AtFlags, FileType, Mode, OFlags, accessat, linkat, mkdirat, openat, statat, unlinkat,
};
use rustix::io::Errno;

#[derive(Debug)]
pub(crate) struct ParentDir {
    folder: File,
    name: OsString,
}

/// Inode, size and time of change: differs when the file was written or replaced.
pub(crate) type FileVersion = [i128; 4];

impl ParentDir {
    /// `path` is canonical. `None` if its folder does not exist.
    pub(crate) fn of(path: &Path) -> io::Result<Option<ParentDir>> {
        let (folder, name) = split(path)?;
        match open_nofollow(folder, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(folder) => Ok(Some(ParentDir { folder: folder.into(), name: name.to_owned() })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Like `of`, and creates every folder on the way that does not exist.
    pub(crate) fn create_all(path: &Path) -> io::Result<ParentDir> {
        if let Some(dir) = ParentDir::of(path)? {
            return Ok(dir);
        }
        let (folder, name) = split(path)?;
        let above = ParentDir::create_all(folder)?;
        match mkdirat(&above.folder, &above.name, Mode::from_raw_mode(0o777)) {
            Err(Errno::EXIST) => {}
            made => made?,
        }
        above.sync()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(&above.folder, &above.name, flags, Mode::empty())?;
        Ok(ParentDir { folder: folder.into(), name: name.to_owned() })
    }

    pub(crate) fn version(&self) -> Option<FileVersion> {
        let about = statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some([about.st_ino.into(), about.st_size.into(), about.st_ctime.into(), about.st_ctime_nsec.into()])
    }

    /// `None` if nothing exists there.
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

    /// `None` if nothing exists there.
    pub(crate) fn mode(&self) -> io::Result<Option<u32>> {
        match statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(about) => Ok(Some(about.st_mode)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the user may write to it.
    pub(crate) fn is_writable(&self) -> io::Result<()> {
        Ok(accessat(&self.folder, &self.name, Access::WRITE_OK, AtFlags::empty())?)
    }

    /// Creates an empty file next to it, which is removed when dropped. A private one can be read by its owner only,
    /// any other like all new files of that folder.
    pub(crate) fn temporary(&self, name: &str, is_private: bool) -> io::Result<Temporary<'_>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if is_private { 0o600 } else { 0o666 };
        let file = openat(&self.folder, name, flags, Mode::from_raw_mode(mode))?;
        Ok(Temporary { dir: self, name: name.to_owned(), file: file.into() })
    }

    pub(crate) fn remove(&self) -> io::Result<()> {
        Ok(unlinkat(&self.folder, &self.name, AtFlags::empty())?)
    }

    /// Removes another file of the same folder, if it exists.
    pub(crate) fn remove_sibling(&self, name: &str) {
        let _ = unlinkat(&self.folder, name, AtFlags::empty());
    }

    /// Some file systems cannot sync a folder; what was renamed is renamed all the same.
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
    dir: &'h ParentDir,
    name: String,
    pub(crate) file: File,
}

impl Temporary<'_> {
    /// Replaces the file.
    pub(crate) fn replace(self) -> io::Result<()> {
        let ParentDir { folder, name } = self.dir;
        Ok(rustix::fs::renameat(folder, &self.name, folder, name)?)
    }

    /// Becomes the file if nothing exists at its path.
    pub(crate) fn create(self) -> io::Result<()> {
        let ParentDir { folder, name } = self.dir;
        match self.rename_without_replacing() {
            // This file system cannot rename without replacing: make a second link, and dropping removes the first.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                Ok(linkat(folder, &self.name, folder, name, AtFlags::empty())?)
            }
            renamed => Ok(renamed?),
        }
    }

    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    fn rename_without_replacing(&self) -> rustix::io::Result<()> {
        let ParentDir { folder, name } = self.dir;
        rustix::fs::renameat_with(folder, &self.name, folder, name, rustix::fs::RenameFlags::NOREPLACE)
    }

    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    fn rename_without_replacing(&self) -> rustix::io::Result<()> {
        Err(Errno::NOSYS)
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        self.dir.remove_sibling(&self.name);
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
    fn a_file_is_written_to_the_folder_that_is_held_open() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let (inside, outside, moved) = (home.join("in"), home.join("out"), home.join("moved"));
        fs::create_dir(&outside).unwrap();
        let dir = ParentDir::create_all(&inside.join("deep/new.txt")).unwrap();
        fs::rename(inside.join("deep"), &moved).unwrap();
        symlink(&outside, inside.join("deep")).unwrap();
        let mut temporary = dir.temporary(".t", true).unwrap();
        temporary.file.write_all(b"text").unwrap();
        temporary.create().unwrap();
        assert_eq!(fs::read(moved.join("new.txt")).unwrap(), b"text");
        assert_eq!(fs::read_dir(&moved).unwrap().count(), 1);
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        assert!(dir.temporary(".t", true).unwrap().create().is_err(), "it already exists");
        assert!(ParentDir::of(&inside.join("deep/new.txt")).is_err(), "a symlink is not followed");
        assert!(ParentDir::create_all(&inside.join("deep/er/new.txt")).is_err());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }
}

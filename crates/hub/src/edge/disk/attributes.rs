//! What a file has besides its bytes: owner, group, mode, access control list and extended attributes. Read from a
//! file that is to be replaced, and copied to its replacement.

use std::collections::BTreeMap;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Attributes {
    uid: u32,
    gid: u32,
    mode: u32,
    /// By name. On Linux the access control list is one of them.
    extended: BTreeMap<String, Vec<u8>>,
}

/// Why the attributes cannot be copied.
#[derive(Debug)]
pub(crate) enum CopyError {
    /// The system does not permit this user to set this one.
    NotKept(String),
    Io(io::Error),
}

impl From<io::Error> for CopyError {
    fn from(error: io::Error) -> CopyError {
        CopyError::Io(error)
    }
}

impl Attributes {
    pub(crate) fn of(file: &File) -> io::Result<Attributes> {
        let about = file.metadata()?;
        Ok(Attributes {
            uid: about.uid(),
            gid: about.gid(),
            mode: about.mode() & 0o7777,
            extended: extended::all(file)?,
        })
    }

    /// Copies them to a file that only its owner can open yet. Access to it is never wider than access to the
    /// original, not even for a moment.
    pub(crate) fn copy_to(&self, file: &File) -> Result<(), CopyError> {
        let has = Attributes::of(file)?;
        let mode = match fchown(file, Some(self.uid), Some(self.gid)) {
            Ok(()) => self.mode,
            // Only root may give a file to another user. Then the setuid and setgid bits are dropped.
            Err(_) if has.gid == self.gid || fchown(file, None, Some(self.gid)).is_ok() => self.mode & 0o1777,
            // The permissions of one group must not go to another.
            Err(_) => return Err(CopyError::NotKept("its group".to_owned())),
        };
        // A folder may give its new files an access control list of their own.
        for name in has.extended.keys().filter(|name| !self.extended.contains_key(*name)) {
            match extended::remove(file, name) {
                Err(_) if is_managed_by_system(name) => {}
                removed => removed.map_err(|_| not_kept(name))?,
            }
        }
        // Before the mode: with an access control list, the group bits of the mode are the list's mask; without one,
        // they are the group's permissions.
        for (name, value) in &self.extended {
            if has.extended.get(name) == Some(value) || is_bound_to_content(name) {
                continue;
            }
            match extended::set(file, name, value) {
                Err(_) if is_managed_by_system(name) => {}
                set => set.map_err(|_| not_kept(name))?,
            }
        }
        Ok(file.set_permissions(Permissions::from_mode(mode))?)
    }
}

fn not_kept(name: &str) -> CopyError {
    CopyError::NotKept(match name {
        "system.posix_acl_access" => "its access control list".to_owned(),
        name => format!("its extended attribute {name}"),
    })
}

/// Set by rules of the system, such as SELinux, which also decide who may change them.
fn is_managed_by_system(name: &str) -> bool {
    name.starts_with("security.")
}

/// The system removes these whenever the bytes change.
fn is_bound_to_content(name: &str) -> bool {
    ["security.capability", "security.ima", "security.evm"].contains(&name)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod extended {
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::io;

    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
    use rustix::io::Errno;

    #[cfg(target_vendor = "apple")]
    const NOT_FOUND: Errno = Errno::NOATTR;
    #[cfg(not(target_vendor = "apple"))]
    const NOT_FOUND: Errno = Errno::NODATA;

    /// Empty on a file system that has none. A name that is not UTF-8 is skipped; no system has one.
    pub(super) fn all(file: &File) -> io::Result<BTreeMap<String, Vec<u8>>> {
        let names = match read(|buffer| flistxattr(file, buffer)) {
            Err(Errno::NOTSUP | Errno::NOSYS | Errno::PERM) => return Ok(BTreeMap::new()),
            names => names?,
        };
        let mut all = BTreeMap::new();
        for name in names.split(|byte| *byte == 0).filter_map(|name| str::from_utf8(name).ok()) {
            if name.is_empty() {
                continue;
            }
            match read(|buffer| fgetxattr(file, name, buffer)) {
                Ok(value) => drop(all.insert(name.to_owned(), value)),
                // Removed in the meantime, or not readable for this user.
                Err(NOT_FOUND | Errno::PERM | Errno::ACCESS | Errno::NOTSUP) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(all)
    }

    pub(super) fn set(file: &File, name: &str, value: &[u8]) -> io::Result<()> {
        Ok(fsetxattr(file, name, value, XattrFlags::empty())?)
    }

    pub(super) fn remove(file: &File, name: &str) -> io::Result<()> {
        match fremovexattr(file, name) {
            Err(NOT_FOUND) => Ok(()),
            removed => Ok(removed?),
        }
    }

    /// Linux returns at most 64 KiB.
    const MAX_BYTES: usize = 1024 * 1024;

    fn read(ask: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> rustix::io::Result<Vec<u8>> {
        let mut buffer = vec![0; 4096];
        loop {
            match ask(&mut buffer) {
                Ok(length) => {
                    buffer.truncate(length);
                    return Ok(buffer);
                }
                Err(Errno::RANGE) if buffer.len() < MAX_BYTES => buffer.resize(buffer.len() * 4, 0),
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod extended {
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::io;

    pub(super) fn all(_: &File) -> io::Result<BTreeMap<String, Vec<u8>>> {
        Ok(BTreeMap::new())
    }

    pub(super) fn set(_: &File, _: &str, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn remove(_: &File, _: &str) -> io::Result<()> {
        Ok(())
    }
}

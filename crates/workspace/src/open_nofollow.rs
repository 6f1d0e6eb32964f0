//! Opens a real path without following a symlink anywhere in it: one that is put there after the path was checked is
//! not followed.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

/// `path` is absolute and real: all of its symlinks are resolved. Never blocks on the other end of a pipe.
pub fn open_nofollow(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    match at_once(path, flags) {
        // `openat2` is unknown to this kernel, or blocked in this container.
        Err(Errno::NOSYS | Errno::PERM) => Ok(step_by_step(path, flags)?),
        opened => Ok(opened?),
    }
}

#[cfg(target_os = "linux")]
fn at_once(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

#[cfg(not(target_os = "linux"))]
fn at_once(_: &Path, _: OFlags) -> rustix::io::Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// A folder in the path needs search permission, not read permission.
#[cfg(target_os = "linux")]
const ON_THE_WAY: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const ON_THE_WAY: OFlags = OFlags::RDONLY;

fn step_by_step(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let folder = ON_THE_WAY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::DIRECTORY;
    let mut parts = path.components().peekable();
    if parts.next() != Some(Component::RootDir) {
        return Err(Errno::INVAL);
    }
    let mut here = openat(CWD, "/", folder, Mode::empty())?;
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else { return Err(Errno::INVAL) };
        let flags = if parts.peek().is_some() { folder } else { flags };
        here = openat(&here, name, flags, Mode::empty())?;
    }
    Ok(here)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_symlink_on_the_way_is_followed_whichever_way_it_is_opened() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        fs::create_dir(home.join("folder")).unwrap();
        fs::write(home.join("folder/file"), "text").unwrap();
        symlink("folder", home.join("link")).unwrap();
        symlink("file", home.join("folder/other")).unwrap();
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        for open in [
            |path: &Path, _| open_nofollow(path, OFlags::RDONLY),
            |path: &Path, flags| step_by_step(path, flags).map_err(io::Error::from),
        ] {
            let mut text = String::new();
            let file = open(&home.join("folder/file"), flags).unwrap();
            fs::File::from(file).read_to_string(&mut text).unwrap();
            assert_eq!(text, "text");
            for name in ["link/file", "folder/other", "link"] {
                assert!(open(&home.join(name), flags).is_err(), "{name}");
            }
            assert!(open(Path::new("folder/file"), flags).is_err(), "it is not absolute");
        }
    }
}

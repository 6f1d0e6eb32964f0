//! Directories of lock files: where they are, reading them as if somebody had laid traps in them, and removing
//! a file only if it is still the one that was read. Does not know what the files mean.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, open, openat, statat, unlinkat};
use rustix::io::{Errno, read, retry_on_intr};

use super::Seen;
use super::lock_file::{MAX_BYTES, gemini_port_of, port_of};
use super::reason::Reason;
use super::surroundings::{CLAUDE_CONFIG_DIR, Surroundings};

/// More editors than anybody has; the rest of the directory is not looked at.
const MAX_FILES: usize = 4096;

/// Which protocol a directory is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Claude,
    Nexus3,
    Gemini,
    Qwen,
    Clio,
}

impl Kind {
    /// Whether a file of this name is one of theirs, and its port where that is in the name.
    fn port_in(self, name: &str) -> Option<Option<u16>> {
        match self {
            Kind::Claude | Kind::Nexus3 | Kind::Qwen => port_of(name).map(Some),
            Kind::Gemini => gemini_port_of(name).map(Some),
            Kind::Clio => (name == "bridge.json").then_some(None),
        }
    }
}

/// The directories there may be, the user's own first.
pub(super) fn places(surroundings: &Surroundings) -> Vec<(Kind, PathBuf)> {
    let home = &surroundings.places.home;
    let claude = surroundings.directory(CLAUDE_CONFIG_DIR).unwrap_or_else(|| home.join(".claude"));
    let mut places = vec![
        (Kind::Claude, claude.join("ide")),
        (Kind::Nexus3, home.join(".nexus3/ide")),
        (Kind::Gemini, surroundings.temporary().join("gemini/ide")),
        (Kind::Qwen, home.join(".qwen/ide")),
        (Kind::Clio, home.join(".clio/ide")),
    ];
    if let Some(wsl) = &surroundings.wsl {
        let profiles = match &wsl.profile {
            Some(profile) => vec![profile.clone()],
            None => {
                fs::read_dir(wsl.users()).into_iter().flatten().flatten().map(|user| user.path()).collect()
            }
        };
        for profile in profiles {
            let sides = [
                (Kind::Claude, ".claude/ide"),
                (Kind::Nexus3, ".nexus3/ide"),
                (Kind::Qwen, ".qwen/ide"),
                (Kind::Clio, ".clio/ide"),
            ];
            let sides = sides.map(|(kind, folder)| (kind, profile.join(folder)));
            places.extend(sides.into_iter().filter(|(_, place)| place.is_dir()));
        }
    }
    places
}

/// A file by which an editor makes itself known.
#[derive(Debug)]
pub(super) struct Entry {
    /// None where only the contents tell.
    pub(super) port: Option<u16>,
    pub(super) name: String,
    pub(super) contents: Result<Vec<u8>, Reason>,
    /// Which file it was, whatever has its name by now.
    inode: (u64, u64),
}

/// A directory of ours.
#[derive(Debug)]
pub(super) struct LockDir {
    directory: OwnedFd,
    kind: Kind,
    uid: u32,
}

impl LockDir {
    /// Opens a directory that belongs to `uid`.
    pub(super) fn open(place: &Path, kind: Kind, uid: u32) -> Result<LockDir, Seen> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = match open(place, flags, Mode::empty()) {
            Ok(directory) => directory,
            Err(Errno::NOENT) => return Err(Seen::Nothing),
            Err(error) => return Err(failed(error)),
        };
        match fstat(&directory) {
            Ok(stat) if stat.st_uid != uid => Err(Seen::OtherOwner { uid: stat.st_uid }),
            Ok(_) => Ok(LockDir { directory, kind, uid }),
            Err(error) => Err(failed(error)),
        }
    }

    /// Every lock file, by port.
    pub(super) fn read(&self) -> Result<Vec<Entry>, Seen> {
        let listing = Dir::read_from(&self.directory).map_err(failed)?;
        let mut entries = Vec::new();
        for listed in listing {
            let listed = listed.map_err(failed)?;
            let Ok(name) = listed.file_name().to_str() else { continue };
            if let Some(port) = self.kind.port_in(name).filter(|_| entries.len() < MAX_FILES) {
                let (inode, contents) = match self.contents(name) {
                    Ok((inode, bytes)) => (inode, Ok(bytes)),
                    Err(reason) => ((0, 0), Err(reason)),
                };
                entries.push(Entry { port, name: name.to_owned(), contents, inode });
            }
        }
        entries.sort_by_key(|entry| entry.port);
        Ok(entries)
    }

    /// Not through a link, which could lead to a file of ours that is none of theirs; and not waiting, because
    /// a pipe would keep us for ever.
    fn contents(&self, name: &str) -> Result<((u64, u64), Vec<u8>), Reason> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let unreadable = |error: Errno| match error {
            Errno::LOOP => Reason::Unreadable("it is a symbolic link".to_owned()),
            error => Reason::Unreadable(describe(error)),
        };
        let file = openat(self.directory.as_fd(), name, flags, Mode::empty()).map_err(unreadable)?;
        let stat = fstat(&file).map_err(unreadable)?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() {
            return Err(Reason::Unreadable("it is not a regular file".to_owned()));
        }
        if stat.st_uid != self.uid {
            return Err(Reason::OtherOwner { uid: stat.st_uid });
        }
        // Only so much that it is known to be too much; and no second look for an end that is known.
        let mut bytes = vec![0; usize::try_from(stat.st_size).unwrap_or(usize::MAX).min(MAX_BYTES + 1)];
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match retry_on_intr(|| read(&file, &mut *rest)).map_err(unreadable)? {
                0 => break,
                length => filled += length,
            }
        }
        bytes.truncate(filled);
        Ok((inode(&stat), bytes))
    }

    /// Removes a file if it is still the one that was read.
    pub(super) fn remove(&self, entry: &Entry) -> bool {
        let directory = self.directory.as_fd();
        let now = statat(directory, entry.name.as_str(), AtFlags::SYMLINK_NOFOLLOW);
        let same = now.is_ok_and(|now| inode(&now) == entry.inode && now.st_uid == self.uid);
        same && unlinkat(directory, entry.name.as_str(), AtFlags::empty()).is_ok()
    }
}

#[expect(clippy::useless_conversion, clippy::unnecessary_cast, reason = "its width depends on the system")]
fn inode(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, u64::from(stat.st_ino))
}

fn failed(error: Errno) -> Seen {
    Seen::Failed(describe(error))
}

fn describe(error: Errno) -> String {
    match error {
        Errno::ACCESS | Errno::PERM => "permission denied".to_owned(),
        Errno::NOTDIR => "it is not a directory".to_owned(),
        error => std::io::Error::from(error).to_string(),
    }
}

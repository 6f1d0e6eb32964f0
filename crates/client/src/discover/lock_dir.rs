//! Directories of lock files: their paths, reading them with care for hostile contents, and removing a file only if it
//! is still the one that was read. Does not parse the files.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use linkspan_editor_api::wire_names::env::CLAUDE_CONFIG_DIR;
use linkspan_editor_api::wire_names::{
    CLAUDE_DIRECTORY, CLIO_BRIDGE_FILE, CLIO_DIRECTORY, GEMINI_DIRECTORY, IDE_DIRECTORY, NEXUS3_DIRECTORY,
    QWEN_DIRECTORY,
};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, open, openat, statat, unlinkat};
use rustix::io::{Errno, read, retry_on_intr};

use super::LookupResult;
use super::lock_file::{MAX_BYTES, gemini_port_of, port_of};
use super::reason::Reason;
use super::surroundings::Surroundings;

/// More editors than anyone has; the rest of the directory is ignored.
const MAX_FILES: usize = 4096;

/// The protocol of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockKind {
    Claude,
    Nexus3,
    Gemini,
    Qwen,
    Clio,
}

impl LockKind {
    /// Whether a file of this name is a lock file, and its port if that is in the name.
    fn port_in(self, name: &str) -> Option<Option<u16>> {
        match self {
            LockKind::Claude | LockKind::Nexus3 | LockKind::Qwen => port_of(name).map(Some),
            LockKind::Gemini => gemini_port_of(name).map(Some),
            LockKind::Clio => (name == CLIO_BRIDGE_FILE).then_some(None),
        }
    }
}

/// The possible directories, the user's own first.
pub(super) fn places(surroundings: &Surroundings) -> Vec<(LockKind, PathBuf)> {
    let home = &surroundings.places.home;
    let claude = surroundings.directory(CLAUDE_CONFIG_DIR).unwrap_or_else(|| home.join(CLAUDE_DIRECTORY));
    let mut places = vec![
        (LockKind::Claude, claude.join(IDE_DIRECTORY)),
        (LockKind::Nexus3, home.join(NEXUS3_DIRECTORY).join(IDE_DIRECTORY)),
        (LockKind::Gemini, surroundings.temporary().join(GEMINI_DIRECTORY).join(IDE_DIRECTORY)),
        (LockKind::Qwen, home.join(QWEN_DIRECTORY).join(IDE_DIRECTORY)),
        (LockKind::Clio, home.join(CLIO_DIRECTORY).join(IDE_DIRECTORY)),
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
                (LockKind::Claude, CLAUDE_DIRECTORY),
                (LockKind::Nexus3, NEXUS3_DIRECTORY),
                (LockKind::Qwen, QWEN_DIRECTORY),
                (LockKind::Clio, CLIO_DIRECTORY),
            ];
            let sides = sides.map(|(kind, folder)| (kind, profile.join(folder).join(IDE_DIRECTORY)));
            places.extend(sides.into_iter().filter(|(_, place)| place.is_dir()));
        }
    }
    places
}

/// A lock file of an editor.
#[derive(Debug)]
pub(super) struct LockEntry {
    /// None if only the contents have it.
    pub(super) port: Option<u16>,
    pub(super) name: String,
    pub(super) contents: Result<Vec<u8>, Reason>,
    /// Identifies the file, even if another one has its name by now.
    inode: (u64, u64),
}

/// An open directory of ours.
#[derive(Debug)]
pub(super) struct LockDir {
    directory: OwnedFd,
    kind: LockKind,
    uid: u32,
}

impl LockDir {
    /// Opens a directory that belongs to `uid`.
    pub(super) fn open(place: &Path, kind: LockKind, uid: u32) -> Result<LockDir, LookupResult> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = match open(place, flags, Mode::empty()) {
            Ok(directory) => directory,
            Err(Errno::NOENT) => return Err(LookupResult::Nothing),
            Err(error) => return Err(failed(error)),
        };
        match fstat(&directory) {
            Ok(stat) if stat.st_uid != uid => Err(LookupResult::OtherOwner { uid: stat.st_uid }),
            Ok(_) => Ok(LockDir { directory, kind, uid }),
            Err(error) => Err(failed(error)),
        }
    }

    /// Every lock file, by port.
    pub(super) fn read(&self) -> Result<Vec<LockEntry>, LookupResult> {
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
                entries.push(LockEntry { port, name: name.to_owned(), contents, inode });
            }
        }
        entries.sort_by_key(|entry| entry.port);
        Ok(entries)
    }

    /// Does not follow a link, which could lead to an unrelated file of ours, and does not wait, because a pipe would
    /// block us forever.
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
        // Only as much as it takes to see that it is too large; and no second read for an end that is known.
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
    pub(super) fn remove(&self, entry: &LockEntry) -> bool {
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

fn failed(error: Errno) -> LookupResult {
    LookupResult::Failed(describe(error))
}

fn describe(error: Errno) -> String {
    match error {
        Errno::ACCESS | Errno::PERM => "permission denied".to_owned(),
        Errno::NOTDIR => "it is not a directory".to_owned(),
        error => std::io::Error::from(error).to_string(),
    }
}

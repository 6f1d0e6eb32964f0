//! `page.json`: what a hub that was killed leaves to the next, so that open pages keep working. Contains digests, no
//! secrets.
//!
//! The file is private, but nothing in it is trusted: one that does not parse is treated as missing.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::access::{Digest, SESSIONS};
use crate::edge::disk::{open_regular, write_private_file};

const FILE_NAME: &str = "page.json";

/// Many times what the most sessions need.
const MAX_BYTES: u64 = 16 * 1024;

/// The file in its folder.
#[derive(Debug)]
pub(crate) struct PageFile {
    folder: PathBuf,
    /// Where port numbers mean the same as for us: another boot or another network has other ports. `None`: the
    /// system does not say.
    port_space: Option<String>,
}

/// The page's port, and who had access.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SavedPage {
    pub(crate) port: u16,
    pub(crate) sessions: Vec<Digest>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct PageFileContents {
    port: u16,
    port_space: Option<String>,
    sessions: Vec<String>,
}

impl PageFile {
    pub(crate) fn new(folder: &Path, port_space: Option<String>) -> PageFile {
        PageFile { folder: folder.to_owned(), port_space }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(FILE_NAME)
    }

    /// What the last hub left. A damaged file is removed.
    pub(crate) fn read(&self) -> Option<SavedPage> {
        match self.try_read() {
            Ok(before) => Some(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::warn!("ignoring {}, open pages need a new link: {error}", self.path().display());
                self.remove_or_warn();
                None
            }
        }
    }

    fn try_read(&self) -> io::Result<SavedPage> {
        let mut text = String::new();
        let read = open_regular(&self.path())?.take(MAX_BYTES).read_to_string(&mut text)?;
        if read as u64 == MAX_BYTES {
            return Err(io::Error::other("the file is too large"));
        }
        let PageFileContents { port, port_space, sessions } = serde_json::from_str(&text)?;
        if port_space != self.port_space {
            return Err(io::Error::other(
                "the file is from before a restart of the machine, or from another network",
            ));
        }
        let sessions: Option<Vec<Digest>> = sessions.iter().map(|hex| Digest::from_hex(hex)).collect();
        match sessions {
            Some(sessions) if port != 0 && sessions.len() <= SESSIONS => Ok(SavedPage { port, sessions }),
            _ => Err(io::Error::other("the content is not what a hub writes")),
        }
    }

    /// If it cannot be written, it is removed: an old file would restore access that was revoked since. An error
    /// means that the old file is still there.
    pub(crate) fn write(&self, port: u16, sessions: impl Iterator<Item = Digest>) -> Result<(), String> {
        let sessions = sessions.map(Digest::to_hex).collect();
        let written = PageFileContents { port, port_space: self.port_space.clone(), sessions };
        let result = serde_json::to_vec(&written)
            .map_err(io::Error::from)
            .and_then(|contents| write_private_file(&self.folder, FILE_NAME, &contents));
        let Err(error) = result else { return Ok(()) };
        let path = self.path();
        tracing::warn!("open pages will need a new link if the hub crashes: {}: {error}", path.display());
        self.remove()
    }

    pub(crate) fn remove_or_warn(&self) {
        if let Err(error) = self.remove() {
            tracing::warn!("{error}");
        }
    }

    pub(crate) fn remove(&self) -> Result<(), String> {
        let path = self.path();
        let removed = match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => std::fs::remove_dir_all(&path),
            _ => std::fs::remove_file(&path),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("cannot remove {}: {error}", path.display()))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    #[test]
    fn a_written_file_is_read_back_and_readable_for_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = PageFile::new(folder.path(), Some("here".to_owned()));
        assert_eq!(file.read(), None);
        let sessions: Vec<Digest> = (0..SESSIONS).map(|n| Digest::of(&n.to_string())).collect();
        file.write(4711, sessions.iter().copied()).unwrap();
        assert_eq!(file.read(), Some(SavedPage { port: 4711, sessions }));
        assert_eq!(std::fs::metadata(file.path()).unwrap().mode() & 0o777, 0o600);
        file.remove().unwrap();
        assert_eq!(file.read(), None);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_of_another_boot_or_network_counts_as_missing_and_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let space = |name: &str| Some(name.to_owned());
        for (then, now) in
            [(space("one boot"), space("another")), (space("a boot"), None), (None, space("a"))]
        {
            PageFile::new(folder.path(), then).write(4711, [Digest::of("x")].into_iter()).unwrap();
            let file = PageFile::new(folder.path(), now);
            assert_eq!(file.read(), None);
            assert!(!file.path().exists());
        }
    }

    #[test]
    fn a_file_that_cannot_be_replaced_is_removed_and_a_failed_removal_is_reported() {
        let outer = tempfile::tempdir().unwrap();
        // Long enough that the file fits into the folder, but not the longer name of its temporary file.
        const LONGEST_PATH: usize = 4095;
        let mut folder = outer.path().to_owned();
        let room = |folder: &Path| LONGEST_PATH - "/page.json".len() - folder.as_os_str().len();
        while room(&folder) > 2 {
            let name = "d".repeat((room(&folder) - 1).min(200));
            folder.push(name);
        }
        std::fs::create_dir_all(&folder).unwrap();
        let file = PageFile::new(&folder, None);
        std::fs::write(file.path(), r#"{"port":1,"portSpace":null,"sessions":[]}"#).unwrap();
        assert!(file.try_read().is_ok());
        assert!(write_private_file(&folder, FILE_NAME, b"{}").is_err(), "otherwise this test shows nothing");
        assert_eq!(file.write(1, std::iter::empty()), Ok(()));
        assert!(!file.path().exists());

        let no_folder = outer.path().join("file");
        std::fs::write(&no_folder, "").unwrap();
        let error = PageFile::new(&no_folder, None).write(1, std::iter::empty()).unwrap_err();
        assert!(error.contains("page.json"), "{error}");
    }

    #[test]
    fn a_damaged_or_hostile_file_counts_as_missing_and_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = PageFile::new(folder.path(), None);
        let digest = Digest::of("x").to_hex();
        let many = vec![digest.as_str(); SESSIONS + 1].join("\",\"");
        let endless = format!(r#"{{"port":1,"sessions":[]}}{}"#, " ".repeat(20_000));
        for text in [
            "",
            "null",
            "[]",
            r#"{"port":0,"sessions":[]}"#,
            r#"{"port":65536,"sessions":[]}"#,
            r#"{"port":1}"#,
            r#"{"port":1,"sessions":["zz"]}"#,
            r#"{"port":1,"sessions":[],"more":1}"#,
            &format!(r#"{{"port":1,"sessions":["{digest}""#),
            &format!(r#"{{"port":1,"sessions":["{many}"]}}"#),
            &endless,
        ] {
            std::fs::write(file.path(), text).unwrap();
            assert_eq!(file.read(), None, "{text}");
            assert!(!file.path().exists(), "{text}");
        }
        std::fs::write(file.path(), [0xff, 0xfe]).unwrap();
        assert_eq!(file.read(), None);
        symlink("/dev/zero", file.path()).unwrap();
        assert_eq!(file.read(), None);
        assert!(std::fs::symlink_metadata(file.path()).is_err());
        std::fs::create_dir(file.path()).unwrap();
        assert_eq!(file.read(), None);
        assert!(!file.path().exists());
    }
}

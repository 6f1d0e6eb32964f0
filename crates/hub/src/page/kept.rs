//! `page.json`: what a hub that was killed leaves to the next, so that open pages go on. Holds digests, no secrets.
//!
//! It is ours alone, but nothing in it is believed: what does not read well is as good as none.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::access::{Digest, SESSIONS};
use crate::edge::private_file;
use crate::files::open_regular;

const FILE_NAME: &str = "page.json";

/// Many times what the most sessions need.
const LARGEST: u64 = 16 * 1024;

/// The file in its folder.
#[derive(Debug)]
pub(crate) struct Kept {
    folder: PathBuf,
    /// Where ports mean what they mean to us; another boot or another network has other ports. `None`: the system
    /// does not tell.
    port_space: Option<String>,
}

/// Where the page was, and who had access.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Before {
    pub(crate) port: u16,
    pub(crate) sessions: Vec<Digest>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Written {
    port: u16,
    port_space: Option<String>,
    sessions: Vec<String>,
}

impl Kept {
    pub(crate) fn new(folder: &Path, port_space: Option<String>) -> Kept {
        Kept { folder: folder.to_owned(), port_space }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(FILE_NAME)
    }

    /// What the last hub left. A damaged file is removed.
    pub(crate) fn read(&self) -> Option<Before> {
        match self.try_read() {
            Ok(before) => Some(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::warn!("{} is not used, open pages need a new link: {error}", self.path().display());
                self.remove_or_warn();
                None
            }
        }
    }

    fn try_read(&self) -> io::Result<Before> {
        let mut text = String::new();
        let read = open_regular(&self.path())?.take(LARGEST).read_to_string(&mut text)?;
        if read as u64 == LARGEST {
            return Err(io::Error::other("it is too large"));
        }
        let Written { port, port_space, sessions } = serde_json::from_str(&text)?;
        if port_space != self.port_space {
            return Err(io::Error::other(
                "it is from before a restart of the machine, or from another network",
            ));
        }
        let sessions: Option<Vec<Digest>> = sessions.iter().map(|hex| Digest::from_hex(hex)).collect();
        match sessions {
            Some(sessions) if port != 0 && sessions.len() <= SESSIONS => Ok(Before { port, sessions }),
            _ => Err(io::Error::other("it does not hold what a hub writes")),
        }
    }

    /// What cannot be written is removed: an old file would give back what was taken back since. An error says that
    /// the old one is still there.
    pub(crate) fn write(&self, port: u16, sessions: impl Iterator<Item = Digest>) -> Result<(), String> {
        let sessions = sessions.map(Digest::to_hex).collect();
        let written = Written { port, port_space: self.port_space.clone(), sessions };
        let result = serde_json::to_vec(&written)
            .map_err(io::Error::from)
            .and_then(|contents| private_file(&self.folder, FILE_NAME, &contents));
        let Err(error) = result else { return Ok(()) };
        let path = self.path();
        tracing::warn!("open pages will need a new link should the hub crash: {}: {error}", path.display());
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
    fn what_was_written_is_read_and_is_for_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept::new(folder.path(), Some("here".to_owned()));
        assert_eq!(kept.read(), None);
        let sessions: Vec<Digest> = (0..SESSIONS).map(|n| Digest::of(&n.to_string())).collect();
        kept.write(4711, sessions.iter().copied()).unwrap();
        assert_eq!(kept.read(), Some(Before { port: 4711, sessions }));
        assert_eq!(std::fs::metadata(kept.path()).unwrap().mode() & 0o777, 0o600);
        kept.remove().unwrap();
        assert_eq!(kept.read(), None);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_of_another_boot_or_network_is_as_good_as_none_and_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let space = |name: &str| Some(name.to_owned());
        for (then, now) in
            [(space("one boot"), space("another")), (space("a boot"), None), (None, space("a"))]
        {
            Kept::new(folder.path(), then).write(4711, [Digest::of("x")].into_iter()).unwrap();
            let kept = Kept::new(folder.path(), now);
            assert_eq!(kept.read(), None);
            assert!(!kept.path().exists());
        }
    }

    #[test]
    fn what_cannot_be_replaced_is_removed_and_what_cannot_be_removed_is_told() {
        let outer = tempfile::tempdir().unwrap();
        // Long enough that the file can be named in it, but not the longer name of the one to be put in its place.
        const LONGEST_PATH: usize = 4095;
        let mut folder = outer.path().to_owned();
        let room = |folder: &Path| LONGEST_PATH - "/page.json".len() - folder.as_os_str().len();
        while room(&folder) > 2 {
            let name = "d".repeat((room(&folder) - 1).min(200));
            folder.push(name);
        }
        std::fs::create_dir_all(&folder).unwrap();
        let kept = Kept::new(&folder, None);
        std::fs::write(kept.path(), r#"{"port":1,"portSpace":null,"sessions":[]}"#).unwrap();
        assert!(kept.try_read().is_ok());
        assert!(private_file(&folder, FILE_NAME, b"{}").is_err(), "else this shows nothing");
        assert_eq!(kept.write(1, std::iter::empty()), Ok(()));
        assert!(!kept.path().exists());

        let no_folder = outer.path().join("file");
        std::fs::write(&no_folder, "").unwrap();
        let told = Kept::new(&no_folder, None).write(1, std::iter::empty()).unwrap_err();
        assert!(told.contains("page.json"), "{told}");
    }

    #[test]
    fn a_damaged_or_hostile_file_is_as_good_as_none_and_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept::new(folder.path(), None);
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
            std::fs::write(kept.path(), text).unwrap();
            assert_eq!(kept.read(), None, "{text}");
            assert!(!kept.path().exists(), "{text}");
        }
        std::fs::write(kept.path(), [0xff, 0xfe]).unwrap();
        assert_eq!(kept.read(), None);
        symlink("/dev/zero", kept.path()).unwrap();
        assert_eq!(kept.read(), None);
        assert!(std::fs::symlink_metadata(kept.path()).is_err());
        std::fs::create_dir(kept.path()).unwrap();
        assert_eq!(kept.read(), None);
        assert!(!kept.path().exists());
    }
}

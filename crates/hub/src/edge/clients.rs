//! `clients.toml` on the disk: read when it is not what was read last, written whole. What it allows is not known
//! here.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::private_file;
use crate::config::{Clients, ClientsChange};

pub(super) struct ClientsFile {
    path: PathBuf,
    seen: Option<Seen>,
}

/// What tells one content of a file from another without reading it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Nothing,
    File { inode: u64, size: u64, modified: (i64, i64), mode: u32 },
    Unknown,
}

impl ClientsFile {
    pub(super) fn new(path: PathBuf) -> ClientsFile {
        ClientsFile { path, seen: None }
    }

    /// What it holds, if that is not what it held before.
    pub(super) fn look(&mut self) -> Option<Result<Clients, String>> {
        let seen = seen(&self.path);
        if self.seen == Some(seen) && seen != Seen::Unknown {
            return None;
        }
        self.seen = Some(seen);
        Some(self.read())
    }

    /// What it holds now, and how many permissions that changed.
    pub(super) fn change(&mut self, change: &ClientsChange) -> Result<(Clients, usize), String> {
        let mut clients = self.read()?;
        let changed = clients.change(change);
        if changed > 0 {
            self.write(&clients).map_err(|error| format!("cannot write {}: {error}", self.path.display()))?;
        }
        self.seen = Some(seen(&self.path));
        Ok((clients, changed))
    }

    fn read(&self) -> Result<Clients, String> {
        if let Ok(found) = fs::metadata(&self.path) {
            // Whoever can write it could allow themselves anything.
            let others = found.mode() & 0o022 != 0 || found.uid() != rustix::process::getuid().as_raw();
            if others {
                let path = self.path.display();
                return Err(format!("{path} can be written by others; make it yours alone (chmod 600)"));
            }
        }
        Clients::load(&self.path).map_err(|error| error.to_string())
    }

    /// Where a link leads, if it is one: it stays.
    fn write(&self, clients: &Clients) -> io::Result<()> {
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str()))
        else {
            return Err(io::Error::other("it has no folder"));
        };
        private_file(folder, name, clients.text().as_bytes())
    }
}

fn seen(path: &Path) -> Seen {
    match fs::metadata(path) {
        Ok(found) => Seen::File {
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            mode: found.mode(),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Seen::Nothing,
        Err(_) => Seen::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use linkspan_editor_api::Deed;

    use super::*;
    use crate::config::Client;

    fn remember(name: &str) -> ClientsChange {
        let client = Client { name: name.into(), dialect: "claude".into(), folders: vec!["/w".into()] };
        ClientsChange::Remember { client, deeds: vec![Deed::Command], unix_ms: 0 }
    }

    #[test]
    fn the_file_is_private_whole_and_read_only_when_it_changed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("linkspan/clients.toml");
        let mut file = ClientsFile::new(path.clone());
        assert_eq!(file.look(), Some(Ok(Clients::default())));
        assert_eq!(file.look(), None);
        let (clients, changed) = file.change(&remember("one")).unwrap();
        assert_eq!((changed, clients.entries.len()), (1, 1));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file stays");
        assert_eq!(file.look(), None, "it is what we wrote");
        fs::write(&path, "").unwrap();
        assert_eq!(file.look(), Some(Ok(Clients::default())));
    }

    #[test]
    fn what_the_person_wrote_meanwhile_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("clients.toml");
        let [mut one, mut two] = [(); 2].map(|()| ClientsFile::new(path.clone()));
        one.look();
        two.change(&remember("two")).unwrap();
        assert_eq!(one.change(&remember("one")).unwrap().0.entries.len(), 2);
    }

    #[test]
    fn a_broken_file_is_not_written_over_and_one_of_others_is_not_believed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("clients.toml");
        fs::write(&path, "[[client").unwrap();
        let mut file = ClientsFile::new(path.clone());
        assert!(file.look().unwrap().unwrap_err().contains("line 1"));
        assert!(file.change(&remember("one")).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "[[client");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(file.look().unwrap().unwrap_err().contains("chmod 600"));
    }

    #[test]
    fn a_link_to_the_file_stays_one() {
        let home = tempfile::tempdir().unwrap();
        let (link, real) = (home.path().join("clients.toml"), home.path().join("dotfiles.toml"));
        fs::write(&real, "").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        ClientsFile::new(link.clone()).change(&remember("one")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::read_to_string(&real).unwrap().contains("one"));
    }
}

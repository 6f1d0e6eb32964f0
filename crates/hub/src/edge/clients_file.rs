//! `clients.toml` on disk: read again when it has changed, replaced as a whole. Does not know what it allows.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::config::{Clients, ClientsChange};
use crate::edge::disk::write_private_file;

pub(crate) struct ClientsFile {
    path: PathBuf,
    stamp: Option<FileStamp>,
}

/// Tells one content of a file from another without reading it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileStamp {
    Nothing,
    File { inode: u64, size: u64, modified: (i64, i64), mode: u32 },
    Unknown,
}

impl ClientsFile {
    pub(crate) fn new(path: PathBuf) -> ClientsFile {
        ClientsFile { path, stamp: None }
    }

    /// Its content, if that has changed since the last call.
    pub(crate) fn reload_if_changed(&mut self) -> Option<Result<Clients, String>> {
        let stamp = stamp(&self.path);
        if self.stamp == Some(stamp) && stamp != FileStamp::Unknown {
            return None;
        }
        self.stamp = Some(stamp);
        Some(self.read())
    }

    /// Its content after the change, and how many permissions changed.
    pub(crate) fn change(&mut self, change: &ClientsChange) -> Result<(Clients, usize), String> {
        let mut clients = self.read()?;
        let changed = clients.change(change);
        if changed > 0 {
            self.write(&clients).map_err(|error| format!("cannot write {}: {error}", self.path.display()))?;
        }
        self.stamp = Some(stamp(&self.path));
        Ok((clients, changed))
    }

    fn read(&self) -> Result<Clients, String> {
        if let Ok(found) = fs::metadata(&self.path) {
            // Any user who can write it could grant themselves anything.
            let others = found.mode() & 0o022 != 0 || found.uid() != rustix::process::getuid().as_raw();
            if others {
                let path = self.path.display();
                return Err(format!("{path} can be written by others; make it yours alone (chmod 600)"));
            }
        }
        Clients::load(&self.path).map_err(|error| error.to_string())
    }

    /// A symlink stays: its target is written.
    fn write(&self, clients: &Clients) -> io::Result<()> {
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str()))
        else {
            return Err(io::Error::other("the path has no folder"));
        };
        write_private_file(folder, name, clients.text().as_bytes())
    }
}

fn stamp(path: &Path) -> FileStamp {
    match fs::metadata(path) {
        Ok(found) => FileStamp::File {
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            mode: found.mode(),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => FileStamp::Nothing,
        Err(_) => FileStamp::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use linkspan_editor_api::PermissionKind;

    use super::*;
    use crate::config::Client;

    fn remember(name: &str) -> ClientsChange {
        let client = Client { name: name.into(), dialect: "claude".into(), folders: vec!["/w".into()] };
        ClientsChange::Remember { client, deeds: vec![PermissionKind::Command], unix_ms: 0 }
    }

    #[test]
    fn the_file_is_private_complete_and_only_read_when_it_changed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("linkspan/clients.toml");
        let mut file = ClientsFile::new(path.clone());
        assert_eq!(file.reload_if_changed(), Some(Ok(Clients::default())));
        assert_eq!(file.reload_if_changed(), None);
        let (clients, changed) = file.change(&remember("one")).unwrap();
        assert_eq!((changed, clients.entries.len()), (1, 1));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file is left");
        assert_eq!(file.reload_if_changed(), None, "it is what we wrote");
        fs::write(&path, "").unwrap();
        assert_eq!(file.reload_if_changed(), Some(Ok(Clients::default())));
    }

    #[test]
    fn what_the_user_wrote_in_the_meantime_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("clients.toml");
        let [mut one, mut two] = [(); 2].map(|()| ClientsFile::new(path.clone()));
        one.reload_if_changed();
        two.change(&remember("two")).unwrap();
        assert_eq!(one.change(&remember("one")).unwrap().0.entries.len(), 2);
    }

    #[test]
    fn a_broken_file_is_not_overwritten_and_one_that_others_can_write_is_not_trusted() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("clients.toml");
        fs::write(&path, "[[client").unwrap();
        let mut file = ClientsFile::new(path.clone());
        assert!(file.reload_if_changed().unwrap().unwrap_err().contains("line 1"));
        assert!(file.change(&remember("one")).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "[[client");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(file.reload_if_changed().unwrap().unwrap_err().contains("chmod 600"));
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

//! `clients.toml`: what the user has permanently allowed agents. Owns its format and meaning; does not know who reads
//! and writes it, or when.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use linkspan_editor_api::PermissionKind;
use serde::{Deserialize, Serialize};
use toml::value::Datetime;

use super::calendar::utc_datetime;
use super::{ConfigError, KeyProblem, source};

const HEAD: &str = "\
# What you have allowed agents to do without asking. Linkspan writes this file when you say \"always\"; you may edit it.
#
# An agent is recognised by the name it gives itself and by its dialect: any program of yours that uses this name and
# dialect in this folder may do what is listed here. `linkspan clients` lists it, `linkspan clients revoke NAME` revokes it.
";

/// An agent, as it is recognised from one connection to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub name: String,
    pub dialect: String,
    /// The folders of its workspace, with symlinks followed.
    pub folders: Vec<PathBuf>,
}

/// What was permanently allowed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Clients {
    #[serde(rename = "client")]
    pub entries: Vec<ClientEntry>,
}

/// What one agent may do in one folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientEntry {
    pub name: String,
    pub dialect: String,
    pub folder: PathBuf,
    /// Each permission, and since when.
    pub may: BTreeMap<PermissionKind, Datetime>,
}

/// A change to the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientsChange {
    Remember {
        client: Client,
        deeds: Vec<PermissionKind>,
        unix_ms: u64,
    },
    Forget {
        /// `None`: all of them.
        name: Option<String>,
        deeds: Vec<PermissionKind>,
    },
}

impl ClientEntry {
    fn is_of(&self, client: &Client, folder: &Path) -> bool {
        self.name == client.name && self.dialect == client.dialect && self.folder == folder
    }
}

impl Clients {
    /// A missing file allows nothing.
    pub fn load(path: &Path) -> Result<Clients, ConfigError> {
        Ok(source::load(path, Clients::problems)?.0)
    }

    /// The content of the file.
    pub fn text(&self) -> String {
        let entries = toml::to_string(self).unwrap_or_default();
        if self.entries.is_empty() { HEAD.to_owned() } else { format!("{HEAD}\n{entries}") }
    }

    fn problems(&self) -> Vec<KeyProblem> {
        let relative = self.entries.iter().enumerate().filter(|(_, entry)| !entry.folder.is_absolute());
        let say = |(index, entry): (usize, &ClientEntry)| {
            let message = format!("the folder `{}` is not an absolute path", entry.folder.display());
            (format!("client[{index}]"), message)
        };
        relative.map(say).collect()
    }

    /// Since when that agent may do it, in all of its folders.
    pub fn allow(&self, client: &Client, deed: PermissionKind) -> Option<&Datetime> {
        let since = |folder: &PathBuf| {
            let mut entries = self.entries.iter().filter(|entry| entry.is_of(client, folder));
            entries.find_map(|entry| entry.may.get(&deed))
        };
        let each: Option<Vec<&Datetime>> = client.folders.iter().map(since).collect();
        each?.into_iter().next()
    }

    /// Returns how many permissions were added or removed.
    pub fn change(&mut self, change: &ClientsChange) -> usize {
        let before = self.count();
        match change {
            ClientsChange::Remember { client, deeds, unix_ms } => {
                let since = utc_datetime(unix_ms / 1000);
                for folder in &client.folders {
                    self.remember(client, folder, deeds, &since);
                }
            }
            ClientsChange::Forget { name, deeds } => {
                let meant = |entry: &ClientEntry| name.as_ref().is_none_or(|name| *name == entry.name);
                for entry in self.entries.iter_mut().filter(|entry| meant(entry)) {
                    entry.may.retain(|deed, _| !deeds.is_empty() && !deeds.contains(deed));
                }
                self.entries.retain(|entry| !entry.may.is_empty());
            }
        }
        self.count().abs_diff(before)
    }

    fn remember(&mut self, client: &Client, folder: &Path, deeds: &[PermissionKind], since: &Datetime) {
        let known = self.entries.iter().position(|entry| entry.is_of(client, folder));
        let index = known.unwrap_or_else(|| {
            let Client { name, dialect, .. } = client.clone();
            self.entries.push(ClientEntry { name, dialect, folder: folder.to_owned(), may: BTreeMap::new() });
            self.entries.len() - 1
        });
        if let Some(entry) = self.entries.get_mut(index) {
            for deed in deeds {
                entry.may.entry(*deed).or_insert(*since);
            }
        }
    }

    fn count(&self) -> usize {
        self.entries.iter().map(|entry| entry.may.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(name: &str, dialect: &str, folders: &[&str]) -> Client {
        Client {
            name: name.into(),
            dialect: dialect.into(),
            folders: folders.iter().map(PathBuf::from).collect(),
        }
    }

    fn remember(client: &Client, deeds: &[PermissionKind]) -> ClientsChange {
        ClientsChange::Remember { client: client.clone(), deeds: deeds.to_vec(), unix_ms: 1_794_779_566_000 }
    }

    fn read(text: &str) -> Result<Clients, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clients.toml");
        std::fs::write(&path, text).unwrap();
        Clients::load(&path)
    }

    #[test]
    fn a_written_file_is_read_back_with_its_dates() {
        let mut clients = Clients::default();
        let odd = client("odd \"name\"\n[[client]]\u{1b}", "claude", &["/w/a", "/w/ü b"]);
        assert_eq!(clients.change(&remember(&odd, &[PermissionKind::Command, PermissionKind::Git])), 4);
        assert_eq!(clients.change(&remember(&odd, &[PermissionKind::Command])), 0, "it keeps its date");
        let text = clients.text();
        assert!(text.starts_with("# ") && text.contains("command = 2026-11-15T21:52:46Z"), "{text}");
        assert_eq!(read(&text).unwrap(), clients);
        assert_eq!(read(&Clients::default().text()).unwrap(), Clients::default());
    }

    #[test]
    fn the_format_of_the_file_stays_what_users_have_on_disk() {
        let mut clients = Clients::default();
        let client = client("claude-code", "claude", &["/home/me/project"]);
        clients.change(&remember(&client, &[PermissionKind::Command, PermissionKind::Git]));
        let sample = include_str!("clients.toml");
        assert_eq!(clients.text(), sample);
        assert_eq!(read(sample).unwrap(), clients);
    }

    #[test]
    fn a_permission_is_for_one_name_one_dialect_and_each_folder() {
        let mut clients = Clients::default();
        clients.change(&remember(&client("one", "claude", &["/a"]), &[PermissionKind::Command]));
        for (name, dialect, folders, expected) in [
            ("one", "claude", &["/a"][..], true),
            ("two", "claude", &["/a"], false),
            ("one", "nexus3", &["/a"], false),
            ("one", "claude", &["/a/b"], false),
            ("one", "claude", &["/"], false),
            ("one", "claude", &["/a", "/b"], false),
            ("one", "claude", &[], false),
        ] {
            let agent = client(name, dialect, folders);
            assert_eq!(clients.allow(&agent, PermissionKind::Command).is_some(), expected, "{agent:?}");
            assert_eq!(clients.allow(&agent, PermissionKind::Git), None);
        }
    }

    #[test]
    fn only_the_named_permissions_are_removed() {
        let mut all = Clients::default();
        let [one, two] = ["one", "two"].map(|name| client(name, "claude", &["/a"]));
        for client in [&one, &two] {
            all.change(&remember(client, &[PermissionKind::Command, PermissionKind::Edit]));
        }
        for (name, deeds, forgotten) in [
            (Some("one"), vec![PermissionKind::Edit], 1),
            (Some("one"), vec![], 2),
            (None, vec![PermissionKind::Edit], 2),
            (None, vec![], 4),
            (Some("three"), vec![], 0),
        ] {
            let mut clients = all.clone();
            let change = ClientsChange::Forget { name: name.map(String::from), deeds };
            assert_eq!(clients.change(&change), forgotten, "{change:?}");
        }
    }

    #[test]
    fn an_error_names_the_line() {
        for (text, line) in [
            ("[[client]]\nname = \"a\"\n", "line 1"),
            ("[[client]]\nname = \"a\"\ndialect = \"claude\"\nfolder = \"a\"\nmay = {}\n", "line 1"),
            ("\n[[client", "line 2"),
            ("allow = \"everything\"\n", "line 1"),
            (
                "[[client]]\nname = \"a\"\ndialect = \"claude\"\nfolder = \"/a\"\nmay = { all = 2026-01-01 }\n",
                "",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(line), "{error}");
        }
    }
}

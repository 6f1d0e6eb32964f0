//! `clients.toml`: what the person has allowed agents for good. Owns its form and what it means; who reads and writes
//! it, and when, it does not know.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use linkspan_editor_api::Deed;
use serde::{Deserialize, Serialize};
use toml::value::Datetime;

use super::calendar::moment;
use super::{ConfigError, Wrong, written};

const HEAD: &str = "\
# What you have allowed agents to do without asking. Linkspan writes this file when you say \"always\"; you may edit it.
#
# An agent is known by what it calls itself and how it speaks: each program of yours that uses this name and dialect
# in this folder may do what stands here. `linkspan clients` lists it, `linkspan clients revoke NAME` takes it back.
";

/// An agent as it is known from one connection to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub name: String,
    pub dialect: String,
    /// The folders of its workspace, symlinks followed.
    pub folders: Vec<PathBuf>,
}

/// What was allowed for good.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Clients {
    #[serde(rename = "client")]
    pub entries: Vec<Entry>,
}

/// To one agent in one folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub name: String,
    pub dialect: String,
    pub folder: PathBuf,
    /// What, and since when.
    pub may: BTreeMap<Deed, Datetime>,
}

/// What is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientsChange {
    Remember {
        client: Client,
        deeds: Vec<Deed>,
        unix_ms: u64,
    },
    Forget {
        /// None: all of them.
        name: Option<String>,
        deeds: Vec<Deed>,
    },
}

impl Entry {
    fn is_of(&self, client: &Client, folder: &Path) -> bool {
        self.name == client.name && self.dialect == client.dialect && self.folder == folder
    }
}

impl Clients {
    /// A missing file allows nothing.
    pub fn load(path: &Path) -> Result<Clients, ConfigError> {
        Ok(written::load(path, Clients::wrong)?.0)
    }

    /// As it stands in the file.
    pub fn text(&self) -> String {
        let entries = toml::to_string(self).unwrap_or_default();
        if self.entries.is_empty() { HEAD.to_owned() } else { format!("{HEAD}\n{entries}") }
    }

    fn wrong(&self) -> Vec<Wrong> {
        let relative = self.entries.iter().enumerate().filter(|(_, entry)| !entry.folder.is_absolute());
        let say = |(index, entry): (usize, &Entry)| {
            let message = format!("the folder `{}` is not an absolute path", entry.folder.display());
            (format!("client[{index}]"), message)
        };
        relative.map(say).collect()
    }

    /// Since when that agent may do it, in all of its folders.
    pub fn allow(&self, client: &Client, deed: Deed) -> Option<&Datetime> {
        let since = |folder: &PathBuf| {
            let mut entries = self.entries.iter().filter(|entry| entry.is_of(client, folder));
            entries.find_map(|entry| entry.may.get(&deed))
        };
        let each: Option<Vec<&Datetime>> = client.folders.iter().map(since).collect();
        each?.into_iter().next()
    }

    /// How many permissions were added or taken away.
    pub fn change(&mut self, change: &ClientsChange) -> usize {
        let before = self.count();
        match change {
            ClientsChange::Remember { client, deeds, unix_ms } => {
                let since = moment(unix_ms / 1000);
                for folder in &client.folders {
                    self.remember(client, folder, deeds, &since);
                }
            }
            ClientsChange::Forget { name, deeds } => {
                let meant = |entry: &Entry| name.as_ref().is_none_or(|name| *name == entry.name);
                for entry in self.entries.iter_mut().filter(|entry| meant(entry)) {
                    entry.may.retain(|deed, _| !deeds.is_empty() && !deeds.contains(deed));
                }
                self.entries.retain(|entry| !entry.may.is_empty());
            }
        }
        self.count().abs_diff(before)
    }

    fn remember(&mut self, client: &Client, folder: &Path, deeds: &[Deed], since: &Datetime) {
        let known = self.entries.iter().position(|entry| entry.is_of(client, folder));
        let index = known.unwrap_or_else(|| {
            let Client { name, dialect, .. } = client.clone();
            self.entries.push(Entry { name, dialect, folder: folder.to_owned(), may: BTreeMap::new() });
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

    fn remember(client: &Client, deeds: &[Deed]) -> ClientsChange {
        ClientsChange::Remember { client: client.clone(), deeds: deeds.to_vec(), unix_ms: 1_794_779_566_000 }
    }

    fn read(text: &str) -> Result<Clients, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clients.toml");
        std::fs::write(&path, text).unwrap();
        Clients::load(&path)
    }

    #[test]
    fn what_is_written_is_read_again_and_says_since_when() {
        let mut clients = Clients::default();
        let odd = client("odd \"name\"\n[[client]]\u{1b}", "claude", &["/w/a", "/w/ü b"]);
        assert_eq!(clients.change(&remember(&odd, &[Deed::Command, Deed::Git])), 4);
        assert_eq!(clients.change(&remember(&odd, &[Deed::Command])), 0, "it keeps its date");
        let text = clients.text();
        assert!(text.starts_with("# ") && text.contains("command = 2026-11-15T21:52:46Z"), "{text}");
        assert_eq!(read(&text).unwrap(), clients);
        assert_eq!(read(&Clients::default().text()).unwrap(), Clients::default());
    }

    #[test]
    fn a_permission_is_for_one_name_one_dialect_and_each_folder() {
        let mut clients = Clients::default();
        clients.change(&remember(&client("one", "claude", &["/a"]), &[Deed::Command]));
        for (name, dialect, folders, expected) in [
            ("one", "claude", &["/a"][..], true),
            ("two", "claude", &["/a"], false),
            ("one", "nexus3", &["/a"], false),
            ("one", "claude", &["/a/b"], false),
            ("one", "claude", &["/"], false),
            ("one", "claude", &["/a", "/b"], false),
            ("one", "claude", &[], false),
        ] {
            let asks = client(name, dialect, folders);
            assert_eq!(clients.allow(&asks, Deed::Command).is_some(), expected, "{asks:?}");
            assert_eq!(clients.allow(&asks, Deed::Git), None);
        }
    }

    #[test]
    fn what_is_forgotten_is_what_was_named() {
        let mut all = Clients::default();
        let [one, two] = ["one", "two"].map(|name| client(name, "claude", &["/a"]));
        for client in [&one, &two] {
            all.change(&remember(client, &[Deed::Command, Deed::Edit]));
        }
        for (name, deeds, forgotten) in [
            (Some("one"), vec![Deed::Edit], 1),
            (Some("one"), vec![], 2),
            (None, vec![Deed::Edit], 2),
            (None, vec![], 4),
            (Some("three"), vec![], 0),
        ] {
            let mut clients = all.clone();
            let change = ClientsChange::Forget { name: name.map(String::from), deeds };
            assert_eq!(clients.change(&change), forgotten, "{change:?}");
        }
    }

    #[test]
    fn a_file_that_is_not_understood_says_where() {
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

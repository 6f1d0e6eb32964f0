//! The effective configuration, and where each value comes from: for `linkspan config show`.

use std::path::{Path, PathBuf};

use super::source::KeyLines;
use super::{Config, ConfigError, WORKSPACE_FILE, WorkspaceConfig};

/// The configuration of one workspace folder, and where it comes from.
#[derive(Debug)]
pub struct Effective {
    config: Config,
    user: (PathBuf, KeyLines),
    workspace: Option<(PathBuf, KeyLines, WorkspaceConfig)>,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    User {
        path: PathBuf,
        line_number: usize,
    },
    /// Only if it is stricter.
    Workspace {
        path: PathBuf,
        line_number: usize,
    },
}

/// One key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// With its table, such as `limits.file_mib`.
    pub key: String,
    pub value: serde_json::Value,
    /// As it would be written in the file, without its table.
    pub toml: String,
    /// More than one for a list that a workspace adds to.
    pub from: Vec<Origin>,
}

impl Effective {
    /// What a hub that starts now uses for a window on that folder.
    pub fn load(user: &Path, folder: Option<&Path>) -> Result<Effective, ConfigError> {
        let (config, lines) = Config::load_with_lines(user)?;
        let workspace = match folder {
            None => None,
            Some(folder) => {
                let (config, lines) = WorkspaceConfig::load_with_lines(folder)?;
                Some((folder.join(WORKSPACE_FILE), lines, config))
            }
        };
        let config = match &workspace {
            None => config,
            Some((.., workspace)) => config.tightened_by(workspace),
        };
        Ok(Effective { config, user: (user.to_owned(), lines), workspace })
    }

    /// All settings, in the order of the documentation.
    pub fn settings(&self) -> Vec<Setting> {
        let values = serde_json::to_value(&self.config).unwrap_or_default();
        let mut table = String::new();
        let mut settings = Vec::new();
        // Serialising keeps the order of the fields, each on a line of its own.
        for line in toml::to_string(&self.config).unwrap_or_default().lines() {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                table = format!("{name}.");
            } else if let Some((name, _)) = line.split_once(" = ") {
                let key = format!("{table}{name}");
                let value = values.pointer(&format!("/{}", key.replace('.', "/")));
                let from = self.origins(&key);
                settings.push(Setting {
                    value: value.cloned().unwrap_or_default(),
                    toml: line.to_owned(),
                    from,
                    key,
                });
            }
        }
        settings
    }

    fn origins(&self, key: &str) -> Vec<Origin> {
        let (path, lines) = &self.user;
        let own = match lines.line_number(key) {
            None => Origin::Default,
            Some(line_number) => Origin::User { path: path.clone(), line_number },
        };
        let Some((path, lines, workspace)) = &self.workspace else { return vec![own] };
        let Some(line_number) = lines.line_number(key) else { return vec![own] };
        let tightened = Origin::Workspace { path: path.clone(), line_number };
        let limits = &self.config.limits;
        match key {
            "deny" | "dialects_off" | "consent.never" => vec![own, tightened],
            "limits.connections" if Some(limits.connections) == workspace.limits.connections => {
                vec![tightened]
            }
            "limits.file_mib" if Some(limits.file_mib) == workspace.limits.file_mib => vec![tightened],
            _ => vec![own],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_says_where_it_comes_from() {
        let folder = tempfile::tempdir().unwrap();
        let user = folder.path().join("config.toml");
        std::fs::write(&user, "journal_days = 7\n[limits]\nconnections = 10\nfile_mib = 20\n").unwrap();
        let workspace = folder.path().join(WORKSPACE_FILE);
        std::fs::write(&workspace, "deny = [\"x\"]\n[limits]\nconnections = 90\nfile_mib = 5\n").unwrap();

        let effective = Effective::load(&user, Some(folder.path())).unwrap();
        let settings = effective.settings();
        let find = |key: &str| settings.iter().find(|setting| setting.key == key).unwrap().clone();
        let by_user = |line_number| Origin::User { path: user.clone(), line_number };
        let by_workspace = |line_number| Origin::Workspace { path: workspace.clone(), line_number };

        assert_eq!(settings.first().unwrap().key, "idle_exit_seconds");
        assert_eq!(find("idle_exit_seconds").from, [Origin::Default]);
        assert_eq!(find("journal_days").from, [by_user(1)]);
        assert_eq!(find("journal_days").toml, "journal_days = 7");
        assert_eq!(find("deny").from, [Origin::Default, by_workspace(1)]);
        assert_eq!(find("limits.connections").from, [by_user(3)], "a workspace cannot loosen");
        assert_eq!(find("limits.connections").value, 10);
        assert_eq!(find("limits.file_mib").from, [by_workspace(4)]);
        assert_eq!(find("limits.file_mib").value, 5);
    }

    #[test]
    fn every_key_is_listed() {
        let settings = Effective::load(Path::new("/nonexistent/config.toml"), None).unwrap().settings();
        let listed: Vec<_> = settings.iter().filter(|setting| !setting.value.is_null()).collect();
        let values = serde_json::to_value(Config::default()).unwrap();
        let in_table = |value: &serde_json::Value| value.as_object().map_or(1, serde_json::Map::len);
        assert_eq!(listed.len(), values.as_object().unwrap().values().map(in_table).sum::<usize>());
        assert!(listed.iter().all(|setting| setting.from == [Origin::Default]));
    }
}

//! `config.toml`: what a person may set, and what a workspace may only tighten.
//!
//! Owns parsing and defaults. Knows no windows and no sockets.

use std::io::Read;
use std::path::{Path, PathBuf};

use linkspan_editor_api::DenyGlobs;
use serde::Deserialize;

/// A configuration file is written by hand.
const LARGEST: u64 = 64 * 1024;

/// The per-workspace file, read from the root of each workspace folder.
pub const WORKSPACE_FILE: &str = ".linkspan.toml";

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Seconds after which a hub with nothing to do leaves.
    pub idle_exit_seconds: u64,
    /// Seconds a window that went away keeps its port, token and agents.
    pub window_grace_seconds: u64,
    /// Seconds a review, or an answer nobody fetched, outlives its agent's lost connection.
    pub agent_grace_seconds: u64,
    /// Days the journal keeps settled reviews and their before-images.
    pub journal_days: u32,
    /// Globs of files that no agent may see or change through Linkspan.
    pub deny: Vec<String>,
    /// Dialects that are not offered to agents, by name.
    pub dialects_off: Vec<String>,
    pub limits: Limits,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Agent connections to one window at a time.
    pub connections: usize,
    /// Bytes of HTTP request head, in KiB.
    pub header_kib: usize,
    /// One message from an agent or editor, in MiB.
    pub message_mib: usize,
    /// Messages per second an agent may send before it is slowed down; 0 for no limit.
    pub messages_per_second: u32,
    /// Largest file that can be reviewed, in MiB.
    pub file_mib: usize,
    /// Seconds a machine has to answer another machine.
    pub call_seconds: u64,
    /// Seconds between heartbeats on a connection.
    pub heartbeat_seconds: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            idle_exit_seconds: 600,
            window_grace_seconds: 120,
            agent_grace_seconds: 600,
            journal_days: 30,
            deny: ["**/.env", "**/*.pem", "**/id_rsa", "**/id_ed25519"].map(String::from).to_vec(),
            dialects_off: Vec::new(),
            limits: Limits::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 256,
            header_kib: 16,
            message_mib: 64,
            messages_per_second: 5_000,
            file_mib: 50,
            call_seconds: 5,
            heartbeat_seconds: 30,
        }
    }
}

/// What a workspace may say: only ever less than the person's own config allows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkspaceConfig {
    pub deny: Vec<String>,
    pub dialects_off: Vec<String>,
    pub limits: WorkspaceLimits,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkspaceLimits {
    pub connections: Option<usize>,
    pub file_mib: Option<usize>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read {path}: {source}; check its permissions")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path}: {message}")]
    Parse { path: PathBuf, message: String },
    #[error("{path}: there is no dialect `{name}`; did you mean `{nearest}`?")]
    Dialect { path: PathBuf, name: String, nearest: &'static str },
    #[error("{path}: `{glob}` in `deny` is not a glob: {reason}")]
    Glob { path: PathBuf, glob: String, reason: String },
}

impl Config {
    /// The person's config; a missing file means the defaults.
    pub fn load(path: &Path) -> Result<Config, ConfigError> {
        let config: Config = load_toml(path)?.unwrap_or_default();
        check(path, &config.deny, &config.dialects_off)?;
        config.check_bounds(path)?;
        Ok(config)
    }

    /// Zero would spin or refuse everything, and absurd numbers overflow.
    fn check_bounds(&self, path: &Path) -> Result<(), ConfigError> {
        let Limits {
            connections, header_kib, message_mib, file_mib, call_seconds, heartbeat_seconds, ..
        } = self.limits;
        const YEAR: u64 = 366 * 24 * 3600;
        let bounds = [
            ("idle_exit_seconds", self.idle_exit_seconds, 1, YEAR),
            ("window_grace_seconds", self.window_grace_seconds, 0, YEAR),
            ("agent_grace_seconds", self.agent_grace_seconds, 0, YEAR),
            ("journal_days", self.journal_days.into(), 1, 36_500),
            ("limits.connections", connections as u64, 1, 65_535),
            ("limits.header_kib", header_kib as u64, 1, 1024),
            ("limits.message_mib", message_mib as u64, 1, 1024),
            ("limits.file_mib", file_mib as u64, 1, 200),
            ("limits.call_seconds", call_seconds, 1, 3600),
            ("limits.heartbeat_seconds", heartbeat_seconds, 1, 3600),
        ];
        match bounds.into_iter().find(|(_, value, least, most)| value < least || value > most) {
            None => Ok(()),
            Some((key, value, least, most)) => {
                let message = format!("`{key}` is {value}, and must be from {least} to {most}");
                Err(ConfigError::Parse { path: path.to_owned(), message })
            }
        }
    }

    #[must_use]
    pub fn tightened_by(mut self, workspace: &WorkspaceConfig) -> Config {
        self.deny.extend(workspace.deny.iter().cloned());
        self.dialects_off.extend(workspace.dialects_off.iter().cloned());
        let limits = &mut self.limits;
        limits.connections = limits.connections.min(workspace.limits.connections.unwrap_or(usize::MAX));
        limits.file_mib = limits.file_mib.min(workspace.limits.file_mib.unwrap_or(usize::MAX));
        self
    }

    pub fn dialect_enabled(&self, name: &str) -> bool {
        !self.dialects_off.iter().any(|off| off == name)
    }

    /// The deny globs, ready to match. They were checked file by file; should they be too much together, everything
    /// is denied rather than nothing.
    pub fn deny_globs(&self) -> DenyGlobs {
        DenyGlobs::new(&self.deny).or_else(|_| DenyGlobs::new(&["**".to_owned()])).unwrap_or_default()
    }
}

impl WorkspaceConfig {
    pub fn load(folder: &Path) -> Result<WorkspaceConfig, ConfigError> {
        let path = folder.join(WORKSPACE_FILE);
        let config: WorkspaceConfig = load_toml(&path)?.unwrap_or_default();
        check(&path, &config.deny, &config.dialects_off)?;
        Ok(config)
    }
}

fn check(path: &Path, deny: &[String], dialects_off: &[String]) -> Result<(), ConfigError> {
    DenyGlobs::new(deny).map_err(|error| ConfigError::Glob {
        path: path.to_owned(),
        glob: error.glob,
        reason: error.reason,
    })?;
    let names = linkspan_dialect::names;
    match dialects_off.iter().find(|off| !names().any(|name| name == off.as_str())) {
        None => Ok(()),
        Some(unknown) => Err(ConfigError::Dialect {
            path: path.to_owned(),
            name: unknown.clone(),
            nearest: nearest(unknown, names()).unwrap_or_default(),
        }),
    }
}

fn nearest<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known.max_by(|a, b| strsim::jaro_winkler(unknown, a).total_cmp(&strsim::jaro_winkler(unknown, b)))
}

fn load_toml<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, ConfigError> {
    let text = match read_small(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ConfigError::Read { path: path.to_owned(), source }),
    };
    toml::from_str(&text).map(Some).map_err(|error| {
        // One line, because it is quoted in other messages: the line's number instead of the line.
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let message = format!("line {line}: {}", with_nearest_key(error.message()));
        ConfigError::Parse { path: path.to_owned(), message }
    })
}

/// A cloned repository may hold anything under this name: a device, a pipe, a file without end.
fn read_small(path: &Path) -> std::io::Result<String> {
    let file = crate::files::open_regular(path)?;
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(std::io::Error::other(format!("it is larger than {LARGEST} bytes")));
    }
    Ok(text)
}

/// serde names the unknown key and all known ones: a person wants the one she meant.
fn with_nearest_key(message: &str) -> String {
    let Some(after) = message.strip_prefix("unknown field") else { return message.trim_end().to_owned() };
    let mut names = after.split('`').skip(1).step_by(2);
    let unknown = names.next().unwrap_or_default();
    match nearest(unknown, names) {
        Some(nearest) => format!("unknown field `{unknown}`; did you mean `{nearest}`?"),
        None => format!("unknown field `{unknown}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config_of(text: &str) -> Result<Config, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        Config::load(&path)
    }

    #[test]
    fn a_missing_file_means_the_defaults() {
        assert_eq!(Config::load(Path::new("/nonexistent/config.toml")).unwrap(), Config::default());
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_the_nearest_known_one() {
        let error = config_of("windows_grace_seconds = 3").unwrap_err().to_string();
        assert!(error.contains("windows_grace_seconds"), "{error}");
        assert!(error.contains("did you mean `window_grace_seconds`?"), "{error}");
        let error = config_of("[limits]\nconnection = 3").unwrap_err().to_string();
        assert!(error.contains("did you mean `connections`?"), "{error}");
    }

    #[test]
    fn numbers_out_of_bounds_are_named_with_their_bounds() {
        let error = config_of("[limits]\nheartbeat_seconds = 0").unwrap_err().to_string();
        assert!(error.contains("`limits.heartbeat_seconds` is 0, and must be from 1 to 3600"), "{error}");
        assert!(config_of("idle_exit_seconds = 18446744073709551615").is_err());
        assert!(config_of("window_grace_seconds = 0").is_ok());
    }

    #[test]
    fn a_wrong_type_says_where() {
        let error = config_of("idle_exit_seconds = \"soon\"").unwrap_err().to_string();
        assert!(error.contains("line 1") && error.contains("config.toml"), "{error}");
    }

    #[test]
    fn a_bad_glob_is_named() {
        let error = config_of("deny = [\"a[\"]").unwrap_err().to_string();
        assert!(error.contains("a["), "{error}");
    }

    #[test]
    fn a_workspace_can_only_tighten() {
        let workspace = WorkspaceConfig {
            deny: vec!["secret/**".into()],
            dialects_off: vec!["nexus3".into()],
            limits: WorkspaceLimits { connections: Some(9999), file_mib: Some(1) },
        };
        let mine = Config { dialects_off: vec!["claude".into()], ..Config::default() };
        let both = mine.clone().tightened_by(&workspace);
        assert!(!both.dialect_enabled("claude"), "a workspace cannot switch on what the person switched off");
        assert!(!both.dialect_enabled("nexus3"));
        assert_eq!(both.limits.connections, mine.limits.connections);
        assert_eq!(both.limits.file_mib, 1);
        assert!(both.deny_globs().is_match("secret/a/b") && both.deny_globs().is_match(".env"));
    }

    #[test]
    fn a_file_that_is_no_file_or_has_no_end_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(WORKSPACE_FILE);
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert!(WorkspaceConfig::load(folder.path()).is_err());
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "#".repeat(100_000)).unwrap();
        assert!(WorkspaceConfig::load(folder.path()).unwrap_err().to_string().contains("larger"));
    }

    #[test]
    fn a_bare_name_is_denied_in_every_folder() {
        let config = config_of("deny = [\"*.key\"]").unwrap();
        assert!(config.deny_globs().is_match("a/b/server.KEY"));
        assert!(!config.deny_globs().is_match("a/b/server.keys"));
    }
}

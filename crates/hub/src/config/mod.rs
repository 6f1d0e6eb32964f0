//! `config.toml`: what the user can configure, and what a workspace can only tighten; and `clients.toml`, what the
//! user has permanently allowed (`clients`); and `agents.toml`, which agents the hub can start (`agents`).
//!
//! Owns parsing, defaults and bounds, and where each value comes from (`effective`). Must not know windows, agents or
//! sockets. Invariant: a workspace file never allows more than the user's own.

mod agents;
mod calendar;
mod clients;
mod effective;
mod keys;
mod source;

use std::path::{Path, PathBuf};
use std::slice;

use linkspan_editor_api::{DenyGlobs, PermissionKind};
use serde::{Deserialize, Serialize};

pub use agents::hosted_agents;
pub use clients::{Client, Clients, ClientsChange};
pub use effective::{Effective, Origin, Setting};
pub use keys::{ConfigKey, KEYS};
use source::KeyLines;

/// The per-workspace file, read from the root of each workspace folder.
pub const WORKSPACE_FILE: &str = ".linkspan.toml";

/// The configuration; [`KEYS`] says what each key means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub idle_exit_seconds: u64,
    pub window_grace_seconds: u64,
    pub agent_grace_seconds: u64,
    pub journal_days: u32,
    pub journal_mib: u32,
    pub deny: Vec<String>,
    pub dialects_off: Vec<String>,
    pub ppxai_port: u16,
    pub limits: Limits,
    pub page: PageConfig,
    pub consent: ConsentConfig,
}

/// What agents may only do with the user's permission.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConsentConfig {
    pub never: Vec<PermissionKind>,
}

/// The browser page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PageConfig {
    pub port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    pub connections: usize,
    pub header_kib: usize,
    pub message_mib: usize,
    pub messages_per_second: u32,
    pub file_mib: usize,
    pub call_seconds: u64,
    pub heartbeat_seconds: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            idle_exit_seconds: 600,
            window_grace_seconds: 120,
            agent_grace_seconds: 600,
            journal_days: 30,
            journal_mib: 512,
            deny: ["**/.env", "**/*.pem", "**/id_rsa", "**/id_ed25519"].map(String::from).to_vec(),
            dialects_off: Vec::new(),
            ppxai_port: 54321,
            limits: Limits::default(),
            page: PageConfig::default(),
            consent: ConsentConfig::default(),
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

/// What a workspace can configure: it only ever allows less than the user's own config.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkspaceConfig {
    pub deny: Vec<String>,
    pub dialects_off: Vec<String>,
    pub limits: WorkspaceLimits,
    pub consent: ConsentConfig,
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
    /// At least one, in the order of the lines.
    #[error("{path}: {}", summary(problems))]
    Invalid { path: PathBuf, problems: Vec<ConfigProblem> },
}

/// One problem in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// Counted from 1.
    pub line_number: usize,
    pub message: String,
}

/// One line, because it is quoted in other messages.
fn summary(problems: &[ConfigProblem]) -> String {
    let Some(ConfigProblem { line_number, message }) = problems.first() else { return String::new() };
    match problems.len() {
        0 | 1 => format!("line {line_number}: {message}"),
        more => {
            format!("line {line_number}: {message} ({} more: `linkspan config check`)", more - 1)
        }
    }
}

impl Config {
    /// The user's config; a missing file means the defaults.
    pub fn load(path: &Path) -> Result<Config, ConfigError> {
        Ok(Config::load_with_lines(path)?.0)
    }

    fn load_with_lines(path: &Path) -> Result<(Config, KeyLines), ConfigError> {
        source::load(path, |config: &Config| {
            let mut wrong = keys::out_of_bounds(config);
            wrong.extend(invalid_names(&config.deny, &config.dialects_off));
            wrong
        })
    }

    #[must_use]
    pub fn tightened_by(mut self, workspace: &WorkspaceConfig) -> Config {
        self.deny.extend(workspace.deny.iter().cloned());
        self.dialects_off.extend(workspace.dialects_off.iter().cloned());
        self.consent.never.extend(&workspace.consent.never);
        let limits = &mut self.limits;
        limits.connections = limits.connections.min(workspace.limits.connections.unwrap_or(usize::MAX));
        limits.file_mib = limits.file_mib.min(workspace.limits.file_mib.unwrap_or(usize::MAX));
        self
    }

    pub fn dialect_enabled(&self, name: &str) -> bool {
        !self.dialects_off.iter().any(|off| off == name)
    }

    /// Whether it is forbidden even with the user's permission.
    pub fn rules_out(&self, deed: PermissionKind) -> bool {
        self.consent.never.contains(&deed)
    }

    /// The deny globs, ready to match. They were checked file by file; if they are too many together, everything is
    /// denied rather than nothing.
    pub fn deny_globs(&self) -> DenyGlobs {
        DenyGlobs::new(&self.deny).or_else(|_| DenyGlobs::new(&["**".to_owned()])).unwrap_or_default()
    }
}

impl WorkspaceConfig {
    pub fn load(folder: &Path) -> Result<WorkspaceConfig, ConfigError> {
        Ok(WorkspaceConfig::load_with_lines(folder)?.0)
    }

    fn load_with_lines(folder: &Path) -> Result<(WorkspaceConfig, KeyLines), ConfigError> {
        source::load(&folder.join(WORKSPACE_FILE), |config: &WorkspaceConfig| {
            invalid_names(&config.deny, &config.dialects_off)
        })
    }
}

/// The key, and what is wrong with it.
type KeyProblem = (String, String);

fn invalid_names(deny: &[String], dialects_off: &[String]) -> Vec<KeyProblem> {
    let names = linkspan_dialect::names;
    let globs = deny.iter().enumerate().filter_map(|(index, glob)| {
        let reason = DenyGlobs::new(slice::from_ref(glob)).err()?.reason;
        Some((format!("deny[{index}]"), format!("`{glob}` in `deny` is not a glob: {reason}")))
    });
    let dialects = dialects_off.iter().enumerate().filter(|(_, off)| !names().any(|name| name == *off));
    let dialects = dialects.map(|(index, unknown)| {
        let nearest = nearest(unknown, names()).unwrap_or_default();
        let message = format!("there is no dialect `{unknown}`; did you mean `{nearest}`?");
        (format!("dialects_off[{index}]"), message)
    });
    let mut problems: Vec<KeyProblem> = globs.chain(dialects).collect();
    if let (true, Err(error)) = (problems.is_empty(), DenyGlobs::new(deny)) {
        problems
            .push(("deny".into(), format!("the globs in `deny` are too large together: {}", error.reason)));
    }
    problems
}

fn nearest<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known.max_by(|a, b| strsim::jaro_winkler(unknown, a).total_cmp(&strsim::jaro_winkler(unknown, b)))
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
        assert!(error.contains("`limits.heartbeat_seconds` is 0, but must be from 1 to 3600"), "{error}");
        assert!(config_of("idle_exit_seconds = 18446744073709551615").is_err());
        assert!(config_of("window_grace_seconds = 0").is_ok());
    }

    #[test]
    fn a_wrong_type_names_the_line() {
        let error = config_of("idle_exit_seconds = \"soon\"").unwrap_err().to_string();
        assert!(error.contains("line 1") && error.contains("config.toml"), "{error}");
    }

    #[test]
    fn a_bad_glob_is_named() {
        let error = config_of("deny = [\n  \"ok\",\n  \"a[\",\n]").unwrap_err().to_string();
        assert!(error.contains("line 3: `a[` in `deny`"), "{error}");
    }

    #[test]
    fn everything_that_is_wrong_is_found_in_the_order_of_the_lines() {
        let text = "journal_days = 0\nidle = 3\ndialects_off = [\"nexus\"]\n\
                    [limits]\nfile_mib = \"big\"\nconnection = 3\n";
        let ConfigError::Invalid { problems, .. } = config_of(text).unwrap_err() else {
            panic!("it was read")
        };
        let found: Vec<_> = problems.iter().map(|problem| problem.line_number).collect();
        // Bounds are checked once everything else parses.
        assert_eq!(found, [2, 5, 6], "{problems:?}");
        let text = "journal_days = 0\ndialects_off = [\"nexus\"]\n[limits]\nfile_mib = 0\n";
        let ConfigError::Invalid { problems, .. } = config_of(text).unwrap_err() else {
            panic!("it was read")
        };
        let found: Vec<_> = problems.iter().map(|problem| problem.line_number).collect();
        assert_eq!(found, [1, 2, 4], "{problems:?}");
        assert!(problems[1].message.contains("did you mean `nexus3`?"), "{problems:?}");
    }

    #[test]
    fn a_problem_is_one_line_whatever_the_file_contains() {
        for text in
            ["\"a\\nb\" = 1", "deny = [\"[\\n\"]", "dialects_off = [\"x\\r\\ny\"]", "[limits]\n\"\\n\" = 1"]
        {
            let error = config_of(text).unwrap_err().to_string();
            assert!(!error.contains(['\n', '\r']) && error.contains("\\n"), "{error}");
        }
    }

    #[test]
    fn a_file_that_is_not_toml_names_the_lines() {
        let error = config_of("journal_days = 3\n[limits\n").unwrap_err().to_string();
        assert!(error.contains("line 2: "), "{error}");
    }

    #[test]
    fn a_workspace_can_only_tighten() {
        let workspace = WorkspaceConfig {
            deny: vec!["secret/**".into()],
            dialects_off: vec!["nexus3".into()],
            limits: WorkspaceLimits { connections: Some(9999), file_mib: Some(1) },
            consent: ConsentConfig { never: vec![PermissionKind::Git] },
        };
        let consent = ConsentConfig { never: vec![PermissionKind::Command] };
        let mine = Config { dialects_off: vec!["claude".into()], consent, ..Config::default() };
        let both = mine.clone().tightened_by(&workspace);
        assert!(!both.dialect_enabled("claude"), "a workspace cannot enable what the user disabled");
        assert!(!both.dialect_enabled("nexus3"));
        assert_eq!(PermissionKind::ALL.map(|deed| both.rules_out(deed)), [true, false, false, true]);
        assert_eq!(both.limits.connections, mine.limits.connections);
        assert_eq!(both.limits.file_mib, 1);
        assert!(both.deny_globs().is_match("secret/a/b") && both.deny_globs().is_match(".env"));
    }

    #[test]
    fn a_file_that_is_not_regular_or_too_large_is_refused() {
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

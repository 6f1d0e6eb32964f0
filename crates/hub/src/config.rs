//! `config.toml`: what a person may set, and what a workspace may only tighten.
//!
//! Owns parsing and defaults. Knows no windows and no sockets.

mod calendar;
mod clients;
mod effective;
mod written;

use std::path::{Path, PathBuf};
use std::slice;

use linkspan_editor_api::{Deed, DenyGlobs};
use serde::{Deserialize, Serialize};

pub use clients::{Client, Clients, ClientsChange};
pub use effective::{Effective, Origin, Setting};
use written::Written;

/// The per-workspace file, read from the root of each workspace folder.
pub const WORKSPACE_FILE: &str = ".linkspan.toml";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// MiB the journal may hold; when it holds more, the texts of the oldest settled reviews go.
    pub journal_mib: u32,
    /// Globs of files that no agent may see or change through Linkspan.
    pub deny: Vec<String>,
    /// Dialects that are not offered to agents, by name.
    pub dialects_off: Vec<String>,
    /// Port on 127.0.0.1 that ppxai's clients know by heart, besides each window's own; 0 for none.
    pub ppxai_port: u16,
    pub limits: Limits,
    pub page: PageConfig,
    pub consent: ConsentConfig,
}

/// What agents do only with the person's word.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConsentConfig {
    /// What no agent gets, not even by asking.
    pub never: Vec<Deed>,
}

/// The browser page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PageConfig {
    /// Port on 127.0.0.1 where it is served; 0 for any that is free.
    pub port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// What a workspace may say: only ever less than the person's own config allows.
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
    Wrong { path: PathBuf, problems: Vec<Problem> },
}

/// One thing that is wrong in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Counted from 1.
    pub line_number: usize,
    pub message: String,
}

/// One line, because it is quoted in other messages.
fn summary(problems: &[Problem]) -> String {
    let Some(Problem { line_number, message }) = problems.first() else { return String::new() };
    match problems.len() {
        0 | 1 => format!("line {line_number}: {message}"),
        more => {
            format!("line {line_number}: {message} ({} more: `linkspan config check`)", more - 1)
        }
    }
}

impl Config {
    /// The person's config; a missing file means the defaults.
    pub fn load(path: &Path) -> Result<Config, ConfigError> {
        Ok(Config::load_written(path)?.0)
    }

    fn load_written(path: &Path) -> Result<(Config, Written), ConfigError> {
        written::load(path, |config: &Config| {
            let mut wrong = config.out_of_bounds();
            wrong.extend(wrong_names(&config.deny, &config.dialects_off));
            wrong
        })
    }

    /// Zero would spin or refuse everything, and absurd numbers overflow.
    fn out_of_bounds(&self) -> Vec<Wrong> {
        let Limits {
            connections, header_kib, message_mib, file_mib, call_seconds, heartbeat_seconds, ..
        } = self.limits;
        const YEAR: u64 = 366 * 24 * 3600;
        let bounds = [
            ("idle_exit_seconds", self.idle_exit_seconds, 1, YEAR),
            ("window_grace_seconds", self.window_grace_seconds, 0, YEAR),
            ("agent_grace_seconds", self.agent_grace_seconds, 0, YEAR),
            ("journal_days", self.journal_days.into(), 1, 36_500),
            ("journal_mib", self.journal_mib.into(), 16, 1_048_576),
            ("limits.connections", connections as u64, 1, 65_535),
            ("limits.header_kib", header_kib as u64, 1, 1024),
            ("limits.message_mib", message_mib as u64, 1, 1024),
            ("limits.file_mib", file_mib as u64, 1, 200),
            ("limits.call_seconds", call_seconds, 1, 3600),
            ("limits.heartbeat_seconds", heartbeat_seconds, 1, 3600),
        ];
        let outside = bounds.into_iter().filter(|(_, value, least, most)| value < least || value > most);
        let say = |(key, value, least, most): (&str, u64, u64, u64)| {
            (key.to_owned(), format!("`{key}` is {value}, and must be from {least} to {most}"))
        };
        outside.map(say).collect()
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

    /// Whether nobody may do it, whatever the person said to a question.
    pub fn rules_out(&self, deed: Deed) -> bool {
        self.consent.never.contains(&deed)
    }

    /// The deny globs, ready to match. They were checked file by file; should they be too much together, everything
    /// is denied rather than nothing.
    pub fn deny_globs(&self) -> DenyGlobs {
        DenyGlobs::new(&self.deny).or_else(|_| DenyGlobs::new(&["**".to_owned()])).unwrap_or_default()
    }
}

impl WorkspaceConfig {
    pub fn load(folder: &Path) -> Result<WorkspaceConfig, ConfigError> {
        Ok(WorkspaceConfig::load_written(folder)?.0)
    }

    fn load_written(folder: &Path) -> Result<(WorkspaceConfig, Written), ConfigError> {
        written::load(&folder.join(WORKSPACE_FILE), |config: &WorkspaceConfig| {
            wrong_names(&config.deny, &config.dialects_off)
        })
    }
}

/// The key at fault and what is wrong with it.
type Wrong = (String, String);

fn wrong_names(deny: &[String], dialects_off: &[String]) -> Vec<Wrong> {
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
    let mut wrong: Vec<Wrong> = globs.chain(dialects).collect();
    if let (true, Err(error)) = (wrong.is_empty(), DenyGlobs::new(deny)) {
        wrong.push(("deny".into(), format!("the globs in `deny` are too much together: {}", error.reason)));
    }
    wrong
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
        let error = config_of("deny = [\n  \"ok\",\n  \"a[\",\n]").unwrap_err().to_string();
        assert!(error.contains("line 3: `a[` in `deny`"), "{error}");
    }

    #[test]
    fn everything_that_is_wrong_is_found_in_the_order_of_the_lines() {
        let text = "journal_days = 0\nidle = 3\ndialects_off = [\"nexus\"]\n\
                    [limits]\nfile_mib = \"big\"\nconnection = 3\n";
        let ConfigError::Wrong { problems, .. } = config_of(text).unwrap_err() else { panic!("it was read") };
        let found: Vec<_> = problems.iter().map(|problem| problem.line_number).collect();
        // What is out of bounds is seen once the rest is understood.
        assert_eq!(found, [2, 5, 6], "{problems:?}");
        let text = "journal_days = 0\ndialects_off = [\"nexus\"]\n[limits]\nfile_mib = 0\n";
        let ConfigError::Wrong { problems, .. } = config_of(text).unwrap_err() else { panic!("it was read") };
        let found: Vec<_> = problems.iter().map(|problem| problem.line_number).collect();
        assert_eq!(found, [1, 2, 4], "{problems:?}");
        assert!(problems[1].message.contains("did you mean `nexus3`?"), "{problems:?}");
    }

    #[test]
    fn a_problem_is_one_line_whatever_stands_in_the_file() {
        for text in
            ["\"a\\nb\" = 1", "deny = [\"[\\n\"]", "dialects_off = [\"x\\r\\ny\"]", "[limits]\n\"\\n\" = 1"]
        {
            let error = config_of(text).unwrap_err().to_string();
            assert!(!error.contains(['\n', '\r']) && error.contains("\\n"), "{error}");
        }
    }

    #[test]
    fn a_file_that_is_not_toml_says_on_which_lines() {
        let error = config_of("journal_days = 3\n[limits\n").unwrap_err().to_string();
        assert!(error.contains("line 2: "), "{error}");
    }

    #[test]
    fn a_workspace_can_only_tighten() {
        let workspace = WorkspaceConfig {
            deny: vec!["secret/**".into()],
            dialects_off: vec!["nexus3".into()],
            limits: WorkspaceLimits { connections: Some(9999), file_mib: Some(1) },
            consent: ConsentConfig { never: vec![Deed::Git] },
        };
        let consent = ConsentConfig { never: vec![Deed::Command] };
        let mine = Config { dialects_off: vec!["claude".into()], consent, ..Config::default() };
        let both = mine.clone().tightened_by(&workspace);
        assert!(!both.dialect_enabled("claude"), "a workspace cannot switch on what the person switched off");
        assert!(!both.dialect_enabled("nexus3"));
        assert_eq!(Deed::ALL.map(|deed| both.rules_out(deed)), [true, false, false, true]);
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

//! The keys of `config.toml`: what each means and which numbers it takes. Checks and docs/configuration.md use this table;
//! the types and defaults are in [`super::Config`].

use super::{Config, KeyProblem};

/// One key of the configuration file.
#[derive(Debug)]
pub struct ConfigKey {
    /// With its table, such as `limits.file_mib`.
    pub name: &'static str,
    pub summary: &'static str,
    /// The least and the largest number.
    pub bounds: Option<(u64, u64)>,
    /// Whether `.linkspan.toml` may tighten it.
    pub in_workspace: bool,
}

const YEAR: u64 = 366 * 24 * 3600;

/// Every key, in the order of the file.
pub const KEYS: [ConfigKey; 17] = [
    number("idle_exit_seconds", 1, YEAR, "a hub with nothing to do exits"),
    number("window_grace_seconds", 0, YEAR, "a window that disconnected keeps its port, token and agents"),
    number(
        "agent_grace_seconds",
        0,
        YEAR,
        "a review, or an outcome not fetched yet, outlives its agent's connection",
    ),
    number("journal_days", 1, 36_500, "decided reviews and their previous contents are kept"),
    number("journal_mib", 16, 1_048_576, "when the journal is larger, the oldest texts are dropped"),
    tightened(text("deny", "files that no agent sees or changes")),
    tightened(text(
        "dialects_off",
        "for example [\"nexus3\"]; `codex` is Codex's daemon and its `/ide`, `linkspan` Linkspan's own dialect",
    )),
    text("ppxai_port", "ppxai's well-known port, besides the port of each window; 0 for none"),
    tightened(number("limits.connections", 1, 65_535, "agents per window")),
    number("limits.header_kib", 1, 1024, "HTTP request head"),
    number("limits.message_mib", 1, 1024, "one message of an agent or editor"),
    text("limits.messages_per_second", "per agent; above it the agent is slowed down; 0 for no limit"),
    tightened(number("limits.file_mib", 1, 200, "largest file under review")),
    number("limits.call_seconds", 1, 3600, "how long a program may take to answer"),
    number("limits.heartbeat_seconds", 1, 3600, "between pings; a connection that misses one is closed"),
    text("page.port", "where the browser page is served; 0 for any free port"),
    tightened(text(
        "consent.never",
        "what no agent may do, even with permission: \"command\", \"code\", \"edit\", \"git\"",
    )),
];

const fn text(name: &'static str, summary: &'static str) -> ConfigKey {
    ConfigKey { name, summary, bounds: None, in_workspace: false }
}

const fn number(name: &'static str, least: u64, most: u64, summary: &'static str) -> ConfigKey {
    ConfigKey { bounds: Some((least, most)), ..text(name, summary) }
}

const fn tightened(key: ConfigKey) -> ConfigKey {
    ConfigKey { in_workspace: true, ..key }
}

/// The numbers outside their bounds: zero would spin or refuse everything, and absurd numbers overflow.
pub(super) fn out_of_bounds(config: &Config) -> Vec<KeyProblem> {
    let values = serde_json::to_value(config).unwrap_or_default();
    let outside = KEYS.iter().filter_map(|key| {
        let (least, most) = key.bounds?;
        let value = values.pointer(&format!("/{}", key.name.replace('.', "/")))?.as_u64()?;
        let is_outside = value < least || value > most;
        is_outside.then(|| {
            (key.name.to_owned(), format!("`{}` is {value}, but must be from {least} to {most}", key.name))
        })
    });
    outside.collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Effective, WorkspaceConfig};
    use super::*;

    #[test]
    fn every_key_is_described_in_the_order_of_the_file() {
        let settings = Effective::load(Path::new("/nonexistent/config.toml"), None).unwrap().settings();
        let keys: Vec<String> = settings.into_iter().map(|setting| setting.key).collect();
        assert_eq!(KEYS.map(|key| key.name).to_vec(), keys);
    }

    #[test]
    fn a_workspace_takes_exactly_the_keys_that_say_so() {
        for key in KEYS {
            let (table, name) = key.name.rsplit_once('.').unwrap_or(("", key.name));
            let table = if table.is_empty() { String::new() } else { format!("[{table}]\n") };
            let value = if key.bounds.is_some() { "16" } else { "[]" };
            let taken = toml::from_str::<WorkspaceConfig>(&format!("{table}{name} = {value}")).is_ok();
            assert_eq!(taken, key.in_workspace, "{}", key.name);
        }
    }
}

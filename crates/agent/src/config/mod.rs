//! `agent.toml`: what the user configures. Owns its keys and the messages about wrong ones; must not know who uses them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use linkspan_client::BridgeConfig;
use serde::Deserialize;

use crate::permissions::PermissionMode;
use crate::tools::fetch::FetchRules;
use crate::tools::mcp::{ServerConfig, read_servers};

/// The name of the file in Linkspan's configuration directory.
pub const FILE: &str = "agent.toml";

/// As in Linkspan's own configuration.
const DENIED: [&str; 4] = ["**/.env", "**/*.pem", "**/id_rsa", "**/id_ed25519"];

/// It is written by hand.
const LARGEST: u64 = 256 * 1024;

/// Everything that can be configured; each key may be missing.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// `provider/model`, or a provider; the first provider with a key if there is none.
    pub model: Option<String>,
    /// The permission mode of new agents.
    pub mode: PermissionMode,
    /// After how many requests to the model a turn ends.
    pub max_rounds: u32,
    /// How long to wait for machines.
    pub time_limits: TimeLimits,
    /// Which parts of an editor are used.
    pub ide: BridgeConfig,
    /// Further providers, or other settings for those that are built in.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// Files that are kept from models, besides those of Linkspan's `config.toml`.
    pub deny: Vec<String>,
    /// What `fetch_url` may reach.
    pub fetch: FetchRules,
    /// The end of each system prompt.
    pub instructions: String,
    /// MCP servers by name, as other agents configure them.
    #[serde(rename = "mcpServers")]
    pub mcp_servers: BTreeMap<String, toml::Value>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            model: None,
            mode: PermissionMode::Trusted,
            max_rounds: 100,
            time_limits: TimeLimits::default(),
            ide: BridgeConfig::default(),
            providers: BTreeMap::new(),
            deny: DENIED.map(str::to_owned).into(),
            fetch: FetchRules::default(),
            instructions: String::new(),
            mcp_servers: BTreeMap::new(),
        }
    }
}

/// Limits for machines, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TimeLimits {
    /// To connect to a model's server.
    pub connect: u64,
    /// Until the first byte of an answer: some models think for minutes.
    pub first_byte: u64,
    /// Between two pieces of an answer.
    pub idle: u64,
}

impl Default for TimeLimits {
    fn default() -> TimeLimits {
        TimeLimits { connect: 15, first_byte: 300, idle: 120 }
    }
}

/// A provider of models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderConfig {
    /// The protocol of its server; needed unless it is a built-in provider.
    pub wire: Option<WireName>,
    /// Where its server is.
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    pub key_variable: Option<String>,
    /// The model that is used if none is named.
    pub model: Option<String>,
    /// Models that lists show; others can be named.
    pub models: Vec<String>,
    /// How many tokens its models can read.
    pub context_window: Option<u64>,
    /// How many tokens an answer may have.
    pub max_output_tokens: Option<u32>,
}

/// The protocol of a model's server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireName {
    /// Messages.
    Anthropic,
    /// Chat completions.
    Openai,
    /// `streamGenerateContent`.
    Gemini,
    /// `/api/chat`.
    Ollama,
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is wrong.
    #[error("{}:{line_number}: {message}", path.display())]
    Wrong {
        /// Which.
        path: PathBuf,
        /// Where, from 1.
        line_number: usize,
        /// What, and what to do.
        message: String,
    },
}

impl Config {
    /// Reads `agent.toml` in this directory; without one, everything is as it is by default.
    pub fn load(folder: &Path) -> Result<Config, ConfigError> {
        let path = folder.join(FILE);
        let text = match read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Config::default()),
            Err(source) => return Err(ConfigError::Read { path, source }),
        };
        Config::parse(&text).map_err(|(line_number, message)| ConfigError::Wrong {
            path,
            line_number,
            message,
        })
    }

    fn parse(text: &str) -> Result<Config, (usize, String)> {
        let config: Config = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            (before.matches('\n').count() + 1, message(error.message()))
        })?;
        match config.problem() {
            Some((key, problem)) => {
                let line = text.lines().position(|line| line.contains(&key)).map_or(1, |index| index + 1);
                Err((line, problem))
            }
            None => Ok(config),
        }
    }

    /// The MCP servers. `variable` reads the environment, which their settings may name.
    pub fn servers(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<BTreeMap<String, ServerConfig>, String> {
        let servers = serde_json::to_value(&self.mcp_servers).map_err(|error| error.to_string())?;
        read_servers(&servers, variable).map_err(|error| format!("{FILE}: {error}"))
    }

    /// What the types cannot say: the key, and what is wrong with it.
    fn problem(&self) -> Option<(String, String)> {
        if self.max_rounds == 0 {
            let problem = "`max_rounds` must be at least 1".to_owned();
            return Some(("max_rounds".to_owned(), problem));
        }
        for (name, seconds) in [
            ("connect", self.time_limits.connect),
            ("first_byte", self.time_limits.first_byte),
            ("idle", self.time_limits.idle),
        ] {
            if !(1..=3600).contains(&seconds) {
                return Some((name.to_owned(), format!("`time_limits.{name}` must be 1 to 3600 seconds")));
            }
        }
        self.providers.keys().find(|name| name.is_empty() || name.contains(['/', ':'])).map(|name| {
            (
                name.clone(),
                format!("the provider `{name}` needs another name: `/` separates it from its model"),
            )
        })
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    let file = std::fs::File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(std::io::Error::other(format!("it is larger than {LARGEST} bytes")));
    }
    Ok(text)
}

/// serde names the unknown key and all known ones: the user wants the nearest one.
fn message(message: &str) -> String {
    let Some((what, after)) = ["field", "variant"]
        .iter()
        .find_map(|what| Some((what, message.strip_prefix("unknown ")?.strip_prefix(what)?)))
    else {
        return message.trim_end().replace('\n', "; ");
    };
    let what = if *what == "field" { "key" } else { "value" };
    let mut names = after.split('`').skip(1).step_by(2);
    let unknown = names.next().unwrap_or_default();
    let names: Vec<_> = names.collect();
    let distance = |name: &str| strsim::damerau_levenshtein(name, unknown);
    let similarity = |name: &str| strsim::jaro_winkler(name, unknown);
    let nearest = names.iter().min_by(|one, other| {
        distance(one).cmp(&distance(other)).then(similarity(other).total_cmp(&similarity(one)))
    });
    match nearest {
        Some(nearest) if distance(nearest) <= 3 => {
            format!("unknown {what} `{unknown}`; did you mean `{nearest}`?")
        }
        _ => format!("unknown {what} `{unknown}`; known are `{}`", names.join("`, `")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let (line_number, message) = Config::parse(text).unwrap_err();
        format!("{line_number}: {message}")
    }

    #[test]
    fn everything_may_be_missing() {
        assert_eq!(Config::parse("").unwrap(), Config::default());
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Config::load(folder.path()).unwrap(), Config::default());
    }

    #[test]
    fn every_key_can_be_set() {
        let config = Config::parse(
            r#"
            model = "local/qwen3"
            mode = "sandboxed"
            max_rounds = 7
            [time_limits]
            idle = 30
            [ide]
            auto_connect = false
            use_ide_diffs = false
            [providers.local]
            wire = "openai"
            base_url = "http://127.0.0.1:8000/v1"
            model = "qwen3"
            context_window = 32768
            [mcpServers.files]
            command = "mcp-files"
            "#,
        );
        let config = config.unwrap();
        assert_eq!((config.mode, config.max_rounds), (PermissionMode::Sandboxed, 7));
        assert_eq!(config.time_limits, TimeLimits { idle: 30, ..TimeLimits::default() });
        assert!(!config.ide.auto_connect && config.ide.enabled);
        let local = &config.providers["local"];
        assert_eq!((local.wire, local.context_window), (Some(WireName::Openai), Some(32768)));
        let servers = config.servers(|_| None).unwrap();
        assert_eq!(servers["files"].command.as_deref(), Some("mcp-files"));
    }

    #[test]
    fn the_page_shows_every_key_and_the_defaults() {
        let page = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents/linkspan-agent.md"));
        let (_, after) = page.split_once("## Configuration").unwrap();
        let block = after.split("```").nth(1).unwrap().strip_prefix("toml").unwrap();
        let shown = Config::parse(block).unwrap();
        // Without the examples, it is the default.
        let providers = shown.providers.clone();
        let without = Config {
            model: None,
            instructions: String::new(),
            providers: BTreeMap::new(),
            mcp_servers: BTreeMap::new(),
            ..shown.clone()
        };
        assert_eq!(without, Config::default());
        // A key that is not in the page is unknown to serde's message in the same order as its fields.
        let all = |table: &str| message_of_all_keys(&format!("{table}nonsense = 1"));
        for table in ["", "[time_limits]\n", "[ide]\n", "[fetch]\n", "[providers.work]\n"] {
            for key in all(table) {
                let is_shown = block.lines().any(|line| line.starts_with(&format!("{key} = ")));
                assert!(is_shown || block.contains(&format!("[{key}")), "{table}{key}");
            }
        }
        assert_eq!(providers["work"].models.len(), 2);
    }

    fn message_of_all_keys(text: &str) -> Vec<String> {
        let error = toml::from_str::<Config>(text).unwrap_err();
        error.message().split('`').skip(3).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn an_unknown_key_names_the_nearest_and_its_line() {
        assert_eq!(error("\nmodle = \"x\"\n"), "2: unknown key `modle`; did you mean `model`?");
        let wrong_switch = error("[ide]\nenabled = true\ninject_diagnostic = true\n");
        assert_eq!(wrong_switch, "3: unknown key `inject_diagnostic`; did you mean `inject_diagnostics`?");
        assert_eq!(error("mode = \"yollo\"\n"), "1: unknown value `yollo`; did you mean `yolo`?");
        assert!(
            error("[providers.x]\nwire = \"grpc\"\n")
                .starts_with("2: unknown value `grpc`; known are `anthropic`")
        );
    }

    #[test]
    fn a_wrong_mcp_server_is_named() {
        let config = Config::parse("[mcpServers.files]\ncomand = \"x\"\n").unwrap();
        let error = config.servers(|_| None).unwrap_err();
        assert!(error.starts_with("agent.toml: the MCP server `files`: unknown field `comand`"), "{error}");
    }

    #[test]
    fn wrong_values_and_broken_files_are_named() {
        assert_eq!(error("max_rounds = 0"), "1: `max_rounds` must be at least 1");
        assert_eq!(error("[time_limits]\nidle = 0"), "2: `time_limits.idle` must be 1 to 3600 seconds");
        assert!(error("[providers.\"a/b\"]\nwire = \"openai\"").contains("needs another name"));
        assert!(error("model = [").starts_with("1: "));
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "x = 1").unwrap();
        let error = Config::load(folder.path()).unwrap_err().to_string();
        assert!(error.contains("agent.toml:1: unknown key `x`"), "{error}");
        std::fs::remove_file(folder.path().join(FILE)).unwrap();
        std::fs::create_dir(folder.path().join(FILE)).unwrap();
        assert!(Config::load(folder.path()).unwrap_err().to_string().starts_with("cannot read "));
    }
}

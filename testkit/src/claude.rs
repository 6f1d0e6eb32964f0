//! A real Claude Code in a terminal: configured so that it starts without questions, with the model of the test and no
//! other network. Keys that a user types, and the screen.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::model::{Model, PATIENCE, Turn};
use super::{Tty, World, agent_programs};

const KEY: &str = "sk-ant-api03-test-key-for-the-model-of-a-test";

/// Switches off its own use of the network.
const QUIET: [&str; 7] = [
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL",
    "CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_INSTALLATION_CHECKS",
    "DISABLE_TELEMETRY",
];

/// The versions that the tests run: the newest, the last one that ran on Node.js, and the last of the line before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaudeVersion {
    Newest,
    V2_1_112,
    V1_0_128,
}

impl ClaudeVersion {
    pub fn number(self) -> &'static str {
        match self {
            ClaudeVersion::Newest => "2.1.325",
            ClaudeVersion::V2_1_112 => "2.1.112",
            ClaudeVersion::V1_0_128 => "1.0.128",
        }
    }

    /// The mode that asks before each edit. Older versions have another name for it.
    pub fn asking_mode(self) -> &'static str {
        match self {
            ClaudeVersion::Newest => "manual",
            ClaudeVersion::V2_1_112 | ClaudeVersion::V1_0_128 => "default",
        }
    }
}

/// A screen that has not changed for this long waits for the user.
const AT_REST: Duration = Duration::from_millis(2_500);

pub struct Claude {
    pub tty: Tty,
    pub model: Model,
    pub version: ClaudeVersion,
}

impl Claude {
    /// Starts it in the workspace with `--ide` in the mode that asks, and waits until it accepts keys.
    #[track_caller]
    pub fn start(world: &World, version: ClaudeVersion, script: impl IntoIterator<Item = Turn>) -> Claude {
        set_up(world);
        let args = ["--ide", "--permission-mode", version.asking_mode()];
        let claude = Claude::run(world, version, script, &args);
        claude.tty.sees_that("connected", |_| claude.is_connected(world));
        claude
    }

    /// Whether the hub lists it.
    pub fn is_connected(&self, world: &World) -> bool {
        let status = world.status();
        let windows = status["windows"].as_array().into_iter().flatten();
        let mut agents = windows.filter_map(|window| window["agents"].as_array()).flatten();
        agents.any(|agent| agent["pid"] == self.tty.pid())
    }

    /// Starts it with these arguments.
    pub fn run(
        world: &World,
        version: ClaudeVersion,
        script: impl IntoIterator<Item = Turn>,
        args: &[&str],
    ) -> Claude {
        Claude::run_with(world, version, script, args, &[])
    }

    /// Starts it with these arguments and variables.
    pub fn run_with(
        world: &World,
        version: ClaudeVersion,
        script: impl IntoIterator<Item = Turn>,
        args: &[&str],
        variables: &[(&str, &str)],
    ) -> Claude {
        let model = Model::start(script);
        let mut command = command(world, version, &model);
        command.args(args).envs(variables.iter().copied());
        Claude { tty: Tty::start(&command, 120, 50, PATIENCE), model, version }
    }

    /// Types a prompt and sends it.
    pub fn prompt(&mut self, text: &str) {
        self.tty.types(text);
        self.tty.sees(text);
        self.tty.types("\r");
    }

    /// Answers the question in the terminal with this key, and waits until it is gone.
    #[track_caller]
    pub fn answers(&mut self, key: &str) {
        self.types_until(key, "the end of the question", |screen| !screen.contains("Do you want to"));
    }

    /// Types this key until the screen changes as expected. Claude Code ignores keys for a moment after a question appears.
    #[track_caller]
    pub fn types_until(&mut self, key: &str, what: &str, fits: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !fits(&self.tty.text()) {
            self.tty.types(key);
            // Not before the screen has come to rest: on a busy machine the answer to the key is late, and a second key
            // would decide the next question.
            let typed = Instant::now();
            let (mut seen, mut since) = (self.tty.text(), typed);
            while !fits(&seen) && since.elapsed() < AT_REST && typed.elapsed() < 2 * AT_REST {
                assert!(Instant::now() < until, "never seen: {what}; the screen:\n{seen}");
                thread::sleep(Duration::from_millis(50));
                let now = self.tty.text();
                if now != seen {
                    (seen, since) = (now, Instant::now());
                }
            }
        }
    }
}

impl Drop for Claude {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("--- the screen of Claude Code {}\n{}\n---", self.version.number(), self.tty.text());
        }
    }
}

/// Claude Code as a command, with this model and no other network.
pub fn command(world: &World, version: ClaudeVersion, model: &Model) -> Command {
    let mut command = agent_programs::command(world, &format!("claude-{}", version.number()));
    command.envs(variables(model)).envs(model.proxy_variables());
    command
}

/// With these it uses this model, and nothing else on the network.
pub fn variables(model: &Model) -> impl Iterator<Item = (&'static str, String)> {
    let model = [("ANTHROPIC_BASE_URL", model.url()), ("ANTHROPIC_API_KEY", KEY.to_owned())];
    QUIET.into_iter().map(|name| (name, "1".to_owned())).chain(model)
}

/// Answers in advance the questions to a new user: the theme, the key, whether the folder is trusted.
pub fn set_up(world: &World) {
    let path = world.home().join(".claude.json");
    let mut settings: Value =
        fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_else(|| json!({}));
    settings["hasCompletedOnboarding"] = json!(true);
    settings["theme"] = json!("dark");
    settings["numStartups"] = json!(5);
    // It remembers a key by its last twenty characters.
    let end = KEY.get(KEY.len() - 20..).unwrap();
    settings["customApiKeyResponses"] = json!({ "approved": [end], "rejected": [] });
    settings["projects"][world.workspace().to_str().unwrap()] =
        json!({ "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": [] });
    fs::write(path, settings.to_string()).unwrap();
}

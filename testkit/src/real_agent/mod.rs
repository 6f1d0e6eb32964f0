//! Real agents in a terminal: configured so that they start without questions, with the model of the test and no other
//! network. The terminal is an ordinary one: no variable names an editor. `Claude` has more of Claude Code's own screen.

mod codex;
mod copilot;
mod opencode;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::model::{Model, PATIENCE, Turn};
use super::{ClaudeVersion, Tty, World, agent_programs, claude};

pub use codex::{CodexServer, Sandbox, codex_exec, codex_home};
pub use opencode::{opencode_run, opencode_settings};

use codex::CodexProcesses;

/// Whether an agent connects to the window by its own protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditorProtocol {
    On,
    Off,
}

/// What a test has to know about an agent's terminal.
struct Screen {
    /// The name by which the hub lists it.
    name: &'static str,
    /// It shows this when it takes a prompt.
    ready: &'static str,
}

pub struct RealAgent {
    pub tty: Tty,
    pub model: Model,
    screen: Screen,
    /// Ends after the terminal program.
    _server: Option<CodexProcesses>,
}

impl RealAgent {
    /// Claude Code in the mode that asks.
    pub fn claude(
        world: &World,
        version: ClaudeVersion,
        protocol: EditorProtocol,
        script: impl IntoIterator<Item = Turn>,
    ) -> RealAgent {
        claude::set_up(world);
        let model = Model::start(script);
        let mut command = claude::command(world, version, &model);
        command.args(["--permission-mode", version.asking_mode()]);
        if protocol == EditorProtocol::On {
            command.arg("--ide");
        }
        RealAgent::start(Screen { name: "claude-code", ready: "? for shortcuts" }, command, model)
    }

    /// Gemini CLI in the mode that asks.
    pub fn gemini(
        world: &World,
        protocol: EditorProtocol,
        script: impl IntoIterator<Item = Turn>,
    ) -> RealAgent {
        let settings = json!({
            "security": { "auth": { "selectedType": "gemini-api-key" }, "folderTrust": { "enabled": false } },
            "ide": { "enabled": protocol == EditorProtocol::On, "hasSeenNudge": true },
            "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
            "privacy": { "usageStatisticsEnabled": false },
        });
        write(&world.home().join(".gemini/settings.json"), &settings);
        let mut command = agent_programs::command(world, "gemini-0.61.0");
        let model = Model::start(script);
        command.args(["--model", "gemini-2.5-pro"]);
        command.env("GEMINI_API_KEY", "key-of-a-test").env("GOOGLE_GEMINI_BASE_URL", model.url());
        // Otherwise it looks for the editor outside of the container in which the tests may run.
        command.env("REMOTE_CONTAINERS", "1");
        RealAgent::start(asks("Gemini CLI"), command, model)
    }

    /// Qwen Code in the mode that asks.
    pub fn qwen(
        world: &World,
        protocol: EditorProtocol,
        script: impl IntoIterator<Item = Turn>,
    ) -> RealAgent {
        let settings = json!({
            "security": { "auth": { "selectedType": "openai" }, "folderTrust": { "enabled": false } },
            "ide": { "enabled": protocol == EditorProtocol::On, "hasSeenNudge": true },
            "general": { "enableAutoUpdate": false },
            "privacy": { "usageStatisticsEnabled": false },
        });
        write(&world.home().join(".qwen/settings.json"), &settings);
        let mut command = agent_programs::command(world, "qwen-0.24.4");
        let model = Model::start(script);
        command.args(["--approval-mode", "default"]);
        command.env("OPENAI_API_KEY", "key-of-a-test").env("OPENAI_MODEL", "model-of-a-test");
        command.env("OPENAI_BASE_URL", format!("{}/v1", model.url()));
        RealAgent::start(asks("Qwen Code"), command, model)
    }

    /// opencode, with additional variables.
    pub fn opencode(world: &World, variables: &[(&str, &str)]) -> RealAgent {
        let mut command = agent_programs::command(world, "opencode-1.18.33");
        let model = Model::start([]);
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible", "name": "test",
            "options": { "baseURL": format!("{}/v1", model.url()), "apiKey": "key-of-a-test" },
            "models": { "m": { "name": "m" } },
        });
        let settings = json!({
            "provider": { "test": provider }, "model": "test/m", "autoupdate": false, "share": "disabled",
            "permission": { "edit": "ask" },
        });
        write(&world.home().join(".config/opencode/opencode.json"), &settings);
        command.envs(variables.iter().copied());
        RealAgent::start(asks("opencode"), command, model)
    }

    fn start(screen: Screen, mut command: Command, model: Model) -> RealAgent {
        command.envs(model.proxy_variables());
        // opencode takes half a minute to start on a busy machine.
        RealAgent { tty: Tty::start(&command, 120, 50, 2 * PATIENCE), model, screen, _server: None }
    }

    /// Waits until the hub lists it as connected.
    #[track_caller]
    pub fn is_connected(&self, world: &World) {
        self.tty.sees_that(&format!("{} is connected", self.screen.name), |_| {
            listed(&world.status(), "agents").contains(&self.screen.name.to_owned())
        });
    }

    /// Answers a question in the terminal with this key, and waits until it is gone.
    #[track_caller]
    pub fn answers(&mut self, question: &str, key: &str) {
        self.tty.sees(question);
        self.types_until(key, |screen| !screen.contains(question));
    }

    /// Types this key until the screen is as expected. They ignore keys for a moment after a question appears.
    #[track_caller]
    pub fn types_until(&mut self, key: &str, fits: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !fits(&self.tty.text()) {
            assert!(Instant::now() < until, "{} ignores {key:?}:\n{}", self.screen.name, self.tty.text());
            thread::sleep(Duration::from_millis(700));
            self.tty.types(key);
            let answered = Instant::now() + Duration::from_secs(2);
            while !fits(&self.tty.text()) && Instant::now() < answered {
                thread::sleep(Duration::from_millis(20));
            }
        }
    }

    /// Types a prompt and sends it.
    #[track_caller]
    pub fn prompt(&mut self, text: &str) {
        // They lose keys that are typed before they are ready, and some show the field before that.
        self.tty.sees(self.screen.ready);
        let until = Instant::now() + PATIENCE;
        while !self.tty.text().contains(text) {
            assert!(Instant::now() < until, "{} takes no keys:\n{}", self.screen.name, self.tty.text());
            self.tty.types(text);
            let shown = Instant::now() + Duration::from_secs(2);
            while !self.tty.text().contains(text) && Instant::now() < shown {
                thread::sleep(Duration::from_millis(20));
            }
        }
        // These agents treat keys that arrive at once as pasted text.
        thread::sleep(Duration::from_millis(300));
        self.tty.types("\r");
    }
}

impl Drop for RealAgent {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("--- the screen of {}\n{}\n---", self.screen.name, self.tty.text());
        }
    }
}

/// The names in one of the lists of agents of all windows, such as `agents`.
pub fn listed(status: &Value, list: &str) -> Vec<String> {
    let windows = status["windows"].as_array().into_iter().flatten();
    let agents = windows.filter_map(|window| window[list].as_array()).flatten();
    agents.filter_map(|agent| agent["name"].as_str()).map(str::to_owned).collect()
}

/// The screen of those that have the same words for it.
fn asks(name: &'static str) -> Screen {
    Screen { name, ready: "Type your message" }
}

/// Keeps what the file has besides, such as hooks.
fn write(path: &Path, settings: &Value) {
    let mut file: Value =
        fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_else(|| json!({}));
    for (name, value) in settings.as_object().unwrap() {
        file[name] = value.clone();
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, file.to_string()).unwrap();
}

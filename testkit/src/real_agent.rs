//! Real Gemini CLI, Qwen Code and opencode in a terminal: set up so that they ask nothing at their start, with a model of
//! the test's own and nothing else of the network. The terminal is an ordinary one: no variable tells of an editor.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::model::{Model, PATIENCE, Turn};
use super::{Tty, World, installed};

pub struct RealAgent {
    pub tty: Tty,
    pub model: Model,
    name: &'static str,
}

impl RealAgent {
    /// Gemini CLI in the mode that asks, with its connection to editors switched on.
    pub fn gemini(world: &World, script: impl IntoIterator<Item = Turn>) -> RealAgent {
        let settings = json!({
            "security": { "auth": { "selectedType": "gemini-api-key" }, "folderTrust": { "enabled": false } },
            "ide": { "enabled": true, "hasSeenNudge": true },
            "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
            "privacy": { "usageStatisticsEnabled": false },
        });
        write(&world.home().join(".gemini/settings.json"), &settings);
        let mut command = installed::command(world, "gemini-0.61.0");
        let model = Model::start(script);
        command.args(["--model", "gemini-2.5-pro"]);
        command.env("GEMINI_API_KEY", "key-of-a-test").env("GOOGLE_GEMINI_BASE_URL", model.url());
        // Else it looks for the editor outside of the container, where the tests may run.
        command.env("REMOTE_CONTAINERS", "1");
        RealAgent::start("Gemini CLI", command, model)
    }

    /// Qwen Code in the mode that asks, with its connection to editors switched on.
    pub fn qwen(world: &World, script: impl IntoIterator<Item = Turn>) -> RealAgent {
        let settings = json!({
            "security": { "auth": { "selectedType": "openai" }, "folderTrust": { "enabled": false } },
            "ide": { "enabled": true, "hasSeenNudge": true },
            "general": { "enableAutoUpdate": false },
            "privacy": { "usageStatisticsEnabled": false },
        });
        write(&world.home().join(".qwen/settings.json"), &settings);
        let mut command = installed::command(world, "qwen-0.24.4");
        let model = Model::start(script);
        command.args(["--approval-mode", "default"]);
        command.env("OPENAI_API_KEY", "key-of-a-test").env("OPENAI_MODEL", "model-of-a-test");
        command.env("OPENAI_BASE_URL", format!("{}/v1", model.url()));
        RealAgent::start("Qwen Code", command, model)
    }

    /// opencode, with these variables as well.
    pub fn opencode(world: &World, variables: &[(&str, &str)]) -> RealAgent {
        let mut command = installed::command(world, "opencode-1.18.33");
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
        RealAgent::start("opencode", command, model)
    }

    fn start(name: &'static str, mut command: Command, model: Model) -> RealAgent {
        command.envs(model.proxy_variables());
        // opencode takes half a minute to start on a busy machine.
        RealAgent { tty: Tty::start(&command, 120, 50, 2 * PATIENCE), model, name }
    }

    /// Waits until the hub lists it as connected, by the name that people know.
    #[track_caller]
    pub fn is_connected(&self, world: &World) {
        self.tty.sees_that(&format!("{} is connected", self.name), |_| {
            listed(&world.status(), "agents").contains(&self.name.to_owned())
        });
    }

    /// Types a prompt and sends it.
    #[track_caller]
    pub fn prompt(&mut self, text: &str) {
        // They lose what is typed before they are ready, and some show the field before that.
        self.tty.sees("Type your message");
        let until = Instant::now() + PATIENCE;
        while !self.tty.text().contains(text) {
            assert!(Instant::now() < until, "{} takes no keys:\n{}", self.name, self.tty.text());
            self.tty.types(text);
            let shown = Instant::now() + Duration::from_secs(2);
            while !self.tty.text().contains(text) && Instant::now() < shown {
                thread::sleep(Duration::from_millis(20));
            }
        }
        // These agents take keys that come at once for something pasted.
        thread::sleep(Duration::from_millis(300));
        self.tty.types("\r");
    }
}

impl Drop for RealAgent {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("--- the screen of {}\n{}\n---", self.name, self.tty.text());
        }
    }
}

/// The names in one of the lists of agents of all windows, such as `agents`.
pub fn listed(status: &Value, list: &str) -> Vec<String> {
    let windows = status["windows"].as_array().into_iter().flatten();
    let agents = windows.filter_map(|window| window[list].as_array()).flatten();
    agents.filter_map(|agent| agent["name"].as_str()).map(str::to_owned).collect()
}

fn write(path: &Path, settings: &Value) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, settings.to_string()).unwrap();
}

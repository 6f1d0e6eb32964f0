//! `opencode run`: one prompt without a terminal.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::write;
use crate::model::Model;
use crate::{World, agent_programs};

const VERSION: &str = "1.18.33";

/// `opencode run` with this prompt, which asks before no edit.
pub fn opencode_run(world: &World, model: &Model, prompt: &str) -> Command {
    opencode_settings(world, model, &json!({}));
    let mut command = agent_programs::command(world, &format!("opencode-{VERSION}"));
    command.args(["run", prompt]).envs(model.proxy_variables());
    command
}

/// Its configuration, with that model and these permissions.
pub fn opencode_settings(world: &World, model: &Model, permission: &Value) {
    let folder = world.root().join("c/opencode");
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "name": "test",
        "options": { "baseURL": format!("{}/v1", model.url()), "apiKey": "key-of-a-test" },
        "models": { "m": { "name": "m" } },
    });
    let settings = json!({
        "provider": { "test": provider }, "model": "test/m", "autoupdate": false, "share": "disabled",
        "permission": permission,
    });
    write(&folder.join("opencode.json"), &settings);
    // With a folder for plugins it fetches this package, and waits for more than a minute where there is no network.
    let package = folder.join("node_modules/@opencode-ai/plugin/package.json");
    fs::create_dir_all(package.parent().unwrap()).unwrap();
    fs::write(package, json!({ "name": "@opencode-ai/plugin", "version": VERSION }).to_string()).unwrap();
    let dependencies = json!({ "dependencies": { "@opencode-ai/plugin": VERSION } });
    fs::write(folder.join("package.json"), dependencies.to_string()).unwrap();
}

//! Real agents that speak the Agent Client Protocol: the command of each, and what it needs to use the model of the test
//! instead of an account. Knows neither the hub nor `linkspan acp`.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::model::{Model, Turn};
use super::{World, agent_programs, claude, paths, prerequisites, real_agent};

/// How an agent is started.
pub struct HostedProgram {
    pub program: OsString,
    pub args: Vec<&'static str>,
    pub variables: Vec<(&'static str, String)>,
}

/// Makes the home of that agent ready. `id`: its name in `agents.toml`.
#[track_caller]
pub fn set_up(world: &World, id: &str, model: &Model) -> HostedProgram {
    let installed = |name: &str| agent_programs::command(world, name).get_program().to_owned();
    let key = || "key-of-a-test".to_owned();
    let (program, args, mut variables): (_, &[&'static str], Vec<(&'static str, String)>) = match id {
        "claude" => {
            claude::set_up(world);
            let mut variables: Vec<_> = claude::variables(model).collect();
            // It refuses some modes where a container's user is root.
            variables.push(("IS_SANDBOX", "1".into()));
            (installed("claude-agent-acp-0.99.1"), &[], variables)
        }
        "gemini" => {
            google_settings(world, id, "gemini-api-key");
            let variables = vec![("GEMINI_API_KEY", key()), ("GOOGLE_GEMINI_BASE_URL", model.url())];
            (installed("gemini-0.61.0"), &["--acp", "--model", "gemini-2.5-pro"], variables)
        }
        "qwen" => {
            google_settings(world, id, "openai");
            let url = format!("{}/v1", model.url());
            let name = "model-of-a-test".to_owned();
            let variables = vec![("OPENAI_API_KEY", key()), ("OPENAI_MODEL", name), ("OPENAI_BASE_URL", url)];
            (installed("qwen-0.24.4"), &["--acp", "--approval-mode", "default"], variables)
        }
        "codex" => {
            real_agent::codex_home(world, model);
            (installed("codex-acp-2.6.0"), &[], Vec::new())
        }
        "copilot" => {
            let trusted = json!({ "trustedFolders": [world.workspace()] });
            write(&world.home().join(".copilot/config.json"), &trusted);
            let cache = prerequisites::agents().join("copilot-1.0.102/cache");
            let variables = vec![
                ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", model.url())),
                ("COPILOT_PROVIDER_API_KEY", key()),
                ("COPILOT_MODEL", "model-of-a-test".to_owned()),
                ("COPILOT_OFFLINE", "true".to_owned()),
                ("COPILOT_AUTO_UPDATE", "false".to_owned()),
                ("XDG_CACHE_HOME", cache.display().to_string()),
            ];
            (installed("copilot-1.0.102"), &["--acp"], variables)
        }
        "opencode" => {
            real_agent::opencode_settings(world, model, &json!({ "edit": "ask" }));
            (installed("opencode-1.18.33"), &["acp"], Vec::new())
        }
        "linkspan" => {
            let program = paths::linkspan_agent();
            assert!(
                program.exists(),
                "missing: {}. `cargo build -p linkspan-agent` makes it",
                program.display()
            );
            let file = world.config_file().with_file_name("agent.toml");
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let config = format!("[providers.anthropic]\nbase_url = \"{}\"\n", model.url());
            fs::write(file, config).unwrap();
            (program.into_os_string(), &["acp"], vec![("ANTHROPIC_API_KEY", key())])
        }
        other => panic!("no real agent {other} can be hosted here"),
    };
    variables.extend(model.proxy_variables());
    HostedProgram { program, args: args.to_vec(), variables }
}

/// The calls by which the model has this agent read the file and make this of it.
pub fn edits(id: &str, path: &str, old: &str, new: &str) -> Vec<Turn> {
    let change = json!({ "file_path": path, "old_string": old, "new_string": new });
    match id {
        "claude" => vec![Turn::calls("Read", json!({ "file_path": path })), Turn::calls("Edit", change)],
        "gemini" => {
            let mut change = change;
            change["instruction"] = json!("Change numbers.");
            vec![Turn::calls("read_file", json!({ "file_path": path })), Turn::calls("replace", change)]
        }
        "qwen" => vec![Turn::calls("read_file", json!({ "file_path": path })), Turn::calls("edit", change)],
        "codex" => {
            let name = Path::new(path).file_name().unwrap().to_str().unwrap();
            let lines = |text: &str, sign: &str| -> String {
                text.lines().map(|line| format!("{sign}{line}\n")).collect()
            };
            let patch = format!(
                "*** Begin Patch\n*** Update File: {name}\n@@\n{}{}*** End Patch\n",
                lines(old, "-"),
                lines(new, "+")
            );
            vec![Turn::calls("apply_patch", json!(patch))]
        }
        "copilot" => {
            let change = json!({ "path": path, "old_str": old, "new_str": new });
            vec![Turn::calls("view", json!({ "path": path })), Turn::calls("edit", change)]
        }
        "opencode" => {
            let change = json!({ "filePath": path, "oldString": old, "newString": new });
            vec![Turn::calls("read", json!({ "filePath": path })), Turn::calls("edit", change)]
        }
        _ => {
            let change = json!({ "path": path, "old_string": old, "new_string": new });
            vec![Turn::calls("read_file", json!({ "path": path })), Turn::calls("edit_file", change)]
        }
    }
}

/// Gemini CLI's and Qwen Code's.
fn google_settings(world: &World, id: &str, auth: &str) {
    let settings = json!({
        "security": { "auth": { "selectedType": auth }, "folderTrust": { "enabled": false } },
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
        "privacy": { "usageStatisticsEnabled": false },
    });
    write(&world.home().join(format!(".{id}/settings.json")), &settings);
}

fn write(file: &Path, settings: &Value) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, settings.to_string()).unwrap();
}

/// The processes of this agent in the world.
pub fn processes(world: &World, id: &str) -> Vec<u32> {
    let mark = match id {
        "claude" => "claude-agent-acp",
        "codex" => "codex-acp",
        "linkspan" => "linkspan-agent",
        "opencode" => "opencode",
        _ => "--acp",
    };
    let is_it = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    };
    world.processes().into_iter().filter(is_it).collect()
}

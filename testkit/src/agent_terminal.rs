//! Our own agent, `linkspan-agent`, in a terminal of a world, with a model that follows a script and remembers what it
//! was told. Knows neither the editor nor the page in which its changes are decided.

use std::fs;

use serde_json::json;

use super::{DEADLINE, Model, Tty, Turn, World, paths};

const COLUMNS: u16 = 100;
const ROWS: u16 = 40;

/// A call of the model that gives a file of the workspace this content.
pub fn writes(name: &str, content: &str) -> Turn {
    Turn::calls("write_file", json!({ "path": name, "content": content }))
}

/// A provider of models, as the agent knows it.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    pub name: &'static str,
    /// Of its API on the server.
    path: &'static str,
    /// The variable with its key.
    pub key: Option<&'static str>,
}

pub const ANTHROPIC: Provider = Provider { name: "anthropic", path: "", key: Some("ANTHROPIC_API_KEY") };
pub const OPENAI: Provider = Provider { name: "openai", path: "/v1", key: Some("OPENAI_API_KEY") };
pub const GEMINI: Provider = Provider { name: "gemini", path: "/v1beta", key: Some("GEMINI_API_KEY") };
pub const OLLAMA: Provider = Provider { name: "ollama", path: "", key: None };

/// The agent with that model, ready for a prompt.
#[track_caller]
pub fn start(world: &World, model: &Model, arguments: &[&str]) -> Tty {
    start_with(world, model, ANTHROPIC, arguments)
}

/// The same, with the model of another provider.
#[track_caller]
pub fn start_with(world: &World, model: &Model, provider: Provider, arguments: &[&str]) -> Tty {
    let program = paths::linkspan_agent();
    assert!(
        program.exists(),
        "missing: the program `linkspan-agent` (looked for {}). `cargo build -p linkspan-agent` makes it",
        program.display()
    );
    let Provider { name, path, key } = provider;
    let config = format!("model = \"{name}\"\n[providers.{name}]\nbase_url = \"{}{path}\"\n", model.url());
    let folder = world.config_file().with_file_name("");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("agent.toml"), config).unwrap();
    let mut command = world.program(program);
    command.args(arguments).envs(key.map(|variable| (variable, "secret")));
    let tty = Tty::start(&command, COLUMNS, ROWS, DEADLINE);
    tty.sees("› ");
    tty
}

/// Ends it as a user does, and checks the terminal that it leaves.
#[track_caller]
pub fn quit(mut tty: Tty) {
    tty.types("/quit\r");
    assert_eq!(tty.ends(), 0);
    tty.is_as_before();
}

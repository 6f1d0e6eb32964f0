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

/// The agent with that model, ready for a prompt.
#[track_caller]
pub fn start(world: &World, model: &Model, arguments: &[&str]) -> Tty {
    let program = paths::linkspan_agent();
    assert!(
        program.exists(),
        "missing: the program `linkspan-agent` (looked for {}). `cargo build -p linkspan-agent` makes it",
        program.display()
    );
    let config = format!("[providers.anthropic]\nbase_url = \"{}\"\n", model.url());
    let folder = world.config_file().with_file_name("");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("agent.toml"), config).unwrap();
    let mut command = world.program(program);
    command.args(arguments).env("ANTHROPIC_API_KEY", "secret");
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

//! Servers in other languages that answer what the hub answers, where those languages are on the machine. What
//! they run is in `benches/servers`.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::bench_hub::BenchHub;
use crate::role::Role;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Foreign {
    NodeWs,
    NodeSdk,
    Python,
}

impl Foreign {
    /// `text` is what a call is answered with.
    pub(crate) fn start(self, hub: &BenchHub, text: &str) -> Result<Role> {
        let mut command = match self {
            Foreign::NodeWs => node(hub, "servers/ws_by_hand.cjs"),
            Foreign::NodeSdk => node(hub, "servers/mcp_http.cjs"),
            Foreign::Python => python(hub, "servers/ws_by_hand.py"),
        }?;
        Role::run(command.arg(text))
    }
}

/// A script of ours in Node, with the packages that `cargo xtask bench` has brought.
pub(crate) fn node(hub: &BenchHub, script: &str) -> Result<Command> {
    let folder = std::env::var_os("LINKSPAN_TEST_NODE_MODULES");
    let folder = folder.context("`cargo xtask bench` found no Node.js with its packages")?;
    let mut command = scripted(hub, Path::new("node"), script);
    command.env("NODE_PATH", Path::new(&folder).join("node_modules"));
    Ok(command)
}

/// A script of ours in the Python that `cargo xtask bench` has brought.
pub(crate) fn python(hub: &BenchHub, script: &str) -> Result<Command> {
    let program = std::env::var_os("LINKSPAN_TEST_PYTHON");
    let program = program.context("`cargo xtask bench` found no Python with `websockets`")?;
    Ok(scripted(hub, Path::new(&program), script))
}

fn scripted(hub: &BenchHub, program: &Path, script: &str) -> Command {
    let mut command = hub.command(program);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(script));
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command
}

//! `cargo xtask bench`: measures the release binary, never a debug one.

use std::path::PathBuf;

use anyhow::Result;

use crate::peers;
use crate::workspace::{binary, cargo, command, run as run_command};

pub(crate) fn run(args: &[String]) -> Result<()> {
    run_command(cargo().args([
        "build",
        "--release",
        "--package",
        "linkspan",
        "--package",
        "linkspan-benches",
    ]))?;
    let mut benches = command(binary("release", "linkspan-benches"));
    benches.args(args).env("LINKSPAN_BIN", binary("release", "linkspan"));
    // What we are compared with; without it there is less to read, and no reason to measure nothing.
    let names: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    if names.is_empty() || names.iter().any(|name| *name == "command") {
        if let Some(python) = there(peers::python()) {
            benches.env(peers::PYTHON_VARIABLE, python);
        }
        if let Some(modules) = there(peers::node_modules()) {
            benches.env(peers::NODE_VARIABLE, modules);
        }
    }
    run_command(&mut benches)
}

fn there(peer: Result<PathBuf>) -> Option<PathBuf> {
    peer.inspect_err(|error| eprintln!("{error:#}")).ok()
}

//! `cargo xtask bench`: measures the release binary, never a debug one.

use std::path::PathBuf;

use anyhow::Result;

use crate::workspace::{binary, cargo, command, run as run_command};
use crate::{browser, peers};

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
    // What we are compared with, or measured in; without it there is less to read, and no reason to measure nothing.
    let named = |known: &str| args.iter().any(|arg| arg == known);
    let all = args.iter().all(|arg| arg.starts_with('-'));
    let mut give = |variable: &str, peer: fn() -> Result<PathBuf>| {
        if let Some(path) = there(peer()) {
            benches.env(variable, path);
        }
    };
    if all || named("command") {
        give(peers::PYTHON_VARIABLE, peers::python);
    }
    if all || named("command") || named("http") || named("page") {
        give(peers::NODE_VARIABLE, peers::node_modules);
    }
    if all || named("search") {
        give(peers::RG_VARIABLE, peers::ripgrep);
    }
    if all || named("page") {
        give(browser::VARIABLE, browser::chromium);
    }
    run_command(&mut benches)
}

fn there(peer: Result<PathBuf>) -> Option<PathBuf> {
    peer.inspect_err(|error| eprintln!("{error:#}")).ok()
}

//! `cargo xtask bench`: measures the release binary, never a debug one. With `--peers`, beside what others build the
//! same from; with `--editors`, in VS Code beside another extension; `--record` takes such a report over into the docs,
//! with its chart.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace::{binary, cargo, command, run as run_command};
use crate::{agents, browser, peers, proof, vscode};

/// The variable by which the benchmarks find the extensions; `benches/src/editors/window.rs` has the other end.
const EXTENSIONS_VARIABLE: &str = "LINKSPAN_BENCH_EXTENSIONS";

pub(crate) fn run(args: &[String]) -> Result<()> {
    let has = |known: &str| args.iter().any(|arg| arg == known);
    let (section, chart) = match (has("--peers"), has("--editors")) {
        (true, _) => ("bench", "docs/pictures/peers.svg"),
        (_, true) => ("editors", "docs/pictures/editors.svg"),
        _ => return run_command(&mut benches(args)?),
    };
    let draw = has("--record") && !has("--chart");
    proof::recorded_in("bench", section, args, |args| {
        let mut benches = benches(args)?;
        if draw {
            benches.args(["--chart", chart]);
        }
        proof::findings(&mut benches)
    })
}

/// Built, and given what we are compared with, or measured in; without it there is less to read, and no reason to
/// measure nothing.
fn benches(args: &[String]) -> Result<Command> {
    let named = |known: &str| args.iter().any(|arg| arg == known);
    let mut build = cargo();
    build.args(["build", "--release", "--package", "linkspan", "--package", "linkspan-benches"]);
    if !named("--editors") {
        build.args(["--package", "linkspan-agent"]);
    }
    run_command(&mut build)?;
    let mut benches = command(binary("release", "linkspan-benches")?);
    benches.args(args).env("LINKSPAN_BIN", binary("release", "linkspan")?);
    benches.env("LINKSPAN_AGENT_BIN", binary("release", "linkspan-agent")?);
    if named("--editors") {
        benches.env(EXTENSIONS_VARIABLE, vscode::installed_beside(&agents::claude_extension()?)?);
        benches.envs(peers::all()?);
        return Ok(benches);
    }
    let beside_peers = named("--peers");
    let all = !beside_peers && args.iter().all(|arg| arg.starts_with('-'));
    let mut give = |variable: &str, peer: fn() -> Result<PathBuf>| {
        if let Some(path) = there(peer()) {
            benches.env(variable, path);
        }
    };
    if all || beside_peers || named("command") {
        give(peers::PYTHON_VARIABLE, peers::python);
    }
    if all || beside_peers || named("command") || named("http") || named("page") || named("chat") {
        give(peers::NODE_VARIABLE, peers::node_modules);
    }
    if all || beside_peers || named("search") {
        give(peers::RG_VARIABLE, peers::ripgrep);
    }
    if all || named("agent") {
        give(agents::VARIABLE, || {
            agents::installed(true)?.context("agents are installed on x86-64 Linux only")
        });
    }
    if all || named("page") || named("chat") {
        give(browser::VARIABLE, browser::chromium);
    }
    Ok(benches)
}

fn there(peer: Result<PathBuf>) -> Option<PathBuf> {
    peer.inspect_err(|error| eprintln!("{error:#}")).ok()
}

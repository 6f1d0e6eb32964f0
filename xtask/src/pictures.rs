//! `cargo xtask pictures`: makes the pictures in `docs/pictures` from the debug binary. The program that takes them is
//! `testkit/src/bin/pictures`; look at its work before you commit it.

use anyhow::{Context, Result};

use crate::workspace::{binary, cargo, command, run as run_command};
use crate::{emacs, neovim, peers, vscode};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let packages = ["--package", "linkspan", "--package", "linkspan-agent", "--package", "linkspan-testkit"];
    run_command(cargo().args(["build", "--bins"]).args(packages)).context("it does not compile")?;
    let wants = |kind: &str| args.is_empty() || args.iter().any(|arg| arg == kind);
    let mut pictures = command(binary("debug", "pictures")?);
    pictures.args(args);
    if wants("page") || wants("chat") || wants("vscode") {
        pictures.envs(peers::all()?);
    }
    if wants("vscode") {
        pictures.envs(vscode::installed()?.map(|folder| (vscode::VARIABLE, folder)));
    }
    if wants("emacs") {
        pictures.envs(emacs::installed()?.map(|folder| (emacs::VARIABLE, folder)));
    }
    if wants("neovim") {
        pictures.envs(neovim::installed()?.map(|folder| (neovim::VARIABLE, folder)));
    }
    run_command(&mut pictures)
}

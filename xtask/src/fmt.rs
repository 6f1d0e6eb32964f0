//! `cargo xtask fmt`: rustfmt over the workspace.

use anyhow::{Context, Result};

use crate::workspace::{cargo, run as run_command};

pub(crate) fn run(args: &[String]) -> Result<()> {
    if crate::flag(args, "--check")? { check() } else { run_command(cargo().args(["fmt", "--all"])) }
}

pub(crate) fn check() -> Result<()> {
    run_command(cargo().args(["fmt", "--all", "--", "--check"])).context("format with `cargo xtask fmt`")
}

//! `cargo xtask lint`: clippy with the lints of the workspace.

use anyhow::{Context, Result};

use crate::workspace::{cargo, run as run_command};

pub(crate) fn run(args: &[String]) -> Result<()> {
    crate::no_arguments(args)?;
    check()
}

pub(crate) fn check() -> Result<()> {
    run_command(cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
        .context("fix what clippy reports above; `cargo xtask lint` runs it again")
}

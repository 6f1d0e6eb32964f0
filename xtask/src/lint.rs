//! `cargo xtask lint`: clippy with the lints of the workspace, and over the fuzz targets beside it.

use anyhow::{Context, Result};

use crate::fuzz;
use crate::workspace::{cargo, run as run_command};

pub(crate) fn run(args: &[String]) -> Result<()> {
    crate::no_arguments(args)?;
    check()
}

pub(crate) fn check() -> Result<()> {
    let mut members = cargo();
    members.args(["clippy", "--workspace", "--all-targets"]);
    // No member of the workspace, and broken by its changes all the same.
    let fuzz = fuzz::cargo_on_targets("clippy")?;
    for mut what in [members, fuzz] {
        run_command(what.args(["--", "-D", "warnings"]))
            .context("mend what clippy shows above; `cargo xtask lint` asks it again")?;
    }
    Ok(())
}

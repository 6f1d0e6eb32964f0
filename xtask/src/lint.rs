//! `cargo xtask lint`: clippy with the lints of the workspace, and over the fuzz targets beside it.

use anyhow::{Context, Result};

use crate::workspace::{cargo, run as run_command};

pub(crate) fn run(args: &[String]) -> Result<()> {
    crate::no_arguments(args)?;
    check()
}

pub(crate) fn check() -> Result<()> {
    let members: &[&str] = &["--workspace", "--all-targets"];
    // No member of the workspace, and broken by its changes all the same.
    let fuzz: &[&str] = &["--manifest-path", "fuzz/Cargo.toml", "--target-dir", "target/fuzz"];
    for what in [members, fuzz] {
        run_command(cargo().arg("clippy").args(what).args(["--", "-D", "warnings"]))
            .context("mend what clippy shows above; `cargo xtask lint` asks it again")?;
    }
    Ok(())
}

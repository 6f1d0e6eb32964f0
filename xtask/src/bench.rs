//! `cargo xtask bench`: measures the release binary, never a debug one.

use anyhow::Result;

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
    let benches = binary("release", "linkspan-benches");
    run_command(command(benches).args(args).env("LINKSPAN_BIN", binary("release", "linkspan")))
}

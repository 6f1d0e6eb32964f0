//! Programs we did not write, which the integration tests talk to: for now Python's `websockets`,
//! the library that NEXUS3's own client is built on. Tests find it in `LINKSPAN_TEST_PYTHON`.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::workspace::{command, run, succeeds, tools};

pub(crate) const PYTHON_VARIABLE: &str = "LINKSPAN_TEST_PYTHON";

/// A Python that has what the tests need; made on the first call, found on the later ones.
pub(crate) fn python() -> Result<PathBuf> {
    if let Some(chosen) = env::var_os(PYTHON_VARIABLE) {
        return Ok(chosen.into());
    }
    let venv = tools().join("venv");
    let python = venv.join("bin").join("python");
    if has_websockets(&python) {
        return Ok(python);
    }
    make_venv(&venv)?;
    run(command(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "websockets"]))
        .with_context(|| {
            format!(
                "missing: the Python package `websockets`, and pip could not fetch it. Give pip a reachable \
                 index, or set {PYTHON_VARIABLE} to a Python that has it, or skip with `cargo xtask test --fast`"
            )
        })?;
    Ok(python)
}

fn has_websockets(python: &Path) -> bool {
    succeeds(command(python).args(["-c", "import websockets"]))
}

fn make_venv(venv: &Path) -> Result<()> {
    if create(venv) {
        return Ok(());
    }
    // Debian packs `venv` apart from Python, so a bare machine has one without the other.
    let apt =
        |args: &[&str]| succeeds(command("apt-get").args(args).env("DEBIAN_FRONTEND", "noninteractive"));
    apt(&["update"]);
    apt(&["install", "--yes", "--no-install-recommends", "python3", "python3-venv"]);
    if create(venv) {
        return Ok(());
    }
    anyhow::bail!(
        "missing: python3 with its `venv` module, and apt could not install it. Install the packages python3 and \
         python3-venv, or set {PYTHON_VARIABLE} to a Python that has `websockets`, or skip with \
         `cargo xtask test --fast`"
    )
}

fn create(venv: &Path) -> bool {
    succeeds(command("python3").args(["-m", "venv"]).arg(venv))
}

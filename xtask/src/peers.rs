//! Programs we did not write: Python's `websockets`, the library that NEXUS3's own client is built on, which the
//! integration tests talk to and find in `LINKSPAN_TEST_PYTHON`; and Node's `ws`, which the benchmarks run beside us.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::workspace::{command, run, succeeds, tools};

pub(crate) const PYTHON_VARIABLE: &str = "LINKSPAN_TEST_PYTHON";
pub(crate) const NODE_MODULES_VARIABLE: &str = "LINKSPAN_BENCH_NODE_MODULES";

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

/// A folder of Node packages that has `ws`; made on the first call, found on the later ones.
pub(crate) fn node_modules() -> Result<PathBuf> {
    let place = tools().join("node");
    let modules = place.join("node_modules");
    let has_ws = || succeeds(command("node").args(["-e", "require('ws')"]).env("NODE_PATH", &modules));
    if has_ws() {
        return Ok(modules);
    }
    std::fs::create_dir_all(&place)?;
    let npm =
        ["install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--silent", "--prefix"];
    succeeds(command("npm").args(npm).arg(&place).arg("ws"));
    anyhow::ensure!(
        has_ws(),
        "missing: Node with its package `ws`, and npm could not fetch it. Install Node and give npm a reachable registry"
    );
    Ok(modules)
}

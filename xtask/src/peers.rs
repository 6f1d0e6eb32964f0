//! `cargo xtask peers`: programs of others that the integration tests use: Python's `websockets` and `httpx`, on which the
//! clients of NEXUS3, Clio and ppxai are built, the TypeScript clients of MCP, and Playwright, which drives a browser.
//! Benchmarks compare us with `websockets`, Node's `ws` and MCP's SDK with express, and our search with ripgrep. The
//! tests find them by the variables below.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::browser;
use crate::workspace::{apt_install, command, run as run_command, succeeds, tools};

pub(crate) const PYTHON_VARIABLE: &str = "LINKSPAN_TEST_PYTHON";
pub(crate) const RG_VARIABLE: &str = "LINKSPAN_TEST_RG";
pub(crate) const NODE_VARIABLE: &str = "LINKSPAN_TEST_NODE_MODULES";

/// The first supports MCP's revisions with a handshake, the second the one without. `ws`, and express and zod for a server
/// on the first, are only for benchmarks. The others drive a browser and check the accessibility of the page.
const NODE_PACKAGES: [(&str, &str); 7] = [
    ("@modelcontextprotocol/sdk", "1.32.2"),
    ("@modelcontextprotocol/client", "2.4.0"),
    ("ws", "8.22.2"),
    ("express", "5.3.0"),
    ("zod", "4.6.7"),
    ("playwright-core", "1.65.0"),
    ("axe-core", "4.14.0"),
];

const PYTHON_PACKAGES: [&str; 2] = ["websockets", "httpx"];

pub(crate) fn run(args: &[String]) -> Result<()> {
    crate::no_arguments(args)?;
    for (variable, path) in all()? {
        eprintln!("{variable}={}", path.display());
    }
    Ok(())
}

/// All of them, each with the variable by which the tests find it.
pub(crate) fn all() -> Result<[(&'static str, PathBuf); 4]> {
    Ok([
        (PYTHON_VARIABLE, python()?),
        (NODE_VARIABLE, node_modules()?),
        (RG_VARIABLE, ripgrep()?),
        (browser::VARIABLE, browser::chromium()?),
    ])
}

/// A Python that has what the tests need; made on the first call, found on later ones.
pub(crate) fn python() -> Result<PathBuf> {
    if let Some(chosen) = env::var_os(PYTHON_VARIABLE) {
        return Ok(chosen.into());
    }
    let venv = tools().join("venv");
    let python = venv.join("bin").join("python");
    if PYTHON_PACKAGES.iter().all(|package| has_module(&python, package)) {
        return Ok(python);
    }
    make_venv(&venv)?;
    run_command(command(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PYTHON_PACKAGES))
        .with_context(|| {
            format!(
                "missing: the Python packages `websockets` and `httpx`, and pip could not fetch them. Give pip a reachable \
                 index, or set {PYTHON_VARIABLE} to a Python that has them, or skip with `cargo xtask test --fast`"
            )
        })?;
    Ok(python)
}

/// A folder whose `node_modules` have what the tests need; filled on the first call, found on later ones.
pub(crate) fn node_modules() -> Result<PathBuf> {
    if let Some(chosen) = env::var_os(NODE_VARIABLE) {
        return Ok(chosen.into());
    }
    let folder = tools().join("node");
    if NODE_PACKAGES.iter().all(|(name, version)| has_package(&folder, name, version)) {
        return Ok(folder);
    }
    let packages = NODE_PACKAGES.map(|(name, version)| format!("{name}@{version}"));
    fs::create_dir_all(&folder)?;
    let flags = ["install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"];
    run_command(command("npm").args(flags).args(["--loglevel", "error", "--prefix"]).arg(&folder).args(&packages))
        .with_context(|| {
            format!(
                "missing: the npm packages {}, and npm could not fetch them. Install Node.js 20 or later with npm \
                 and give it a reachable registry, or set {NODE_VARIABLE} to a folder whose node_modules have \
                 them, or skip with `cargo xtask test --fast`",
                packages.join(", ")
            )
        })?;
    Ok(folder)
}

/// The `rg` that our search is compared with.
pub(crate) fn ripgrep() -> Result<PathBuf> {
    if let Some(chosen) = env::var_os(RG_VARIABLE) {
        return Ok(chosen.into());
    }
    let is_there = || succeeds(command("rg").arg("--version"));
    if !is_there() {
        apt_install(&["ripgrep"]);
    }
    anyhow::ensure!(
        is_there(),
        "missing: ripgrep, and apt could not install it. Install the package ripgrep, or set {RG_VARIABLE} to the path \
         of an `rg`, or skip with `cargo xtask test --fast`"
    );
    Ok("rg".into())
}

fn has_package(folder: &Path, name: &str, version: &str) -> bool {
    let manifest = folder.join("node_modules").join(name).join("package.json");
    fs::read_to_string(manifest).is_ok_and(|text| text.contains(&format!("\"version\": \"{version}\"")))
}

fn has_module(python: &Path, module: &str) -> bool {
    succeeds(command(python).arg("-c").arg(format!("import {module}")))
}

fn make_venv(venv: &Path) -> Result<()> {
    if create(venv) {
        return Ok(());
    }
    // Debian packs `venv` apart from Python, so a bare machine has one without the other.
    apt_install(&["python3", "python3-venv"]);
    if create(venv) {
        return Ok(());
    }
    anyhow::bail!(
        "missing: python3 with its `venv` module, and apt could not install it. Install the packages python3 and \
         python3-venv, or set {PYTHON_VARIABLE} to a Python that has `websockets` and `httpx`, or skip with \
         `cargo xtask test --fast`"
    )
}

fn create(venv: &Path) -> bool {
    succeeds(command("python3").args(["-m", "venv"]).arg(venv))
}

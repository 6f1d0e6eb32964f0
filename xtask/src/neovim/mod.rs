//! `cargo xtask neovim`: checks the plugin's Lua, and installs the oldest Neovim that we support and a new one from Debian's
//! packages, each with its own libraries in a folder of its own, without touching the system. A script `run` in it starts
//! that Neovim; it is written last, so a folder with one is complete.

mod lua;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::debian::{self, HOST};
use crate::workspace::{command, host, succeeds, tools};

pub(crate) const VARIABLE: &str = "LINKSPAN_TEST_NEOVIM";

/// A folder, and the suite of Debian whose Neovim is in it: 0.10 in trixie, 0.12 or later in sid.
const RELEASES: [(&str, &str); 2] = [("oldest", "trixie"), ("newest", "sid")];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let fix = crate::flag(args, "--fix")?;
    if let Some(folder) = installed()? {
        if fix {
            lua::format(&folder)?;
        }
        check(&folder)?;
        eprintln!("{VARIABLE}={}", folder.display());
    }
    Ok(())
}

/// The plugin's Lua and its help; `folder` is what `installed` gave.
pub(crate) fn check(folder: &Path) -> Result<()> {
    lua::check(folder)
}

/// The folder with both Neovims; filled on the first call, found on later ones. None on platforms that they are not
/// installed on: the tests of the plugin are then left out.
pub(crate) fn installed() -> Result<Option<PathBuf>> {
    if let Some(chosen) = std::env::var_os(VARIABLE) {
        return Ok(Some(chosen.into()));
    }
    let host = host()?;
    if host != HOST || !succeeds(command("apt-get").arg("--version")) {
        eprintln!(
            "SKIPPED: the tests in Neovim. It is installed from Debian's packages on {HOST} with apt only, and this is \
             {host}. Set {VARIABLE} to a folder that has `oldest/run` and `newest/run` to run the tests here."
        );
        return Ok(None);
    }
    let folder = tools().join("neovim");
    fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
    // The paths inside the programs must hold without a link on the way.
    let folder =
        folder.canonicalize().with_context(|| format!("could not find {} again", folder.display()))?;
    for (name, suite) in RELEASES {
        install(&folder.join(name), suite, &folder).with_context(|| {
            format!(
                "missing: Neovim, and it could not be installed from Debian's suite {suite}. Give apt a reachable mirror, \
                 or set {VARIABLE} to a folder that has `oldest/run` and `newest/run`, or skip with `cargo xtask test --fast`"
            )
        })?;
    }
    lua::install(&folder)?;
    Ok(Some(folder))
}

fn install(folder: &Path, suite: &str, neovim: &Path) -> Result<()> {
    let program = folder.join("run");
    if program.exists() {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("could not empty {}", folder.display()))?;
    }
    let root = debian::unpack(folder, suite, "neovim")?;
    let runtime = root.join("usr/share/nvim/runtime");
    // The runtime folder is found by a variable; the parsers are elsewhere.
    symlink(root.join("usr/lib/nvim/parser"), runtime.join("parser"))
        .context("could not link the parsers")?;
    let nvim = root.join("usr/bin/nvim");
    debian::use_own_libraries(&nvim, &root, neovim)?;
    ensure!(
        succeeds(command(&nvim).arg("--version").env("VIMRUNTIME", &runtime)),
        "the unpacked {} does not start",
        nvim.display()
    );
    let (runtime, nvim) = (runtime.display(), nvim.display());
    debian::write_script(
        &program,
        &format!("VIMRUNTIME='{runtime}'\nexport VIMRUNTIME\nexec '{nvim}' \"$@\"\n"),
    )
}

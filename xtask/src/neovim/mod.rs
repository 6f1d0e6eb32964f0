//! `cargo xtask neovim`: checks the plugin's Lua, and installs the oldest Neovim that we support and a new one from Debian's
//! packages, each with its own libraries in a folder of its own, without touching the system. A script `run` in it starts
//! that Neovim; it is written last, so a folder with one is complete.

mod lua;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::peers;
use crate::workspace::{command, host, run as run_command, succeeds, tools};

pub(crate) const VARIABLE: &str = "LINKSPAN_TEST_NEOVIM";

/// The platform that the packages are for.
const HOST: &str = "x86_64-unknown-linux-gnu";
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Where Debian puts libraries of that platform.
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";
const LOADER: &str = "usr/lib64/ld-linux-x86-64.so.2";

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
    let (apt, root) = (folder.join("apt"), folder.join("root"));
    for made in [apt.join("lists/partial"), apt.join("cache/archives/partial"), root.clone()] {
        fs::create_dir_all(&made).with_context(|| format!("could not make {}", made.display()))?;
    }
    download(&apt, suite)?;
    let archives = apt.join("cache/archives");
    let entries =
        fs::read_dir(&archives).with_context(|| format!("could not list {}", archives.display()))?;
    for entry in entries {
        let package = entry?.path();
        if package.extension().is_some_and(|extension| extension == "deb") {
            run_command(command("dpkg-deb").arg("--extract").arg(package).arg(&root))?;
        }
    }
    let runtime = root.join("usr/share/nvim/runtime");
    // The runtime folder is found by a variable; the parsers are elsewhere.
    symlink(root.join("usr/lib/nvim/parser"), runtime.join("parser"))
        .context("could not link the parsers")?;
    let nvim = root.join("usr/bin/nvim");
    run_command(
        command(patchelf(neovim)?)
            .args(["--force-rpath", "--set-rpath"])
            .arg(root.join(LIBRARIES))
            .arg("--set-interpreter")
            .arg(root.join(LOADER))
            .arg(&nvim),
    )?;
    ensure!(
        succeeds(command(&nvim).arg("--version").env("VIMRUNTIME", &runtime)),
        "the unpacked {} does not start",
        nvim.display()
    );
    fs::remove_dir_all(&apt).with_context(|| format!("could not remove {}", apt.display()))?;
    let (runtime, nvim) = (runtime.display(), nvim.display());
    let unfinished = program.with_extension("unfinished");
    fs::write(
        &unfinished,
        format!("#!/bin/sh\nVIMRUNTIME='{runtime}'\nexport VIMRUNTIME\nexec '{nvim}' \"$@\"\n"),
    )
    .and_then(|()| fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o755)))
    .and_then(|()| fs::rename(&unfinished, &program))
    .with_context(|| format!("could not write {}", program.display()))
}

/// Downloads Neovim and everything it depends on, with lists and a status that are only in this folder.
fn download(apt: &Path, suite: &str) -> Result<()> {
    let targets = command("apt-get")
        .args(["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"])
        .output()
        .context("could not start apt-get")?;
    let targets = String::from_utf8_lossy(&targets.stdout);
    // The machine's own mirror; security updates have one of their own.
    let mirror = targets.lines().find(|uri| !uri.contains("security")).context("apt has no sources")?;
    let sources = apt.join("sources.list");
    fs::write(&sources, format!("deb [signed-by={KEYRING}] {mirror} {suite} main\n"))?;
    fs::write(apt.join("status"), "")?;
    let options = [
        format!("Dir::State::Lists={}", apt.join("lists").display()),
        format!("Dir::State::status={}", apt.join("status").display()),
        format!("Dir::Cache={}", apt.join("cache").display()),
        format!("Dir::Etc::SourceList={}", sources.display()),
        "Dir::Etc::SourceParts=/dev/null".to_owned(),
        "APT::Install-Recommends=false".to_owned(),
        "APT::Sandbox::User=".to_owned(),
    ];
    let apt_get = |args: &[&str]| -> Command {
        let mut apt_get = command("apt-get");
        apt_get.args(options.iter().flat_map(|option| ["-o", option.as_str()])).arg("-qq").args(args);
        apt_get
    };
    run_command(&mut apt_get(&["update"]))?;
    run_command(&mut apt_get(&["install", "--yes", "--download-only", "neovim"]))
}

/// Sets where a program finds its libraries.
fn patchelf(neovim: &Path) -> Result<PathBuf> {
    let folder = neovim.join("patchelf");
    let program = folder.join("bin/patchelf");
    if !program.exists() {
        let flags = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"];
        run_command(command(peers::python()?).args(flags).arg(&folder).arg("patchelf"))?;
    }
    Ok(program)
}

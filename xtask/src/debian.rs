//! Debian's packages, unpacked with their dependencies into a folder of their own, without touching the system: for
//! programs that a test runs in a release which the machine does not have.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::peers;
use crate::workspace::{command, run};

/// The platform that the packages are for.
pub(crate) const HOST: &str = "x86_64-unknown-linux-gnu";
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Where Debian puts libraries of that platform.
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";
const LOADER: &str = "usr/lib64/ld-linux-x86-64.so.2";

/// Downloads a package of a suite and everything that it depends on, and unpacks them into `root` in this folder.
pub(crate) fn unpack(folder: &Path, suite: &str, package: &str) -> Result<PathBuf> {
    let (apt, root) = (folder.join("apt"), folder.join("root"));
    for made in [apt.join("lists/partial"), apt.join("cache/archives/partial"), root.clone()] {
        fs::create_dir_all(&made).with_context(|| format!("could not make {}", made.display()))?;
    }
    download(&apt, suite, package)?;
    let archives = apt.join("cache/archives");
    let entries =
        fs::read_dir(&archives).with_context(|| format!("could not list {}", archives.display()))?;
    for entry in entries {
        let archive = entry?.path();
        if archive.extension().is_some_and(|extension| extension == "deb") {
            run(command("dpkg-deb").arg("--extract").arg(archive).arg(&root))?;
        }
    }
    fs::remove_dir_all(&apt).with_context(|| format!("could not remove {}", apt.display()))?;
    Ok(root)
}

/// With lists and a status that are only in this folder.
fn download(apt: &Path, suite: &str, package: &str) -> Result<()> {
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
    run(&mut apt_get(&["update"]))?;
    run(&mut apt_get(&["install", "--yes", "--download-only", package]))
}

/// Makes an unpacked program use the libraries that were unpacked with it. `tools` is where the program that does so is
/// kept.
pub(crate) fn use_own_libraries(program: &Path, root: &Path, tools: &Path) -> Result<()> {
    run(command(patchelf(tools)?)
        .args(["--force-rpath", "--set-rpath"])
        .arg(root.join(LIBRARIES))
        .arg("--set-interpreter")
        .arg(root.join(LOADER))
        .arg(program))
}

fn patchelf(tools: &Path) -> Result<PathBuf> {
    let folder = tools.join("patchelf");
    let program = folder.join("bin/patchelf");
    if !program.exists() {
        let flags = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"];
        run(command(peers::python()?).args(flags).arg(&folder).arg("patchelf"))?;
    }
    Ok(program)
}

/// Writes a script for `sh` as a whole, so that one that is there is complete.
pub(crate) fn write_script(script: &Path, text: &str) -> Result<()> {
    let unfinished = script.with_extension("unfinished");
    fs::write(&unfinished, format!("#!/bin/sh\n{text}"))
        .and_then(|()| fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o755)))
        .and_then(|()| fs::rename(&unfinished, script))
        .with_context(|| format!("could not write {}", script.display()))
}

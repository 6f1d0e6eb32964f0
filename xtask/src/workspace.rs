//! Where things are in this checkout, and how other programs are run in it.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

pub(crate) fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Programs that the checks need and the machine lacks are kept here, so that they come once.
pub(crate) fn tools() -> PathBuf {
    target().join("tools")
}

pub(crate) fn binary_in_tools(name: &str) -> PathBuf {
    tools().join("bin").join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

/// A program of this workspace, built for the platform that `.cargo/config.toml` names.
pub(crate) fn binary(profile: &str, name: &str) -> Result<PathBuf> {
    Ok(target().join(host()?).join(profile).join(format!("{name}{}", env::consts::EXE_SUFFIX)))
}

/// The platform this is compiled for and runs on, as rustc names it.
pub(crate) fn host() -> Result<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let output =
        command(rustc).args(["--version", "--verbose"]).output().context("could not start `rustc`")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not say what its host is")
}

/// What it builds is where `binary` looks for it, whatever else is built on this machine.
pub(crate) fn cargo() -> Command {
    let mut cargo = command(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    cargo.env_remove("CARGO_BUILD_TARGET");
    cargo
}

/// The same command, for work that must not slow down the rest.
pub(crate) fn low_priority(original: &Command) -> Command {
    let mut nice = command("nice");
    nice.arg(original.get_program()).args(original.get_args());
    for (name, value) in original.get_envs() {
        match value {
            Some(value) => nice.env(name, value),
            None => nice.env_remove(name),
        };
    }
    nice
}

pub(crate) fn command(program: impl Into<OsString>) -> Command {
    let mut command = Command::new(program.into());
    command.current_dir(root());
    command
}

pub(crate) fn run(command: &mut Command) -> Result<()> {
    let name = name(command);
    let status = command.status().with_context(|| format!("could not start `{name}`"))?;
    if !status.success() {
        bail!("`{name}` failed ({status})");
    }
    Ok(())
}

/// Runs without output and returns whether it succeeded; a missing program did not.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

/// Installs Debian packages where that is possible; the caller checks afterwards whether it worked.
pub(crate) fn apt_install(packages: &[&str]) {
    let apt = |args: &[&str]| {
        succeeds(command("apt-get").args(args).env("DEBIAN_FRONTEND", "noninteractive"));
    };
    apt(&["update"]);
    apt(&[&["install", "--yes", "--no-install-recommends"], packages].concat());
}

fn name(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

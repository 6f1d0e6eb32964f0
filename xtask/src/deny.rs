//! `cargo xtask deny`: cargo-deny over the dependency tree, by the rules in `deny.toml`.
//!
//! The packaged builds of cargo-deny are too old to read this workspace, so it is compiled once.

use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::workspace::{binary_in_tools, cargo, command, low_priority, run as run_command, tools};

const VERSION: &str = "0.20.2";
/// The advisory database is one small repository; a network that needs longer swallows packets.
const FETCH_DEADLINE: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &[String]) -> Result<()> {
    crate::no_arguments(args)?;
    check(&tool()?)
}

pub(crate) fn check(deny: &OsStr) -> Result<()> {
    let mut checks = vec!["licenses", "bans", "sources"];
    if succeeds_within(command(deny).args(["fetch", "db"]), FETCH_DEADLINE) {
        checks.push("advisories");
    } else {
        eprintln!("advisories: not reachable here, skipped");
    }
    run_command(command(deny).args(["--workspace", "check"]).args(checks))
        .context("see above; what is right nonetheless goes into deny.toml with its reason")
}

/// cargo-deny; compiled on the first call, found on later ones.
pub(crate) fn tool() -> Result<OsString> {
    let own = binary_in_tools("cargo-deny").into_os_string();
    for candidate in [own.clone(), OsString::from("cargo-deny")] {
        if is_ours(&candidate) {
            return Ok(candidate);
        }
    }
    eprintln!("cargo-deny {VERSION} is compiled once into {}; this takes some minutes", tools().display());
    // Unoptimised it compiles in a fraction of the time and still answers within a second or two.
    run_command(
        low_priority(&cargo())
            .args(["install", "cargo-deny", "--version", VERSION, "--locked", "--debug", "--quiet", "--root"])
            .arg(tools())
            // Without it cargo builds in a place of its own and clears that away.
            .env_remove("CARGO_TARGET_DIR")
            .env("CARGO_PROFILE_DEV_DEBUG", "0"),
    )
    .with_context(|| {
        format!(
            "missing: cargo-deny {VERSION}, and it could not be compiled here. Make the crate registry reachable, \
             or put that version on PATH, or skip with `cargo xtask test --fast`"
        )
    })?;
    Ok(own)
}

fn is_ours(program: &OsString) -> bool {
    let output = command(program).arg("--version").output();
    output
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == format!("cargo-deny {VERSION}"))
}

fn succeeds_within(command: &mut Command, deadline: Duration) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = quiet.spawn() else { return false };
    let started = Instant::now();
    while started.elapsed() < deadline {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => thread::sleep(Duration::from_millis(50)),
            Err(_) => break,
        }
    }
    // Whether or not it is gone already, it must be gone and reaped now.
    let _ = child.kill();
    let _ = child.wait();
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fetch_that_hangs_counts_as_unreachable() {
        assert!(!succeeds_within(Command::new("sleep").arg("60"), Duration::from_millis(100)));
        assert!(succeeds_within(&mut Command::new("true"), FETCH_DEADLINE));
    }
}

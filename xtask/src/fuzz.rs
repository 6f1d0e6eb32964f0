//! `cargo xtask fuzz`: inputs that nobody thought of, against the promises in `fuzz/fuzz_targets`.
//!
//! Does what cargo-fuzz does without a sanitizer, which stable Rust can: there is no `unsafe` to watch.

use std::fs;
use std::num::NonZeroU32;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::workspace::{cargo, command, host, root, run as run_command, target};

const SECONDS: NonZeroU32 = NonZeroU32::new(10).unwrap();
/// Longest that one input may take, in seconds.
const SLOWEST: u32 = 10;
/// What libFuzzer needs to see which way an input takes.
const COVERAGE: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let (chosen, seconds) = read(args)?;
    let all = targets()?;
    let targets = match chosen {
        None => all,
        Some(name) if all.contains(&name) => vec![name],
        Some(name) => bail!("there is no target `{name}`; there are {}", all.join(", ")),
    };
    let host = host()?;
    let build = target().join("fuzz");
    run_command(
        cargo()
            .args(["build", "--release", "--manifest-path", "fuzz/Cargo.toml"])
            // Named, so that the flags are not for build scripts and macros.
            .args(["--target", &host])
            .arg("--target-dir")
            .arg(&build)
            .args(targets.iter().flat_map(|name| ["--bin", name.as_str()]))
            .env("CARGO_ENCODED_RUSTFLAGS", COVERAGE.join("\u{1f}")),
    )
    .context("the targets do not compile")?;
    for name in &targets {
        let program = build.join(&host).join("release").join(name);
        fuzz(name, &program, &build, seconds)?;
    }
    Ok(())
}

fn read(args: &[String]) -> Result<(Option<String>, NonZeroU32)> {
    let (mut chosen, mut seconds) = (None, SECONDS);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--seconds" {
            let number = args.next().context("`--seconds` needs a number")?;
            seconds = number.parse().with_context(|| format!("`{number}` is no number of seconds"))?;
        } else if arg.starts_with('-') || chosen.is_some() {
            bail!("unknown argument `{arg}`; this command knows one target and `--seconds N`");
        } else {
            chosen = Some(arg.clone());
        }
    }
    Ok((chosen, seconds))
}

fn targets() -> Result<Vec<String>> {
    let folder = root().join("fuzz/fuzz_targets");
    let entries = fs::read_dir(&folder).with_context(|| format!("could not list {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        names.extend(name.to_string_lossy().strip_suffix(".rs").map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Begins with what earlier runs and the seeds have; what it learns and breaks stays beside the build.
fn fuzz(name: &str, program: &Path, build: &Path, seconds: NonZeroU32) -> Result<()> {
    eprintln!("\n==> {name}, {seconds} s");
    let learned = build.join("corpus").join(name);
    let broken = build.join("artifacts").join(name);
    for folder in [&learned, &broken] {
        fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
    }
    let output = command(program)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={SLOWEST}"))
        .arg(format!("-artifact_prefix={}/", broken.display()))
        .args(["-print_final_stats=1", "-verbosity=0"])
        .arg(learned)
        .arg(Path::new("fuzz/corpus").join(name))
        .output()
        .with_context(|| format!("could not start {}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        eprint!("{said}");
        bail!(
            "`{name}` broke; the input is in {}. Make it a test of the crate, and put it into fuzz/corpus/{name}, \
             with which every run begins",
            broken.display()
        );
    }
    // It ends with a long list of words for its own next run.
    let inputs = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    eprintln!("<== {name}: ok, {} inputs", inputs.unwrap_or("?").trim());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(args: &[&str]) -> Option<(Option<String>, u32)> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        read(&args).ok().map(|(chosen, seconds)| (chosen, seconds.get()))
    }

    #[test]
    fn a_target_and_a_time_may_be_given_in_any_order() {
        assert_eq!(reading(&[]), Some((None, 10)));
        assert_eq!(reading(&["rpc"]), Some((Some("rpc".to_owned()), 10)));
        assert_eq!(reading(&["--seconds", "3", "rpc"]), Some((Some("rpc".to_owned()), 3)));
    }

    #[test]
    fn no_time_two_targets_and_unknown_flags_are_refused() {
        for args in [&["--seconds"][..], &["--seconds", "0"], &["--seconds", "x"], &["a", "b"], &["--fast"]] {
            assert_eq!(reading(args), None, "{args:?}");
        }
    }

    #[test]
    fn every_target_is_built_and_has_seeds() {
        let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
        let targets = targets().unwrap();
        assert!(!targets.is_empty());
        for name in targets {
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not in fuzz/Cargo.toml");
            let seeds = root().join("fuzz/corpus").join(&name);
            assert!(fs::read_dir(seeds).is_ok_and(|mut seeds| seeds.next().is_some()), "{name} has no seeds");
        }
    }
}

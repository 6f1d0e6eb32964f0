//! `cargo xtask fuzz`: inputs that nobody thought of, against the promises in `fuzz/src/targets`.
//!
//! Does what cargo-fuzz does without a sanitizer, which stable Rust can: there is no `unsafe` to watch. All targets are
//! one program, which is built once; several run at a time.

mod order;
mod report;

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, bail};

use crate::proof::{Findings, recorded};
use crate::workspace::{cargo, command, host, root, run as run_command, target};
use order::{Order, Time};
use report::{Outcome, Report};

/// For each target, where nobody says how long.
const SECONDS: NonZeroU32 = NonZeroU32::new(10).unwrap();
/// For each target in the tests: the seeds, and a little more.
const SHORT: NonZeroU32 = NonZeroU32::new(2).unwrap();
/// Longest that one input may take, in seconds.
const SLOWEST: u32 = 10;
/// Which target the program runs.
const VARIABLE: &str = "LINKSPAN_FUZZ";
const PROGRAM: &str = "linkspan-fuzz";
/// What libFuzzer needs to see which way an input takes.
const COVERAGE: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    recorded("fuzz", args, |args| {
        let order = Order::read(args)?;
        if let (Some(name), Some(input)) = (&order.target, &order.input) {
            once(name, input)?;
            return Ok(Findings { report: String::new(), held: true });
        }
        let report = examine(&order)?;
        Ok(Findings { report: report.markdown(), held: report.verdict().is_ok() })
    })
}

/// What the tests run: all seeds, and a little of what nobody thought of.
pub(crate) fn short() -> Result<()> {
    let order = Order { time: Time::Each(SHORT), from_seeds: true, ..Order::default() };
    examine(&order)?.verdict()
}

/// Runs what was ordered and tells what came of it; a target that broke is no error of this.
fn examine(order: &Order) -> Result<Report> {
    let targets = match &order.target {
        None => targets()?,
        Some(name) => vec![known(name)?],
    };
    let bench = Bench::build()?;
    let at_once = thread::available_parallelism().map_or(1, usize::from).min(targets.len());
    let seconds = order.time.of_each(targets.len(), at_once);
    let waiting = Mutex::new(targets.iter());
    let next = || waiting.lock().ok()?.next();
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(name) = next() {
                    let outcome = bench.fuzz(name, seconds, order.from_seeds);
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes.push(outcome);
                    }
                }
            });
        }
    });
    let outcomes: Result<Vec<Outcome>> = outcomes.into_inner().unwrap_or_default().into_iter().collect();
    Ok(Report::new(outcomes?, seconds))
}

/// One input again, with all that the target says.
fn once(name: &str, input: &Path) -> Result<()> {
    let name = known(name)?;
    let input = fs::canonicalize(input).with_context(|| format!("could not find {}", input.display()))?;
    let program = Bench::build()?.program;
    run_command(command(program).arg(input).env(VARIABLE, name).env("RUST_BACKTRACE", "1"))
}

fn known(name: &str) -> Result<String> {
    let all = targets()?;
    if !all.iter().any(|known| known == name) {
        bail!("there is no target `{name}`; there are {}", all.join(", "));
    }
    Ok(name.to_owned())
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

fn folder() -> PathBuf {
    target().join("fuzz")
}

/// What cargo does with the targets, always in the same way: what it has compiled for one thing serves the next.
pub(crate) fn cargo_on_targets(what: &str) -> Result<Command> {
    let mut command = cargo();
    command
        .args([what, "--release", "--manifest-path", "fuzz/Cargo.toml"])
        // Named, so that the flags are not for build scripts and macros.
        .args(["--target", &host()?])
        .arg("--target-dir")
        .arg(folder())
        .env("CARGO_ENCODED_RUSTFLAGS", COVERAGE.join("\u{1f}"));
    Ok(command)
}

/// The program, and where it keeps what it learns and breaks.
struct Bench {
    program: PathBuf,
    folder: PathBuf,
}

impl Bench {
    fn build() -> Result<Bench> {
        run_command(cargo_on_targets("build")?.args(["--bin", PROGRAM]))
            .context("the targets do not compile")?;
        let folder = folder();
        Ok(Bench { program: folder.join(host()?).join("release").join(PROGRAM), folder })
    }

    /// Begins with the seeds and what earlier runs learned, or with the seeds alone.
    fn fuzz(&self, name: &str, seconds: NonZeroU32, from_seeds: bool) -> Result<Outcome> {
        let scratch = self.folder.join("scratch").join(name);
        let broken = self.folder.join("artifacts").join(name);
        let learned = if from_seeds { scratch.join("corpus") } else { self.folder.join("corpus").join(name) };
        // What an earlier run left when it was killed.
        let _ = fs::remove_dir_all(&scratch);
        for folder in [&scratch, &learned, &broken] {
            fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
        }
        let output = command(&self.program)
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-timeout={SLOWEST}"))
            .arg(format!("-artifact_prefix={}/", broken.display()))
            .args(["-print_final_stats=1", "-print_funcs=0"])
            .arg(&learned)
            .arg(Path::new("fuzz/corpus").join(name))
            .env(VARIABLE, name)
            .env("TMPDIR", &scratch)
            .output()
            .with_context(|| format!("could not start {}", self.program.display()))?;
        let _ = fs::remove_dir_all(&scratch);
        let outcome = Outcome::read(name, &String::from_utf8_lossy(&output.stderr), output.status.success());
        eprintln!("<== {}", outcome.line());
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_built_and_has_seeds_that_are_small_and_few() {
        let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
        let table = fs::read_to_string(root().join("fuzz/src/targets/mod.rs")).unwrap();
        let targets = targets().unwrap();
        assert!(!targets.is_empty());
        for name in targets {
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not in fuzz/Cargo.toml");
            assert!(table.contains(&format!("(\"{name}\", ")), "{name} is not in the table");
            let seeds = fs::read_dir(root().join("fuzz/corpus").join(&name));
            let sizes: Vec<u64> =
                seeds.unwrap().map(|seed| seed.unwrap().metadata().unwrap().len()).collect();
            assert!((1..=40).contains(&sizes.len()), "{name} has {} seeds", sizes.len());
            assert!(sizes.iter().all(|size| *size <= 16 * 1024), "{name} has a large seed");
        }
    }
}

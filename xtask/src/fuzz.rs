//! `cargo xtask fuzz`: generated inputs against the promises in `fuzz/src/targets`, guided by coverage.
//!
//! It does what cargo-fuzz does, but without a sanitizer, so that stable Rust is enough: there is no `unsafe` to watch. All
//! targets are one program, which is built once; several run at a time. `cargo xtask test` does not use it:
//! `fuzz/tests/seeds.rs` runs the targets on their seeds, and on inputs near them, with the ordinary build.

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
use order::Order;
use report::{Outcome, Report};

/// The default for each target.
const SECONDS: NonZeroU32 = NonZeroU32::new(10).unwrap();
/// The longest time for one input, in seconds.
const SLOWEST: u32 = 10;
/// Names the target that the program runs.
const VARIABLE: &str = "LINKSPAN_FUZZ";
const PROGRAM: &str = "linkspan-fuzz";
/// In `Cargo.toml`.
const PROFILE: &str = "fuzz";
/// Flags for the coverage that libFuzzer reads.
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

/// A target that fails is in the report, and is not an error of this function.
fn examine(order: &Order) -> Result<Report> {
    let targets = match &order.target {
        None => targets()?,
        Some(name) => vec![known(name)?],
    };
    let fuzzer = Fuzzer::build()?;
    let at_once = thread::available_parallelism().map_or(1, usize::from).min(targets.len());
    let seconds = order.time.of_each(targets.len(), at_once);
    let waiting = Mutex::new(targets.iter());
    let next = || waiting.lock().ok()?.next();
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(name) = next() {
                    let outcome = fuzzer.fuzz(name, seconds);
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

/// Runs one input again, with all output of the target.
fn once(name: &str, input: &Path) -> Result<()> {
    let name = known(name)?;
    let input = fs::canonicalize(input).with_context(|| format!("could not find {}", input.display()))?;
    let program = Fuzzer::build()?.program;
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

/// Builds the program with the flags that libFuzzer needs, in a folder of its own, because the ordinary build has others.
fn build_command() -> Result<Command> {
    let mut command = cargo();
    command
        .args([
            "build",
            "--profile",
            PROFILE,
            "--package",
            PROGRAM,
            "--features",
            "libfuzzer",
            "--bin",
            PROGRAM,
        ])
        // With an explicit target, the flags do not apply to build scripts and macros.
        .args(["--target", &host()?])
        .arg("--target-dir")
        .arg(folder())
        .env("CARGO_ENCODED_RUSTFLAGS", COVERAGE.join("\u{1f}"));
    Ok(command)
}

/// The program, and the folder for its corpus and for inputs that break a promise.
struct Fuzzer {
    program: PathBuf,
    folder: PathBuf,
}

impl Fuzzer {
    fn build() -> Result<Fuzzer> {
        run_command(&mut build_command()?).context("the targets do not compile")?;
        let folder = folder();
        Ok(Fuzzer { program: folder.join(host()?).join(PROFILE).join(PROGRAM), folder })
    }

    /// Starts with the seeds and the corpus of earlier runs.
    fn fuzz(&self, name: &str, seconds: NonZeroU32) -> Result<Outcome> {
        let scratch = self.folder.join("scratch").join(name);
        let broken = self.folder.join("artifacts").join(name);
        let learned = self.folder.join("corpus").join(name);
        // An earlier run may have been killed.
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
            let program = root().join("fuzz/fuzz_targets").join(format!("{name}.rs"));
            let program = fs::read_to_string(program).unwrap();
            let runs =
                format!("libfuzzer_sys::fuzz_target!(|data: &[u8]| linkspan_fuzz::run(\"{name}\", data));");
            assert!(program.ends_with(&format!("\n{runs}\n")), "{name} runs something else");
            let seeds = fs::read_dir(root().join("fuzz/corpus").join(&name));
            let sizes: Vec<u64> =
                seeds.unwrap().map(|seed| seed.unwrap().metadata().unwrap().len()).collect();
            assert!((1..=40).contains(&sizes.len()), "{name} has {} seeds", sizes.len());
            assert!(sizes.iter().all(|size| *size <= 16 * 1024), "{name} has a large seed");
        }
    }
}

//! `cargo xtask faults`, `hostile`, `simulate`, `load`: runs a program that tries to break a promise, and with
//! `--record` copies its report into `docs/proof.md`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::workspace::{binary, cargo, command, root, run as run_command};
use crate::{browser, peers};

const DOCUMENT: &str = "docs/proof.md";
/// Arguments that run only a part.
const PARTS: [&str; 3] = ["--case", "--input", "--list"];

/// The report of a program, in Markdown, and whether every promise held.
pub(crate) struct Findings {
    pub(crate) report: String,
    pub(crate) held: bool,
}

pub(crate) fn faults(args: &[String]) -> Result<()> {
    recorded("faults", args, |args| proof("faults", args))
}

pub(crate) fn hostile(args: &[String]) -> Result<()> {
    recorded("hostile", args, |args| proof("hostile", args))
}

pub(crate) fn simulate(args: &[String]) -> Result<()> {
    recorded("simulate", args, |args| proof("simulate", args))
}

pub(crate) fn load(args: &[String]) -> Result<()> {
    recorded("load", args, |args| {
        build(&["linkspan", "linkspan-benches"], Profile::Release)?;
        let mut load = command(binary("release", "linkspan-benches")?);
        load.arg("load").args(args).env("LINKSPAN_BIN", binary("release", "linkspan")?);
        findings(&mut load)
    })
}

/// The bounded versions of all, for `cargo xtask test`, which has built them. Always with the same seed, so that a
/// failure is there again the next time; other seeds are for runs by hand. They wait more than they compute, so they run at
/// the same time. One that fails runs again on its own: on a busy machine it may have missed a deadline.
pub(crate) fn bounded() -> Result<()> {
    let names = ["simulate", "faults", "hostile"];
    let first = thread::scope(|scope| {
        let runs = names.map(|name| scope.spawn(move || run_bounded(name)));
        runs.map(|run| run.join().unwrap_or_else(|_| bail!("a thread of xtask panicked")))
    });
    for (name, findings) in names.into_iter().zip(first) {
        let mut findings = findings?;
        print(&format!("## {name}\n\n{}", findings.report));
        if !findings.held {
            eprintln!("{name} is run again, on its own");
            findings = run_bounded(name)?;
            print(&format!("## {name}, second run\n\n{}", findings.report));
        }
        if !findings.held {
            bail!("`cargo xtask {name}` found a broken promise; its report above says how to see it again");
        }
    }
    Ok(())
}

fn run_bounded(name: &str) -> Result<Findings> {
    findings(&mut program(name, &["--seed".to_owned(), "1".to_owned()], Profile::Dev)?)
}

/// Runs `find` with these arguments, prints its report, and records it if `--record` is among them.
pub(crate) fn recorded(
    name: &str,
    args: &[String],
    find: impl FnOnce(&[String]) -> Result<Findings>,
) -> Result<()> {
    // It has a section of its own, next to that of the short run.
    let section = if args.iter().any(|arg| arg == "--soak") { "soak" } else { name };
    recorded_in(name, section, args, find)
}

/// The same, in this section of the document.
pub(crate) fn recorded_in(
    name: &str,
    section: &str,
    args: &[String],
    find: impl FnOnce(&[String]) -> Result<Findings>,
) -> Result<()> {
    let (recording, args) = without(args, "--record");
    if let Some(part) = args.iter().find(|arg| PARTS.contains(&arg.as_str())).filter(|_| recording) {
        bail!("`--record` is for whole runs, and `{part}` runs only a part");
    }
    let begun = Instant::now();
    let findings = find(&args)?;
    print(&findings.report);
    if recording {
        let said = ["cargo xtask", name].into_iter().chain(args.iter().map(String::as_str));
        record(section, &said.collect::<Vec<_>>().join(" "), begun.elapsed(), &findings.report)?;
    }
    if findings.held {
        Ok(())
    } else {
        bail!("a promise is broken; the report above says how to see it again")
    }
}

#[expect(clippy::print_stdout, reason = "the report is what was asked for")]
fn print(report: &str) {
    println!("{report}");
}

/// Whether the flag is given, and the other arguments.
fn without(args: &[String], flag: &str) -> (bool, Vec<String>) {
    let rest: Vec<String> = args.iter().filter(|arg| *arg != flag).cloned().collect();
    (rest.len() < args.len(), rest)
}

#[derive(Clone, Copy)]
enum Profile {
    Dev,
    Release,
}

impl Profile {
    fn folder(self) -> &'static str {
        match self {
            Profile::Dev => "debug",
            Profile::Release => "release",
        }
    }
}

fn build(packages: &[&str], profile: Profile) -> Result<()> {
    let mut build = cargo();
    build.arg("build").args(packages.iter().flat_map(|package| ["--package", package]));
    if let Profile::Release = profile {
        build.arg("--release");
    }
    run_command(&mut build)
}

/// With assertions and overflow checks, unless `--release` asks for the build that users have.
fn proof(name: &str, args: &[String]) -> Result<Findings> {
    let (release, args) = without(args, "--release");
    let profile = if release { Profile::Release } else { Profile::Dev };
    build(&["linkspan", "linkspan-proof"], profile)?;
    findings(&mut program(name, &args, profile)?)
}

fn program(name: &str, args: &[String], profile: Profile) -> Result<Command> {
    let mut program = command(binary(profile.folder(), "linkspan-proof")?);
    program.arg(name).args(args);
    if name == "hostile" {
        let mut give = |variable: &str, found: Result<PathBuf>| match found {
            Ok(path) => _ = program.env(variable, path),
            Err(error) => eprintln!("{error:#}"),
        };
        give(browser::VARIABLE, browser::chromium());
        give(peers::NODE_VARIABLE, peers::node_modules());
    }
    Ok(program)
}

pub(crate) fn findings(program: &mut Command) -> Result<Findings> {
    let output = program.stderr(Stdio::inherit()).output().context("the program could not be started")?;
    let report = String::from_utf8(output.stdout).context("the report is not UTF-8")?;
    Ok(Findings { report, held: output.status.success() })
}

/// Replaces the report in the document.
fn record(name: &str, said: &str, took: Duration, report: &str) -> Result<()> {
    let path = root().join(DOCUMENT);
    let text = fs::read_to_string(&path).with_context(|| format!("could not read {DOCUMENT}"))?;
    let stamp = format!("`{said}`, {}, {} s, {}.", today()?, took.as_secs(), machine());
    let text = replaced(&text, name, &format!("{stamp}\n\n{}", report.trim_end()))
        .with_context(|| format!("{DOCUMENT} has no place for `{name}`"))?;
    fs::write(&path, text).with_context(|| format!("could not write {DOCUMENT}"))
}

fn replaced(text: &str, name: &str, with: &str) -> Option<String> {
    let (open, close) = (format!("<!-- {name} -->"), format!("<!-- /{name} -->"));
    let (before, rest) = text.split_once(&open)?;
    let (_, after) = rest.split_once(&close)?;
    Some(format!("{before}{open}\n{with}\n{close}{after}"))
}

fn today() -> Result<String> {
    said_by("date", &["-u", "+%Y-%m-%d"])
}

/// The machine and the commit of the figures.
fn machine() -> String {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("processor of unknown make", |(_, model)| model);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let kernel = said_by("uname", &["-sr"]).unwrap_or_default();
    let commit = said_by("git", &["rev-parse", "--short", "HEAD"]).unwrap_or_default();
    format!("{cores} × {model}, {kernel}, commit {commit}")
}

fn said_by(program: &str, args: &[&str]) -> Result<String> {
    let output =
        command(program).args(args).output().with_context(|| format!("could not start `{program}`"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_takes_the_place_of_the_one_before_and_of_no_other() {
        let text = "# Proof\n<!-- a -->\nold\n<!-- /a -->\nbetween\n<!-- b -->\n<!-- /b -->\n";
        let first = replaced(text, "a", "new").unwrap();
        assert_eq!(first, "# Proof\n<!-- a -->\nnew\n<!-- /a -->\nbetween\n<!-- b -->\n<!-- /b -->\n");
        assert_eq!(replaced(&first, "a", "old").unwrap(), text);
        assert_eq!(replaced(text, "c", "new"), None);
    }
}

//! `cargo xtask test`: everything that must hold before a change is merged, cheapest first. Downloads and installs run
//! in the background while the compiler works.

use std::fs;
use std::path::PathBuf;
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::selection::Selection;
use crate::workspace::{cargo, run as run_command, tools};
use crate::{agents, codegen, deny, emacs, fmt, lint, neovim, peers, proof, tidy, vscode, web};

/// A file to which tests that try a part of themselves again write a line each; `crates/cli/tests/vscode/runner.rs` has
/// the other end.
const RETRIES_VARIABLE: &str = "LINKSPAN_TEST_RETRIES";

pub(crate) fn run(args: &[String]) -> Result<()> {
    let [fast, every] = crate::flags(args, ["--fast", "--all"])?;
    anyhow::ensure!(
        !(fast && every),
        "`--fast` leaves tests out and `--all` runs every one: give one of them"
    );
    let mut steps = Steps::default();
    let outcome = check_all(&mut steps, fast, every);
    steps.print_summary();
    outcome
}

fn check_all(steps: &mut Steps, fast: bool, every: bool) -> Result<()> {
    steps.take("fmt", fmt::check)?;
    steps.take("tidy", tidy::check)?;
    steps.take("codegen", codegen::check)?;
    if fast {
        compile(steps)?;
        return run_tests(steps, &Selection::fast(), &[]);
    }
    // Ends with everything that it started: a download that goes on would be in the way of the next run.
    thread::scope(|scope| {
        let deny = Background::start(scope, deny::tool);
        let set_up = Background::start(scope, move || SetUp::install(every));
        compile(steps).inspect_err(|_| eprintln!("waiting for the set-up in the background to end"))?;
        let SetUp { mut paths, has_agents, has_vscode, neovim, emacs } = steps.join("set-up", set_up)?;
        steps.take("web", web::check)?;
        steps.take("extension", vscode::check)?;
        if let Some(folder) = &neovim {
            steps.take("plugin", || neovim::check(folder))?;
        }
        if let Some(folder) = &emacs {
            steps.take("linkspan.el", || emacs::check(folder))?;
        }
        if has_vscode {
            // The extension contains the binary that was just built.
            paths.extend(steps.take("vscode", vscode::installed)?.map(|folder| (vscode::VARIABLE, folder)));
        }
        let selection = Selection::full(has_agents, has_vscode, neovim.is_some(), emacs.is_some(), every);
        run_tests(steps, &selection, &paths)?;
        steps.take("proof", proof::bounded)?;
        let deny = steps.join("cargo-deny", deny)?;
        steps.take("deny", || deny::check(&deny))
    })
}

fn compile(steps: &mut Steps) -> Result<()> {
    steps.take("lint", lint::check)?;
    steps.take("build", || {
        // All targets at once, so that the tests find everything built with the same features.
        run_command(cargo().args(["build", "--workspace", "--all-targets"]))
            .context("it does not compile")?;
        // On its own, as users build it: other members may enable features that it lacks. Its dependencies were
        // checked by clippy.
        run_command(cargo().args(["check", "--package", "linkspan"]))
            .context("the binary alone does not compile")
    })?;
    steps.take("commands", || {
        codegen::check_pages()?;
        tidy::check_commands()
    })
}

fn run_tests(steps: &mut Steps, selection: &Selection, paths: &[(&'static str, PathBuf)]) -> Result<()> {
    let retries = tools().join("retries.txt");
    let _ = fs::remove_file(&retries);
    let outcome = steps.take("tests", || {
        selection.announce();
        for args in selection.commands() {
            let mut command = cargo();
            command.args(args);
            command.envs(paths.iter().map(|(name, path)| (name, path))).env(RETRIES_VARIABLE, &retries);
            // A snapshot that differs is a failure, and is not written.
            command.env("INSTA_UPDATE", "no");
            run_command(&mut command).context("repeat one test with `cargo test -p <crate> <its name>`")?;
        }
        Ok(())
    });
    let retries = fs::read_to_string(&retries).unwrap_or_default();
    steps.retries.extend(retries.lines().map(str::to_owned));
    outcome
}

/// Programs that the tests need, which come from package registries.
struct SetUp {
    /// Each with the variable by which the tests find it.
    paths: Vec<(&'static str, PathBuf)>,
    has_agents: bool,
    has_vscode: bool,
    neovim: Option<PathBuf>,
    emacs: Option<PathBuf>,
}

impl SetUp {
    /// One after the other, because apt and npm lock their files.
    fn install(every: bool) -> Result<SetUp> {
        let mut paths = peers::all()?.to_vec();
        web::install()?;
        let has_vscode = vscode::set_up()?.is_some();
        let agents = agents::installed(every)?;
        let has_agents = agents.is_some();
        paths.extend(agents.map(|folder| (agents::VARIABLE, folder)));
        let neovim = neovim::installed()?;
        paths.extend(neovim.clone().map(|folder| (neovim::VARIABLE, folder)));
        let emacs = emacs::installed()?;
        paths.extend(emacs.clone().map(|folder| (emacs::VARIABLE, folder)));
        Ok(SetUp { paths, has_agents, has_vscode, neovim, emacs })
    }
}

/// Work next to the steps; its own duration is in the summary.
struct Background<'scope, T> {
    thread: ScopedJoinHandle<'scope, (Result<T>, Duration)>,
}

impl<'scope, T: Send + 'scope> Background<'scope, T> {
    fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        work: impl FnOnce() -> Result<T> + Send + 'scope,
    ) -> Background<'scope, T> {
        let timed = move || {
            let started = Instant::now();
            (work(), started.elapsed())
        };
        Background { thread: scope.spawn(timed) }
    }
}

#[derive(Default)]
struct Steps {
    taken: Vec<Step>,
    /// What passed only when it was tried again.
    retries: Vec<String>,
}

struct Step {
    name: &'static str,
    took: Duration,
    ok: bool,
    /// How long it took next to other steps.
    background: Option<Duration>,
}

impl Steps {
    fn take<T>(&mut self, name: &'static str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        self.record(name, || (step(), None))
    }

    /// Waits for work in the background.
    fn join<T: Send>(&mut self, name: &'static str, work: Background<'_, T>) -> Result<T> {
        self.record(name, || match work.thread.join() {
            Ok((result, took)) => (result, Some(took)),
            Err(_) => (Err(anyhow::anyhow!("it panicked")), None),
        })
    }

    fn record<T>(
        &mut self,
        name: &'static str,
        step: impl FnOnce() -> (Result<T>, Option<Duration>),
    ) -> Result<T> {
        eprintln!("\n==> {name}");
        let started = Instant::now();
        let (result, background) = step();
        let result = result.with_context(|| format!("step `{name}` failed"));
        let (took, ok) = (started.elapsed(), result.is_ok());
        eprintln!("<== {name}: {} in {:.1} s", verdict(ok), took.as_secs_f64());
        self.taken.push(Step { name, took, ok, background });
        result
    }

    fn print_summary(&self) {
        eprintln!("\n{:<10} {:>9}  result", "step", "seconds");
        for Step { name, took, ok, background } in &self.taken {
            let note = background.map(|took| format!(" ({:.1} s in the background)", took.as_secs_f64()));
            let note = note.unwrap_or_default();
            eprintln!("{name:<10} {:>9.1}  {}{note}", took.as_secs_f64(), verdict(*ok));
        }
        let total: Duration = self.taken.iter().map(|step| step.took).sum();
        eprintln!("{:<10} {:>9.1}", "total", total.as_secs_f64());
        for retry in &self.retries {
            eprintln!("RETRIED: {retry}");
        }
    }
}

fn verdict(ok: bool) -> &'static str {
    if ok { "ok" } else { "FAILED" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_in_the_background_is_a_step_with_its_own_duration_and_its_failure_is_one() {
        let mut steps = Steps::default();
        thread::scope(|scope| {
            let good = Background::start(scope, || Ok(7));
            let bad: Background<'_, ()> = Background::start(scope, || anyhow::bail!("no network"));
            assert_eq!(steps.join("good", good).unwrap(), 7);
            let error = steps.join("bad", bad).unwrap_err();
            assert!(format!("{error:#}").contains("no network"), "{error:#}");
        });
        let summary: Vec<_> =
            steps.taken.iter().map(|step| (step.name, step.ok, step.background.is_some())).collect();
        assert_eq!(summary, [("good", true, true), ("bad", false, true)]);
    }
}

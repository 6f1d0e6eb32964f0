//! `cargo xtask test`: everything that must hold before a change is taken, cheapest first.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::workspace::{cargo, run as run_command, succeeds};
use crate::{agents, browser, codegen, deny, fmt, fuzz, lint, peers, proof, tidy, vscode, web};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let [fast, every] = crate::flags(args, ["--fast", "--all"])?;
    anyhow::ensure!(
        !(fast && every),
        "`--fast` leaves tests out and `--all` runs every one: give one of them"
    );
    let mut steps = Steps::default();
    let outcome = all(&mut steps, fast, every);
    steps.print_summary();
    outcome
}

fn all(steps: &mut Steps, fast: bool, every: bool) -> Result<()> {
    steps.take("fmt", fmt::check)?;
    steps.take("tidy", tidy::check)?;
    steps.take("codegen", codegen::check)?;
    steps.take("lint", lint::check)?;
    let mut peers = Vec::new();
    if !fast {
        steps.take("web", web::check)?;
        steps.take("extension", vscode::check)?;
        peers.extend(steps.take("peers", foreign)?);
    }
    let agents = if fast { None } else { steps.take("agents", || agents::installed(every))? };
    let selection = Selection { agents: agents.is_some(), every };
    peers.extend(agents.map(|folder| (agents::VARIABLE, folder)));
    // All targets at once, so that the tests below find everything built with the same features.
    steps.take("build", || {
        run_command(cargo().args(["build", "--workspace", "--all-targets"]))
            .context("it does not compile")?;
        // By itself, as people build it: other members may switch features on that it lacks.
        run_command(cargo().args(["check", "--package", "linkspan"]))
            .context("the binary alone does not compile")
    })?;
    if !fast {
        // What is installed there holds the binary that was just built.
        peers.extend(steps.take("vscode", vscode::installed)?.map(|folder| (vscode::VARIABLE, folder)));
    }
    steps.take("commands", tidy::check_commands)?;
    steps.take("tests", || {
        selection.announce();
        for args in selection.commands() {
            let mut command = cargo();
            command.args(args);
            command.envs(peers.iter().map(|(name, path)| (name, path)));
            run_command(&mut command).context("repeat one test with `cargo test -p <crate> <its name>`")?;
        }
        Ok(())
    })?;
    if !fast {
        steps.take("proof", proof::bounded)?;
        steps.take("fuzz", fuzz::short)?;
        steps.take("deny", deny::check)?;
    }
    Ok(())
}

/// Where what is foreign is, in the variables by which the tests find it.
fn foreign() -> Result<[(&'static str, PathBuf); 4]> {
    Ok([
        (peers::PYTHON_VARIABLE, peers::python()?),
        (peers::NODE_VARIABLE, peers::node_modules()?),
        (peers::RG_VARIABLE, peers::ripgrep()?),
        (browser::VARIABLE, browser::chromium()?),
    ])
}

/// Which tests are run.
struct Selection {
    /// Those of real agents, too.
    agents: bool,
    /// Those, too, that `default-filter` in `.config/nextest.toml` leaves out.
    every: bool,
}

impl Selection {
    fn announce(&self) {
        if !self.agents {
            eprintln!("LEFT OUT: the tests of real agents (linkspan --test real_agents)");
        }
        if !self.every {
            eprintln!(
                "LEFT OUT: what `default-filter` in .config/nextest.toml names; `cargo xtask test --all` runs it"
            );
        }
    }

    fn commands(&self) -> Vec<Vec<&'static str>> {
        if !succeeds(cargo().args(["nextest", "--version"])) {
            let mut command = vec!["test", "--workspace", "--no-fail-fast"];
            let left_out: &[&str] = match (self.agents, self.every) {
                (false, _) => &["real_claude::", "real_gemini::", "real_qwen::", "real_opencode::"],
                (true, false) => &["::v2_1_112", "::v1_0_128", "real_opencode::"],
                (true, true) => &[],
            };
            command.push("--");
            command.extend(left_out.iter().flat_map(|name| ["--skip", *name]));
            return vec![command];
        }
        // nextest runs tests of all crates side by side, but knows no doc tests.
        let mut command = vec!["nextest", "run", "--workspace", "--no-fail-fast"];
        if self.every {
            command.push("--ignore-default-filter");
        }
        if !self.agents {
            command.extend(["--filterset", "not (package(linkspan) and binary(real_agents))"]);
        }
        vec![command, vec!["test", "--workspace", "--doc"]]
    }
}

#[derive(Default)]
struct Steps {
    taken: Vec<(&'static str, Duration, bool)>,
}

impl Steps {
    fn take<T>(&mut self, name: &'static str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        eprintln!("\n==> {name}");
        let started = Instant::now();
        let result = step().with_context(|| format!("step `{name}` failed"));
        let (elapsed, ok) = (started.elapsed(), result.is_ok());
        eprintln!("<== {name}: {} in {:.1} s", verdict(ok), elapsed.as_secs_f64());
        self.taken.push((name, elapsed, ok));
        result
    }

    fn print_summary(&self) {
        eprintln!("\n{:<10} {:>9}  result", "step", "seconds");
        for (name, elapsed, ok) in &self.taken {
            eprintln!("{name:<10} {:>9.1}  {}", elapsed.as_secs_f64(), verdict(*ok));
        }
        let total: Duration = self.taken.iter().map(|(_, elapsed, _)| *elapsed).sum();
        eprintln!("{:<10} {:>9.1}", "total", total.as_secs_f64());
    }
}

fn verdict(ok: bool) -> &'static str {
    if ok { "ok" } else { "FAILED" }
}

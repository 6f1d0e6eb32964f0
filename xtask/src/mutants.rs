//! `cargo xtask mutants`: breaks each promise on purpose, one at a time in a copy of this checkout, and sees whether the
//! program that watches over it notices. What it breaks is in `proof/mutations.toml`.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::proof::{Findings, recorded};
use crate::workspace::{cargo, command, root, run as run_command, target};

const LIST: &str = "proof/mutations.toml";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutations {
    mutation: Vec<Mutation>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutation {
    name: String,
    /// Which of the promises in ARCHITECTURE.md does not hold in it.
    promise: u8,
    /// What is wrong in that build.
    what: String,
    file: String,
    find: String,
    replace: String,
    /// What has to notice, as it is given to `cargo xtask`.
    caught_by: Vec<String>,
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    recorded("mutants", args, |args| {
        let mut mutations = read()?;
        if let [only] = args {
            mutations.retain(|mutation| mutation.name == *only);
        }
        if mutations.is_empty() || args.len() > 1 {
            bail!("name one mutation of {LIST}, or none for all of them");
        }
        let copy = Copy::new()?;
        let programs: BTreeSet<&Vec<String>> = mutations.iter().map(|mutation| &mutation.caught_by).collect();
        for program in programs {
            // One that complains anyway has caught nothing.
            if !copy.holds(program)? {
                bail!("`cargo xtask {}` fails in a good build", program.join(" "));
            }
        }
        let mut report =
            "| promise | what is broken in the build | tried with | caught |\n|---|---|---|---|\n".to_owned();
        let mut held = true;
        for mutation in &mutations {
            let caught = copy.catches(mutation)?;
            held &= caught;
            let Mutation { promise, what, caught_by, .. } = mutation;
            let verdict = if caught { "yes" } else { "**no**" };
            report.push_str(&format!(
                "| {promise} | {what} | `cargo xtask {}` | {verdict} |\n",
                caught_by.join(" ")
            ));
        }
        Ok(Findings { report, held })
    })
}

fn read() -> Result<Vec<Mutation>> {
    let text = fs::read_to_string(root().join(LIST)).with_context(|| format!("could not read {LIST}"))?;
    let mutations: Mutations =
        toml::from_str(&text).with_context(|| format!("{LIST} is not as it should be"))?;
    Ok(mutations.mutation)
}

/// A work tree beside this one, built beside it, so that nothing broken is ever here.
struct Copy {
    tree: PathBuf,
}

impl Copy {
    fn new() -> Result<Copy> {
        let tree = target().join("mutants");
        let _ = fs::remove_dir_all(&tree);
        run_command(command("git").args(["worktree", "prune"]))?;
        run_command(command("git").args(["worktree", "add", "--quiet", "--detach"]).arg(&tree))
            .context("there is no copy to break")?;
        Ok(Copy { tree })
    }

    fn catches(&self, mutation: &Mutation) -> Result<bool> {
        eprintln!("\n==> {}", mutation.name);
        let path = self.tree.join(&mutation.file);
        let good = fs::read_to_string(&path).with_context(|| format!("could not read {}", mutation.file))?;
        fs::write(&path, mutated(&good, mutation)?)?;
        let held = self.holds(&mutation.caught_by);
        fs::write(&path, good)?;
        Ok(!held?)
    }

    /// Whether the program finds no promise broken in what the copy is now.
    fn holds(&self, program: &[String]) -> Result<bool> {
        run_command(self.cargo().args(["build", "--package", "linkspan", "--package", "linkspan-proof"]))
            .context("it does not compile, so it shows nothing")?;
        let mut run = self.cargo();
        run.arg("xtask").args(program).stdout(Stdio::null());
        Ok(run.status().context("could not start cargo")?.success())
    }

    fn cargo(&self) -> Command {
        let mut cargo = cargo();
        cargo.current_dir(&self.tree).env("CARGO_TARGET_DIR", target().join("mutants-target"));
        cargo
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = run_command(command("git").args(["worktree", "remove", "--force"]).arg(&self.tree));
    }
}

/// What is to be broken stands in the file exactly once, so that a change of the code is noticed here too.
fn mutated(text: &str, mutation: &Mutation) -> Result<String> {
    match text.matches(&mutation.find).count() {
        1 => Ok(text.replace(&mutation.find, &mutation.replace)),
        count => bail!("{} has the text of `{}` {count} times, not once", mutation.file, mutation.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mutation_can_be_made_and_each_promise_has_one() {
        let mutations = read().unwrap();
        for mutation in &mutations {
            let text = fs::read_to_string(root().join(&mutation.file)).unwrap();
            assert_ne!(mutated(&text, mutation).unwrap(), text, "{}", mutation.name);
        }
        for promise in 1..=8 {
            assert!(
                mutations.iter().any(|mutation| mutation.promise == promise),
                "none breaks promise {promise}"
            );
        }
    }
}

//! The outcome of a run, read from libFuzzer's output, as a table.

use std::fmt::Write;
use std::num::NonZeroU32;

use anyhow::{Result, bail};

/// Lines shown of a target that fails: its own message comes last.
const LAST_LINES: usize = 40;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    name: String,
    inputs: Option<u64>,
    per_second: Option<u64>,
    /// Coverage edges that some input reached.
    edges: Option<u64>,
    broken: Option<Broken>,
}

#[derive(Debug, PartialEq, Eq)]
struct Broken {
    input: Option<String>,
    said: String,
}

impl Outcome {
    pub(super) fn read(name: &str, said: &str, went_well: bool) -> Outcome {
        let stat = |key: &str| {
            let value = said.lines().rev().find_map(|line| line.strip_prefix("stat::")?.strip_prefix(key));
            value.and_then(|value| value.trim_start_matches(':').trim().parse().ok())
        };
        let edges = said.lines().rev().find_map(|line| {
            let (_, after) = line.split_once(" cov: ")?;
            after.split(' ').next()?.parse().ok()
        });
        let broken = || {
            let written = said.lines().find_map(|line| line.split_once("Test unit written to "));
            let lines: Vec<&str> = said.lines().collect();
            let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
            Broken { input: written.map(|(_, path)| path.to_owned()), said: last.join("\n") }
        };
        Outcome {
            name: name.to_owned(),
            inputs: stat("number_of_executed_units"),
            per_second: stat("average_exec_per_sec"),
            edges,
            broken: (!went_well).then(broken),
        }
    }

    /// Progress on the terminal.
    pub(super) fn line(&self) -> String {
        let Outcome { name, inputs, broken, .. } = self;
        match broken {
            None => format!("{name}: ok, {} inputs", shown(*inputs)),
            Some(broken) => format!("{name}: BROKEN\n{}", broken.said),
        }
    }

    fn result(&self) -> String {
        match &self.broken {
            None => "ok".to_owned(),
            Some(Broken { input: Some(input), .. }) => {
                format!("**broken**: `cargo xtask fuzz {} --input {input}`", self.name)
            }
            Some(Broken { input: None, .. }) => format!("**broken**: `cargo xtask fuzz {}`", self.name),
        }
    }
}

pub(super) struct Report {
    outcomes: Vec<Outcome>,
    seconds: NonZeroU32,
}

impl Report {
    pub(super) fn new(mut outcomes: Vec<Outcome>, seconds: NonZeroU32) -> Report {
        outcomes.sort_by(|one, other| one.name.cmp(&other.name));
        Report { outcomes, seconds }
    }

    pub(super) fn markdown(&self) -> String {
        let mut text = format!("{} targets, {} s each.\n\n", self.outcomes.len(), self.seconds);
        text.push_str("| target | inputs | inputs/s | coverage edges | result |\n|---|---:|---:|---:|---|\n");
        for outcome in &self.outcomes {
            let Outcome { name, inputs, per_second, edges, .. } = outcome;
            let numbers = [inputs, per_second, edges].map(|number| shown(*number)).join(" | ");
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| `{name}` | {numbers} | {} |", outcome.result());
        }
        text
    }

    /// An error if anything broke.
    pub(super) fn verdict(&self) -> Result<()> {
        let broken: Vec<String> = self
            .outcomes
            .iter()
            .filter(|outcome| outcome.broken.is_some())
            .map(|outcome| format!("{}: {}", outcome.name, outcome.result()))
            .collect();
        if !broken.is_empty() {
            bail!(
                "{}\nMake the input a test of the crate, and put it into fuzz/corpus, with which every run begins",
                broken.join("\n")
            );
        }
        Ok(())
    }
}

fn shown(number: Option<u64>) -> String {
    number.map_or_else(|| "?".to_owned(), |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
INFO: seed corpus: files: 9
#10\tINITED cov: 300 ft: 1 corp: 1/1b
#4096\tDONE   cov: 358 ft: 900 corp: 20/1Kb lim: 4 exec/s: 2048 rss: 40Mb
stat::number_of_executed_units: 4096
stat::average_exec_per_sec:     2048
";

    #[test]
    fn what_libfuzzer_counts_is_in_the_table() {
        let report = Report::new(vec![Outcome::read("rpc", SAID, true)], NonZeroU32::MIN);
        assert!(report.markdown().ends_with("| `rpc` | 4096 | 2048 | 358 | ok |\n"), "{}", report.markdown());
        assert!(report.verdict().is_ok());
    }

    #[test]
    fn a_target_that_broke_is_an_error_that_says_how_to_see_it_again() {
        let said = format!("{SAID}panicked at x\nartifact_prefix='/t/'; Test unit written to /t/crash-1\n");
        let outcome = Outcome::read("rpc", &said, false);
        assert!(outcome.line().contains("panicked at x"));
        let report = Report::new(vec![outcome, Outcome::read("merge", SAID, true)], NonZeroU32::MIN);
        let error = report.verdict().unwrap_err().to_string();
        assert!(
            error.contains("cargo xtask fuzz rpc --input /t/crash-1") && !error.contains("merge"),
            "{error}"
        );
        assert!(report.markdown().contains("| `merge` |"));
    }

    #[test]
    fn a_program_that_says_nothing_is_broken_and_has_no_numbers() {
        let report = Report::new(vec![Outcome::read("rpc", "", false)], NonZeroU32::MIN);
        assert!(report.markdown().contains("| `rpc` | ? | ? | ? | **broken**"));
        assert!(report.verdict().is_err());
    }
}

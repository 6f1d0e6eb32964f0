//! The hunks of a large file with few changes, compared with GNU diff.

use std::fs;
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::Effort;
use crate::report::Row;
use crate::stats::{Spread, median};

const LINES: usize = 100_000;

/// Lines of code of a kind, every hundredth of which differs from side to side.
pub(crate) fn text(lines: usize, after: bool) -> String {
    (0..lines)
        .map(|index| match index % 100 {
            50 if after => format!("    let renamed_{index} = compute_again({});\n", index * 7),
            _ => format!("    let value_{index} = compute({}, \"{}\");\n", index * 7, index % 13),
        })
        .collect()
}

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let (before, after) = (text(LINES, false), text(LINES, true));
    let paths = [folder.path().join("before"), folder.path().join("after")];
    for (path, text) in paths.iter().zip([&before, &after]) {
        fs::write(path, text)?;
    }
    let git = Command::new("git").arg("--version").output().is_ok();
    let (mut ours, mut floor, mut by_git) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..effort.pick(21, 7) {
        let mut gnu = Command::new("diff");
        floor.push(differ(gnu.args(&paths))?);
        if git {
            let mut git = Command::new("git");
            by_git.push(differ(git.current_dir(folder.path()).args(["diff", "--no-index"]).args(&paths))?);
        }
        let start = Instant::now();
        let hunks = black_box(linkspan_review::hunks(black_box(&before), black_box(&after)));
        ours.push(start.elapsed().as_secs_f64() * 1e3);
        ensure!(hunks.len() == LINES / 100, "{} hunks", hunks.len());
    }
    let row = |peer: &str, theirs: &[f64]| {
        let note = format!("{:.1} : {:.1} ms; 1000 hunks with their words", median(&ours), median(theirs));
        let what = format!("hunks of 100k lines, 1 % changed : {peer}");
        Row::ratio(what, Spread::of_ratios(&ours, theirs)).note(note)
    };
    let mut rows = vec![row("GNU diff", &floor).at_most(0.5)];
    rows.push(if git {
        row("`git diff --no-index`", &by_git)
    } else {
        Row::not_measured("hunks : `git diff --no-index`", "there is no git")
    });
    Ok(rows)
}

/// How long another program takes, in milliseconds. It has to find that the texts differ.
fn differ(command: &mut Command) -> Result<f64> {
    let start = Instant::now();
    let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    let taken = start.elapsed().as_secs_f64() * 1e3;
    ensure!(output.status.code() == Some(1), "{command:?} found no difference");
    Ok(taken)
}

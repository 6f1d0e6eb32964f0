//! The hunks of a large file with few changes, beside what GNU diff takes for them.

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
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..effort.pick(21, 7) {
        let start = Instant::now();
        let output = Command::new("diff").args(&paths).output().context("GNU diff cannot be run")?;
        floor.push(start.elapsed().as_secs_f64() * 1e3);
        ensure!(output.status.code() == Some(1), "diff found no difference");
        let start = Instant::now();
        let hunks = black_box(linkspan_review::hunks(black_box(&before), black_box(&after)));
        ours.push(start.elapsed().as_secs_f64() * 1e3);
        ensure!(hunks.len() == LINES / 100, "{} hunks", hunks.len());
    }
    let note = format!("{:.1} : {:.1} ms; 1000 hunks with their words", median(&ours), median(&floor));
    let ratio = Spread::of_ratios(&ours, &floor);
    Ok(vec![Row::ratio("hunks of 100k lines, 1 % changed : GNU diff", ratio).at_most(0.5).note(note)])
}

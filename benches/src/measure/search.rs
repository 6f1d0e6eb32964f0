//! Listing and searching 50,000 files, compared with `rg` on the same files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use linkspan_editor_api::DenyGlobs;
use linkspan_workspace::{Cancel, ListFiles, SearchFiles, Workspace, list_files, search_files};

use super::Effort;
use crate::bench_hub::scratch;
use crate::report::Row;
use crate::stats::{Spread, median};

const FILES: usize = 50_000;
const FOLDERS: usize = 1000;
/// In one line of one file in ten, which stays below the most matches there may be.
const NEEDLE: &str = "needle";
/// Globs that a careful user denies; matching them is part of the work.
const DENIED: [&str; 3] = [".env", "*.pem", "secrets/"];

/// One thing that both do.
struct Task {
    what: &'static str,
    rg: &'static [&'static str],
    ours: fn(&Workspace) -> Result<usize>,
}

const TASKS: [Task; 4] = [
    Task { what: "list 50k files", rg: &["--files"], ours: |workspace| listed(workspace, None) },
    Task {
        what: "list `**/*.py` of 50k files",
        rg: &["--files", "--glob", "*.py"],
        ours: |workspace| listed(workspace, Some("**/*.py")),
    },
    Task {
        what: "search 50k files for a word",
        rg: &["--line-number", "--fixed-strings", NEEDLE],
        ours: |workspace| found(workspace, NEEDLE, false),
    },
    Task {
        what: "search 50k files for an expression",
        rg: &["--line-number", r"needle_\d+\(\w+\)"],
        ours: |workspace| found(workspace, r"needle_\d+\(\w+\)", true),
    },
];

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    if let Err(why) = rg(Path::new("."), &["--version"]) {
        return Ok(vec![Row::not_measured("list and search 50k files : rg", why.to_string())]);
    }
    let root = scratch()?;
    let folder = root.path().canonicalize()?.join("tree");
    make(&folder)?;
    let deny = DenyGlobs::new(&DENIED.map(str::to_owned))?;
    let workspace = Workspace { folders: vec![folder.clone()], deny, kept: Vec::new() };
    TASKS.iter().map(|task| compare(task, &workspace, &folder, effort)).collect()
}

fn compare(task: &Task, workspace: &Workspace, folder: &Path, effort: Effort) -> Result<Row> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=effort.pick(25, 5) {
        let start = Instant::now();
        let count = (task.ours)(workspace)?;
        let taken = start.elapsed();
        let start = Instant::now();
        let output = rg(folder, task.rg)?;
        let floor = start.elapsed();
        let lines = output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
        ensure!(count == lines && count > 0, "{}: {count} here, {lines} by rg", task.what);
        // The first finds neither the files nor the programs in memory.
        if round > 0 {
            ours.push(taken.as_secs_f64() * 1e3);
            theirs.push(floor.as_secs_f64() * 1e3);
        }
    }
    let note = format!("{:.1} : {:.1} ms", median(&ours), median(&theirs));
    Ok(Row::ratio(format!("{} : rg", task.what), Spread::of_ratios(&ours, &theirs)).at_most(1.3).note(note))
}

fn listed(workspace: &Workspace, pattern: Option<&str>) -> Result<usize> {
    let asked =
        ListFiles { pattern: pattern.map(str::to_owned), limit: ListFiles::MOST, ..ListFiles::default() };
    Ok(list_files(workspace, &asked, &Cancel::new())?.paths.len())
}

fn found(workspace: &Workspace, query: &str, regex: bool) -> Result<usize> {
    let limit = SearchFiles::MOST;
    let asked =
        SearchFiles { query: query.into(), regex, case_sensitive: true, limit, ..SearchFiles::default() };
    Ok(search_files(workspace, &asked, &Cancel::new())?.matches.len())
}

fn rg(folder: &Path, args: &[&str]) -> Result<Vec<u8>> {
    let rg = std::env::var_os("LINKSPAN_TEST_RG").map_or_else(|| PathBuf::from("rg"), PathBuf::from);
    let plain = ["--hidden", "--glob", "!.git", "--no-messages"];
    let output = Command::new(rg).current_dir(folder).args(plain).args(args).output();
    Ok(output.context("`rg` cannot be run: run `cargo xtask bench`, which installs it")?.stdout)
}

/// A repository of small sources, some of them hidden or ignored.
fn make(folder: &Path) -> Result<()> {
    for index in 0..FOLDERS {
        fs::create_dir_all(folder.join(place(index)))?;
    }
    fs::create_dir(folder.join(".git"))?;
    fs::write(folder.join(".gitignore"), "*.log\nbuild/\n/dist\n")?;
    for index in 0..FILES {
        let name = match index % 40 {
            7 => format!(".hidden{index}"),
            9 => format!("file{index}.log"),
            rest => format!("file{index}.{}", ["rs", "py", "md", "ts"][rest % 4]),
        };
        fs::write(folder.join(place(index % FOLDERS)).join(name), text(index))?;
    }
    Ok(())
}

fn place(index: usize) -> String {
    format!("part{}/folder{}", index % 40, index / 40)
}

/// Of about two kilobytes, like most sources.
fn text(index: usize) -> String {
    let line = |line: usize| match line {
        20 if index.is_multiple_of(10) => format!("    needle_{index}(value);\n"),
        _ => format!("    let value_{line} = compute({index}, \"{}\");\n", line % 13),
    };
    (0..50).map(line).collect()
}

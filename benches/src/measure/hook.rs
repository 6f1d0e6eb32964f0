//! A hook that has nothing to decide, from start to end, compared with a program that does nothing: an agent waits for it
//! before each of its tools.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::Effort;
use crate::bench_hub::BenchHub;
use crate::editor::Editor;
use crate::report::Row;
use crate::stats::{Spread, median};

/// Runs a round, of which the median counts.
const RUNS: usize = 5;

/// A program, what it reads, and how long each round of it took, in milliseconds.
struct MeasuredHook {
    name: &'static str,
    command: Command,
    event: PathBuf,
    times: Vec<f64>,
}

impl MeasuredHook {
    fn once(&mut self) -> Result<f64> {
        // Opened each time: a file that was read to its end is empty for the next run.
        self.command.stdin(File::open(&self.event)?).stdout(Stdio::piped());
        let start = Instant::now();
        let output = self.command.output()?;
        let taken = start.elapsed();
        ensure!(output.status.success(), "{:?} ended with {}", self.command, output.status);
        ensure!(output.stdout.is_empty(), "{:?} had something to decide", self.command);
        Ok(taken.as_secs_f64() * 1e3)
    }
}

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let hub = BenchHub::start()?;
    let (workspace, elsewhere) = (hub.workspace(), hub.path("elsewhere"));
    fs::create_dir_all(&elsewhere)?;
    for folder in [&workspace, &elsewhere] {
        fs::write(folder.join("a.txt"), "one\ntwo\nthree\n")?;
    }
    let _editor = Editor::on_socket(&hub.socket()?, &workspace)?;
    let event = |name: &str, cwd: &Path, mode: &str, tool: &str| -> Result<PathBuf> {
        let path = hub.path(name);
        fs::write(&path, claude_event(cwd, mode, tool).to_string())?;
        Ok(path)
    };
    let hook = |name, event, folder: &Path| {
        let mut command = hub.command(hub.program());
        command.arg("hook").current_dir(folder).env("CLAUDECODE", "1");
        MeasuredHook { name, command, event, times: Vec::new() }
    };
    let edit = event("edit.json", &workspace, "default", "Edit")?;
    let mut floor = MeasuredHook {
        name: "/bin/true",
        command: hub.command("/bin/true"),
        event: edit.clone(),
        times: Vec::new(),
    };
    let mut no_hub = hook("no hub", edit, &workspace);
    no_hub.command.env("XDG_RUNTIME_DIR", hub.path("none")).env("XDG_STATE_HOME", hub.path("none"));
    let mut ours = [
        no_hub,
        hook("no window", event("elsewhere.json", &elsewhere, "default", "Edit")?, &elsewhere),
        hook("another tool", event("read.json", &workspace, "default", "Read")?, &workspace),
        hook("an automatic mode", event("auto.json", &workspace, "acceptEdits", "Edit")?, &workspace),
    ];

    for round in 0..=effort.pick(60, 12) {
        let mut taken: Vec<Vec<f64>> = vec![Vec::new(); ours.len() + 1];
        // One of each in turn, so that other load of the machine affects all of them.
        for _ in 0..RUNS {
            for (hook, taken) in std::iter::once(&mut floor).chain(&mut ours).zip(&mut taken) {
                taken.push(hook.once()?);
            }
        }
        // The first round brings the programs into memory.
        for (hook, taken) in std::iter::once(&mut floor).chain(&mut ours).zip(taken).filter(|_| round > 0) {
            hook.times.push(median(&taken));
        }
    }
    let rows = ours.iter().map(|hook| {
        let what = format!("`linkspan hook`, {} : {}", hook.name, floor.name);
        let note = format!("{:.2} : {:.2} ms", median(&hook.times), median(&floor.times));
        Row::ratio(what, Spread::of_ratios(&hook.times, &floor.times)).at_most(3.0).note(note)
    });
    Ok(rows.collect())
}

/// As Claude Code sends it.
fn claude_event(cwd: &Path, mode: &str, tool: &str) -> Value {
    json!({
        "session_id": "5a5e6dd5-6a25-4b28-a9a1-3a2d92cd8f3a",
        "transcript_path": "/home/u/.claude/projects/-w/5a5e6dd5.jsonl",
        "cwd": cwd,
        "permission_mode": mode,
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": {
            "file_path": cwd.join("a.txt"), "old_string": "two", "new_string": "TWO", "replace_all": false,
        },
        "tool_use_id": "toolu_1",
    })
}

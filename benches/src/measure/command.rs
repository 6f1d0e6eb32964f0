//! A command from start to end with the hub running and an editor attached, compared with a program that does nothing
//! and with clients in other languages that make the same request.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, ensure};

use super::Effort;
use crate::bench_hub::BenchHub;
use crate::editor::Editor;
use crate::peers::{node, python};
use crate::report::Row;
use crate::stats::{Spread, median};

/// `linkspan` with these words. The clients of other languages do what `diagnostics` does.
const COMMANDS: [&[&str]; 4] =
    [&["status"], &["reviews"], &["diagnostics", "--json"], &["selection", "--json"]];
const SAME_WORK: &str = "diagnostics";
const NODE: &str = "Node";

/// A program and how long each round of it took, in milliseconds.
struct Contender {
    name: String,
    command: Command,
    /// Runs a round, of which the median counts: many of a quick program, one of a slow one.
    runs: usize,
    times: Vec<f64>,
}

impl Contender {
    fn new(name: impl Into<String>, mut command: Command, runs: usize, folder: &Path) -> Contender {
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
        Contender { name: name.into(), command, runs, times: Vec::new() }
    }

    fn once(&mut self) -> Result<f64> {
        let start = Instant::now();
        let status = self.command.status()?;
        let taken = start.elapsed();
        ensure!(status.success(), "{:?} ended with {status}", self.command);
        Ok(taken.as_secs_f64() * 1e3)
    }
}

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let hub = BenchHub::start()?;
    let folder = hub.workspace();
    let _editor = Editor::on_socket(&hub.socket()?, &folder)?;
    let mut floor = Contender::new("/bin/true", hub.command("/bin/true"), 5, &folder);
    let mut ours: Vec<Contender> = Vec::new();
    for words in COMMANDS {
        let mut command = hub.command(hub.program());
        command.args(words);
        ours.push(Contender::new(words.join(" "), command, 5, &folder));
    }
    let (mut peers, mut missing) = (Vec::new(), Vec::new());
    for (name, command) in clients(&hub) {
        match command {
            Ok(command) => peers.push(Contender::new(name, command, 1, &folder)),
            Err(why) => missing.push(Row::not_measured(format!("a client in {name}"), why.to_string())),
        }
    }

    for round in 0..=effort.pick(60, 12) {
        let mut times = Vec::new();
        for contender in std::iter::once(&mut floor).chain(&mut ours).chain(&mut peers) {
            times.push((contender, Vec::new()));
        }
        // One of each in turn, so that other load of the machine affects all of them.
        for run in 0..5 {
            for (contender, taken) in times.iter_mut().filter(|(contender, _)| run < contender.runs) {
                taken.push(contender.once()?);
            }
        }
        // The first round brings the programs into memory.
        for (contender, taken) in times.into_iter().filter(|_| round > 0) {
            contender.times.push(median(&taken));
        }
    }
    let mut rows = rows(&floor, &ours, &peers);
    rows.extend(missing);
    Ok(rows)
}

fn rows(floor: &Contender, ours: &[Contender], peers: &[Contender]) -> Vec<Row> {
    let mut rows = Vec::new();
    for command in ours {
        let mut note = format!("{:.2} : {:.2} ms", median(&command.times), median(&floor.times));
        for peer in peers {
            let ratio = Spread::of_ratios(&peer.times, &command.times).median;
            note += &format!("; the client in {} takes {ratio:.1} × as long", peer.name);
        }
        let what = format!("`linkspan {}` : {}", command.name, floor.name);
        rows.push(Row::ratio(what, Spread::of_ratios(&command.times, &floor.times)).at_most(3.0).note(note));
    }
    for command in ours.iter().filter(|command| command.name.starts_with(SAME_WORK)) {
        for peer in peers {
            let what = format!("a client in {} : `linkspan {}`", peer.name, command.name);
            let note = format!("{:.1} : {:.2} ms", median(&peer.times), median(&command.times));
            let row = Row::ratio(what, Spread::of_ratios(&peer.times, &command.times)).note(note);
            rows.push(if peer.name == NODE { row.at_least(50.0) } else { row });
        }
    }
    rows
}

/// Clients that find the window by its lock file, connect, introduce themselves and ask for diagnostics.
fn clients(hub: &BenchHub) -> [(&'static str, Result<Command>); 2] {
    [(NODE, node(hub, "clients/one_shot.cjs")), ("Python", python(hub, "clients/one_shot.py"))]
}

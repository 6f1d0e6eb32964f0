//! A command from start to end with the hub running, beside a program that does nothing.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, ensure};

use super::Effort;
use crate::editor::Editor;
use crate::report::Row;
use crate::stats::{Spread, median};
use crate::world::World;

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let world = World::start()?;
    let _editor = Editor::on_socket(&world.socket()?, &world.workspace())?;
    let linkspan = |args: &[&str]| {
        let mut command = world.command(world.program());
        command.args(args);
        command
    };
    let mut commands =
        [world.command("/bin/true"), linkspan(&["status", "--json"]), linkspan(&["reviews", "--json"])];
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..effort.pick(60, 12) {
        let mut round = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..5 {
            for (command, round) in commands.iter_mut().zip(&mut round) {
                round.push(once(command)?);
            }
        }
        for (times, round) in times.iter_mut().zip(round) {
            times.push(median(&round));
        }
    }
    let [floor, status, reviews] = &times;
    let row = |what: &str, ours: &[f64]| {
        let note = format!("{:.2} : {:.2} ms", median(ours), median(floor));
        Row::ratio(what, Spread::of_ratios(ours, floor)).at_most(3.0).note(note)
    };
    Ok(vec![
        row("`linkspan status --json` : /bin/true", status),
        row("`linkspan reviews --json` : /bin/true", reviews),
    ])
}

fn once(command: &mut Command) -> Result<f64> {
    let start = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    let taken = start.elapsed();
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(taken.as_secs_f64() * 1e3)
}

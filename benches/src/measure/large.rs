//! A change of 10 MB: proposed, shown, accepted, answered; beside a WebSocket that sends 10 MB back.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::Effort;
use super::diff::text;
use crate::agent::{Agent, Dialect, open_diff, tool};
use crate::editor::Editor;
use crate::frame::{TEXT, masked};
use crate::report::Row;
use crate::role::Role;
use crate::stats::{Spread, median};
use crate::world::World;

const SIZE: usize = 10_000_000;
/// The journal goes on for a while after the answer.
const SETTLE: Duration = Duration::from_millis(300);

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let world = World::start()?;
    let editor = Editor::on_socket(&world.socket()?, &world.workspace())?;
    let mut agent = Agent::introduced(&world.door(editor.port)?, Dialect::Claude)?;
    let echo = Role::websocket_echo(&world)?;
    let mut echoed = Agent::websocket(echo.port, "")?;

    let line = text(1000, false).len() / 1000;
    let lines = SIZE / (line + 4);
    let path = world.workspace().join("large.rs");
    fs::write(&path, text(lines, false))?;
    let proposed = text(lines, true);
    let (mut whole, mut shown_after, mut told_after, mut floor) = (vec![], vec![], vec![], vec![]);
    for number in 0..effort.pick(9, 3) {
        let change = format!("// {number}\n{proposed}");
        let echo_frame = masked(TEXT, change.as_bytes());
        let start = Instant::now();
        echoed.call(&echo_frame)?;
        floor.push(millis(start.elapsed()));

        let frame = open_diff(&path.display().to_string(), &change);
        let start = Instant::now();
        agent.send(&frame)?;
        let shown = editor.next_shown()?;
        let decided = Instant::now();
        editor.accept(&shown)?;
        agent.receive()?;
        let end = Instant::now();
        whole.push(millis(end - start));
        shown_after.push(millis(shown.at - start));
        told_after.push(millis(end - decided));
        agent.expect(&tool("getWorkspaceFolders", serde_json::json!({})), "workspace")?;
        std::thread::sleep(SETTLE);
    }
    let note = format!(
        "{:.1} : {:.1} ms for {:.1} MB; shown after {:.1} ms, answer {:.1} ms after the accept",
        median(&whole),
        median(&floor),
        proposed.len() as f64 / 1e6,
        median(&shown_after),
        median(&told_after),
    );
    let ratio = Spread::of_ratios(&whole, &floor);
    Ok(vec![Row::ratio("10 MB change, proposed → answered : WebSocket echo", ratio).at_most(2.0).note(note)])
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

//! A change of 10 MB: proposed, shown, accepted, answered; beside a WebSocket that sends 10 MB back.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

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

/// Of 10 MB, every hundredth line changed.
pub(crate) fn large_text(after: bool) -> String {
    let line = text(1000, false).len() / 1000;
    text(SIZE / (line + 4), after)
}

/// A hub with an editor and an agent that proposes 10 MB.
pub(crate) struct Desk {
    editor: Editor,
    agent: Agent,
    path: String,
    proposed: String,
    world: World,
}

/// When the steps of one change were over, in milliseconds.
pub(crate) struct Steps {
    pub(crate) shown: f64,
    /// From the accept on.
    pub(crate) told: f64,
    pub(crate) whole: f64,
}

impl Desk {
    pub(crate) fn start() -> Result<Desk> {
        let world = World::start()?;
        let editor = Editor::on_socket(&world.socket()?, &world.workspace())?;
        let agent = Agent::introduced(&world.door(editor.port)?, Dialect::Claude)?;
        let path = world.workspace().join("large.rs");
        fs::write(&path, large_text(false))?;
        let path = path.display().to_string();
        Ok(Desk { editor, agent, path, proposed: large_text(true), world })
    }

    /// A number makes it another change than the one before.
    pub(crate) fn change(&mut self, number: u32) -> Result<Steps> {
        let frame = open_diff(&self.path, &format!("// {number}\n{}", self.proposed));
        let start = Instant::now();
        self.agent.send(&frame)?;
        let shown = self.editor.next_shown()?;
        let decided = Instant::now();
        self.editor.accept(&shown)?;
        let answer = self.agent.receive()?;
        let end = Instant::now();
        let told = self.agent.told(&answer);
        ensure!(told.contains("FILE_SAVED"), "not accepted: {told}");
        self.agent.expect(&tool("getWorkspaceFolders", serde_json::json!({})), "workspace")?;
        std::thread::sleep(SETTLE);
        Ok(Steps { shown: millis(shown.at - start), told: millis(end - decided), whole: millis(end - start) })
    }
}

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let mut desk = Desk::start()?;
    let echo = Role::websocket_echo(&desk.world)?;
    let mut echoed = Agent::websocket(echo.port, "")?;
    let (mut whole, mut shown_after, mut told_after, mut floor) = (vec![], vec![], vec![], vec![]);
    for number in 0..effort.pick(9, 3) {
        let echo_frame = masked(TEXT, desk.proposed.as_bytes());
        let start = Instant::now();
        echoed.call(&echo_frame)?;
        floor.push(millis(start.elapsed()));
        let steps = desk.change(number)?;
        whole.push(steps.whole);
        shown_after.push(steps.shown);
        told_after.push(steps.told);
    }
    let note = format!(
        "{:.1} : {:.1} ms for {:.1} MB; shown after {:.1} ms, answer {:.1} ms after the accept",
        median(&whole),
        median(&floor),
        desk.proposed.len() as f64 / 1e6,
        median(&shown_after),
        median(&told_after),
    );
    let ratio = Spread::of_ratios(&whole, &floor);
    Ok(vec![Row::ratio("10 MB change, proposed → answered : WebSocket echo", ratio).at_most(2.0).note(note)])
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

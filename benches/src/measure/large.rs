//! A change of 10 MB: proposed, shown, accepted, answered; compared with a WebSocket that sends 10 MB back.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::Effort;
use super::diff::text;
use crate::agent::{Agent, BenchDialect, open_diff, tool};
use crate::bench_hub::BenchHub;
use crate::editor::Editor;
use crate::frame::{TEXT, masked};
use crate::report::Row;
use crate::role::Role;
use crate::stats::{Spread, median};

const SIZE: usize = 10_000_000;
/// The journal keeps working for a while after the answer.
const SETTLE: Duration = Duration::from_millis(300);

/// 10 MB of text, with every hundredth line changed.
pub(crate) fn large_text(after: bool) -> String {
    let line = text(1000, false).len() / 1000;
    text(SIZE / (line + 4), after)
}

/// A hub with an editor and an agent that proposes 10 MB.
pub(crate) struct LargeChange {
    editor: Editor,
    agent: Agent,
    path: String,
    proposed: String,
    hub: BenchHub,
}

/// When the steps of one change were over, in milliseconds.
pub(crate) struct Steps {
    pub(crate) shown: f64,
    /// From the accept on.
    pub(crate) answered: f64,
    pub(crate) whole: f64,
}

impl LargeChange {
    pub(crate) fn start() -> Result<LargeChange> {
        let hub = BenchHub::start()?;
        let editor = Editor::on_socket(&hub.socket()?, &hub.workspace())?;
        let agent = Agent::introduced(&hub.endpoint(editor.port)?, BenchDialect::Claude)?;
        let path = hub.workspace().join("large.rs");
        fs::write(&path, large_text(false))?;
        let path = path.display().to_string();
        Ok(LargeChange { editor, agent, path, proposed: large_text(true), hub })
    }

    /// The number makes each change different.
    pub(crate) fn change(&mut self, number: u32) -> Result<Steps> {
        let frame = open_diff(&self.path, &format!("// {number}\n{}", self.proposed));
        let start = Instant::now();
        self.agent.send(&frame)?;
        let shown = self.editor.next_shown()?;
        let decided = Instant::now();
        self.editor.accept(&shown)?;
        let answer = self.agent.receive()?;
        let end = Instant::now();
        let answer = self.agent.start_of_answer(&answer);
        ensure!(answer.contains("FILE_SAVED"), "not accepted: {answer}");
        self.agent.expect(&tool("getWorkspaceFolders", serde_json::json!({})), "workspace")?;
        std::thread::sleep(SETTLE);
        Ok(Steps {
            shown: millis(shown.at - start),
            answered: millis(end - decided),
            whole: millis(end - start),
        })
    }
}

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let mut change = LargeChange::start()?;
    let echo = Role::websocket_echo(&change.hub)?;
    let mut echoed = Agent::websocket(echo.port, "")?;
    let (mut whole, mut shown_after, mut answered_after, mut floor) = (vec![], vec![], vec![], vec![]);
    for number in 0..effort.pick(9, 3) {
        let echo_frame = masked(TEXT, change.proposed.as_bytes());
        let start = Instant::now();
        echoed.call(&echo_frame)?;
        floor.push(millis(start.elapsed()));
        let steps = change.change(number)?;
        whole.push(steps.whole);
        shown_after.push(steps.shown);
        answered_after.push(steps.answered);
    }
    let note = format!(
        "{:.1} : {:.1} ms for {:.1} MB; shown after {:.1} ms, answer {:.1} ms after the accept",
        median(&whole),
        median(&floor),
        change.proposed.len() as f64 / 1e6,
        median(&shown_after),
        median(&answered_after),
    );
    let ratio = Spread::of_ratios(&whole, &floor);
    Ok(vec![Row::ratio("10 MB change, proposed → answered : WebSocket echo", ratio).at_most(2.0).note(note)])
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

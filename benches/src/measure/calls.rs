//! One small call after the other, client and server on one core: the hub's share of the latency is all that
//! differs from the floor.

use std::time::Instant;

use anyhow::Result;

use super::Effort;
use crate::agent::{Agent, Dialect, tool};
use crate::process::{Cores, cpu_time, pin, pin_here};
use crate::report::Row;
use crate::role::Role;
use crate::stats::{Spread, latencies, median};
use crate::world::World;

/// A server, as one client sees it.
struct Line<'a> {
    agent: Agent,
    frame: &'a [u8],
    server: u32,
    medians: Vec<f64>,
    tails: Vec<f64>,
    server_micros: Vec<f64>,
}

impl<'a> Line<'a> {
    fn new(agent: Agent, frame: &'a [u8], server: u32) -> Line<'a> {
        Line { agent, frame, server, medians: Vec::new(), tails: Vec::new(), server_micros: Vec::new() }
    }

    fn round(&mut self, calls: u32) -> Result<()> {
        let mut times = Vec::new();
        let before = cpu_time(self.server)?;
        for _ in 0..calls {
            let start = Instant::now();
            self.agent.call(self.frame)?;
            times.push(start.elapsed());
        }
        let spent = cpu_time(self.server)?.saturating_sub(before);
        let (middle, tail) = latencies(&times);
        self.medians.push(middle);
        self.tails.push(tail);
        self.server_micros.push(spent.as_secs_f64() * 1e6 / f64::from(calls));
        Ok(())
    }

    fn over(&self, what: &str, floor: &Line<'_>) -> Row {
        let note = format!(
            "p50 {:.1} : {:.1} µs, p99 {:.1} : {:.1} µs, server CPU {:.1} : {:.1} µs a call",
            median(&self.medians),
            median(&floor.medians),
            median(&self.tails),
            median(&floor.tails),
            median(&self.server_micros),
            median(&floor.server_micros),
        );
        Row::ratio(what, Spread::of_ratios(&self.medians, &floor.medians)).note(note)
    }
}

/// The reply to a frame, byte for byte: what a floor has to send.
fn reply(agent: &mut Agent, frame: &[u8]) -> Result<Vec<u8>> {
    let answer = agent.call(frame)?;
    Ok(agent.bytes(&answer.whole).to_vec())
}

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let world = World::start()?;
    let editor = Role::editor(&world)?;
    let relayed = Role::editor_behind_attach(&world)?;
    let agent = |role: &Role| Agent::introduced(&world.door(role.port)?, Dialect::Claude);

    let folders = tool("getWorkspaceFolders", serde_json::json!({}));
    let editors = tool("getOpenEditors", serde_json::json!({}));
    let mut first = agent(&editor)?;
    let folders_reply = reply(&mut first, &folders)?;
    let editors_reply = reply(&mut first, &editors)?;

    let raw = Role::raw(&world, folders.len(), &folders_reply)?;
    let two_hops = Role::two_hops(&world, editors.len(), &editors_reply)?;
    let everyone = [world.hub, editor.pid(), relayed.pid(), raw.pid(), two_hops.pid()];
    for pid in everyone.into_iter().chain(children(two_hops.pid())).chain(children(relayed.pid())) {
        pin(pid, Cores::First)?;
    }
    let _here = pin_here(Cores::First)?;

    let mut lines = [
        Line::new(Agent::bare(raw.port)?, &folders, raw.pid()),
        Line::new(first, &folders, world.hub),
        Line::new(Agent::bare(two_hops.port)?, &editors, two_hops.pid()),
        Line::new(agent(&editor)?, &editors, world.hub),
        Line::new(agent(&relayed)?, &editors, world.hub),
    ];
    for line in &mut lines {
        line.round(200)?;
        (line.medians, line.tails, line.server_micros) = Default::default();
    }
    // Short turns: whatever else the machine does meanwhile happens to all of them.
    for _ in 0..effort.pick(300, 60) {
        for line in &mut lines {
            line.round(150)?;
        }
    }
    let [raw, hub, two_hops, editor, relayed] = &lines;
    Ok(vec![
        hub.over("call answered by the hub, p50 : raw TCP", raw).at_most(1.10),
        editor.over("call answered by an editor, p50 : two raw hops", two_hops),
        relayed.over("the same through `linkspan attach` : two raw hops", two_hops),
    ])
}

fn children(pid: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

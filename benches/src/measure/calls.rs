//! One small call after the other, client and server on one core: the hub's share of the latency is all that
//! differs from the floor.

use anyhow::Result;

use super::Effort;
use crate::agent::{Agent, Dialect, tool};
use crate::call::Line;
use crate::process::{Cores, pin, pin_here};
use crate::report::Row;
use crate::role::Role;
use crate::stats::{Spread, median};
use crate::world::World;

/// Their latencies beside those of the floor.
pub(super) fn over(what: &str, ours: &Line, floor: &Line) -> Row {
    let note = format!(
        "p50 {:.1} : {:.1} µs, p99 {:.1} : {:.1} µs, server CPU {:.1} : {:.1} µs a call",
        median(&ours.medians),
        median(&floor.medians),
        median(&ours.tails),
        median(&floor.tails),
        median(&ours.server_micros),
        median(&floor.server_micros),
    );
    Row::ratio(what, Spread::of_ratios(&ours.medians, &floor.medians)).note(note)
}

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let world = World::start()?;
    let editor = Role::editor(&world)?;
    let relayed = Role::editor_behind_attach(&world)?;
    let folders = tool("getWorkspaceFolders", serde_json::json!({}));
    let editors = tool("getOpenEditors", serde_json::json!({}));
    let line = |role: &Role, frame: &[u8], says: &str| {
        let agent = Agent::introduced(&world.door(role.port)?, Dialect::Claude)?;
        Line::open(agent.into_stream(), frame.to_vec(), says, world.hub)
    };
    let hub = line(&editor, &folders, "workspace")?;
    let by_editor = line(&editor, &editors, "main.rs")?;
    let by_relayed = line(&relayed, &editors, "main.rs")?;

    let raw = Role::raw(&world, folders.len(), hub.answer())?;
    let two_hops = Role::two_hops(&world, editors.len(), by_editor.answer())?;
    let everyone = [world.hub, editor.pid(), relayed.pid(), raw.pid(), two_hops.pid()];
    for pid in everyone.into_iter().chain(children(two_hops.pid())).chain(children(relayed.pid())) {
        pin(pid, Cores::First)?;
    }
    let _here = pin_here(Cores::First)?;

    let bare = |role: &Role, frame: Vec<u8>, says: &str| {
        Line::open(Agent::bare(role.port)?.into_stream(), frame, says, role.pid())
    };
    let mut lines =
        [bare(&raw, folders, "workspace")?, hub, bare(&two_hops, editors, "main.rs")?, by_editor, by_relayed];
    for line in &mut lines {
        line.warm_up(200)?;
    }
    // Short turns: whatever else the machine does meanwhile happens to all of them.
    for _ in 0..effort.pick(300, 60) {
        for line in &mut lines {
            line.round(150)?;
        }
    }
    let [raw, hub, two_hops, editor, relayed] = &lines;
    Ok(vec![
        over("call answered by the hub, p50 : raw TCP", hub, raw).at_most(1.10),
        over("call answered by an editor, p50 : two raw hops", editor, two_hops),
        over("the same through `linkspan attach` : two raw hops", relayed, two_hops),
    ])
}

fn children(pid: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

//! One small call after the other, client and server on one core: the hub's share of the latency is the only difference
//! to the floor.

use anyhow::Result;

use super::Effort;
use crate::agent::{Agent, BenchDialect, tool};
use crate::bench_hub::BenchHub;
use crate::process::{Cores, pin, pin_here};
use crate::report::Row;
use crate::role::Role;
use crate::stats::{Spread, median};
use crate::timed_call::TimedConnection;

/// Their latencies and those of the floor.
pub(super) fn over(what: &str, ours: &TimedConnection, floor: &TimedConnection) -> Row {
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
    let hub = BenchHub::start()?;
    let editor = Role::editor(&hub)?;
    let relayed = Role::editor_behind_attach(&hub)?;
    let folders = tool("getWorkspaceFolders", serde_json::json!({}));
    let editors = tool("getOpenEditors", serde_json::json!({}));
    let line = |role: &Role, frame: &[u8], says: &str| {
        let agent = Agent::introduced(&hub.endpoint(role.port)?, BenchDialect::Claude)?;
        TimedConnection::open(agent.into_stream(), frame.to_vec(), says, hub.pid)
    };
    let by_hub = line(&editor, &folders, "workspace")?;
    let by_editor = line(&editor, &editors, "main.rs")?;
    let by_relayed = line(&relayed, &editors, "main.rs")?;

    let raw = Role::raw(&hub, folders.len(), by_hub.answer())?;
    let two_hops = Role::two_hops(&hub, editors.len(), by_editor.answer())?;
    let everyone = [hub.pid, editor.pid(), relayed.pid(), raw.pid(), two_hops.pid()];
    for pid in everyone.into_iter().chain(children(two_hops.pid())).chain(children(relayed.pid())) {
        pin(pid, Cores::First)?;
    }
    let _here = pin_here(Cores::First)?;

    let bare = |role: &Role, frame: Vec<u8>, says: &str| {
        TimedConnection::open(Agent::bare(role.port)?.into_stream(), frame, says, role.pid())
    };
    let mut lines = [
        bare(&raw, folders, "workspace")?,
        by_hub,
        bare(&two_hops, editors, "main.rs")?,
        by_editor,
        by_relayed,
    ];
    for line in &mut lines {
        line.warm_up(200)?;
    }
    // Short turns, so that other load of the machine affects all of them.
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

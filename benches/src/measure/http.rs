//! One small HTTP request after the other on one connection, client and server on one core: ppxai's bridge
//! compared with the same bytes over raw TCP, and with what a companion in Node is built on.

use anyhow::Result;
use serde_json::json;

use super::Effort;
use super::calls::over;
use crate::agent::Agent;
use crate::bench_hub::BenchHub;
use crate::peers::{Foreign, Streamable, small_call};
use crate::process::{Cores, pin, pin_here};
use crate::report::Row;
use crate::role::Role;
use crate::timed_call::{TimedConnection, post};

/// The call of ppxai's bridge, answered by the hub.
pub(crate) fn execute(port: u16) -> Vec<u8> {
    let body = json!({ "id": "1", "tool": "ide.get_workspace_info", "args": {} });
    post(port, "/ide/execute", "User-Agent: bench\r\n", &body)
}

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let hub = BenchHub::start()?;
    let editor = Role::editor(&hub)?;
    let request = execute(editor.port);
    let bare = |port: u16, server: u32| {
        TimedConnection::open(Agent::bare(port)?.into_stream(), request.clone(), "HTTP/1.1 200", server)
    };
    let by_hub = bare(editor.port, hub.pid)?;
    let raw = Role::raw(&hub, request.len(), by_hub.answer())?;
    let node = Foreign::NodeSdk.start(&hub, "workspace");
    pin(hub.pid, Cores::First)?;
    pin(raw.pid(), Cores::First)?;
    let _here = pin_here(Cores::First)?;
    let mut lines = vec![bare(raw.port, raw.pid())?, by_hub];
    if let Ok(node) = &node {
        pin(node.pid(), Cores::First)?;
        let (stream, request) = Streamable::begin(node.port, "")?.call(&small_call());
        lines.push(TimedConnection::open(stream, request, "HTTP/1.1 200", node.pid())?);
    }
    for line in &mut lines {
        line.warm_up(200)?;
    }
    // Short turns, so that other load of the machine affects all of them.
    for _ in 0..effort.pick(200, 40) {
        for line in &mut lines {
            line.round(50)?;
        }
    }
    let mut rows = Vec::new();
    if let [floor, hub, peers @ ..] = lines.as_slice() {
        rows.push(over("`POST /ide/execute`, p50 : raw TCP", hub, floor));
        for peer in peers {
            rows.push(over("a tool call by HTTP in Node's MCP SDK : `POST /ide/execute`, p50", peer, hub));
        }
    }
    if let Err(why) = &node {
        rows.push(Row::not_measured("a tool call by HTTP in Node's MCP SDK", format!("{why:#}")));
    }
    Ok(rows)
}

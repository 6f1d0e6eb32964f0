//! What an idle hub costs: memory, time, wake-ups.

use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;

use super::Effort;
use crate::agent::{Agent, BenchDialect, tool};
use crate::bench_hub::BenchHub;
use crate::editor::Editor;
use crate::process::{self, Memory, Sleeps, cpu_time};
use crate::report::Row;

const AGENTS: usize = 64;
/// Time for earlier work to finish.
const SETTLE: Duration = Duration::from_millis(500);
/// Threads for files stay for 10 s after their last work, in case there is more.
const THREADS_END: Duration = Duration::from_secs(11);

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let hub = BenchHub::start()?;
    let watch = effort.pick(Duration::from_secs(10), Duration::from_secs(2));
    let mut rows = vec![memory(&hub, "idle hub")?.at_most(6.0)];
    rows.extend(quiet(&hub, "idle hub", watch)?);
    let editor = Editor::on_socket(&hub.socket()?, &hub.workspace())?;
    rows.push(memory(&hub, "with one window")?);
    let endpoint = hub.endpoint(editor.port)?;
    let mut agents = (0..AGENTS)
        .map(|_| Agent::introduced(&endpoint, BenchDialect::Claude))
        .collect::<Result<Vec<_>>>()?;
    // Each has worked before it falls idle.
    for agent in &mut agents {
        agent.expect(&tool("getOpenEditors", serde_json::json!({})), "main.rs")?;
    }
    rows.push(memory(&hub, "with 64 agents")?.at_most(12.0));
    sleep(THREADS_END);
    rows.extend(quiet(&hub, "with 64 agents", watch)?);
    Ok(rows)
}

fn memory(hub: &BenchHub, what: &str) -> Result<Row> {
    sleep(SETTLE);
    let Memory { resident, own } = process::memory(hub.pid)?;
    let note = format!("{:.1} MB its own, the rest pages of the program files", own as f64 / 1e6);
    Ok(Row::one(format!("{what}: resident"), "MB", resident as f64 / 1e6).note(note))
}

fn quiet(hub: &BenchHub, what: &str, watch: Duration) -> Result<Vec<Row>> {
    let (sleeps, spent) = (Sleeps::of(hub.pid)?, cpu_time(hub.pid)?);
    sleep(watch);
    let woken = Sleeps::of(hub.pid)?.since(&sleeps);
    let spent = cpu_time(hub.pid)?.saturating_sub(spent);
    let note = format!("{woken} in {} s, {} µs of CPU", watch.as_secs(), spent.as_micros());
    let rate = woken as f64 / watch.as_secs_f64();
    Ok(vec![Row::one(format!("{what}: wake-ups"), "/s", rate).at_most(0.0).note(note)])
}

//! From the user's accept until the agent gets the outcome, with everything durable that must be, compared with the least
//! that a durable change of a file can cost.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::Effort;
use crate::agent::{Agent, BenchDialect, open_diff, tool};
use crate::bench_hub::BenchHub;
use crate::editor::Editor;
use crate::report::Row;
use crate::stats::{Spread, latencies, median};

const SIZE: usize = 4 * 1024;
/// After the answer, the hub records that it arrived; that is done by then.
const SETTLE: Duration = Duration::from_millis(8);

/// A text of 4 KB, different for each number.
fn text(number: u32) -> String {
    let mut text = format!("change {number:08}\n");
    while text.len() < SIZE {
        text += "a line of a file that is being reviewed\n";
    }
    text.truncate(SIZE - 1);
    text + "\n"
}

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let hub = BenchHub::start()?;
    let editor = Editor::on_socket(&hub.socket()?, &hub.workspace())?;
    let endpoint = hub.endpoint(editor.port)?;
    let mut claude = Agent::introduced(&endpoint, BenchDialect::Claude)?;
    let mut nexus3 = Agent::introduced(&endpoint, BenchDialect::Nexus3)?;
    let [bare, answered, written] =
        ["bare.txt", "told.txt", "written.txt"].map(|name| hub.workspace().join(name));
    for path in [&bare, &answered, &written] {
        fs::write(path, text(0))?;
    }
    let (mut floor, mut agent_writes, mut hub_writes) = (Vec::new(), Vec::new(), Vec::new());
    let mut number = 0;
    for _ in 0..effort.pick(30, 6) {
        let (mut bare_times, mut answered_times, mut written_times) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..5 {
            number += 1;
            let text = text(number);
            bare_times.push(durable_replace(&bare, text.as_bytes())?);
            answered_times.push(accepted(&mut claude, &editor, &answered, &text)?);
            written_times.push(accepted(&mut nexus3, &editor, &written, &text)?);
        }
        floor.push(latencies(&bare_times).0);
        agent_writes.push(latencies(&answered_times).0);
        hub_writes.push(latencies(&written_times).0);
    }
    anyhow::ensure!(
        fs::read_to_string(&written)? == text(number),
        "the last accepted change is not in its file"
    );
    let row = |what: &str, ours: &[f64]| {
        let note = format!("{:.0} : {:.0} µs", median(ours), median(&floor));
        Row::ratio(what, Spread::of_ratios(ours, &floor)).note(note)
    };
    Ok(vec![
        row("claude accept → agent answered, 4 KB : bare durable replace", &agent_writes).at_most(2.0),
        row("nexus3 accept → written, agent answered, 4 KB : bare durable replace", &hub_writes).at_most(2.0),
    ])
}

fn accepted(agent: &mut Agent, editor: &Editor, path: &Path, text: &str) -> Result<Duration> {
    agent.send(&open_diff(&path.display().to_string(), text))?;
    let shown = editor.next_shown()?;
    let start = Instant::now();
    editor.accept(&shown)?;
    let answer = agent.receive()?;
    let taken = start.elapsed();
    let answer = String::from_utf8_lossy(agent.bytes(&answer.payload)).into_owned();
    anyhow::ensure!(answer.contains("FILE_SAVED"), "not accepted: {answer}");
    // Another call shows the hub that the answer arrived.
    agent.expect(&tool("getWorkspaceFolders", serde_json::json!({})), "workspace")?;
    sleep(SETTLE);
    Ok(taken)
}

fn durable_replace(path: &Path, bytes: &[u8]) -> Result<Duration> {
    let start = Instant::now();
    let temporary = path.with_extension("new");
    let mut file = File::create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()?;
    Ok(start.elapsed())
}

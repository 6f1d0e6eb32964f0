//! Sixty-four agents at once, each with one call under way: how many calls a second. Server and clients have a
//! core each.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::Effort;
use crate::agent::{Agent, Dialect, tool};
use crate::frame::{Frames, PING, PONG, TEXT, masked};
use crate::process::{Cores, count, cpu_time, pin, pin_here};
use crate::report::Row;
use crate::role::Role;
use crate::stats::{Spread, median};
use crate::world::World;

const CLIENTS: usize = 64;

/// Long enough that starting and ending do not count.
const ROUND: Duration = Duration::from_millis(150);

/// One server with its clients.
struct Side {
    clients: Vec<TcpStream>,
    server: u32,
    per_second: Vec<f64>,
    server_micros: Vec<f64>,
    /// How much of the time the server was on a core. Well below 1, something else set the pace.
    busy: Vec<f64>,
}

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let world = World::start()?;
    let editor = Role::editor(&world)?;
    let door = world.door(editor.port)?;
    let frame = tool("getWorkspaceFolders", serde_json::json!({}));
    let mut agent = Agent::introduced(&door, Dialect::Claude)?;
    let answer = agent.call(&frame)?;
    let raw = Role::raw(&world, frame.len(), agent.bytes(&answer.whole))?;
    pin(world.hub, Cores::First)?;
    pin(raw.pid(), Cores::First)?;
    let _here = if count() > 1 { Some(pin_here(Cores::Second)?) } else { None };

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let bare = (0..CLIENTS).map(|_| Agent::bare(raw.port)).collect::<Result<Vec<_>>>()?;
    let start = Instant::now();
    let agents =
        (0..CLIENTS).map(|_| Agent::introduced(&door, Dialect::Claude)).collect::<Result<Vec<_>>>()?;
    let connecting = start.elapsed().as_secs_f64() * 1e3 / CLIENTS as f64;
    let (mut ours, mut floor) =
        (Side::new(&runtime, agents, world.hub)?, Side::new(&runtime, bare, raw.pid())?);
    for _ in 0..effort.pick(60, 10) {
        for side in [&mut floor, &mut ours] {
            side.round(&runtime, &frame)?;
        }
    }
    let note = format!(
        "{:.0} : {:.0} calls/s; servers on a core {:.0} : {:.0} % of the time, and far below 100 % the ratio says little",
        median(&ours.per_second),
        median(&floor.per_second),
        100.0 * median(&ours.busy),
        100.0 * median(&floor.busy),
    );
    let cost = Spread::of_ratios(&ours.server_micros, &floor.server_micros);
    let cost_note = format!("{:.2} : {:.2} µs", median(&ours.server_micros), median(&floor.server_micros));
    let ratio = Spread::of_ratios(&ours.per_second, &floor.per_second);
    Ok(vec![
        Row::ratio("64 clients, calls/s : raw TCP", ratio).at_least(0.85).note(note),
        Row::ratio("64 clients, server CPU a call : raw TCP", cost).note(cost_note),
        Row::one("an agent connects and introduces itself", "ms", connecting).note("one after the other"),
    ])
}

impl Side {
    fn new(runtime: &Runtime, agents: Vec<Agent>, server: u32) -> Result<Side> {
        let _inside = runtime.enter();
        let mut clients = Vec::new();
        for agent in agents {
            let stream = agent.into_stream();
            stream.set_nonblocking(true)?;
            clients.push(TcpStream::from_std(stream)?);
        }
        Ok(Side { clients, server, per_second: Vec::new(), server_micros: Vec::new(), busy: Vec::new() })
    }

    fn round(&mut self, runtime: &Runtime, frame: &[u8]) -> Result<()> {
        let before = cpu_time(self.server)?;
        let start = Instant::now();
        let mut calls = 0;
        runtime.block_on(async {
            let mut under_way = JoinSet::new();
            for stream in self.clients.drain(..) {
                under_way.spawn(client(stream, frame.to_vec(), start + ROUND));
            }
            while let Some(done) = under_way.join_next().await {
                let (stream, count) = done??;
                self.clients.push(stream);
                calls += count;
            }
            Ok::<(), anyhow::Error>(())
        })?;
        let taken = start.elapsed().as_secs_f64();
        let spent = cpu_time(self.server)?.saturating_sub(before);
        self.busy.push(spent.as_secs_f64() / taken);
        self.per_second.push(f64::from(calls) / taken);
        self.server_micros.push(spent.as_secs_f64() * 1e6 / f64::from(calls));
        Ok(())
    }
}

async fn client(mut stream: TcpStream, frame: Vec<u8>, end: Instant) -> Result<(TcpStream, u32)> {
    let mut frames = Frames::new();
    let mut calls = 0;
    while Instant::now() < end {
        stream.write_all(&frame).await?;
        loop {
            match frames.next() {
                Some(frame) if frame.opcode == TEXT => break,
                Some(frame) if frame.opcode == PING => stream.write_all(&masked(PONG, b"")).await?,
                Some(_) => bail!("the server closed the connection"),
                None => {
                    let count = stream.read(frames.room()).await?;
                    ensure!(count > 0, "the server hung up");
                    frames.filled(count);
                }
            }
        }
        calls += 1;
    }
    Ok((stream, calls))
}

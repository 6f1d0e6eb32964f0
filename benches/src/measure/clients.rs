//! Sixty-four agents at once, each with one call under way: how many calls a second. Server and clients have a
//! core each.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::Effort;
use crate::agent::{Agent, Dialect, tool};
use crate::frame::{Frames, PING, PONG, TEXT, masked};
use crate::process::{Cores, count, cpu_time, pin, pin_here};
use crate::report::Row;
use crate::role::Role;
use crate::stats::Spread;
use crate::world::World;

const CLIENTS: usize = 64;

#[derive(Default)]
struct Rounds {
    per_second: Vec<f64>,
    server_micros: Vec<f64>,
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

    let (mut ours, mut floor) = (Rounds::default(), Rounds::default());
    let length = effort.pick(Duration::from_millis(1000), Duration::from_millis(400));
    for _ in 0..effort.pick(9, 3) {
        let bare = (0..CLIENTS).map(|_| Agent::bare(raw.port)).collect::<Result<Vec<_>>>()?;
        round(bare, &frame, raw.pid(), length, &mut floor)?;
        let agents = (0..CLIENTS).map(|_| Agent::introduced(&door, Dialect::Claude));
        round(agents.collect::<Result<Vec<_>>>()?, &frame, world.hub, length, &mut ours)?;
    }
    let of = |values: &[f64]| Spread::of(values.to_vec()).median;
    let note = format!(
        "{:.0} : {:.0} calls/s, server CPU {:.2} : {:.2} µs a call",
        of(&ours.per_second),
        of(&floor.per_second),
        of(&ours.server_micros),
        of(&floor.server_micros),
    );
    let ratio = Spread::of_ratios(&ours.per_second, &floor.per_second);
    Ok(vec![Row::ratio("64 clients, calls/s : raw TCP", ratio).at_least(0.85).note(note)])
}

fn round(agents: Vec<Agent>, frame: &[u8], server: u32, length: Duration, rounds: &mut Rounds) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let before = cpu_time(server)?;
    let start = Instant::now();
    let calls = runtime.block_on(async {
        let mut clients = JoinSet::new();
        for agent in agents {
            let stream = agent.into_stream();
            stream.set_nonblocking(true)?;
            clients.spawn(client(TcpStream::from_std(stream)?, frame.to_vec(), start + length));
        }
        let mut calls = 0;
        while let Some(done) = clients.join_next().await {
            calls += done??;
        }
        Ok::<u32, anyhow::Error>(calls)
    })?;
    let taken = start.elapsed().as_secs_f64();
    let spent = cpu_time(server)?.saturating_sub(before);
    rounds.per_second.push(f64::from(calls) / taken);
    rounds.server_micros.push(spent.as_secs_f64() * 1e6 / f64::from(calls));
    Ok(())
}

async fn client(mut stream: TcpStream, frame: Vec<u8>, end: Instant) -> Result<u32> {
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
    Ok(calls)
}

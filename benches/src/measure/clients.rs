//! Sixty-four agents at once, each with one open call: how many calls per second. Server and clients have a
//! core each.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Effort;
use crate::agent::{ANSWER_DEADLINE, Agent, BenchDialect, tool};
use crate::bench_hub::BenchHub;
use crate::frame::{PONG, masked};
use crate::process::{Cores, count, cpu_time, pin, pin_here};
use crate::report::Row;
use crate::role::Role;
use crate::stats::{Spread, median};
use crate::timed_call::{AnswerState, Call, ReceiveBuffer, TimedConnection};

pub(crate) const CLIENTS: usize = 64;

/// Long enough that starting and ending do not count.
const ROUND: Duration = Duration::from_millis(150);

/// One of many on a server.
struct Client {
    stream: TcpStream,
    call: Call,
    arrived: ReceiveBuffer,
}

/// One server with its clients.
pub(crate) struct Side {
    clients: Vec<Client>,
    server: u32,
    pub(crate) per_second: Vec<f64>,
    pub(crate) server_micros: Vec<f64>,
    /// Share of the time that the server was on a core. Well below 1, something else was the bottleneck.
    pub(crate) busy: Vec<f64>,
}

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let hub = BenchHub::start()?;
    let editor = Role::editor(&hub)?;
    let endpoint = hub.endpoint(editor.port)?;
    let frame = tool("getWorkspaceFolders", serde_json::json!({}));
    let introduced = || {
        let agent = Agent::introduced(&endpoint, BenchDialect::Claude)?;
        TimedConnection::open(agent.into_stream(), frame.clone(), "workspace", hub.pid)
    };
    let raw = Role::raw(&hub, frame.len(), introduced()?.answer())?;
    pin(hub.pid, Cores::First)?;
    pin(raw.pid(), Cores::First)?;
    let _here = if count() > 1 { Some(pin_here(Cores::Second)?) } else { None };

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let bare =
        || TimedConnection::open(Agent::bare(raw.port)?.into_stream(), frame.clone(), "workspace", raw.pid());
    let mut floor = Side::new(&runtime, raw.pid(), bare)?;
    let start = Instant::now();
    let mut ours = Side::new(&runtime, hub.pid, introduced)?;
    let connecting = start.elapsed().as_secs_f64() * 1e3 / CLIENTS as f64;
    for _ in 0..effort.pick(60, 10) {
        for side in [&mut floor, &mut ours] {
            side.round(&runtime)?;
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
        Row::one("an agent connects, introduces itself and calls once", "ms", connecting)
            .note("one after the other"),
    ])
}

impl Side {
    pub(crate) fn new(
        runtime: &Runtime,
        server: u32,
        connect: impl Fn() -> Result<TimedConnection>,
    ) -> Result<Side> {
        let _inside = runtime.enter();
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            let (stream, call) = connect()?.into_parts();
            stream.set_nonblocking(true)?;
            clients.push(Client {
                stream: TcpStream::from_std(stream)?,
                call,
                arrived: ReceiveBuffer::default(),
            });
        }
        Ok(Side { clients, server, per_second: Vec::new(), server_micros: Vec::new(), busy: Vec::new() })
    }

    pub(crate) fn round(&mut self, runtime: &Runtime) -> Result<()> {
        let before = cpu_time(self.server)?;
        let start = Instant::now();
        let mut calls = 0;
        let all = async {
            let mut under_way = JoinSet::new();
            for client in self.clients.drain(..) {
                under_way.spawn(client.work(start + ROUND));
            }
            while let Some(done) = under_way.join_next().await {
                let (client, count) = done??;
                self.clients.push(client);
                calls += count;
            }
            Ok::<(), anyhow::Error>(())
        };
        runtime.block_on(async {
            timeout(ROUND + ANSWER_DEADLINE, all).await.context("a client got no answer")?
        })?;
        let taken = start.elapsed().as_secs_f64();
        let spent = cpu_time(self.server)?.saturating_sub(before);
        self.busy.push(spent.as_secs_f64() / taken);
        self.per_second.push(f64::from(calls) / taken);
        self.server_micros.push(spent.as_secs_f64() * 1e6 / f64::from(calls));
        Ok(())
    }
}

impl Client {
    async fn work(mut self, end: Instant) -> Result<(Client, u32)> {
        let mut calls = 0;
        while Instant::now() < end {
            self.stream.write_all(&self.call.request).await?;
            loop {
                match self.arrived.look_for(&self.call) {
                    AnswerState::Whole => break,
                    AnswerState::Ping => self.stream.write_all(&masked(PONG, b"")).await?,
                    AnswerState::Part => {
                        let count = self.stream.read(self.arrived.room()).await?;
                        self.arrived.filled(count)?;
                    }
                }
            }
            self.call.check(&mut self.arrived)?;
            calls += 1;
        }
        Ok((self, calls))
    }
}

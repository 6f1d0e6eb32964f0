//! All servers in turns, round by round, so that other load of the machine affects all of them.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::contender::{Contender, RunningServer, Setting};
use crate::agent::Agent;
use crate::frame::{TEXT, masked};
use crate::measure::Effort;
use crate::measure::clients::Side;
use crate::measure::large::{LargeChange, large_text};
use crate::process::{Cores, Sleeps, count, memory, pin, pin_here};
use crate::role::Role;
use crate::timed_call::TimedConnection;

/// The hub's threads for files stay for 10 s after their last work, in case there is more.
const SETTLE: Duration = Duration::from_secs(11);
/// Time for what has just been started.
const CATCH_BREATH: Duration = Duration::from_millis(500);

/// What was measured of one server; vectors have a number for each round.
#[derive(Debug)]
pub(super) struct Figures {
    pub(super) contender: Contender,
    /// From the start of the process to its first answer.
    pub(super) start_ms: Vec<f64>,
    pub(super) idle_mb: f64,
    pub(super) wake_ups: f64,
    pub(super) p50_micros: Vec<f64>,
    /// With as many clients as `Side` has; so the three after it.
    pub(super) per_second: Vec<f64>,
    pub(super) cpu_micros: Vec<f64>,
    pub(super) busy: Vec<f64>,
    pub(super) attached_mb: f64,
    /// Ten megabytes there and back; none where nothing like it exists.
    pub(super) large_ms: Vec<f64>,
}

/// Every server that could be measured, and why the others could not.
pub(super) struct Compared {
    pub(super) figures: Vec<Figures>,
    pub(super) missing: Vec<String>,
}

impl Compared {
    pub(super) fn of(&self, contender: Contender) -> Option<&Figures> {
        self.figures.iter().find(|figures| figures.contender == contender)
    }
}

pub(super) fn compare(effort: Effort, progress: &dyn Fn(&str)) -> Result<Compared> {
    let setting = Setting::new()?;
    let (mut running, mut missing) = (Vec::new(), Vec::new());
    for contender in Contender::ALL {
        match contender.start(&setting) {
            Ok(server) => running.push(server),
            Err(why) => missing.push(format!("{}: {why:#}", contender.name())),
        }
    }
    progress("memory and wake-ups of idle servers");
    let (idle, wake_ups) = at_rest(&running, effort)?;
    progress("from start to first call");
    let starts = starts(&running, &setting, effort)?;
    progress("10 MB there and back");
    let large = large(&running, &setting, effort)?;
    for server in &running {
        pin(server.pid(), Cores::First)?;
    }
    progress("one client");
    let singles = one_client(&running, effort)?;
    progress("64 clients");
    let crowds = many_clients(&running, effort)?;

    let mut figures = Vec::new();
    let each = running.iter().zip(idle).zip(wake_ups).zip(starts).zip(large).zip(singles).zip(crowds);
    for ((((((server, idle_mb), wake_ups), start_ms), large_ms), single), (crowd, attached_mb)) in each {
        let Side { per_second, server_micros: cpu_micros, busy, .. } = crowd;
        figures.push(Figures {
            contender: server.contender,
            start_ms,
            idle_mb,
            wake_ups,
            p50_micros: single.medians,
            per_second,
            cpu_micros,
            busy,
            attached_mb,
            large_ms,
        });
    }
    Ok(Compared { figures, missing })
}

fn megabytes(server: &RunningServer) -> Result<f64> {
    Ok(memory(server.pid())?.resident as f64 / 1e6)
}

/// Resident megabytes and wake-ups a second of each, all watched at once.
fn at_rest(running: &[RunningServer], effort: Effort) -> Result<(Vec<f64>, Vec<f64>)> {
    sleep(SETTLE);
    let watch = effort.pick(Duration::from_secs(5), Duration::from_secs(1));
    let before = running.iter().map(|server| Sleeps::of(server.pid())).collect::<Result<Vec<_>>>()?;
    sleep(watch);
    let mut rates = Vec::new();
    for (server, before) in running.iter().zip(&before) {
        rates.push(Sleeps::of(server.pid())?.since(before) as f64 / watch.as_secs_f64());
    }
    Ok((running.iter().map(megabytes).collect::<Result<Vec<_>>>()?, rates))
}

fn starts(running: &[RunningServer], setting: &Setting, effort: Effort) -> Result<Vec<Vec<f64>>> {
    let mut times = vec![Vec::new(); running.len()];
    for round in 0..=effort.pick(9, 3) {
        for (server, times) in running.iter().zip(&mut times) {
            let start = Instant::now();
            let fresh = server.contender.start(setting)?;
            let _line = fresh.line().with_context(|| server.name())?;
            let taken = start.elapsed();
            // The first brings the programs into memory.
            if round > 0 {
                times.push(taken.as_secs_f64() * 1e3);
            }
        }
    }
    Ok(times)
}

/// In separate processes: one that has handled ten megabytes keeps some of that memory.
fn large(running: &[RunningServer], setting: &Setting, effort: Effort) -> Result<Vec<Vec<f64>>> {
    let text = large_text(true);
    let frame = masked(TEXT, text.as_bytes());
    let raw = Role::raw(&setting.hub, frame.len(), &frame)?;
    let mut desk = LargeChange::start()?;
    let (mut fresh, mut lines, mut times) = (Vec::new(), Vec::new(), Vec::new());
    for server in running {
        times.push(Vec::new());
        lines.push(match server.contender {
            Contender::RawTcp => {
                let stream = Agent::bare(raw.port)?.into_stream();
                Some(TimedConnection::open(stream, frame.clone(), "", raw.pid())?)
            }
            ours if ours.is_ours() => None,
            peer => {
                let server = peer.start(setting)?;
                let line = server.echoing(&text).with_context(|| server.name())?;
                fresh.push(server);
                line
            }
        });
    }
    for round in 0..effort.pick(9, 3) {
        for ((server, line), times) in running.iter().zip(&mut lines).zip(&mut times) {
            match line {
                Some(line) => {
                    times.push(line.call().with_context(|| server.name())?.as_secs_f64() * 1e3);
                }
                None if server.contender == Contender::HubSocket => times.push(desk.change(round)?.whole),
                None => {}
            }
        }
    }
    Ok(times)
}

fn one_client(running: &[RunningServer], effort: Effort) -> Result<Vec<TimedConnection>> {
    let _here = pin_here(Cores::First)?;
    let mut lines = Vec::new();
    for server in running {
        lines.push(server.line().with_context(|| server.name())?);
    }
    // Short turns, so that other load of the machine affects all of them. The first do not count: just-in-time
    // compilers work in them.
    for round in 0..effort.pick(250, 40) {
        for (server, line) in running.iter().zip(&mut lines) {
            let done = if round < effort.pick(50, 10) { line.warm_up(50) } else { line.round(50) };
            done.with_context(|| server.name())?;
        }
    }
    Ok(lines)
}

/// With its megabytes while all are attached.
fn many_clients(running: &[RunningServer], effort: Effort) -> Result<Vec<(Side, f64)>> {
    let _here = if count() > 1 { Some(pin_here(Cores::Second)?) } else { None };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut sides = Vec::new();
    for server in running {
        let side = Side::new(&runtime, server.pid(), || server.line()).with_context(|| server.name())?;
        sleep(CATCH_BREATH);
        sides.push((side, megabytes(server)?));
    }
    for _ in 0..effort.pick(30, 6) {
        for (server, (side, _)) in running.iter().zip(&mut sides) {
            side.round(&runtime).with_context(|| server.name())?;
        }
    }
    Ok(sides)
}

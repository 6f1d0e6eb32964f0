//! The cost of one more agent, window or pending review: the same small operations are measured with 1, 10, 100 and more
//! of them, in turns with another hub that has ten, so that other load of the machine affects both.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::connection::LoadEvent;
use super::crowd::{Crowd, decide, propose};
use super::ledger::Ledger;
use super::prober::small_call;
use super::report::{Report, mib, time};
use super::{CONFIG, Size, progress, text};
use crate::agent::{Agent, BenchDialect};
use crate::bench_hub::BenchHub;
use crate::process::{cpu_time, descriptors, memory};
use crate::stats::{Spread, latencies, median};

const ROUNDS: usize = 11;
const CALLS: usize = 100;
const JOURNEYS: usize = 3;

/// Bound of the ratio to the hub with ten. On a noisy machine a factor of two means nothing; what is not flat grows a
/// hundredfold.
const FLAT: f64 = 4.0;

/// The bound for adding one more, which is not measured in turns.
const FLAT_OVER_TIME: f64 = 10.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thing {
    Agent,
    Window,
    Review,
}

impl Thing {
    pub(crate) const ALL: [Thing; 3] = [Thing::Agent, Thing::Window, Thing::Review];

    fn name(self) -> &'static str {
        match self {
            Thing::Agent => "agents in one window",
            Thing::Window => "windows",
            Thing::Review => "pending reviews of 4 KB",
        }
    }

    /// The memory limit for one more: buffers and names, and both texts of a review.
    fn most_kib(self) -> f64 {
        match self {
            Thing::Agent => 64.0,
            Thing::Window => 96.0,
            Thing::Review => 48.0,
        }
    }

    fn levels(self, size: Size) -> &'static [usize] {
        match (self, size) {
            (Thing::Review, Size::Full) => &[1, 10, 100, 1000, 10_000],
            (_, Size::Full) => &[1, 10, 100, 1000],
            (Thing::Review, Size::Quick) => &[1, 10, 100, 1000],
            (_, Size::Quick) => &[1, 10, 100],
        }
    }
}

/// Measurements of the small operations, in the order of [`SMALL`], round by round.
type Rounds = [Vec<f64>; 5];

const SMALL: [&str; 5] =
    ["small call p50", "CPU a call", "proposal → shown p50", "decide → answered p50", "CPU a journey"];

/// The measurements at one count.
struct Level {
    count: usize,
    /// Average time to add one more.
    adding: f64,
    here: Rounds,
    with_ten: Rounds,
    status: f64,
    list: f64,
    memory: u64,
    descriptors: usize,
}

pub(crate) async fn measure(thing: Thing, size: Size, report: &mut Report) -> Result<()> {
    let mut ten = GrowthFixture::new(thing).await?;
    ten.grow_to(10).await?;
    let mut fixture = GrowthFixture::new(thing).await?;
    let mut levels = Vec::new();
    for count in thing.levels(size) {
        progress(&format!("{count} {}", thing.name()));
        let before = fixture.size();
        let start = Instant::now();
        fixture.grow_to(*count).await?;
        let adding = start.elapsed().as_secs_f64() / (count - before).max(1) as f64;
        sleep(Duration::from_millis(300)).await;
        let (mut here, mut with_ten) = (Rounds::default(), Rounds::default());
        for _ in 0..ROUNDS {
            ten.round(&mut with_ten).await?;
            fixture.round(&mut here).await?;
        }
        levels.push(Level {
            count: *count,
            adding,
            here,
            with_ten,
            status: fixture.command(&["status", "--json"]).await?,
            list: fixture.command(&["reviews", "--json"]).await?,
            memory: memory(fixture.hub.pid)?.own,
            descriptors: descriptors(fixture.hub.pid)?,
        });
    }
    report.all_broken(&mut ten.ledger.broken);
    report.all_broken(&mut fixture.ledger.broken);
    tell(thing, &levels, report);
    Ok(())
}

struct GrowthFixture {
    thing: Thing,
    hub: BenchHub,
    crowd: Crowd,
    /// The agent whose changes are measured, besides the pending ones.
    courier: usize,
    ledger: Ledger,
    next_call: u64,
    pending: usize,
}

/// Agents that share the proposing of pending reviews.
const PROPOSERS: usize = 40;

impl GrowthFixture {
    async fn new(thing: Thing) -> Result<GrowthFixture> {
        let hub = BenchHub::start_with(CONFIG)?;
        let mut crowd = Crowd::new();
        crowd.windows_to(&hub, if thing == Thing::Review { 10 } else { 1 }).await?;
        crowd.agents_to(if thing == Thing::Review { PROPOSERS + 1 } else { 1 }).await?;
        let courier = crowd.agents.len() - 1;
        Ok(GrowthFixture { thing, hub, crowd, courier, ledger: Ledger::default(), next_call: 1, pending: 0 })
    }

    /// How many there are, without the few that measure.
    fn size(&self) -> usize {
        match self.thing {
            Thing::Agent => self.crowd.agents.len() - 1,
            Thing::Window => self.crowd.windows.len() - 1,
            Thing::Review => self.pending,
        }
    }

    async fn grow_to(&mut self, count: usize) -> Result<()> {
        match self.thing {
            Thing::Agent => self.crowd.agents_to(count + 1).await,
            Thing::Window => self.crowd.windows_to(&self.hub, count + 1).await,
            Thing::Review => {
                while self.pending < count {
                    let together = (count - self.pending).min(32);
                    for number in 0..together {
                        self.ask((self.pending + number) % PROPOSERS)?;
                    }
                    for _ in 0..together {
                        self.next_shown().await?;
                    }
                    self.pending += together;
                }
                Ok(())
            }
        }
    }

    fn ask(&mut self, agent: usize) -> Result<PathBuf> {
        let load_agent = self.crowd.agents.get(agent).context("no such agent")?;
        let window = self.crowd.windows.get(load_agent.window).context("no such window")?;
        let call = self.next_call;
        self.next_call += 1;
        let path = window.folder.join(format!("{call}.txt"));
        let texts = [text(call, 0), text(call, 1)];
        fs::write(&path, &texts[0])?;
        let frame = propose(call, &path.display().to_string(), &texts[1]);
        self.ledger.asked(&path, agent, load_agent.dialect, call, texts);
        load_agent.sender.send(frame)?;
        Ok(path)
    }

    async fn next_shown(&mut self) -> Result<(usize, String, u32, PathBuf)> {
        loop {
            match self.crowd.next().await? {
                LoadEvent::Shown { window, review, revision, path, at } => {
                    self.ledger.shown(&path, at);
                    return Ok((window, review, revision, path));
                }
                LoadEvent::Decided { .. } | LoadEvent::Selected { .. } => {}
                other => anyhow::bail!("received {other:?} instead of a review"),
            }
        }
    }

    /// One change: proposed, shown, accepted, answered.
    async fn journey(&mut self) -> Result<[f64; 2]> {
        let asked = self.ask(self.courier)?;
        let (window, review, revision, path) = self.next_shown().await?;
        ensure!(path == asked, "a different change than the proposed one was shown");
        self.ledger.decided(&path, true);
        let frame = decide(&review, revision, true);
        self.crowd.windows.get(window).context("no such window")?.sender.send(frame)?;
        loop {
            match self.crowd.next().await? {
                LoadEvent::Answered { agent, call, texts, at } => {
                    self.ledger.answered(agent, call, &texts, at);
                    let change = self.ledger.get(&path).context("an unknown change")?;
                    let shown = change.shown.context("not shown")? - change.asked;
                    let answered = at - change.decided.context("not decided")?.0;
                    return Ok([shown.as_secs_f64(), answered.as_secs_f64()]);
                }
                LoadEvent::Decided { .. } | LoadEvent::Selected { .. } => {}
                other => anyhow::bail!("received {other:?} instead of an answer"),
            }
        }
    }

    /// How long a command takes, while everyone answers.
    async fn command(&self, args: &'static [&'static str]) -> Result<f64> {
        let mut times = Vec::new();
        for _ in 0..5 {
            let mut command = self.hub.command(self.hub.program());
            let start = Instant::now();
            let output = spawn_blocking(move || command.args(args).output()).await??;
            ensure!(
                output.status.success(),
                "linkspan {args:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            times.push(start.elapsed().as_secs_f64());
        }
        Ok(median(&times))
    }

    async fn round(&mut self, rounds: &mut Rounds) -> Result<()> {
        let hub = self.hub.pid;
        let (mut shown, mut answered) = (Vec::new(), Vec::new());
        let before = cpu_time(hub)?;
        for _ in 0..JOURNEYS {
            let [until_shown, until_answered] = self.journey().await?;
            shown.push(until_shown);
            answered.push(until_answered);
        }
        let journey = cpu_time(hub)?.saturating_sub(before).as_secs_f64() / JOURNEYS as f64;
        let endpoint = &self.crowd.windows.first().context("no window")?.endpoint;
        let mut caller = Agent::introduced(endpoint, BenchDialect::Claude)?;
        small_call(&mut caller)?;
        let before = cpu_time(hub)?;
        let times = (0..CALLS).map(|_| small_call(&mut caller)).collect::<Result<Vec<_>>>()?;
        let call = cpu_time(hub)?.saturating_sub(before).as_secs_f64() / CALLS as f64;
        let measured = [latencies(&times).0 / 1e6, call, median(&shown), median(&answered), journey];
        rounds.iter_mut().zip(measured).for_each(|(all, one)| all.push(one));
        Ok(())
    }
}

fn tell(thing: Thing, levels: &[Level], report: &mut Report) {
    report.say(&format!("### With 1, 10, 100 … {}", thing.name()));
    let mut header = vec![thing.name(), "one more takes"];
    header.extend(SMALL);
    header.extend(["`status`", "`reviews`", "memory of the hub", "descriptors"]);
    let rows: Vec<Vec<String>> = levels.iter().map(Level::row).collect();
    report.table(&header, &rows);
    let Some(ten) = levels.iter().find(|level| level.count == 10) else { return };
    let mut rows = Vec::new();
    for (before, level) in levels.iter().zip(levels.iter().skip(1)).filter(|(_, level)| level.count > 10) {
        let more = (level.count - before.count) as f64;
        let kib = (level.memory as f64 - before.memory as f64) / 1024.0 / more;
        let mut ratios = vec![("adding one more", level.adding / ten.adding, FLAT_OVER_TIME)];
        ratios.extend(SMALL.into_iter().zip(level.over_ten()).map(|(what, ratio)| (what, ratio, FLAT)));
        let mut row = vec![format!("{} : 10", level.count)];
        row.extend(ratios.iter().map(|(_, ratio, _)| format!("{ratio:.2}")));
        row.push(format!("{:.3} µs", (level.call() - before.call()) * 1e6 / more));
        row.push(format!("{kib:.1} KiB"));
        rows.push(row);
        for (what, ratio, bound) in ratios.iter().filter(|(_, ratio, bound)| ratio > bound) {
            report.broken(format!(
                "{} {}: {what} is {ratio:.1} times what it is with 10 (bound {bound})",
                level.count,
                thing.name()
            ));
        }
        if level.count >= 1000 && kib > thing.most_kib() {
            report.broken(format!(
                "one more of {} costs {kib:.1} KiB (bound {})",
                thing.name(),
                thing.most_kib()
            ));
        }
    }
    report.say(&format!(
        "Ratio to the same with ten, in turns (bound {FLAT}; {FLAT_OVER_TIME} for adding, and {} KiB for one more):",
        thing.most_kib()
    ));
    let mut header = vec!["ratio", "one more takes"];
    header.extend(SMALL);
    header.extend(["a call, for one more", "memory, for one more"]);
    report.table(&header, &rows);
}

impl Level {
    fn row(&self) -> Vec<String> {
        let mut row = vec![self.count.to_string(), time(self.adding)];
        row.extend(self.here.iter().map(|rounds| time(median(rounds))));
        row.extend([time(self.status), time(self.list), mib(self.memory), self.descriptors.to_string()]);
        row
    }

    fn call(&self) -> f64 {
        self.here.first().map_or(f64::NAN, |rounds| median(rounds))
    }

    fn over_ten(&self) -> impl Iterator<Item = f64> {
        self.here.iter().zip(&self.with_ten).map(|(here, ten)| Spread::of_ratios(here, ten).median)
    }
}

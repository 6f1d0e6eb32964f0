//! What one more agent, window or pending review costs: the same small things are done beside 1, 10, 100 and more of
//! them, in turns with another hub that has ten, so that what the machine does meanwhile happens to both.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::crowd::{Crowd, decide, propose};
use super::ledger::Ledger;
use super::line::Heard;
use super::prober::small_call;
use super::report::{Report, mib, time};
use super::{CONFIG, Size, progress, text};
use crate::agent::{Agent, Dialect};
use crate::process::{cpu_time, descriptors, memory};
use crate::stats::{Spread, latencies, median};
use crate::world::World;

const ROUNDS: usize = 11;
const CALLS: usize = 100;
const JOURNEYS: usize = 3;

/// At most so many times what it is beside ten. On a noisy machine twice as much says nothing; what is not flat grows
/// a hundredfold.
const FLAT: f64 = 4.0;

/// For how long one more takes, which is not measured in turns.
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

    /// What one more may cost the hub in memory: buffers and names, and both texts of a review.
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

/// Small things that were done, in the order of [`SMALL`], round by round.
type Rounds = [Vec<f64>; 5];

const SMALL: [&str; 5] =
    ["small call p50", "CPU a call", "proposal → shown p50", "decide → told p50", "CPU a journey"];

/// What was measured beside so many.
struct Level {
    count: usize,
    /// Until one more is there, in the time that it takes to add them.
    adding: f64,
    here: Rounds,
    beside_ten: Rounds,
    status: f64,
    list: f64,
    memory: u64,
    descriptors: usize,
}

pub(crate) async fn measure(thing: Thing, size: Size, report: &mut Report) -> Result<()> {
    let mut ten = Stage::new(thing).await?;
    ten.grow_to(10).await?;
    let mut stage = Stage::new(thing).await?;
    let mut levels = Vec::new();
    for count in thing.levels(size) {
        progress(&format!("{count} {}", thing.name()));
        let before = stage.size();
        let start = Instant::now();
        stage.grow_to(*count).await?;
        let adding = start.elapsed().as_secs_f64() / (count - before).max(1) as f64;
        sleep(Duration::from_millis(300)).await;
        let (mut here, mut beside_ten) = (Rounds::default(), Rounds::default());
        for _ in 0..ROUNDS {
            ten.round(&mut beside_ten).await?;
            stage.round(&mut here).await?;
        }
        levels.push(Level {
            count: *count,
            adding,
            here,
            beside_ten,
            status: stage.command(&["status", "--json"]).await?,
            list: stage.command(&["reviews", "--json"]).await?,
            memory: memory(stage.world.hub)?.own,
            descriptors: descriptors(stage.world.hub)?,
        });
    }
    report.all_broken(&mut ten.ledger.broken);
    report.all_broken(&mut stage.ledger.broken);
    tell(thing, &levels, report);
    Ok(())
}

struct Stage {
    thing: Thing,
    world: World,
    crowd: Crowd,
    /// Proposes, besides what is pending.
    courier: usize,
    ledger: Ledger,
    next_call: u64,
    pending: usize,
}

/// Each proposes a share of the reviews.
const PROPOSERS: usize = 40;

impl Stage {
    async fn new(thing: Thing) -> Result<Stage> {
        let world = World::start_with(CONFIG)?;
        let mut crowd = Crowd::new();
        crowd.windows_to(&world, if thing == Thing::Review { 10 } else { 1 }).await?;
        crowd.agents_to(if thing == Thing::Review { PROPOSERS + 1 } else { 1 }).await?;
        let courier = crowd.agents.len() - 1;
        Ok(Stage { thing, world, crowd, courier, ledger: Ledger::default(), next_call: 1, pending: 0 })
    }

    /// How many there are, besides the few that measure.
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
            Thing::Window => self.crowd.windows_to(&self.world, count + 1).await,
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
        let seat = self.crowd.agents.get(agent).context("no such agent")?;
        let window = self.crowd.windows.get(seat.window).context("no such window")?;
        let call = self.next_call;
        self.next_call += 1;
        let path = window.folder.join(format!("{call}.txt"));
        let texts = [text(call, 0), text(call, 1)];
        fs::write(&path, &texts[0])?;
        let frame = propose(call, &path.display().to_string(), &texts[1]);
        self.ledger.asked(&path, agent, seat.dialect, call, texts);
        seat.speak.send(frame)?;
        Ok(path)
    }

    async fn next_shown(&mut self) -> Result<(usize, String, u32, PathBuf)> {
        loop {
            match self.crowd.next().await? {
                Heard::Shown { window, review, revision, path, at } => {
                    self.ledger.shown(&path, at);
                    return Ok((window, review, revision, path));
                }
                Heard::Decided { .. } | Heard::Selected { .. } => {}
                other => anyhow::bail!("heard {other:?} instead of a review"),
            }
        }
    }

    /// One change from the agent to the screen, accepted, and back.
    async fn journey(&mut self) -> Result<[f64; 2]> {
        let asked = self.ask(self.courier)?;
        let (window, review, revision, path) = self.next_shown().await?;
        ensure!(path == asked, "another change than the one that was proposed");
        self.ledger.decided(&path, true);
        let frame = decide(&review, revision, true);
        self.crowd.windows.get(window).context("no such window")?.speak.send(frame)?;
        loop {
            match self.crowd.next().await? {
                Heard::Told { agent, call, texts, at } => {
                    self.ledger.told(agent, call, &texts, at);
                    let change = self.ledger.get(&path).context("an unknown change")?;
                    let shown = change.shown.context("not shown")? - change.asked;
                    let told = at - change.decided.context("not decided")?.0;
                    return Ok([shown.as_secs_f64(), told.as_secs_f64()]);
                }
                Heard::Decided { .. } | Heard::Selected { .. } => {}
                other => anyhow::bail!("heard {other:?} instead of an answer"),
            }
        }
    }

    /// How long a command takes, while everyone answers.
    async fn command(&self, args: &'static [&'static str]) -> Result<f64> {
        let mut times = Vec::new();
        for _ in 0..5 {
            let mut command = self.world.command(self.world.program());
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
        let hub = self.world.hub;
        let (mut shown, mut told) = (Vec::new(), Vec::new());
        let before = cpu_time(hub)?;
        for _ in 0..JOURNEYS {
            let [until_shown, until_told] = self.journey().await?;
            shown.push(until_shown);
            told.push(until_told);
        }
        let journey = cpu_time(hub)?.saturating_sub(before).as_secs_f64() / JOURNEYS as f64;
        let door = &self.crowd.windows.first().context("no window")?.door;
        let mut caller = Agent::introduced(door, Dialect::Claude)?;
        small_call(&mut caller)?;
        let before = cpu_time(hub)?;
        let times = (0..CALLS).map(|_| small_call(&mut caller)).collect::<Result<Vec<_>>>()?;
        let call = cpu_time(hub)?.saturating_sub(before).as_secs_f64() / CALLS as f64;
        let measured = [latencies(&times).0 / 1e6, call, median(&shown), median(&told), journey];
        rounds.iter_mut().zip(measured).for_each(|(all, one)| all.push(one));
        Ok(())
    }
}

fn tell(thing: Thing, levels: &[Level], report: &mut Report) {
    report.say(&format!("### Beside 1, 10, 100 … {}", thing.name()));
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
                "{} {}: {what} is {ratio:.1} times what it is beside 10 (bound {bound})",
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
        "Over the same beside ten, in turns (bound {FLAT}; {FLAT_OVER_TIME} for adding, and {} KiB for one more):",
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
        self.here.iter().zip(&self.beside_ten).map(|(here, ten)| Spread::of_ratios(here, ten).median)
    }
}

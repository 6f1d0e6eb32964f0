//! For an hour on end: agents propose, persons decide, selections flow, a window is reloaded every minute, and if asked
//! for, the hub is killed every few minutes. In the end nothing may be lost, and nothing may have grown.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::crowd::{Crowd, PATIENCE, WindowSeat, decide, propose};
use super::ledger::Ledger;
use super::line::{self, Heard};
use super::report::{Report, mib, quantiles};
use super::rush::selection;
use super::{CONFIG, progress, text};
use crate::agent::Agent;
use crate::process::{descriptors, memory, thread_count};
use crate::world::World;

const WINDOWS: usize = 5;
const AGENTS: usize = 20;
/// Between an answer and the next change of the same agent.
const THINKING: Duration = Duration::from_secs(1);
const SELECTIONS_EVERY: Duration = Duration::from_millis(20);
const RELOAD_EVERY: Duration = Duration::from_secs(60);
const KILL_EVERY: Duration = Duration::from_secs(180);
const ROW_EVERY: Duration = Duration::from_secs(300);

/// How much more its own memory may be in the end than after the first row, for each hour: what a journal's cache and
/// an allocator take, and far less than a review that is never forgotten would.
const MOST_GROWTH_MIB: f64 = 24.0;

pub(crate) async fn measure(how_long: Duration, kill_hub: bool, report: &mut Report) -> Result<()> {
    let world = World::start_with(CONFIG)?;
    let mut soak = Soak::new(world, kill_hub);
    let ran = soak.run(how_long).await;
    let finished = match ran {
        Ok(()) => soak.finish(report).await,
        error => error,
    };
    soak.tell(how_long, report);
    finished
}

struct Soak {
    hub: u32,
    crowd: Crowd,
    /// What editors start, one for each window.
    relays: Vec<Child>,
    ledger: Ledger,
    /// What each agent waits for.
    open: BTreeMap<usize, PathBuf>,
    next_call: u64,
    selections: usize,
    reloads: usize,
    kills: usize,
    kill_hub: bool,
    rows: Vec<Vec<String>>,
    /// Since the last row.
    shown: Vec<Duration>,
    told: Vec<Duration>,
    started: Instant,
    first: Option<(Instant, u64)>,
    world: World,
}

impl Soak {
    fn new(world: World, kill_hub: bool) -> Soak {
        Soak {
            hub: world.hub,
            crowd: Crowd::new(),
            relays: Vec::new(),
            ledger: Ledger::default(),
            open: BTreeMap::new(),
            next_call: 1,
            selections: 0,
            reloads: 0,
            kills: 0,
            kill_hub,
            rows: Vec::new(),
            shown: Vec::new(),
            told: Vec::new(),
            started: Instant::now(),
            first: None,
            world,
        }
    }

    /// Starts `linkspan attach` for a window, as its editor does.
    async fn attach(&mut self, number: usize) -> Result<(Child, WindowSeat)> {
        let folder = self.world.workspace().join(format!("w{number}"));
        fs::create_dir_all(&folder)?;
        let mut command = self.world.command(self.world.program());
        let mut relay = command.arg("attach").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = tokio::process::ChildStdout::from_std(relay.stdout.take().context("no output")?)?;
        let output = tokio::process::ChildStdin::from_std(relay.stdin.take().context("no input")?)?;
        let joining = line::window(input, output, &folder, number, self.crowd.hear());
        let attached = timeout(PATIENCE, joining).await.context("the window waits for the hub")??;
        let door = self.world.door(attached.port)?;
        Ok((relay, WindowSeat { folder, door, speak: attached.speak }))
    }

    async fn run(&mut self, how_long: Duration) -> Result<()> {
        for number in 0..WINDOWS {
            let (relay, seat) = self.attach(number).await?;
            self.relays.push(relay);
            self.crowd.windows.push(seat);
        }
        self.crowd.agents_to(AGENTS).await?;
        self.started = Instant::now();
        let end = tokio::time::Instant::now() + how_long;
        for agent in 0..AGENTS {
            self.propose(agent)?;
        }
        let every = |period| {
            let mut ticks = interval(period);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
            ticks.reset();
            ticks
        };
        let row_every = ROW_EVERY.min(how_long / 3);
        let (mut selections, mut reloads) = (every(SELECTIONS_EVERY), every(RELOAD_EVERY.min(how_long / 3)));
        let (mut kills, mut rows) = (every(KILL_EVERY.min(how_long / 3)), every(row_every));
        let (think, mut thought) = tokio::sync::mpsc::unbounded_channel();
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(end) => return self.row(),
                Some(agent) = thought.recv() => self.propose(agent)?,
                _ = selections.tick() => self.select()?,
                _ = reloads.tick() => self.reload().await?,
                _ = kills.tick(), if self.kill_hub => self.kill().await?,
                _ = rows.tick() => self.row()?,
                heard = self.crowd.heard.recv() => {
                    if let Some(agent) = self.hear(heard.context("everybody is gone")?).await? {
                        let think = think.clone();
                        tokio::spawn(async move {
                            sleep(THINKING).await;
                            let _ = think.send(agent);
                        });
                    }
                }
            }
        }
    }

    fn propose(&mut self, agent: usize) -> Result<()> {
        let seat = self.crowd.agents.get(agent).context("no such agent")?;
        let window = self.crowd.windows.get(seat.window).context("no such window")?;
        let call = self.next_call;
        self.next_call += 1;
        let path = window.folder.join(format!("{agent}-{call}.txt"));
        let texts = [text(call, 0), text(call, 1)];
        fs::write(&path, &texts[0])?;
        let frame = propose(call, &path.display().to_string(), &texts[1]);
        self.ledger.asked(&path, agent, seat.dialect, call, texts);
        self.open.insert(agent, path);
        // Whoever lost the hub asks again once it is back.
        let _ = seat.speak.send(frame);
        Ok(())
    }

    /// What was open when the connection was lost, word for word.
    fn ask_again(&self, agent: usize) -> Result<()> {
        let Some(path) = self.open.get(&agent) else { return Ok(()) };
        let change = self.ledger.get(path).context("an unknown change")?;
        let frame = propose(change.call, &path.display().to_string(), &change.proposed);
        let _ = self.crowd.agents.get(agent).context("no such agent")?.speak.send(frame);
        Ok(())
    }

    fn select(&mut self) -> Result<()> {
        let window = self.crowd.windows.get(self.selections % WINDOWS).context("no such window")?;
        let _ = window.speak.send(selection(&window.folder.join("selected.txt"), self.selections));
        self.selections += 1;
        Ok(())
    }

    /// Gives the agent that may go on.
    async fn hear(&mut self, heard: Heard) -> Result<Option<usize>> {
        match heard {
            Heard::Shown { window, review, revision, path, at } => {
                if self.ledger.shown(&path, at) {
                    self.shown.extend(self.ledger.get(&path).map(|change| at - change.asked));
                }
                // One in five is a no; the same word if she is asked again.
                let accept = !self.ledger.get(&path).is_some_and(|change| change.call.is_multiple_of(5));
                self.ledger.decided(&path, accept);
                let window = self.crowd.windows.get(window).context("no such window")?;
                let _ = window.speak.send(decide(&review, revision, accept));
            }
            Heard::Told { agent, call, texts, at } => {
                self.ledger.told(agent, call, &texts, at);
                let change = self.ledger.of_call(agent, call).and_then(|path| self.ledger.get(path));
                self.told.extend(change.and_then(|change| Some(at - change.decided?.0)));
                self.open.remove(&agent);
                return Ok(Some(agent));
            }
            Heard::Failed { agent, call, why } => self.ledger.failed(agent, call, &why),
            Heard::AgentLost { agent } => self.agent_back(agent).await?,
            // A relay that was killed is started again by whoever killed it; one that died is found at the end.
            Heard::WindowLost { .. } | Heard::Decided { .. } | Heard::Selected { .. } => {}
        }
        Ok(None)
    }

    async fn agent_back(&mut self, agent: usize) -> Result<()> {
        let seat = self.crowd.agents.get(agent).context("no such agent")?;
        let (window, dialect) = (seat.window, seat.dialect);
        let door = self.crowd.windows.get(window).context("no such window")?.door.clone();
        let end = Instant::now() + PATIENCE;
        let stream = loop {
            let door = door.clone();
            match spawn_blocking(move || Agent::introduced(&door, dialect)).await? {
                Ok(agent) => break agent.into_stream(),
                Err(error) if Instant::now() > end => return Err(error.context("an agent finds no hub")),
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        };
        let speak = line::agent(stream, agent, self.crowd.hear())?;
        if let Some(seat) = self.crowd.agents.get_mut(agent) {
            seat.speak = speak;
        }
        self.ask_again(agent)
    }

    /// Its relay is killed, and its editor attaches again.
    async fn reload(&mut self) -> Result<()> {
        let number = self.reloads % WINDOWS;
        self.reloads += 1;
        let relay = self.relays.get_mut(number).context("no such window")?;
        relay.kill()?;
        relay.wait()?;
        let port = self.crowd.windows.get(number).map(|window| window.door.port);
        let (relay, seat) = self.attach(number).await?;
        if Some(seat.door.port) != port {
            self.ledger.broken.push(format!("window {number} came back with another port"));
        }
        if let (Some(child), Some(place)) = (self.relays.get_mut(number), self.crowd.windows.get_mut(number))
        {
            (*child, *place) = (relay, seat);
        }
        Ok(())
    }

    async fn kill(&mut self) -> Result<()> {
        self.kills += 1;
        let pid = i32::try_from(self.hub).ok().and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(pid.context("no pid")?, rustix::process::Signal::KILL)?;
        sleep(Duration::from_millis(500)).await;
        self.hub = self.world.start_hub()?;
        Ok(())
    }

    fn row(&mut self) -> Result<()> {
        let memory = memory(self.hub).context("the hub died")?;
        self.first.get_or_insert((Instant::now(), memory.own));
        let minutes = self.started.elapsed().as_secs_f64() / 60.0;
        progress(&format!("{minutes:.1} min, {} changes told", self.ledger.told));
        let mut row = vec![
            format!("{minutes:.1}"),
            self.ledger.told.to_string(),
            self.selections.to_string(),
            self.reloads.to_string(),
            self.kills.to_string(),
            mib(memory.resident),
            mib(memory.own),
            descriptors(self.hub)?.to_string(),
            thread_count(self.hub)?.to_string(),
        ];
        for times in [std::mem::take(&mut self.shown), std::mem::take(&mut self.told)] {
            let [middle, _, high, _] = quantiles(&times);
            row.extend([middle, high]);
        }
        self.rows.push(row);
        Ok(())
    }

    fn tell(&mut self, how_long: Duration, report: &mut Report) {
        report.say(&format!(
            "### {AGENTS} agents in {WINDOWS} windows for {:.0} minutes\n\nEach window behind `linkspan attach`, \
             50 selections a second.",
            how_long.as_secs_f64() / 60.0
        ));
        let header = [
            "minute",
            "told",
            "selections",
            "reloads",
            "hubs killed",
            "resident",
            "its own",
            "descriptors",
            "threads",
            "shown p50",
            "p99",
            "told p50",
            "p99",
        ];
        report.table(&header, &self.rows);
        report.all_broken(&mut self.ledger.broken);
    }

    /// Everyone hears what is still to be told, and leaves; what is left over?
    async fn finish(&mut self, report: &mut Report) -> Result<()> {
        while !self.open.is_empty()
            && let Ok(Some(heard)) = timeout(PATIENCE, self.crowd.heard.recv()).await
        {
            self.hear(heard).await?;
        }
        let now = memory(self.hub).context("the hub died")?.own;
        if let Some((since, before)) = self.first.filter(|_| !self.kill_hub) {
            let hours = since.elapsed().as_secs_f64() / 3600.0;
            let more = (now as f64 - before as f64) / (1 << 20) as f64;
            report.say(&format!(
                "Its own memory grew by {more:.1} MiB since the first row, {:.1} MiB an hour (bound \
                 {MOST_GROWTH_MIB} MiB, and as much an hour).",
                more / hours
            ));
            if more > MOST_GROWTH_MIB * hours.max(1.0) {
                report.broken(format!("the hub's memory grew by {more:.1} MiB"));
            }
        }
        self.ledger.settle();
        self.crowd.agents.clear();
        self.crowd.windows.clear();
        self.end_relays();
        self.world.run(&["hub", "stop", "--force", "--json"])?;
        let mut left = left_over(&self.world.workspace(), &|path| self.ledger.get(path).is_some())?;
        // How agents found the windows.
        left.extend(left_over(&self.world.path("home"), &|path| {
            path.extension().is_none_or(|of| of != "lock")
        })?);
        for path in &left {
            report.broken(format!("{} was left behind", path.display()));
        }
        Ok(())
    }

    fn end_relays(&mut self) {
        for mut relay in self.relays.drain(..) {
            let _ = relay.kill();
            let _ = relay.wait();
        }
    }
}

impl Drop for Soak {
    fn drop(&mut self) {
        self.end_relays();
    }
}

/// Files that nobody should have left: a write that was given up, a lock of a window that is gone.
fn left_over(folder: &Path, known: &dyn Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let mut left = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            left.extend(left_over(&path, known)?);
        } else if !known(&path) {
            left.push(path);
        }
    }
    Ok(left)
}

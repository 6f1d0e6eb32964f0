//! A soak test: for an hour agents propose, users decide, selections change, a window is reloaded every minute, and with
//! `--kill-hub` the hub is killed every few minutes. In the end nothing may be lost, and nothing may have grown.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::connection::{self, LoadEvent};
use super::crowd::{ANSWER_DEADLINE, Crowd, LoadWindow, decide, propose};
use super::ledger::Ledger;
use super::report::{Report, mib, quantiles};
use super::rush::selection;
use super::{CONFIG, progress, text};
use crate::agent::Agent;
use crate::bench_hub::BenchHub;
use crate::process::{descriptors, memory, thread_count};

const WINDOWS: usize = 5;
const AGENTS: usize = 20;
/// Between an answer and the next change of the same agent.
const THINKING: Duration = Duration::from_secs(1);
const SELECTIONS_EVERY: Duration = Duration::from_millis(20);
const RELOAD_EVERY: Duration = Duration::from_secs(60);
const KILL_EVERY: Duration = Duration::from_secs(180);
const ROW_EVERY: Duration = Duration::from_secs(300);

/// How much the hub's own memory may grow after the first row, for each hour: what the journal's cache and the allocator
/// take, and far less than reviews that are never released.
const MOST_GROWTH_MIB: f64 = 24.0;

pub(crate) async fn measure(how_long: Duration, kill_hub: bool, report: &mut Report) -> Result<()> {
    let hub = BenchHub::start_with(CONFIG)?;
    let mut soak = Soak::new(hub, kill_hub);
    let ran = soak.run(how_long).await;
    let finished = match ran {
        Ok(()) => soak.finish(report).await,
        error => error,
    };
    soak.tell(how_long, report);
    finished
}

struct Soak {
    hub_pid: u32,
    crowd: Crowd,
    /// The relays that editors start, one for each window.
    relays: Vec<Child>,
    ledger: Ledger,
    /// The open change of each agent.
    open: BTreeMap<usize, PathBuf>,
    next_call: u64,
    selections: usize,
    reloads: usize,
    kills: usize,
    kill_hub: bool,
    rows: Vec<Vec<String>>,
    /// Since the last row.
    shown: Vec<Duration>,
    answered: Vec<Duration>,
    started: Instant,
    first: Option<(Instant, u64)>,
    hub: BenchHub,
}

impl Soak {
    fn new(hub: BenchHub, kill_hub: bool) -> Soak {
        Soak {
            hub_pid: hub.pid,
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
            answered: Vec::new(),
            started: Instant::now(),
            first: None,
            hub,
        }
    }

    /// Starts `linkspan attach` for a window, as its editor does.
    async fn attach(&mut self, number: usize) -> Result<(Child, LoadWindow)> {
        let folder = self.hub.workspace().join(format!("w{number}"));
        fs::create_dir_all(&folder)?;
        let mut command = self.hub.command(self.hub.program());
        let mut relay = command.arg("attach").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = tokio::process::ChildStdout::from_std(relay.stdout.take().context("no output")?)?;
        let output = tokio::process::ChildStdin::from_std(relay.stdin.take().context("no input")?)?;
        let joining = connection::window(input, output, &folder, number, self.crowd.event_sender());
        let attached = timeout(ANSWER_DEADLINE, joining).await.context("the window waits for the hub")??;
        let endpoint = self.hub.endpoint(attached.port)?;
        Ok((relay, LoadWindow { folder, endpoint, sender: attached.sender }))
    }

    async fn run(&mut self, how_long: Duration) -> Result<()> {
        for number in 0..WINDOWS {
            let (relay, load_agent) = self.attach(number).await?;
            self.relays.push(relay);
            self.crowd.windows.push(load_agent);
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
                event = self.crowd.events.recv() => {
                    if let Some(agent) = self.handle_event(event.context("everyone is disconnected")?).await? {
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
        let load_agent = self.crowd.agents.get(agent).context("no such agent")?;
        let window = self.crowd.windows.get(load_agent.window).context("no such window")?;
        let call = self.next_call;
        self.next_call += 1;
        let path = window.folder.join(format!("{agent}-{call}.txt"));
        let texts = [text(call, 0), text(call, 1)];
        fs::write(&path, &texts[0])?;
        let frame = propose(call, &path.display().to_string(), &texts[1]);
        self.ledger.asked(&path, agent, load_agent.dialect, call, texts);
        self.open.insert(agent, path);
        // Agents that lost the hub repeat their requests once it is back.
        let _ = load_agent.sender.send(frame);
        Ok(())
    }

    /// Repeats the requests that were open when the connection was lost, byte for byte.
    fn ask_again(&self, agent: usize) -> Result<()> {
        let Some(path) = self.open.get(&agent) else { return Ok(()) };
        let change = self.ledger.get(path).context("an unknown change")?;
        let frame = propose(change.call, &path.display().to_string(), &change.proposed);
        let _ = self.crowd.agents.get(agent).context("no such agent")?.sender.send(frame);
        Ok(())
    }

    fn select(&mut self) -> Result<()> {
        let window = self.crowd.windows.get(self.selections % WINDOWS).context("no such window")?;
        let _ = window.sender.send(selection(&window.folder.join("selected.txt"), self.selections));
        self.selections += 1;
        Ok(())
    }

    /// Returns the agent that may propose its next change.
    async fn handle_event(&mut self, event: LoadEvent) -> Result<Option<usize>> {
        match event {
            LoadEvent::Shown { window, review, revision, path, at } => {
                if self.ledger.shown(&path, at) {
                    self.shown.extend(self.ledger.get(&path).map(|change| at - change.asked));
                }
                // One in five is rejected; the same decision if the review is shown again.
                let accept = !self.ledger.get(&path).is_some_and(|change| change.call.is_multiple_of(5));
                self.ledger.decided(&path, accept);
                let window = self.crowd.windows.get(window).context("no such window")?;
                let _ = window.sender.send(decide(&review, revision, accept));
            }
            LoadEvent::Answered { agent, call, texts, at } => {
                self.ledger.answered(agent, call, &texts, at);
                let change = self.ledger.of_call(agent, call).and_then(|path| self.ledger.get(path));
                self.answered.extend(change.and_then(|change| Some(at - change.decided?.0)));
                self.open.remove(&agent);
                return Ok(Some(agent));
            }
            LoadEvent::Failed { agent, call, why } => self.ledger.failed(agent, call, &why),
            LoadEvent::AgentLost { agent } => self.agent_back(agent).await?,
            // A relay that we killed is restarted by us; one that died by itself is found at the end.
            LoadEvent::WindowLost { .. } | LoadEvent::Decided { .. } | LoadEvent::Selected { .. } => {}
        }
        Ok(None)
    }

    async fn agent_back(&mut self, agent: usize) -> Result<()> {
        let load_agent = self.crowd.agents.get(agent).context("no such agent")?;
        let (window, dialect) = (load_agent.window, load_agent.dialect);
        let endpoint = self.crowd.windows.get(window).context("no such window")?.endpoint.clone();
        let end = Instant::now() + ANSWER_DEADLINE;
        let stream = loop {
            let endpoint = endpoint.clone();
            match spawn_blocking(move || Agent::introduced(&endpoint, dialect)).await? {
                Ok(agent) => break agent.into_stream(),
                Err(error) if Instant::now() > end => return Err(error.context("an agent finds no hub")),
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        };
        let sender = connection::agent(stream, agent, self.crowd.event_sender())?;
        if let Some(load_agent) = self.crowd.agents.get_mut(agent) {
            load_agent.sender = sender;
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
        let port = self.crowd.windows.get(number).map(|window| window.endpoint.port);
        let (relay, load_agent) = self.attach(number).await?;
        if Some(load_agent.endpoint.port) != port {
            self.ledger.broken.push(format!("window {number} has another port after it was attached again"));
        }
        if let (Some(child), Some(place)) = (self.relays.get_mut(number), self.crowd.windows.get_mut(number))
        {
            (*child, *place) = (relay, load_agent);
        }
        Ok(())
    }

    async fn kill(&mut self) -> Result<()> {
        self.kills += 1;
        let pid = i32::try_from(self.hub_pid).ok().and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(pid.context("no pid")?, rustix::process::Signal::KILL)?;
        sleep(Duration::from_millis(500)).await;
        self.hub_pid = self.hub.start_hub()?;
        Ok(())
    }

    fn row(&mut self) -> Result<()> {
        let memory = memory(self.hub_pid).context("the hub died")?;
        self.first.get_or_insert((Instant::now(), memory.own));
        let minutes = self.started.elapsed().as_secs_f64() / 60.0;
        progress(&format!("{minutes:.1} min, {} changes answered", self.ledger.answered));
        let mut row = vec![
            format!("{minutes:.1}"),
            self.ledger.answered.to_string(),
            self.selections.to_string(),
            self.reloads.to_string(),
            self.kills.to_string(),
            mib(memory.resident),
            mib(memory.own),
            descriptors(self.hub_pid)?.to_string(),
            thread_count(self.hub_pid)?.to_string(),
        ];
        for times in [std::mem::take(&mut self.shown), std::mem::take(&mut self.answered)] {
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
            "answered",
            "selections",
            "reloads",
            "hubs killed",
            "resident",
            "its own",
            "descriptors",
            "threads",
            "shown p50",
            "p99",
            "answered p50",
            "p99",
        ];
        report.table(&header, &self.rows);
        report.all_broken(&mut self.ledger.broken);
    }

    /// Waits for the last outcomes, disconnects everyone, and checks what is left over.
    async fn finish(&mut self, report: &mut Report) -> Result<()> {
        while !self.open.is_empty()
            && let Ok(Some(event)) = timeout(ANSWER_DEADLINE, self.crowd.events.recv()).await
        {
            self.handle_event(event).await?;
        }
        let now = memory(self.hub_pid).context("the hub died")?.own;
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
        self.hub.run(&["hub", "stop", "--force", "--json"])?;
        let mut left = left_over(&self.hub.workspace(), &|path| self.ledger.get(path).is_some())?;
        // Discovery files of the windows.
        left.extend(left_over(&self.hub.path("home"), &|path| {
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

/// Files that must not be left: the temporary file of an abandoned write, the lock file of a closed window.
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

//! Everything at once: a thousand agents in a hundred windows, ten thousand reviews, a thousand selections a
//! second, a file of fifty megabytes.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use linkspan_editor_api::{Message, Position, Range, Selection, SelectionChanged, encode};
use serde_json::json;
use tokio::task::spawn_blocking;
use tokio::time::{Instant as At, sleep, sleep_until, timeout};

use super::connection::LoadEvent;
use super::crowd::{Crowd, call, decide, propose};
use super::ledger::Ledger;
use super::prober::Prober;
use super::report::{Report, mib, quantiles};
use super::{CONFIG, Size, progress, text};
use crate::agent::BenchDialect;
use crate::bench_hub::BenchHub;
use crate::process::{cpu_time_of_all, descriptors, memory, thread_count};

struct Load {
    agents: usize,
    windows: usize,
    reviews_each: usize,
    calls_for: Duration,
    selecting_for: Duration,
    large: usize,
}

impl Load {
    fn of(size: Size) -> Load {
        match size {
            Size::Full => Load {
                agents: 1000,
                windows: 100,
                reviews_each: 10,
                calls_for: Duration::from_secs(5),
                selecting_for: Duration::from_secs(10),
                large: 50_000_000,
            },
            Size::Quick => Load {
                agents: 40,
                windows: 4,
                reviews_each: 5,
                calls_for: Duration::from_secs(1),
                selecting_for: Duration::from_secs(1),
                large: 2_000_000,
            },
        }
    }
}

/// Proposals or decisions that are open at once: enough to keep the hub busy, few enough that a latency is not the length
/// of our own queue.
const UNDER_WAY: usize = 64;

/// Selections per second.
const SELECTIONS: usize = 1000;

pub(crate) async fn measure(size: Size, report: &mut Report) -> Result<()> {
    let load = Load::of(size);
    let hub = BenchHub::start_with(CONFIG)?;
    let mut rush = Rush {
        crowd: Crowd::new(),
        ledger: Ledger::default(),
        phases: Vec::new(),
        latencies: Vec::new(),
        hub,
        load,
    };
    let ran = rush.run().await;
    rush.tell(report);
    ran
}

struct Rush {
    hub: BenchHub,
    load: Load,
    crowd: Crowd,
    ledger: Ledger,
    phases: Vec<Vec<String>>,
    latencies: Vec<Vec<String>>,
}

/// The state at the start of a phase.
struct Phase {
    name: String,
    start: Instant,
    cpu: Duration,
    prober: Option<Prober>,
}

impl Rush {
    async fn run(&mut self) -> Result<()> {
        let phase = self.begin("windows come", false)?;
        self.crowd.windows_to(&self.hub, self.load.windows).await?;
        self.end(phase, self.load.windows)?;
        let phase = self.begin("agents come", true)?;
        self.crowd.agents_to(self.load.agents).await?;
        self.end(phase, self.load.agents)?;
        let phase = self.begin("nothing happens", true)?;
        sleep(Duration::from_secs(2)).await;
        self.end(phase, 0)?;

        let phase = self.begin("each agent calls", true)?;
        let count = self.calls().await?;
        self.end(phase, count)?;

        let phase = self.begin("changes are proposed", true)?;
        let shown = self.propose_all().await?;
        self.end(phase, shown.len())?;
        for args in [["reviews", "--json"], ["status", "--json"]] {
            let phase = self.begin(&format!("`linkspan {}`", args.join(" ")), true)?;
            self.command(args, shown.len()).await?;
            self.end(phase, 1)?;
        }
        let phase = self.begin("changes are decided", true)?;
        self.decide_all(shown).await?;
        self.end(phase, self.ledger.len())?;
        let until_shown = self.ledger.until_shown();
        self.latency("proposal → shown", &until_shown);
        for (dialect, name) in [
            (BenchDialect::Claude, "decide → answered, the agent writes"),
            (BenchDialect::Nexus3, "decide → written, answered"),
        ] {
            let until_answered = self.ledger.until_answered(dialect);
            self.latency(name, &until_answered);
        }

        let phase = self.begin("selections, 1,000 a second", true)?;
        let event = self.select().await?;
        self.end(phase, event)?;

        let phase = self.begin("a large file", true)?;
        self.large().await?;
        self.end(phase, 1)?;
        self.ledger.settle();
        Ok(())
    }

    fn begin(&self, name: &str, probed: bool) -> Result<Phase> {
        progress(name);
        let endpoint = self.crowd.windows.first().map(|window| &window.endpoint);
        let prober = endpoint.filter(|_| probed).map(Prober::start).transpose()?;
        let cpu = cpu_time_of_all(self.hub.pid).context("the hub died")?;
        Ok(Phase { name: name.to_owned(), start: Instant::now(), cpu, prober })
    }

    fn end(&mut self, phase: Phase, done: usize) -> Result<()> {
        let Phase { name, start, cpu, prober } = phase;
        let taken = start.elapsed();
        let hub = self.hub.pid;
        let spent = cpu_time_of_all(hub).context("the hub died")?.saturating_sub(cpu);
        let (memory, open, threads) = (memory(hub)?, descriptors(hub)?, thread_count(hub)?);
        let per_second = done as f64 / taken.as_secs_f64();
        let mut row = vec![
            name,
            format!("{:.1} s", taken.as_secs_f64()),
            if done > 1 { format!("{per_second:.0} /s") } else { String::new() },
            format!("{:.0} %", 100.0 * spent.as_secs_f64() / taken.as_secs_f64()),
            mib(memory.resident),
            mib(memory.own),
            open.to_string(),
            threads.to_string(),
        ];
        match prober {
            Some(prober) => row.extend(quantiles(&prober.stop().context("a small call was not answered")?)),
            None => row.extend(quantiles(&[])),
        }
        self.phases.push(row);
        Ok(())
    }

    fn latency(&mut self, name: &str, times: &[Duration]) {
        let mut row = vec![name.to_owned(), times.len().to_string()];
        row.extend(quantiles(times));
        self.latencies.push(row);
    }

    /// Each agent has one open call.
    async fn calls(&mut self) -> Result<usize> {
        let end = Instant::now() + self.load.calls_for;
        let mut sent = vec![Instant::now(); self.crowd.agents.len()];
        let frame = call(u64::MAX, "getWorkspaceFolders", &json!({}));
        for (agent, at) in self.crowd.agents.iter().zip(&mut sent) {
            *at = Instant::now();
            agent.sender.send(frame.clone())?;
        }
        let (mut under_way, mut times) = (sent.len(), Vec::new());
        while under_way > 0 {
            let LoadEvent::Answered { agent, at, .. } = self.crowd.next().await? else { continue };
            let began = sent.get_mut(agent).context("no such agent")?;
            times.push(at - *began);
            if Instant::now() < end {
                *began = Instant::now();
                self.crowd.agents.get(agent).context("no such agent")?.sender.send(frame.clone())?;
            } else {
                under_way -= 1;
            }
        }
        self.latency("a call, with one of each agent open", &times);
        Ok(times.len())
    }

    fn propose(&mut self, agent: usize, call: u64) -> Result<()> {
        let load_agent = self.crowd.agents.get(agent).context("no such agent")?;
        let window = self.crowd.windows.get(load_agent.window).context("no such window")?;
        let path = window.folder.join(format!("{agent}-{call}.txt"));
        let texts = [text(call, 0), text(call, 1)];
        fs::write(&path, &texts[0])?;
        let frame = propose(call, &path.display().to_string(), &texts[1]);
        self.ledger.asked(&path, agent, load_agent.dialect, call, texts);
        Ok(load_agent.sender.send(frame)?)
    }

    /// All of them are pending in the end; returns what the windows show.
    async fn propose_all(&mut self) -> Result<Vec<ShownChange>> {
        let mut to_ask: VecDeque<(usize, u64)> = (0..self.load.reviews_each as u64)
            .flat_map(|call| (0..self.load.agents).map(move |agent| (agent, call + 1)))
            .collect();
        let count = to_ask.len();
        let mut shown: Vec<ShownChange> = Vec::new();
        let mut under_way = 0;
        while shown.len() < count {
            while under_way < UNDER_WAY
                && let Some((agent, call)) = to_ask.pop_front()
            {
                self.propose(agent, call)?;
                under_way += 1;
            }
            if let LoadEvent::Shown { window, review, revision, path, at } = self.next_event().await? {
                if self.ledger.shown(&path, at) {
                    under_way -= 1;
                    shown.push(ShownChange { window, review, revision, path });
                } else {
                    self.ledger.broken.push(format!("{} was shown twice", path.display()));
                }
            }
        }
        Ok(shown)
    }

    /// The next event; if it is about a change, the ledger has recorded it.
    async fn next_event(&mut self) -> Result<LoadEvent> {
        let event = self.crowd.next().await?;
        match &event {
            LoadEvent::Answered { agent, call, texts, at } => self.ledger.answered(*agent, *call, texts, *at),
            LoadEvent::Failed { agent, call, why } => self.ledger.failed(*agent, *call, why),
            LoadEvent::Decided { review, answer } if !answer.contains("taken") => {
                self.ledger.broken.push(format!("the decision on r{review} was answered with {answer}"));
            }
            LoadEvent::AgentLost { agent } => {
                self.ledger.broken.push(format!("agent {agent} was disconnected"))
            }
            LoadEvent::WindowLost { window } => {
                self.ledger.broken.push(format!("window {window} was disconnected"))
            }
            _ => {}
        }
        Ok(event)
    }

    async fn decide_all(&mut self, mut shown: Vec<ShownChange>) -> Result<()> {
        let goal = self.ledger.answered + shown.len();
        let mut under_way = 0;
        while self.ledger.answered < goal {
            while under_way < UNDER_WAY
                && let Some(on_screen) = shown.pop()
            {
                // One in five is rejected.
                let accept = !shown.len().is_multiple_of(5);
                self.decide(&on_screen, accept)?;
                under_way += 1;
            }
            let before = self.ledger.answered;
            self.next_event().await?;
            under_way -= self.ledger.answered - before;
        }
        Ok(())
    }

    fn decide(&mut self, on_screen: &ShownChange, accept: bool) -> Result<()> {
        let ShownChange { window, review, revision, path } = on_screen;
        self.ledger.decided(path, accept);
        let window = self.crowd.windows.get(*window).context("no such window")?;
        Ok(window.sender.send(decide(review, *revision, accept))?)
    }

    async fn command(&mut self, args: [&'static str; 2], pending: usize) -> Result<()> {
        let mut command = self.hub.command(self.hub.program());
        let start = Instant::now();
        let output = spawn_blocking(move || command.args(args).output()).await??;
        ensure!(output.status.success(), "linkspan {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let taken = start.elapsed();
        self.latency(&format!("`linkspan {}` with {pending} pending", args.join(" ")), &[taken]);
        let text = String::from_utf8(output.stdout)?;
        let listed = text.matches("\"review\":").count();
        if args[0] == "reviews" && listed != pending {
            self.ledger
                .broken
                .push(format!("`linkspan reviews` lists {listed} of {pending} pending reviews"));
        }
        Ok(())
    }

    /// From all windows in turn; agents of the first dialect are notified.
    async fn select(&mut self) -> Result<usize> {
        let mut listeners = vec![0; self.crowd.windows.len()];
        for agent in self.crowd.agents.iter().filter(|agent| agent.dialect == BenchDialect::Claude) {
            if let Some(count) = listeners.get_mut(agent.window) {
                *count += 1;
            }
        }
        let batches = self.load.selecting_for.as_millis() as usize / 10;
        let (mut sent, mut times): (Vec<Instant>, Vec<Duration>) = (Vec::new(), Vec::new());
        let mut missing = 0_usize;
        let start = At::now();
        for batch in 0..batches {
            for _ in 0..SELECTIONS / 100 {
                let window = sent.len() % self.crowd.windows.len();
                let load_agent = self.crowd.windows.get(window).context("no such window")?;
                let frame = selection(&load_agent.folder.join("selected.txt"), sent.len());
                missing += listeners.get(window).copied().unwrap_or_default();
                sent.push(Instant::now());
                load_agent.sender.send(frame)?;
            }
            let next = start + Duration::from_millis(10 * (batch as u64 + 1));
            loop {
                tokio::select! {
                    () = sleep_until(next) => break,
                    event = self.crowd.events.recv() => {
                        missing -= usize::from(selected(event.as_ref(), &sent, &mut times));
                    }
                }
            }
        }
        while missing > 0 {
            match timeout(Duration::from_secs(20), self.crowd.events.recv()).await {
                Ok(event) => missing -= usize::from(selected(event.as_ref(), &sent, &mut times)),
                Err(_) => {
                    self.ledger.broken.push(format!("{missing} notifications of a selection did not arrive"));
                    break;
                }
            }
        }
        self.latency("a selection → each agent that listens", &times);
        Ok(times.len())
    }

    /// Proposed, shown up to the limit of an editor, accepted and written.
    async fn large(&mut self) -> Result<()> {
        let agent = self.crowd.agents.iter().position(|agent| agent.dialect == BenchDialect::Nexus3);
        let agent = agent.context("no agent for which the hub writes")?;
        let load_agent = self.crowd.agents.get(agent).context("no such agent")?;
        let path = self.crowd.windows.get(load_agent.window).context("no window")?.folder.join("large.txt");
        let texts = [0, 1].map(|version| large_text(self.load.large, version));
        fs::write(&path, &texts[0])?;
        let frame = propose(u64::MAX, &path.display().to_string(), &texts[1]);
        let (name, bytes) = (path.clone(), texts[1].len());
        self.ledger.asked(&path, agent, load_agent.dialect, u64::MAX, texts);
        load_agent.sender.send(frame)?;
        let on_screen = loop {
            if let LoadEvent::Shown { window, review, revision, path, at } = self.next_event().await? {
                self.ledger.shown(&path, at);
                break ShownChange { window, review, revision, path };
            }
        };
        self.decide(&on_screen, true)?;
        let goal = self.ledger.answered + 1;
        while self.ledger.answered < goal {
            self.next_event().await?;
        }
        let change = self.ledger.get(&name).context("no such change")?;
        let shown = change.shown.context("not shown")? - change.asked;
        let answered = change.decided.context("not decided")?.0.elapsed();
        let size = bytes as f64 / 1e6;
        self.latency(&format!("{size:.0} MB: proposal → shown"), &[shown]);
        self.latency(&format!("{size:.0} MB: decide → written, answered"), &[answered]);
        Ok(())
    }

    fn tell(&mut self, report: &mut Report) {
        let Load { agents, windows, reviews_each, .. } = &self.load;
        report.say(&format!(
            "### {agents} agents, {windows} windows, {} reviews\n\nA small call is `getWorkspaceFolders`, by one \
             more agent, one after the other, while everything else continues.",
            agents * reviews_each
        ));
        let header = [
            "what happens",
            "took",
            "throughput",
            "CPU",
            "resident",
            "its own",
            "descriptors",
            "threads",
            "small call p50",
            "p95",
            "p99",
            "max",
        ];
        report.table(&header, &self.phases);
        report.table(&["latency", "count", "p50", "p95", "p99", "max"], &self.latencies);
        report.all_broken(&mut self.ledger.broken);
    }
}

/// A change that a window shows.
struct ShownChange {
    window: usize,
    review: String,
    revision: u32,
    path: PathBuf,
}

fn selected(event: Option<&LoadEvent>, sent: &[Instant], times: &mut Vec<Duration>) -> bool {
    let Some(LoadEvent::Selected { text, at }) = event else { return false };
    let began = text.parse().ok().and_then(|number: usize| sent.get(number));
    times.extend(began.map(|began| *at - *began));
    began.is_some()
}

pub(super) fn selection(path: &std::path::Path, number: usize) -> Vec<u8> {
    let start = Position { line: 1, character: 0 };
    let range = Range { start, end: Position { line: 1, character: 5 } };
    let path = path.display().to_string();
    let selection = Selection { path, text: number.to_string(), range, is_empty: false, reversed: false };
    encode(&Message::notification(&SelectionChanged { selection }).to_bytes())
}

/// Lines of which one in a thousand differs between versions.
fn large_text(bytes: usize, version: u32) -> String {
    let mut text = String::with_capacity(bytes + 64);
    for number in 0_u64.. {
        if text.len() >= bytes {
            break;
        }
        let version = if number.is_multiple_of(1000) { version } else { 0 };
        text += &format!("line {number:09} of a file that is long, version {version}\n");
    }
    text
}

//! Linkspan's own agent: how soon it can be used, how soon a token is seen, what it costs to have it, how a long
//! conversation opens; and the same prompt with opencode and the same model.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use pty_process::blocking as pty;
use serde_json::{Value, json};

use super::Effort;
use crate::bench_hub::BenchHub;
use crate::fake_model::{FakeModel, STREAM, token};
use crate::process::{self, Memory, Sleeps, cpu_time};
use crate::report::Row;
use crate::stats::{Spread, latencies, median};

const AGENTS: usize = 10;
const MESSAGES: usize = 10_000;
/// Between two tokens of a stream: about 500 in a second, more than any model sends.
const TOKEN_MICROS: usize = 2_000;
/// The prompt of the terminal.
const PROMPT: &str = "›";
const DEADLINE: Duration = Duration::from_secs(30);

struct AgentBench {
    hub: BenchHub,
    model: FakeModel,
    program: PathBuf,
}

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let program = std::env::var_os("LINKSPAN_AGENT_BIN").map(PathBuf::from);
    let program = program.context("LINKSPAN_AGENT_BIN is not set: run `cargo xtask bench`")?;
    let bench = AgentBench { hub: BenchHub::start()?, model: FakeModel::start()?, program };
    let config = format!(
        "model = \"bench/m\"\n[providers.bench]\nwire = \"openai\"\nbase_url = \"{}\"\nmodel = \"m\"\n",
        bench.model.url()
    );
    fs::write(bench.hub.path("config/linkspan/agent.toml"), config)?;
    let mut rows = vec![bench.start(effort)?];
    rows.push(bench.token_on_screen(effort)?);
    rows.extend(bench.engine(effort)?);
    rows.push(bench.long_conversation(effort)?);
    rows.extend(bench.beside_opencode(effort)?);
    Ok(rows)
}

impl AgentBench {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.hub.command(&self.program);
        command.args(args).current_dir(self.hub.workspace());
        command
    }

    /// The agent in a terminal.
    fn terminal(&self) -> Result<Terminal> {
        let (pty, pts) = pty::open()?;
        pty.resize(pty_process::Size::new(40, 120))?;
        let mut command = pty::Command::new(&self.program).current_dir(self.hub.workspace()).env_clear();
        for (name, value) in self.hub.command("x").get_envs() {
            command = command.env(name, value.unwrap_or_default());
        }
        let started = Instant::now();
        let child = command.env("TERM", "xterm-256color").spawn(pts)?;
        Ok(Terminal { child, pty, started, seen: String::new() })
    }

    fn start(&self, effort: Effort) -> Result<Row> {
        let (mut ours, mut floor) = (Vec::new(), Vec::new());
        for round in 0..=effort.pick(30, 8) {
            let begun = Instant::now();
            let status = self.hub.command(self.hub.program()).arg("status").stdout(Stdio::null()).status()?;
            ensure!(status.success(), "`linkspan status` ended with {status}");
            let taken = begun.elapsed();
            let mut terminal = self.terminal()?;
            let seen = terminal.sees(PROMPT)?;
            // The first round brings the programs into memory.
            if round > 0 {
                floor.push(taken.as_secs_f64() * 1e3);
                ours.push((seen - terminal.started).as_secs_f64() * 1e3);
            }
        }
        let note = format!("{:.1} : {:.1} ms", median(&ours), median(&floor));
        let what = "agent, start to prompt : `linkspan status`";
        Ok(Row::ratio(what, Spread::of_ratios(&ours, &floor)).at_most(3.0).note(note))
    }

    fn token_on_screen(&self, effort: Effort) -> Result<Row> {
        let mut terminal = self.terminal()?;
        terminal.sees(PROMPT)?;
        let tokens = effort.pick(1_000, 300);
        self.model.take_sent();
        terminal.types(&format!("{STREAM} {tokens} {TOKEN_MICROS}\r"))?;
        let mut seen = Vec::new();
        for index in 0..tokens {
            seen.push(terminal.sees(token(index).trim_end())?);
        }
        Ok(delay("agent, token on the screen", &self.model.take_sent(), &seen))
    }

    /// Tokens over HTTP, then memory and wake-ups with ten conversations that fell idle.
    fn engine(&self, effort: Effort) -> Result<Vec<Row>> {
        let port = free_port()?;
        let mut command = self.command(&["serve", "--port", &port.to_string()]);
        let engine = Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
        let tokens = effort.pick(1_000, 300);
        self.model.take_sent();
        let mut seen = Vec::new();
        chat(port, "s0", &format!("{STREAM} {tokens} {TOKEN_MICROS}"), |line| {
            let now = Instant::now();
            // The end of the stream repeats the whole text.
            while line.contains("stream_chunk") && line.contains(token(seen.len()).trim_end()) {
                seen.push(now);
            }
        })?;
        ensure!(seen.len() >= tokens, "{} of {tokens} tokens arrived", seen.len());
        let mut rows = vec![delay("agent, token on SSE", &self.model.take_sent(), &seen)];
        for agent in 1..AGENTS {
            chat(port, &format!("s{agent}"), "hello", |_| {})?;
        }
        let pid = engine.0.id();
        sleep(Duration::from_secs(11));
        let Memory { resident, own } = process::memory(pid)?;
        let note = format!("{:.1} MB its own, the rest pages of the program file", own as f64 / 1e6);
        let what = format!("agent, {AGENTS} conversations, idle: resident");
        rows.push(Row::one(what, "MB", resident as f64 / 1e6).at_most(20.0).note(note));
        let watch = effort.pick(Duration::from_secs(10), Duration::from_secs(2));
        let (sleeps, spent) = (Sleeps::of(pid)?, cpu_time(pid)?);
        sleep(watch);
        let woken = Sleeps::of(pid)?.since(&sleeps);
        let spent = cpu_time(pid)?.saturating_sub(spent);
        let note = format!("{woken} in {} s, {} µs of CPU", watch.as_secs(), spent.as_micros());
        let rate = woken as f64 / watch.as_secs_f64();
        let what = format!("agent, {AGENTS} conversations, idle: wake-ups");
        rows.push(Row::one(what, "/s", rate).at_most(0.0).note(note));
        Ok(rows)
    }

    /// From the start of the program to the request that has all messages.
    fn long_conversation(&self, effort: Effort) -> Result<Row> {
        self.one_prompt("hello")?;
        let folder = self.hub.path("state/linkspan/agent/sessions");
        let mut newest: Vec<PathBuf> = fs::read_dir(&folder)?.flatten().map(|entry| entry.path()).collect();
        newest.sort_by_key(|path| fs::metadata(path).and_then(|data| data.modified()).ok());
        let session = newest.pop().with_context(|| format!("no session in {}", folder.display()))?;
        let text = fs::read_to_string(&session)?;
        let messages: Vec<&str> = text.lines().filter(|line| line.contains("\"message\"")).collect();
        ensure!(messages.len() >= 2, "{} has no messages", session.display());
        let mut file = File::options().append(true).open(&session)?;
        for index in 0..MESSAGES {
            let line = messages.get(index % 2).copied().unwrap_or_default();
            writeln!(file, "{line}")?;
        }
        drop(file);
        let name = session.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut times = Vec::new();
        for _ in 0..effort.pick(20, 5) {
            self.model.take_requested();
            let begun = Instant::now();
            let args = ["--resume", &name, "-p", "and now?"];
            let output = self.command(&args).stdin(Stdio::null()).output()?;
            ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let requested = self.model.take_requested().context("no request")?;
            times.push((requested - begun).as_secs_f64() * 1e3);
        }
        let what = format!("agent, a conversation of {MESSAGES} messages: start to its next request");
        Ok(Row::new(what, "ms", Spread::of(&times)).at_most(200.0))
    }

    fn one_prompt(&self, prompt: &str) -> Result<(Duration, u64)> {
        let mut command = self.command(&["-p", prompt]);
        whole_run(command.stdin(Stdio::null()).stdout(Stdio::null()))
    }

    fn beside_opencode(&self, effort: Effort) -> Result<Vec<Row>> {
        let Some(agents) = std::env::var_os("LINKSPAN_TEST_AGENTS").map(PathBuf::from) else {
            let why = "opencode is not installed: `cargo xtask agents --all`";
            return Ok(vec![Row::not_measured("opencode : agent", why)]);
        };
        let opencode = Opencode::new(&self.hub, &agents, &self.model)?;
        let prompt = format!("{STREAM} 500 0");
        let (mut ours, mut theirs, mut memory) = (Vec::new(), Vec::new(), (0, 0));
        for round in 0..=effort.pick(5, 2) {
            let (taken, peak) = self.one_prompt(&prompt)?;
            let (their_time, their_peak) = opencode.run(&prompt)?;
            memory = (memory.0.max(peak), memory.1.max(their_peak));
            if round > 0 {
                ours.push(taken.as_secs_f64() * 1e3);
                theirs.push(their_time.as_secs_f64() * 1e3);
            }
        }
        let note = format!("{:.0} : {:.0} ms, 500 tokens, from start to end", median(&theirs), median(&ours));
        let (our_peak, their_peak) = (memory.0 as f64 / 1e6, memory.1 as f64 / 1e6);
        let what = "one prompt: opencode 1.18.33 : agent";
        Ok(vec![
            Row::ratio(what, Spread::of_ratios(&theirs, &ours)).at_least(1.0).note(note),
            Row::one("one prompt, peak memory: opencode 1.18.33 : agent", "×", their_peak / our_peak)
                .at_least(1.0)
                .note(format!("{their_peak:.0} : {our_peak:.1} MB")),
        ])
    }
}

/// A program in a terminal.
struct Terminal {
    child: Child,
    pty: pty::Pty,
    started: Instant,
    /// What was read and not looked at.
    seen: String,
}

impl Terminal {
    /// When this was on the screen; what precedes it is forgotten.
    fn sees(&mut self, text: &str) -> Result<Instant> {
        let until = Instant::now() + DEADLINE;
        let mut now = Instant::now();
        loop {
            if let Some((_, after)) = self.seen.split_once(text) {
                self.seen = after.to_owned();
                return Ok(now);
            }
            let mut bytes = [0; 4096];
            let count = self.pty.read(&mut bytes)?;
            now = Instant::now();
            let read = bytes.get(..count).unwrap_or_default();
            self.seen.push_str(&String::from_utf8_lossy(read));
            if now > until {
                bail!("never on the screen: {text:?}, but {:?}", self.seen);
            }
        }
    }

    fn types(&mut self, text: &str) -> Result<()> {
        Ok(self.pty.write_all(text.as_bytes())?)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A child that is killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// opencode with a provider of its own, as in the tests of real agents.
struct Opencode<'h> {
    hub: &'h BenchHub,
    program: PathBuf,
}

impl<'h> Opencode<'h> {
    fn new(hub: &'h BenchHub, agents: &Path, model: &FakeModel) -> Result<Opencode<'h>> {
        let program = agents.join("opencode-1.18.33/run");
        ensure!(program.exists(), "{} is missing: `cargo xtask agents --all`", program.display());
        let folder = hub.path("config/opencode");
        let package = folder.join("node_modules/@opencode-ai/plugin");
        fs::create_dir_all(&package)?;
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible", "name": "bench",
            "options": { "baseURL": model.url(), "apiKey": "none" },
            "models": { "m": { "name": "m" } },
        });
        let settings = json!({
            "provider": { "bench": provider }, "model": "bench/m", "autoupdate": false, "share": "disabled",
        });
        fs::write(folder.join("opencode.json"), settings.to_string())?;
        let plugin = json!({ "name": "@opencode-ai/plugin", "version": "1.18.33" });
        fs::write(package.join("package.json"), plugin.to_string())?;
        let dependencies = json!({ "dependencies": { "@opencode-ai/plugin": "1.18.33" } });
        fs::write(folder.join("package.json"), dependencies.to_string())?;
        Ok(Opencode { hub, program })
    }

    fn run(&self, prompt: &str) -> Result<(Duration, u64)> {
        let mut command = self.hub.command(&self.program);
        command.args(["run", prompt]).current_dir(self.hub.workspace());
        // Nothing outside this machine answers: it must not wait for it.
        let refused = "http://127.0.0.1:9";
        command.envs([("HTTPS_PROXY", refused), ("HTTP_PROXY", refused), ("NO_PROXY", "127.0.0.1")]);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        whole_run(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()))
    }
}

/// From start to end, and the most memory that was seen.
fn whole_run(command: &mut Command) -> Result<(Duration, u64)> {
    let begun = Instant::now();
    let mut child = command.spawn()?;
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        peak = process::memory(child.id()).map_or(peak, |memory| peak.max(memory.resident));
        ensure!(begun.elapsed() < 2 * DEADLINE, "{command:?} did not end");
        sleep(Duration::from_millis(1));
    };
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok((begun.elapsed(), peak))
}

fn delay(what: &str, sent: &[Instant], seen: &[Instant]) -> Row {
    let delays: Vec<Duration> =
        sent.iter().zip(seen).map(|(sent, seen)| seen.saturating_duration_since(*sent)).collect();
    let (middle, late) = latencies(&delays);
    let note = format!("median {middle:.0} µs, {} tokens, {TOKEN_MICROS} µs apart", delays.len());
    Row::one(format!("{what}: p99"), "ms", late / 1e3).at_most(2.0).note(note)
}

/// Sends a message to the engine; `line` is called for each line of the stream.
fn chat(port: u16, session: &str, message: &str, mut line: impl FnMut(&str)) -> Result<()> {
    let until = Instant::now() + DEADLINE;
    let mut stream = loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => break stream,
            Err(error) if Instant::now() > until => return Err(error.into()),
            Err(_) => sleep(Duration::from_millis(20)),
        }
    };
    stream.set_nodelay(true)?;
    let body = json!({ "message": message, "session": session }).to_string();
    let head = format!(
        "POST /chat HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    let mut ended = false;
    for read in BufReader::new(stream).lines() {
        let read = read?;
        line(&read);
        let event: Option<Value> =
            read.strip_prefix("data: ").and_then(|text| serde_json::from_str(text).ok());
        ended |= event.is_some_and(|event| event.get("type") == Some(&json!("stream_end")));
    }
    ensure!(ended, "the engine did not end its answer");
    Ok(())
}

fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

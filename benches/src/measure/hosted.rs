//! What hosted agents cost the hub: memory beside that of their own processes.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use linkspan_editor_api::{Decoder, Limits, encode};
use serde_json::{Value, json};

use super::Effort;
use crate::bench_hub::BenchHub;
use crate::editor::Editor;
use crate::process::{self, Memory};
use crate::report::Row;

const AGENTS: usize = 10;
/// Items of each conversation: a long afternoon.
const ITEMS: usize = 100;
const SETTLE: Duration = Duration::from_millis(500);
const DEADLINE: Duration = Duration::from_secs(30);

/// A connection that asks one thing at a time.
struct Client {
    stream: UnixStream,
    decoder: Decoder,
    next: u64,
}

impl Client {
    fn connect(hub: &BenchHub) -> Result<Client> {
        let stream = UnixStream::connect(hub.socket()?)?;
        stream.set_read_timeout(Some(DEADLINE))?;
        Ok(Client { stream, decoder: Decoder::new(Limits::default()), next: 0 })
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.next += 1;
        let id = self.next;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.stream.write_all(&encode(request.to_string().as_bytes()))?;
        let mut buffer = [0; 4096];
        loop {
            while let Some(body) = self.decoder.next()? {
                let message: Value = serde_json::from_slice(&body)?;
                if message.get("id") == Some(&json!(id)) {
                    return message.get("result").cloned().with_context(|| format!("{method}: {message}"));
                }
            }
            match self.stream.read(&mut buffer)? {
                0 => bail!("the hub closed the connection"),
                length => self.decoder.push(buffer.get(..length).unwrap_or_default()),
            }
        }
    }

    /// Until every conversation is idle; questions are allowed.
    fn until_idle(&mut self) -> Result<()> {
        let until = Instant::now() + DEADLINE;
        loop {
            for ask in
                self.ask("asks/list", &json!({}))?.get("asks").and_then(Value::as_array).into_iter().flatten()
            {
                self.ask("asks/answer", &json!({ "ask": ask.get("ask"), "option": "allowOnce" }))?;
            }
            let list = self.ask("chat/list", &json!({}))?;
            let chats = list.get("chats").and_then(Value::as_array).context("no conversations")?;
            let is_idle = |chat: &&Value| chat.pointer("/state/kind") == Some(&json!("idle"));
            if chats.iter().filter(is_idle).count() == AGENTS {
                return Ok(());
            }
            if Instant::now() > until {
                bail!("the conversations do not become idle: {list}");
            }
            sleep(Duration::from_millis(50));
        }
    }
}

pub(crate) fn measure(_effort: Effort) -> Result<Vec<Row>> {
    let hub = BenchHub::start()?;
    let program = std::env::current_exe()?.display().to_string();
    let agents = format!("[bench]\ncommand = {program:?}\nargs = [\"role\", \"chat-agent\"]\n");
    fs::write(hub.path("config/linkspan/agents.toml"), agents)?;
    let _editor = Editor::on_socket(&hub.socket()?, &hub.workspace())?;
    let mut client = Client::connect(&hub)?;
    client.ask("chat/agents", &json!({}))?;
    sleep(SETTLE);
    let before = process::memory(hub.pid)?;
    let mut chats = Vec::new();
    for _ in 0..AGENTS {
        let start = json!({ "agent": "bench", "folder": hub.workspace() });
        chats.push(client.ask("chat/start", &start)?.get("chat").context("no conversation")?.clone());
    }
    client.until_idle()?;
    sleep(SETTLE);
    let started = process::memory(hub.pid)?;
    for chat in &chats {
        client.ask("chat/prompt", &json!({ "chat": chat, "text": format!("items {ITEMS}") }))?;
    }
    client.until_idle()?;
    sleep(SETTLE);
    let worked = process::memory(hub.pid)?;
    Ok(vec![
        row("10 hosted agents: the hub's memory for them", before, started),
        row("10 hosted agents that said 100 things each: the hub's memory for them", before, worked),
    ])
}

fn row(what: &str, before: Memory, after: Memory) -> Row {
    let more = |of: fn(&Memory) -> u64| (of(&after) as f64 - of(&before) as f64) / 1e6;
    let note = format!("{:.1} MB its own, the rest pages of the program file", more(|memory| memory.own));
    Row::one(what, "MB", more(|memory| memory.resident)).at_most(5.0).note(note)
}

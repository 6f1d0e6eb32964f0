//! One small HTTP request after the other on one connection, client and server on one core: ppxai's bridge beside
//! the same bytes over raw TCP, and beside what a companion in Node is built on.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Effort;
use crate::process::{Cores, pin, pin_here};
use crate::report::Row;
use crate::role::Role;
use crate::stats::{Spread, latencies, median};
use crate::world::World;

/// How long nothing comes any more after an answer that is over.
const QUIET: Duration = Duration::from_millis(300);

/// A server whose answers to one request are all of one length.
struct Line {
    stream: TcpStream,
    request: Vec<u8>,
    reply: Vec<u8>,
    medians: Vec<f64>,
    tails: Vec<f64>,
}

impl Line {
    fn new(port: u16, request: Vec<u8>) -> Result<Line> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        let mut line = Line { stream, request, reply: Vec::new(), medians: Vec::new(), tails: Vec::new() };
        line.reply = line.first()?;
        line.stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        Ok(line)
    }

    fn first(&mut self) -> Result<Vec<u8>> {
        self.stream.write_all(&self.request)?;
        self.stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        let (mut reply, mut chunk) = (Vec::new(), [0; 4096]);
        while let Ok(count @ 1..) = self.stream.read(&mut chunk) {
            reply.extend(chunk.iter().take(count));
            self.stream.set_read_timeout(Some(QUIET))?;
        }
        ensure!(!reply.is_empty(), "no answer to {}", String::from_utf8_lossy(&self.request));
        Ok(reply)
    }

    fn round(&mut self, calls: u32) -> Result<()> {
        let mut times = Vec::new();
        let mut reply = vec![0; self.reply.len()];
        for _ in 0..calls {
            let start = Instant::now();
            self.stream.write_all(&self.request)?;
            self.stream.read_exact(&mut reply)?;
            times.push(start.elapsed());
        }
        let (middle, tail) = latencies(&times);
        self.medians.push(middle);
        self.tails.push(tail);
        Ok(())
    }

    fn over(&self, what: &str, floor: &Line) -> Row {
        let note = format!(
            "p50 {:.1} : {:.1} µs, p99 {:.1} : {:.1} µs",
            median(&self.medians),
            median(&floor.medians),
            median(&self.tails),
            median(&floor.tails),
        );
        Row::ratio(what, Spread::of_ratios(&self.medians, &floor.medians)).note(note)
    }
}

fn post(port: u16, path: &str, headers: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n{headers}\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let world = World::start()?;
    let editor = Role::editor(&world)?;
    let body = json!({ "id": "1", "tool": "ide.get_workspace_info", "args": {} });
    let hub = Line::new(editor.port, post(editor.port, "/ide/execute", "User-Agent: bench\r\n", &body))?;
    ensure!(hub.reply.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&hub.reply));
    let raw = Role::raw(&world, hub.request.len(), &hub.reply)?;
    let node = Node::start(&world)?;
    pin(world.hub, Cores::First)?;
    pin(raw.pid(), Cores::First)?;
    let _here = pin_here(Cores::First)?;
    let floor = Line::new(raw.port, hub.request.clone())?;
    let peer = node.as_ref().map(Node::line).transpose()?;
    let mut lines: Vec<Line> = [Some(floor), Some(hub), peer].into_iter().flatten().collect();
    for line in &mut lines {
        line.round(200)?;
        (line.medians, line.tails) = Default::default();
    }
    // Short turns: whatever else the machine does meanwhile happens to all of them.
    for _ in 0..effort.pick(200, 40) {
        for line in &mut lines {
            line.round(50)?;
        }
    }
    let mut rows = Vec::new();
    if let [floor, hub, peers @ ..] = lines.as_slice() {
        rows.push(hub.over("`POST /ide/execute`, p50 : raw TCP", floor));
        for peer in peers {
            rows.push(peer.over("a tool call by HTTP in Node's MCP SDK : `POST /ide/execute`, p50", hub));
        }
    }
    Ok(rows)
}

/// The peer, where its packages are there.
struct Node {
    child: Child,
    port: u16,
}

impl Node {
    fn start(world: &World) -> Result<Option<Node>> {
        let Some(folder) = std::env::var_os("LINKSPAN_TEST_NODE_MODULES") else { return Ok(None) };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/mcp_http.cjs");
        let mut command = world.command("node");
        command.arg(script).env("NODE_PATH", Path::new(&folder).join("node_modules"));
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let output = child.stdout.take().context("a child has no output")?;
        BufReader::new(output).read_line(&mut line)?;
        let mut node = Node { child, port: 0 };
        node.port = line.trim().parse().context("the peer in Node did not start")?;
        pin(node.child.id(), Cores::First)?;
        Ok(Some(node))
    }

    /// A connection with a session, ready to call.
    fn line(&self) -> Result<Line> {
        let accept = "Accept: application/json, text/event-stream\r\n";
        let client = json!({ "name": "bench", "version": "1" });
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let hello = Line::new(self.port, post(self.port, "/mcp", accept, &hello))?;
        let head = String::from_utf8_lossy(&hello.reply).into_owned();
        let session = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_owned())
        });
        let session = session.context("the peer in Node began no session")?;
        let headers = format!("{accept}Mcp-Session-Id: {session}\r\nMcp-Protocol-Version: 2025-06-18\r\n");
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        Line::new(self.port, post(self.port, "/mcp", &headers, &ready))?;
        let params = json!({ "name": "info", "arguments": {} });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let line = Line::new(self.port, post(self.port, "/mcp", &headers, &call))?;
        ensure!(line.reply.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&line.reply));
        Ok(line)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

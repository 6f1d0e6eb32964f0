//! An agent that costs as little as possible: blocking, with frames prepared in advance.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::ops::Range;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::bench_hub::AgentEndpoint;
use crate::frame::{CONTINUE, Frame, FrameReader, PING, PONG, TEXT, masked};

/// Nothing that is measured takes this long: a longer wait never ends.
pub(crate) const ANSWER_DEADLINE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Agent {
    stream: TcpStream,
    frames: FrameReader,
    /// Start of the last answer that came in several frames.
    opening: String,
}

impl Agent {
    /// A connection without a handshake, for a floor server.
    pub(crate) fn bare(port: u16) -> Result<Agent> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_DEADLINE))?;
        stream.set_write_timeout(Some(ANSWER_DEADLINE))?;
        Ok(Agent { stream, frames: FrameReader::new(), opening: String::new() })
    }

    /// A WebSocket; `headers` are whole lines.
    pub(crate) fn websocket(port: u16, headers: &str) -> Result<Agent> {
        let mut agent = Agent::bare(port)?;
        let head = format!(
            "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
        );
        agent.stream.write_all(head.as_bytes())?;
        let mut answer = String::new();
        // In effect one byte at a time: bytes after the head must stay unread.
        let mut reader = BufReader::with_capacity(1, &agent.stream);
        while !answer.ends_with("\r\n\r\n") {
            ensure!(reader.read_line(&mut answer)? > 0, "the server hung up in its answer: {answer}");
        }
        ensure!(answer.starts_with("HTTP/1.1 101"), "no upgrade: {answer}");
        Ok(agent)
    }

    /// A WebSocket to the hub, introduced.
    pub(crate) fn introduced(endpoint: &AgentEndpoint, dialect: BenchDialect) -> Result<Agent> {
        let agent =
            Agent::websocket(endpoint.port, &format!("{}: {}\r\n", dialect.header(), endpoint.token))?;
        agent.introduce()
    }

    /// MCP's handshake.
    pub(crate) fn introduce(mut self) -> Result<Agent> {
        self.call(&masked(TEXT, hello().to_string().as_bytes()))?;
        self.send(&masked(TEXT, ready().to_string().as_bytes()))?;
        Ok(self)
    }

    /// The socket, with no unread bytes in our buffer.
    pub(crate) fn into_stream(self) -> TcpStream {
        self.stream
    }

    pub(crate) fn send(&mut self, frame: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(frame)?)
    }

    /// The last frame of the next message; pings before it are answered.
    pub(crate) fn receive(&mut self) -> Result<Frame> {
        loop {
            match self.frames.next() {
                Some(Frame { opcode: PING, .. }) => self.stream.write_all(&masked(PONG, b""))?,
                Some(frame @ Frame { opcode: TEXT | CONTINUE, .. }) => {
                    if frame.last {
                        return Ok(frame);
                    }
                    if frame.opcode == TEXT {
                        self.opening = start_of(self.frames.bytes(&frame.payload));
                    }
                }
                Some(_) => bail!("the server closed the connection"),
                None => {
                    let count = self.stream.read(self.frames.room()).context("waiting for an answer")?;
                    ensure!(count > 0, "the server hung up");
                    self.frames.filled(count);
                }
            }
        }
    }

    pub(crate) fn call(&mut self, frame: &[u8]) -> Result<Frame> {
        self.send(frame)?;
        self.receive()
    }

    /// The bytes of the frame that was received last.
    pub(crate) fn bytes(&self, range: &Range<usize>) -> &[u8] {
        self.frames.bytes(range)
    }

    /// The start of an answer, also of one in several frames, of which this is the last.
    pub(crate) fn start_of_answer(&self, answer: &Frame) -> String {
        if answer.opcode == CONTINUE { self.opening.clone() } else { start_of(self.bytes(&answer.payload)) }
    }

    /// Calls a tool whose answer must contain a text.
    pub(crate) fn expect(&mut self, frame: &[u8], text: &str) -> Result<()> {
        let answer = self.call(frame)?;
        let start = self.start_of_answer(&answer);
        ensure!(start.contains(text), "expected {text}, got {start}");
        Ok(())
    }
}

/// As much of an answer as is worth printing.
pub(crate) fn start_of(answer: &[u8]) -> String {
    String::from_utf8_lossy(answer.get(..answer.len().min(600)).unwrap_or_default()).into_owned()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BenchDialect {
    Claude,
    Nexus3,
}

impl BenchDialect {
    fn header(self) -> &'static str {
        match self {
            BenchDialect::Claude => "x-claude-code-ide-authorization",
            BenchDialect::Nexus3 => "x-nexus3-ide-authorization",
        }
    }
}

/// The first message of MCP.
pub(crate) fn hello() -> Value {
    let client = json!({ "name": "bench", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

/// The second message of MCP.
pub(crate) fn ready() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

/// The message that calls a tool. The id is always the same: each is answered before the next.
pub(crate) fn tool_call(name: &str, arguments: Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
}

/// That message as a frame.
pub(crate) fn tool(name: &str, arguments: Value) -> Vec<u8> {
    masked(TEXT, tool_call(name, arguments).to_string().as_bytes())
}

/// The frame that proposes a change.
pub(crate) fn open_diff(path: &str, text: &str) -> Vec<u8> {
    tool(
        "openDiff",
        json!({ "old_file_path": path, "new_file_path": path, "new_file_contents": text, "tab_name": "bench" }),
    )
}

//! A session of MCP over HTTP on one connection that stays open: introduced, and ready to call.

use std::net::TcpStream;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::agent::{Agent, hello, ready};
use crate::timed_call::{TimedConnection, post};

const ACCEPT: &str = "Accept: application/json, text/event-stream\r\n";

#[derive(Debug)]
pub(crate) struct Streamable {
    stream: TcpStream,
    port: u16,
    headers: String,
}

impl Streamable {
    /// `headers` are whole lines.
    pub(crate) fn begin(port: u16, headers: &str) -> Result<Streamable> {
        let headers = format!("{ACCEPT}{headers}");
        let stream = Agent::bare(port)?.into_stream();
        let said = TimedConnection::open(stream, post(port, "/mcp", &headers, &hello()), "HTTP/1.1 200", 0)?;
        let head = String::from_utf8_lossy(said.answer()).into_owned();
        let session = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_owned())
        });
        let session = session.context("the server began no session")?;
        let headers = format!("{headers}Mcp-Session-Id: {session}\r\nMcp-Protocol-Version: 2025-06-18\r\n");
        let (stream, _) = said.into_parts();
        let said = TimedConnection::open(stream, post(port, "/mcp", &headers, &ready()), "HTTP/1.1 202", 0)?;
        let (stream, _) = said.into_parts();
        Ok(Streamable { stream, port, headers })
    }

    /// The connection, and the request that carries this message.
    pub(crate) fn call(self, message: &Value) -> (TcpStream, Vec<u8>) {
        let request = post(self.port, "/mcp", &self.headers, message);
        (self.stream, request)
    }
}

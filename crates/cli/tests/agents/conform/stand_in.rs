//! A server with Claude Code's protocol whose answers are those of the capture of claudecode.nvim, and which can be broken
//! in one way at a time. Shares no code with Linkspan.
//!
//! It is not claudecode.nvim: what several clients see, and when a pending change is answered after its tab was closed, is
//! not in the capture.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Cursor, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::http::{HeaderValue, StatusCode};
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::{Message, WebSocket};

use crate::support::*;

/// One way to be wrong, or different.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Admits everybody.
    NoAuth,
    /// Does not confirm the subprotocol.
    NoSubprotocol,
    /// `getWorkspaceFolders` and `getOpenEditors` answer with lists, as NEXUS3 does.
    OtherShapes,
    /// Answers `openDiff` with `TAB_CLOSED` when its tab is closed, which Claude Code takes as accepted.
    ClosedIsAccepted,
    /// Never answers a call of an unknown tool.
    SilentAboutTools,
    /// Ends the connection when a message is not JSON.
    EndsOnBadJson,
    /// Accepts by itself.
    AcceptsByItself,
    /// Refuses messages in several frames, `ping`, diagnostics of files that are not open: as in the capture.
    AsCaptured,
}

pub(super) struct StandIn {
    pub(super) lock: PathBuf,
}

impl StandIn {
    pub(super) fn start(world: &World, fault: Option<Fault>) -> StandIn {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let answers = Arc::new(captured(world));
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let answers = Arc::clone(&answers);
                thread::spawn(move || serve(stream, &answers, fault));
            }
        });
        let folder = world.folder("stand-in/.claude/ide");
        let lock = folder.join(format!("{port}.lock"));
        let text = json!({
            "pid": std::process::id(), "workspaceFolders": [world.workspace()], "ideName": "Neovim",
            "transport": "ws", "authToken": TOKEN,
        });
        fs::write(&lock, text.to_string()).unwrap();
        StandIn { lock }
    }
}

const TOKEN: &str = "token-of-the-stand-in";

/// The last good answer of the capture to each method and each tool, in this workspace.
fn captured(world: &World) -> BTreeMap<String, Value> {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wire/claudecode.nvim-all-tools.jsonl");
    let (mut asked, mut answers) = (BTreeMap::new(), BTreeMap::new());
    for line in fs::read_to_string(path).unwrap().lines() {
        let line = line.replace("/w/ws", world.workspace().to_str().unwrap());
        let frame: Value = serde_json::from_str(&line).unwrap();
        let frame = &frame["frame"];
        let id = frame["id"].to_string();
        match (frame["method"].as_str(), frame.get("result")) {
            (Some("tools/call"), _) => {
                asked.insert(id, frame["params"]["name"].as_str().unwrap().to_owned());
            }
            (Some(method), _) => {
                asked.insert(id, method.to_owned());
            }
            (None, Some(result)) if result.get("code").is_none() => {
                let name = asked.get(&id).unwrap().clone();
                answers.insert(name, result.clone());
            }
            (None, _) => {}
        }
    }
    answers
}

fn serve(stream: TcpStream, answers: &BTreeMap<String, Value>, fault: Option<Fault>) {
    #[expect(clippy::result_large_err, reason = "tungstenite wants the callback like this")]
    let check = |request: &Request, mut response: Response| {
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        let is_known =
            header("x-claude-code-ide-authorization") == Some(TOKEN) || fault == Some(Fault::NoAuth);
        if !is_known || header("origin").is_some() {
            let mut refused = ErrorResponse::new(None);
            // As claudecode.nvim does.
            *refused.status_mut() = StatusCode::BAD_REQUEST;
            return Err(refused);
        }
        if header("sec-websocket-protocol").is_some() && fault != Some(Fault::NoSubprotocol) {
            response.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("mcp"));
        }
        Ok(response)
    };
    let refuses_fragments = fault == Some(Fault::AsCaptured);
    let stream = Watched { stream, frames: Vec::new(), is_http: true, refuses_fragments };
    let Ok(socket) = tungstenite::accept_hdr(stream, check) else { return };
    Served { socket, answers, fault, pending: Vec::new() }.run();
}

/// Ends at the first part of a message in several frames, as claudecode.nvim does.
struct Watched {
    stream: TcpStream,
    /// What was read since the last complete frame.
    frames: Vec<u8>,
    is_http: bool,
    refuses_fragments: bool,
}

impl Watched {
    /// Whether a frame that is not the last of its message began.
    fn has_fragment(&mut self) -> bool {
        loop {
            let mut cursor = Cursor::new(&self.frames);
            let Ok(Some((header, length))) = FrameHeader::parse(&mut cursor) else { return false };
            if !header.is_final {
                return true;
            }
            let end = usize::try_from(cursor.position() + length).unwrap();
            if self.frames.len() < end {
                return false;
            }
            self.frames.drain(..end);
        }
    }
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.stream.read(buffer)?;
        self.frames.extend(buffer.iter().take(length));
        if self.is_http {
            // A client waits for the answer before it sends frames.
            self.is_http = !self.frames.ends_with(b"\r\n\r\n");
            if !self.is_http {
                self.frames.clear();
            }
        } else if self.refuses_fragments && self.has_fragment() {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(length)
    }
}

impl Write for Watched {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

struct Served<'a> {
    socket: WebSocket<Watched>,
    answers: &'a BTreeMap<String, Value>,
    fault: Option<Fault>,
    /// Ids and tabs of the changes that are shown.
    pending: Vec<(Value, String)>,
}

impl Served<'_> {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn run(&mut self) {
        while let Ok(message) = self.socket.read() {
            let Message::Text(text) = message else { continue };
            if !self.take(&text) {
                let _ = self.socket.close(None);
                return;
            }
        }
    }

    fn send(&mut self, id: &Value, member: &str, value: &Value) -> bool {
        let answer = json!({ "jsonrpc": "2.0", "id": id, member: value });
        self.socket.send(Message::text(answer.to_string())).is_ok()
    }

    fn fails(&mut self, id: &Value, code: i64, message: &str) -> bool {
        self.send(id, "error", &json!({ "code": code, "message": message }))
    }

    /// False ends the connection.
    fn take(&mut self, text: &str) -> bool {
        let Ok(asked) = serde_json::from_str::<Value>(text) else {
            let error = json!({ "jsonrpc": "2.0", "error": { "code": -32700, "message": "Parse error" } });
            return !self.has(Fault::EndsOnBadJson)
                && self.socket.send(Message::text(error.to_string())).is_ok();
        };
        let (Some(id), Some(method)) = (asked.get("id"), asked["method"].as_str()) else { return true };
        match method {
            "initialize" | "tools/list" => self.send(id, "result", &self.answers[method].clone()),
            "ping" if !self.has(Fault::AsCaptured) => self.send(id, "result", &json!({})),
            "tools/call" => {
                let name = asked["params"]["name"].as_str().unwrap_or_default();
                self.call(id, name, &asked["params"]["arguments"])
            }
            _ => self.fails(id, -32601, "Method not found"),
        }
    }

    fn call(&mut self, id: &Value, tool: &str, arguments: &Value) -> bool {
        match tool {
            "openDiff" if !arguments["new_file_contents"].is_string() => {
                self.fails(id, -32602, "Invalid params")
            }
            "openDiff" if self.has(Fault::AcceptsByItself) => {
                let text = arguments["new_file_contents"].as_str().unwrap();
                self.texts(id, &["FILE_SAVED", text])
            }
            "openDiff" => {
                self.pending.push((id.clone(), arguments["tab_name"].as_str().unwrap().to_owned()));
                true
            }
            "close_tab" => {
                self.close(|tab| arguments["tab_name"] == *tab);
                self.texts(id, &["TAB_CLOSED"])
            }
            "closeAllDiffTabs" => {
                let closed = self.close(|_| true);
                self.texts(id, &[&format!("CLOSED_{closed}_DIFF_TABS")])
            }
            "getWorkspaceFolders" | "getOpenEditors" if self.has(Fault::OtherShapes) => {
                self.texts(id, &["[]"])
            }
            "getDiagnostics" if self.has(Fault::AsCaptured) && arguments["uri"].is_string() => {
                self.fails(id, -32001, "File not open")
            }
            "getDiagnostics"
            | "getCurrentSelection"
            | "getLatestSelection"
            | "getOpenEditors"
            | "getWorkspaceFolders" => self.send(id, "result", &self.answers[tool].clone()),
            "checkDocumentDirty" => {
                self.texts(id, &["{\"success\":false,\"message\":\"Document not open\"}"])
            }
            _ if self.has(Fault::SilentAboutTools) => true,
            _ => self.fails(id, -32601, "Tool not found"),
        }
    }

    fn texts(&mut self, id: &Value, texts: &[&str]) -> bool {
        let content: Vec<Value> = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
        self.send(id, "result", &json!({ "content": content }))
    }

    /// Answers the changes in these tabs; returns their number.
    fn close(&mut self, is_closed: impl Fn(&String) -> bool) -> usize {
        let (closed, rest) =
            std::mem::take(&mut self.pending).into_iter().partition(|(_, tab)| is_closed(tab));
        self.pending = rest;
        let closed: Vec<(Value, String)> = closed;
        for (id, tab) in &closed {
            match self.has(Fault::ClosedIsAccepted) {
                true => self.texts(id, &["TAB_CLOSED"]),
                false => self.texts(id, &["DIFF_REJECTED", tab]),
            };
        }
        closed.len()
    }
}

impl Drop for Served<'_> {
    fn drop(&mut self) {
        // Bytes that were not read would reset the connection before the last answer is read.
        thread::sleep(Duration::from_millis(10));
    }
}

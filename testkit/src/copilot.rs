//! GitHub Copilot CLI as it speaks to editors, by hand: MCP over HTTP on a window's Unix socket, one connection for each
//! request, bodies in chunks, a session id of its own choice.

use std::io::{BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::gemini::{Http, Stream, read_head};
use super::raw_http::head;
use super::{DEADLINE, World};

/// One agent with its session.
#[derive(Debug, Clone)]
pub struct Copilot {
    pub socket: PathBuf,
    /// The value of the header that the lock file names.
    pub authorization: String,
    pub session: String,
    /// The hub has accepted the session.
    pub begun: bool,
}

/// The lock files of all windows.
pub fn locks(world: &World) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(world.home().join(".copilot/ide")).into_iter().flatten();
    let mut locks: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    locks.retain(|path| path.extension().is_some_and(|extension| extension == "lock"));
    locks.sort();
    locks
}

/// The contents of the only lock file.
#[track_caller]
pub fn lock(world: &World) -> Value {
    let locks = locks(world);
    assert_eq!(locks.len(), 1, "{locks:?}");
    serde_json::from_slice(&std::fs::read(&locks[0]).unwrap()).unwrap()
}

impl Copilot {
    /// Finds the only window as Copilot CLI does; sends nothing yet.
    #[track_caller]
    pub fn find(world: &World, session: &str) -> Copilot {
        let lock = lock(world);
        assert_eq!(lock["scheme"], "unix");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Copilot {
            socket: text(&lock["socketPath"]).into(),
            authorization: text(&lock["headers"]["Authorization"]),
            session: session.to_owned(),
            begun: false,
        }
    }

    /// Finds the window, and does the handshake.
    #[track_caller]
    pub fn ready(world: &World, session: &str) -> Copilot {
        let mut agent = Copilot::find(world, session);
        agent.shake_hands();
        agent
    }

    /// As the real one does: it asks for what newer servers have, then begins a session.
    #[track_caller]
    pub fn shake_hands(&mut self) {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        let discover =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": { "_meta": meta } });
        let discovered = self.post(&discover);
        assert_eq!((discovered.status, &discovered.message()["error"]["code"]), (200, &json!(-32601)));
        let hello = self.initialize();
        assert_eq!(hello.status, 200, "{hello:?}");
        assert_eq!(hello.header("mcp-session-id"), Some(self.session.as_str()), "{hello:?}");
        self.begun = true;
        let ready = self.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        assert_eq!(ready.status, 202, "{ready:?}");
    }

    pub fn initialize(&self) -> Http {
        let client = json!({ "name": "copilot-cli", "version": "1.0.102" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        self.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }))
    }

    /// The header lines of every request.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("X-Copilot-Session-Id: {}", self.session),
            "X-Copilot-PID: 4242".to_owned(),
            "X-Copilot-Parent-PID: 4242".to_owned(),
            format!("Authorization: {}", self.authorization),
            "Host: localhost".to_owned(),
            "Connection: keep-alive".to_owned(),
        ];
        if self.begun {
            lines.push(format!("mcp-session-id: {}", self.session));
        }
        lines
    }

    /// A POST as the real one sends it.
    pub fn posted(&self, body: &str) -> String {
        let mut lines = self.lines();
        lines.push("accept: application/json, text/event-stream".to_owned());
        lines.push("content-type: application/json".to_owned());
        lines.push("Transfer-Encoding: chunked".to_owned());
        head("POST /mcp HTTP/1.1", &lines) + &chunked(body)
    }

    #[track_caller]
    pub fn post(&self, message: &Value) -> Http {
        self.send(&self.posted(&message.to_string()))
    }

    #[track_caller]
    pub fn delete(&self) -> Http {
        self.send(&head("DELETE /mcp HTTP/1.1", &self.lines()))
    }

    /// Sends these bytes and reads the complete answer.
    #[track_caller]
    pub fn send(&self, bytes: &str) -> Http {
        exchange(&self.socket, bytes).unwrap_or_else(|why| panic!("{why}"))
    }

    #[track_caller]
    pub fn call(&self, id: i64, tool: &str, arguments: Value) -> Value {
        let answer = self.post(&call_message(id, tool, arguments));
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.message()
    }

    /// The JSON in the only text of a tool's result.
    #[track_caller]
    pub fn tool(&self, tool: &str, arguments: Value) -> Value {
        inner(&self.call(9, tool, arguments))
    }

    /// Proposes a change and does not wait.
    #[track_caller]
    pub fn open_diff(&self, path: &str, text: &str, tab: &str) -> PendingDiff {
        let arguments = json!({ "original_file_path": path, "new_file_contents": text, "tab_name": tab });
        let mut socket = UnixStream::connect(&self.socket).unwrap();
        let body = call_message(7, "open_diff", arguments).to_string();
        socket.write_all(self.posted(&body).as_bytes()).unwrap();
        PendingDiff { socket }
    }

    /// Listens; pings are answered.
    #[track_caller]
    pub fn listen(&self) -> Stream {
        let mut lines = self.lines();
        lines.push("accept: text/event-stream".to_owned());
        let mut socket = UnixStream::connect(&self.socket).unwrap();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        socket.write_all(head("GET /mcp HTTP/1.1", &lines).as_bytes()).unwrap();
        let reading = socket.try_clone().unwrap();
        let (cut, agent) = (socket.try_clone().unwrap(), self.clone());
        let answers = move |id: &Value| {
            let pong = json!({ "jsonrpc": "2.0", "id": id, "result": {} }).to_string();
            // The server may already be gone.
            let _ = exchange(&agent.socket, &agent.posted(&pong));
        };
        let cut_off = move || drop(cut.shutdown(Shutdown::Both));
        let stream = Stream::read(reading, Box::new(cut_off), Some(Box::new(answers)));
        socket.set_read_timeout(None).unwrap();
        stream.unwrap_or_else(|why| panic!("no stream: {why}"))
    }
}

/// A proposal whose answer has not been read.
#[derive(Debug)]
pub struct PendingDiff {
    socket: UnixStream,
}

impl PendingDiff {
    /// The message in its answer.
    #[track_caller]
    pub fn answer(self) -> Value {
        self.http().message()
    }

    #[track_caller]
    pub fn http(self) -> Http {
        self.socket.set_read_timeout(Some(DEADLINE)).unwrap();
        read_answer(self.socket).unwrap_or_else(|why| panic!("{why}"))
    }

    /// Nothing is answered for a moment.
    #[track_caller]
    pub fn waits(&self) {
        self.socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let mut byte = [0];
        let read = (&self.socket).read(&mut byte);
        let kind = read.map_err(|error| error.kind());
        assert_eq!(kind, Err(std::io::ErrorKind::WouldBlock), "it was answered");
    }

    /// The user's decision in the answer: `SAVED` or `REJECTED`, and the message with it.
    #[track_caller]
    pub fn decision(self) -> (String, String) {
        let decided = inner(&self.answer());
        assert_eq!(decided["success"], true, "{decided}");
        (decided["result"].as_str().unwrap().to_owned(), decided["message"].as_str().unwrap().to_owned())
    }

    /// Its connection ends, and nothing else.
    pub fn cut_off(self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

#[track_caller]
pub fn inner(answer: &Value) -> Value {
    let content = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!((content.len(), &content[0]["type"]), (1, &json!("text")), "{answer}");
    serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap()
}

fn call_message(id: i64, tool: &str, arguments: Value) -> Value {
    let params = json!({ "_meta": { "progressToken": id }, "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

fn chunked(body: &str) -> String {
    let half = body.floor_char_boundary(body.len() / 2);
    let (first, second) = body.split_at(half);
    let chunk =
        |text: &str| if text.is_empty() { String::new() } else { format!("{:x}\r\n{text}\r\n", text.len()) };
    format!("{}{}0\r\n\r\n", chunk(first), chunk(second))
}

fn exchange(socket: &Path, bytes: &str) -> Result<Http, String> {
    let mut stream = UnixStream::connect(socket).map_err(|error| error.to_string())?;
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    // A server that refuses the head closes before it has read the rest.
    let _ = stream.write_all(bytes.as_bytes());
    read_answer(stream)
}

/// Up to the end of the connection.
fn read_answer(stream: UnixStream) -> Result<Http, String> {
    let mut reader = BufReader::new(stream);
    let (status, headers) = read_head(&mut reader)?;
    let mut body = Vec::new();
    let _ = reader.read_to_end(&mut body);
    Ok(Http { status, headers, body: String::from_utf8(body).unwrap() })
}

//! An agent that speaks MCP over Streamable HTTP, by hand: one connection for each request, and a reader of streams.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::raw_http::{connect, head};
use super::{DEADLINE, World};

/// A complete answer.
#[derive(Debug)]
pub struct Http {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Http {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The message in the body, whichever form it has.
    #[track_caller]
    pub fn message(&self) -> Value {
        let text = match self.header("content-type") {
            Some("text/event-stream") => self.body.trim_end().strip_prefix("event: message\ndata: ").unwrap(),
            _ => &self.body,
        };
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// One agent with its session.
#[derive(Debug, Clone)]
pub struct Gemini {
    pub port: u16,
    pub token: String,
    pub session: Option<String>,
    /// The content types that it accepts.
    pub accept: String,
}

impl Gemini {
    /// Finds the window as Gemini CLI does; sends nothing yet.
    #[track_caller]
    pub fn find(world: &World, port: u16) -> Gemini {
        let files = world.gemini_files();
        let ours = files.iter().find(|path| path.to_str().unwrap().ends_with(&format!("-{port}.json")));
        let file: Value = serde_json::from_slice(&std::fs::read(ours.unwrap()).unwrap()).unwrap();
        assert_eq!(file["port"], port);
        let token = file["authToken"].as_str().unwrap().to_owned();
        Gemini { port, token, session: None, accept: "application/json, text/event-stream".to_owned() }
    }

    /// Finds the window, and does the handshake.
    #[track_caller]
    pub fn ready(world: &World, port: u16) -> Gemini {
        let mut agent = Gemini::find(world, port);
        let client = json!({ "name": "streamable-http-client", "version": "0.61.0" });
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let hello =
            agent.post(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
        assert_eq!(hello.status, 200, "{hello:?}");
        agent.session = hello.header("mcp-session-id").map(str::to_owned);
        assert!(agent.session.is_some(), "{hello:?}");
        let initialized = agent.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        assert_eq!(initialized.status, 202, "{initialized:?}");
        agent
    }

    /// The header lines of every request.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("Host: 127.0.0.1:{}", self.port),
            format!("Authorization: Bearer {}", self.token),
            "Connection: close".to_owned(),
        ];
        lines.extend(self.session.iter().map(|session| format!("Mcp-Session-Id: {session}")));
        lines
    }

    pub fn post(&self, message: &Value) -> Http {
        self.post_text(&message.to_string(), &[])
    }

    pub fn post_text(&self, body: &str, more: &[&str]) -> Http {
        request(self.port, &self.posted(body, more))
    }

    /// Sends it and returns the stream on which the answer will arrive.
    pub fn try_post(&self, message: &Value) -> Option<TcpStream> {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        socket.write_all(self.posted(&message.to_string(), &[]).as_bytes()).ok()?;
        Some(socket)
    }

    fn posted(&self, body: &str, more: &[&str]) -> String {
        let mut lines = self.lines();
        lines.push("Content-Type: application/json".to_owned());
        lines.push(format!("Accept: {}", self.accept));
        lines.push(format!("Content-Length: {}", body.len()));
        lines.extend(more.iter().map(|line| (*line).to_owned()));
        head("POST /mcp HTTP/1.1", &lines) + body
    }

    /// The server may already be gone.
    fn pong(&self, id: &Value) {
        let body = json!({ "jsonrpc": "2.0", "id": id, "result": {} }).to_string();
        let mut lines = self.lines();
        lines.push("Content-Type: application/json".to_owned());
        lines.push(format!("Content-Length: {}", body.len()));
        if let Ok(mut socket) = TcpStream::connect(("127.0.0.1", self.port)) {
            let _ = socket.write_all((head("POST /mcp HTTP/1.1", &lines) + &body).as_bytes());
            let _ = socket.read_to_end(&mut Vec::new());
        }
    }

    pub fn delete(&self) -> Http {
        request(self.port, &head("DELETE /mcp HTTP/1.1", &self.lines()))
    }

    #[track_caller]
    pub fn call(&self, id: i64, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer =
            self.post(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.message()
    }

    #[track_caller]
    pub fn open_diff(&self, path: &str, text: &str) {
        let answer = self.call(7, "openDiff", json!({ "filePath": path, "newContent": text }));
        assert_eq!(answer["result"], json!({ "content": [] }));
    }

    /// Listens; pings are answered.
    #[track_caller]
    pub fn listen(&self, last_event_id: Option<&str>) -> Stream {
        self.get(last_event_id, Some(self.clone()))
    }

    /// Listens, and never answers pings.
    #[track_caller]
    pub fn listen_silently(&self, last_event_id: Option<&str>) -> Stream {
        self.get(last_event_id, None)
    }

    #[track_caller]
    fn get(&self, last_event_id: Option<&str>, answers: Option<Gemini>) -> Stream {
        let mut socket = connect(self.port);
        socket.write_all(self.asks_to_listen(last_event_id).as_bytes()).unwrap();
        Stream::begin(socket, answers).unwrap_or_else(|why| panic!("no stream: {why}"))
    }

    /// Listens, if there is a hub that admits it.
    pub fn try_listen(&self, last_event_id: Option<&str>) -> Option<Stream> {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        socket.set_read_timeout(Some(DEADLINE)).ok()?;
        socket.write_all(self.asks_to_listen(last_event_id).as_bytes()).ok()?;
        Stream::begin(socket, Some(self.clone())).ok()
    }

    fn asks_to_listen(&self, last_event_id: Option<&str>) -> String {
        let mut lines = self.lines();
        lines.retain(|line| !line.starts_with("Connection"));
        lines.push("Accept: text/event-stream".to_owned());
        lines.extend(last_event_id.map(|id| format!("Last-Event-ID: {id}")));
        head("GET /mcp HTTP/1.1", &lines)
    }
}

/// Sends these bytes and reads the complete answer.
#[track_caller]
pub fn request(port: u16, bytes: &str) -> Http {
    let mut socket = connect(port);
    let _ = socket.write_all(bytes.as_bytes());
    let mut reader = BufReader::new(socket);
    let (status, headers) = read_head(&mut reader).unwrap_or_else(|why| panic!("{why}"));
    let mut body = Vec::new();
    let _ = reader.read_to_end(&mut body);
    Http { status, headers, body: String::from_utf8(body).unwrap() }
}

type Head = (u16, Vec<(String, String)>);

/// An error says what arrived instead.
pub(crate) fn read_head(reader: &mut impl BufRead) -> Result<Head, String> {
    let mut first = String::new();
    reader.read_line(&mut first).map_err(|error| error.to_string())?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).map_err(|error| error.to_string())?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    Ok((status.ok_or_else(|| format!("no answer: {first:?}"))?, headers))
}

/// Answers a ping with this id.
pub(crate) type Pong = Box<dyn Fn(&Value) + Send>;

/// An open stream of events.
pub struct Stream {
    /// Ends its connection.
    cut_off: Box<dyn Fn() + Send>,
    events: Receiver<(String, Value)>,
    /// The id of the event that was received last.
    pub last: Option<String>,
    frozen: Arc<AtomicBool>,
    ended: bool,
}

impl Stream {
    fn begin(socket: TcpStream, answers: Option<Gemini>) -> Result<Stream, String> {
        let (reading, cut) = (socket.try_clone().unwrap(), socket.try_clone().unwrap());
        let pong = answers.map(|agent| Box::new(move |id: &Value| agent.pong(id)) as Pong);
        let stream = Stream::read(reading, Box::new(move || drop(cut.shutdown(Shutdown::Both))), pong)?;
        socket.set_read_timeout(None).unwrap();
        Ok(stream)
    }

    pub(crate) fn read(
        reading: impl Read + Send + 'static,
        cut_off: Box<dyn Fn() + Send>,
        pong: Option<Pong>,
    ) -> Result<Stream, String> {
        let mut reader = BufReader::new(reading);
        let (status, headers) = read_head(&mut reader)?;
        if status != 200 {
            return Err(format!("{status} {headers:?}"));
        }
        let is = |name: &str, value: &str| headers.contains(&(name.to_owned(), value.to_owned()));
        assert!(is("content-type", "text/event-stream") && is("transfer-encoding", "chunked"), "{headers:?}");
        let (sender, events) = channel();
        let frozen = Arc::new(AtomicBool::new(false));
        let stands_still = Arc::clone(&frozen);
        thread::spawn(move || {
            let mut text = String::new();
            while let Some(chunk) = chunk(&mut reader) {
                while stands_still.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(5));
                }
                text.push_str(&chunk);
                while let Some((event, rest)) = text.split_once("\n\n") {
                    let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                    if let (Some(id), Some(data)) = (field("id: "), field("data: ")) {
                        assert_eq!(field("event: "), Some("message"));
                        let message: Value = serde_json::from_str(data).unwrap();
                        if let (Some(pong), true) = (&pong, message["method"] == "ping") {
                            pong(&message["id"]);
                        }
                        let _ = sender.send((id.to_owned(), message));
                    }
                    text = rest.to_owned();
                }
            }
        });
        Ok(Stream { cut_off, events, last: None, frozen, ended: false })
    }

    /// Reads nothing and answers no ping until thawed, as a stopped process would.
    pub fn freeze(&self) {
        self.frozen.store(true, Ordering::Relaxed);
    }

    pub fn thaw(&self) {
        self.frozen.store(false, Ordering::Relaxed);
    }

    /// Whether its end has been received.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    pub fn cut_off(&self) {
        (self.cut_off)();
    }

    /// The next message other than a ping; `None` when the stream has ended, or nothing arrives in time.
    pub fn next_within(&mut self, time: Duration) -> Option<Value> {
        loop {
            let (id, message) = match self.events.recv_timeout(time) {
                Ok(event) => event,
                Err(error) => {
                    self.ended |= error == RecvTimeoutError::Disconnected;
                    return None;
                }
            };
            self.last = Some(id);
            if message["method"] != "ping" {
                return Some(message);
            }
        }
    }

    /// The next notification of this method; all others are skipped.
    #[track_caller]
    pub fn notification(&mut self, method: &str) -> Value {
        loop {
            let message = self.next_within(DEADLINE).unwrap_or_else(|| panic!("never received: {method}"));
            if message["method"] == method {
                return message;
            }
        }
    }

    /// Further messages within a moment, except for the context.
    pub fn rest(&mut self) -> Vec<Value> {
        let rest = std::iter::from_fn(|| self.next_within(Duration::from_millis(300)));
        rest.filter(|message| message["method"] != "ide/contextUpdate").collect()
    }

    /// Waits for its end.
    #[track_caller]
    pub fn ended(&mut self) {
        let until = std::time::Instant::now() + DEADLINE;
        while !matches!(self.events.recv_timeout(DEADLINE), Err(RecvTimeoutError::Disconnected)) {
            assert!(std::time::Instant::now() < until, "the stream does not end");
        }
    }

    /// Drops it without a message.
    pub fn drop_it(self) -> Option<String> {
        self.cut_off();
        self.last
    }
}

fn chunk(reader: &mut impl BufRead) -> Option<String> {
    let mut size = String::new();
    reader.read_line(&mut size).ok()?;
    let size = usize::from_str_radix(size.trim(), 16).ok().filter(|size| *size > 0)?;
    let mut bytes = vec![0; size + 2];
    reader.read_exact(&mut bytes).ok()?;
    String::from_utf8(bytes).ok().map(|text| text.strip_suffix("\r\n").unwrap().to_owned())
}

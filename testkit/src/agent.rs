//! An agent: a WebSocket client that finds the window by its discovery file, as real ones do. Shares no code
//! with the hub. A thread reads all the time, so that pings are answered as a live agent answers them.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::handshake::client::Response;
use tungstenite::http::HeaderValue;
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

use super::{DEADLINE, World, eventually};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WsDialect {
    Claude,
    Nexus3,
}

impl WsDialect {
    pub fn header(self) -> &'static str {
        match self {
            WsDialect::Claude => "X-Claude-Code-Ide-Authorization",
            WsDialect::Nexus3 => "x-nexus3-ide-authorization",
        }
    }

    pub fn folder(self, world: &World) -> PathBuf {
        world.home().join(match self {
            WsDialect::Claude => ".claude/ide",
            WsDialect::Nexus3 => ".nexus3/ide",
        })
    }

    /// The discovery file of the window on that port.
    pub fn lock(self, world: &World, port: u16) -> Value {
        let path = self.folder(world).join(format!("{port}.lock"));
        eventually(&format!("{} is there", path.display()), || {
            serde_json::from_slice(&fs::read(&path).ok()?).ok()
        })
    }
}

/// The one end of the socket that both the reader thread and the sender hold: one whole frame at a time.
#[derive(Clone)]
struct Transport {
    stream: Arc<TcpStream>,
    writing: Arc<Mutex<()>>,
    frozen: Arc<AtomicBool>,
}

impl Read for Transport {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = (&*self.stream).read(buffer)?;
        while self.frozen.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
        Ok(length)
    }
}

impl Write for Transport {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let _one = self.writing.lock().unwrap();
        (&*self.stream).write_all(buffer)?;
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub struct Agent {
    transport: Transport,
    sender: WebSocket<Transport>,
    frames: Receiver<Frame>,
    /// Read while looking for something else.
    unread: VecDeque<Value>,
    next_id: i64,
    pub response: Response,
    pub closed: Option<Option<u16>>,
}

enum Frame {
    Text(String),
    /// Set when the connection has ended; with the code if the hub closed it.
    End(Option<u16>),
}

/// How an agent introduces itself.
#[derive(Debug, Clone, Copy)]
pub struct Who {
    pub name: &'static str,
    pub version: &'static str,
    pub protocol: &'static str,
}

pub const CLAUDE: Who = Who { name: "claude-code", version: "2.1.325", protocol: "2025-11-25" };
/// A client of NEXUS3's protocol that leaves the writing to the editor side, as the protocol intends.
pub const NEXUS3: Who = Who { name: "nexus3-client", version: "1.0.0", protocol: "2024-11-05" };
/// NEXUS3 itself, whose REPL runs its own tool after `FILE_SAVED`.
pub const NEXUS3_ITSELF: Who = Who { name: "nexus3", ..NEXUS3 };

impl Agent {
    /// Claude Code, connected and introduced.
    #[track_caller]
    pub fn claude(world: &World, port: u16) -> Agent {
        Agent::introduced(world, port, WsDialect::Claude, CLAUDE)
    }

    /// NEXUS3, connected and introduced.
    #[track_caller]
    pub fn nexus3(world: &World, port: u16) -> Agent {
        Agent::introduced(world, port, WsDialect::Nexus3, NEXUS3)
    }

    #[track_caller]
    pub fn introduced(world: &World, port: u16, dialect: WsDialect, who: Who) -> Agent {
        let mut agent = Agent::connect(world, port, dialect);
        agent.introduce(who);
        agent
    }

    /// Connected by the discovery file, before the handshake.
    #[track_caller]
    pub fn connect(world: &World, port: u16, dialect: WsDialect) -> Agent {
        let token = dialect.lock(world, port)["authToken"].as_str().unwrap().to_owned();
        let mut headers = vec![(dialect.header(), token.as_str())];
        if dialect == WsDialect::Claude {
            headers.push(("Sec-WebSocket-Protocol", "mcp"));
        }
        Agent::open(port, &headers).unwrap_or_else(|error| panic!("not admitted: {error}"))
    }

    /// A WebSocket handshake with these headers and no others of its own.
    pub fn open(port: u16, headers: &[(&str, &str)]) -> Result<Agent, Box<tungstenite::Error>> {
        Agent::open_at(port, "/", headers)
    }

    pub fn open_at(
        port: u16,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<Agent, Box<tungstenite::Error>> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|error| Box::new(error.into()))?;
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.set_write_timeout(Some(DEADLINE)).unwrap();
        let mut request = format!("ws://127.0.0.1:{port}{path}").into_client_request().unwrap();
        for (name, value) in headers {
            let name = tungstenite::http::HeaderName::try_from(*name).unwrap();
            request.headers_mut().insert(name, HeaderValue::from_str(value).unwrap());
        }
        let stream = Arc::new(stream);
        let transport = Transport {
            stream: Arc::clone(&stream),
            writing: Arc::default(),
            frozen: Arc::new(AtomicBool::new(false)),
        };
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let (socket, response) =
            tungstenite::client::client_with_config(request, transport.clone(), Some(config)).map_err(
                |error| match error {
                    tungstenite::HandshakeError::Failure(error) => Box::new(error),
                    tungstenite::HandshakeError::Interrupted(_) => {
                        Box::new(io::Error::from(io::ErrorKind::TimedOut).into())
                    }
                },
            )?;
        // From here on the methods that wait have a deadline of their own.
        stream.set_read_timeout(None).unwrap();
        let sender = WebSocket::from_raw_socket(transport.clone(), Role::Client, None);
        let (frames_in, frames) = channel();
        thread::spawn(move || read(socket, &frames_in));
        Ok(Agent { transport, sender, frames, unread: VecDeque::new(), next_id: 0, response, closed: None })
    }

    #[track_caller]
    pub fn introduce(&mut self, who: Who) -> Value {
        let params = json!({
            "protocolVersion": who.protocol,
            "capabilities": {},
            "clientInfo": { "name": who.name, "version": who.version },
        });
        let answer = self.request("initialize", params);
        self.notify("notifications/initialized", json!({}));
        answer
    }

    #[track_caller]
    pub fn send_text(&mut self, text: impl Into<String>) {
        self.sender.send(Message::text(text.into())).unwrap();
    }

    #[track_caller]
    pub fn send_json(&mut self, message: &Value) {
        self.send_text(message.to_string());
    }

    /// Sends to a hub that may be gone; returns whether it was sent.
    pub fn try_send_json(&mut self, message: &Value) -> bool {
        self.send_message(Message::text(message.to_string())).is_ok()
    }

    /// Any frame, including forbidden ones.
    pub fn send_message(&mut self, message: Message) -> Result<(), Box<tungstenite::Error>> {
        self.sender.send(message).map_err(Box::new)
    }

    #[track_caller]
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send_json(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub fn new_id(&mut self) -> i64 {
        self.next_id += 1;
        self.next_id
    }

    /// Sends a request and returns its id.
    #[track_caller]
    pub fn send_request(&mut self, method: &str, params: Value) -> i64 {
        let id = self.new_id();
        self.send_json(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request and waits for its answer, the whole message.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send_request(method, params);
        self.answer(id)
    }

    /// Calls a tool without waiting; returns the id of the call.
    #[track_caller]
    pub fn send_call(&mut self, tool: &str, arguments: Value) -> i64 {
        self.send_request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Calls a tool and waits for the answer, the whole message.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.send_call(tool, arguments);
        self.answer(id)
    }

    /// Proposes a change of a file; returns the id of the call.
    #[track_caller]
    pub fn propose(&mut self, path: &str, text: &str, label: &str) -> i64 {
        self.send_call("openDiff", diff(path, text, label))
    }

    /// The answer to a call; every other message is kept.
    #[track_caller]
    pub fn answer(&mut self, id: i64) -> Value {
        self.answer_within(id, DEADLINE).unwrap_or_else(|| panic!("no answer to {id}: {:?}", self.unread))
    }

    pub fn answer_within(&mut self, id: i64, patience: Duration) -> Option<Value> {
        self.find(patience, |message| message["id"] == id && message.get("method").is_none())
    }

    /// The texts of the answer to a tool call that succeeded.
    #[track_caller]
    pub fn texts(&mut self, id: i64) -> Vec<String> {
        texts(&self.answer(id))
    }

    /// The notification of that name.
    #[track_caller]
    pub fn notification(&mut self, method: &str) -> Value {
        self.find(DEADLINE, |message| message["method"] == method)
            .unwrap_or_else(|| panic!("no {method}: {:?}", self.unread))
    }

    /// The oldest matching message.
    pub fn find(&mut self, patience: Duration, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        if let Some(at) = self.unread.iter().position(&fits) {
            return self.unread.remove(at);
        }
        let until = Instant::now() + patience;
        loop {
            let message = self.receive(until.saturating_duration_since(Instant::now()))?;
            if fits(&message) {
                return Some(message);
            }
            self.unread.push_back(message);
        }
    }

    /// The next message, in the order of arrival; `None` if none arrives in time, or the connection has ended.
    pub fn next_frame(&mut self, patience: Duration) -> Option<Value> {
        self.unread.pop_front().or_else(|| self.receive(patience))
    }

    fn receive(&mut self, patience: Duration) -> Option<Value> {
        match self.frames.recv_timeout(patience) {
            Ok(Frame::Text(text)) => {
                Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
            }
            Ok(Frame::End(code)) => {
                self.closed = Some(code);
                None
            }
            Err(_) => None,
        }
    }

    /// Waits for the end of the connection; returns the hub's close code, if there is one.
    #[track_caller]
    pub fn end(&mut self) -> Option<u16> {
        let until = Instant::now() + DEADLINE;
        while self.closed.is_none() {
            assert!(Instant::now() < until, "the connection does not end");
            if let Some(message) = self.receive(Duration::from_millis(100)) {
                self.unread.push_back(message);
            }
        }
        self.closed.unwrap()
    }

    /// Shows that the hub has read everything sent so far and still answers.
    #[track_caller]
    pub fn is_served(&mut self) {
        let answer = self.request("ping", json!({}));
        assert!(answer.get("result").is_some(), "{answer}");
    }

    /// Reads nothing and answers no ping until thawed, as a stopped process would.
    pub fn freeze(&self) {
        self.transport.frozen.store(true, Ordering::Relaxed);
    }

    pub fn thaw(&self) {
        self.transport.frozen.store(false, Ordering::Relaxed);
    }

    /// Shuts the socket down.
    pub fn cut_off(&self) {
        let _ = self.transport.stream.shutdown(Shutdown::Both);
    }

    /// Leaves with a close frame.
    pub fn goodbye(mut self) {
        let _ = self.sender.close(None);
        let _ = self.sender.flush();
        self.end();
    }

    /// Drops the socket without a close frame, as when the process is killed.
    pub fn drop_socket(self) {
        drop(self);
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // In this order: a process that is killed while it is stopped no longer answers.
        self.cut_off();
        self.thaw();
    }
}

fn read(mut socket: WebSocket<Transport>, frames: &std::sync::mpsc::Sender<Frame>) {
    let mut code = None;
    loop {
        let sent = match socket.read() {
            Ok(Message::Text(text)) => frames.send(Frame::Text(text.to_string())),
            Ok(Message::Close(frame)) => {
                code = frame.map(|frame| frame.code.into());
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(_) => {
                let _ = frames.send(Frame::End(code));
                return;
            }
        };
        if sent.is_err() {
            return;
        }
    }
}

/// Arguments of `openDiff`.
pub fn diff(path: &str, text: &str, label: &str) -> Value {
    json!({
        "old_file_path": path,
        "new_file_path": path,
        "new_file_contents": text,
        "tab_name": label,
    })
}

/// The texts of a tool's answer, which must not be an error.
#[track_caller]
pub fn texts(answer: &Value) -> Vec<String> {
    let result = &answer["result"];
    assert_ne!(result["isError"], true, "{answer}");
    let content = result["content"].as_array().unwrap_or_else(|| panic!("no content: {answer}"));
    content.iter().map(|item| item["text"].as_str().unwrap().to_owned()).collect()
}

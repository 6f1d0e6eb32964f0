//! A server that does what the test says, on a real socket, for each wire.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use linkspan_editor_api::{Decoder, Limits, Places, encode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::handshake::server::{Request, Response};
use tungstenite::http::HeaderValue;
use tungstenite::{Message, WebSocket};

use crate::connection::{AgentInfo, Connection};
use crate::discover::{Candidate, CandidateVerdict, FoundBy, Secret, Wire};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerKind {
    Own,
    Claude,
    Nexus3,
    Clio,
}

/// Those that speak MCP.
pub(crate) const KINDS: [ServerKind; 3] = [ServerKind::Own, ServerKind::Claude, ServerKind::Nexus3];

/// What the server does about something it heard.
#[derive(Debug)]
pub(crate) enum Say {
    Json(Value),
    /// A WebSocket ping.
    Ping,
    HangUp,
}

/// The answer to a request.
pub(crate) fn result(request: &Value, result: Value) -> Say {
    Say::Json(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
}

/// The answer of a tool.
pub(crate) fn texts(request: &Value, texts: &[&str]) -> Say {
    let content: Vec<Value> = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
    result(request, json!({ "content": content }))
}

/// The name of the tool that a request calls.
pub(crate) fn tool(request: &Value) -> Option<&str> {
    (request["method"] == "tools/call").then(|| request["params"]["name"].as_str())?
}

/// A running server and all that it heard.
pub(crate) struct FakeServer {
    pub(crate) candidate: Candidate,
    pub(crate) places: Places,
    pub(crate) heard: Receiver<Value>,
    pub(crate) pongs: Receiver<()>,
    _home: TempDir,
}

enum ServerLine {
    Web(Box<WebSocket<TcpStream>>, Sender<()>),
    Framed(UnixStream, Decoder),
}

impl FakeServer {
    /// A server that introduces itself by that name, and then behaves.
    pub(crate) fn named(
        kind: ServerKind,
        name: &'static str,
        mut behave: impl FnMut(&Value) -> Vec<Say> + Send + 'static,
    ) -> FakeServer {
        let home = tempfile::tempdir().unwrap();
        let places = Places {
            home: home.path().into(),
            runtime: home.path().join("r"),
            state: home.path().join("s"),
            config: home.path().join("c"),
        };
        let (heard_in, heard) = channel();
        let (pongs_in, pongs) = channel();
        let mut serve = move |mut line: ServerLine| {
            while let Some(message) = line.hear() {
                let said = match message["method"].as_str() {
                    Some("hub/hello") => vec![result(&message, hello())],
                    Some("agent/join") => vec![result(&message, joined())],
                    Some("initialize") => {
                        let info = json!({ "name": name, "version": "1" });
                        vec![result(&message, json!({ "protocolVersion": "2024-11-05", "serverInfo": info }))]
                    }
                    _ => behave(&message),
                };
                let _ = heard_in.send(message);
                for say in said {
                    if !line.say(say) {
                        return;
                    }
                }
            }
        };
        let wire = if kind == ServerKind::Own {
            std::fs::create_dir(&places.runtime).unwrap();
            let listener = UnixListener::bind(places.socket().unwrap()).unwrap();
            thread::spawn(move || {
                while let Ok((stream, _)) = listener.accept() {
                    serve(ServerLine::Framed(stream, Decoder::new(Limits::default())));
                }
            });
            Wire::Hub { window: "w1".into(), port: 1 }
        } else {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            thread::spawn(move || {
                while let Ok((stream, _)) = listener.accept() {
                    serve(ServerLine::Web(Box::new(accept(stream)), pongs_in.clone()));
                }
            });
            let token = Some(Secret::new("let me in"));
            match kind {
                ServerKind::Claude => Wire::Claude { port, token },
                ServerKind::Clio => Wire::Clio { port },
                _ => Wire::Nexus3 { port, token },
            }
        };
        let candidate = Candidate {
            editor: "Fake".into(),
            wire,
            folders: vec![PathBuf::from("/w/a b")],
            pid: None,
            found: FoundBy::Given,
            matched: None,
            verdict: CandidateVerdict::Usable,
        };
        FakeServer { candidate, places, heard, pongs, _home: home }
    }

    pub(crate) fn start(
        kind: ServerKind,
        behave: impl FnMut(&Value) -> Vec<Say> + Send + 'static,
    ) -> FakeServer {
        FakeServer::named(kind, "fake", behave)
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::open(&self.candidate, &AgentInfo::new("tester", "1"), &self.places).unwrap()
    }

    /// The next message that fits; those before it are forgotten.
    #[track_caller]
    pub(crate) fn hears(&self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.heard.recv_timeout(Duration::from_secs(10)).expect("never heard");
            if fits(&message) {
                return message;
            }
        }
    }
}

fn hello() -> Value {
    let version = env!("CARGO_PKG_VERSION");
    json!({ "version": version, "protocol": linkspan_editor_api::PROTOCOL, "pid": 1, "startedAtMs": 0 })
}

fn joined() -> Value {
    json!({ "agent": "a1", "window": "w1", "editor": { "name": "Fake", "version": "1" }, "folders": ["/w/a b"] })
}

#[expect(clippy::result_large_err, reason = "the trait of the callback has it so")]
fn accept(stream: TcpStream) -> WebSocket<TcpStream> {
    let mut socket = tungstenite::accept_hdr(stream, |request: &Request, mut response: Response| {
        let token = request.headers().iter().find(|(name, _)| name.as_str().ends_with("-ide-authorization"));
        assert!(token.is_none_or(|(_, token)| token == "let me in"));
        if request.headers().contains_key("sec-websocket-protocol") {
            response.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("mcp"));
        }
        Ok(response)
    })
    .unwrap();
    socket.set_config(|config| {
        config.max_message_size = None;
        config.max_frame_size = None;
    });
    socket
}

impl ServerLine {
    fn hear(&mut self) -> Option<Value> {
        match self {
            ServerLine::Web(socket, pongs) => loop {
                match socket.read().ok()? {
                    Message::Text(text) => return Some(serde_json::from_str(&text).unwrap()),
                    Message::Pong(_) => {
                        let _ = pongs.send(());
                    }
                    Message::Close(_) => return None,
                    _ => {}
                }
            },
            ServerLine::Framed(stream, decoder) => {
                let mut buffer = vec![0; 65536];
                loop {
                    if let Some(frame) = decoder.next().unwrap() {
                        return Some(serde_json::from_slice(&frame).unwrap());
                    }
                    match stream.read(&mut buffer) {
                        Ok(length @ 1..) => decoder.push(&buffer[..length]),
                        _ => return None,
                    }
                }
            }
        }
    }

    fn say(&mut self, say: Say) -> bool {
        match (self, say) {
            (ServerLine::Web(socket, _), Say::Json(json)) => {
                socket.send(Message::text(json.to_string())).is_ok()
            }
            (ServerLine::Web(socket, _), Say::Ping) => socket.send(Message::Ping("beat".into())).is_ok(),
            (ServerLine::Framed(stream, _), Say::Json(json)) => {
                stream.write_all(&encode(json.to_string().as_bytes())).is_ok()
            }
            (ServerLine::Framed(..), Say::Ping) => true,
            (_, Say::HangUp) => false,
        }
    }
}

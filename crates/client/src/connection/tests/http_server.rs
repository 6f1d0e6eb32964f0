//! An HTTP server that does what the test says, for the wires that have one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use linkspan_editor_api::Places;
use serde_json::Value;

use crate::connection::{AgentInfo, Connection, OpenError};
use crate::discover::{Candidate, CandidateVerdict, FoundBy, Wire};

/// A request that came.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    /// `POST /mcp`.
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The method of the message, or the name of the tool that it calls.
    pub(crate) fn what(&self) -> &str {
        let of_tool = ["/params/name", "/tool", "/method"];
        of_tool.iter().find_map(|place| self.body.pointer(place)?.as_str()).unwrap_or(&self.line)
    }
}

/// What the server does about it.
pub(crate) enum ServerReply {
    /// Status, headers, body.
    Whole(u16, Vec<(&'static str, String)>, String),
    /// A stream of events: each text is sent as it comes; it ends with the sender.
    Stream(Receiver<String>),
    /// Any bytes, and then nothing more for as long as the peer stays.
    Bytes(Vec<u8>),
    /// These bytes without end.
    Endless(&'static [u8]),
    HangUp,
}

impl ServerReply {
    pub(crate) fn json(body: &Value) -> ServerReply {
        ServerReply::Whole(200, vec![("content-type", "application/json".into())], body.to_string())
    }

    pub(crate) fn with(self, name: &'static str, value: &str) -> ServerReply {
        match self {
            ServerReply::Whole(status, mut headers, body) => {
                headers.push((name, value.into()));
                ServerReply::Whole(status, headers, body)
            }
            other => other,
        }
    }
}

pub(crate) struct HttpServer {
    pub(crate) port: u16,
    pub(crate) heard: Receiver<ReceivedRequest>,
}

type Behave = dyn FnMut(&ReceivedRequest) -> ServerReply + Send;

impl HttpServer {
    pub(crate) fn start(behave: impl FnMut(&ReceivedRequest) -> ServerReply + Send + 'static) -> HttpServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (heard_in, heard) = channel();
        let behave: Arc<Mutex<Box<Behave>>> = Arc::new(Mutex::new(Box::new(behave)));
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let (behave, heard_in) = (Arc::clone(&behave), heard_in.clone());
                thread::spawn(move || serve(stream, &behave, &heard_in));
            }
        });
        HttpServer { port, heard }
    }

    pub(crate) fn connect(&self, wire: Wire) -> Result<Connection, OpenError> {
        Connection::open(&candidate(wire), &AgentInfo::new("tester", "1"), &nowhere())
    }

    /// The next request that is this; those before it are forgotten.
    #[track_caller]
    pub(crate) fn hears(&self, what: &str) -> ReceivedRequest {
        loop {
            let heard = self.heard.recv_timeout(Duration::from_secs(10)).expect("never heard");
            if heard.what() == what {
                return heard;
            }
        }
    }
}

pub(crate) fn candidate(wire: Wire) -> Candidate {
    Candidate {
        editor: "Fake".into(),
        wire,
        folders: vec![PathBuf::from("/w/a b")],
        pid: None,
        found: FoundBy::Given,
        matched: None,
        verdict: CandidateVerdict::Usable,
    }
}

/// No hub is needed on these wires.
pub(crate) fn nowhere() -> Places {
    let none = PathBuf::from("/nonexistent");
    Places { home: none.clone(), runtime: none.clone(), state: none.clone(), config: none }
}

fn serve(stream: TcpStream, behave: &Mutex<Box<Behave>>, heard_in: &Sender<ReceivedRequest>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let Some(heard) = request(&mut reader) else { return };
    let reply = behave.lock().unwrap()(&heard);
    let _ = heard_in.send(heard);
    let mut stream = stream;
    match reply {
        ServerReply::Whole(status, headers, body) => {
            let mut head =
                format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
            for (name, value) in headers {
                head += &format!("{name}: {value}\r\n");
            }
            let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
        }
        ServerReply::Stream(events) => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let _ = stream.write_all(head.as_bytes());
            while let Ok(event) = events.recv() {
                if stream.write_all(event.as_bytes()).is_err() {
                    return;
                }
            }
        }
        ServerReply::Bytes(bytes) => {
            let _ = stream.write_all(&bytes);
            let _ = reader.read(&mut [0]);
        }
        ServerReply::Endless(bytes) => {
            while stream.write_all(bytes).is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
        }
        ServerReply::HangUp => {}
    }
}

fn request(reader: &mut impl BufRead) -> Option<ReceivedRequest> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let line = lines.first()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers = lines.iter().skip(1).filter_map(|line| line.split_once(": "));
    let headers: Vec<_> =
        headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Some(ReceivedRequest { line, headers, body })
}

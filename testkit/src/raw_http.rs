//! HTTP by hand: the bytes of a test are sent as they are, with nothing corrected.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{DEADLINE, prerequisites};

/// The key of the example in RFC 6455.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

pub fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream
}

pub fn head(first: &str, lines: &[String]) -> String {
    format!("{first}\r\n{}\r\n\r\n", lines.join("\r\n"))
}

/// These lines, with this one instead of all others of its name.
pub fn with(lines: &[String], line: impl Into<String>) -> Vec<String> {
    let line = line.into();
    without(lines, line.split(':').next().unwrap_or_default()).into_iter().chain([line]).collect()
}

pub fn without(lines: &[String], name: &str) -> Vec<String> {
    let prefix = format!("{name}:");
    lines.iter().filter(|line| !line.starts_with(&prefix)).cloned().collect()
}

/// The header lines of a WebSocket handshake.
pub fn upgrade(port: u16) -> Vec<String> {
    vec![
        format!("Host: 127.0.0.1:{port}"),
        "Connection: Upgrade".into(),
        "Upgrade: websocket".into(),
        "Sec-WebSocket-Version: 13".into(),
        format!("Sec-WebSocket-Key: {KEY}"),
    ]
}

/// A request that can be changed line by line before it is sent.
#[derive(Debug, Clone)]
pub struct Request {
    pub port: u16,
    /// Sent to this Unix socket instead.
    pub socket: Option<PathBuf>,
    pub first: String,
    pub lines: Vec<String>,
    pub body: String,
}

impl Request {
    pub fn get(port: u16, path: &str, lines: &[String]) -> Request {
        let (first, body) = (format!("GET {path} HTTP/1.1"), String::new());
        Request { port, socket: None, first, lines: lines.to_vec(), body }
    }

    /// JSON, with its content type.
    pub fn post(port: u16, path: &str, lines: &[String], body: impl Into<String>) -> Request {
        let body = body.into();
        let mut lines = lines.to_vec();
        lines.push("Content-Type: application/json".into());
        lines.push(format!("Content-Length: {}", body.len()));
        Request { port, socket: None, first: format!("POST {path} HTTP/1.1"), lines, body }
    }

    #[must_use]
    pub fn on_socket(self, socket: PathBuf) -> Request {
        Request { socket: Some(socket), ..self }
    }

    #[must_use]
    pub fn with(&self, line: impl Into<String>) -> Request {
        Request { lines: with(&self.lines, line), ..self.clone() }
    }

    #[must_use]
    pub fn and(&self, line: impl Into<String>) -> Request {
        let lines = self.lines.iter().cloned().chain([line.into()]).collect();
        Request { lines, ..self.clone() }
    }

    #[must_use]
    pub fn without(&self, name: &str) -> Request {
        Request { lines: without(&self.lines, name), ..self.clone() }
    }

    #[must_use]
    pub fn asking(&self, first: &str) -> Request {
        Request { first: first.to_owned(), ..self.clone() }
    }

    pub fn text(&self) -> String {
        head(&self.first, &self.lines) + &self.body
    }

    /// The whole answer.
    pub fn send(&self) -> String {
        match &self.socket {
            Some(socket) => exchange_on_socket(socket, &self.text()),
            None => exchange(self.port, &self.text()),
        }
    }
}

/// The status of an answer; 0 where there was none.
pub fn status(said: &str) -> u16 {
    said.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
}

/// Everything up to the end of the connection, or the head of an upgrade.
pub fn answer(stream: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while stream.read(&mut byte).is_ok_and(|length| length == 1) {
        bytes.push(byte[0]);
        if bytes.starts_with(b"HTTP/1.1 101") && bytes.ends_with(b"\r\n\r\n") {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The answer to these bytes.
pub fn exchange(port: u16, bytes: &str) -> String {
    let mut stream = connect(port);
    let _ = stream.write_all(bytes.as_bytes());
    answer(&mut stream)
}

/// The answer to these bytes on a Unix socket.
pub fn exchange_on_socket(socket: &Path, bytes: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let _ = stream.write_all(bytes.as_bytes());
    answer(&mut stream)
}

/// The answer to these bytes when another user of the machine sends them.
#[track_caller]
pub fn exchange_as_another_user(port: u16, bytes: &str) -> String {
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; printf '%s' \"$HEAD\" >&3; cat <&3");
    let ran = another_user(&script).env("HEAD", bytes).output().unwrap();
    String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr)
}

/// A script that runs as another user of the machine.
#[track_caller]
pub fn another_user(script: &str) -> Command {
    prerequisites::root();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "bash", "-c", script]);
    command.stdin(Stdio::null());
    command
}

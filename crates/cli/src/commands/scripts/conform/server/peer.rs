//! The server that is checked, as bytes: WebSockets and HTTP requests, and what arrives on them in time. Knows no dialect.

use std::collections::BTreeMap;
use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use linkspan_client::http::LoopbackUrl;
use serde_json::Value;
use tungstenite::handshake::client::generate_key;
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::frame::coding::OpCode;

use crate::cli::exit::Failure;
use crate::commands::scripts::conform::point::{NotPassed, Outcome, failed};
use crate::commands::scripts::conform::report::excerpt;
use crate::commands::scripts::record::address;
use crate::commands::scripts::record::http1::Head;
use crate::commands::scripts::record::websocket;
use crate::commands::scripts::replay::connections::{Arrival, Connections};

/// How long a server may be silent before "nothing came" is true of an answer that must not come.
pub(crate) const SILENCE: Duration = Duration::from_millis(500);

pub(crate) type Headers = [(&'static str, String)];

pub(crate) struct ServerPeer {
    to: LoopbackUrl,
    connections: Connections,
    last: u64,
    closed: BTreeMap<u64, Option<u16>>,
    /// Each answer of a machine is due within this time.
    pub(crate) timeout: Duration,
    slowest: Option<(Duration, String)>,
    /// Nothing is sent on it.
    first: Option<TcpStream>,
}

/// What a wait ended with.
#[derive(Debug)]
pub(crate) enum Arrived {
    Message(Value),
    Closed(Option<u16>),
    Nothing,
}

impl Arrived {
    /// For `came`.
    pub(crate) fn words(&self) -> String {
        match self {
            Arrived::Message(message) => excerpt(message),
            Arrived::Closed(Some(code)) => format!("the connection was closed with code {code}"),
            Arrived::Closed(None) => "the connection was closed".to_owned(),
            Arrived::Nothing => "nothing".to_owned(),
        }
    }
}

/// An answer to an upgrade.
pub(crate) struct Upgrade {
    pub(crate) conn: u64,
    pub(crate) head: Head,
    key: String,
}

impl Upgrade {
    pub(crate) fn is_admitted(&self) -> bool {
        self.head.status() == Some(101)
    }

    /// The answer proves that the server speaks WebSocket.
    pub(crate) fn has_right_accept(&self) -> bool {
        self.head.header("sec-websocket-accept") == Some(derive_accept_key(self.key.as_bytes()).as_str())
    }
}

/// A complete answer; the body is JSON if it is JSON, else text.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) head: Head,
    pub(crate) body: Value,
}

impl HttpAnswer {
    pub(crate) fn words(&self) -> String {
        match &self.body {
            Value::Null => format!("status {}", self.status),
            body => format!("status {} with {}", self.status, excerpt(body)),
        }
    }
}

impl ServerPeer {
    pub(crate) fn new(to: LoopbackUrl, timeout: Duration) -> Result<ServerPeer, Failure> {
        let connections = Connections::new(address(&to)?).whole();
        Ok(ServerPeer {
            to,
            connections,
            last: 0,
            closed: BTreeMap::new(),
            timeout,
            slowest: None,
            first: None,
        })
    }

    /// Whether anything accepts connections there. The connection stays open: a server may want to know whose it is.
    pub(crate) fn listens(&mut self) -> bool {
        self.first = address(&self.to).ok().and_then(|to| TcpStream::connect_timeout(&to, self.timeout).ok());
        self.first.is_some()
    }

    /// Whether the other side has closed it.
    pub(crate) fn is_closed(&mut self, conn: u64) -> bool {
        matches!(self.wait(conn, Duration::ZERO, |_| false), Arrived::Closed(_))
    }

    fn request(&mut self, line: &str, headers: &Headers, body: Option<&str>) -> Outcome<u64> {
        self.last += 1;
        let mut head = format!("{line} HTTP/1.1\r\nHost: {}\r\n", self.to.authority());
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = body {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        head += "\r\n";
        head += body.unwrap_or_default();
        let sent = self.connections.request(self.last, head.as_bytes());
        sent.map_err(|error| failed("a server that takes the connection", connection_error(&error)))?;
        Ok(self.last)
    }

    fn head(&mut self, conn: u64) -> Outcome<Head> {
        let fits = |arrival: &Arrival| matches!(arrival, Arrival::Head(_) | Arrival::End(_));
        match self.connections.wait(conn, self.timeout, fits) {
            Some(Arrival::Head(head)) => Ok(head),
            Some(_) => Err(failed("an HTTP answer", "the connection was closed")),
            None => Err(failed("an HTTP answer", format!("nothing within {}", seconds(self.timeout)))),
        }
    }

    /// Asks for a WebSocket.
    pub(crate) fn upgrade(&mut self, headers: &Headers) -> Outcome<Upgrade> {
        let key = generate_key();
        let mut all = vec![
            ("Connection", "Upgrade".to_owned()),
            ("Upgrade", "websocket".to_owned()),
            ("Sec-WebSocket-Version", "13".to_owned()),
            ("Sec-WebSocket-Key", key.clone()),
        ];
        all.extend_from_slice(headers);
        let begun = Instant::now();
        let conn = self.request("GET /", &all, None)?;
        let head = self.head(conn)?;
        self.took(begun, "the WebSocket handshake");
        Ok(Upgrade { conn, head, key })
    }

    /// One request on a connection of its own.
    pub(crate) fn exchange(
        &mut self,
        line: &str,
        headers: &Headers,
        body: Option<&str>,
    ) -> Outcome<HttpAnswer> {
        let begun = Instant::now();
        let mut all = vec![("Connection", "close".to_owned())];
        all.extend_from_slice(headers);
        let conn = self.request(line, &all, body)?;
        let head = self.head(conn)?;
        let status = head.status().unwrap_or_default();
        let is_empty = matches!(status, 202 | 204 | 304) || head.header("content-length") == Some("0");
        let body = match is_empty {
            true => Value::Null,
            false => match self.wait(conn, self.timeout, |_| true) {
                Arrived::Message(body) => body,
                Arrived::Closed(_) | Arrived::Nothing => Value::Null,
            },
        };
        self.took(begun, line);
        self.close(conn);
        Ok(HttpAnswer { status, head, body })
    }

    /// A request whose answer is awaited elsewhere, such as a stream of events.
    pub(crate) fn open(&mut self, line: &str, headers: &Headers, body: Option<&str>) -> Outcome<u64> {
        self.request(line, headers, body)
    }

    pub(crate) fn answer_head(&mut self, conn: u64) -> Outcome<Head> {
        self.head(conn)
    }

    pub(crate) fn send(&mut self, conn: u64, text: &str) -> Outcome {
        let sent = self.connections.send(conn, text);
        self.sent(sent)
    }

    /// One frame of any kind, with its FIN bit or without.
    pub(crate) fn send_frame(
        &mut self,
        conn: u64,
        opcode: OpCode,
        payload: &[u8],
        is_final: bool,
    ) -> Outcome {
        let mut frame = websocket::encode(opcode, payload);
        if let (false, Some(first)) = (is_final, frame.first_mut()) {
            *first &= 0x7f;
        }
        let sent = self.connections.send_frame(conn, &frame);
        self.sent(sent)
    }

    fn sent(&self, sent: io::Result<()>) -> Outcome {
        sent.map_err(|error| failed("an open connection", connection_error(&error)))
    }

    /// The first message that fits.
    pub(crate) fn wait(&mut self, conn: u64, time: Duration, fits: impl Fn(&Value) -> bool) -> Arrived {
        let wanted = |arrival: &Arrival| match arrival {
            Arrival::Message(message) => fits(message),
            Arrival::End(_) => true,
            Arrival::Head(_) | Arrival::Pong => false,
        };
        match self.connections.wait(
            conn,
            if self.closed.contains_key(&conn) { Duration::ZERO } else { time },
            wanted,
        ) {
            Some(Arrival::Message(message)) => Arrived::Message(message),
            Some(Arrival::End(code)) => {
                self.closed.entry(conn).or_insert(code);
                Arrived::Closed(code)
            }
            Some(_) | None => match self.closed.get(&conn) {
                Some(code) => Arrived::Closed(*code),
                None => Arrived::Nothing,
            },
        }
    }

    pub(crate) fn wait_for_pong(&mut self, conn: u64) -> bool {
        let time = self.timeout;
        self.connections.wait(conn, time, |arrival| matches!(arrival, Arrival::Pong)).is_some()
    }

    pub(crate) fn close(&mut self, conn: u64) {
        self.connections.close(conn, false);
    }

    /// Notes how long an answer took, for the point about deadlines.
    pub(crate) fn took(&mut self, begun: Instant, what: &str) {
        let time = begun.elapsed();
        if self.slowest.as_ref().is_none_or(|(slowest, _)| time > *slowest) {
            self.slowest = Some((time, what.to_owned()));
        }
    }

    /// Each answer came within the time.
    pub(crate) fn deadlines_kept(&self) -> Outcome {
        match &self.slowest {
            Some((time, what)) if *time > self.timeout => {
                let expected = format!("every answer within {}", seconds(self.timeout));
                Err(failed(expected, format!("{what} took {}", seconds(*time))))
            }
            _ => Ok(()),
        }
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

fn connection_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "nothing listens there".to_owned(),
        io::ErrorKind::NotConnected | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
            "the connection was closed".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Passes when the server refused, in whichever way.
pub(crate) fn refused(upgrade: Outcome<Upgrade>, peer: &mut ServerPeer, probe: &str) -> Outcome {
    const EXPECTED: &str = "a refusal: an HTTP status from 400 to 499, or a close before the first answer";
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(NotPassed::Failed { came, .. }) if came == "the connection was closed" => return Ok(()),
        Err(other) => return Err(other),
    };
    match upgrade.head.status() {
        Some(400..=499) => Ok(()),
        Some(101) => {
            // The reference extension of Claude Code refuses only after the upgrade.
            let _ = peer.send(upgrade.conn, probe);
            let arrived = peer.wait(upgrade.conn, peer.timeout, |_| true);
            peer.close(upgrade.conn);
            match arrived {
                Arrived::Closed(_) => Ok(()),
                other => Err(failed(EXPECTED, format!("status 101, and then {}", other.words()))),
            }
        }
        _ => Err(failed(EXPECTED, upgrade.head.line)),
    }
}

//! Dialing an editor's WebSocket on 127.0.0.1 with its token, within a deadline. Does not know what is sent
//! after the upgrade.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use linkspan_editor_api::wire_names::header;
use tungstenite::client::IntoClientRequest;
use tungstenite::handshake::HandshakeError;
use tungstenite::handshake::client::Request;
use tungstenite::http::{HeaderName, HeaderValue, StatusCode};
use tungstenite::{Error, WebSocket};

use crate::discover::{Secret, Wire};

/// An open WebSocket to an editor.
pub(crate) type Socket = WebSocket<TimedStream>;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The port is closed.
    #[error("nothing listens on port {port} of 127.0.0.1")]
    NothingListens {
        /// Its port.
        port: u16,
    },
    /// No answer in time.
    #[error("port {port} of 127.0.0.1 does not answer")]
    NoAnswer {
        /// Its port.
        port: u16,
    },
    /// It rejects the token.
    #[error("the editor on port {port} rejects the token of its lock file (HTTP {status})")]
    BadToken {
        /// Its port.
        port: u16,
        /// The HTTP status of its answer.
        status: u16,
    },
    /// It is not a WebSocket server, or not a compatible one.
    #[error("the program on port {port} is not an editor: {reason}")]
    NotAnEditor {
        /// Its port.
        port: u16,
        /// Why.
        reason: String,
    },
}

/// The request head of a protocol.
struct UpgradeHead<'a> {
    token: Option<(&'static str, &'a Secret)>,
    subprotocol: Option<&'static str>,
}

fn head_of(wire: &Wire) -> Option<UpgradeHead<'_>> {
    let named = |header: &'static str| wire.token().map(|token| (header, token));
    match wire {
        Wire::Hub { .. } | Wire::Gemini { .. } | Wire::Ppxai { .. } => None,
        Wire::Claude { .. } => {
            Some(UpgradeHead { token: named(header::CLAUDE_TOKEN), subprotocol: Some("mcp") })
        }
        Wire::Nexus3 { .. } => Some(UpgradeHead { token: named(header::NEXUS3_TOKEN), subprotocol: None }),
        Wire::Clio { .. } => Some(UpgradeHead { token: None, subprotocol: None }),
    }
}

/// Connects and upgrades. The deadline stays on the socket's reads and writes until it is changed.
pub(crate) fn dial(wire: &Wire, deadline: Instant) -> Result<Socket, DialError> {
    let port = wire.port();
    let not_an_editor = |reason: String| DialError::NotAnEditor { port, reason };
    let request = request(wire).map_err(not_an_editor)?;

    let stream = match connect(port, left(deadline)) {
        Ok(stream) => stream,
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            return Err(DialError::NothingListens { port });
        }
        Err(error) if is_timeout(&error) => return Err(DialError::NoAnswer { port }),
        Err(error) => return Err(not_an_editor(error.to_string())),
    };
    // Small messages both ways: waiting to fill a packet only delays them.
    stream.set_nodelay(true).map_err(|error| not_an_editor(error.to_string()))?;
    let stream = TimedStream { stream, deadline: Some(deadline) };

    match tungstenite::client::client(request, stream) {
        Ok((socket, _)) => Ok(socket),
        Err(HandshakeError::Interrupted(_)) => Err(DialError::NoAnswer { port }),
        Err(HandshakeError::Failure(Error::Http(response))) => match response.status() {
            status @ (StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                Err(DialError::BadToken { port, status: status.as_u16() })
            }
            status => Err(not_an_editor(format!("it returned HTTP {status}"))),
        },
        Err(HandshakeError::Failure(error)) => Err(not_an_editor(error.to_string())),
    }
}

fn connect(port: u16, timeout: Duration) -> io::Result<TcpStream> {
    TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), timeout)
}

/// Nothing listens there right now; a port that neither accepts nor refuses connections is not closed.
pub(crate) fn is_closed(port: u16) -> bool {
    let called = connect(port, Duration::from_millis(100));
    called.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

fn request(wire: &Wire) -> Result<Request, String> {
    let uri = format!("ws://127.0.0.1:{}/", wire.port());
    let mut request = uri.into_client_request().map_err(|error| error.to_string())?;
    let UpgradeHead { token, subprotocol } = head_of(wire).ok_or("this editor has no WebSocket")?;
    if let Some((header, token)) = token {
        let mut value = HeaderValue::from_str(token.reveal())
            .map_err(|_| "its token cannot be sent in a request head".to_owned())?;
        value.set_sensitive(true);
        request.headers_mut().insert(HeaderName::from_static(header), value);
    }
    if let Some(subprotocol) = subprotocol {
        let name = HeaderName::from_static("sec-websocket-protocol");
        request.headers_mut().insert(name, HeaderValue::from_static(subprotocol));
    }
    Ok(request)
}

/// A stream with a deadline for reads and writes, however little arrives at a time.
#[derive(Debug)]
pub(crate) struct TimedStream {
    stream: TcpStream,
    deadline: Option<Instant>,
}

impl TimedStream {
    /// From now on reads and writes fail with `WouldBlock` at this moment; `None`: they wait.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// The stream itself, for a second handle or for closing it from elsewhere.
    pub(crate) fn tcp(&self) -> &TcpStream {
        &self.stream
    }

    fn timeout(&self) -> io::Result<Option<Duration>> {
        match self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
            Some(Duration::ZERO) => Err(io::ErrorKind::WouldBlock.into()),
            left => Ok(left),
        }
    }
}

impl Read for TimedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.timeout()?)?;
        self.stream.read(buffer)
    }
}

impl Write for TimedStream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.timeout()?)?;
        self.stream.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The time that is left; never zero, which the system would treat as no limit.
fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

pub(crate) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

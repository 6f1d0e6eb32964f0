//! The connections of a replay: opened as the script says; everything that arrives is kept until the player waits for it.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::commands::scripts::record::decoder::{Decoded, Decoder};
use crate::commands::scripts::record::http1::{Head, Side, Unanswered};
use crate::commands::scripts::record::websocket;

/// Something that arrived.
#[derive(Debug)]
pub(crate) enum Arrival {
    Head(Head),
    Message(Value),
    Pong,
    /// The other side closed it, with the code of a close frame if there was one.
    End(Option<u16>),
}

/// How long to wait for the last pong of a WebSocket.
const LAST_PONG_TIMEOUT: Duration = Duration::from_secs(1);

/// Writes one complete frame at a time: another thread answers pings.
#[derive(Debug, Clone)]
struct Writer(Arc<Mutex<TcpStream>>);

impl Writer {
    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(bytes)
    }

    fn end(&self) {
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).shutdown(Shutdown::Write);
    }
}

#[derive(Debug)]
pub(crate) struct Connections {
    target: SocketAddr,
    open: BTreeMap<u64, Writer>,
    /// By connection, in the order of arrival.
    unread: BTreeMap<u64, VecDeque<Arrival>>,
    arriving: Receiver<(u64, Arrival)>,
    arrivals: Sender<(u64, Arrival)>,
    /// Messages that a recording would shorten arrive whole.
    whole: bool,
}

impl Connections {
    pub(crate) fn new(target: SocketAddr) -> Connections {
        let (arrivals, arriving) = channel();
        Connections {
            target,
            open: BTreeMap::new(),
            unread: BTreeMap::new(),
            arriving,
            arrivals,
            whole: false,
        }
    }

    /// With messages of every length.
    pub(crate) fn whole(self) -> Connections {
        Connections { whole: true, ..self }
    }

    /// Opens a new connection for each request: the server may not allow reuse.
    pub(crate) fn request(&mut self, conn: u64, bytes: &[u8]) -> io::Result<()> {
        let stream = TcpStream::connect(self.target)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(Duration::from_secs(10)))?;
        let (reading, arrivals) = (stream.try_clone()?, self.arrivals.clone());
        let writer = Writer(Arc::new(Mutex::new(stream)));
        writer.write(bytes)?;
        self.open.insert(conn, writer.clone());
        let unanswered = Unanswered::default();
        unanswered.requested(bytes);
        let decoder = Decoder::new(Side::Response, unanswered);
        let decoder = if self.whole { decoder.whole() } else { decoder };
        let read = move || read(reading, decoder, &writer, conn, &arrivals);
        thread::Builder::new().name("linkspan-replay".into()).spawn(read)?;
        Ok(())
    }

    pub(crate) fn send(&mut self, conn: u64, text: &str) -> io::Result<()> {
        self.send_frame(conn, &websocket::encode(websocket::TEXT, text.as_bytes()))
    }

    /// Waits for a pong before it closes: the server may ping to confirm that its last answer arrived, and all its pings
    /// before our ping are then answered.
    pub(crate) fn close(&mut self, conn: u64, is_websocket: bool) {
        if is_websocket {
            let pinged = self.send_frame(conn, &websocket::encode(websocket::PING, &[]));
            if pinged.is_ok() {
                self.wait(conn, LAST_PONG_TIMEOUT, |arrival| matches!(arrival, Arrival::Pong));
            }
            let _ = self.send_frame(conn, &websocket::encode(websocket::CLOSE, &[]));
        }
        if let Some(writer) = self.open.remove(&conn) {
            writer.end();
        }
    }

    /// Any bytes: a frame, a part of one, or none that is allowed.
    pub(crate) fn send_frame(&mut self, conn: u64, bytes: &[u8]) -> io::Result<()> {
        match self.open.get(&conn) {
            Some(writer) => writer.write(bytes),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// The first arrival that fits; earlier ones are kept.
    pub(crate) fn wait(
        &mut self,
        conn: u64,
        timeout: Duration,
        fits: impl Fn(&Arrival) -> bool,
    ) -> Option<Arrival> {
        let until = Instant::now() + timeout;
        loop {
            let unread = self.unread.entry(conn).or_default();
            if let Some(at) = unread.iter().position(&fits) {
                return unread.remove(at);
            }
            let (of, arrival) =
                self.arriving.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
            self.unread.entry(of).or_default().push_back(arrival);
        }
    }
}

fn read(
    mut stream: TcpStream,
    mut decoder: Decoder,
    writer: &Writer,
    conn: u64,
    arrivals: &Sender<(u64, Arrival)>,
) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let (decoded, ended) = match stream.read(&mut bytes) {
            Ok(length @ 1..) => (decoder.push(bytes.get(..length).unwrap_or_default()), false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => (decoder.end(), true),
        };
        for one in decoded {
            let arrival = match one {
                Decoded::Head(head) => Arrival::Head(head),
                Decoded::Line(fields) if fields.get("ev").is_some_and(|ev| ev == "ping-frame") => {
                    let payload = fields.get("payload").cloned().unwrap_or_default();
                    let payload: Vec<u8> = serde_json::from_value(payload).unwrap_or_default();
                    let _ = writer.write(&websocket::encode(websocket::PONG, &payload));
                    continue;
                }
                Decoded::Line(fields) if fields.get("ev").is_some_and(|ev| ev == "pong-frame") => {
                    Arrival::Pong
                }
                Decoded::Line(fields) if fields.get("ev").is_some_and(|ev| ev == "close-frame") => {
                    let code = fields.get("code").and_then(Value::as_u64);
                    Arrival::End(code.and_then(|code| u16::try_from(code).ok()))
                }
                Decoded::Line(fields) => match message(fields) {
                    Some(message) => Arrival::Message(message),
                    None => continue,
                },
                Decoded::Pass(_) => continue,
            };
            if arrivals.send((conn, arrival)).is_err() {
                return;
            }
        }
        if ended {
            let _ = arrivals.send((conn, Arrival::End(None)));
            return;
        }
    }
}

fn message(mut fields: Map<String, Value>) -> Option<Value> {
    ["msg", "text", "large"].iter().find_map(|key| fields.remove(*key))
}

//! The connections of a replay: opened as the script says, and everything that comes on them kept until it is asked
//! for.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::record::ear::{Ear, Heard};
use crate::record::http1::{Head, Side, Unanswered};
use crate::record::websocket;

/// What came.
#[derive(Debug)]
pub(crate) enum Came {
    Head(Head),
    Message(Value),
    Pong,
}

/// For the goodbye of a WebSocket.
const GOODBYE: Duration = Duration::from_secs(1);

/// One whole frame at a time: pings are answered while something else is said.
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
pub(crate) struct Lines {
    target: SocketAddr,
    open: BTreeMap<u64, Writer>,
    /// By connection, in order.
    unread: BTreeMap<u64, VecDeque<Came>>,
    arriving: Receiver<(u64, Came)>,
    arrivals: Sender<(u64, Came)>,
}

impl Lines {
    pub(crate) fn new(target: SocketAddr) -> Lines {
        let (arrivals, arriving) = channel();
        Lines { target, open: BTreeMap::new(), unread: BTreeMap::new(), arriving, arrivals }
    }

    /// Each request has a connection of its own: whether one may be used again is the server's matter.
    pub(crate) fn request(&mut self, conn: u64, bytes: &[u8]) -> io::Result<()> {
        let stream = TcpStream::connect(self.target)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(Duration::from_secs(10)))?;
        let (reading, arrivals) = (stream.try_clone()?, self.arrivals.clone());
        let writer = Writer(Arc::new(Mutex::new(stream)));
        writer.write(bytes)?;
        self.open.insert(conn, writer.clone());
        let unanswered = Unanswered::default();
        unanswered.asked(bytes);
        let ear = Ear::new(Side::Response, unanswered);
        let hear = move || read(reading, ear, &writer, conn, &arrivals);
        thread::Builder::new().name("linkspan-replay".into()).spawn(hear)?;
        Ok(())
    }

    pub(crate) fn send(&mut self, conn: u64, text: &str) -> io::Result<()> {
        self.frame(conn, &websocket::encode(websocket::TEXT, text.as_bytes()))
    }

    /// A server may ask whether its last answer has arrived: what it asked before our ping is answered before its pong.
    pub(crate) fn close(&mut self, conn: u64, is_websocket: bool) {
        if is_websocket {
            let asked = self.frame(conn, &websocket::encode(websocket::PING, &[]));
            if asked.is_ok() {
                self.wait(conn, GOODBYE, |came| matches!(came, Came::Pong));
            }
            let _ = self.frame(conn, &websocket::encode(websocket::CLOSE, &[]));
        }
        if let Some(writer) = self.open.remove(&conn) {
            writer.end();
        }
    }

    fn frame(&mut self, conn: u64, bytes: &[u8]) -> io::Result<()> {
        match self.open.get(&conn) {
            Some(writer) => writer.write(bytes),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// The first that fits; those before it stay for others.
    pub(crate) fn wait(
        &mut self,
        conn: u64,
        patience: Duration,
        fits: impl Fn(&Came) -> bool,
    ) -> Option<Came> {
        let until = Instant::now() + patience;
        loop {
            let unread = self.unread.entry(conn).or_default();
            if let Some(at) = unread.iter().position(&fits) {
                return unread.remove(at);
            }
            let (of, came) =
                self.arriving.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
            self.unread.entry(of).or_default().push_back(came);
        }
    }
}

fn read(mut stream: TcpStream, mut ear: Ear, writer: &Writer, conn: u64, arrivals: &Sender<(u64, Came)>) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let (heard, over) = match stream.read(&mut bytes) {
            Ok(length @ 1..) => (ear.hear(bytes.get(..length).unwrap_or_default()), false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => (ear.end(), true),
        };
        for heard in heard {
            let came = match heard {
                Heard::Head(head) => Came::Head(head),
                Heard::Line(fields) if fields.get("ev").is_some_and(|ev| ev == "ping-frame") => {
                    let payload = fields.get("payload").cloned().unwrap_or_default();
                    let payload: Vec<u8> = serde_json::from_value(payload).unwrap_or_default();
                    let _ = writer.write(&websocket::encode(websocket::PONG, &payload));
                    continue;
                }
                Heard::Line(fields) if fields.get("ev").is_some_and(|ev| ev == "pong-frame") => Came::Pong,
                Heard::Line(fields) => match message(fields) {
                    Some(message) => Came::Message(message),
                    None => continue,
                },
                Heard::Pass(_) => continue,
            };
            if arrivals.send((conn, came)).is_err() {
                return;
            }
        }
        if over {
            return;
        }
    }
}

fn message(mut fields: Map<String, Value>) -> Option<Value> {
    ["msg", "text", "large"].iter().find_map(|key| fields.remove(*key))
}

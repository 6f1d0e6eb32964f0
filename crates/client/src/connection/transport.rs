//! Bytes between us and one peer: whole texts in, whole texts out. One thread per connection waits for the
//! socket and for what shall be sent, both at once, so neither direction can hold up the other. Knows nothing
//! of what the texts say.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_editor_api::{Decoder, encode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tungstenite::{Error, Message, WebSocket};

use crate::control::READ_BYTES;
use crate::dial::TimedStream;

/// No message is larger, in either direction.
pub(super) const MAX_MESSAGE: usize = 64 * 1024 * 1024;
/// After so many texts the other direction gets its turn.
const TEXTS_PER_TURN: usize = 64;
const PING_EVERY: Duration = Duration::from_secs(30);
const PONG_DEADLINE: Duration = Duration::from_secs(10);

/// A socket that is past its handshake.
#[derive(Debug)]
pub(super) enum Socket {
    /// Content-Length frames; the peer has its own heartbeat.
    Framed { stream: UnixStream, decoder: Decoder },
    /// WebSocket text frames.
    Web(Box<WebSocket<TimedStream>>),
}

/// Hears what comes. Called on the connection's thread, so it must not wait for anything.
pub(super) trait Listener: Send + 'static {
    /// A whole text.
    fn text(&mut self, text: &[u8], link: &Link);
    /// The answer to a [`Link::probe`].
    fn pong(&mut self, id: i64);
    /// The end; nothing comes after it.
    fn closed(&mut self);
}

/// The sending end. Clones send to the same peer.
#[derive(Debug, Clone)]
pub(super) struct Link {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    outbox: Mutex<VecDeque<Out>>,
    /// One byte here and the thread looks into the outbox.
    wake: UnixStream,
}

#[derive(Debug)]
enum Out {
    Text(Vec<u8>),
    Probe(i64),
    /// Everything before is sent, then goodbye.
    Close,
}

impl Link {
    /// Takes a socket over: from now on the thread alone reads and writes it.
    pub(super) fn start(mut socket: Socket, listener: impl Listener) -> io::Result<Link> {
        let (wake, woken) = UnixStream::pair()?;
        for end in [&wake, &woken] {
            end.set_nonblocking(true)?;
        }
        socket.prepare()?;
        let link = Link { shared: Arc::new(Shared { outbox: Mutex::default(), wake }) };
        let carrier = Carrier {
            outgoing: Outgoing::default(),
            heartbeat: matches!(socket, Socket::Web(_)).then(|| Heartbeat::new(PING_EVERY, PONG_DEADLINE)),
            socket,
            woken,
            link: link.clone(),
        };
        thread::Builder::new().name("linkspan-editor".into()).spawn(move || carrier.run(listener))?;
        Ok(link)
    }

    /// Sends a text, in its turn. Whether it arrives is seen by what comes back.
    pub(super) fn send(&self, text: Vec<u8>) {
        self.put(Out::Text(text));
    }

    /// Asks for a sign of life from a WebSocket peer.
    pub(super) fn probe(&self, id: i64) {
        self.put(Out::Probe(id));
    }

    /// Says goodbye, after all that was sent before.
    pub(super) fn close(&self) {
        self.put(Out::Close);
    }

    fn put(&self, out: Out) {
        self.shared.outbox.lock().unwrap_or_else(PoisonError::into_inner).push_back(out);
        // A full pipe wakes as well as one more byte would.
        let _ = (&self.shared.wake).write(&[1]);
    }

    fn take(&self) -> VecDeque<Out> {
        std::mem::take(&mut self.shared.outbox.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What of a framed peer's bytes is not written yet. WebSocket keeps its own.
#[derive(Debug, Default)]
struct Outgoing {
    chunks: VecDeque<Vec<u8>>,
    /// Bytes of the first one that are written.
    written: usize,
}

struct Carrier {
    socket: Socket,
    outgoing: Outgoing,
    heartbeat: Option<Heartbeat>,
    woken: UnixStream,
    link: Link,
}

enum Turn {
    /// The socket has no more for now.
    Idle,
    /// There may be more at once.
    More,
    Over,
}

impl Carrier {
    fn run(mut self, mut listener: impl Listener) {
        while self.turn(&mut listener).is_some() {}
        self.socket.shut_down();
        listener.closed();
    }

    /// Sends, receives and waits, once; none when the connection is over.
    fn turn(&mut self, listener: &mut impl Listener) -> Option<()> {
        let mut closing = false;
        for out in self.link.take() {
            match out {
                Out::Text(text) => self.socket.queue_text(text, &mut self.outgoing).ok()?,
                Out::Probe(id) => self.socket.queue_ping(id).ok()?,
                Out::Close => {
                    closing = true;
                    break;
                }
            }
        }
        if closing {
            self.say_goodbye();
            return None;
        }
        let mut blocked = self.flush()?;
        let more = match self.socket.receive(listener, &self.link, self.heartbeat.as_mut()) {
            Turn::Idle => false,
            Turn::More => true,
            Turn::Over => return None,
        };
        // Reading queues pongs.
        if matches!(self.socket, Socket::Web(_)) {
            blocked = self.flush()?;
        }
        if let Some(heartbeat) = &mut self.heartbeat {
            match heartbeat.beat(Instant::now()) {
                Beat::Ping => {
                    self.socket.queue_ping(0).ok()?;
                    blocked = self.flush()?;
                }
                Beat::Dead => return None,
                Beat::Wait => {}
            }
        }
        let patience = if more {
            Some(Duration::ZERO)
        } else {
            self.heartbeat.as_ref().map(|heartbeat| heartbeat.next(Instant::now()))
        };
        self.wait(blocked, patience)
    }

    /// `true` when the socket takes no more for now; none when it is over.
    fn flush(&mut self) -> Option<bool> {
        match self.socket.flush(&mut self.outgoing) {
            Ok(()) => Some(false),
            Err(error) if would_block(&error) => Some(true),
            Err(_) => None,
        }
    }

    /// Waits until there is something to do.
    fn wait(&self, blocked: bool, patience: Option<Duration>) -> Option<()> {
        let interest = if blocked { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let mut waiting = [
            PollFd::from_borrowed_fd(self.socket.fd(), interest),
            PollFd::from_borrowed_fd(self.woken.as_fd(), PollFlags::IN),
        ];
        let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
        match poll(&mut waiting, patience.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
        let mut bytes = [0; 256];
        while let Ok(1..) = (&self.woken).read(&mut bytes) {}
        Some(())
    }

    /// What was sent before the goodbye gets a moment to go out; a peer that does not read it loses it.
    fn say_goodbye(&mut self) {
        let until = Instant::now() + Duration::from_secs(1);
        if let Socket::Web(web) = &mut self.socket {
            let _ = web.close(None);
        }
        while self.flush() == Some(true) {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(patience) = Timespec::try_from(left) else { return };
            let mut waiting = [PollFd::from_borrowed_fd(self.socket.fd(), PollFlags::OUT)];
            if left.is_zero() || !matches!(poll(&mut waiting, Some(&patience)), Ok(1..)) {
                return;
            }
        }
    }
}

impl Socket {
    /// Ready for a thread that waits elsewhere, for messages of the allowed size.
    fn prepare(&mut self) -> io::Result<()> {
        match self {
            Socket::Framed { stream, .. } => stream.set_nonblocking(true),
            Socket::Web(web) => {
                web.set_config(|config| {
                    config.max_message_size = Some(MAX_MESSAGE);
                    config.max_frame_size = Some(MAX_MESSAGE);
                });
                web.get_mut().set_deadline(None);
                web.get_ref().tcp().set_nonblocking(true)
            }
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Framed { stream, .. } => stream.as_fd(),
            Socket::Web(web) => web.get_ref().tcp().as_fd(),
        }
    }

    fn shut_down(&mut self) {
        if let Socket::Web(web) = self {
            // The answer to the peer's goodbye.
            let _ = web.flush();
        }
        let _ = match self {
            Socket::Framed { stream, .. } => stream.shutdown(std::net::Shutdown::Both),
            Socket::Web(web) => web.get_ref().tcp().shutdown(std::net::Shutdown::Both),
        };
    }

    /// One frame for each text: some servers drop those who send fragments.
    fn queue_text(&mut self, text: Vec<u8>, outgoing: &mut Outgoing) -> io::Result<()> {
        match self {
            Socket::Framed { .. } => {
                outgoing.chunks.push_back(encode(&text));
                Ok(())
            }
            Socket::Web(web) => {
                let text = String::from_utf8(text)
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
                queued(web.write(Message::text(text)))
            }
        }
    }

    fn queue_ping(&mut self, id: i64) -> io::Result<()> {
        match self {
            Socket::Framed { .. } => Ok(()),
            Socket::Web(web) => queued(web.write(Message::Ping(id.to_be_bytes().to_vec().into()))),
        }
    }

    fn flush(&mut self, outgoing: &mut Outgoing) -> io::Result<()> {
        match self {
            Socket::Framed { stream, .. } => outgoing.write_to(stream),
            Socket::Web(web) => web.flush().map_err(io_error),
        }
    }

    fn receive(
        &mut self,
        listener: &mut impl Listener,
        link: &Link,
        mut heartbeat: Option<&mut Heartbeat>,
    ) -> Turn {
        for _ in 0..TEXTS_PER_TURN {
            let text = match self {
                Socket::Framed { stream, decoder } => next_frame(stream, decoder),
                Socket::Web(web) => next_message(web),
            };
            match text {
                Ok(Heard::Text(text)) => listener.text(&text, link),
                Ok(Heard::Pong(id)) => listener.pong(id),
                Ok(Heard::Other) => {}
                Err(error) if would_block(&error) => return Turn::Idle,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Turn::Over,
            }
            if let Some(heartbeat) = &mut heartbeat {
                heartbeat.heard();
            }
        }
        Turn::More
    }
}

impl Outgoing {
    fn write_to(&mut self, stream: &mut UnixStream) -> io::Result<()> {
        while let Some(chunk) = self.chunks.front() {
            match stream.write(chunk.get(self.written..).unwrap_or_default()) {
                Ok(length) => self.written += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            if self.written >= chunk.len() {
                self.chunks.pop_front();
                self.written = 0;
            }
        }
        Ok(())
    }
}

enum Heard {
    Text(Vec<u8>),
    Pong(i64),
    /// A ping, which is answered by itself, or a frame that means nothing here.
    Other,
}

fn next_frame(stream: &mut UnixStream, decoder: &mut Decoder) -> io::Result<Heard> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let mut buffer = [0; READ_BYTES];
    loop {
        if let Some(frame) = decoder.next().map_err(invalid)? {
            return Ok(Heard::Text(frame));
        }
        match stream.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            length => decoder.push(buffer.get(..length).unwrap_or_default()),
        }
    }
}

fn next_message(web: &mut WebSocket<TimedStream>) -> io::Result<Heard> {
    Ok(match web.read().map_err(io_error)? {
        Message::Text(text) => Heard::Text(text.as_bytes().to_vec()),
        // Some servers send their JSON so; what is none is refused where it is read.
        Message::Binary(bytes) => Heard::Text(bytes.to_vec()),
        Message::Pong(payload) => match <[u8; 8]>::try_from(payload.as_ref()) {
            Ok(id) => Heard::Pong(i64::from_be_bytes(id)),
            Err(_) => Heard::Other,
        },
        Message::Ping(_) | Message::Frame(_) => Heard::Other,
        // Its answer goes out with the next flush, but there is nothing more to hear.
        Message::Close(_) => return Err(io::ErrorKind::ConnectionAborted.into()),
    })
}

/// A frame that the socket does not take yet waits inside of the WebSocket.
fn queued(result: Result<(), Error>) -> io::Result<()> {
    match result.map_err(io_error) {
        Err(error) if would_block(&error) => Ok(()),
        other => other,
    }
}

fn io_error(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        other => io::Error::other(other),
    }
}

fn would_block(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

/// Finds a peer that is gone without a word.
#[derive(Debug)]
struct Heartbeat {
    every: Duration,
    deadline: Duration,
    /// When the next ping is due, or, once it is sent, when its answer is.
    due: Instant,
    waiting: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Beat {
    Ping,
    Wait,
    Dead,
}

impl Heartbeat {
    fn new(every: Duration, deadline: Duration) -> Heartbeat {
        Heartbeat { every, deadline, due: Instant::now() + every, waiting: false }
    }

    fn heard(&mut self) {
        if self.waiting {
            self.waiting = false;
            self.due = Instant::now() + self.every;
        }
    }

    fn beat(&mut self, now: Instant) -> Beat {
        if now < self.due {
            return Beat::Wait;
        }
        if self.waiting {
            return Beat::Dead;
        }
        self.waiting = true;
        self.due = now + self.deadline;
        Beat::Ping
    }

    fn next(&self, now: Instant) -> Duration {
        // Rounded up, so that nothing is looked at a moment too early.
        self.due.saturating_duration_since(now) + Duration::from_millis(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_peer_is_pinged_and_then_given_up() {
        let (every, deadline) = (Duration::from_secs(30), Duration::from_secs(10));
        let mut heartbeat = Heartbeat::new(every, deadline);
        let start = heartbeat.due;
        assert_eq!(heartbeat.beat(start - Duration::from_secs(1)), Beat::Wait);
        assert_eq!(heartbeat.beat(start), Beat::Ping);
        assert_eq!(heartbeat.beat(start + Duration::from_secs(9)), Beat::Wait);
        assert_eq!(heartbeat.beat(start + deadline), Beat::Dead);
    }

    #[test]
    fn any_word_of_the_peer_is_life() {
        let mut heartbeat = Heartbeat::new(Duration::from_secs(30), Duration::from_secs(10));
        assert_eq!(heartbeat.beat(heartbeat.due), Beat::Ping);
        heartbeat.heard();
        assert_eq!(heartbeat.beat(Instant::now() + Duration::from_secs(20)), Beat::Wait);
    }
}

//! Bytes between us and one peer: whole texts in, whole texts out. One thread per connection waits for the socket and
//! for outgoing texts at the same time, so neither direction can block the other. Does not know what the texts mean.

mod heartbeat;
mod socket;

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use heartbeat::{Beat, Heartbeat};
use socket::{Outgoing, Turn, would_block};

pub(super) use socket::Socket;

/// No message is larger, in either direction.
pub(super) const MAX_MESSAGE: usize = 64 * 1024 * 1024;
const PING_EVERY: Duration = Duration::from_secs(30);
const PONG_DEADLINE: Duration = Duration::from_secs(10);

/// Receives texts. Called on the connection's thread, so it must not wait for anything.
pub(super) trait Listener: Send + 'static {
    /// A whole text.
    fn text(&mut self, text: &[u8], link: &SocketLink);
    /// The answer to a [`SocketLink::probe`].
    fn pong(&mut self, id: i64);
    /// The connection is closed; nothing follows.
    fn closed(&mut self);
}

/// The sending end. Clones send to the same peer.
#[derive(Debug, Clone)]
pub(super) struct SocketLink {
    shared: Arc<LinkShared>,
}

#[derive(Debug)]
struct LinkShared {
    /// None once the connection is closed.
    outbox: Mutex<Option<VecDeque<Out>>>,
    /// A byte written here makes the thread read the outbox.
    wake: UnixStream,
}

#[derive(Debug)]
enum Out {
    Text(Vec<u8>),
    Probe(i64),
    /// Closes after everything before it is sent.
    Close,
}

impl SocketLink {
    /// Takes over a socket: from now on only the thread reads and writes it.
    pub(super) fn start(mut socket: Socket, listener: impl Listener) -> io::Result<SocketLink> {
        let (wake, woken) = UnixStream::pair()?;
        for end in [&wake, &woken] {
            end.set_nonblocking(true)?;
        }
        socket.prepare()?;
        let link =
            SocketLink { shared: Arc::new(LinkShared { outbox: Mutex::new(Some(VecDeque::new())), wake }) };
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

    /// Queues a text. Only an answer proves that it arrived.
    pub(super) fn send(&self, text: Vec<u8>) {
        self.put(Out::Text(text));
    }

    /// Pings a WebSocket peer.
    pub(super) fn probe(&self, id: i64) {
        self.put(Out::Probe(id));
    }

    /// Closes the connection after everything that was sent before.
    pub(super) fn close(&self) {
        self.put(Out::Close);
    }

    fn put(&self, out: Out) {
        if let Some(outbox) = &mut *self.outbox() {
            outbox.push_back(out);
            // A full pipe wakes the thread as well as one more byte would.
            let _ = (&self.shared.wake).write(&[1]);
        }
    }

    fn take(&self) -> VecDeque<Out> {
        self.outbox().as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn outbox(&self) -> MutexGuard<'_, Option<VecDeque<Out>>> {
        self.shared.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Carrier {
    socket: Socket,
    outgoing: Outgoing,
    heartbeat: Option<Heartbeat>,
    woken: UnixStream,
    link: SocketLink,
}

impl Carrier {
    fn run(mut self, mut listener: impl Listener) {
        while self.turn(&mut listener).is_some() {}
        self.socket.shut_down();
        *self.link.outbox() = None;
        listener.closed();
    }

    /// Sends, receives and waits, once; none once the connection is closed.
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

    /// `true` if the socket accepts no more for now; none once it is closed.
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

    /// Texts that were sent before the goodbye get a moment to go out; a peer that does not read them loses them.
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

//! The hub's own Unix socket: framed JSON-RPC with editors, commands and agents of the same user.

use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use linkspan_editor_api::{Decoder, Limits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{MissedTickBehavior, timeout};

use crate::core::{ConnectionId, Event};
use crate::edge::outbox::{self, Inbox, Outbox, SEND_DEADLINE};
use crate::edge::startup::socket_file::{CHECK_INTERVAL, SocketFile};
use crate::edge::ws::rate_limit::RateLimit;
use crate::edge::{Edge, LoopMessage};

/// Copying this many bytes costs less than another system call.
const COPY_LIMIT: usize = 16 * 1024;

/// The loop's end of one connection.
pub(crate) struct ConnectionHandle {
    pub(crate) outbox: Outbox<Vec<u8>>,
    /// Set for an agent's connection: it sends no faster than any other agent.
    pub(crate) rate_limited: Arc<AtomicBool>,
}

struct ConnectionReader {
    local: ConnectionId,
    message_bytes: usize,
    rate_limited: Arc<AtomicBool>,
}

/// For connections of every kind that the core treats alike, so that no two share an id.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A connection that the core knows.
pub(crate) struct RegisteredConnection {
    pub(crate) local: ConnectionId,
    pub(crate) inbox: Inbox<Vec<u8>>,
    rate_limited: Arc<AtomicBool>,
}

/// Makes a connection known to the core. `None`: the hub is shutting down.
pub(crate) async fn register(
    edge: &Edge,
    opened: impl FnOnce(ConnectionId) -> Event,
) -> Option<RegisteredConnection> {
    let local = ConnectionId(NEXT_ID.fetch_add(1, Ordering::Relaxed));
    let (outbox, inbox) = outbox::new(2 * message_bytes(&edge.limits));
    let rate_limited: Arc<AtomicBool> = Arc::default();
    let to = ConnectionHandle { outbox, rate_limited: rate_limited.clone() };
    edge.inbox.send(LoopMessage::NewLocal(local, to)).await.ok()?;
    edge.send_event(opened(local)).await.then_some(RegisteredConnection { local, inbox, rate_limited })
}

/// The user's own version of the largest file must fit, escaped as JSON.
pub(crate) fn message_bytes(limits: &crate::config::Limits) -> usize {
    limits.message_mib.max(4 * limits.file_mib) * 1024 * 1024
}

pub(crate) async fn accept(mut listener: UnixListener, socket_file: Arc<Mutex<SocketFile>>, edge: Edge) {
    let mut checks = tokio::time::interval(CHECK_INTERVAL);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = checks.tick() => {
                let again = socket_file.lock().unwrap_or_else(PoisonError::into_inner).restore_if_removed();
                listener = again.unwrap_or(listener);
                continue;
            }
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Most likely out of file descriptors: other connections may close soon.
                tracing::error!("cannot accept on the hub's socket: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let ours = rustix::process::getuid().as_raw();
        if stream.peer_cred().map_or(true, |peer| peer.uid() != ours) {
            tracing::warn!("rejected a connection of another user on the hub's socket");
            continue;
        }
        let opened = |local| Event::ConnectionOpened { connection: local };
        let Some(RegisteredConnection { local, inbox, rate_limited }) = register(&edge, opened).await else {
            return;
        };
        let message_bytes = message_bytes(&edge.limits);
        let from = ConnectionReader { local, message_bytes, rate_limited };
        tokio::spawn(serve(from, stream, inbox, edge.clone()));
    }
}

/// Ends when either side is done.
async fn serve(from: ConnectionReader, stream: UnixStream, inbox: Inbox<Vec<u8>>, edge: Edge) {
    let local = from.local;
    let (reading, writing) = stream.into_split();
    let mut read = pin!(read(from, reading, &edge));
    let write_end = tokio::select! {
        () = inbox.cut_off() => WriteEnd::Done,
        () = &mut read => WriteEnd::Done,
        write_end = write(writing, inbox, SEND_DEADLINE) => write_end,
    };
    if write_end == WriteEnd::PeerClosed {
        // It closed without reading everything; what it sent before that still counts.
        let _ = timeout(SEND_DEADLINE, read).await;
    }
    edge.send_event(Event::ConnectionClosed { connection: local }).await;
}

async fn read(from: ConnectionReader, mut stream: OwnedReadHalf, edge: &Edge) {
    let ConnectionReader { local, message_bytes, rate_limited } = from;
    let mut rate_limit = RateLimit::new(edge.limits.messages_per_second);
    let mut decoder = Decoder::new(Limits { body: message_bytes, ..Limits::default() });
    let mut chunk = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = stream.read(&mut chunk).await {
        decoder.push(chunk.get(..count).unwrap_or_default());
        loop {
            match decoder.next() {
                Ok(Some(body)) => {
                    if !edge.send_event(Event::ConnectionMessage { connection: local, body }).await {
                        return;
                    }
                    if rate_limited.load(Ordering::Relaxed) {
                        rate_limit.wait().await;
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!("closing a connection on the hub's socket: {error}");
                    return;
                }
            }
        }
    }
}

/// How sending to a peer ended.
#[derive(Debug, PartialEq, Eq)]
enum WriteEnd {
    Done,
    /// The peer has closed its end.
    PeerClosed,
}

/// Sends a small message together with its header; a large one is not copied for that.
async fn send(stream: &mut OwnedWriteHalf, body: &[u8]) -> io::Result<()> {
    if body.len() <= COPY_LIMIT {
        return stream.write_all(&linkspan_editor_api::encode(body)).await;
    }
    stream.write_all(linkspan_editor_api::header(body).as_bytes()).await?;
    stream.write_all(body).await
}

/// Ends when the hub has no more to send, or when the peer does not read.
async fn write(mut stream: OwnedWriteHalf, mut inbox: Inbox<Vec<u8>>, deadline: Duration) -> WriteEnd {
    while let Some(body) = inbox.recv().await {
        match timeout(deadline, send(&mut stream, &body)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return WriteEnd::PeerClosed,
            Err(_) => {
                tracing::warn!("closing a connection on the hub's socket: the peer does not read");
                return WriteEnd::Done;
            }
        }
    }
    WriteEnd::Done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_time(work: impl Future<Output = ()>) -> bool {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { timeout(Duration::from_secs(20), work).await.is_ok() })
    }

    #[test]
    fn a_peer_that_does_not_read_is_disconnected_even_if_the_hub_keeps_its_outbox() {
        for hub_keeps_outbox in [true, false] {
            let given_up = in_time(async {
                let (ours, _theirs) = UnixStream::pair().unwrap();
                let (outbox, inbox) = outbox::new(usize::MAX);
                outbox.send(vec![b'x'; 8 << 20], 8 << 20);
                let kept = Some(outbox).filter(|_| hub_keeps_outbox);
                let (_reading, writing) = ours.into_split();
                write(writing, inbox, Duration::from_millis(50)).await;
                drop(kept);
            });
            assert!(given_up, "{hub_keeps_outbox}");
        }
    }

    #[test]
    fn a_peer_that_reads_gets_everything_and_stays_connected() {
        let kept = in_time(async {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            let (outbox, inbox) = outbox::new(usize::MAX);
            outbox.send(vec![b'x'; 8 << 20], 8 << 20);
            drop(outbox);
            let (reading, writing) = ours.into_split();
            let mut got = Vec::new();
            let read = async { while let Ok(1..) = theirs.read_buf(&mut got).await {} };
            tokio::join!(read, async {
                write(writing, inbox, Duration::from_secs(10)).await;
                drop(reading);
            });
            assert!(got.len() > 8 << 20);
        });
        assert!(kept);
    }
}

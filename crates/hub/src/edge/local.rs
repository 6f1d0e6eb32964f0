//! The hub's own socket: framed JSON-RPC with editors and commands of the same user.

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

use super::doorstep::{BETWEEN_LOOKS, Doorstep};
use super::outbox::{self, Inbox, Outbox, SEND_DEADLINE};
use super::pace::Pace;
use super::{Edge, Happening};
use crate::core::{Event, LocalId};

/// Copying this much costs less than another call of the system.
const COPIED: usize = 16 * 1024;

/// The hub's end of one connection.
pub(crate) struct ToLocal {
    pub(super) outbox: Outbox<Vec<u8>>,
    /// An agent's: it sends no faster than any other.
    pub(super) paced: Arc<AtomicBool>,
}

struct FromLocal {
    local: LocalId,
    message_bytes: usize,
    paced: Arc<AtomicBool>,
}

/// Connections of every kind that the core takes for local, so that no two share a number.
static LOCALS: AtomicU64 = AtomicU64::new(1);

/// A connection that the core knows.
pub(crate) struct Introduced {
    pub(crate) local: LocalId,
    pub(crate) inbox: Inbox<Vec<u8>>,
    paced: Arc<AtomicBool>,
}

/// Makes a connection known. `None`: the hub is leaving.
pub(crate) async fn introduce(edge: &Edge, opened: impl FnOnce(LocalId) -> Event) -> Option<Introduced> {
    let local = LocalId(LOCALS.fetch_add(1, Ordering::Relaxed));
    let (outbox, inbox) = outbox::new(2 * message_bytes(&edge.limits));
    let paced: Arc<AtomicBool> = Arc::default();
    let to = ToLocal { outbox, paced: paced.clone() };
    edge.inbox.send(Happening::NewLocal(local, to)).await.ok()?;
    edge.tell(opened(local)).await.then_some(Introduced { local, inbox, paced })
}

/// A person's own version of the largest file must fit, escaped as JSON.
pub(crate) fn message_bytes(limits: &crate::config::Limits) -> usize {
    limits.message_mib.max(4 * limits.file_mib) * 1024 * 1024
}

pub(super) async fn accept(mut listener: UnixListener, doorstep: Arc<Mutex<Doorstep>>, edge: Edge) {
    let mut looks = tokio::time::interval(BETWEEN_LOOKS);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = looks.tick() => {
                let again = doorstep.lock().unwrap_or_else(PoisonError::into_inner).look();
                listener = again.unwrap_or(listener);
                continue;
            }
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of descriptors, most likely: others may close some soon.
                tracing::error!("cannot accept on the hub's socket: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let ours = rustix::process::getuid().as_raw();
        if stream.peer_cred().map_or(true, |peer| peer.uid() != ours) {
            tracing::warn!("another user tried the hub's socket");
            continue;
        }
        let opened = |local| Event::LocalOpened { local };
        let Some(Introduced { local, inbox, paced }) = introduce(&edge, opened).await else { return };
        let message_bytes = message_bytes(&edge.limits);
        let from = FromLocal { local, message_bytes, paced };
        tokio::spawn(serve(from, stream, inbox, edge.clone()));
    }
}

/// Ends when either side has had enough.
async fn serve(from: FromLocal, stream: UnixStream, inbox: Inbox<Vec<u8>>, edge: Edge) {
    let local = from.local;
    let (reading, writing) = stream.into_split();
    let mut read = pin!(read(from, reading, &edge));
    let said = tokio::select! {
        () = inbox.cut_off() => Said::Enough,
        () = &mut read => Said::Enough,
        said = write(writing, inbox, SEND_DEADLINE) => said,
    };
    if said == Said::ToNobody {
        // It has gone without hearing us out; what it said before that still counts.
        let _ = timeout(SEND_DEADLINE, read).await;
    }
    edge.tell(Event::LocalClosed { local }).await;
}

async fn read(from: FromLocal, mut stream: OwnedReadHalf, edge: &Edge) {
    let FromLocal { local, message_bytes, paced } = from;
    let mut pace = Pace::new(edge.limits.messages_per_second);
    let mut decoder = Decoder::new(Limits { body: message_bytes, ..Limits::default() });
    let mut chunk = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = stream.read(&mut chunk).await {
        decoder.push(chunk.get(..count).unwrap_or_default());
        loop {
            match decoder.next() {
                Ok(Some(body)) => {
                    if !edge.tell(Event::LocalMessage { local, body }).await {
                        return;
                    }
                    if paced.load(Ordering::Relaxed) {
                        pace.step().await;
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!("a connection on the hub's socket is closed: {error}");
                    return;
                }
            }
        }
    }
}

/// How speaking to a peer ended.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Enough,
    /// The peer has closed its end.
    ToNobody,
}

/// Small messages go out at once with their header; a large one is not copied for that.
async fn send(stream: &mut OwnedWriteHalf, body: &[u8]) -> io::Result<()> {
    if body.len() <= COPIED {
        return stream.write_all(&linkspan_editor_api::encode(body)).await;
    }
    stream.write_all(linkspan_editor_api::header(body).as_bytes()).await?;
    stream.write_all(body).await
}

/// Ends with what the hub has to say, or with a peer that does not take it.
async fn write(mut stream: OwnedWriteHalf, mut inbox: Inbox<Vec<u8>>, deadline: Duration) -> Said {
    while let Some(body) = inbox.recv().await {
        match timeout(deadline, send(&mut stream, &body)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Said::ToNobody,
            Err(_) => {
                tracing::warn!(
                    "a connection on the hub's socket is closed: it does not read what it is sent"
                );
                return Said::Enough;
            }
        }
    }
    Said::Enough
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_time(work: impl Future<Output = ()>) -> bool {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { timeout(Duration::from_secs(20), work).await.is_ok() })
    }

    #[test]
    fn a_peer_that_does_not_read_is_let_go_whether_or_not_the_hub_still_holds_on() {
        for hub_holds_on in [true, false] {
            let given_up = in_time(async {
                let (ours, _theirs) = UnixStream::pair().unwrap();
                let (outbox, inbox) = outbox::new(usize::MAX);
                outbox.send(vec![b'x'; 8 << 20], 8 << 20);
                let kept = Some(outbox).filter(|_| hub_holds_on);
                let (_reading, writing) = ours.into_split();
                write(writing, inbox, Duration::from_millis(50)).await;
                drop(kept);
            });
            assert!(given_up, "{hub_holds_on}");
        }
    }

    #[test]
    fn a_peer_that_reads_gets_everything_and_is_kept() {
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

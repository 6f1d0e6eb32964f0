//! One open page: each text frame is a message of the hub's own protocol, both ways. What they mean is for the core,
//! to which the page is a connection like a command's.

use std::sync::Arc;
use std::time::Duration;

use futures_util::SinkExt;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_websockets::{Message, WebSocketStream};

use super::Page;
use super::access::SessionId;
use crate::core::{Event, LocalId};
use crate::edge::local::{self, Introduced};
use crate::edge::metered::{self, Metered};
use crate::edge::outbox::{Inbox, SEND_DEADLINE};
use crate::edge::pace::Pace;
use crate::edge::{Edge, agent};

/// Access was taken back: no use in trying again.
const TAKEN_BACK: u16 = 4001;

/// A page may be at the other end of a slow line; this much is slow, and less is gone.
const SLOWEST_BYTES_PER_SECOND: usize = 32 * 1024;

/// A ping may wait behind a large review on a slow line, so one that is not answered in time is not the end.
const SILENT_BEATS: u32 = 2;

pub(super) async fn converse(stream: TcpStream, session: SessionId, page: Arc<Page>, edge: Edge) {
    // Before the session is looked at, so that no end of it is missed.
    let access = page.changed.subscribe();
    let message_bytes = local::message_bytes(&edge.limits);
    let opened = |local| Event::PageOpened { local };
    let Some(Introduced { local, inbox, .. }) = local::introduce(&edge, opened).await else { return };
    let mut open = Open {
        local,
        socket: metered::serve(stream, message_bytes, &page.room),
        sending: false,
        silent_beats: 0,
        pace: Pace::new(edge.limits.messages_per_second),
    };
    let taken_back = tokio::select! {
        biased;
        () = ended(session, &page, access) => true,
        () = inbox.cut_off() => false,
        () = open.exchange(inbox, &edge) => false,
    };
    // Behind half a message no word can be said, and the rest of it is no longer for that browser.
    if taken_back && open.sending {
        let _ = open.socket.get_ref().stream().set_zero_linger();
    } else if taken_back {
        agent::close(&mut open.socket, TAKEN_BACK, "access was taken back").await;
    }
    drop(open);
    edge.tell(Event::LocalClosed { local }).await;
}

/// Comes back when the session may do nothing any more.
async fn ended(session: SessionId, page: &Page, mut changed: watch::Receiver<()>) {
    while page.lives(session) && changed.changed().await.is_ok() {}
}

struct Open {
    local: LocalId,
    socket: WebSocketStream<Metered<TcpStream>>,
    /// A message is on its way.
    sending: bool,
    /// Heartbeats since something came.
    silent_beats: u32,
    pace: Pace,
}

impl Open {
    async fn exchange(&mut self, mut inbox: Inbox<Vec<u8>>, edge: &Edge) {
        let every = Duration::from_secs(edge.limits.heartbeat_seconds);
        let mut heartbeat = interval_at(Instant::now() + every, every);
        // After a suspend, one is enough to find out who is still there.
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut goes_on = true;
        while goes_on {
            goes_on = tokio::select! {
                // Answers first: who does not take them is not heard.
                biased;
                body = inbox.recv() => match body {
                    Some(body) => self.send(body).await,
                    None => return agent::close(&mut self.socket, 1012, agent::LEAVING).await,
                },
                frame = metered::next(&mut self.socket) => match frame {
                    Ok(Some(Ok(frame))) => self.frame(frame, edge).await,
                    Ok(Some(Err(_))) => {
                        agent::refuse(&mut self.socket).await;
                        false
                    }
                    Ok(None) => false,
                    Err(unheard) => return agent::close(&mut self.socket, 1013, unheard.reason()).await,
                },
                _ = heartbeat.tick() => self.beat().await,
            };
        }
    }

    /// False: it is over.
    async fn frame(&mut self, frame: Message, edge: &Edge) -> bool {
        self.silent_beats = 0;
        if frame.is_close() {
            agent::drain(&mut self.socket).await;
            return false;
        }
        if frame.is_binary() {
            agent::close(&mut self.socket, 1003, "messages are text").await;
            return false;
        }
        if !frame.is_text() {
            self.pace.step().await;
            return true;
        }
        let body = frame.as_payload().to_vec();
        let told = edge.tell(Event::LocalMessage { local: self.local, body }).await;
        // One at a time: answers may be large, and all who ask the hub wait while one is made.
        edge.caught_up().await;
        self.pace.step().await;
        told
    }

    async fn send(&mut self, body: Vec<u8>) -> bool {
        let allowance = Duration::from_secs((body.len() / SLOWEST_BYTES_PER_SECOND) as u64);
        let Ok(text) = String::from_utf8(body) else { return true };
        self.put(Message::text(text), SEND_DEADLINE + allowance).await
    }

    async fn put(&mut self, message: Message, deadline: Duration) -> bool {
        self.sending = true;
        let sent = matches!(timeout(deadline, self.socket.send(message)).await, Ok(Ok(())));
        self.sending = false;
        sent
    }

    async fn beat(&mut self) -> bool {
        self.silent_beats += 1;
        if self.silent_beats > SILENT_BEATS {
            tracing::warn!("an open page does not answer, and is let go");
            return false;
        }
        self.put(Message::ping(""), SEND_DEADLINE).await
    }
}

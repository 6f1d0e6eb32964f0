//! One open page: each text frame is a message of the hub's own protocol, in both directions. What they mean is
//! decided in the core, which treats the page like a connection of a command.

use std::sync::Arc;
use std::time::Duration;

use futures_util::SinkExt;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_websockets::{Message, WebSocketStream};

use super::Page;
use super::access::SessionId;
use crate::core::{ConnectionId, Event};
use crate::edge::Edge;
use crate::edge::hub_socket::{self, RegisteredConnection};
use crate::edge::outbox::{Inbox, SEND_DEADLINE};
use crate::edge::ws::agent;
use crate::edge::ws::budgeted_stream::{self, BudgetedStream};
use crate::edge::ws::rate_limit::RateLimit;

/// Close code for revoked access: trying again is useless.
const ACCESS_REVOKED: u16 = 4001;

/// A page may be at the other end of a slow line. One slower than this counts as gone.
const SLOWEST_BYTES_PER_SECOND: usize = 32 * 1024;

/// A ping may wait behind a large review on a slow line, so one late answer is not the end.
const MAX_SILENT_HEARTBEATS: u32 = 2;

pub(super) async fn converse(stream: TcpStream, session: SessionId, page: Arc<Page>, edge: Edge) {
    // Before the session is checked, so that its end is not missed.
    let access = page.changed.subscribe();
    let message_bytes = hub_socket::message_bytes(&edge.limits);
    let opened = |local| Event::PageOpened { connection: local };
    let Some(RegisteredConnection { local, inbox, .. }) = hub_socket::register(&edge, opened).await else {
        return;
    };
    let mut open = OpenPage {
        local,
        socket: budgeted_stream::serve(stream, message_bytes, &page.budget),
        sending: false,
        silent_heartbeats: 0,
        rate_limit: RateLimit::new(edge.limits.messages_per_second),
    };
    let revoked = tokio::select! {
        biased;
        () = ended(session, &page, access) => true,
        () = inbox.cut_off() => false,
        () = open.exchange(inbox, &edge) => false,
    };
    // In the middle of a message no close frame can be sent, and the rest of the message is no longer for that
    // browser.
    if revoked && open.sending {
        let _ = open.socket.get_ref().stream().set_zero_linger();
    } else if revoked {
        agent::close(&mut open.socket, ACCESS_REVOKED, "access was revoked").await;
    }
    drop(open);
    edge.send_event(Event::ConnectionClosed { connection: local }).await;
}

/// Resolves when the session has lost access.
async fn ended(session: SessionId, page: &Page, mut changed: watch::Receiver<()>) {
    while page.is_active(session) && changed.changed().await.is_ok() {}
}

struct OpenPage {
    local: ConnectionId,
    socket: WebSocketStream<BudgetedStream<TcpStream>>,
    /// A message is being sent.
    sending: bool,
    /// Heartbeats since the last frame.
    silent_heartbeats: u32,
    rate_limit: RateLimit,
}

impl OpenPage {
    async fn exchange(&mut self, mut inbox: Inbox<Vec<u8>>, edge: &Edge) {
        let every = Duration::from_secs(edge.limits.heartbeat_seconds);
        let mut heartbeat = interval_at(Instant::now() + every, every);
        // After a suspend, one heartbeat is enough to find out which peers are still there.
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_open = true;
        while is_open {
            is_open = tokio::select! {
                // Sending first: a page that does not read is not read either.
                biased;
                body = inbox.recv() => match body {
                    Some(body) => self.send(body).await,
                    None => return agent::close(&mut self.socket, 1012, agent::SHUTTING_DOWN).await,
                },
                frame = budgeted_stream::next(&mut self.socket) => match frame {
                    Ok(Some(Ok(frame))) => self.frame(frame, edge).await,
                    Ok(Some(Err(_))) => {
                        agent::refuse(&mut self.socket).await;
                        false
                    }
                    Ok(None) => false,
                    Err(overload) => return agent::close(&mut self.socket, 1013, overload.reason()).await,
                },
                _ = heartbeat.tick() => self.send_heartbeat().await,
            };
        }
    }

    /// False when the conversation is over.
    async fn frame(&mut self, frame: Message, edge: &Edge) -> bool {
        self.silent_heartbeats = 0;
        if frame.is_close() {
            agent::drain(&mut self.socket).await;
            return false;
        }
        if frame.is_binary() {
            agent::close(&mut self.socket, 1003, "messages are text").await;
            return false;
        }
        if !frame.is_text() {
            self.rate_limit.wait().await;
            return true;
        }
        let body = frame.as_payload().to_vec();
        let sent = edge.send_event(Event::ConnectionMessage { connection: self.local, body }).await;
        // One at a time: answers may be large, and all other requests wait while one is made.
        edge.wait_until_handled().await;
        self.rate_limit.wait().await;
        sent
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

    async fn send_heartbeat(&mut self) -> bool {
        self.silent_heartbeats += 1;
        if self.silent_heartbeats > MAX_SILENT_HEARTBEATS {
            tracing::warn!("disconnecting an open page that does not answer");
            return false;
        }
        self.put(Message::ping(""), SEND_DEADLINE).await
    }
}

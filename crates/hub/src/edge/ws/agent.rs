//! One agent's WebSocket: frames in, frames out, pings. What the frames mean is decided in the core.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use linkspan_dialect::{Dialect, ExchangeId};
use linkspan_review::{AgentId, ReviewId, WindowId};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_websockets::{CloseCode, Message, WebSocketStream};

use crate::core::{Event, ExchangeAnswer};
use crate::edge::outbox::{self, Inbox, SEND_DEADLINE};
use crate::edge::ws::budgeted_stream::{self, BudgetedStream};
use crate::edge::ws::rate_limit::RateLimit;
use crate::edge::{Edge, LoopMessage};

/// How long a closing handshake may take.
const CLOSE_DEADLINE: Duration = Duration::from_secs(2);

/// With code 1012: the reason why the hub closes a connection that it no longer serves.
pub(crate) const SHUTTING_DOWN: &str = "the hub is shutting down; it may be back soon";

#[derive(Debug)]
pub(crate) enum ToAgent {
    Text(String),
    /// The answer to one HTTP request.
    Answer {
        exchange: ExchangeId,
        answer: ExchangeAnswer,
    },
    Ping {
        number: u64,
    },
    /// The next text carries the outcome of this review.
    Outcome {
        review: ReviewId,
    },
    /// The agent has answered that ping.
    Confirmed {
        number: u64,
    },
    Close {
        code: u16,
        reason: &'static str,
    },
}

impl ToAgent {
    pub(crate) fn size(&self) -> usize {
        match self {
            ToAgent::Text(text) => text.len(),
            ToAgent::Answer { answer, .. } => answer.size(),
            ToAgent::Ping { .. }
            | ToAgent::Outcome { .. }
            | ToAgent::Confirmed { .. }
            | ToAgent::Close { .. } => 0,
        }
    }
}

/// How a conversation ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CloseKind {
    /// A close frame: the agent wanted it.
    Goodbye,
    Lost,
}

pub(crate) async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    agent: AgentId,
    window: WindowId,
    dialect: &'static Dialect,
    stream: S,
    edge: Edge,
) {
    let message_bytes = edge.limits.message_mib * 1024 * 1024;
    let (outbox, inbox) = outbox::new(2 * message_bytes);
    if edge.inbox.send(LoopMessage::NewAgent(agent, outbox)).await.is_err() {
        return;
    }
    edge.send_event(Event::AgentOpened { agent, window, dialect, called: None }).await;
    let socket = budgeted_stream::serve(stream, message_bytes, &edge.budget);
    let close_kind = exchange(agent, socket, inbox, &edge).await;
    edge.send_event(Event::AgentClosed { agent, said_goodbye: close_kind == CloseKind::Goodbye }).await;
}

/// The same for a daemon to which the hub has connected.
pub(crate) async fn attend_daemon<S: AsyncRead + AsyncWrite + Unpin>(
    agent: AgentId,
    stream: S,
    inbox: Inbox<ToAgent>,
    edge: &Edge,
) {
    let socket = budgeted_stream::take_over(stream, edge.limits.message_mib * 1024 * 1024, &edge.budget);
    exchange(agent, socket, inbox, edge).await;
}

async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(
    agent: AgentId,
    mut socket: WebSocketStream<BudgetedStream<S>>,
    mut inbox: Inbox<ToAgent>,
    edge: &Edge,
) -> CloseKind {
    let mut rate_limit = RateLimit::new(edge.limits.messages_per_second);
    loop {
        tokio::select! {
            biased;
            message = inbox.recv() => {
                let Some(first) = message else {
                    close(&mut socket, 1012, SHUTTING_DOWN).await;
                    return CloseKind::Lost;
                };
                match send(&mut socket, first, &mut inbox).await {
                    SendOutcome::Sent => {}
                    SendOutcome::Closing { code, reason } => {
                        close(&mut socket, code, reason).await;
                        return CloseKind::Lost;
                    }
                    SendOutcome::Lost => return CloseKind::Lost,
                }
            }
            frame = budgeted_stream::next(&mut socket) => match frame {
                Err(overload) => {
                    tracing::warn!("closing {agent}: {}", overload.reason());
                    close(&mut socket, 1013, overload.reason()).await;
                    return CloseKind::Lost;
                }
                Ok(None) => return CloseKind::Lost,
                Ok(Some(Err(error))) => {
                    tracing::warn!("closing {agent}: its WebSocket failed: {error}");
                    refuse(&mut socket).await;
                    return CloseKind::Lost;
                }
                Ok(Some(Ok(frame))) if frame.is_close() => {
                    drain(&mut socket).await;
                    return close_kind(&frame);
                }
                Ok(Some(Ok(frame))) => {
                    let event = match frame.as_text() {
                        Some(text) => Some(Event::AgentFrame { agent, text: text.to_owned(), exchange: None }),
                        None if frame.is_pong() => {
                            Some(Event::AgentPong { agent, number: ping_number(frame.as_payload()) })
                        }
                        None if frame.is_binary() => Some(Event::AgentBinary { agent }),
                        // A ping, which the library answers. It counts towards the rate limit.
                        None => None,
                    };
                    if let Some(event) = event
                        && !edge.send_event(event).await
                    {
                        return CloseKind::Lost;
                    }
                    if budgeted_stream::needs_fresh_buffers(&frame) {
                        // One at a time: a message that waits for the core takes memory that no reservation counts
                        // any longer.
                        edge.wait_until_handled().await;
                        drop(frame);
                        socket = budgeted_stream::with_fresh_buffers(socket).await;
                    }
                    rate_limit.wait().await;
                }
            }
        }
    }
}

/// The number of the ping that a pong answers.
fn ping_number(payload: &[u8]) -> Option<u64> {
    std::str::from_utf8(payload).ok()?.parse().ok()
}

/// Other codes mean that something failed, not that the agent ended the conversation.
fn close_kind(frame: &Message) -> CloseKind {
    let meant = [CloseCode::NORMAL_CLOSURE, CloseCode::GOING_AWAY, CloseCode::NO_STATUS_RECEIVED];
    match frame.as_close() {
        Some((code, _)) if !meant.contains(&code) => CloseKind::Lost,
        _ => CloseKind::Goodbye,
    }
}

enum SendOutcome {
    Sent,
    Closing { code: u16, reason: &'static str },
    Lost,
}

/// Sends everything that is queued in one flush.
async fn send<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut WebSocketStream<S>,
    first: ToAgent,
    inbox: &mut Inbox<ToAgent>,
) -> SendOutcome {
    let mut next = Some(first);
    let sending = async {
        while let Some(message) = next.take() {
            match message {
                ToAgent::Text(text) => socket.feed(Message::text(text)).await?,
                // Frames of a WebSocket are not HTTP requests.
                ToAgent::Answer { .. } | ToAgent::Outcome { .. } | ToAgent::Confirmed { .. } => {}
                ToAgent::Ping { number } => socket.feed(Message::ping(number.to_string())).await?,
                ToAgent::Close { code, reason } => {
                    socket.flush().await?;
                    return Ok(SendOutcome::Closing { code, reason });
                }
            }
            next = inbox.try_recv();
        }
        socket.flush().await?;
        Ok::<_, tokio_websockets::Error>(SendOutcome::Sent)
    };
    match timeout(SEND_DEADLINE, sending).await {
        Ok(Ok(sent)) => sent,
        Ok(Err(_)) | Err(_) => SendOutcome::Lost,
    }
}

/// Reads until the other side has closed too, for a moment.
pub(crate) async fn drain<S: AsyncRead + AsyncWrite + Unpin>(socket: &mut WebSocketStream<S>) {
    let _ = timeout(CLOSE_DEADLINE, async { while let Some(Ok(_)) = socket.next().await {} }).await;
}

/// After an error. The library has queued the right close frame, which the next polls send, and accepts no other. It
/// queues none in one case: a message in fragments that became too large.
pub(crate) async fn refuse<S: AsyncRead + AsyncWrite + Unpin>(socket: &mut WebSocketStream<S>) {
    close(socket, 1009, "the message is too large").await;
}

pub(crate) async fn close<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut WebSocketStream<S>,
    code: u16,
    reason: &str,
) {
    let code = CloseCode::try_from(code).ok();
    let _ = timeout(CLOSE_DEADLINE, async {
        let _ = socket.send(Message::close(code, reason)).await;
        drain(socket).await;
    })
    .await;
}

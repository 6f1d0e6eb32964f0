//! One agent's WebSocket: frames in, frames out, pings. What they mean is for the core.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use linkspan_dialect::{Dialect, Exchange};
use linkspan_review::{AgentId, ReviewId, WindowId};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_websockets::{CloseCode, Message, WebSocketStream};

use super::metered::{self, Metered};
use super::outbox::{self, Inbox, SEND_DEADLINE};
use super::pace::Pace;
use super::{Edge, Happening};
use crate::core::{Event, ExchangeAnswer};

/// How long a closing handshake may take.
const CLOSE_DEADLINE: Duration = Duration::from_secs(2);

/// With code 1012: why a connection ends that the hub has let go.
pub(crate) const LEAVING: &str = "the hub is leaving; it may be back soon";

#[derive(Debug)]
pub(crate) enum ToAgent {
    Text(String),
    /// To the one request that asked.
    Answer {
        exchange: Exchange,
        answer: ExchangeAnswer,
    },
    Ping {
        number: u64,
    },
    /// The next text tells the outcome of this review.
    Outcome {
        review: ReviewId,
    },
    /// It has answered that ping.
    Confirmed {
        number: u64,
    },
    Close {
        code: u16,
        reason: &'static str,
    },
}

impl ToAgent {
    pub(super) fn size(&self) -> usize {
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
enum Ending {
    /// A close frame: the agent's own word.
    Goodbye,
    Lost,
}

pub(super) async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    agent: AgentId,
    window: WindowId,
    dialect: &'static Dialect,
    stream: S,
    edge: Edge,
) {
    let message_bytes = edge.limits.message_mib * 1024 * 1024;
    let (outbox, inbox) = outbox::new(2 * message_bytes);
    if edge.inbox.send(Happening::NewAgent(agent, outbox)).await.is_err() {
        return;
    }
    edge.tell(Event::AgentOpened { agent, window, dialect, called: None }).await;
    let socket = metered::serve(stream, message_bytes, &edge.room);
    let ending = exchange(agent, socket, inbox, &edge).await;
    edge.tell(Event::AgentClosed { agent, said_goodbye: ending == Ending::Goodbye }).await;
}

async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(
    agent: AgentId,
    mut socket: WebSocketStream<Metered<S>>,
    mut inbox: Inbox<ToAgent>,
    edge: &Edge,
) -> Ending {
    let mut pace = Pace::new(edge.limits.messages_per_second);
    loop {
        tokio::select! {
            biased;
            message = inbox.recv() => {
                let Some(first) = message else {
                    close(&mut socket, 1012, LEAVING).await;
                    return Ending::Lost;
                };
                match send(&mut socket, first, &mut inbox).await {
                    Sent::Yes => {}
                    Sent::Closing { code, reason } => {
                        close(&mut socket, code, reason).await;
                        return Ending::Lost;
                    }
                    Sent::Lost => return Ending::Lost,
                }
            }
            frame = metered::next(&mut socket) => match frame {
                Err(unheard) => {
                    tracing::warn!("{agent} is closed: {}", unheard.reason());
                    close(&mut socket, 1013, unheard.reason()).await;
                    return Ending::Lost;
                }
                Ok(None) => return Ending::Lost,
                Ok(Some(Err(error))) => {
                    tracing::warn!("{agent} broke the WebSocket protocol or vanished: {error}");
                    refuse(&mut socket).await;
                    return Ending::Lost;
                }
                Ok(Some(Ok(frame))) if frame.is_close() => {
                    drain(&mut socket).await;
                    return ending_of(&frame);
                }
                Ok(Some(Ok(frame))) => {
                    let event = match frame.as_text() {
                        Some(text) => Some(Event::AgentFrame { agent, text: text.to_owned(), exchange: None }),
                        None if frame.is_pong() => {
                            Some(Event::AgentPong { agent, number: ping_number(frame.as_payload()) })
                        }
                        None if frame.is_binary() => Some(Event::AgentBinary { agent }),
                        // A ping, which the library answers: that is work too.
                        None => None,
                    };
                    if let Some(event) = event
                        && !edge.tell(event).await
                    {
                        return Ending::Lost;
                    }
                    if metered::was_large(&frame) {
                        // One at a time: what waits for the core takes memory that is nobody's share any more.
                        edge.caught_up().await;
                        drop(frame);
                        socket = metered::renewed(socket).await;
                    }
                    pace.step().await;
                }
            }
        }
    }
}

/// Which of our pings a pong answers.
fn ping_number(payload: &[u8]) -> Option<u64> {
    std::str::from_utf8(payload).ok()?.parse().ok()
}

/// Other codes say that something went wrong, not that the agent has changed its mind.
fn ending_of(frame: &Message) -> Ending {
    let meant = [CloseCode::NORMAL_CLOSURE, CloseCode::GOING_AWAY, CloseCode::NO_STATUS_RECEIVED];
    match frame.as_close() {
        Some((code, _)) if !meant.contains(&code) => Ending::Lost,
        _ => Ending::Goodbye,
    }
}

enum Sent {
    Yes,
    Closing { code: u16, reason: &'static str },
    Lost,
}

/// Everything that waits goes out in one flush.
async fn send<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut WebSocketStream<S>,
    first: ToAgent,
    inbox: &mut Inbox<ToAgent>,
) -> Sent {
    let mut next = Some(first);
    let sending = async {
        while let Some(message) = next.take() {
            match message {
                ToAgent::Text(text) => socket.feed(Message::text(text)).await?,
                // Frames of a socket are no requests of their own.
                ToAgent::Answer { .. } | ToAgent::Outcome { .. } | ToAgent::Confirmed { .. } => {}
                ToAgent::Ping { number } => socket.feed(Message::ping(number.to_string())).await?,
                ToAgent::Close { code, reason } => {
                    socket.flush().await?;
                    return Ok(Sent::Closing { code, reason });
                }
            }
            next = inbox.try_recv();
        }
        socket.flush().await?;
        Ok::<_, tokio_websockets::Error>(Sent::Yes)
    };
    match timeout(SEND_DEADLINE, sending).await {
        Ok(Ok(sent)) => sent,
        Ok(Err(_)) | Err(_) => Sent::Lost,
    }
}

/// Takes what still comes until the other side has closed too, for a moment.
pub(crate) async fn drain<S: AsyncRead + AsyncWrite + Unpin>(socket: &mut WebSocketStream<S>) {
    let _ = timeout(CLOSE_DEADLINE, async { while let Some(Ok(_)) = socket.next().await {} }).await;
}

/// After an error. The library has put the right close frame in its queue, which the next polls send, and takes no
/// other; only where a message in pieces has become too large, it has forgotten to.
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

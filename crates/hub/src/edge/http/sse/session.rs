//! One session of an agent that sends requests and receives events on a stream, over any number of connections. What
//! the messages mean is decided in the core; how they look in HTTP is `stream`'s.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use hyper::body::{Body, Bytes, Frame};
use linkspan_dialect::Dialect;
use linkspan_review::{AgentId, WindowId};
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, timeout};

use crate::core::{Event, ExchangeAnswer, Introduction};
use crate::edge::http::rpc::HttpAgent;
use crate::edge::http::sse::replay::{self, ReplayBuffer};
use crate::edge::http::sse::sessions::Sessions;
use crate::edge::outbox::{self, Inbox, SEND_DEADLINE};
use crate::edge::ws::agent::ToAgent;
use crate::edge::ws::rate_limit::RateLimit;
use crate::edge::{Edge, LoopMessage};

/// Clients take a stream that is silent for minutes for a dead one.
const KEEP_ALIVE: Duration = Duration::from_secs(25);

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) key: String,
    http_agent: Arc<HttpAgent>,
    stream: Mutex<Stream>,
    changed: Notify,
    rate_limit: tokio::sync::Mutex<RateLimit>,
}

#[derive(Debug)]
struct Stream {
    replay: ReplayBuffer,
    /// How many streams there were; only the newest one is served.
    number: u64,
    /// The newest one is being served.
    is_served: bool,
    ended: bool,
}

/// A session to open, and its window.
pub(crate) struct NewSession {
    pub(crate) agent: AgentId,
    pub(crate) window: WindowId,
    pub(crate) dialect: &'static Dialect,
    pub(crate) key: String,
    pub(crate) known: Option<Introduction>,
    /// Makes the ids of its events unique.
    pub(crate) instance: String,
}

impl Session {
    /// None when the hub is shutting down.
    pub(crate) async fn open(
        arrival: NewSession,
        sessions: &Arc<Sessions>,
        edge: &Edge,
    ) -> Option<Arc<Session>> {
        let NewSession { agent, window, dialect, key, known, instance } = arrival;
        let limit = 2 * edge.limits.message_mib * 1024 * 1024;
        let (outbox, inbox) = outbox::new(limit);
        edge.inbox.send(LoopMessage::NewAgent(agent, outbox)).await.ok()?;
        let opened = Event::SessionOpened { agent, window, dialect, key: key.clone(), known };
        edge.send_event(opened).await;
        let stream =
            Stream { replay: ReplayBuffer::new(instance, limit), number: 0, is_served: false, ended: false };
        let session = Arc::new(Session {
            key,
            http_agent: match sessions.are_named_by_agents() {
                true => HttpAgent::reporting_gone_requests(agent),
                false => HttpAgent::new(agent),
            },
            stream: Mutex::new(stream),
            changed: Notify::new(),
            rate_limit: tokio::sync::Mutex::new(RateLimit::new(edge.limits.messages_per_second)),
        });
        tokio::spawn(deliver(Arc::clone(&session), inbox, Arc::clone(sessions), edge.clone()));
        Some(session)
    }

    pub(crate) fn agent(&self) -> AgentId {
        self.http_agent.agent
    }

    /// Whether its agent has a stream open.
    pub(super) fn is_listened_to(&self) -> bool {
        let stream = self.stream();
        stream.is_served && !stream.ended
    }

    /// None when the hub has ended the session, or is shutting down.
    pub(crate) async fn request(&self, text: String, edge: &Edge) -> Option<ExchangeAnswer> {
        self.rate_limit.lock().await.wait().await;
        let pending = self.http_agent.request(text, edge);
        tokio::pin!(pending);
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            // The session may have ended before the request was sent, or with its answer.
            if self.stream().ended {
                return pending.now_or_never().flatten();
            }
            tokio::select! {
                biased;
                answer = &mut pending => return answer,
                () = changed => {}
            }
        }
    }

    /// Opens a stream from here on, replacing any earlier one. `cut` ends the connection of a reader that does not
    /// read.
    pub(crate) async fn open_stream(
        self: &Arc<Self>,
        last_event_id: Option<&str>,
        cut: Arc<Notify>,
        edge: &Edge,
    ) -> Events {
        let (sender, receiver) = mpsc::channel(1);
        let (number, position) = {
            let mut stream = self.stream();
            stream.number += 1;
            stream.is_served = true;
            (stream.number, stream.replay.start_position(last_event_id))
        };
        self.changed.notify_waiters();
        let received = last_event_id.map(replay::outcomes_in).unwrap_or_default();
        edge.send_event(Event::StreamOpened { agent: self.agent(), stream: number, received }).await;
        let (session, edge) = (Arc::clone(self), edge.clone());
        tokio::spawn(async move {
            session.write(number, position, sender, &edge).await;
            // Disconnects a reader that has taken everything but the end.
            sleep(crate::edge::SHUTDOWN_GRACE).await;
            cut.notify_one();
        });
        Events(receiver)
    }

    async fn write(&self, number: u64, mut position: u64, to: mpsc::Sender<Bytes>, edge: &Edge) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let next = {
                let mut stream = self.stream();
                let next = stream.replay.next_after(position);
                // Events from before the end are still sent.
                match next {
                    _ if stream.number != number => return,
                    None if stream.ended => return,
                    next => next,
                }
            };
            let bytes = match next {
                Some((number, event)) => {
                    position = number;
                    Bytes::from(event)
                }
                None => tokio::select! {
                    () = changed => continue,
                    () = to.closed() => break,
                    () = sleep(KEEP_ALIVE) => Bytes::from_static(b":\n\n"),
                },
            };
            if !matches!(timeout(SEND_DEADLINE, to.send(bytes)).await, Ok(Ok(()))) {
                break;
            }
        }
        let newest = {
            let mut stream = self.stream();
            let newest = stream.number == number;
            stream.is_served &= !newest;
            newest
        };
        if newest {
            edge.send_event(Event::StreamClosed { agent: self.agent(), stream: number }).await;
        }
    }

    /// No request is answered from now on, and the stream ends after the events that are queued.
    pub(crate) fn end(&self) {
        self.http_agent.close();
        self.stream().ended = true;
        self.changed.notify_waiters();
    }

    /// False if this displaced an event that no stream has taken.
    fn push(&self, text: String) -> bool {
        let kept = self.stream().replay.push(text);
        self.changed.notify_waiters();
        kept
    }

    fn stream(&self) -> MutexGuard<'_, Stream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn deliver(session: Arc<Session>, mut inbox: Inbox<ToAgent>, sessions: Arc<Sessions>, edge: Edge) {
    while let Some(message) = inbox.recv().await {
        match message {
            ToAgent::Answer { exchange, answer } => drop(session.http_agent.answer(exchange, answer)),
            ToAgent::Text(text) => {
                if !session.push(text) {
                    tracing::warn!("ending the session of {}: it does not read its stream", session.agent());
                    edge.send_event(Event::AgentClosed { agent: session.agent(), said_goodbye: false }).await;
                    break;
                }
            }
            // A ping is an event here, and it was the last one.
            ToAgent::Ping { number } => session.stream().replay.record_ping(number),
            ToAgent::Outcome { review } => session.stream().replay.mark_next_outcome(review),
            ToAgent::Confirmed { number } => session.stream().replay.confirm(number),
            ToAgent::Close { .. } => break,
        }
    }
    sessions.remove(&session).await;
    session.end();
}

/// The body of a stream.
pub(crate) struct Events(mpsc::Receiver<Bytes>);

impl Body for Events {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

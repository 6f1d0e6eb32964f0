//! One session of an agent that asks by requests and listens on a stream, over any connection. What is said in it is
//! for the core; how it looks in HTTP is for `stream`.

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

use super::agent::ToAgent;
use super::calls::Caller;
use super::outbox::{self, Inbox, SEND_DEADLINE};
use super::pace::Pace;
use super::sent::{self, Sent};
use super::stream::Sessions;
use super::{Edge, Happening};
use crate::core::{Event, ExchangeAnswer, Introduction};

/// A stream on which nothing is said for minutes is taken for a dead one.
const KEEP_ALIVE: Duration = Duration::from_secs(25);

#[derive(Debug)]
pub(super) struct Session {
    pub(super) key: String,
    caller: Arc<Caller>,
    stream: Mutex<Stream>,
    changed: Notify,
    pace: tokio::sync::Mutex<Pace>,
}

#[derive(Debug)]
struct Stream {
    sent: Sent,
    /// How many streams there were; only the newest one is served.
    turn: u64,
    ended: bool,
}

/// Who comes, and to which window.
pub(super) struct Arrival {
    pub(super) agent: AgentId,
    pub(super) window: WindowId,
    pub(super) dialect: &'static Dialect,
    pub(super) key: String,
    pub(super) known: Option<Introduction>,
    /// A word for the ids of its events.
    pub(super) life: String,
}

impl Session {
    /// None when the hub is leaving.
    pub(super) async fn open(
        arrival: Arrival,
        sessions: &Arc<Sessions>,
        edge: &Edge,
    ) -> Option<Arc<Session>> {
        let Arrival { agent, window, dialect, key, known, life } = arrival;
        let limit = 2 * edge.limits.message_mib * 1024 * 1024;
        let (outbox, inbox) = outbox::new(limit);
        edge.inbox.send(Happening::NewAgent(agent, outbox)).await.ok()?;
        let opened = Event::SessionOpened { agent, window, dialect, key: key.clone(), known };
        edge.tell(opened).await;
        let stream = Stream { sent: Sent::new(life, limit), turn: 0, ended: false };
        let session = Arc::new(Session {
            key,
            caller: Caller::new(agent),
            stream: Mutex::new(stream),
            changed: Notify::new(),
            pace: tokio::sync::Mutex::new(Pace::new(edge.limits.messages_per_second)),
        });
        tokio::spawn(hand_out(Arc::clone(&session), inbox, Arc::clone(sessions), edge.clone()));
        Some(session)
    }

    pub(super) fn agent(&self) -> AgentId {
        self.caller.agent
    }

    /// None when the hub has let go of it, or is leaving.
    pub(super) async fn ask(&self, text: String, edge: &Edge) -> Option<ExchangeAnswer> {
        self.pace.lock().await.step().await;
        let asked = self.caller.ask(text, edge);
        tokio::pin!(asked);
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            // It may have ended before the question was asked, or with its answer.
            if self.stream().ended {
                return asked.now_or_never().flatten();
            }
            tokio::select! {
                biased;
                answer = &mut asked => return answer,
                () = changed => {}
            }
        }
    }

    /// A stream from here on, in place of any before. `cut` ends the connection of a reader that does not take it.
    pub(super) async fn listen(
        self: &Arc<Self>,
        last_event_id: Option<&str>,
        cut: Arc<Notify>,
        edge: &Edge,
    ) -> Events {
        let (sender, receiver) = mpsc::channel(1);
        let (turn, position) = {
            let mut stream = self.stream();
            stream.turn += 1;
            (stream.turn, stream.sent.position(last_event_id))
        };
        self.changed.notify_waiters();
        let received = last_event_id.map(sent::received).unwrap_or_default();
        edge.tell(Event::StreamOpened { agent: self.agent(), stream: turn, received }).await;
        let (session, edge) = (Arc::clone(self), edge.clone());
        tokio::spawn(async move {
            session.write(turn, position, sender, &edge).await;
            // Whoever has taken all but the end is let go.
            sleep(super::FAREWELL).await;
            cut.notify_one();
        });
        Events(receiver)
    }

    async fn write(&self, turn: u64, mut position: u64, to: mpsc::Sender<Bytes>, edge: &Edge) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let next = {
                let mut stream = self.stream();
                let next = stream.sent.after(position);
                // What was said before the end is still sent.
                match next {
                    _ if stream.turn != turn => return,
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
        let newest = self.stream().turn == turn;
        if newest {
            edge.tell(Event::StreamClosed { agent: self.agent(), stream: turn }).await;
        }
    }

    /// Nobody is answered any more, and the stream ends behind what was said.
    pub(super) fn end(&self) {
        self.caller.let_go();
        self.stream().ended = true;
        self.changed.notify_waiters();
    }

    /// False when it drove out what no stream has taken.
    fn push(&self, text: String) -> bool {
        let kept = self.stream().sent.push(text);
        self.changed.notify_waiters();
        kept
    }

    fn stream(&self) -> MutexGuard<'_, Stream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn hand_out(session: Arc<Session>, mut inbox: Inbox<ToAgent>, sessions: Arc<Sessions>, edge: Edge) {
    while let Some(message) = inbox.recv().await {
        match message {
            ToAgent::Answer { exchange, answer } => drop(session.caller.answer(exchange, answer)),
            ToAgent::Text(text) => {
                if !session.push(text) {
                    tracing::warn!("{} does not listen, and is let go", session.agent());
                    edge.tell(Event::AgentClosed { agent: session.agent(), said_goodbye: false }).await;
                    break;
                }
            }
            // It is a message here, and was the last one.
            ToAgent::Ping { number } => session.stream().sent.pinged(number),
            ToAgent::Outcome { review } => session.stream().sent.names_outcome(review),
            ToAgent::Confirmed { number } => session.stream().sent.confirmed(number),
            ToAgent::Close { .. } => break,
        }
    }
    sessions.remove(&session).await;
    session.end();
}

/// The body of a stream.
pub(super) struct Events(mpsc::Receiver<Bytes>);

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

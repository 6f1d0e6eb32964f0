//! An agent that sends plain HTTP requests: each waits for its own response. What they mean is decided in the core.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Request, Response, StatusCode};
use linkspan_dialect::{Dialect, ExchangeId};
use linkspan_review::{AgentId, WindowId};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::core::contract::Refusal;
use crate::core::{Event, ExchangeAnswer};
use crate::edge::outbox::{self, Inbox};
use crate::edge::ws::agent::ToAgent;
use crate::edge::ws::inflight_budget::Reservation;
use crate::edge::{Edge, LoopMessage};

pub(crate) type BoxedResponse = Response<BoxBody<Bytes, std::convert::Infallible>>;

/// How long a peer may take to send a body.
pub(crate) const BODY_DEADLINE: Duration = Duration::from_secs(60);

static EXCHANGES: AtomicU64 = AtomicU64::new(1);

/// The pending requests of one agent.
#[derive(Debug)]
pub(crate) struct HttpAgent {
    pub(crate) agent: AgentId,
    /// None once no request will be answered.
    pending: Mutex<Option<PendingMap>>,
    /// The newest ping that followed answers which were all delivered; 0 when they are known to have arrived.
    unconfirmed: AtomicU64,
    /// Answers that were given to a request that was still pending.
    given: AtomicU64,
    /// Those of them that the connection has taken to send.
    taken: AtomicU64,
    /// The core is told about a request whose peer did not wait for the answer.
    reports_gone: bool,
}

type PendingMap = HashMap<ExchangeId, oneshot::Sender<ExchangeAnswer>>;

impl HttpAgent {
    pub(crate) fn new(agent: AgentId) -> Arc<HttpAgent> {
        HttpAgent::make(agent, false)
    }

    /// For an agent whose requests are open until the user decides.
    pub(crate) fn reporting_gone_requests(agent: AgentId) -> Arc<HttpAgent> {
        HttpAgent::make(agent, true)
    }

    fn make(agent: AgentId, reports_gone: bool) -> Arc<HttpAgent> {
        let pending = Mutex::new(Some(PendingMap::new()));
        let [unconfirmed, given, taken] = [0; 3].map(AtomicU64::new);
        Arc::new(HttpAgent { agent, pending, unconfirmed, given, taken, reports_gone })
    }

    /// An agent that exists for as long as its connection.
    pub(crate) async fn open(
        agent: AgentId,
        window: WindowId,
        dialect: &'static Dialect,
        program_name: String,
        edge: &Edge,
    ) -> Option<Arc<HttpAgent>> {
        let (outbox, inbox) = outbox::new(2 * edge.limits.message_mib * 1024 * 1024);
        edge.inbox.send(LoopMessage::NewAgent(agent, outbox)).await.ok()?;
        edge.send_event(Event::AgentOpened { agent, window, dialect, called: Some(program_name) }).await;
        let http_agent = HttpAgent::new(agent);
        tokio::spawn(deliver(Arc::clone(&http_agent), inbox, edge.clone()));
        Some(http_agent)
    }

    /// True if an answer was sent and is not known to have arrived.
    pub(crate) fn has_unconfirmed(&self) -> bool {
        self.unconfirmed.load(Ordering::Relaxed) > 0
    }

    /// HTTP has no acknowledgement. A peer that sends another request on the same connection has received the answers
    /// before it, and so has one that has read everything when the connection ends.
    pub(crate) async fn confirm_all(&self, edge: &Edge) {
        let number = self.unconfirmed.swap(0, Ordering::Relaxed);
        let all_taken = self.given.load(Ordering::Relaxed) == self.taken.load(Ordering::Relaxed);
        if number > 0 && all_taken {
            edge.send_event(Event::AgentPong { agent: self.agent, number: Some(number) }).await;
        }
    }

    /// None when the hub has disconnected the agent, or is shutting down.
    pub(crate) async fn request(&self, text: String, edge: &Edge) -> Option<ExchangeAnswer> {
        self.confirm_all(edge).await;
        let exchange = ExchangeId(EXCHANGES.fetch_add(1, Ordering::Relaxed));
        let (sender, receiver) = oneshot::channel();
        self.pending().as_mut()?.insert(exchange, sender);
        // A request that is dropped while it waits removes its entry.
        let _place = PendingEntry { http_agent: self, exchange, edge };
        if !edge.send_event(Event::AgentFrame { agent: self.agent, text, exchange: Some(exchange) }).await {
            return None;
        }
        let answer = receiver.await.ok()?;
        self.taken.fetch_add(1, Ordering::Relaxed);
        Some(answer)
    }

    /// False if the request was no longer pending.
    pub(crate) fn answer(&self, exchange: ExchangeId, answer: ExchangeAnswer) -> bool {
        let pending = self.pending().as_mut().and_then(|pending| pending.remove(&exchange));
        let given = pending.is_some_and(|pending| pending.send(answer).is_ok());
        self.given.fetch_add(u64::from(given), Ordering::Relaxed);
        given
    }

    /// No request is answered from now on.
    pub(crate) fn close(&self) {
        *self.pending() = None;
    }

    fn pending(&self) -> MutexGuard<'_, Option<PendingMap>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct PendingEntry<'a> {
    http_agent: &'a HttpAgent,
    exchange: ExchangeId,
    edge: &'a Edge,
}

impl Drop for PendingEntry<'_> {
    fn drop(&mut self) {
        let unanswered =
            self.http_agent.pending().as_mut().and_then(|pending| pending.remove(&self.exchange));
        if unanswered.is_some()
            && self.http_agent.reports_gone
            && let Ok(runtime) = Handle::try_current()
        {
            let (edge, exchange, agent) = (self.edge.clone(), self.exchange, self.http_agent.agent);
            runtime.spawn(async move { edge.send_event(Event::ExchangeGone { agent, exchange }).await });
        }
    }
}

async fn deliver(http_agent: Arc<HttpAgent>, mut inbox: Inbox<ToAgent>, edge: Edge) {
    let mut all_taken = true;
    while let Some(message) = inbox.recv().await {
        match message {
            ToAgent::Answer { exchange, answer } => all_taken &= http_agent.answer(exchange, answer),
            // The connection that takes the answers is there. An answer that was not taken must not count as
            // delivered.
            ToAgent::Ping { number } => {
                if all_taken {
                    http_agent.unconfirmed.store(number, Ordering::Relaxed);
                }
                edge.send_event(Event::AgentPong { agent: http_agent.agent, number: None }).await;
            }
            ToAgent::Text(_) | ToAgent::Outcome { .. } | ToAgent::Confirmed { .. } => {}
            ToAgent::Close { .. } => break,
        }
    }
    http_agent.close();
}

/// Names of HTTP libraries, which say nothing about the program that uses them.
const LIBRARY_NAMES: &[&str] =
    &["python-httpx", "python-requests", "Python", "python", "node", "node-fetch", "undici"];

/// The program's name: the first word of its `User-Agent`, without the version. Empty if there is none.
pub(crate) fn program_name(headers: &HeaderMap) -> String {
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    let name = agent.split(['/', ' ']).next().unwrap_or_default();
    if LIBRARY_NAMES.contains(&name) { String::new() } else { name.to_owned() }
}

/// Reads the body of a request as text.
pub(crate) async fn body(request: Request<Incoming>, edge: &Edge) -> Result<String, Refusal> {
    let limit = edge.limits.message_mib * 1024 * 1024;
    let mut body = Limited::new(request.into_body(), limit);
    let mut reservation = Reservation::new(&*edge.budget);
    let collected = async {
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| match error.is::<LengthLimitError>() {
                true => Refusal::TooLarge,
                false => Refusal::BrokenBody,
            })?;
            let Some(piece) = frame.data_ref() else { continue };
            if !reservation.grow(piece.len()) {
                return Err(Refusal::NoRoom);
            }
            bytes.extend_from_slice(piece);
        }
        Ok(bytes)
    };
    let bytes = timeout(BODY_DEADLINE, collected).await.unwrap_or(Err(Refusal::SlowBody))?;
    String::from_utf8(bytes).map_err(|_| Refusal::BrokenBody)
}

pub(crate) fn response(answer: Option<ExchangeAnswer>) -> BoxedResponse {
    let (status, text) = match answer {
        Some(ExchangeAnswer::Text(text) | ExchangeAnswer::Introduced { text, .. }) => (StatusCode::OK, text),
        Some(ExchangeAnswer::Malformed(text)) => (StatusCode::BAD_REQUEST, text),
        Some(ExchangeAnswer::Nothing) => (StatusCode::ACCEPTED, String::new()),
        None => (StatusCode::SERVICE_UNAVAILABLE, String::new()),
    };
    let mut response = Response::new(Full::from(text).boxed());
    *response.status_mut() = status;
    if status == StatusCode::SERVICE_UNAVAILABLE {
        // The agent behind this connection is gone: a new connection is a new agent.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if matches!(status, StatusCode::OK | StatusCode::BAD_REQUEST) {
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
    }
    response
}

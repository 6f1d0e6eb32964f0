//! One agent that asks by HTTP: each request waits for its own answer. What they mean is for the core.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Request, Response, StatusCode};
use linkspan_dialect::{Dialect, Exchange};
use linkspan_review::{AgentId, WindowId};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::agent::ToAgent;
use super::outbox::{self, Inbox};
use super::room::Share;
use super::{Edge, Happening};
use crate::core::{Event, ExchangeAnswer};
use crate::guard::Refusal;

pub(super) type Answer = Response<BoxBody<Bytes, std::convert::Infallible>>;

/// A body that takes longer comes from nobody who means well.
pub(super) const BODY_DEADLINE: Duration = Duration::from_secs(60);

static EXCHANGES: AtomicU64 = AtomicU64::new(1);

/// The requests of one agent that wait.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) agent: AgentId,
    /// None once nobody is answered any more.
    waiting: Mutex<Option<Waiting>>,
    /// The newest ping that followed answers which were all handed out; 0 when they are known to have arrived.
    unconfirmed: AtomicU64,
    /// Answers that were given to a request which still waited.
    given: AtomicU64,
    /// Those of them that the connection took to send them.
    taken: AtomicU64,
}

type Waiting = HashMap<Exchange, oneshot::Sender<ExchangeAnswer>>;

impl Caller {
    pub(super) fn new(agent: AgentId) -> Arc<Caller> {
        let waiting = Mutex::new(Some(Waiting::new()));
        let [unconfirmed, given, taken] = [0; 3].map(AtomicU64::new);
        Arc::new(Caller { agent, waiting, unconfirmed, given, taken })
    }

    /// An agent that is there for as long as its connection.
    pub(super) async fn open(
        agent: AgentId,
        window: WindowId,
        dialect: &'static Dialect,
        called: String,
        edge: &Edge,
    ) -> Option<Arc<Caller>> {
        let (outbox, inbox) = outbox::new(2 * edge.limits.message_mib * 1024 * 1024);
        edge.inbox.send(Happening::NewAgent(agent, outbox)).await.ok()?;
        edge.tell(Event::AgentOpened { agent, window, dialect, called: Some(called) }).await;
        let caller = Caller::new(agent);
        tokio::spawn(hand_out(Arc::clone(&caller), inbox, edge.clone()));
        Some(caller)
    }

    /// Something was answered, and is not known to have arrived.
    pub(super) fn awaits_word(&self) -> bool {
        self.unconfirmed.load(Ordering::Relaxed) > 0
    }

    /// HTTP has no word for "got it". Whoever asks again on the same connection has taken what was answered before, and
    /// whoever has read all when it ends.
    pub(super) async fn has_all(&self, edge: &Edge) {
        let number = self.unconfirmed.swap(0, Ordering::Relaxed);
        let all_taken = self.given.load(Ordering::Relaxed) == self.taken.load(Ordering::Relaxed);
        if number > 0 && all_taken {
            edge.tell(Event::AgentPong { agent: self.agent, number: Some(number) }).await;
        }
    }

    /// None when the hub has let go of it, or is leaving.
    pub(super) async fn ask(&self, text: String, edge: &Edge) -> Option<ExchangeAnswer> {
        self.has_all(edge).await;
        let exchange = Exchange(EXCHANGES.fetch_add(1, Ordering::Relaxed));
        let (sender, receiver) = oneshot::channel();
        self.waiting().as_mut()?.insert(exchange, sender);
        // Whoever goes away while it waits takes its place with it.
        let _place = Place { caller: self, exchange };
        if !edge.tell(Event::AgentFrame { agent: self.agent, text, exchange: Some(exchange) }).await {
            return None;
        }
        let answer = receiver.await.ok()?;
        self.taken.fetch_add(1, Ordering::Relaxed);
        Some(answer)
    }

    /// Whether somebody waited for it.
    pub(super) fn answer(&self, exchange: Exchange, answer: ExchangeAnswer) -> bool {
        let waiting = self.waiting().as_mut().and_then(|waiting| waiting.remove(&exchange));
        let given = waiting.is_some_and(|waiting| waiting.send(answer).is_ok());
        self.given.fetch_add(u64::from(given), Ordering::Relaxed);
        given
    }

    /// Nobody is answered any more.
    pub(super) fn let_go(&self) {
        *self.waiting() = None;
    }

    fn waiting(&self) -> MutexGuard<'_, Option<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Place<'a> {
    caller: &'a Caller,
    exchange: Exchange,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = self.caller.waiting().as_mut() {
            waiting.remove(&self.exchange);
        }
    }
}

async fn hand_out(caller: Arc<Caller>, mut inbox: Inbox<ToAgent>, edge: Edge) {
    let mut all_taken = true;
    while let Some(message) = inbox.recv().await {
        match message {
            ToAgent::Answer { exchange, answer } => all_taken &= caller.answer(exchange, answer),
            // The connection that takes the answers is there. What nobody took must not count as told.
            ToAgent::Ping { number } => {
                if all_taken {
                    caller.unconfirmed.store(number, Ordering::Relaxed);
                }
                edge.tell(Event::AgentPong { agent: caller.agent, number: None }).await;
            }
            ToAgent::Text(_) | ToAgent::Outcome { .. } | ToAgent::Confirmed { .. } => {}
            ToAgent::Close { .. } => break,
        }
    }
    caller.let_go();
}

/// Names of libraries tell nothing of the program that uses them.
const LIBRARIES: &[&str] =
    &["python-httpx", "python-requests", "Python", "python", "node", "node-fetch", "undici"];

/// What the program calls itself: the first word of its `User-Agent`, without the version. Empty where it does not.
pub(super) fn called(headers: &HeaderMap) -> String {
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    let name = agent.split(['/', ' ']).next().unwrap_or_default();
    if LIBRARIES.contains(&name) { String::new() } else { name.to_owned() }
}

/// The text of a request's body.
pub(super) async fn body(request: Request<Incoming>, edge: &Edge) -> Result<String, Refusal> {
    let limit = edge.limits.message_mib * 1024 * 1024;
    let mut body = Limited::new(request.into_body(), limit);
    let mut share = Share::of(&*edge.room);
    let collected = async {
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| match error.is::<LengthLimitError>() {
                true => Refusal::TooLarge,
                false => Refusal::BrokenBody,
            })?;
            let Some(piece) = frame.data_ref() else { continue };
            if !share.grow(piece.len()) {
                return Err(Refusal::NoRoom);
            }
            bytes.extend_from_slice(piece);
        }
        Ok(bytes)
    };
    let bytes = timeout(BODY_DEADLINE, collected).await.unwrap_or(Err(Refusal::SlowBody))?;
    String::from_utf8(bytes).map_err(|_| Refusal::BrokenBody)
}

pub(super) fn response(answer: Option<ExchangeAnswer>) -> Answer {
    let (status, text) = match answer {
        Some(ExchangeAnswer::Text(text) | ExchangeAnswer::Introduced { text, .. }) => (StatusCode::OK, text),
        Some(ExchangeAnswer::Malformed(text)) => (StatusCode::BAD_REQUEST, text),
        Some(ExchangeAnswer::Nothing) => (StatusCode::ACCEPTED, String::new()),
        None => (StatusCode::SERVICE_UNAVAILABLE, String::new()),
    };
    let mut response = Response::new(Full::from(text).boxed());
    *response.status_mut() = status;
    if status == StatusCode::SERVICE_UNAVAILABLE {
        // The agent that this connection was is gone: another connection is another one.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if matches!(status, StatusCode::OK | StatusCode::BAD_REQUEST) {
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
    }
    response
}

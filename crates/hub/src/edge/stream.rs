//! MCP's Streamable HTTP: sessions by header, requests by POST, a stream of events by GET, the end by DELETE. What is
//! said in them is for the core.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use linkspan_dialect::{Dialect, begins_session, speaks};
use linkspan_review::{AgentId, WindowId};
use tokio::sync::{Mutex, Notify, watch};

use super::Edge;
use super::calls::{self, Answer};
use super::session::{Arrival, Session};
use super::session_id::SessionIds;
use crate::core::{Event, ExchangeAnswer, Introduction};
use crate::guard::{self, Refusal};
use crate::token::Token;

static SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
static PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
static LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

const EVENT_STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";

/// Sessions that said goodbye and are remembered for that.
const GOODBYES: usize = 1024;

/// The sessions of one window's port.
#[derive(Debug)]
pub(super) struct Sessions {
    ids: SessionIds,
    open: Mutex<Open>,
    /// How many streams are being served.
    pub(super) streams: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Open {
    by_key: HashMap<String, Arc<Session>>,
    gone: VecDeque<String>,
}

/// Where a request came in.
pub(super) struct Place<'a> {
    pub(super) sessions: &'a Arc<Sessions>,
    pub(super) window: WindowId,
    pub(super) dialect: &'static Dialect,
    pub(super) edge: &'a Edge,
    /// For an agent that is new here.
    pub(super) next_agent: fn() -> AgentId,
    /// Ends the connection of a stream that nobody reads.
    pub(super) cut: &'a Arc<Notify>,
}

/// In which form an answer is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Events,
}

impl Sessions {
    pub(super) fn new(token: &Token) -> Arc<Sessions> {
        let streams = watch::Sender::new(0);
        Arc::new(Sessions { ids: SessionIds::of(token), open: Mutex::default(), streams })
    }

    pub(super) async fn remove(&self, session: &Arc<Session>) {
        let mut open = self.open.lock().await;
        if open.by_key.get(&session.key).is_some_and(|known| Arc::ptr_eq(known, session)) {
            open.by_key.remove(&session.key);
        }
    }

    async fn say_goodbye(&self, session: &Arc<Session>, edge: &Edge) {
        {
            let mut open = self.open.lock().await;
            open.by_key.remove(&session.key);
            if open.gone.len() >= GOODBYES {
                open.gone.pop_front();
            }
            open.gone.push_back(session.key.clone());
        }
        edge.tell(Event::AgentClosed { agent: session.agent(), said_goodbye: true }).await;
        session.end();
    }
}

impl Place<'_> {
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Result<Answer, Refusal> {
        let version = request.headers().get(&PROTOCOL_VERSION).map(|version| version.to_str());
        if version.is_some_and(|version| !version.is_ok_and(speaks)) {
            return Err(Refusal::UnknownProtocol);
        }
        match *request.method() {
            Method::POST => self.post(request).await,
            Method::GET => self.listen(request.headers()).await,
            Method::DELETE => {
                let (session, _) = self.named(request.headers()).await?.ok_or(Refusal::NoSessionId)?;
                self.sessions.say_goodbye(&session, self.edge).await;
                Ok(empty(StatusCode::OK))
            }
            _ => Err(Refusal::WrongMethod),
        }
    }

    async fn post(&self, request: Request<Incoming>) -> Result<Answer, Refusal> {
        let form = form(request.headers())?;
        let named = self.named(request.headers()).await?;
        let text = calls::body(request, self.edge).await?;
        let (session, mut id) = match named {
            Some((session, id)) => (session, Some(id)),
            None if begins_session(&text) => match self.open(None).await {
                Some(session) => (session, None),
                None => return Ok(calls::response(None)),
            },
            None => return Err(Refusal::NoSessionId),
        };
        let answer = session.ask(text, self.edge).await;
        if let (Some(ExchangeAnswer::Introduced { who, .. }), None) = (&answer, &id) {
            let name = self.sessions.ids.name(&session.key, who);
            id = HeaderValue::from_str(&name).ok();
        }
        let mut response = formed(answer, form);
        if let Some(id) = id {
            response.headers_mut().insert(&SESSION_ID, id);
        } else {
            // It did not say who it is: nobody could ever come back to it.
            self.sessions.say_goodbye(&session, self.edge).await;
        }
        Ok(response)
    }

    async fn listen(&self, headers: &HeaderMap) -> Result<Answer, Refusal> {
        let (session, id) = self.named(headers).await?.ok_or(Refusal::NoSessionId)?;
        if !accepts(headers, EVENT_STREAM) {
            return Err(Refusal::NotAcceptable);
        }
        let last = guard::only(headers, &LAST_EVENT_ID).and_then(|last| std::str::from_utf8(last).ok());
        let events = session.listen(last, Arc::clone(self.cut), self.edge).await;
        let mut response = Response::new(events.boxed());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
        // Its end is the end of the connection: then all of it has been sent.
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        headers.insert(&SESSION_ID, id);
        Ok(response)
    }

    /// The session that a request names, with its name; one of an earlier hub is taken up again.
    async fn named(&self, headers: &HeaderMap) -> Result<Option<(Arc<Session>, HeaderValue)>, Refusal> {
        let Some(id) = headers.get(&SESSION_ID) else { return Ok(None) };
        let known = guard::only(headers, &SESSION_ID).and_then(|id| std::str::from_utf8(id).ok());
        let known = known.and_then(|id| self.sessions.ids.recognise(id));
        let session = self.open(Some(known.ok_or(Refusal::UnknownSession)?)).await;
        Ok(Some((session.ok_or(Refusal::UnknownSession)?, id.clone())))
    }

    /// A new session, or the one that is known.
    async fn open(&self, known: Option<(String, Introduction)>) -> Option<Arc<Session>> {
        let mut open = self.sessions.open.lock().await;
        let (key, known) = match known {
            Some((key, _)) if open.gone.contains(&key) => return None,
            Some((key, who)) => match open.by_key.get(&key) {
                Some(session) => return Some(Arc::clone(session)),
                None => (key, Some(who)),
            },
            None => (word()?, None),
        };
        let arrival = Arrival {
            agent: (self.next_agent)(),
            window: self.window,
            dialect: self.dialect,
            key: key.clone(),
            known,
            life: word()?.chars().take(8).collect(),
        };
        let session = Session::open(arrival, self.sessions, self.edge).await?;
        open.by_key.insert(key, Arc::clone(&session));
        Some(session)
    }
}

/// One that nobody can guess, and no other has.
fn word() -> Option<String> {
    Token::mint().ok().map(|word| word.secret().to_owned())
}

fn form(headers: &HeaderMap) -> Result<Form, Refusal> {
    if !headers.contains_key(header::ACCEPT) || accepts(headers, JSON) {
        Ok(Form::Json)
    } else if accepts(headers, EVENT_STREAM) {
        Ok(Form::Events)
    } else {
        Err(Refusal::NotAcceptable)
    }
}

fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let offered = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = offered.flat_map(|value| value.split(',')).filter_map(|kind| kind.split(';').next());
    kinds.any(|kind| {
        let kind = kind.trim();
        let of_its_sort = kind.strip_suffix("/*").zip(wanted.split_once('/'));
        kind.eq_ignore_ascii_case(wanted)
            || of_its_sort.is_some_and(|(sort, (ours, _))| sort == "*" || sort.eq_ignore_ascii_case(ours))
    })
}

fn formed(answer: Option<ExchangeAnswer>, form: Form) -> Answer {
    match answer {
        Some(ExchangeAnswer::Text(text) | ExchangeAnswer::Introduced { text, .. })
            if form == Form::Events =>
        {
            let mut response = Response::new(Full::from(format!("event: message\ndata: {text}\n\n")).boxed());
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            response
        }
        answer => calls::response(answer),
    }
}

fn empty(status: StatusCode) -> Answer {
    let mut response = Response::new(Full::default().boxed());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_kinds_accepts_each_of_them() {
        let form_of = |accept: &'static str| {
            form(&HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))])).ok()
        };
        for json in ["application/*", "text/html, Application/*;q=0.8", "*/*", "application/json"] {
            assert!(form_of(json) == Some(Form::Json), "{json}");
        }
        assert!(form_of("text/*") == Some(Form::Events));
        for neither in ["image/*", "/*", "text", "app/*", "", "application"] {
            assert!(form_of(neither).is_none(), "{neither}");
        }
    }
}

//! MCP's Streamable HTTP: a session by header, requests by POST, a stream of events by GET, the end by DELETE. Which
//! session a header names is `sessions`'; what the messages mean is decided in the core.

use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use linkspan_dialect::{Dialect, answer_before_session, begins_session, speaks};
use linkspan_editor_api::wire_names;
use linkspan_review::{AgentId, WindowId};
use tokio::sync::Notify;

use crate::core::ExchangeAnswer;
use crate::core::contract::Refusal;
use crate::edge::Edge;
use crate::edge::http::guard;
use crate::edge::http::rpc::{self, BoxedResponse};
use crate::edge::http::sse::sessions::Sessions;

static SESSION_ID: HeaderName = HeaderName::from_static(wire_names::header::MCP_SESSION_ID);
static PROTOCOL_VERSION: HeaderName = HeaderName::from_static(wire_names::header::MCP_PROTOCOL_VERSION);
static LAST_EVENT_ID: HeaderName = HeaderName::from_static(wire_names::header::LAST_EVENT_ID);

const EVENT_STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";

/// What is needed to answer one request to the stream endpoint.
pub(crate) struct StreamRequest<'a> {
    pub(crate) sessions: &'a Arc<Sessions>,
    pub(crate) window: WindowId,
    pub(crate) dialect: &'static Dialect,
    pub(crate) edge: &'a Edge,
    /// Mints an id for a new agent.
    pub(crate) next_agent: fn() -> AgentId,
    /// Ends the connection of a stream that the peer does not read.
    pub(crate) cut: &'a Arc<Notify>,
}

/// The format that a response is wanted in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResponseFormat {
    Json,
    Events,
}

impl StreamRequest<'_> {
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Result<BoxedResponse, Refusal> {
        let version = request.headers().get(&PROTOCOL_VERSION).map(|version| version.to_str());
        if version.is_some_and(|version| !version.is_ok_and(speaks)) {
            return Err(Refusal::UnknownProtocol);
        }
        let mut response = match *request.method() {
            Method::POST => self.post(request).await?,
            Method::GET => self.open_stream(request.headers()).await?,
            Method::DELETE => {
                let (session, _) = self.session_of(request.headers()).await?.ok_or(Refusal::NoSessionId)?;
                self.sessions.end_session(&session, self.edge).await;
                empty(StatusCode::OK)
            }
            _ => return Err(Refusal::WrongMethod),
        };
        // These clients use a connection again that may be closing for idleness. On a Unix socket a new one is cheap.
        if self.sessions.are_named_by_agents() {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        Ok(response)
    }

    async fn post(&self, request: Request<Incoming>) -> Result<BoxedResponse, Refusal> {
        let response_format = response_format(request.headers())?;
        let named = self.session_of(request.headers()).await?;
        let chosen = self.sessions.chosen_id(request.headers())?;
        let text = rpc::body(request, self.edge).await?;
        let (session, mut id) = match named {
            Some(_) if self.sessions.are_named_by_agents() && begins_session(&text) => {
                return Err(Refusal::SessionInUse);
            }
            Some((session, id)) => (session, Some(id)),
            None if begins_session(&text) => match self.begin_session(chosen).await? {
                Some(session) => (session, None),
                None => return Ok(rpc::response(None)),
            },
            None => {
                let answer = answer_before_session(&text).ok_or(Refusal::NoSessionId)?;
                return Ok(format_response(Some(ExchangeAnswer::Text(answer)), response_format));
            }
        };
        let answer = session.request(text, self.edge).await;
        if let (Some(ExchangeAnswer::Introduced { who, .. }), None) = (&answer, &id) {
            id = self.sessions.id_of(&session, who);
        }
        let mut response = format_response(answer, response_format);
        if let Some(id) = id {
            response.headers_mut().insert(&SESSION_ID, id);
        } else {
            // It did not introduce itself, so it has no session id to come back with.
            self.sessions.end_session(&session, self.edge).await;
        }
        Ok(response)
    }

    async fn open_stream(&self, headers: &HeaderMap) -> Result<BoxedResponse, Refusal> {
        let (session, id) = self.session_of(headers).await?.ok_or(Refusal::NoSessionId)?;
        if !accepts(headers, EVENT_STREAM) {
            return Err(Refusal::NotAcceptable);
        }
        let last =
            guard::single_value(headers, &LAST_EVENT_ID).and_then(|last| std::str::from_utf8(last).ok());
        let events = session.open_stream(last, Arc::clone(self.cut), self.edge).await;
        let mut response = Response::new(events.boxed());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
        // The end of the stream is the end of the connection: then all of it has been sent.
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        headers.insert(&SESSION_ID, id);
        Ok(response)
    }
}

fn response_format(headers: &HeaderMap) -> Result<ResponseFormat, Refusal> {
    if !headers.contains_key(header::ACCEPT) || accepts(headers, JSON) {
        Ok(ResponseFormat::Json)
    } else if accepts(headers, EVENT_STREAM) {
        Ok(ResponseFormat::Events)
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

fn format_response(answer: Option<ExchangeAnswer>, response_format: ResponseFormat) -> BoxedResponse {
    match answer {
        Some(ExchangeAnswer::Text(text) | ExchangeAnswer::Introduced { text, .. })
            if response_format == ResponseFormat::Events =>
        {
            let mut response = Response::new(Full::from(format!("event: message\ndata: {text}\n\n")).boxed());
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            response
        }
        answer => rpc::response(answer),
    }
}

fn empty(status: StatusCode) -> BoxedResponse {
    let mut response = Response::new(Full::default().boxed());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_range_accepts_each_of_its_types() {
        let form_of = |accept: &'static str| {
            response_format(&HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))])).ok()
        };
        for json in ["application/*", "text/html, Application/*;q=0.8", "*/*", "application/json"] {
            assert!(form_of(json) == Some(ResponseFormat::Json), "{json}");
        }
        assert!(form_of("text/*") == Some(ResponseFormat::Events));
        for neither in ["image/*", "/*", "text", "app/*", "", "application"] {
            assert!(form_of(neither).is_none(), "{neither}");
        }
    }
}

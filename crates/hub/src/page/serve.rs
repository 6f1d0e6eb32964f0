//! The page's port: answers what `head` lets in. Every answer carries the headers that keep a browser from doing
//! anything else with it.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::access::{Secret, SessionId};
use super::head::{self, Asset, Wanted, What};
use super::{Page, assets, socket};
use crate::edge::Edge;
use crate::edge::entry::{self, Answer, HEAD_DEADLINE, Inside};
use crate::guard::{self, Refusal};

/// A browser opens six, and one for each page's socket.
pub(super) const CONNECTIONS: usize = 128;

/// For whatever is not the document: nothing may be loaded or run, should a browser show it as one.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 5] = [
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// A connection and what it came to.
struct Visit {
    page: Arc<Page>,
    port: u16,
    edge: Edge,
    inside: Arc<Inside>,
    /// It has asked for something.
    served: AtomicBool,
}

pub(super) async fn enter(stream: TcpStream, inside: Arc<Inside>, page: Arc<Page>, port: u16, edge: Edge) {
    // Browsers connect ahead of need: that is no request, and no slow one.
    match timeout(HEAD_DEADLINE, stream.peek(&mut [0])).await {
        Ok(Ok(1..)) => {}
        _ => return,
    }
    let visit = Visit { page, port, edge, inside, served: AtomicBool::new(false) };
    let service = service_fn(|request: Request<Incoming>| {
        let response = visit.answer(request);
        async move { Ok::<_, Infallible>(response.await) }
    });
    match entry::serve(stream, &visit.edge, service).await {
        // They keep a connection for later, too.
        Err(Refusal::SlowHead) if visit.served.load(Ordering::Relaxed) => {}
        Err(refusal) => entry::count(refusal, &visit.edge).await,
        Ok(()) => {}
    }
}

impl Visit {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        self.served.store(true, Ordering::Relaxed);
        let path = request.uri().path().to_owned();
        let admitted = head::admit(request.method(), request.uri(), request.headers(), self.port);
        let answered = match admitted {
            Ok(Wanted { what: What::Asset(Asset::Index), host }) => Ok(document(&host)),
            Ok(Wanted { what, .. }) => self.carry_out(what, request).await,
            Err(refusal) => Err(refusal),
        };
        let mut answer = match answered {
            Ok(answer) => answer,
            Err(refusal) => entry::refuse(refusal, &self.edge).await,
        };
        let status = answer.status();
        let headers = answer.headers_mut();
        if status == StatusCode::METHOD_NOT_ALLOWED
            && let Ok(methods) = HeaderValue::try_from(head::methods_at(&path))
        {
            headers.insert(header::ALLOW, methods);
        }
        for (name, value) in HEADERS {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        let policy = headers.entry(header::CONTENT_SECURITY_POLICY);
        policy.or_insert(HeaderValue::from_static(NOTHING));
        answer
    }

    async fn carry_out(&self, what: What, request: Request<Incoming>) -> Result<Answer, Refusal> {
        match what {
            What::Asset(asset) => {
                assets::file(asset).map(|file| sent(file, request.headers())).ok_or(Refusal::UnknownPath)
            }
            What::BeginSession => self.begin_session(request).await,
            What::LookAtSession => self.session(request.headers()).map(|_| empty()),
            What::Socket => {
                let session = self.session(request.headers())?;
                let (page, edge) = (Arc::clone(&self.page), self.edge.clone());
                Ok(entry::upgrade(request, &self.edge, &self.inside, move |stream| {
                    socket::converse(stream, session, page, edge)
                }))
            }
        }
    }

    fn session(&self, headers: &HeaderMap) -> Result<SessionId, Refusal> {
        head::cookies(headers, self.port)
            .find_map(|offered| self.page.session(offered))
            .ok_or(Refusal::NoSession)
    }

    async fn begin_session(&self, request: Request<Incoming>) -> Result<Answer, Refusal> {
        if !guard::is_json(request.headers()) {
            return Err(Refusal::BadBody);
        }
        let body = Limited::new(request.into_body(), head::BODY_BYTES).collect();
        let Ok(Ok(body)) = timeout(HEAD_DEADLINE, body).await else { return Err(Refusal::BadBody) };
        let offered = head::offered(&body.to_bytes()).ok_or(Refusal::BadBody)?;
        let session = self.page.exchange(&offered, self.port).ok_or(Refusal::WrongLink)?;
        let name = head::cookie_name(self.port);
        let cookie = format!("{name}={}; HttpOnly; SameSite=Strict; Path=/", session.reveal());
        let mut answer = empty();
        if let Ok(cookie) = HeaderValue::try_from(cookie) {
            answer.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        Ok(answer)
    }
}

fn empty() -> Answer {
    let mut answer = Response::new(Full::default());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    answer
}

/// The one answer that is a document, and what it may load.
fn document(host: &str) -> Answer {
    // Without a nonce no style sheet of its own is taken: a page that looks wrong, and is safe.
    let nonce = Secret::mint().map(|secret| secret.reveal().to_owned()).unwrap_or_default();
    let mut answer = Response::new(Full::from(assets::document(&nonce)));
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    if let Ok(policy) = HeaderValue::try_from(policy(host, &nonce)) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

fn policy(host: &str, nonce: &str) -> String {
    [
        "default-src 'none'",
        "script-src 'self'",
        &format!("style-src 'self' 'nonce-{nonce}'"),
        "img-src 'self'",
        &format!("connect-src 'self' ws://{host}"),
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
    .join("; ")
}

/// A file, or that the browser has it already.
fn sent(file: &'static assets::File, asked: &HeaderMap) -> Answer {
    let known = asked.get(header::IF_NONE_MATCH).is_some_and(|tag| tag.as_bytes() == file.tag().as_bytes());
    let mut answer = Response::new(Full::from(if known { Bytes::new() } else { file.bytes.into() }));
    if known {
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(file.tag()) {
        headers.insert(header::ETAG, tag);
    }
    answer
}

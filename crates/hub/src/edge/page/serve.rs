//! The page's port: answers the requests that `routes` admits. Every response carries the headers that keep a browser
//! from doing anything else with it.

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
use super::routes::{self, Asset, PageRequest, Route};
use super::{Page, assets, socket};
use crate::core::contract::Refusal;
use crate::edge::Edge;
use crate::edge::http::accept::{self, ConnectionGuard, FullResponse, HEAD_DEADLINE};
use crate::edge::http::guard;

/// A browser opens six, and one for each page's socket.
pub(super) const CONNECTIONS: usize = 128;

/// For everything but the document: nothing may be loaded or run if a browser displays it as a document.
const LOAD_NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 5] = [
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// A connection to the page's port.
struct PageConnection {
    page: Arc<Page>,
    port: u16,
    edge: Edge,
    connection_guard: Arc<ConnectionGuard>,
    /// It has sent a request.
    served: AtomicBool,
}

pub(super) async fn enter(
    stream: TcpStream,
    connection_guard: Arc<ConnectionGuard>,
    page: Arc<Page>,
    port: u16,
    edge: Edge,
) {
    // Browsers connect ahead of need: that is not a slow request.
    match timeout(HEAD_DEADLINE, stream.peek(&mut [0])).await {
        Ok(Ok(1..)) => {}
        _ => return,
    }
    let connection = PageConnection { page, port, edge, connection_guard, served: AtomicBool::new(false) };
    let service = service_fn(|request: Request<Incoming>| {
        let response = connection.answer(request);
        async move { Ok::<_, Infallible>(response.await) }
    });
    match accept::serve(stream, &connection.edge, service).await {
        // They also keep a connection open for later.
        Err(Refusal::SlowHead) if connection.served.load(Ordering::Relaxed) => {}
        Err(refusal) => accept::record_refusal(refusal, &connection.edge).await,
        Ok(()) => {}
    }
}

impl PageConnection {
    async fn answer(&self, request: Request<Incoming>) -> FullResponse {
        self.served.store(true, Ordering::Relaxed);
        let path = request.uri().path().to_owned();
        let admitted = routes::admit(request.method(), request.uri(), request.headers(), self.port);
        let answered = match admitted {
            Ok(PageRequest { route: Route::Asset(Asset::Index), host }) => Ok(document(&host)),
            Ok(PageRequest { route, .. }) => self.respond(route, request).await,
            Err(refusal) => Err(refusal),
        };
        let mut answer = match answered {
            Ok(answer) => answer,
            Err(refusal) => accept::refuse(refusal, &self.edge).await,
        };
        let status = answer.status();
        let headers = answer.headers_mut();
        if status == StatusCode::METHOD_NOT_ALLOWED
            && let Ok(methods) = HeaderValue::try_from(routes::methods_at(&path))
        {
            headers.insert(header::ALLOW, methods);
        }
        for (name, value) in HEADERS {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        let policy = headers.entry(header::CONTENT_SECURITY_POLICY);
        policy.or_insert(HeaderValue::from_static(LOAD_NOTHING));
        answer
    }

    async fn respond(&self, route: Route, request: Request<Incoming>) -> Result<FullResponse, Refusal> {
        match route {
            Route::Asset(asset) => assets::file(asset)
                .map(|file| file_response(file, request.headers()))
                .ok_or(Refusal::UnknownPath),
            Route::BeginSession => self.begin_session(request).await,
            Route::CheckSession => self.session(request.headers()).map(|_| empty()),
            Route::Socket => {
                let session = self.session(request.headers())?;
                let (page, edge) = (Arc::clone(&self.page), self.edge.clone());
                Ok(accept::upgrade(request, &self.edge, &self.connection_guard, move |stream| {
                    socket::converse(stream, session, page, edge)
                }))
            }
        }
    }

    fn session(&self, headers: &HeaderMap) -> Result<SessionId, Refusal> {
        routes::cookies(headers, self.port)
            .find_map(|offered| self.page.session(offered))
            .ok_or(Refusal::NoSession)
    }

    async fn begin_session(&self, request: Request<Incoming>) -> Result<FullResponse, Refusal> {
        if !guard::is_json(request.headers()) {
            return Err(Refusal::BadBody);
        }
        let body = Limited::new(request.into_body(), routes::BODY_BYTES).collect();
        let Ok(Ok(body)) = timeout(HEAD_DEADLINE, body).await else { return Err(Refusal::BadBody) };
        let offered = routes::offered(&body.to_bytes()).ok_or(Refusal::BadBody)?;
        let session = self.page.exchange(&offered, self.port).ok_or(Refusal::WrongLink)?;
        let name = routes::cookie_name(self.port);
        let cookie = format!("{name}={}; HttpOnly; SameSite=Strict; Path=/", session.reveal());
        let mut answer = empty();
        if let Ok(cookie) = HeaderValue::try_from(cookie) {
            answer.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        Ok(answer)
    }
}

fn empty() -> FullResponse {
    let mut answer = Response::new(Full::default());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    answer
}

/// The one response that is a document, and what it may load.
fn document(host: &str) -> FullResponse {
    // Without a nonce its own style sheets are not applied: such a page looks wrong, and is safe.
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

/// A file, or `304 Not Modified` if the browser already has it.
fn file_response(file: &'static assets::File, request: &HeaderMap) -> FullResponse {
    let known = request.get(header::IF_NONE_MATCH).is_some_and(|tag| tag.as_bytes() == file.tag().as_bytes());
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

//! The agent over HTTP, with ppxai's routes and server-sent events, so that a chat panel made for ppxai works with it.
//! Only for programs of the same user on this machine. Knows only the host.

mod callback;
mod chat;
mod conversations;
mod guard;
mod peer;
mod reply;
mod request;
mod routes;
mod time;

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

pub use callback::IdeCallback;

use conversations::Conversations;
use reply::{Problem, Reply};
use request::{RequestBody, route};
use routes::{Engine, EngineRequest};

use crate::host::{AgentSettings, HostHandle};

/// Where a client of ppxai looks for its engine.
pub const DEFAULT_PORT: u16 = 54320;

const MOST_CONNECTIONS: usize = 128;
const HEAD_LINES: usize = 64;
const HEAD_BYTES: usize = 16 * 1024;
/// A message may hold whole files.
const BODY_BYTES: usize = 8 * 1024 * 1024;
/// For everything but a turn.
const ANSWER_DEADLINE: Duration = Duration::from_secs(30);

/// How long a client may take to send a request. Also how long it may be idle before the next one.
#[derive(Debug, Clone, Copy)]
struct SendingDeadlines {
    head: Duration,
    body: Duration,
}

const DEADLINES: SendingDeadlines =
    SendingDeadlines { head: Duration::from_secs(10), body: Duration::from_secs(10) };

/// How to serve.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// Required of each request, and sent to the editor that registers.
    pub token: Option<String>,
    /// How the agent of each conversation starts.
    pub settings: AgentSettings,
}

/// Opens the port on loopback; 0 is any free one.
pub async fn listen(port: u16) -> Result<TcpListener, String> {
    TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await.map_err(|error| {
        match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!(
                    "port {port} is in use: stop the program that has it, or choose another port with --port"
                )
            }
            _ => format!("cannot listen on port {port}: {error}"),
        }
    })
}

/// Serves until the task is dropped. `callback` must be around the tools of the host.
pub async fn serve(
    host: HostHandle,
    callback: IdeCallback,
    listener: TcpListener,
    options: EngineOptions,
) -> io::Result<()> {
    serve_within(DEADLINES, host, callback, listener, options).await
}

async fn serve_within(
    deadlines: SendingDeadlines,
    host: HostHandle,
    callback: IdeCallback,
    listener: TcpListener,
    options: EngineOptions,
) -> io::Result<()> {
    let ours = listener.local_addr()?;
    let conversations = Conversations::new(host.clone(), options.settings);
    let engine = Arc::new(Engine { host, conversations, callback, token: options.token });
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    connections.spawn(chat::decline(engine.host.clone()));
    loop {
        // Further connections wait in the kernel's queue. The semaphore is never closed.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return Ok(()) };
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, peer)) => {
                connections.spawn(connection(Arc::clone(&engine), deadlines, stream, (peer, ours), place));
            }
            // Most likely out of file descriptors: other connections may close soon.
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn connection(
    engine: Arc<Engine>,
    deadlines: SendingDeadlines,
    stream: TcpStream,
    (peer, ours): (SocketAddr, SocketAddr),
    _place: OwnedSemaphorePermit,
) {
    let us = rustix::process::getuid().as_raw();
    // The kernel may take milliseconds to list its sockets.
    let user = tokio::task::spawn_blocking(move || peer::user_of(peer, ours)).await;
    let is_ours = peer.ip().is_loopback() && matches!(user, Ok(Ok(Some(user))) if user == us);
    // A token of the model goes out when it comes, and not with the next one.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: Request<Incoming>| {
        let engine = Arc::clone(&engine);
        async move {
            let reply = if is_ours {
                answer(&engine, request, ours.port(), deadlines.body).await
            } else {
                let why = "only programs of the same user on this machine may ask";
                Err(Problem::new(StatusCode::FORBIDDEN, why))
            };
            Ok::<Reply, Infallible>(reply.unwrap_or_else(Problem::reply))
        }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(deadlines.head)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_LINES)
        .serve_connection(TokioIo::new(stream), service);
    // What can fail here is the client's connection, and the client knows.
    let _ = served.await;
}

async fn answer(
    engine: &Arc<Engine>,
    request: Request<Incoming>,
    port: u16,
    body_deadline: Duration,
) -> Result<Reply, Problem> {
    let (head, body) = request.into_parts();
    guard::admit(&head.method, &head.uri, &head.headers, port, engine.token.as_deref())?;
    let (route, rest) = route(&head.method, head.uri.path())?;
    let bytes = match timeout(body_deadline, Limited::new(body, BODY_BYTES).collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            let why = format!("the body is larger than {} MB", BODY_BYTES >> 20);
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, why));
        }
        Ok(Err(_)) => return Err(Problem::bad("the body is incomplete")),
        Err(_) => {
            return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"));
        }
    };
    if !bytes.is_empty() && !head.headers.contains_key(hyper::header::CONTENT_TYPE) {
        let why = "a body must be declared as application/json";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
    }
    let body = RequestBody::parse(&bytes)?;
    let asked = EngineRequest { route, rest, query: head.uri.query(), body };
    timeout(ANSWER_DEADLINE, engine.answer(asked)).await.unwrap_or_else(|_| {
        Err(Problem::new(StatusCode::GATEWAY_TIMEOUT, "the engine did not answer in time: try again"))
    })
}

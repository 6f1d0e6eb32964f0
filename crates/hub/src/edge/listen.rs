//! One TCP port per window: accepts, lets the guard look, and hands over what it lets in.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use linkspan_dialect::Dialect;
use linkspan_review::{AgentId, WindowId};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{Edge, FAREWELL, Happening, agent};
use crate::core::{Event, Listen};
use crate::guard::{self, Head, Refusal};
use crate::peer;
use crate::token::Token;

/// A request head that takes longer comes from no agent.
const HEAD_DEADLINE: Duration = Duration::from_secs(5);

/// The largest number of header lines a head may have.
const HEAD_LINES: usize = 64;

/// hyper's smallest buffer for a head.
const HEAD_BYTES_MIN: usize = 8 * 1024;

/// Connections over all windows and lives of ports, so that no two agents share a number. Odd ones: the core mints
/// even ones for agents that join on the hub's own socket.
static AGENTS: AtomicU64 = AtomicU64::new(1);

struct Door {
    window: WindowId,
    token: Token,
    port: u16,
    connections: usize,
    dialects: Vec<&'static Dialect>,
    inside: AtomicUsize,
}

/// Opens the window's old port if it can be had, else any. The old token is only valid on the old port.
pub(super) async fn open(edge: &Edge, listen: Listen) -> std::io::Result<(u16, Token)> {
    let Listen { window, before, connections, dialects } = listen;
    let again = match before {
        Some((port, token)) => {
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.ok().map(|listener| (listener, token))
        }
        None => None,
    };
    let (listener, token) = match again {
        Some(again) => again,
        // Whoever took the old port may have been sent the old token.
        None => (TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?, Token::mint()?),
    };
    let port = listener.local_addr()?.port();
    let door = Arc::new(Door {
        window,
        token: token.clone(),
        port,
        connections,
        dialects,
        inside: AtomicUsize::new(0),
    });
    let task = tokio::spawn(accept(listener, door, edge.clone()));
    let _ = edge.inbox.send(Happening::NewPort(window, task.abort_handle())).await;
    Ok((port, token))
}

async fn accept(listener: TcpListener, door: Arc<Door>, edge: Edge) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                tokio::spawn(enter(stream, peer, Arc::clone(&door), edge.clone()));
            }
            Err(error) => {
                tracing::error!("cannot accept on port {}: {error}", door.port);
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Counts a connection for as long as it lives.
struct Inside(Arc<Door>);

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn enter(stream: TcpStream, peer: SocketAddr, door: Arc<Door>, edge: Edge) {
    let before = door.inside.fetch_add(1, Ordering::Relaxed);
    let inside = Arc::new(Inside(Arc::clone(&door)));
    if let Err(refusal) = who(&stream, peer, before, &door).await {
        return turn_away(stream, refusal, &edge).await;
    }
    // Answers are small and someone waits for each.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request: Request<Incoming>| {
        let response = answer(request, &door, &edge, &inside);
        async move { Ok::<_, Infallible>(response.await) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_DEADLINE)
        .max_buf_size((edge.limits.header_kib * 1024).max(HEAD_BYTES_MIN))
        .max_headers(HEAD_LINES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    if let Err(error) = served {
        let refusal = if error.is_timeout() {
            Some(Refusal::SlowHead)
        } else {
            error.is_parse().then_some(Refusal::BadHead)
        };
        if let Some(refusal) = refusal {
            count(refusal, &edge).await;
        }
    }
}

/// What can be told before a byte is read.
async fn who(stream: &TcpStream, peer: SocketAddr, inside: usize, door: &Door) -> Result<(), Refusal> {
    if !peer.ip().is_loopback() {
        return Err(Refusal::NotLoopback);
    }
    if inside >= door.connections {
        return Err(Refusal::TooManyConnections);
    }
    let ours = stream.local_addr().map_err(|_| Refusal::OtherUser)?;
    // The kernel takes milliseconds to list its sockets: nobody else shall wait for that.
    match tokio::task::spawn_blocking(move || peer::uid(peer, ours)).await {
        Ok(Some(uid)) if uid == rustix::process::getuid().as_raw() => Ok(()),
        _ => Err(Refusal::OtherUser),
    }
}

async fn turn_away(mut stream: TcpStream, refusal: Refusal, edge: &Edge) {
    let (status, message) = (refusal.status(), refusal.message());
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{message}",
        message.len(),
    );
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
    count(refusal, edge).await;
    // A socket closed over bytes that nobody took is reset, and the answer lost with it. What comes is thrown away.
    let mut unread = [0; 1024];
    let _ = tokio::time::timeout(FAREWELL, async {
        let mut room = HEAD_BYTES_MIN;
        while let Ok(count @ 1..) = stream.read(&mut unread).await
            && room > count
        {
            room -= count;
        }
    })
    .await;
}

async fn count(refusal: Refusal, edge: &Edge) {
    tracing::warn!("refused a connection: {}", refusal.name());
    edge.tell(Event::Refused { refusal }).await;
}

async fn answer(
    request: Request<Incoming>,
    door: &Arc<Door>,
    edge: &Edge,
    inside: &Arc<Inside>,
) -> Response<Full<Bytes>> {
    let head = Head { method: request.method(), path: request.uri().path(), headers: request.headers() };
    match guard::admit(&head, door.port, &door.token, &door.dialects) {
        Ok(dialect) => upgrade(request, dialect, door.window, edge.clone(), Arc::clone(inside)),
        Err(refusal) => {
            count(refusal, edge).await;
            let mut response = Response::new(Full::from(refusal.message()));
            *response.status_mut() = refusal.status();
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
            // Said here and not for the whole connection: an accepted handshake must say `Upgrade` alone, because
            // strict clients take nothing else.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            response
        }
    }
}

fn upgrade(
    mut request: Request<Incoming>,
    dialect: &'static Dialect,
    window: WindowId,
    edge: Edge,
    inside: Arc<Inside>,
) -> Response<Full<Bytes>> {
    let key = request.headers().get(header::SEC_WEBSOCKET_KEY).map(|key| accept_key(key.as_bytes()));
    let offered = request.headers().get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let offered = offered.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let subprotocol = dialect.subprotocol.filter(|wanted| offered.map(str::trim).any(|name| name == *wanted));
    let upgraded = hyper::upgrade::on(&mut request);
    let agent_id = AgentId(AGENTS.fetch_add(2, Ordering::Relaxed));
    tokio::spawn(async move {
        // Counted until the conversation is over, not just the handshake.
        let _inside = inside;
        let Ok(upgraded) = upgraded.await else { return };
        // The bare socket again: hyper's wrapping costs time on every frame. Bytes sent before our answer are a
        // breach of the protocol.
        match upgraded.downcast::<TokioIo<TcpStream>>() {
            Ok(parts) if parts.read_buf.is_empty() => {
                agent::converse(agent_id, window, dialect, parts.io.into_inner(), edge).await;
            }
            _ => count(Refusal::BadHead, &edge).await,
        }
    });
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    if let Some(key) = key.and_then(|key| HeaderValue::from_str(&key).ok()) {
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, key);
    }
    if let Some(subprotocol) = subprotocol {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(subprotocol));
    }
    response
}

/// RFC 6455, section 4.2.2.
fn accept_key(key: &[u8]) -> String {
    let mut digest = sha1_smol::Sha1::new();
    digest.update(key);
    digest.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    base64::engine::general_purpose::STANDARD.encode(digest.digest().bytes())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_accept_key_is_the_one_of_the_rfc() {
        assert_eq!(super::accept_key(b"dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}

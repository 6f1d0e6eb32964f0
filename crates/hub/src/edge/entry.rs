//! What all our TCP ports have in common: who may connect at all, limits on what is read, and refusals. What a
//! request means is for the port it came to.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::service::Service;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::{Edge, FAREWELL};
use crate::core::Event;
use crate::guard::Refusal;
use crate::peer;

pub(crate) type Answer = Response<Full<Bytes>>;

/// A request head that takes longer comes from nobody who means well.
pub(crate) const HEAD_DEADLINE: Duration = Duration::from_secs(5);

/// The largest number of header lines a head may have.
const HEAD_LINES: usize = 64;

/// hyper's smallest buffer for a head.
const HEAD_BYTES_MIN: usize = 8 * 1024;

/// Hands on what connects. Whoever aborts this ends every connection that was not upgraded.
pub(crate) async fn accept<F: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    enter: impl Fn(TcpStream, SocketAddr) -> F,
) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
        };
        match accepted {
            Ok((stream, peer)) => drop(connections.spawn(enter(stream, peer))),
            Err(error) => {
                // Out of descriptors, most likely: others may close some soon.
                tracing::error!("cannot accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Counts a connection for as long as it lives.
#[derive(Debug)]
pub(crate) struct Inside(Arc<AtomicUsize>);

impl Inside {
    /// Gives how many there were before, too.
    pub(crate) fn new(count: &Arc<AtomicUsize>) -> (Arc<Inside>, usize) {
        let before = count.fetch_add(1, Ordering::Relaxed);
        (Arc::new(Inside(Arc::clone(count))), before)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What can be told before a byte is read.
pub(crate) async fn who(stream: &TcpStream, peer: SocketAddr, room: bool) -> Result<(), Refusal> {
    if !peer.ip().is_loopback() {
        return Err(Refusal::NotLoopback);
    }
    if !room {
        return Err(Refusal::TooManyConnections);
    }
    let ours = stream.local_addr().map_err(|_| Refusal::OtherUser)?;
    // The kernel takes milliseconds to list its sockets: nobody else shall wait for that.
    match tokio::task::spawn_blocking(move || peer::uid(peer, ours)).await {
        Ok(Some(uid)) if uid == rustix::process::getuid().as_raw() => Ok(()),
        _ => Err(Refusal::OtherUser),
    }
}

/// Reads heads and has `service` answer them. Gives what was wrong with the one that was no head.
pub(crate) async fn serve<S>(stream: TcpStream, edge: &Edge, service: S) -> Result<(), Refusal>
where
    S: Service<Request<Incoming>, Response = Answer, Error = Infallible>,
{
    // Answers are small and someone waits for each.
    let _ = stream.set_nodelay(true);
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_DEADLINE)
        .max_buf_size((edge.limits.header_kib * 1024).max(HEAD_BYTES_MIN))
        .max_headers(HEAD_LINES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    match served {
        Err(error) if error.is_timeout() => Err(Refusal::SlowHead),
        Err(error) if error.is_parse() => Err(Refusal::BadHead),
        _ => Ok(()),
    }
}

pub(crate) async fn turn_away(mut stream: TcpStream, refusal: Refusal, edge: &Edge) {
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

pub(crate) async fn count(refusal: Refusal, edge: &Edge) {
    tracing::warn!("refused a connection: {}", refusal.name());
    edge.tell(Event::Refused { refusal }).await;
}

/// The answer to a request that is refused.
pub(crate) async fn refuse(refusal: Refusal, edge: &Edge) -> Answer {
    count(refusal, edge).await;
    let mut response = Response::new(Full::from(refusal.message()));
    *response.status_mut() = refusal.status();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    // Said here and not for the whole connection: an accepted handshake must say `Upgrade` alone, because
    // strict clients take nothing else.
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Accepts a WebSocket; `converse` goes on with the bare socket once the answer is sent.
pub(crate) fn upgrade<F: Future<Output = ()> + Send + 'static>(
    mut request: Request<Incoming>,
    edge: &Edge,
    inside: &Arc<Inside>,
    converse: impl FnOnce(TcpStream) -> F + Send + 'static,
) -> Answer {
    let key = request.headers().get(header::SEC_WEBSOCKET_KEY).map(|key| accept_key(key.as_bytes()));
    let upgraded = hyper::upgrade::on(&mut request);
    let (edge, inside) = (edge.clone(), Arc::clone(inside));
    tokio::spawn(async move {
        // Counted until the conversation is over, not just the handshake.
        let _inside = inside;
        let Ok(upgraded) = upgraded.await else { return };
        // The bare socket again: hyper's wrapping costs time on every frame. Bytes sent before our answer are a
        // breach of the protocol.
        match upgraded.downcast::<TokioIo<TcpStream>>() {
            Ok(parts) if parts.read_buf.is_empty() => converse(parts.io.into_inner()).await,
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

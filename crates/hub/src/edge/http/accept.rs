//! What all ports and sockets for HTTP share: who may connect at all, limits on what is read, and how a refusal is
//! answered. The meaning of a request belongs to the port that received it.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine;
use http_body_util::Full;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::service::Service;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::core::Event;
use crate::core::contract::Refusal;
use crate::edge::http::delivery_probe::ClosedConnection;
use crate::edge::http::peer_listener::PeerListener;
use crate::edge::http::tracked_stream::{PeerStream, TrackedStream};
use crate::edge::{Edge, SHUTDOWN_GRACE};

pub(crate) type FullResponse = Response<Full<Bytes>>;

/// How long a peer may take to send a request head.
pub(crate) const HEAD_DEADLINE: Duration = Duration::from_secs(5);

/// The largest number of header lines in a head.
const HEAD_LINES: usize = 64;

/// hyper's smallest buffer for a head.
const HEAD_BYTES_MIN: usize = 8 * 1024;

/// For all requests on one connection before it becomes a WebSocket. A page on the slowest line that counts as open
/// needs 40 s for the largest file, and may load other files on the same connection.
const CONNECTION_DEADLINE: Duration = Duration::from_secs(180);

/// Connections whose user is looked up at the same time. Further ones wait in the kernel's queue.
const PEER_LOOKUPS: usize = 256;

/// Rejected connections that get an error response at the same time. Further ones are closed without one, so that
/// they cannot fill the hub.
const REJECTIONS: usize = 32;

/// Accepts connections and passes those that may connect to `enter`, up to `max_connections` at a time. Aborting this
/// task ends every connection that was not upgraded.
pub(crate) async fn accept<L: PeerListener, F: Future<Output = ()> + Send>(
    listener: L,
    max_connections: usize,
    edge: Edge,
    enter: impl Fn(L::Stream, Arc<ConnectionGuard>) -> F + Clone + Send + 'static,
) {
    let (connection_guard, leaving) = (Arc::default(), Arc::default());
    let lookups = Arc::new(Semaphore::new(PEER_LOOKUPS));
    let mut connections = JoinSet::new();
    loop {
        let next = async {
            let lookup = Arc::clone(&lookups).acquire_owned().await;
            (listener.accept_next().await, lookup)
        };
        let (accepted, lookup) = tokio::select! {
            next = next => next,
            Some(_) = connections.join_next() => continue,
        };
        match accepted {
            Ok((stream, peer)) => {
                let (enter, edge) = (enter.clone(), edge.clone());
                let (connection_guard, leaving) = (Arc::clone(&connection_guard), Arc::clone(&leaving));
                connections.spawn(async move {
                    let refusal = match L::check(&stream, peer).await {
                        Ok(()) => match ConnectionGuard::new(&connection_guard) {
                            (place, before) if before < max_connections => {
                                drop(lookup);
                                return enter(stream, place).await;
                            }
                            _ => Refusal::TooManyConnections,
                        },
                        Err(refusal) => refusal,
                    };
                    record_refusal(refusal, &edge).await;
                    drop(lookup);
                    let (_leaving, before) = ConnectionGuard::new(&leaving);
                    if before < REJECTIONS {
                        reject(stream, refusal).await;
                    }
                });
            }
            Err(error) => {
                // Most likely out of file descriptors: other connections may close soon.
                tracing::error!("cannot accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Counts a connection until it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionGuard(Arc<AtomicUsize>);

impl ConnectionGuard {
    /// Also returns how many there were before.
    fn new(count: &Arc<AtomicUsize>) -> (Arc<ConnectionGuard>, usize) {
        let before = count.fetch_add(1, Ordering::Relaxed);
        (Arc::new(ConnectionGuard(Arc::clone(count))), before)
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reads request heads and lets `service` answer them. The error says what was wrong with a malformed head.
pub(crate) async fn serve<S, B>(stream: impl PeerStream, edge: &Edge, service: S) -> Result<(), Refusal>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    B: Body<Data: Send, Error = Infallible> + 'static,
{
    serve_within(CONNECTION_DEADLINE, stream, edge.limits.header_kib, service, &KeepOpen::default())
        .await
        .map(|_| ())
}

/// How a connection ended that broke no rule.
#[derive(Debug)]
pub(crate) enum ServeOutcome<C> {
    /// One side closed it, or it was idle for too long.
    Closed(ClosedConnection<C>),
    /// It was upgraded, or the last bytes sent may not have been read.
    Other,
}

/// Like `serve`, for a connection that may become an agent's: that one has no overall deadline.
pub(crate) async fn serve_agent<C, S, B>(
    stream: C,
    edge: &Edge,
    keep_open: &KeepOpen,
    service: S,
) -> Result<ServeOutcome<C>, Refusal>
where
    C: PeerStream,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    B: Body<Data: Send, Error = Infallible> + 'static,
{
    serve_within(CONNECTION_DEADLINE, stream, edge.limits.header_kib, service, keep_open).await
}

/// Set once a connection was admitted as an agent's.
#[derive(Debug, Default)]
pub(crate) struct KeepOpen(AtomicBool);

impl KeepOpen {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn serve_within<C, S, B>(
    deadline: Duration,
    stream: C,
    head_kib: usize,
    service: S,
    keep_open: &KeepOpen,
) -> Result<ServeOutcome<C>, Refusal>
where
    C: PeerStream,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    B: Body<Data: Send, Error = Infallible> + 'static,
{
    stream.send_at_once();
    let (stream, outcome) = TrackedStream::new(stream);
    let ended = {
        let served = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_DEADLINE)
            .max_buf_size((head_kib * 1024).max(HEAD_BYTES_MIN))
            .max_headers(HEAD_LINES)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        tokio::pin!(served);
        match tokio::time::timeout(deadline, &mut served).await {
            Err(_) if keep_open.0.load(Ordering::Relaxed) => Ok(served.await),
            ended => ended,
        }
    };
    match (ended, outcome.take()) {
        // A connection that an agent keeps open for its next request is not slow.
        (Ok(Err(error)), _) if error.is_timeout() && !keep_open.0.load(Ordering::Relaxed) => {
            Err(Refusal::SlowHead)
        }
        (Ok(Err(error)), _) if error.is_parse() => Err(Refusal::BadHead),
        _ if outcome.is_broken() => Ok(ServeOutcome::Other),
        (Ok(Err(error)), Some(stream)) if error.is_timeout() => {
            Ok(ServeOutcome::Closed(ClosedConnection::idle(stream)))
        }
        (Ok(Ok(())), Some(stream)) => Ok(ServeOutcome::Closed(ClosedConnection::closed(stream))),
        // A peer that does not take its responses in time is disconnected, too: it must not keep its slot forever.
        _ => Ok(ServeOutcome::Other),
    }
}

async fn reject(mut stream: impl PeerStream, refusal: Refusal) {
    let (status, message) = (refusal.status(), refusal.message());
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{message}",
        message.len(),
    );
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
    // Closing a socket that has unread bytes resets it, and the response is lost. So what arrives is read and
    // discarded.
    let mut unread = [0; 1024];
    let _ = tokio::time::timeout(SHUTDOWN_GRACE, async {
        let mut room = HEAD_BYTES_MIN;
        while let Ok(count @ 1..) = stream.read(&mut unread).await
            && room > count
        {
            room -= count;
        }
    })
    .await;
}

pub(crate) async fn record_refusal(refusal: Refusal, edge: &Edge) {
    edge.log_refusal(refusal);
    edge.send_event(Event::Refused { refusal }).await;
}

/// The response to a refused request.
pub(crate) async fn refuse(refusal: Refusal, edge: &Edge) -> FullResponse {
    record_refusal(refusal, edge).await;
    let mut response = Response::new(Full::from(refusal.message()));
    *response.status_mut() = refusal.status();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    // Set here and not for the whole connection: the response to an accepted handshake must say `Connection: Upgrade`
    // and nothing else, because strict clients reject anything more.
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Accepts a WebSocket; `converse` gets the bare socket once the response is sent.
pub(crate) fn upgrade<F: Future<Output = ()> + Send + 'static>(
    mut request: Request<Incoming>,
    edge: &Edge,
    connection_guard: &Arc<ConnectionGuard>,
    converse: impl FnOnce(TcpStream) -> F + Send + 'static,
) -> FullResponse {
    let key = request.headers().get(header::SEC_WEBSOCKET_KEY).map(|key| accept_key(key.as_bytes()));
    let upgraded = hyper::upgrade::on(&mut request);
    let (edge, connection_guard) = (edge.clone(), Arc::clone(connection_guard));
    tokio::spawn(async move {
        // Counted until the conversation ends, not only the handshake.
        let _inside = connection_guard;
        let Ok(upgraded) = upgraded.await else { return };
        // The bare socket, because hyper's wrapper costs time on every frame. Bytes that arrived before our response
        // violate the protocol.
        match upgraded.downcast::<TokioIo<TrackedStream<TcpStream>>>() {
            Ok(parts) if parts.read_buf.is_empty() => {
                if let Some(stream) = parts.io.into_inner().into_stream() {
                    converse(stream).await;
                }
            }
            _ => record_refusal(Refusal::BadHead, &edge).await,
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
    use hyper::service::service_fn;
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn a_peer_that_does_not_read_its_responses_is_disconnected() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let mut peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            peer.write_all("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(20).as_bytes()).await.unwrap();
            let large = service_fn(|_| async {
                Ok::<_, Infallible>(Response::new(Full::<Bytes>::from(vec![0; 1 << 20])))
            });
            let keep_open = KeepOpen::default();
            let serving = serve_within(Duration::from_millis(200), stream, 8, large, &keep_open);
            let served = tokio::time::timeout(Duration::from_secs(20), serving).await;
            assert!(matches!(served, Ok(Ok(ServeOutcome::Other))), "{served:?}");
            let mut taken = Vec::new();
            let _ = peer.read_to_end(&mut taken).await;
            assert!(!taken.is_empty() && taken.len() < 20 << 20, "{}", taken.len());
        });
    }

    #[test]
    fn the_accept_key_is_the_one_of_the_rfc() {
        assert_eq!(accept_key(b"dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}

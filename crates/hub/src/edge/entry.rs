//! What all our TCP ports have in common: who may connect at all, limits on what is read, and refusals. What a
//! request means is for the port it came to.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
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
use linkspan_workspace::descriptors;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::left::Left;
use super::watched::Watched;
use super::{Edge, FAREWELL};
use crate::core::Event;
use crate::guard::Refusal;
use crate::peer::{self, OtherEnd};

pub(crate) type Answer = Response<Full<Bytes>>;

/// A request head that takes longer comes from nobody who means well.
pub(crate) const HEAD_DEADLINE: Duration = Duration::from_secs(5);

/// The largest number of header lines a head may have.
const HEAD_LINES: usize = 64;

/// hyper's smallest buffer for a head.
const HEAD_BYTES_MIN: usize = 8 * 1024;

/// For everything that is asked on one connection before it becomes a WebSocket. At the rate that is slow for an open
/// page, the largest file that is served takes 40 s, and something else may come over the same line.
const ANSWERED_WITHIN: Duration = Duration::from_secs(180);

/// Connections whose user is looked up at once. The next ones wait in the kernel's queue, each in its turn.
const LOOKED_AT: usize = 256;

/// Connections that are told why they are turned away. More are closed without a word, so that nobody can fill the
/// hub with them.
const TURNED_AWAY: usize = 32;

/// Hands on who may be here, `places` at a time. Whoever aborts this ends every connection that was not upgraded.
pub(crate) async fn accept<F: Future<Output = ()> + Send>(
    listener: TcpListener,
    places: usize,
    edge: Edge,
    enter: impl Fn(TcpStream, Arc<Inside>) -> F + Clone + Send + 'static,
) {
    let (inside, leaving) = (Arc::default(), Arc::default());
    let looked_at = Arc::new(Semaphore::new(LOOKED_AT));
    let mut connections = JoinSet::new();
    loop {
        let next = async {
            let looking = Arc::clone(&looked_at).acquire_owned().await;
            (listener.accept().await, looking)
        };
        let (accepted, looking) = tokio::select! {
            next = next => next,
            Some(_) = connections.join_next() => continue,
        };
        match accepted {
            Ok((stream, peer)) => {
                let (enter, edge) = (enter.clone(), edge.clone());
                let (inside, leaving) = (Arc::clone(&inside), Arc::clone(&leaving));
                connections.spawn(async move {
                    let refusal = match who(&stream, peer).await {
                        Ok(()) => match Inside::new(&inside) {
                            (place, before) if before < places => {
                                drop(looking);
                                return enter(stream, place).await;
                            }
                            _ => Refusal::TooManyConnections,
                        },
                        Err(refusal) => refusal,
                    };
                    count(refusal, &edge).await;
                    drop(looking);
                    let (_leaving, before) = Inside::new(&leaving);
                    if before < TURNED_AWAY {
                        turn_away(stream, refusal).await;
                    }
                });
            }
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
    fn new(count: &Arc<AtomicUsize>) -> (Arc<Inside>, usize) {
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
async fn who(stream: &TcpStream, peer: SocketAddr) -> Result<(), Refusal> {
    if !peer.ip().is_loopback() {
        return Err(Refusal::NotLoopback);
    }
    let ours = stream.local_addr().map_err(|_| Refusal::OtherUser)?;
    // The kernel takes milliseconds to list its sockets: nobody else shall wait for that.
    match tokio::task::spawn_blocking(move || peer::look_for_other_end(peer, ours)).await {
        Ok(found) => is_our_user(found, rustix::process::getuid().as_raw()),
        Err(_) => Err(Refusal::OtherUser),
    }
}

fn is_our_user(found: io::Result<Option<OtherEnd>>, us: u32) -> Result<(), Refusal> {
    match found {
        Ok(Some(end)) if end.uid == us => Ok(()),
        Err(error) if descriptors::are_none_left(&error) => Err(Refusal::NoDescriptors),
        // Not known to be ours is not ours.
        _ => Err(Refusal::OtherUser),
    }
}

/// Reads heads and has `service` answer them. Gives what was wrong with the one that was no head.
pub(crate) async fn serve<S, B>(stream: TcpStream, edge: &Edge, service: S) -> Result<(), Refusal>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    B: Body<Data: Send, Error = Infallible> + 'static,
{
    serve_within(ANSWERED_WITHIN, stream, edge.limits.header_kib, service, &Stays::default())
        .await
        .map(|_| ())
}

/// How a connection ended that was no offence.
#[derive(Debug)]
pub(crate) enum Ended {
    /// One side closed it, or the peer kept it idle for too long.
    InOrder(Left),
    /// It goes on as something else, or what was sent last may not have been read.
    Otherwise,
}

/// The same for a connection that may become an agent's, which stays for as long as it likes.
pub(crate) async fn serve_agent<S, B>(
    stream: TcpStream,
    edge: &Edge,
    stays: &Stays,
    service: S,
) -> Result<Ended, Refusal>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    B: Body<Data: Send, Error = Infallible> + 'static,
{
    serve_within(ANSWERED_WITHIN, stream, edge.limits.header_kib, service, stays).await
}

/// Whether a connection was let in as an agent's.
#[derive(Debug, Default)]
pub(crate) struct Stays(AtomicBool);

impl Stays {
    pub(crate) fn stay(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn serve_within<S, B>(
    deadline: Duration,
    stream: TcpStream,
    head_kib: usize,
    service: S,
    stays: &Stays,
) -> Result<Ended, Refusal>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    B: Body<Data: Send, Error = Infallible> + 'static,
{
    // Answers are small and someone waits for each.
    let _ = stream.set_nodelay(true);
    let (stream, remains) = Watched::new(stream);
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
            Err(_) if stays.0.load(Ordering::Relaxed) => Ok(served.await),
            ended => ended,
        }
    };
    match (ended, remains.take()) {
        // A connection that an agent keeps for its next request is not slow.
        (Ok(Err(error)), _) if error.is_timeout() && !stays.0.load(Ordering::Relaxed) => {
            Err(Refusal::SlowHead)
        }
        (Ok(Err(error)), _) if error.is_parse() => Err(Refusal::BadHead),
        _ if remains.is_broken() => Ok(Ended::Otherwise),
        (Ok(Err(error)), Some(stream)) if error.is_timeout() => Ok(Ended::InOrder(Left::idle(stream))),
        (Ok(Ok(())), Some(stream)) => Ok(Ended::InOrder(Left::closed(stream))),
        // Whoever does not take its answers in time is let go, too, and keeps no place for ever.
        _ => Ok(Ended::Otherwise),
    }
}

async fn turn_away(mut stream: TcpStream, refusal: Refusal) {
    let (status, message) = (refusal.status(), refusal.message());
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{message}",
        message.len(),
    );
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
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
    edge.log_refusal(refusal);
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
        match upgraded.downcast::<TokioIo<Watched>>() {
            Ok(parts) if parts.read_buf.is_empty() => {
                if let Some(stream) = parts.io.into_inner().into_stream() {
                    converse(stream).await;
                }
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

    use super::*;

    #[test]
    fn that_no_descriptor_is_left_is_not_said_to_be_another_user() {
        let end = |uid| Ok(Some(OtherEnd { uid, unread: 0 }));
        assert_eq!(is_our_user(end(7), 7), Ok(()));
        assert_eq!(is_our_user(end(8), 7), Err(Refusal::OtherUser));
        assert_eq!(is_our_user(Ok(None), 7), Err(Refusal::OtherUser));
        for error in [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE] {
            assert_eq!(is_our_user(Err(error.into()), 7), Err(Refusal::NoDescriptors));
        }
    }

    #[test]
    fn whoever_asks_and_takes_no_answers_is_let_go() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let mut visitor = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            visitor.write_all("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(20).as_bytes()).await.unwrap();
            let large = service_fn(|_| async {
                Ok::<_, Infallible>(Response::new(Full::<Bytes>::from(vec![0; 1 << 20])))
            });
            let stays = Stays::default();
            let serving = serve_within(Duration::from_millis(200), stream, 8, large, &stays);
            let served = tokio::time::timeout(Duration::from_secs(20), serving).await;
            assert!(matches!(served, Ok(Ok(Ended::Otherwise))), "{served:?}");
            let mut taken = Vec::new();
            let _ = visitor.read_to_end(&mut taken).await;
            assert!(!taken.is_empty() && taken.len() < 20 << 20, "{}", taken.len());
        });
    }

    #[test]
    fn the_accept_key_is_the_one_of_the_rfc() {
        assert_eq!(accept_key(b"dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}

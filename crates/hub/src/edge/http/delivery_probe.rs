//! After a connection has ended: did the peer read everything that was sent on it? The meaning of the answer belongs
//! to the code that served the connection.
//!
//! HTTP has no acknowledgement. An agent that is stopped (SIGSTOP) or killed after we sent an outcome leaves the
//! bytes unread in its kernel buffer, and TCP still closes in order. Without a look at that buffer the hub would have
//! to choose: count such an outcome as delivered, and lose a decision (promise 3), or count every outcome of a
//! one-request connection as undelivered, and list decisions as undelivered that arrived (promise 8). So the kernel's
//! count of unread bytes stays, although it is Linux-only and a lookup per ended connection; `peer` needs the same
//! lookup anyway to check the peer's user, and it is made only where an outcome is unconfirmed.

use std::time::Duration;

use futures_util::FutureExt;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::edge::http::accept::HEAD_DEADLINE;
use crate::edge::peer;

#[derive(Debug)]
pub(crate) struct ClosedConnection<S> {
    stream: S,
    /// How long the peer may still take to read and to close.
    grace: Duration,
}

impl<S> ClosedConnection<S> {
    /// The peer had all the time it gets for another request.
    pub(crate) fn idle(stream: S) -> ClosedConnection<S> {
        ClosedConnection { stream, grace: Duration::ZERO }
    }

    /// Our response, and the end of the connection behind it, were sent just now.
    pub(crate) fn closed(stream: S) -> ClosedConnection<S> {
        ClosedConnection { stream, grace: HEAD_DEADLINE }
    }
}

impl ClosedConnection<TcpStream> {
    /// A peer that closes with unread bytes resets the connection.
    pub(crate) async fn peer_read_everything(mut self) -> bool {
        // Once both sides have closed, the peer's socket can no longer be found.
        let addresses = self.stream.peer_addr().and_then(|peer| Ok((peer, self.stream.local_addr()?)));
        let closed = timeout(self.grace, closes_in_order(&mut self.stream)).await;
        let Ok((peer, ours)) = addresses else { return closed == Ok(true) };
        if closed == Ok(false) {
            return false;
        }
        let found = tokio::task::spawn_blocking(move || peer::peer_socket(peer, ours)).await;
        match found {
            // A peer that has shut down its sending side may still have everything to read.
            Ok(Some(peer_socket)) => peer_socket.unread == 0,
            // It closed, now or in the meantime.
            Ok(None) => closed == Ok(true) || closes_in_order(&mut self.stream).now_or_never() == Some(true),
            Err(_) => false,
        }
    }
}

/// Reads and discards until the peer closes. False: it reset the connection.
async fn closes_in_order(stream: &mut TcpStream) -> bool {
    let mut discarded = [0; 1024];
    loop {
        match stream.read(&mut discarded).await {
            Ok(0) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    use super::*;

    /// Both ends of a connection on which `sent` was sent to the peer.
    async fn connection(sent: &[u8]) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut ours, _) = listener.accept().await.unwrap();
        ours.write_all(sent).await.unwrap();
        (ours, peer)
    }

    async fn read(peer: &mut TcpStream, count: usize) {
        peer.read_exact(&mut vec![0; count]).await.unwrap();
    }

    fn closed(stream: TcpStream) -> ClosedConnection<TcpStream> {
        ClosedConnection { stream, grace: Duration::from_millis(200) }
    }

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
    }

    #[test]
    fn bytes_in_the_kernel_buffer_were_not_read() {
        run(async {
            let (ours, mut peer) = connection(b"answer").await;
            read(&mut peer, 5).await;
            assert!(!ClosedConnection::idle(ours).peer_read_everything().await);
            let (mut ours, mut peer) = connection(b"answer").await;
            ours.shutdown().await.unwrap();
            read(&mut peer, 5).await;
            assert!(!closed(ours).peer_read_everything().await, "one byte is missing");
        });
    }

    #[test]
    fn a_peer_that_sends_no_more_may_still_have_everything_to_read() {
        run(async {
            for (count, all) in [(6, true), (5, false)] {
                let (ours, mut peer) = connection(b"answer").await;
                read(&mut peer, count).await;
                peer.shutdown().await.unwrap();
                assert_eq!(closed(ours).peer_read_everything().await, all, "{count} read");
            }
        });
    }

    #[test]
    fn a_peer_that_has_read_everything_need_not_close() {
        run(async {
            let (ours, mut peer) = connection(b"answer").await;
            read(&mut peer, 6).await;
            assert!(ClosedConnection::idle(ours).peer_read_everything().await);
            let (mut ours, mut peer) = connection(b"answer").await;
            ours.shutdown().await.unwrap();
            read(&mut peer, 6).await;
            assert!(closed(ours).peer_read_everything().await, "the end need not be read");
        });
    }

    #[test]
    fn a_peer_that_closes_has_read_everything_or_resets_the_connection() {
        run(async {
            for (count, all) in [(6, true), (5, false), (0, false)] {
                for ends in [true, false] {
                    let (mut ours, mut peer) = connection(b"answer").await;
                    if ends {
                        ours.shutdown().await.unwrap();
                    }
                    read(&mut peer, count).await;
                    drop(peer);
                    assert_eq!(
                        closed(ours).peer_read_everything().await,
                        all,
                        "{count} read, our end closed: {ends}"
                    );
                }
            }
        });
    }
}

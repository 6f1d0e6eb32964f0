//! A connection that nobody serves any more, and whether its peer has read what it was sent last. A process that stands
//! still, or is killed, leaves that with the kernel; what it was, is for whoever served it.

use std::time::Duration;

use futures_util::FutureExt;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::entry::HEAD_DEADLINE;
use crate::peer;

#[derive(Debug)]
pub(crate) struct Left {
    stream: TcpStream,
    /// How long the peer may still take to read and to close.
    patience: Duration,
}

impl Left {
    /// Its peer had all the time it is given for another request.
    pub(super) fn idle(stream: TcpStream) -> Left {
        Left { stream, patience: Duration::ZERO }
    }

    /// Our answer, and the end of the connection behind it, were sent just now.
    pub(super) fn closed(stream: TcpStream) -> Left {
        Left { stream, patience: HEAD_DEADLINE }
    }

    /// A peer that closes over bytes which it has not read resets the connection.
    pub(super) async fn was_read(mut self) -> bool {
        // Where both sides have closed, there is no other end to be found.
        let addresses = self.stream.peer_addr().and_then(|peer| Ok((peer, self.stream.local_addr()?)));
        let closed = timeout(self.patience, closes_in_order(&mut self.stream)).await;
        let Ok((peer, ours)) = addresses else { return closed == Ok(true) };
        if closed == Ok(false) {
            return false;
        }
        let looked = tokio::task::spawn_blocking(move || peer::other_end(peer, ours)).await;
        match looked {
            // One that says no more may still have all to read.
            Ok(Some(other_end)) => other_end.unread == 0,
            // It closed, now or meanwhile.
            Ok(None) => closed == Ok(true) || closes_in_order(&mut self.stream).now_or_never() == Some(true),
            Err(_) => false,
        }
    }
}

/// What still comes is nobody's any more.
async fn closes_in_order(stream: &mut TcpStream) -> bool {
    let mut thrown_away = [0; 1024];
    loop {
        match stream.read(&mut thrown_away).await {
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

    /// Our end of a connection over which `sent` went, and the other one.
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

    fn closed(stream: TcpStream) -> Left {
        Left { stream, patience: Duration::from_millis(200) }
    }

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
    }

    #[test]
    fn what_lies_with_the_kernel_was_not_read() {
        run(async {
            let (ours, mut peer) = connection(b"answer").await;
            read(&mut peer, 5).await;
            assert!(!Left::idle(ours).was_read().await);
            let (mut ours, mut peer) = connection(b"answer").await;
            ours.shutdown().await.unwrap();
            read(&mut peer, 5).await;
            assert!(!closed(ours).was_read().await, "one byte is missing");
        });
    }

    #[test]
    fn a_peer_that_says_no_more_may_still_have_all_to_read() {
        run(async {
            for (count, all) in [(6, true), (5, false)] {
                let (ours, mut peer) = connection(b"answer").await;
                read(&mut peer, count).await;
                peer.shutdown().await.unwrap();
                assert_eq!(closed(ours).was_read().await, all, "{count} read");
            }
        });
    }

    #[test]
    fn a_peer_that_has_read_all_need_not_close() {
        run(async {
            let (ours, mut peer) = connection(b"answer").await;
            read(&mut peer, 6).await;
            assert!(Left::idle(ours).was_read().await);
            let (mut ours, mut peer) = connection(b"answer").await;
            ours.shutdown().await.unwrap();
            read(&mut peer, 6).await;
            assert!(closed(ours).was_read().await, "the end need not be read");
        });
    }

    #[test]
    fn a_peer_that_closes_has_read_all_or_resets_the_connection() {
        run(async {
            for (count, all) in [(6, true), (5, false), (0, false)] {
                for ends in [true, false] {
                    let (mut ours, mut peer) = connection(b"answer").await;
                    if ends {
                        ours.shutdown().await.unwrap();
                    }
                    read(&mut peer, count).await;
                    drop(peer);
                    assert_eq!(closed(ours).was_read().await, all, "{count} read, our end closed: {ends}");
                }
            }
        });
    }
}

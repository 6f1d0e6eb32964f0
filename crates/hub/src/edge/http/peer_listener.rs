//! Who connects: the user behind a connection, on a TCP port and on a Unix socket. Knows nothing of what is sent on it.

use std::io;
use std::net::SocketAddr;

use linkspan_workspace::descriptors;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use crate::core::contract::Refusal;
use crate::edge::http::tracked_stream::PeerStream;
use crate::edge::peer::{self, PeerSocket};

/// Where connections come from, and how their user is found out.
pub(crate) trait PeerListener: Send + 'static {
    type Stream: PeerStream;
    type Peer: Send + 'static;

    fn accept_next(&self) -> impl Future<Output = io::Result<(Self::Stream, Self::Peer)>> + Send;

    /// The checks that need no byte of the request.
    fn check(stream: &Self::Stream, peer: Self::Peer) -> impl Future<Output = Result<(), Refusal>> + Send;
}

impl PeerListener for TcpListener {
    type Stream = TcpStream;
    type Peer = SocketAddr;

    async fn accept_next(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.accept().await
    }

    async fn check(stream: &TcpStream, peer: SocketAddr) -> Result<(), Refusal> {
        check_peer(stream, peer).await
    }
}

impl PeerListener for UnixListener {
    type Stream = UnixStream;
    type Peer = ();

    async fn accept_next(&self) -> io::Result<(UnixStream, ())> {
        self.accept().await.map(|(stream, _)| (stream, ()))
    }

    async fn check(stream: &UnixStream, (): ()) -> Result<(), Refusal> {
        let ours = rustix::process::getuid().as_raw();
        let is_ours = stream.peer_cred().is_ok_and(|peer| peer.uid() == ours);
        if is_ours { Ok(()) } else { Err(Refusal::OtherUser) }
    }
}

async fn check_peer(stream: &TcpStream, peer: SocketAddr) -> Result<(), Refusal> {
    if !peer.ip().is_loopback() {
        return Err(Refusal::NotLoopback);
    }
    let ours = stream.local_addr().map_err(|_| Refusal::OtherUser)?;
    // The kernel may take milliseconds to list its sockets: not on the loop's thread.
    match tokio::task::spawn_blocking(move || peer::find_peer_socket(peer, ours)).await {
        Ok(found) => is_our_user(found, rustix::process::getuid().as_raw()),
        Err(_) => Err(Refusal::OtherUser),
    }
}

fn is_our_user(found: io::Result<Option<PeerSocket>>, us: u32) -> Result<(), Refusal> {
    match found {
        Ok(Some(end)) if end.uid == us => Ok(()),
        Err(error) if descriptors::are_none_left(&error) => Err(Refusal::NoDescriptors),
        // If the owner is unknown, the connection is not ours.
        _ => Err(Refusal::OtherUser),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_out_of_descriptors_is_not_reported_as_another_user() {
        let end = |uid| Ok(Some(PeerSocket { uid, unread: 0 }));
        assert_eq!(is_our_user(end(7), 7), Ok(()));
        assert_eq!(is_our_user(end(8), 7), Err(Refusal::OtherUser));
        assert_eq!(is_our_user(Ok(None), 7), Err(Refusal::OtherUser));
        for error in [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE] {
            assert_eq!(is_our_user(Err(error.into()), 7), Err(Refusal::NoDescriptors));
        }
    }
}

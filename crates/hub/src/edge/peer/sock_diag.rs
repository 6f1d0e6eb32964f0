//! Asks the kernel for one TCP socket by its two addresses (`sock_diag(7)`), which takes the same time however many
//! sockets there are. Not every container permits it.

use std::net::SocketAddrV4;

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

use super::PeerSocket;

const BY_FAMILY: u16 = 20;
const REQUEST: u16 = 1;
const INET: u8 = 2;
const TCP: u8 = 6;
const ANY_STATE: u32 = u32::MAX;

/// Sizes of the message header, and of the two addresses with what belongs to them.
const HEADER: usize = 16;
const ADDRESSES: usize = 48;

/// The socket `local → remote`; `None` if no process has it open, or if that is unknown.
pub(super) fn socket(local: SocketAddrV4, remote: SocketAddrV4) -> Option<PeerSocket> {
    let kernel =
        socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(SOCK_DIAG)).ok()?;
    sendto(&kernel, &encode_request(local, remote), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))
        .ok()?;
    let mut reply = [0; 1024];
    // If the kernel answers at all, it has by now.
    let (length, _) = recv(&kernel, &mut reply[..], RecvFlags::DONTWAIT).ok()?;
    socket_in(reply.get(..length)?, local, remote)
}

/// Local port and address, remote port and address: as the kernel encodes them in the request and in the reply.
fn addresses(local: SocketAddrV4, remote: SocketAddrV4) -> [u8; 36] {
    let mut bytes = [0; 36];
    let parts: [(usize, &[u8]); 4] = [
        (0, &local.port().to_be_bytes()),
        (2, &remote.port().to_be_bytes()),
        (4, &local.ip().octets()),
        (20, &remote.ip().octets()),
    ];
    for (start, part) in parts {
        bytes.iter_mut().skip(start).zip(part).for_each(|(byte, value)| *byte = *value);
    }
    bytes
}

fn encode_request(local: SocketAddrV4, remote: SocketAddrV4) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + 8 + ADDRESSES);
    bytes.extend(72_u32.to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST.to_ne_bytes());
    // Sequence number and sender, which are not needed.
    bytes.extend([0; 8]);
    bytes.extend([INET, TCP, 0, 0]);
    bytes.extend(ANY_STATE.to_ne_bytes());
    bytes.extend(addresses(local, remote));
    // Any interface, and no cookie: we have not seen the socket before.
    bytes.extend(0_u32.to_ne_bytes());
    bytes.extend([0xff; 8]);
    bytes
}

fn socket_in(reply: &[u8], local: SocketAddrV4, remote: SocketAddrV4) -> Option<PeerSocket> {
    let number = |at: usize| {
        let bytes = reply.get(at..at + 4)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    };
    let (kind, state) = (reply.get(4..6)?, *reply.get(HEADER + 1)?);
    // If no such connection exists, the kernel may return a socket that listens at the address.
    let same = reply.get(HEADER + 4..HEADER + 4 + 36)? == addresses(local, remote);
    let rest = HEADER + 4 + ADDRESSES;
    let (queued, uid, inode) = (number(rest + 4)?, number(rest + 12)?, number(rest + 16)?);
    // Without an inode no process has it open, and the uid is meaningless.
    (kind == BY_FAMILY.to_ne_bytes() && same && inode != 0).then(|| PeerSocket::new(uid, queued, state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{SocketAddr, TcpListener, TcpStream};

    fn v4(address: SocketAddr) -> SocketAddrV4 {
        let SocketAddr::V4(address) = address else { panic!("{address} is not IPv4") };
        address
    }

    /// Both ends of a connection.
    fn connected() -> (TcpListener, TcpStream, SocketAddrV4, SocketAddrV4) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = v4(listener.local_addr().unwrap());
        let client = TcpStream::connect(ours).unwrap();
        let peer = v4(client.local_addr().unwrap());
        (listener, client, ours, peer)
    }

    fn uid(local: SocketAddrV4, remote: SocketAddrV4) -> Option<u32> {
        socket(local, remote).map(|socket| socket.uid)
    }

    /// Whether this machine permits it at all.
    fn is_permitted() -> bool {
        let (_listener, _client, ours, peer) = connected();
        uid(peer, ours).is_some()
    }

    #[test]
    fn a_listening_socket_is_not_taken_for_the_connected_one() {
        let (_listener, client, ours, peer) = connected();
        let me = is_permitted().then(|| rustix::process::getuid().as_raw());
        assert_eq!(uid(peer, ours), me);
        // No socket is connected from there, and one listens there.
        assert_eq!(uid(ours, SocketAddrV4::new(*peer.ip(), 1)), None);
        drop(client);
        assert_eq!(uid(peer, ours), None);
    }

    #[test]
    fn a_reply_that_is_short_or_an_error_is_ignored() {
        let (local, remote) = ("127.0.0.1:4000".parse().unwrap(), "127.0.0.1:5000".parse().unwrap());
        let mut reply = vec![0; HEADER + 4 + ADDRESSES + 20];
        reply[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
        reply[20..56].copy_from_slice(&addresses(local, remote));
        reply[80..84].copy_from_slice(&1001_u32.to_ne_bytes());
        assert_eq!(socket_in(&reply, local, remote), None, "no process has it open");
        reply[84] = 7;
        reply[72..76].copy_from_slice(&5_u32.to_ne_bytes());
        assert_eq!(socket_in(&reply, local, remote), Some(PeerSocket { uid: 1001, unread: 5 }));
        assert_eq!(socket_in(&reply, remote, local), None);
        for length in 0..reply.len() {
            assert_eq!(socket_in(&reply[..length], local, remote), None, "{length}");
        }
        reply[4] = 2;
        assert_eq!(socket_in(&reply, local, remote), None, "an error");
    }
}

//! The other end of a loopback connection: which user it belongs to, and how much it has not read (Linux).
//!
//! The peer's socket is the one whose two addresses are ours, swapped. The kernel is asked for that one
//! (`sock_diag`), and if that is not possible, for a list of all TCP sockets.

#[cfg(target_os = "linux")]
mod sock_diag;

use std::io;
use std::net::SocketAddr;
#[cfg(target_os = "linux")]
use std::{
    fs::File,
    io::{ErrorKind, Read},
    net::SocketAddrV4,
};

#[cfg(target_os = "linux")]
const PIECE_BYTES: usize = 64 * 1024;

/// States of a socket that has received the end of our stream.
#[cfg(target_os = "linux")]
const CLOSE_WAIT: u8 = 8;
#[cfg(target_os = "linux")]
const LAST_ACK: u8 = 9;
#[cfg(target_os = "linux")]
const CLOSING: u8 = 11;

/// A socket that some process has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerSocket {
    /// The user who opened it.
    pub uid: u32,
    /// Bytes that have arrived and were not read.
    pub unread: u32,
}

#[cfg(target_os = "linux")]
impl PeerSocket {
    /// The end of our stream counts as one byte in the queue, behind all others.
    fn new(uid: u32, queued: u32, state: u8) -> PeerSocket {
        let has_end = matches!(state, CLOSE_WAIT | LAST_ACK | CLOSING);
        PeerSocket { uid, unread: queued.saturating_sub(u32::from(has_end)) }
    }
}

/// The socket `peer → ours`; `None` if no process has it open, or if that is unknown.
pub fn peer_socket(peer: SocketAddr, ours: SocketAddr) -> Option<PeerSocket> {
    find_peer_socket(peer, ours).ok().flatten()
}

/// Like `peer_socket`; the error says why the kernel could not be asked.
#[cfg(target_os = "linux")]
pub fn find_peer_socket(peer: SocketAddr, ours: SocketAddr) -> io::Result<Option<PeerSocket>> {
    let (SocketAddr::V4(peer), SocketAddr::V4(ours)) = (peer, ours) else { return Ok(None) };
    if let Some(found) = sock_diag::socket(peer, ours) {
        return Ok(Some(found));
    }
    // Some runtimes dial IPv4 through IPv6 sockets; those are in the other table.
    let tables = [("/proc/net/tcp", hex(peer), hex(ours)), ("/proc/net/tcp6", mapped(peer), mapped(ours))];
    for (path, local, remote) in tables {
        match File::open(path) {
            Ok(table) => {
                if let Some(found) = search(table, &local, &remote) {
                    return Ok(Some(found));
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// In large pieces and no further than needed: for each piece, the kernel walks over all sockets again.
#[cfg(target_os = "linux")]
fn search(mut table: impl Read, local: &str, remote: &str) -> Option<PeerSocket> {
    let (mut text, mut piece) = (Vec::new(), vec![0; PIECE_BYTES]);
    loop {
        match table.read(&mut piece) {
            Ok(length @ 1..) => text.extend(piece.get(..length)?),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => return None,
        }
        let whole_lines = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines: Vec<u8> = text.drain(..whole_lines).collect();
        if let Some(found) = socket_in(std::str::from_utf8(&lines).ok()?, local, remote) {
            return Some(found);
        }
    }
}

/// On other systems the token alone has to do.
#[cfg(not(target_os = "linux"))]
pub fn find_peer_socket(_peer: SocketAddr, _ours: SocketAddr) -> io::Result<Option<PeerSocket>> {
    Ok(Some(PeerSocket { uid: rustix::process::getuid().as_raw(), unread: 0 }))
}

#[cfg(target_os = "linux")]
fn socket_in(table: &str, local: &str, remote: &str) -> Option<PeerSocket> {
    table.lines().find_map(|line| {
        let mut columns = line.split_ascii_whitespace().skip(1);
        if columns.next()? != local || columns.next()? != remote {
            return None;
        }
        let state = u8::from_str_radix(columns.next()?, 16).ok()?;
        let (_, queued) = columns.next()?.split_once(':')?;
        let queued = u32::from_str_radix(queued, 16).ok()?;
        let uid = columns.nth(2)?.parse().ok()?;
        // Without an inode no process has it open, and the table says user 0 regardless of its owner.
        (columns.nth(1)? != "0").then(|| PeerSocket::new(uid, queued, state))
    })
}

#[cfg(target_os = "linux")]
fn hex(address: SocketAddrV4) -> String {
    format!("{:08X}:{:04X}", u32::from_ne_bytes(address.ip().octets()), address.port())
}

#[cfg(target_os = "linux")]
fn mapped(address: SocketAddrV4) -> String {
    format!("0000000000000000{:08X}{}", 0xffff_0000_u32, hex(address))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn uid(peer: SocketAddr, ours: SocketAddr) -> Option<u32> {
        peer_socket(peer, ours).map(|end| end.uid)
    }

    fn uid_in(table: &str, local: &str, remote: &str) -> Option<u32> {
        socket_in(table, local, remote).map(|end| end.uid)
    }

    #[test]
    fn the_owner_of_the_peer_socket_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = listener.local_addr().unwrap();
        let client = std::net::TcpStream::connect(ours).unwrap();
        let peer = client.local_addr().unwrap();
        assert_eq!(uid(peer, ours), Some(rustix::process::getuid().as_raw()));
        assert_eq!(uid("127.0.0.1:1".parse().unwrap(), ours), None);
    }

    #[test]
    fn another_users_line_gives_that_user() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n   0: 0100007F:A1B2 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 1 1\n";
        let peer = hex("127.0.0.1:41394".parse().unwrap());
        assert_eq!(uid_in(table, &peer, &hex("127.0.0.1:8080".parse().unwrap())), Some(1001));
        assert_eq!(uid_in(table, &peer, &hex("127.0.0.1:8081".parse().unwrap())), None);
    }

    #[test]
    fn a_closed_socket_is_not_taken_for_roots() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = listener.local_addr().unwrap();
        let client = std::net::TcpStream::connect(ours).unwrap();
        let peer = client.local_addr().unwrap();
        drop(client);
        assert_eq!(uid(peer, ours), None);
    }

    #[test]
    fn a_line_in_two_pieces_is_read_completely_and_nothing_after_it() {
        struct Pieces(std::collections::VecDeque<&'static str>);
        impl Read for Pieces {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let piece = self.0.pop_front().expect("read after it was found").as_bytes();
                buffer[..piece.len()].copy_from_slice(piece);
                Ok(piece.len())
            }
        }
        let pieces = |pieces: &[&'static str]| Pieces(pieces.to_vec().into());
        let table =
            pieces(&["sl local rem\n 0: A:1 B:", "2 01 0:A 0 0 1001 0 7\n 1: A:1 B:3 01 0:0 0 0 1002 0 8\n"]);
        assert_eq!(search(table, "A:1", "B:2"), Some(PeerSocket { uid: 1001, unread: 10 }));
        assert_eq!(search(pieces(&["sl local rem\n 0: A:1 B:2 01 0:0 0 0 1", ""]), "A:1", "B:2"), None);
    }

    #[test]
    fn a_peer_that_dials_through_an_ipv6_socket_is_found_too() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = listener.local_addr().unwrap();
        let through: SocketAddr = format!("[::ffff:127.0.0.1]:{}", ours.port()).parse().unwrap();
        let Ok(_client) = std::net::TcpStream::connect(through) else { return };
        let (_, peer) = listener.accept().unwrap();
        assert_eq!(uid(peer, ours), Some(rustix::process::getuid().as_raw()));
    }
}

//! Which user is at the other end of a loopback connection (Linux).
//!
//! The kernel lists every TCP socket with its owner; the peer's socket is the one whose two addresses are
//! ours, swapped.

use std::net::SocketAddr;
#[cfg(target_os = "linux")]
use std::net::SocketAddrV4;

/// The uid of the process that opened `peer → ours`, or `None` when it cannot be told.
#[cfg(target_os = "linux")]
pub(crate) fn uid(peer: SocketAddr, ours: SocketAddr) -> Option<u32> {
    let (SocketAddr::V4(peer), SocketAddr::V4(ours)) = (peer, ours) else { return None };
    let table = |path| std::fs::read_to_string(path).ok();
    // Some runtimes dial IPv4 through IPv6 sockets; those stand in the other table.
    uid_in(&table("/proc/net/tcp")?, &hex(peer), &hex(ours))
        .or_else(|| uid_in(&table("/proc/net/tcp6")?, &mapped(peer), &mapped(ours)))
}

/// Elsewhere the token alone has to do.
#[cfg(not(target_os = "linux"))]
pub(crate) fn uid(_peer: SocketAddr, _ours: SocketAddr) -> Option<u32> {
    Some(rustix::process::getuid().as_raw())
}

#[cfg(target_os = "linux")]
fn uid_in(table: &str, local: &str, remote: &str) -> Option<u32> {
    table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_ascii_whitespace().skip(1);
        (columns.next()? == local && columns.next()? == remote)
            .then(|| columns.nth(4)?.parse().ok())
            .flatten()
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

    #[test]
    fn the_owner_of_the_other_end_is_found() {
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
    fn a_peer_that_dials_through_an_ipv6_socket_is_found_too() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = listener.local_addr().unwrap();
        let through: SocketAddr = format!("[::ffff:127.0.0.1]:{}", ours.port()).parse().unwrap();
        let Ok(_client) = std::net::TcpStream::connect(through) else { return };
        let (_, peer) = listener.accept().unwrap();
        assert_eq!(uid(peer, ours), Some(rustix::process::getuid().as_raw()));
    }
}

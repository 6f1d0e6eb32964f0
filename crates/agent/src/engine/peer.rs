//! Which user is at the other end of a loopback connection (Linux): the peer's socket is the one in the kernel's list
//! whose addresses are ours, swapped.

use std::io;
use std::net::SocketAddr;
#[cfg(target_os = "linux")]
use std::{
    fs::File,
    io::{BufRead, BufReader, ErrorKind},
    net::SocketAddrV4,
};

/// The user who opened the socket `peer → ours`; `None` if no process has it open.
#[cfg(target_os = "linux")]
pub(super) fn user_of(peer: SocketAddr, ours: SocketAddr) -> io::Result<Option<u32>> {
    let (SocketAddr::V4(peer), SocketAddr::V4(ours)) = (peer, ours) else { return Ok(None) };
    // Some runtimes dial IPv4 through IPv6 sockets; those are in the other table.
    let tables = [("/proc/net/tcp", hex(peer), hex(ours)), ("/proc/net/tcp6", mapped(peer), mapped(ours))];
    for (path, local, remote) in tables {
        let table = match File::open(path) {
            Ok(table) => table,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for line in BufReader::with_capacity(64 * 1024, table).lines() {
            if let Some(user) = owner(&line?, &local, &remote) {
                return Ok(Some(user));
            }
        }
    }
    Ok(None)
}

/// On other systems there is no such list: the token has to do.
#[cfg(not(target_os = "linux"))]
pub(super) fn user_of(_peer: SocketAddr, _ours: SocketAddr) -> io::Result<Option<u32>> {
    Ok(Some(rustix::process::getuid().as_raw()))
}

/// The user in a line of the list, if it is about this connection.
#[cfg(target_os = "linux")]
fn owner(line: &str, local: &str, remote: &str) -> Option<u32> {
    let mut columns = line.split_ascii_whitespace().skip(1);
    if columns.next()? != local || columns.next()? != remote {
        return None;
    }
    let user = columns.nth(4)?.parse().ok()?;
    // Without an inode no process has it open, and the list says user 0 regardless of its owner.
    (columns.nth(1)? != "0").then_some(user)
}

#[cfg(target_os = "linux")]
fn hex(address: SocketAddrV4) -> String {
    format!("{:08X}:{:04X}", u32::from_ne_bytes(address.ip().octets()), address.port())
}

/// As an IPv6 address that holds an IPv4 address.
#[cfg(target_os = "linux")]
fn mapped(address: SocketAddrV4) -> String {
    let marker = u32::from_ne_bytes([0, 0, 0xFF, 0xFF]);
    format!("{:08X}{:08X}{marker:08X}{}", 0, 0, hex(address))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn our_own_connection_is_ours() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = listener.local_addr().unwrap();
        let client = TcpStream::connect(ours).unwrap();
        let (_server, peer) = listener.accept().unwrap();
        assert_eq!(user_of(peer, ours).unwrap(), Some(rustix::process::getuid().as_raw()));
        drop(client);
        let nobody = "127.0.0.1:1".parse().unwrap();
        assert_eq!(user_of(nobody, ours).unwrap(), None);
    }

    #[test]
    fn a_line_of_another_connection_or_without_a_process_says_nothing() {
        let line = "   1: 0100007F:A1B2 0100007F:D430 01 00000000:00000000 00:00000000 00000000  1000        0 4242 1 x";
        assert_eq!(owner(line, "0100007F:A1B2", "0100007F:D430"), Some(1000));
        assert_eq!(owner(line, "0100007F:A1B3", "0100007F:D430"), None);
        assert_eq!(owner(&line.replace("4242", "0"), "0100007F:A1B2", "0100007F:D430"), None);
        assert_eq!(owner("", "", ""), None);
    }
}

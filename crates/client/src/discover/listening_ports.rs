//! The listening ports, as the system lists them: one query instead of a thousand connections that are refused. Linux
//! only; on other systems the connections are tried.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::thread;

/// A machine with more sockets than this is asked port by port.
const MAX_BYTES: usize = 4 << 20;
const PIECE_BYTES: usize = 64 << 10;
/// The state of a listening socket.
const LISTEN: &str = "0A";

/// Every listening port of this machine; `None` if the system does not list them.
pub(super) fn ports() -> Option<HashSet<u16>> {
    thread::scope(|scope| {
        // Listeners for both families are only listed there; a system without IPv6 has no such file.
        let newer = scope.spawn(|| read("/proc/net/tcp6").unwrap_or_default());
        let mut ports = ports_in(&read("/proc/net/tcp")?);
        ports.extend(ports_in(&newer.join().ok()?));
        Some(ports)
    })
}

/// In large pieces: for each, the system walks over all its sockets again.
fn read(path: &str) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let (mut text, mut piece) = (Vec::new(), vec![0; PIECE_BYTES]);
    loop {
        match file.read(&mut piece).ok()? {
            0 => return String::from_utf8(text).ok(),
            length => text.extend(piece.get(..length)?),
        }
        if text.len() > MAX_BYTES {
            return None;
        }
    }
}

fn ports_in(table: &str) -> HashSet<u16> {
    table.lines().filter_map(listening_port).collect()
}

/// `0: 0100007F:A0E9 00000000:0000 0A …`: the port of such a line, if its socket listens.
fn listening_port(line: &str) -> Option<u16> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let (_, port) = words.next()?.rsplit_once(':')?;
    (words.nth(1)? == LISTEN).then(|| u16::from_str_radix(port, 16).ok())?
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn only_listening_sockets_are_taken() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue\n\
                     0: 0100007F:A0E9 00000000:0000 0A 00000000:00000000 00:00000000\n\
                     1: 0100007F:1F90 0100007F:A0E9 01 00000000:00000000 00:00000000\n\
                     2: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A x\n\
                     3: broken\n";
        assert_eq!(ports_in(table), HashSet::from([0xA0E9, 0x50]));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_listener_of_this_process_is_seen_until_it_is_gone() {
        for address in ["127.0.0.1:0", "[::]:0"] {
            // A machine may be without IPv6.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let port = listener.local_addr().unwrap().port();
            assert!(ports().unwrap().contains(&port), "{address}");
            drop(listener);
            assert!(!ports().unwrap().contains(&port), "{address}");
        }
    }
}

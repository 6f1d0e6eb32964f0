//! Bytes on a wire that no library would send, and what comes back.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use linkspan_testkit::DEADLINE;
use linkspan_testkit::raw::{Request, answer, connect, status};

pub(super) const TEXT: u8 = 0x1;
pub(super) const CONTINUE: u8 = 0x0;
pub(super) const BINARY: u8 = 0x2;
pub(super) const CLOSE: u8 = 0x8;
pub(super) const PING: u8 = 0x9;
pub(super) const PONG: u8 = 0xa;
pub(super) const LAST: u8 = 0x80;

/// A WebSocket right after its handshake.
#[track_caller]
pub(super) fn open(request: &Request) -> TcpStream {
    let mut stream = connect(request.port);
    stream.set_nodelay(true).unwrap();
    stream.write_all(request.text().as_bytes()).unwrap();
    let said = answer(&mut stream);
    assert_eq!(status(&said), 101, "{said}");
    stream.set_write_timeout(Some(DEADLINE)).unwrap();
    stream
}

/// The head of a frame that declares this length, masked with zeros.
pub(super) fn head(first: u8, length: u64) -> Vec<u8> {
    let mut bytes = vec![first];
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(length @ ..=125), _) => bytes.push(0x80 | length),
        (_, Ok(length)) => {
            bytes.push(0x80 | 126);
            bytes.extend(length.to_be_bytes());
        }
        _ => {
            bytes.push(0x80 | 127);
            bytes.extend(length.to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes
}

pub(super) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = head(first, payload.len() as u64);
    bytes.extend(payload);
    bytes
}

/// The same bytes over and over, each time whole, to a socket that does not wait and may take a part only.
pub(super) struct Pouring<'b> {
    bytes: &'b [u8],
    at: usize,
    /// How many bytes were taken.
    pub(super) taken: usize,
}

impl<'b> Pouring<'b> {
    pub(super) fn of(bytes: &'b [u8]) -> Pouring<'b> {
        Pouring { bytes, at: 0, taken: 0 }
    }

    /// As much as is taken at once.
    pub(super) fn pour(&mut self, into: &mut impl Write) -> io::Result<()> {
        let taken = into.write(&self.bytes[self.at..])?;
        self.at = (self.at + taken) % self.bytes.len();
        self.taken += taken;
        Ok(())
    }
}

/// Either kind of socket.
pub(super) trait Wire: Read + Write {
    fn patience(&self, patience: Duration);
}

impl Wire for TcpStream {
    fn patience(&self, patience: Duration) {
        self.set_read_timeout(Some(patience)).unwrap();
    }
}

impl Wire for UnixStream {
    fn patience(&self, patience: Duration) {
        self.set_read_timeout(Some(patience)).unwrap();
    }
}

/// All that came until the other side closed; none if it did not in time.
pub(super) fn until_closed(wire: &mut impl Wire, within: Duration) -> Option<Vec<u8>> {
    let (until, mut said, mut bytes) = (Instant::now() + within, Vec::new(), [0; 4096]);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        wire.patience(left);
        match wire.read(&mut bytes) {
            Ok(0) => return Some(said),
            Ok(length) => said.extend_from_slice(&bytes[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return None,
            Err(_) => return Some(said),
        }
    }
}

/// Sends a little at a time until the other side has had enough; none if it never has.
pub(super) fn drip(
    wire: &mut impl Wire,
    bytes: &[u8],
    pause: Duration,
    within: Duration,
) -> Option<Duration> {
    let begun = Instant::now();
    for byte in bytes.iter().cycle() {
        if wire.write_all(&[*byte]).is_err() || until_closed(wire, pause).is_some() {
            return Some(begun.elapsed());
        }
        if begun.elapsed() > within {
            return None;
        }
    }
    None
}

/// The code of the close frame among what a hub said on a WebSocket.
pub(super) fn close_code(said: &[u8]) -> Option<u16> {
    let mut rest = said;
    loop {
        let (&[first, length], after) = rest.split_first_chunk::<2>()?;
        let (length, after) = match length & 0x7f {
            126 => {
                let (length, after) = after.split_first_chunk::<2>()?;
                (usize::from(u16::from_be_bytes(*length)), after)
            }
            127 => {
                let (length, after) = after.split_first_chunk::<8>()?;
                (usize::try_from(u64::from_be_bytes(*length)).ok()?, after)
            }
            length => (usize::from(length), after),
        };
        let payload = after.get(..length)?;
        if first & 0xf == CLOSE {
            return payload.first_chunk::<2>().map(|code| u16::from_be_bytes(*code));
        }
        rest = after.get(length..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes three bytes at a time.
    struct Narrow(Vec<u8>);

    impl Write for Narrow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(3);
            self.0.extend(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_poured_is_whole_however_little_is_taken() {
        let (mut narrow, mut pouring) = (Narrow(Vec::new()), Pouring::of(b"abcde"));
        for _ in 0..4 {
            pouring.pour(&mut narrow).unwrap();
        }
        assert_eq!((narrow.0.as_slice(), pouring.taken), (&b"abcdeabcde"[..], 10));
    }
}

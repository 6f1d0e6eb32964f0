//! Bytes on a socket that no library would send, and what comes back.

use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use linkspan_testkit::DEADLINE;
use linkspan_testkit::raw_http::{Request, answer, connect, status};
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, OpCode};

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

/// The header of a frame that declares this length, masked with zeros. `first` is its first byte.
pub(super) fn head(first: u8, length: u64) -> Vec<u8> {
    let header = FrameHeader {
        is_final: first & LAST != 0,
        rsv1: first & 0x40 != 0,
        rsv2: first & 0x20 != 0,
        rsv3: first & 0x10 != 0,
        opcode: OpCode::from(first & 0xf),
        mask: Some([0; 4]),
    };
    let mut bytes = Vec::new();
    header.format(length, &mut bytes).expect("memory takes every byte");
    bytes
}

pub(super) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = head(first, payload.len() as u64);
    bytes.extend(payload);
    bytes
}

/// Writes the same bytes again and again, each time completely, to a non-blocking socket that may take only a part.
pub(super) struct RepeatedWrite<'b> {
    bytes: &'b [u8],
    at: usize,
    /// How many bytes were taken.
    pub(super) taken: usize,
}

impl<'b> RepeatedWrite<'b> {
    pub(super) fn of(bytes: &'b [u8]) -> RepeatedWrite<'b> {
        RepeatedWrite { bytes, at: 0, taken: 0 }
    }

    /// Writes as much as is taken at once.
    pub(super) fn write_some(&mut self, into: &mut impl Write) -> io::Result<()> {
        let taken = into.write(&self.bytes[self.at..])?;
        self.at = (self.at + taken) % self.bytes.len();
        self.taken += taken;
        Ok(())
    }
}

/// Either kind of socket.
pub(super) trait RawSocket: Read + Write {
    fn patience(&self, patience: Duration);
}

impl RawSocket for TcpStream {
    fn patience(&self, patience: Duration) {
        self.set_read_timeout(Some(patience)).unwrap();
    }
}

impl RawSocket for UnixStream {
    fn patience(&self, patience: Duration) {
        self.set_read_timeout(Some(patience)).unwrap();
    }
}

/// Everything that arrives until the other side closes; `None` if it does not in time.
pub(super) fn until_closed(socket: &mut impl RawSocket, within: Duration) -> Option<Vec<u8>> {
    let (until, mut said, mut bytes) = (Instant::now() + within, Vec::new(), [0; 4096]);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        socket.patience(left);
        match socket.read(&mut bytes) {
            Ok(0) => return Some(said),
            Ok(length) => said.extend_from_slice(&bytes[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return None,
            Err(_) => return Some(said),
        }
    }
}

/// Sends a little at a time until the other side closes; `None` if it never does.
pub(super) fn drip(
    socket: &mut impl RawSocket,
    bytes: &[u8],
    pause: Duration,
    within: Duration,
) -> Option<Duration> {
    let begun = Instant::now();
    for byte in bytes.iter().cycle() {
        if socket.write_all(&[*byte]).is_err() || until_closed(socket, pause).is_some() {
            return Some(begun.elapsed());
        }
        if begun.elapsed() > within {
            return None;
        }
    }
    None
}

/// The code of the close frame in what a hub sent on a WebSocket.
pub(super) fn close_code(received: &[u8]) -> Option<u16> {
    let mut cursor = Cursor::new(received);
    loop {
        let (header, length) = FrameHeader::parse(&mut cursor).ok()??;
        let start = usize::try_from(cursor.position()).ok()?;
        let payload = received.get(start..start.checked_add(usize::try_from(length).ok()?)?)?;
        if header.opcode == OpCode::Control(Control::Close) {
            return payload.first_chunk::<2>().map(|code| u16::from_be_bytes(*code));
        }
        cursor.set_position(cursor.position() + length);
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
    fn the_bytes_repeat_completely_however_little_is_taken() {
        let (mut narrow, mut writes) = (Narrow(Vec::new()), RepeatedWrite::of(b"abcde"));
        for _ in 0..4 {
            writes.write_some(&mut narrow).unwrap();
        }
        assert_eq!((narrow.0.as_slice(), writes.taken), (&b"abcdeabcde"[..], 10));
    }
}

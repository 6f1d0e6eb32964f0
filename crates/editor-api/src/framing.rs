//! Content-Length framing, as in the Language Server Protocol. Knows bytes and lengths, not messages.

use thiserror::Error;

const HEADER_END: &[u8] = b"\r\n\r\n";
/// Above this, an empty buffer releases its memory, so that one large message does not cost its size forever.
const KEEP_CAPACITY: usize = 64 * 1024;

/// How much a peer may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one header block.
    pub header: usize,
    /// Bytes of one message.
    pub body: usize,
}

impl Limits {
    /// Between our own hub and its trusted peers: both sides of the largest file under review fit in one message.
    pub const OF_A_HUB: Limits = Limits { header: 4 * 1024, body: 1024 * 1024 * 1024 };

    /// The messages that an editor has to accept.
    pub const OF_AN_EDITOR: Limits = Limits { header: 4 * 1024, body: 64 * 1024 * 1024 };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::OF_AN_EDITOR
    }
}

/// Why bytes are not a framed message. The next message cannot be found after such an error, so the connection has to
/// be closed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FramingError {
    /// The header block does not end.
    #[error("a message header is longer than {limit} bytes")]
    HeaderTooLong {
        /// The limit.
        limit: usize,
    },
    /// A header line is not `Content-Length` or `Content-Type`.
    #[error("`{line}` is not a Content-Length or Content-Type header")]
    BadHeader {
        /// The line, shortened.
        line: String,
    },
    /// No header line has the length of the message.
    #[error("a message header has no Content-Length")]
    NoLength,
    /// Two header lines have the length of the message.
    #[error("a message header has two Content-Lengths")]
    TwoLengths,
    /// The message is longer than allowed.
    #[error("a message of {length} bytes is longer than the limit of {limit} bytes")]
    BodyTooLong {
        /// The announced length.
        length: usize,
        /// The limit.
        limit: usize,
    },
}

/// Puts a header in front of a message.
pub fn encode(body: &[u8]) -> Vec<u8> {
    let header = header(body);
    let mut framed = Vec::with_capacity(header.len() + body.len());
    framed.extend_from_slice(header.as_bytes());
    framed.extend_from_slice(body);
    framed
}

/// The header of a message.
pub fn header(body: &[u8]) -> String {
    format!("Content-Length: {}\r\n\r\n", body.len())
}

/// Cuts a stream of bytes into messages.
#[derive(Debug)]
pub struct Decoder {
    limits: Limits,
    buffer: Vec<u8>,
    /// Bytes at the front of `buffer` that have been handed out.
    taken: usize,
    /// Bytes after `taken` that do not hold the end of a header.
    searched: usize,
    /// Length of the body that begins at `taken`, once its header has been read.
    body: Option<usize>,
}

impl Decoder {
    /// A decoder for one connection.
    pub fn new(limits: Limits) -> Decoder {
        Decoder { limits, buffer: Vec::new(), taken: 0, searched: 0, body: None }
    }

    /// Adds bytes that arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole message, or `None` until more bytes arrive.
    #[expect(clippy::should_implement_trait, reason = "`None` is not the end: more may be pushed")]
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, FramingError> {
        let length = match self.body {
            Some(length) => length,
            None => match self.read_header()? {
                Some(length) => length,
                None => return Ok(None),
            },
        };
        self.body = Some(length);
        if self.pending().len() < length {
            return Ok(None);
        }
        self.body = None;
        Ok(Some(self.take(length)))
    }

    /// Hands out a large message in the memory that it was received in, because a copy would need as much again. What
    /// follows it is copied instead, if that is less.
    fn take(&mut self, length: usize) -> Vec<u8> {
        let after = self.pending().len() - length;
        if length > KEEP_CAPACITY && after < length {
            self.buffer.drain(..self.taken);
            self.taken = 0;
            let rest = self.buffer.split_off(length);
            return std::mem::replace(&mut self.buffer, rest);
        }
        let body = self.pending().get(..length).unwrap_or_default().to_vec();
        self.taken += length;
        self.reclaim();
        body
    }

    /// Removes the bytes that were handed out. Moving less than that each time keeps the total cost linear in the bytes
    /// received.
    fn reclaim(&mut self) {
        if self.taken == self.buffer.len() && self.buffer.capacity() > KEEP_CAPACITY {
            self.buffer = Vec::new();
            self.taken = 0;
        } else if self.taken > self.buffer.len() / 2 {
            self.buffer.drain(..self.taken);
            self.taken = 0;
        }
    }

    fn pending(&self) -> &[u8] {
        self.buffer.get(self.taken..).unwrap_or_default()
    }

    /// Removes a complete header from the front and returns the length that it announces.
    fn read_header(&mut self) -> Result<Option<usize>, FramingError> {
        let pending = self.pending();
        // The end of the header may straddle what was searched and what arrived.
        let from = self.searched.saturating_sub(HEADER_END.len() - 1);
        let unsearched = pending.get(from..).unwrap_or_default();
        let found =
            unsearched.windows(HEADER_END.len()).take(self.limits.header).position(|w| w == HEADER_END);
        let limit = self.limits.header;
        let Some(header) = found.map(|at| from + at) else {
            if pending.len() > limit {
                return Err(FramingError::HeaderTooLong { limit });
            }
            self.searched = pending.len();
            return Ok(None);
        };
        if header + HEADER_END.len() > limit {
            return Err(FramingError::HeaderTooLong { limit });
        }
        let length = content_length(pending.get(..header).unwrap_or_default())?;
        if length > self.limits.body {
            return Err(FramingError::BodyTooLong { length, limit: self.limits.body });
        }
        self.taken += header + HEADER_END.len();
        self.searched = 0;
        Ok(Some(length))
    }
}

fn content_length(header: &[u8]) -> Result<usize, FramingError> {
    let mut length = None;
    for line in String::from_utf8_lossy(header).split("\r\n") {
        let bad = || FramingError::BadHeader { line: line.chars().take(80).collect() };
        let (name, value) = line.split_once(':').ok_or_else(bad)?;
        if name.eq_ignore_ascii_case("content-type") {
            continue;
        }
        let value = value.trim_matches([' ', '\t']);
        // `parse` alone would take a plus sign.
        let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
        if !name.eq_ignore_ascii_case("content-length") || !is_number {
            return Err(bad());
        }
        if length.replace(value.parse().map_err(|_| bad())?).is_some() {
            return Err(FramingError::TwoLengths);
        }
    }
    length.ok_or(FramingError::NoLength)
}
